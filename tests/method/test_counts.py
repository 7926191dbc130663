"""Bonuses as init / value / update."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import disdain

pytestmark = pytest.mark.usefixtures("strict")

LOGITS = jnp.zeros((2, 2, 3))


def test_count_pays_for_the_visit_itself(maybe_jit):
    """r = 1/√n, the visit that is being paid included: the n-th visit to a feature earns 1/√n."""
    count = disdain.Count(4)
    state = count.init()
    for n in range(1, 6):
        state = maybe_jit(count.update)(state, jnp.array([1]), jnp.ones(1))
        value = maybe_jit(count.value)(state, LOGITS[:1], jnp.array([1]))
        np.testing.assert_allclose(value, [n**-0.5], rtol=1e-6)


def test_visits_of_one_batch_all_count(maybe_jit):
    count = disdain.Count(5)
    feature = jnp.array([[0, 3, 3], [3, 0, 4]], jnp.int32)
    weight = jnp.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])  # the last is padding
    state = maybe_jit(count.update)(count.init(), feature, weight)
    np.testing.assert_array_equal(state, [2, 0, 0, 3, 0])
    value = maybe_jit(count.value)(state, jnp.zeros((2, 3, 2, 3)), feature)
    np.testing.assert_allclose(value, [[0.5**0.5, 3**-0.5, 3**-0.5], [3**-0.5, 0.5**0.5, 1.0]], rtol=1e-6)


def test_what_was_never_met_is_worth_a_first_visit(maybe_jit):
    count = disdain.Count(3)
    np.testing.assert_array_equal(maybe_jit(count.value)(count.init(), LOGITS, jnp.array([0, 2])), 1.0)


def test_counts_are_the_same_in_any_order():
    feature = np.random.default_rng(0).integers(7, size=(50, 4))
    count = disdain.Count(7)
    state = count.init()
    for batch in feature:
        state = count.update(state, jnp.asarray(batch), jnp.ones(4))
    np.testing.assert_array_equal(state, np.bincount(feature.ravel(), minlength=7))
    np.testing.assert_array_equal(state, count.update(count.init(), jnp.asarray(feature), jnp.ones((50, 4))))


def test_disagreement_is_the_bonus_of_the_logits(maybe_jit):
    logits = jnp.asarray(np.random.default_rng(1).normal(size=(6, 2, 5)).astype(np.float32))
    bonus = disdain.Disagreement()
    feature = jnp.zeros(6, jnp.int32)
    assert bonus.init() is None
    assert bonus.update(None, feature, jnp.ones(6)) is None
    np.testing.assert_allclose(
        maybe_jit(lambda x, f: bonus.value(None, x, f))(logits, feature), disdain.bonus(logits), rtol=1e-5
    )


def test_no_bonus(maybe_jit):
    none = disdain.NoBonus()
    assert none.init() is None
    got = maybe_jit(lambda x, f: none.value(None, x, f))(LOGITS, jnp.array([0, 1]))
    np.testing.assert_array_equal(got, [0.0, 0.0])
    assert got.dtype == jnp.float32


@pytest.mark.parametrize(
    "bonus", [disdain.Count(9), disdain.Disagreement(), disdain.NoBonus()], ids=lambda b: type(b).__name__
)
def test_every_bonus_keeps_the_shape_of_what_it_prices(bonus):
    """Also of a whole trajectory's features, and under a vmap over seeds."""
    feature = jnp.asarray(np.random.default_rng(2).integers(9, size=(3, 4, 6)))
    logits = jnp.asarray(np.random.default_rng(3).normal(size=(3, 4, 6, 2, 5)).astype(np.float32))

    def seed(logits, feature):
        state = bonus.update(bonus.init(), feature, jnp.ones(feature.shape))
        return bonus.value(state, logits, feature)

    got = jax.jit(jax.vmap(seed))(logits, feature)
    assert got.shape == (3, 4, 6)
    np.testing.assert_allclose(got[1], seed(logits[1], feature[1]), rtol=1e-5, atol=1e-7)
