"""Worlds with finitely many states, known by their transition table."""

import dataclasses
from collections.abc import Iterator
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Integer, UInt32


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Episode:
    """Where an actor's episode stands; carried from unroll to unroll, so that s₀ of a skill is s_T of the last."""

    state: Int[Array, "*batch"]
    elapsed: Int[Array, "*batch"]


@dataclasses.dataclass(frozen=True, eq=False)
class Finite:
    """S states, A actions, K possible outcomes of each move.

    Random numbers come in as 32-bit words, one for each move where the world is stochastic and one for each start
    where there are several, so that whoever runs the world decides when they are drawn.
    """

    name: str
    next_state: Int[np.ndarray, "S A K"]
    probability: Float[np.ndarray, "S A K"]
    terminated: Bool[np.ndarray, "S A K"]
    start: Float[np.ndarray, "S"]
    time_limit: int | None = None  # moves, None: an episode ends only where the world says so
    picture: tuple[str, ...] = ()  # a grid world's map, for figures
    position: Int[np.ndarray, "S 2"] | None = None  # row and column of each state in the picture

    @property
    def num_states(self) -> int:
        """S."""
        return self.next_state.shape[0]

    @property
    def num_actions(self) -> int:
        """A."""
        return self.next_state.shape[1]

    @cached_property
    def stochastic(self) -> bool:
        """Whether some move has several outcomes."""
        return bool(((self.probability > 0).sum(-1) > 1).any())

    @cached_property
    def may_terminate(self) -> bool:
        """Whether the world itself can end an episode."""
        return bool((self.terminated & (self.probability > 0)).any())

    @cached_property
    def starts(self) -> Int[np.ndarray, "start"]:
        """The states that an episode can start in."""
        return np.flatnonzero(self.start > 0)

    def observe(self, state: Integer[Array, "*batch"]) -> Integer[Array, "*batch"]:
        """An agent in a finite world sees the state's number."""
        return state

    def reset(self, word: UInt32[Array, "*batch"]) -> Int[Array, "*batch"]:
        """Draw the first state of an episode."""
        if len(self.starts) == 1:
            return jnp.full(word.shape, int(self.starts[0]), jnp.int32)
        reached = jnp.asarray(np.cumsum(self.start[self.starts])[:-1], jnp.float32)
        return jnp.asarray(self.starts, jnp.int32)[(unit(word)[..., None] >= reached).sum(-1)]

    def step(
        self, state: Int[Array, "*batch"], action: Int[Array, "*batch"], word: UInt32[Array, "*batch"] | None
    ) -> tuple[Int[Array, "*batch"], Bool[Array, "*batch"]]:
        """Make a move: the next state, and whether the world ended the episode with it."""
        outcomes = self.next_state.shape[2]
        row = state * self.num_actions + action
        if outcomes == 1:
            entry = row
        elif word is None:
            entry = _look_up(self._only, row)
        else:
            reached = _look_up(self._reached, row)
            entry = row * outcomes + (unit(word)[..., None] >= reached).sum(-1).astype(row.dtype)
        after = (
            jnp.asarray(self.next_state.reshape(-1), jnp.int32)
            .at[entry]
            .get(mode="promise_in_bounds", wrap_negative_indices=False)
        )
        if not self.may_terminate:
            return after, jnp.zeros(after.shape, bool)
        return after, jnp.asarray(self.terminated.reshape(-1)).at[entry].get(
            mode="promise_in_bounds", wrap_negative_indices=False
        )

    @cached_property
    def _reached(self) -> Float[np.ndarray, "S·A _"]:
        """Cumulative chances that a random number is held against; none falls past the last possible outcome."""
        later = np.cumsum(self.probability[..., ::-1], -1)[..., ::-1][..., 1:]
        reached = np.where(later > 0, np.cumsum(self.probability, -1)[..., :-1], 2.0)
        return reached.reshape(-1, reached.shape[-1]).astype(np.float32)

    @cached_property
    def _only(self) -> Int[np.ndarray, "S·A"]:
        """Where each move's outcome stands in a deterministic world."""
        outcomes = self.next_state.shape[2]
        return np.arange(self.num_states * self.num_actions) * outcomes + self.probability.argmax(-1).reshape(-1)

    def reachable(self, moves: int) -> Bool[np.ndarray, "S"]:
        """The states that some policy can end a trajectory of that many moves in, from some start."""
        *_, last = self._within(moves)
        return last

    def visitable(self, moves: int) -> Bool[np.ndarray, "S"]:
        """The states that some policy can come to, from some start, with one to that many moves."""
        return np.logical_or.reduce(list(self._within(moves)))

    def _within(self, moves: int) -> Iterator[Bool[np.ndarray, "S"]]:
        """Where trajectories of 1, 2, … moves can end; those that the world ended earlier have ended there too."""
        possible = self.probability > 0
        alive, ended = self.start > 0, np.zeros(self.num_states, bool)
        for _ in range(moves):
            after = np.zeros_like(alive)
            going = possible & alive[:, None, None]
            ended[self.next_state[going & self.terminated]] = True
            after[self.next_state[going & ~self.terminated]] = True
            alive = after
            yield alive | ended


def unit(word: UInt32[Array, "*batch"]) -> Float[Array, "*batch"]:
    """32 random bits as a number in [0, 1], the small ones at full resolution."""
    return word.astype(jnp.float32) * jnp.float32(2.0**-32)


def _look_up(table: np.ndarray, index: Int[Array, "*batch"]) -> Array:
    """Rows of a constant table, integers as 32-bit ones; indices are never negative, which saves looking."""
    narrow = table.astype(np.int32) if np.issubdtype(table.dtype, np.integer) else table
    return jnp.asarray(narrow).at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)
