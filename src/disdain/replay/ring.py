"""The paper's uniform replay, as a ring buffer on the device."""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RingState:
    """The newest unrolls (a pytree whose leaves have a leading axis of the ring's size) and how many ever came."""

    data: Any
    pushed: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Ring:
    """Keeps the last `size` unrolls; they arrive `block` at a time, and `block` divides `size`."""

    size: int
    block: int

    def init(self, example: Any) -> RingState:
        """An empty ring for unrolls like the example (one unroll: shapes and the small integer types it will have)."""
        data = jax.tree.map(lambda leaf: jnp.zeros((self.size, *leaf.shape), leaf.dtype), example)
        return RingState(data, jnp.zeros((), jnp.int32))

    def push(self, state: RingState, unrolls: Any) -> RingState:
        """Write a block over the oldest."""
        at = state.pushed % self.size

        def write(leaf: Array, new: Array) -> Array:
            return jax.lax.dynamic_update_slice_in_dim(leaf, new.astype(leaf.dtype), at, axis=0)

        # past 2·size only the remainder matters: keep the count small enough for 32 bits, and ≥ size once it was
        pushed = state.pushed + self.block
        pushed = jnp.where(pushed >= 2 * self.size, pushed - self.size, pushed)
        return RingState(jax.tree.map(write, state.data, unrolls), pushed)

    def sample(self, state: RingState, words: UInt32[Array, "batch"]) -> Any:
        """Uniformly, with replacement, from what is there."""
        filled = jnp.minimum(state.pushed, self.size).astype(jnp.uint32)
        index = (words % filled).astype(jnp.int32)
        return jax.tree.map(lambda leaf: leaf.at[index].get(mode="promise_in_bounds"), state.data)


def unroll_bytes(example: Any) -> int:
    """Bytes that one unroll takes in a replay."""
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(example))
