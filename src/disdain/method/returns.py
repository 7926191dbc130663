"""Peng's Q(λ), for several value functions that share one policy."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int


def composite(values: Float[Array, "*batch value"], weights: Float[Array, "value"]) -> Float[Array, "*batch"]:
    """What the policy maximises: Σᵥ wᵥ Qᵥ. With values learnt on rewards that carry their weight, w = 1."""
    return (values * weights).sum(-1)


def greedy(values: Float[Array, "*batch action"]) -> Int[Array, "*batch"]:
    """argmax over actions, the first of equals; plain comparisons, many times faster on CPU than a reduction."""
    best, action = values[..., 0], jnp.zeros(values.shape[:-1], jnp.int32)
    for candidate in range(1, values.shape[-1]):
        action = jnp.where(values[..., candidate] > best, candidate, action)
        best = jnp.maximum(best, values[..., candidate])
    return action


def peng_returns(
    r_t: Float[Array, "*batch moves"],
    discount_t: Float[Array, "*batch moves"],
    v_t: Float[Array, "*batch moves"],
    trace_t: Float[Array, "*batch moves"] | float,
) -> Float[Array, "*batch moves"]:
    """Peng's Q(λ) returns (Peng and Williams, 1994), for one value function; t runs over 1…T−1 as in s₀ a₀ r₁ s₁.

        G_t−1 = r_t + γ_t · ((1 − λ_t) Q(s_t, a*_t) + λ_t G_t),    G_T−1 = Q(s_T−1, a*_T−1)

    `v_t` is Q(s_t, a*_t), a* the action that maximises the *composite* of all value functions. A discount of 0 says
    that nothing follows; where a stream is only cut (a truncated episode), λ_t = 0 bootstraps instead.

    The recursion G_t−1 = x_t + c_t G_t is solved by doubling (each pass looks twice as far ahead): ⌈log₂ T⌉ short
    passes over all t at once instead of T passes that wait for each other.
    """
    trace_t = jnp.broadcast_to(jnp.asarray(trace_t, r_t.dtype), r_t.shape)
    r_t, discount_t, v_t, trace_t = (jnp.moveaxis(x, -1, 0) for x in (r_t, discount_t, v_t, trace_t))
    carried = discount_t * trace_t
    g = (r_t + discount_t * (1.0 - trace_t) * v_t).at[-1].set(r_t[-1] + discount_t[-1] * v_t[-1])
    reach = 1
    while reach < g.shape[0]:
        ahead = lambda x: jnp.concatenate([x[reach:], jnp.zeros_like(x[:reach])])  # noqa: B023, E731
        g, carried = g + carried * ahead(g), carried * ahead(carried)
        reach *= 2
    return jnp.moveaxis(g, 0, -1)
