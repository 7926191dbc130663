"""The two losses: one number for each value function, one for each member of the ensemble."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Integer

from disdain.method.ensembles import members, widen


def squared_td(
    q: Float[Array, "batch moves"], target: Float[Array, "batch moves"], mask: Float[Array, "batch moves"]
) -> Float[Array, ""]:
    """Σ_t (G_t − Q(s_t, a_t))², summed over time, averaged over the batch."""
    return (mask * (target - q) ** 2).sum(-1).mean()


def cross_entropy(
    logits: Float[Array, "batch F member skill"], skill: Integer[Array, "batch"], weight: Float[Array, "batch F"]
) -> Float[Array, "member"]:
    """L(φᵢ) = −E[log qᵢ(z|o)], eq. 5, of each member: summed over a trajectory's features, averaged over the batch.

    The members' losses are to be *summed*, so that each learns at the full rate, as in algorithm 1.
    """
    logits, _ = widen(jnp, logits)
    log_q, _ = members(jnp, logits)
    own = jnp.arange(logits.shape[-1]) == skill.astype(jnp.int32)[:, None, None, None]
    chosen = jnp.where(own, log_q, 0.0).sum(-1)
    return -(weight[..., None] * chosen).sum(1).mean(0)
