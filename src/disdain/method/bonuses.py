"""Exploration bonuses: what a policy is paid, besides being recognised, to go where it has not been."""

import dataclasses
from typing import Any, Protocol, runtime_checkable

import jax.numpy as jnp
from jaxtyping import Array, Float, Integer

from disdain.method.disagreement import disagreement


@runtime_checkable
class Bonus(Protocol):
    """A bonus is three functions; what it has learnt is a state that it gets and gives back.

    `value` prices features of the batch that is learnt from. `update` sees the features of every fresh unroll
    exactly once, before the unroll can be sampled.
    """

    def init(self) -> Any:
        """The state before anything was seen."""
        ...

    def value(
        self, state: Any, logits: Float[Array, "*batch member skill"], feature: Integer[Array, "*batch"]
    ) -> Array:
        """The bonus of each feature."""
        ...

    def update(self, state: Any, feature: Integer[Array, "*batch"], weight: Float[Array, "*batch"]) -> Any:
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
    Counts are exact up to 2²⁴ and stay there; the bonus is then below 0.00025.
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
