"""Exploration bonuses: what a policy is paid, besides being recognised, to go where it has not been."""

import dataclasses
import math
from typing import Any, Protocol

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from disdain.method.ensembles import members, namespace, widen, within


def disagreement(logits: Float[Any, "*batch member skill"]) -> Float[Any, "*batch"]:
    """DISDAIN bonus, eq. 10: entropy of the mean member minus mean entropy of the members, in nats.

        r = H[q̄] − 1/N Σᵢ H[qᵢ] = 1/N Σᵢ KL(qᵢ ‖ q̄),    0 ≤ r ≤ log min(N, N_Z)

    Computed as the divergence, with log q̄ taken relative to the member that is surest of each skill: members that
    agree get exactly 0, with no rounding left for λ to multiply.
    """
    xp = namespace(logits)
    logits, owed = widen(xp, logits)
    log_q, q = members(xp, logits)
    top = xp.max(q, axis=-2, keepdims=True)
    fall = xp.mean(q - top, axis=-2, keepdims=True) / xp.clip(top, 1e-30, None)  # q̄/top − 1, in [1/N − 1, 0]
    log_mean = xp.max(log_q, axis=-2, keepdims=True) + xp.log(1.0 + fall)
    divergence = xp.sum(q * (log_q - log_mean), axis=-1)
    most = math.log(min(logits.shape[-2], logits.shape[-1]))
    return within(xp, xp.mean(divergence, axis=-1), owed, 0.0, most)


class Bonus(Protocol):
    """A bonus is three functions; what it has learnt is a state that it gets and gives back.

    `value` prices features of the batch that is learnt from. `update` sees the features of every fresh unroll
    exactly once, before the unroll can be sampled.
    """

    def init(self) -> Any:
        """The state before anything was seen."""
        ...

    def value(self, state: Any, logits: Float[Array, "*batch member skill"], feature: Int[Array, "*batch"]) -> Array:
        """The bonus of each feature."""
        ...

    def update(self, state: Any, feature: Int[Array, "*batch"], weight: Float[Array, "*batch"]) -> Any:
        """The state after these features were met; those of weight 0 are padding."""
        ...


@dataclasses.dataclass(frozen=True)
class Disagreement:
    """The paper's bonus. Its only state is the ensemble itself, which the agent trains."""

    def init(self) -> None:
        """Nothing to remember."""

    def value(self, state: None, logits: Array, feature: Array) -> Array:
        """Eq. 10."""
        return disagreement(logits)

    def update(self, state: None, feature: Array, weight: Array) -> None:
        """Nothing to learn."""


@dataclasses.dataclass(frozen=True)
class Count:
    """r = 1/√n(o), n the number of times that feature o was met, the visit that is being paid included (so r ≤ 1).

    A feature that was never met, which only an evaluation can ask about, is worth what its first visit would be: 1.
    """

    num_features: int

    def init(self) -> Float[Array, "feature"]:
        """No visits."""
        return jnp.zeros((self.num_features,), jnp.float32)

    def value(self, state: Float[Array, "feature"], logits: Array, feature: Array) -> Array:
        """1/√n."""
        return 1.0 / jnp.sqrt(jnp.maximum(state.at[feature].get(mode="promise_in_bounds"), 1.0))

    def update(self, state: Float[Array, "feature"], feature: Array, weight: Array) -> Float[Array, "feature"]:
        """n ← n + 1 for every feature met."""
        return state.at[feature.reshape(-1)].add(weight.reshape(-1), mode="promise_in_bounds")


@dataclasses.dataclass(frozen=True)
class NoBonus:
    """Unbonused skill discovery."""

    def init(self) -> None:
        """Nothing to remember."""

    def value(self, state: None, logits: Array, feature: Array) -> Array:
        """0."""
        return jnp.zeros(feature.shape, jnp.float32)

    def update(self, state: None, feature: Array, weight: Array) -> None:
        """Nothing to learn."""
