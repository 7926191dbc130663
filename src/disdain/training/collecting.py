"""Acting: one skill trajectory for each of a few actors, from wherever their episodes stand."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Integer, UInt32

from disdain.agents.learning import Agent, Rates
from disdain.agents.tabular import smallest_uint
from disdain.envs import Episode, Finite
from disdain.method.unroll import Unroll


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Noise:
    """What chance decides in an unroll of each actor."""

    skill: Integer[Array, "*batch actor"]
    start: UInt32[Array, "*batch actor"]  # where a new episode starts
    move: UInt32[Array, "*batch moves word actor"]  # exploration, and the world's own chances where it has any


@dataclasses.dataclass(frozen=True, eq=False)
class Collector:
    """Runs skills in a world. `moves` is T−1; an episode that ends inside a skill ends the skill's trajectory there."""

    agent: Agent
    world: Finite
    moves: int
    num_skills: int

    @property
    def restarts(self) -> bool:
        """Every skill begins a new episode: there is nothing to carry."""
        return self.world.time_limit == self.moves

    @property
    def ends_early(self) -> bool:
        """Whether a trajectory can be shorter than `moves`."""
        limit = self.world.time_limit
        return self.world.may_terminate or (limit is not None and limit % self.moves != 0)

    @property
    def words(self) -> int:
        """Random 32-bit words that one unroll takes: skill, start, and one or two a move."""
        return 2 + self.moves * self._words_a_move

    @property
    def _words_a_move(self) -> int:
        return 2 if self.world.stochastic else 1

    def noise(self, words: UInt32[Array, "*batch actor words"]) -> Noise:
        """What chance decides in an unroll of each actor. Made for many updates at once, out of the training loop."""
        moves = words[..., 2:].reshape(*words.shape[:-1], self.moves, self._words_a_move)
        return Noise(
            skill=(words[..., 0] % self.num_skills).astype(smallest_uint(self.num_skills - 1)),
            start=words[..., 1],
            move=jnp.moveaxis(moves, (-3, -2, -1), (-1, -3, -2)),
        )

    def begin(self, words: UInt32[Array, "actor"]) -> Episode | None:
        """Episodes for actors that never acted."""
        if self.restarts:
            return None
        state = self.world.reset(words)
        return Episode(state, jnp.zeros_like(state))

    def collect(
        self, acting: Any, rates: Rates, episode: Episode | None, noise: Noise
    ) -> tuple[Episode | None, Unroll]:
        """Follow a random skill from where each episode stands, or from a fresh start where it has ended."""
        skill = noise.skill.astype(jnp.int32)
        fresh = Episode(self.world.reset(noise.start), jnp.zeros(skill.shape, jnp.int32))
        begin = fresh if episode is None else self._restart(episode, fresh)
        seen, done = (smallest_uint(n - 1) for n in (self.world.num_states, self.world.num_actions))

        def move(carry: tuple[Array, Array, Array, Array], word: Array) -> tuple[Any, Any]:
            state, length, terminated, over = carry
            action = self.agent.act(acting, self.world.observe(state), skill, word[0], rates)
            after, ended = self.world.step(state, action, word[1] if self.world.stochastic else None)
            if self.ends_early:
                after = jnp.where(over, state, after)
                length = length + ~over
                terminated = terminated | (ended & ~over)
                over = over | ended | self._timed_out(begin.elapsed + length)
            return (after, length, terminated, over), (state.astype(seen), action.astype(done))

        no = jnp.zeros(skill.shape, bool)
        carry = (begin.state, jnp.zeros(skill.shape, jnp.int32), no, no)
        # a loop costs little on a CPU; on an accelerator each turn would cost launches, and unrolled it is one kernel
        unroll = jax.default_backend() != "cpu"
        (final, length, terminated, over), (states, actions) = jax.lax.scan(move, carry, noise.move, unroll=unroll)
        observation = self.world.observe(jnp.concatenate([states, final.astype(seen)[None]])).T
        unroll = Unroll(observation=observation, action=actions.T, skill=noise.skill)
        if self.ends_early:
            unroll = dataclasses.replace(
                unroll,
                length=length.astype(smallest_uint(self.moves)),
                terminated=terminated,
                truncated=over & ~terminated,
            )
        if episode is None:
            return None, unroll
        elapsed = begin.elapsed + (length if self.ends_early else self.moves)
        # an episode that is over waits for its restart at the time limit
        over = over if self.ends_early else self._timed_out(elapsed)
        return Episode(final, jnp.where(over, -1, elapsed)), unroll

    def _timed_out(self, elapsed: Array) -> Array:
        limit = self.world.time_limit
        return jnp.zeros(elapsed.shape, bool) if limit is None else elapsed >= limit

    def _restart(self, episode: Episode, fresh: Episode) -> Episode:
        over = episode.elapsed < 0
        return jax.tree.map(lambda new, old: jnp.where(over, new, old), fresh, episode)
