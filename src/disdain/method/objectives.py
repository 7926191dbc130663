"""What the discriminator sees of a trajectory, and which moves are paid for it."""

import dataclasses
from typing import Protocol, runtime_checkable

import jax.numpy as jnp
from jaxtyping import Array, Float, Int


@runtime_checkable
class Objective(Protocol):
    """An objective picks states out of a trajectory of T states whose last real one is `last` (T−1 if not cut short).

    Each of its F features is K states taken together; the agent embeds and joins them.
    """

    @property
    def states_per_feature(self) -> int:
        """K."""
        ...

    def states(self, last: Int[Array, "*batch"], moves: int) -> Int[Array, "*batch F K"]:
        """Time indices of the states of each feature."""
        ...

    def weight(self, last: Int[Array, "*batch"], moves: int) -> Float[Array, "*batch F"]:
        """1 for real features, 0 for padding."""
        ...

    def pay(
        self, value: Float[Array, "*batch F"], last: Int[Array, "*batch"], moves: int
    ) -> Float[Array, "*batch moves"]:
        """The value of each feature as the reward of the move that led to it."""
        ...


@dataclasses.dataclass(frozen=True)
class FinalState:
    """The paper's: o = s_T, paid at the last move."""

    states_per_feature: int = 1

    def states(self, last: Array, moves: int) -> Array:
        """The terminal state."""
        return last[..., None, None]

    def weight(self, last: Array, moves: int) -> Array:
        """One feature, always real."""
        return jnp.ones((*last.shape, 1), jnp.float32)

    def pay(self, value: Array, last: Array, moves: int) -> Array:
        """Everything at the last move that was made."""
        return jnp.where(jnp.arange(moves) == last[..., None] - 1, value, 0.0)


@dataclasses.dataclass(frozen=True)
class InitialAndFinalState(FinalState):
    """VIC: o = (s_0, s_T), paid at the last move."""

    states_per_feature: int = 2

    def states(self, last: Array, moves: int) -> Array:
        """The first state and the terminal one."""
        return jnp.stack([jnp.zeros_like(last), last], axis=-1)[..., None, :]


@dataclasses.dataclass(frozen=True)
class EveryState:
    """DIAYN: o_t = s_t for t in 1…T, paid at every move."""

    states_per_feature: int = 1

    def states(self, last: Array, moves: int) -> Array:
        """Every state but the first; beyond the end, the terminal state again (its weight is 0)."""
        return jnp.minimum(jnp.arange(1, moves + 1), last[..., None])[..., None]

    def weight(self, last: Array, moves: int) -> Array:
        """1 up to the terminal state."""
        return (jnp.arange(1, moves + 1) <= last[..., None]).astype(jnp.float32)

    def pay(self, value: Array, last: Array, moves: int) -> Array:
        """Each move is paid for the state that it led to."""
        return value * self.weight(last, moves)


OBJECTIVES: dict[str, Objective] = {
    "final": FinalState(),
    "initial-final": InitialAndFinalState(),
    "every": EveryState(),
}
