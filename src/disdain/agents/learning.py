"""One update, walked: the algorithm, for every kind of agent, objective and bonus."""

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32

from disdain.method.bonuses import Bonus
from disdain.method.losses import cross_entropy, squared_td
from disdain.method.objectives import Objective
from disdain.method.reductions import sum_of
from disdain.method.returns import peng_returns
from disdain.method.rewards import skill_reward
from disdain.method.unroll import Unroll


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Rates:
    """Numbers that may differ between agents that are trained side by side in one program."""

    learning_rate: Float[Array, ""]
    discriminator_rate: Float[Array, ""]
    epsilon: Float[Array, ""]
    bonus_weight: Float[Array, ""]


@dataclasses.dataclass(frozen=True)
class Rules:
    """What is fixed for a whole program."""

    objective: Objective
    bonus: Bonus
    discount: float
    trace_decay: float
    clip_skill_reward: bool = True
    bonus_scale: str = "scaled"  # scaled: the bonus value is learnt on λ·r_bonus; weighted: λ multiplies the value
    values: str = "two"  # one: a single value function for the weighted sum of the rewards

    def value_weights(self, rates: Rates) -> Float[Array, "value"]:
        """The weights of the value functions in the composite that the policy maximises."""
        if self.values == "one":
            return jnp.ones((1,), jnp.float32)
        one = jnp.ones_like(rates.bonus_weight)
        return jnp.stack([one, rates.bonus_weight if self.bonus_scale == "weighted" else one])


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Reading:
    """What an agent says about a batch: the part of it that its losses can be differentiated through."""

    q: Float[Array, "batch moves value"]  # Q(s_t, a_t) of the actions taken
    logits: Float[Array, "batch F member skill"]  # the discriminators' answers to each feature


Loss = Callable[[Reading], tuple[Array, Any]]


@runtime_checkable
class Agent(Protocol):
    """Parameters and how they are used. Every function is pure and written for one agent; seeds are vmapped."""

    def init(self, key: Array, rules: Rules, rates: Rates) -> Any:
        """Fresh parameters."""
        ...

    def acting(self, state: Any) -> Any:
        """What an actor needs of the parameters: the live ones, or something cheaper made of them."""
        ...

    def act(self, acting: Any, observation: Array, skill: Array, word: UInt32[Array, "*batch"], rates: Rates) -> Array:
        """ε-greedy action of the composite value."""
        ...

    def feature(self, batch: Unroll, states: Int[Array, "batch F K"]) -> Array:
        """The discriminator's input for those states, taken together."""
        ...

    def read(self, state: Any, batch: Unroll, feature: Array) -> Reading:
        """Q-values and logits of a batch under the live parameters."""
        ...

    def next_values(self, state: Any, batch: Unroll, rules: Rules, rates: Rates) -> Float[Array, "batch moves value"]:
        """Q(s_t+1, a*) of every value function, a* the greedy action of the composite, under the target parameters."""
        ...

    def descend(self, state: Any, batch: Unroll, feature: Array, loss: Loss, rules: Rules, rates: Rates) -> Any:
        """A gradient step: (new state, the loss's second output)."""
        ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Measured:
    """Means over a batch, for the metrics."""

    reward_skill: Float[Array, ""]  # unclipped
    reward_bonus: Float[Array, ""]
    loss_value_skill: Float[Array, ""]
    loss_value_bonus: Float[Array, ""]
    loss_discriminator: Float[Array, ""]  # mean over members


def features(agent: Agent, objective: Objective, batch: Unroll) -> tuple[Array, Float[Array, "batch F"]]:
    """What the discriminator sees of a batch, and which of it is real."""
    last = batch.last()
    return agent.feature(batch, objective.states(last, batch.moves)), objective.weight(last, batch.moves)


def update(
    agent: Agent, rules: Rules, rates: Rates, state: Any, bonus_state: Any, batch: Unroll
) -> tuple[Any, Measured]:
    """Algorithm 1 from the second line of its loop on: rewards, returns, and a step on both losses.

    Nothing is bootstrapped past the end of a skill.
    """
    last = batch.last()
    feature, weight = features(agent, rules.objective, batch)
    logits = agent.read(state, batch, feature).logits
    r_skill = skill_reward(logits, batch.skill[:, None])
    r_bonus = rules.bonus.value(bonus_state, logits, feature)
    paid_skill = jnp.maximum(r_skill, 0.0) if rules.clip_skill_reward else r_skill
    pay = lambda value: rules.objective.pay(value, last, batch.moves)  # noqa: E731
    if rules.values == "one":
        rewards = [pay(paid_skill + rates.bonus_weight * r_bonus)]
    else:
        scale = rates.bonus_weight if rules.bonus_scale == "scaled" else jnp.float32(1.0)
        rewards = [pay(paid_skill), pay(scale * r_bonus)]

    inside = jnp.arange(batch.moves) != last[:, None] - 1
    discount = rules.discount * inside * batch.discount()
    next_values = agent.next_values(state, batch, rules, rates)
    targets = [
        peng_returns(reward, discount, next_values[..., v], rules.trace_decay) for v, reward in enumerate(rewards)
    ]
    mask = batch.mask()

    def loss(reading: Reading) -> tuple[Array, Any]:
        td = [squared_td(reading.q[..., v], target, mask) for v, target in enumerate(targets)]
        members = cross_entropy(reading.logits, batch.skill, weight)
        return sum(td) + members.sum(), (td[0], td[-1], members.mean())

    state, (td_skill, td_bonus, discriminator) = agent.descend(state, batch, feature, loss, rules, rates)
    total = lambda r: sum_of(jnp, r.reshape(-1))[0]  # noqa: E731
    mean = lambda r: total(jnp.where(weight > 0, r, 0.0)) / total(weight)  # noqa: E731
    return state, Measured(mean(r_skill), mean(r_bonus), td_skill, td_bonus, discriminator)
