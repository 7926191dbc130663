"""The measures of a tabular agent, computed and not sampled: policy and world are finite, so their chain is known."""

import dataclasses
import math
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer

from disdain.envs import Finite
from disdain.evaluation.information import expected_reward, likeliest_skill, mutual_information, rewards
from disdain.evaluation.propagation import Chain
from disdain.evaluation.rollouts import likeliest, rollout, visited
from disdain.method.objectives import EveryState, Objective
from disdain.method.rewards import ceiling

EXACT_VISITS = 300_000_000  # multiplications up to which visits of a stochastic world are computed, not sampled
ROLLOUTS = 64  # of each skill, where visits are sampled


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Found:
    """What holds for trajectories that begin in certain states."""

    reward: Float[Array, "policy"]  # E[r_skill] of the training policy and of the greedy one
    information: Float[Array, "policy"]  # I(Z; O)
    goals_reached: Float[Array, ""]
    goals_passed: Float[Array, ""]
    coverage: Float[Array, ""]
    final: Float[Array, "state skill"]  # distribution of the greedy policy's final state


@dataclasses.dataclass(frozen=True, eq=False)
class Exact:
    """Measures a greedy table and discriminators' logits over the first skill of an episode.

    Trajectories begin as episodes do, skills are drawn uniformly, and one that ends early ends at its terminal state.
    A skill's features o are distributed as p(o|z): its final state; with (s₀, s_T), features of different starts
    are different, so that I(Z; S₀, S_T) = Σ p(s₀) I(Z; S_T | s₀); with every state, the state after a move that is
    really made, each expected move of the skill weighing the same.
    """

    world: Finite
    objective: Objective
    moves: int
    num_skills: int
    pinned_state: int | None = None

    def measures(
        self,
        greedy: Integer[Array, "skill state"],
        logits: Float[Array, "feature member skill"],
        epsilon: Float[Array, ""],
    ) -> dict[str, Array]:
        """Every exact measure of one agent.

        Goals are the states that some policy can end in from some start, each followed by the greedy rollout of the
        skill that the ensemble finds likeliest there; with several starts or stochastic moves, a goal counts by the
        chance that it is reached. Computed in all worlds but for `goals_passed` and `coverage_episodic` in large
        stochastic ones (`EXACT_VISITS`), which are then means over `ROLLOUTS` rollouts of each skill.
        """
        greedy = greedy.astype(jnp.int32)
        found = self._of_pairs(greedy, logits, epsilon) if self._pairs else self._of_states(greedy, logits, epsilon)
        ends = jnp.zeros((self.world.num_states,), bool).at[jnp.argmax(found.final, axis=0)].set(True)
        seen, true, gap = jnp.exp(found.reward), jnp.exp(found.information), found.information - found.reward
        return {
            "skills_training_exact": seen[0],
            "skills_greedy": seen[1],
            "skills_training_true": true[0],
            "skills_greedy_true": true[1],
            "gap_training": gap[0],
            "gap_greedy": gap[1],
            "final_states": ends.sum().astype(jnp.float32),
            "goals_reached": found.goals_reached,
            "goals_passed": found.goals_passed,
            "coverage_episodic": found.coverage,
        }

    def snapshot(
        self,
        greedy: Integer[Array, "skill state"],
        logits: Float[Array, "feature member skill"],
        bonus_per_state: Float[Array, "state"],
    ) -> dict[str, Array]:
        """One greedy rollout of each skill from the first start, and the bonus as given.

        `path` [skill, T] follows each move's likeliest outcome (in deterministic worlds the only one), `final_state`
        is where the skill most likely ends, `confidence` what the ensemble then says, q̄(z|o).
        """
        greedy, first = greedy.astype(jnp.int32), int(self.world.starts[0])
        skill = jnp.arange(self.num_skills, dtype=jnp.int32)
        path, _ = rollout(self._likeliest, greedy, jnp.full_like(skill, first), skill, self.moves)
        start = jnp.zeros((self.world.num_states,)).at[first].set(1.0)
        final, _ = self._chain.propagate(start, greedy, jnp.zeros((self.num_skills,)))
        end = jnp.argmax(final, axis=0).astype(jnp.int32)
        feature = first * self.world.num_states + end if self._pairs else end
        confidence = jnp.exp(rewards(logits[feature])[skill, skill]) / self.num_skills
        return {"final_state": end, "confidence": confidence, "path": path.T, "bonus": bonus_per_state}

    @cached_property
    def num_features(self) -> int:
        """Features that some policy can bring about, those of a pinned state left out: it tells nothing."""
        return int(self._features.sum())

    @cached_property
    def ceiling(self) -> float:
        """An upper bound of the effective skills, attained only where each skill has one certain final feature.

        With (s₀, s_T), the exponential of the mean over starts. Where a state is pinned, skills may do better to end
        there and earn nothing than to share what is left; I(Z; O) itself does tell the pinned state apart.
        """
        bounds = [math.log(_ceiling(self.num_skills, int(row.sum()), self.pinned_state)) for row in self._features]
        chances = self.world.start[self.world.starts] if self._pairs else np.ones(1)
        return math.exp(float(np.dot(chances, bounds)))

    @cached_property
    def _features(self) -> np.ndarray:
        """Features within reach [start, state]; one row for all starts where they are not told apart."""
        if self._pairs:
            worlds = [
                dataclasses.replace(self.world, start=np.eye(1, self.world.num_states, s)[0]) for s in self.world.starts
            ]
            within = np.stack([world.reachable(self.moves) for world in worlds])
        else:
            within = (self.world.visitable(self.moves) if self._every else self.world.reachable(self.moves))[None]
        if self.pinned_state is not None:
            within[:, self.pinned_state] = False
        return within

    @property
    def _every(self) -> bool:
        return isinstance(self.objective, EveryState)

    @property
    def _pairs(self) -> bool:
        return self.objective.states_per_feature == 2

    @cached_property
    def _chain(self) -> Chain:
        return Chain(self.world, self.moves)

    @cached_property
    def _likeliest(self) -> Finite:
        return likeliest(self.world)

    @cached_property
    def _goals(self) -> Int[np.ndarray, "goal"]:
        return np.flatnonzero(self.world.reachable(self.moves))

    def _of_states(self, greedy: Array, logits: Array, epsilon: Array) -> Found:
        starts = self.world.starts
        chances = jnp.asarray(self.world.start[starts], jnp.float32)
        return self._found(jnp.asarray(starts, jnp.int32), chances, greedy, rewards(logits), epsilon)

    def _of_pairs(self, greedy: Array, logits: Array, epsilon: Array) -> Found:
        """The mean over starts, one at a time: each has features of its own."""
        states, starts = self.world.num_states, self.world.starts

        def add(total: Found, at: tuple[Array, Array]) -> tuple[Found, None]:
            state, chance = at
            of_start = jax.lax.dynamic_slice_in_dim(logits, state * states, states)
            found = self._found(state[None], jnp.ones((1,)), greedy, rewards(of_start), epsilon)
            return jax.tree.map(lambda sum_, one: sum_ + chance * one, total, found), None

        zero, two = jnp.zeros(()), jnp.zeros((2,))
        total = Found(two, two, zero, zero, zero, final=jnp.zeros((states, self.num_skills)))
        each = jnp.asarray(starts, jnp.int32), jnp.asarray(self.world.start[starts], jnp.float32)
        return jax.lax.scan(add, total, each)[0]

    def _found(self, begin: Array, chances: Array, greedy: Array, reward: Array, epsilon: Array) -> Found:
        start = jnp.zeros((self.world.num_states,), jnp.float32).at[begin].add(chances)
        none = jnp.zeros((self.num_skills,), jnp.float32)
        both = jnp.concatenate([greedy, greedy])
        explore = jnp.concatenate([none + epsilon, none])
        final, entered = self._chain.propagate(start, both, explore, occupancy=self._every)
        p = entered / entered.sum(0) if self._every else final
        p = jnp.stack([p[:, : self.num_skills], p[:, self.num_skills :]])
        ends = final[:, self.num_skills :]
        seen = jnp.maximum(self._seen(begin, chances, start, greedy), ends)
        best = likeliest_skill(reward)[self._goals]
        return Found(
            reward=jax.vmap(expected_reward, (0, None))(p, reward),
            information=jax.vmap(mutual_information)(p),
            goals_reached=ends[self._goals, best].mean(),
            goals_passed=seen[self._goals, best].mean(),
            coverage=seen.sum(0).mean(),
            final=ends,
        )

    def _seen(self, begin: Array, chances: Array, start: Array, greedy: Array) -> Float[Array, "state skill"]:
        """The chance that each skill's greedy trajectory visits each state."""
        key = None
        if self.world.stochastic:
            if self._chain.operations(self.num_skills) <= EXACT_VISITS:
                return self._chain.visits(start, greedy)
            key = jax.random.key(0)  # the same chances at every evaluation
            evenly = (jnp.arange(ROLLOUTS) + 0.5) / ROLLOUTS
            drawn = jnp.minimum(jnp.searchsorted(jnp.cumsum(chances), evenly), len(begin) - 1)
            begin, chances = begin[drawn], jnp.full((ROLLOUTS,), 1.0 / ROLLOUTS)
        skill = jnp.broadcast_to(jnp.arange(self.num_skills, dtype=jnp.int32), (len(begin), self.num_skills))
        states, _ = rollout(
            self.world, greedy, jnp.broadcast_to(begin[:, None], skill.shape), skill, self.moves, key=key
        )
        return visited(states, chances, self.world.num_states)


def _ceiling(num_skills: int, features: int, pinned_state: int | None) -> float:
    """`ceiling`, or with a pinned state the best of letting any number of skills end there and earn 0."""
    if pinned_state is None:
        return ceiling(num_skills, features)
    best = 0.0
    for used in range(1, num_skills + 1) if features else ():
        log_ceiling = math.log(num_skills / used * ceiling(used, features))
        best = max(best, used / num_skills * log_ceiling)
    return math.exp(best)
