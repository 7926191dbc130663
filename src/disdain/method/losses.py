"""The two losses: one number for each value function, one for each member of the ensemble."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Integer

from disdain.method.ensembles import constant, widen
from disdain.method.reductions import sum_of, top_of


def squared_td(
    q: Float[Array, "batch moves"], target: Float[Array, "batch moves"], mask: Float[Array, "batch moves"]
) -> Float[Array, ""]:
    """Σ_t (G_t − Q(s_t, a_t))², summed over time, averaged over the batch."""
    squares = jnp.where(mask > 0, (target - q) ** 2, 0.0).reshape(-1)
    return sum_of(jnp, squares)[0] / q.shape[0]


def cross_entropy(
    logits: Float[Array, "batch F member skill"], skill: Integer[Array, "batch"], weight: Float[Array, "batch F"]
) -> Float[Array, "member"]:
    """L(φᵢ) = −E[log qᵢ(z|o)], eq. 5, of each member: summed over a trajectory's features, averaged over the batch.

    The members' losses are to be *summed*, so that each learns at the full rate, as in algorithm 1.
    """
    logits, _ = widen(jnp, logits)
    shifted = logits - constant(top_of(jnp, logits))
    index = jnp.broadcast_to(skill.astype(jnp.int32)[:, None, None, None], (*logits.shape[:-1], 1))
    own = jnp.take_along_axis(shifted, index, axis=-1, mode="promise_in_bounds")
    log_q = own - jnp.log(sum_of(jnp, jnp.exp(shifted)))
    return -(weight[..., None] * log_q[..., 0]).sum(1).mean(0)
