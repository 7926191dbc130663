"""The tabular agent: the embedding is the state's number, and only what was visited is written."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt8, UInt32

from disdain.agents.learning import Loss, Rates, Reading, Rules
from disdain.method.returns import greedy
from disdain.method.unroll import Unroll


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Tables:
    """The parameters, and the greedy action of every (skill, state), kept up to date where values were written."""

    q: Float[Array, "skill·state·action value"]
    discriminator: Float[Array, "feature member skill"]
    greedy: UInt8[Array, "skill·state"]


@dataclasses.dataclass(frozen=True, eq=False)
class Tabular:
    """Tables Q[skill, state, action] for each value and q[member, feature, skill], flat, the fastest index last.

    No target tables: values bootstrap on themselves, as in the paper's Four Rooms.
    """

    num_states: int
    num_actions: int
    num_skills: int
    ensemble_size: int
    states_per_feature: int = 1
    pinned_state: int | None = None  # a final state whose logits stay 0
    bonus_start: str = "weighted"

    @property
    def num_features(self) -> int:
        """Features that the discriminators tell apart: S, or S² where they see two states."""
        return self.num_states**self.states_per_feature

    def init(self, key: Array, rules: Rules, rates: Rates) -> Tables:
        """Uniform in [0, 1): an ensemble that starts at zero cannot disagree. The bonus value starts in [0, λ)."""
        key_skill, key_bonus, key_ensemble = jax.random.split(key, 3)
        entries = (self.num_skills * self.num_states * self.num_actions,)
        skill, bonus = jax.random.uniform(key_skill, entries), jax.random.uniform(key_bonus, entries)
        if self.bonus_start == "weighted" and not (rules.values == "two" and rules.bonus_scale == "weighted"):
            bonus = rates.bonus_weight * bonus
        elif rules.bonus_scale == "scaled":
            bonus = jnp.where(rates.bonus_weight > 0, bonus, 0.0)
        q = jnp.stack([skill, bonus], -1) if rules.values == "two" else (skill + bonus)[:, None]
        logits = jax.random.uniform(key_ensemble, (self.num_features, self.ensemble_size, self.num_skills))
        logits = logits * self._free(jnp.arange(self.num_features))[:, None, None]
        rows = jnp.arange(self.num_skills * self.num_states)
        return Tables(q, logits, self._greedy_rows(q, rows, rules, rates))

    def acting(self, state: Tables) -> UInt8[Array, "skill·state"]:
        """The greedy table."""
        return state.greedy

    def act(
        self,
        acting: UInt8[Array, "skill·state"],
        observation: Int[Array, "*batch"],
        skill: Int[Array, "*batch"],
        word: UInt32[Array, "*batch"],
        rates: Rates,
    ) -> Int[Array, "*batch"]:
        """ε-greedy; one random number says whether to explore and, being uniform below ε if so, also where to."""
        best = _take(acting, skill * self.num_states + observation).astype(jnp.int32)
        u = word.astype(jnp.float32) * jnp.float32(2.0**-32)
        any_action = jnp.minimum(
            (u * (self.num_actions / jnp.maximum(rates.epsilon, 1e-30))).astype(jnp.int32), self.num_actions - 1
        )
        return jnp.where(u < rates.epsilon, any_action, best)

    def feature(self, batch: Unroll, states: Int[Array, "batch F K"]) -> Int[Array, "batch F"]:
        """The number of a state, or of a pair of states."""
        seen = jnp.take_along_axis(
            batch.observation.astype(jnp.int32)[:, None, :], states, axis=-1, mode="promise_in_bounds"
        )
        number = seen[..., 0]
        for k in range(1, self.states_per_feature):
            number = number * self.num_states + seen[..., k]
        return number

    def read(self, state: Tables, batch: Unroll, feature: Int[Array, "batch F"]) -> Reading:
        """Look up Q(s_t, a_t) and the logits."""
        entry = self._rows(batch)[:-1] * self.num_actions + batch.action.T
        return Reading(_take(state.q, entry).swapaxes(0, 1), self.logits(state, feature))

    def logits(self, state: Tables, feature: Int[Array, "*batch"]) -> Float[Array, "*batch member skill"]:
        """The members' logits for features."""
        return _take(state.discriminator, feature)

    def next_values(
        self, state: Tables, batch: Unroll, rules: Rules, rates: Rates
    ) -> Float[Array, "batch moves value"]:
        """Look up Q(s_t+1, a*)."""
        row = self._rows(batch)[1:]
        return _take(state.q, row * self.num_actions + _take(state.greedy, row).astype(jnp.int32)).swapaxes(0, 1)

    def descend(
        self, state: Tables, batch: Unroll, feature: Int[Array, "batch F"], loss: Loss, rules: Rules, rates: Rates
    ) -> tuple[Tables, object]:
        """SGD on what the batch visited: the gradient of the loss by what was read, added where it was read."""
        gradient, measured = jax.grad(loss, has_aux=True)(self.read(state, batch, feature))
        row = self._rows(batch)[:-1]
        entry = row * self.num_actions + batch.action.T
        q = state.q.at[entry].add(
            -rates.learning_rate * gradient.q.swapaxes(0, 1), mode="promise_in_bounds", wrap_negative_indices=False
        )
        step = -rates.discriminator_rate * gradient.logits
        if self.pinned_state is not None:
            step = step * self._free(feature)[..., None, None]
        discriminator = state.discriminator.at[feature].add(step, mode="promise_in_bounds", wrap_negative_indices=False)
        refreshed = state.greedy.at[row].set(
            self._greedy_rows(q, row, rules, rates), mode="promise_in_bounds", wrap_negative_indices=False
        )
        return Tables(q, discriminator, refreshed), measured

    def _rows(self, batch: Unroll) -> Int[Array, "T batch"]:
        """The row of each (skill, state) visited; time first, as it was collected, so that nothing is transposed."""
        return batch.skill.astype(jnp.int32) * self.num_states + batch.observation.T.astype(jnp.int32)

    def _greedy_rows(self, q: Array, row: Int[Array, "*batch"], rules: Rules, rates: Rates) -> UInt8[Array, "*batch"]:
        weights = rules.value_weights(rates)
        columns = []
        for action in range(self.num_actions):
            value = _take_values(q, row * self.num_actions + action)
            columns.append((value * weights).sum(-1) if rules.bonus_scale == "weighted" else value.sum(-1))
        return greedy(jnp.stack(columns, -1)).astype(jnp.uint8)

    def _free(self, feature: Int[Array, "*batch"]) -> Float[Array, "*batch"]:
        """0 for features that are pinned, 1 for all others."""
        if self.pinned_state is None:
            return jnp.ones(feature.shape, jnp.float32)
        return (feature % self.num_states != self.pinned_state).astype(jnp.float32)


def smallest_uint(largest: int) -> np.dtype:
    """The smallest unsigned integer type that holds `largest`."""
    return np.min_scalar_type(largest)


def _take(table: Array, index: Int[Array, "*batch"]) -> Array:
    return table.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)


def _take_values(q: Float[Array, "entry value"], entry: Int[Array, "*batch"]) -> Float[Array, "*batch value"]:
    """Both values of each entry, gathered one number at a time: faster than pairs where many entries are compared."""
    flat, values = q.reshape(-1), q.shape[-1]
    return jnp.stack([_take(flat, entry * values + v) for v in range(values)], axis=-1)
