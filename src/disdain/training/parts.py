"""The four parts of training, for one seed: collect, push, update, evaluate. Runners only place them."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from disdain.agents.learning import Measured, Rates, Rules, features, update
from disdain.agents.tabular import Tabular
from disdain.config import BLOCK, Config
from disdain.envs import Episode, Finite
from disdain.evaluation.exact import Exact
from disdain.method.bonuses import Bonus, Count, Disagreement, NoBonus
from disdain.method.objectives import OBJECTIVES
from disdain.method.unroll import Unroll
from disdain.replay.ring import Ring, RingState
from disdain.training.collecting import Collector, Noise


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Tally:
    """What happened since the last evaluation, and what ever happened."""

    measured: Measured  # sums
    visited: Bool[Array, "state"]  # lifetime coverage
    healthy: Int[Array, ""]  # the last update whose losses were finite, −1 before the first


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Training:
    """Everything that one seed's training has learnt and must remember: the whole content of a checkpoint."""

    agent: Any
    acting: Any  # the actors' own copy, None while they use the live one
    bonus: Any
    episode: Episode | None
    replay: RingState | None
    tally: Tally


@dataclasses.dataclass(frozen=True, eq=False)
class Parts:
    """The parts of one kind of run; `rates` differ between runs that share a program."""

    config: Config
    world: Finite
    agent: Tabular
    rules: Rules
    collector: Collector
    ring: Ring | None
    exact: Exact

    def block_noise(self, key: Array, block: Int[Array, ""]) -> tuple[Noise, UInt32[Array, "update sample"]]:
        """What chance decides in a block of updates, the same wherever a chunk begins."""
        fresh = self.config.unrolls_per_update
        collecting = fresh * self.collector.words
        total = collecting + (self.config.batch_size if self.ring else 0)
        words = jax.random.bits(jax.random.fold_in(key, block), (BLOCK, total), jnp.uint32)
        noise = self.collector.noise(words[:, :collecting].reshape(BLOCK, fresh, self.collector.words))
        return noise, words[:, collecting:]

    def init(self, key: Array, rates: Rates) -> Training:
        """A seed's training before the first update."""
        key_agent, key_episode = jax.random.split(jax.random.fold_in(key, 0xD15DA1))
        agent = self.agent.init(key_agent, self.rules, rates)
        episode = self.collector.begin(jax.random.bits(key_episode, (self.config.num_actors,), jnp.uint32))
        acting = self.agent.acting(agent)
        ring = None
        if self.ring:
            shapes = jax.eval_shape(self.collector.collect, acting, rates, self._slice(episode, 0), self._no_noise())[1]
            ring = self.ring.init(jax.tree.map(lambda s: jax.ShapeDtypeStruct(s.shape[1:], s.dtype), shapes))
        return Training(
            agent=agent,
            acting=jax.tree.map(jnp.copy, acting) if self.config.actor_period > 1 else None,
            bonus=self.rules.bonus.init(),
            episode=episode,
            replay=ring,
            tally=Tally(
                Measured(*(jnp.zeros(()) for _ in range(5))),
                jnp.zeros((self.world.num_states,), bool),
                jnp.full((), -1, jnp.int32),
            ),
        )

    def collect(self, training: Training, rates: Rates, noise: Noise, index: Int[Array, ""]) -> tuple[Training, Unroll]:
        """The next actors act, each for one skill."""
        fresh, period = self.config.unrolls_per_update, self.config.actor_period
        if training.acting is not None:
            live = self.agent.acting(training.agent)
            acting = jax.lax.cond(index % period == 0, lambda: live, lambda: training.acting)
            training = dataclasses.replace(training, acting=acting)
        else:
            acting = self.agent.acting(training.agent)
        first = (index * fresh) % self.config.num_actors
        episode, unrolls = self.collector.collect(acting, rates, self._slice(training.episode, first), noise)
        if episode is not None:
            episode = jax.tree.map(
                lambda whole, part: jax.lax.dynamic_update_slice_in_dim(whole, part, first, 0),
                training.episode,
                episode,
            )
        return dataclasses.replace(training, episode=episode), unrolls

    def push(self, training: Training, unrolls: Unroll) -> Training:
        """Fresh unrolls are counted, and kept where there is a replay."""
        seen, weight = features(self.agent, self.rules.objective, unrolls)
        tally = dataclasses.replace(
            training.tally,
            visited=training.tally.visited.at[unrolls.observation.astype(jnp.int32)].set(
                True, mode="promise_in_bounds", wrap_negative_indices=False
            ),
        )
        return dataclasses.replace(
            training,
            bonus=self.rules.bonus.update(training.bonus, seen, weight),
            replay=self.ring.push(training.replay, unrolls) if self.ring and training.replay is not None else None,
            tally=tally,
        )

    def sample(self, training: Training, unrolls: Unroll, words: UInt32[Array, "batch"]) -> Unroll:
        """What to learn from: the fresh unrolls themselves, or a uniform draw from the replay."""
        if self.ring and training.replay is not None:
            return self.ring.sample(training.replay, words)
        return unrolls

    def update(self, training: Training, rates: Rates, batch: Unroll, index: Int[Array, ""]) -> Training:
        """One learner update."""
        agent, measured = update(self.agent, self.rules, rates, training.agent, training.bonus, batch)
        sums = jax.tree.map(jnp.add, training.tally.measured, measured)
        loss = measured.loss_value_skill + measured.loss_value_bonus + measured.loss_discriminator
        healthy = jnp.where(jnp.isfinite(loss) & (training.tally.healthy == index - 1), index, training.tally.healthy)
        tally = dataclasses.replace(training.tally, measured=sums, healthy=healthy)
        return dataclasses.replace(training, agent=agent, tally=tally)

    def step(
        self,
        training: Training,
        rates: Rates,
        noise: tuple[Noise, UInt32[Array, "sample"]],
        index: Int[Array, ""],
    ) -> Training:
        """Collect, push, sample, update."""
        collecting, sampling = noise
        training, unrolls = self.collect(training, rates, collecting, index)
        training = self.push(training, unrolls)
        return self.update(training, rates, self.sample(training, unrolls, sampling), index)

    def evaluate(
        self, training: Training, rates: Rates, updates: Int[Array, ""]
    ) -> tuple[Training, dict[str, Float[Array, ""]]]:
        """Every measure, and the training with the tally of the last `updates` updates started anew."""
        tally, tables = training.tally, training.agent
        mean = jax.tree.map(lambda total: total / updates, tally.measured)
        greedy = tables.greedy.reshape(self.config.num_skills, self.world.num_states).astype(jnp.int32)
        measures = {
            "skills_training": jnp.exp(mean.reward_skill),
            "coverage_lifetime": tally.visited.sum().astype(jnp.float32),
            "healthy": tally.healthy,
            **{field.name: getattr(mean, field.name) for field in dataclasses.fields(mean)},
            **self.exact.measures(greedy, tables.discriminator, rates.epsilon),
        }
        fresh = dataclasses.replace(tally, measured=jax.tree.map(jnp.zeros_like, tally.measured))
        return dataclasses.replace(training, tally=fresh), measures

    def snapshot(self, training: Training) -> dict[str, Array]:
        """What maps and rollouts are drawn from: the greedy policy's final states and the bonus of every state."""
        tables = training.agent
        greedy = tables.greedy.reshape(self.config.num_skills, self.world.num_states).astype(jnp.int32)
        start = int(self.world.starts[0]) * self.world.num_states if self.rules.objective.states_per_feature > 1 else 0
        feature = start + jnp.arange(self.world.num_states)
        bonus = self.rules.bonus.value(training.bonus, self.agent.logits(tables, feature), feature)
        return self.exact.snapshot(greedy, tables.discriminator, bonus)

    def refill(self, training: Training, rates: Rates, key: Array, index: Int[Array, ""]) -> Training:
        """Collect and push without learning: how a replay that was left behind fills again."""
        words = (self.config.unrolls_per_update, self.collector.words)
        key = jax.random.fold_in(jax.random.fold_in(key, 0xF111), index)
        noise = self.collector.noise(jax.random.bits(key, words, jnp.uint32))
        training, unrolls = self.collect(training, rates, noise, index)
        return self.push(training, unrolls)

    def _slice(self, episode: Episode | None, first: Any) -> Episode | None:
        fresh = self.config.unrolls_per_update
        return jax.tree.map(lambda whole: jax.lax.dynamic_slice_in_dim(whole, first, fresh), episode)

    def _no_noise(self) -> Noise:
        return self.collector.noise(jnp.zeros((self.config.unrolls_per_update, self.collector.words), jnp.uint32))


def make_parts(config: Config, world: Finite) -> Parts:
    """The parts for a validated configuration in a world."""
    objective = OBJECTIVES[config.objective]
    assert config.ensemble_size is not None
    agent = Tabular(
        num_states=world.num_states,
        num_actions=world.num_actions,
        num_skills=config.num_skills,
        ensemble_size=config.ensemble_size,
        states_per_feature=objective.states_per_feature,
        pinned_state=int(world.starts[0]) if config.pin_start else None,
        bonus_start=config.bonus_start,
    )
    bonuses: dict[str | None, Bonus] = {
        "disagreement": Disagreement(),
        "count": Count(agent.num_features),
        "none": NoBonus(),
    }
    rules = Rules(
        objective=objective,
        bonus=bonuses[config.bonus],
        discount=config.discount,
        trace_decay=config.trace_decay,
        clip_skill_reward=config.clip_skill_reward,
        bonus_scale=config.bonus_scale,
        values=config.values,
    )
    collector = Collector(agent, world, config.moves, config.num_skills)
    ring = Ring(config.replay_size, config.unrolls_per_update) if config.replay == "device" else None
    exact = Exact(world, objective, config.moves, config.num_skills, agent.pinned_state)
    return Parts(config, world, agent, rules, collector, ring, exact)


def rates_of(config: Config) -> Rates:
    """The numbers of a configuration that may differ inside one program."""
    names = (field.name for field in dataclasses.fields(Rates))
    return Rates(*(jnp.float32(getattr(config, name)) for name in names))
