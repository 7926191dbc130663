"""The tabular update against dense automatic differentiation, and the equalities that hold in tables."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from training.building import parts_of

from disdain.agents.learning import Rates, Reading, update
from disdain.method.losses import cross_entropy, squared_td
from disdain.method.returns import greedy
from disdain.training.parts import rates_of


def a_batch(parts, training, rates, seed=7):
    count = parts.config.unrolls_per_update
    words = jax.random.bits(jax.random.key(seed), (count, parts.collector.words), jnp.uint32)
    return parts.collect(training, rates, parts.collector.noise(words), jnp.int32(0))[1]


@pytest.mark.parametrize("objective", ["final", "initial-final", "every"])
@pytest.mark.parametrize("scale", ["scaled", "weighted"])
def test_the_sparse_step_is_sgd_on_the_whole_tables(objective, scale):
    """The loss as a function of dense tables, differentiated by JAX, targets held."""
    parts = parts_of(objective=objective, bonus_scale=scale, discriminator_rate=0.1, epsilon=0.3)
    agent, rules, rates = parts.agent, parts.rules, rates_of(parts.config)
    training = parts.init(jax.random.key(0), rates)
    batch = a_batch(parts, training, rates)
    tables = training.agent
    captured = {}

    class Spy(type(agent)):
        def descend(self, state, batch, feature, loss, rules, rates):
            captured.update(loss=loss, feature=feature)
            return super().descend(state, batch, feature, loss, rules, rates)

    spy = Spy(**{field.name: getattr(agent, field.name) for field in dataclasses.fields(agent)})
    after, _ = update(spy, rules, rates, tables, None, batch)

    z, s = batch.skill.astype(int)[:, None], batch.observation.astype(int)[:, :-1]
    shape = (parts.config.num_skills, parts.world.num_states, parts.world.num_actions, -1)

    def dense(q, discriminator):
        reading = Reading(q.reshape(shape)[z, s, batch.action], discriminator[captured["feature"]])
        return captured["loss"](reading)[0]

    by_q, by_logits = jax.grad(dense, argnums=(0, 1))(tables.q, tables.discriminator)
    np.testing.assert_allclose(after.q, tables.q - rates.learning_rate * by_q, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(after.discriminator, tables.discriminator - 0.1 * by_logits, rtol=2e-5, atol=2e-6)
    weights = rules.value_weights(rates)
    np.testing.assert_array_equal(
        after.greedy, greedy((after.q * weights).sum(-1).reshape(-1, parts.world.num_actions)).astype(jnp.uint8)
    )


def test_the_first_update_by_hand():
    """One unroll, float64 loops over the equations of the paper."""
    parts = parts_of(batch_size=1, unrolls_per_update=1, num_actors=1, epsilon=0.5)
    rates = rates_of(parts.config)
    training = parts.init(jax.random.key(1), rates)
    batch = a_batch(parts, training, rates, seed=5)
    after, measured = update(parts.agent, parts.rules, rates, training.agent, None, batch)

    config, world = parts.config, parts.world
    q = np.asarray(training.agent.q, float).reshape(config.num_skills, world.num_states, world.num_actions, 2)
    logits = np.asarray(training.agent.discriminator, float)
    z, states, actions = int(batch.skill[0]), np.asarray(batch.observation[0]), np.asarray(batch.action[0])
    p = np.exp(logits[states[-1]])
    p /= p.sum(-1, keepdims=True)
    mean = p.mean(0)
    r_skill = np.log(mean[z]) + np.log(config.num_skills)
    r_bonus = -(mean * np.log(mean)).sum() + (p * np.log(p)).sum(-1).mean()
    g = np.array([max(r_skill, 0.0), config.bonus_weight * r_bonus])
    expected = q.copy()
    for t in reversed(range(config.moves)):
        expected[z, states[t], actions[t]] += config.learning_rate * 2 * (g - q[z, states[t], actions[t]])
        best = q[z, states[t]].sum(-1).argmax()
        g = config.discount * ((1 - config.trace_decay) * q[z, states[t], best] + config.trace_decay * g)
    own = np.asarray(after.q, float).reshape(q.shape)
    np.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-5)
    step = -p
    step[:, z] += 1
    np.testing.assert_allclose(
        np.asarray(after.discriminator)[states[-1]],
        logits[states[-1]] + config.discriminator_rate * step,
        rtol=1e-4,
        atol=1e-5,
    )
    assert float(measured.reward_skill) == pytest.approx(r_skill, abs=1e-5)
    assert float(measured.reward_bonus) == pytest.approx(r_bonus, abs=1e-5)


def trained_tables(updates=60, **changes):
    parts = parts_of(**changes)
    rates = rates_of(parts.config)
    training = parts.init(jax.random.key(4), rates)
    step = jax.jit(parts.step)
    noise = parts.block_noise(jax.random.key(4), jnp.int32(0))
    for index in range(updates):
        training = step(training, rates, jax.tree.map(lambda leaf: leaf[index], noise), index)  # noqa: B023
    return training.agent


def test_weight_on_the_value_equals_weight_in_the_reward():
    """Q_skill + λ Q_bonus, and values of λ·r_bonus that start in [0, λ): one composite, in tables."""
    scaled, weighted = trained_tables(bonus_scale="scaled"), trained_tables(bonus_scale="weighted")
    np.testing.assert_allclose(scaled.q[:, 0], weighted.q[:, 0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(scaled.q[:, 1], 20.0 * weighted.q[:, 1], rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(scaled.greedy, weighted.greedy)


def test_one_value_of_the_summed_reward_equals_the_sum_of_two():
    """SGD at one rate is linear, and both values bootstrap on the same action."""
    two, one = trained_tables(values="two"), trained_tables(values="one")
    np.testing.assert_allclose(two.q.sum(-1), one.q[:, 0], rtol=1e-4, atol=1e-3)


def test_without_weight_the_bonus_value_stays_zero():
    tables = trained_tables(method="ensemble", bonus_weight=0.0)
    assert not np.asarray(tables.q[:, 1]).any()


def test_a_pinned_start_keeps_its_logits():
    parts = parts_of(pin_start=True)
    start = int(parts.world.starts[0])
    tables = trained_tables(pin_start=True)
    assert not np.asarray(tables.discriminator[start]).any()
    assert np.abs(np.asarray(tables.discriminator)).sum() > 0


def test_losses_of_a_batch_are_those_of_the_method():
    parts = parts_of()
    rates = rates_of(parts.config)
    training = parts.init(jax.random.key(0), rates)
    batch = a_batch(parts, training, rates)
    _, measured = update(parts.agent, parts.rules, rates, training.agent, None, batch)
    reading = parts.agent.read(training.agent, batch, batch.observation[:, -1:].astype(jnp.int32))
    members = cross_entropy(reading.logits, batch.skill, jnp.ones((16, 1)))
    assert float(measured.loss_discriminator) == pytest.approx(float(members.mean()), rel=1e-5)
    zero = squared_td(reading.q[..., 0], reading.q[..., 0], batch.mask())
    assert float(zero) == 0.0


def test_rates_may_differ_side_by_side():
    parts = parts_of()
    rates = rates_of(parts.config)
    lane = lambda value: dataclasses.replace(rates, bonus_weight=jnp.float32(value))  # noqa: E731
    key = jax.random.key(0)
    quiet, loud = (parts.init(key, lane(value)) for value in (0.0, 20.0))
    assert not np.asarray(quiet.agent.q[:, 1]).any()
    assert float(loud.agent.q[:, 1].max()) > 15.0
    assert isinstance(rates, Rates)
