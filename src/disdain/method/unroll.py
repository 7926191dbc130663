"""The one record that travels through the house: a skill's trajectory."""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Integer, Shaped


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Unroll:
    """T states and the T−1 moves between them, made under one skill.

    A trajectory that ends early is padded: only the first `length` moves were made, and state `length` is its
    terminal state. The optional fields are None in worlds where they could never differ from one unroll to the
    next, and then take no memory in a replay. `terminated` (the world ended the episode) and `truncated` (a time
    limit did) are never merged.
    """

    observation: Shaped[Array, "*batch_and_time"]
    action: Integer[Array, "*batch moves"]
    skill: Integer[Array, "*batch"]
    length: Integer[Array, "*batch"] | None = None
    terminated: Bool[Array, "*batch"] | None = None
    truncated: Bool[Array, "*batch"] | None = None

    @property
    def moves(self) -> int:
        """T−1, the moves that a full trajectory has."""
        return self.action.shape[-1]

    def last(self) -> Int[Array, "*batch"]:
        """Index of the terminal state: the number of moves really made."""
        full = jnp.full(self.skill.shape, self.moves, jnp.int32)
        return full if self.length is None else self.length.astype(jnp.int32)

    def mask(self) -> Float[Array, "*batch moves"]:
        """1 for moves that were made, 0 for padding."""
        return (jnp.arange(self.moves) < self.last()[..., None]).astype(jnp.float32)

    def discount(self) -> Float[Array, "*batch moves"]:
        """0 where the world ended the episode, 1 elsewhere (a skill's end is not the world's)."""
        if self.terminated is None:
            return jnp.ones(self.action.shape, jnp.float32)
        at_end = jnp.arange(self.moves) == self.last()[..., None] - 1
        return 1.0 - (at_end & self.terminated[..., None]).astype(jnp.float32)
