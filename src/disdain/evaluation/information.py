"""How much a feature tells about the skill: what the discriminators say, and what is true."""

import math

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from disdain.method.ensembles import LOG_ZERO, members


def rewards(logits: Float[Array, "feature member skill"]) -> Float[Array, "feature skill"]:
    """The unclipped skill reward (eq. 3) of every skill for every feature, log q̄(z|o) + log N_Z."""
    log_q = jnp.maximum(members(jnp, logits)[0], LOG_ZERO)
    top = log_q.max(1, keepdims=True)
    return top[:, 0] + jnp.log(jnp.exp(log_q - top).mean(1)) + math.log(logits.shape[-1])


def expected_reward(p: Float[Array, "feature skill"], reward: Float[Array, "feature skill"]) -> Float[Array, ""]:
    """E[r_skill] = 1/N_Z Σ_z Σ_o p(o|z) r(o, z), a bound of I(Z; O) from below; p(o|z) stands in columns."""
    return jnp.where(p > 0, p * reward, 0.0).sum() / p.shape[1]


def mutual_information(p: Float[Array, "feature skill"]) -> Float[Array, ""]:
    """I(Z; O) = 1/N_Z Σ_z Σ_o p(o|z) log p(o|z)/p(o) in nats, skills drawn uniformly; p(o|z) stands in columns."""
    tiny = jnp.finfo(p.dtype).tiny
    surprise = jnp.log(jnp.maximum(p, tiny)) - jnp.log(jnp.maximum(p.mean(1, keepdims=True), tiny))
    return jnp.where(p > 0, p * surprise, 0.0).sum() / p.shape[1]


def likeliest_skill(reward: Float[Array, "feature skill"]) -> Int[Array, "feature"]:
    """z* = argmax_z q̄(z|o), the first of equals."""
    return jnp.argmax(reward, axis=-1).astype(jnp.int32)
