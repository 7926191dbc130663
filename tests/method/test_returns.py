"""Peng's Q(λ) against its definition, and the greedy action of the composite."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import disdain

pytestmark = pytest.mark.usefixtures("strict")


def mixture(r, discount, v, trace):
    """G as the mixture of n-step returns that it is: Σₙ (1−λₙ) Π_{k<n} λ_k · (n-step return), for one stream."""
    moves = len(r)
    returns = np.zeros(moves)
    for t in range(moves):
        chance, reward, gamma = 1.0, 0.0, 1.0
        for n in range(t, moves):
            reward += gamma * r[n]
            gamma *= discount[n]
            stop = 1.0 if n == moves - 1 else 1.0 - trace[n]
            returns[t] += chance * stop * (reward + gamma * v[n])
            chance *= trace[n]
    return returns


def stream(seed, *shape):
    rng = np.random.default_rng(seed)
    r, v = rng.normal(size=(2, *shape))
    discount, trace = rng.random((2, *shape))
    discount[rng.random(shape) < 0.2] = 0.0
    trace[rng.random(shape) < 0.2] = 0.0
    return [x.astype(np.float32) for x in (r, discount, v, trace)]


@pytest.mark.parametrize("moves", [1, 2, 7, 19])
def test_is_the_mixture_of_n_step_returns(maybe_jit, moves):
    inputs = stream(moves, 8, moves)
    got = maybe_jit(disdain.peng_returns)(*map(jnp.asarray, inputs))
    assert got.dtype == jnp.float32
    np.testing.assert_allclose(got, [mixture(*one) for one in zip(*inputs, strict=True)], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("decay", [0.0, 0.7, 1.0])
def test_one_decay_for_all_steps(maybe_jit, decay):
    r, discount, v, _ = map(jnp.asarray, stream(3, 4, 6))
    got = maybe_jit(lambda *x: disdain.peng_returns(*x, decay))(r, discount, v)
    np.testing.assert_allclose(got, disdain.peng_returns(r, discount, v, jnp.full_like(r, decay)), rtol=1e-6)


def test_no_trace_is_one_step_and_full_trace_is_monte_carlo(maybe_jit):
    r, v = jnp.array([1.0, 2.0, 3.0]), jnp.array([10.0, 20.0, 30.0])
    discount = jnp.full(3, 0.5)
    peng = maybe_jit(disdain.peng_returns)
    np.testing.assert_allclose(peng(r, discount, v, jnp.zeros(3)), [6.0, 12.0, 18.0])
    np.testing.assert_allclose(peng(r, discount, v, jnp.ones(3)), [1 + 0.5 * (2 + 0.5 * 18), 2 + 0.5 * 18, 18.0])


def test_an_end_and_a_cut_are_different(maybe_jit):
    """After a discount of 0 nothing follows; after a trace of 0 the value does, and no reward from beyond leaks in."""
    r = jnp.array([1.0, 2.0, 1000.0, 1000.0])
    v = jnp.array([10.0, 20.0, 2000.0, 2000.0])
    alive, decay = jnp.full(4, 0.5), jnp.full(4, 0.7)
    peng = maybe_jit(disdain.peng_returns)
    ended = peng(r, alive.at[1].set(0.0), v, decay)
    np.testing.assert_allclose(ended[:2], [1 + 0.5 * (0.3 * 10 + 0.7 * 2), 2.0], rtol=1e-6)
    cut = peng(r, alive, v, decay.at[1].set(0.0))
    np.testing.assert_allclose(cut[:2], [1 + 0.5 * (0.3 * 10 + 0.7 * 12), 2 + 0.5 * 20], rtol=1e-6)


def test_streams_do_not_mix():
    inputs = [jnp.asarray(x) for x in stream(5, 3, 4, 6)]
    together = disdain.peng_returns(*inputs)
    apart = jax.vmap(jax.vmap(disdain.peng_returns))(*inputs)
    np.testing.assert_allclose(together, apart, rtol=1e-6)


def test_two_values_share_the_action_of_their_sum(maybe_jit):
    """Each value bootstraps where the *composite* is greatest, not where it is itself."""
    q = jnp.array([[3.0, 2.5, 0.0], [0.0, 1.0, 2.5]]).T  # [action, value]: alone they would choose 0 and 2
    action = maybe_jit(lambda q: disdain.greedy(disdain.composite(q, jnp.ones(2))))(q)
    assert action == 1
    np.testing.assert_array_equal(q[action], [2.5, 1.0])
    weighted = maybe_jit(lambda q: disdain.greedy(disdain.composite(q, jnp.array([1.0, 10.0]))))(q)
    assert weighted == 2


def test_two_returns_add_up_to_the_return_of_the_sum(maybe_jit):
    """With the action shared, the target is linear: two value functions learn what one learns of the sum."""
    (r1, discount, v1, trace), (r2, _, v2, _) = stream(7, 5, 9), stream(8, 5, 9)
    peng = maybe_jit(disdain.peng_returns)
    one, two, both = (
        peng(*map(jnp.asarray, (r, discount, v, trace))) for r, v in ((r1, v1), (r2, v2), (r1 + r2, v1 + v2))
    )
    np.testing.assert_allclose(one + two, both, rtol=1e-4, atol=1e-5)


@given(st.lists(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=4, max_size=4), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_greedy_is_argmax_with_the_first_of_ties(values):
    values = np.array(values, np.float32)
    np.testing.assert_array_equal(disdain.greedy(jnp.asarray(values)), values.argmax(-1))


def test_greedy_jitted_on_many(maybe_jit):
    values = np.random.default_rng(0).normal(size=(50, 20, 5)).round(1).astype(np.float32)
    got = maybe_jit(disdain.greedy)(jnp.asarray(values))
    assert got.dtype == jnp.int32
    np.testing.assert_array_equal(got, values.argmax(-1))
    np.testing.assert_array_equal(maybe_jit(disdain.greedy)(jnp.asarray(values[..., :1])), 0)
    np.testing.assert_array_equal(maybe_jit(disdain.greedy)(jnp.full((3, 4), -jnp.inf)), 0)
