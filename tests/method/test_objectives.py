"""Which states the discriminator sees and which moves are paid, also where a trajectory is cut short."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import disdain
from disdain.method.objectives import OBJECTIVES

pytestmark = pytest.mark.usefixtures("strict")

MOVES = 5
LAST = np.array([5, 3, 1], np.int32)  # a full trajectory, one that ends early, one that ends at once


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("final", [[[5]], [[3]], [[1]]]),
        ("initial-final", [[[0, 5]], [[0, 3]], [[0, 1]]]),
        ("every", [[[1], [2], [3], [4], [5]], [[1], [2], [3], [3], [3]], [[1], [1], [1], [1], [1]]]),
    ],
)
def test_states_of_each_feature(maybe_jit, name, states):
    objective = OBJECTIVES[name]
    got = maybe_jit(lambda last: objective.states(last, MOVES))(jnp.asarray(LAST))
    np.testing.assert_array_equal(got, states)
    assert got.shape[-1] == objective.states_per_feature


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("final", [[1], [1], [1]]),
        ("initial-final", [[1], [1], [1]]),
        ("every", [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]),
    ],
)
def test_padding_weighs_nothing(maybe_jit, name, weight):
    np.testing.assert_array_equal(
        maybe_jit(lambda last: OBJECTIVES[name].weight(last, MOVES))(jnp.asarray(LAST)), weight
    )


@pytest.mark.parametrize("name", ["final", "initial-final"])
def test_the_last_real_move_is_paid(maybe_jit, name):
    value = jnp.array([[7.0], [8.0], [9.0]])
    got = maybe_jit(lambda v, last: OBJECTIVES[name].pay(v, last, MOVES))(value, jnp.asarray(LAST))
    np.testing.assert_array_equal(got, [[0, 0, 0, 0, 7], [0, 0, 8, 0, 0], [9, 0, 0, 0, 0]])


def test_every_real_move_is_paid(maybe_jit):
    value = jnp.arange(1.0, 16.0).reshape(3, 5)
    got = maybe_jit(lambda v, last: OBJECTIVES["every"].pay(v, last, MOVES))(value, jnp.asarray(LAST))
    np.testing.assert_array_equal(got, [[1, 2, 3, 4, 5], [6, 7, 8, 0, 0], [11, 0, 0, 0, 0]])


@pytest.mark.parametrize("name", OBJECTIVES)
def test_what_is_paid_is_what_was_real(name):
    """No objective pays for padding, and none loses pay: the sums over moves and over real features agree."""
    objective = OBJECTIVES[name]
    weight = objective.weight(jnp.asarray(LAST), MOVES)
    value = jnp.asarray(np.random.default_rng(0).normal(size=weight.shape).astype(np.float32))
    paid = objective.pay(value, jnp.asarray(LAST), MOVES)
    assert paid.shape == (3, MOVES)
    np.testing.assert_allclose(paid.sum(-1), (value * weight).sum(-1), rtol=1e-6)
    np.testing.assert_array_equal(np.where(np.arange(MOVES) >= LAST[:, None], paid, 0.0), 0.0)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_one_trajectory_and_many_are_the_same(name):
    objective = OBJECTIVES[name]
    last = jnp.asarray(LAST)
    for function in (objective.states, objective.weight):
        each = jax.vmap(lambda x, f=function: f(x, MOVES))(last)
        np.testing.assert_array_equal(each, function(last, MOVES))


def unroll(**fields):
    base = {"observation": jnp.zeros((3, MOVES + 1), jnp.uint8), "action": jnp.zeros((3, MOVES), jnp.uint8)}
    return disdain.Unroll(**base, skill=jnp.array([0, 1, 2], jnp.uint8), **fields)


def test_a_full_unroll(maybe_jit):
    batch = unroll()
    assert batch.moves == MOVES
    np.testing.assert_array_equal(maybe_jit(lambda u: u.last())(batch), [MOVES] * 3)
    np.testing.assert_array_equal(maybe_jit(lambda u: u.mask())(batch), np.ones((3, MOVES)))
    np.testing.assert_array_equal(maybe_jit(lambda u: u.discount())(batch), np.ones((3, MOVES)))


def test_unrolls_that_end_early(maybe_jit):
    """The mask follows the length; the discount is 0 only where the world ended the episode, not where time did."""
    batch = unroll(
        length=jnp.asarray(LAST, jnp.uint8),
        terminated=jnp.array([False, True, False]),
        truncated=jnp.array([True, False, True]),
    )
    assert maybe_jit(lambda u: u.last())(batch).dtype == jnp.int32
    np.testing.assert_array_equal(
        maybe_jit(lambda u: u.mask())(batch), [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]
    )
    np.testing.assert_array_equal(
        maybe_jit(lambda u: u.discount())(batch), [[1, 1, 1, 1, 1], [1, 1, 0, 1, 1], [1, 1, 1, 1, 1]]
    )


def test_optional_fields_are_no_leaves():
    assert len(jax.tree.leaves(unroll())) == 3
