"""rlax has the same returns for one value function: an oracle that nobody here wrote."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import disdain

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # importing it warns, of TensorFlow Probability
    import rlax


def inputs(seed, batch=6, moves=19, actions=5):
    rng = np.random.default_rng(seed)
    r = rng.normal(size=(batch, moves, 2))
    discount = np.where(rng.random((batch, moves)) < 0.1, 0.0, 0.99)
    q = rng.normal(size=(batch, moves, actions, 2))
    trace = np.where(rng.random((batch, moves)) < 0.1, 0.0, 0.7)
    return tuple(jnp.asarray(x, jnp.float32) for x in (r, discount, q, trace))


def bootstrap(q):
    """Q_v(s_t, a*) of both values, a* the greedy action of their sum."""
    action = disdain.greedy(disdain.composite(q, jnp.ones(2)))
    return jnp.take_along_axis(q, action[..., None, None], axis=-2)[..., 0, :]


def test_two_values_against_lambda_returns(maybe_jit):
    r, discount, q, trace = inputs(0)
    v = bootstrap(q)
    for value in (0, 1):
        ours = maybe_jit(disdain.peng_returns)(r[..., value], discount, v[..., value], trace)
        theirs = maybe_jit(jax.vmap(rlax.lambda_returns))(r[..., value], discount, v[..., value], trace)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_one_value_against_q_lambda(maybe_jit):
    """With a single value function the composite's action is its own: rlax's Peng's Q(λ), target minus estimate."""
    r, discount, q, _ = inputs(1)
    r, q = r[..., 0], q[..., :1]
    action = disdain.greedy(disdain.composite(q, jnp.ones(1)))
    v = jnp.take_along_axis(q[..., 0], action[..., None], axis=-1)[..., 0]
    estimate = jnp.zeros_like(q[..., 0])
    taken = jnp.zeros(r.shape, jnp.int32)
    theirs = maybe_jit(jax.vmap(lambda *x: rlax.q_lambda(*x, 0.7)))(estimate, taken, r, discount, q[..., 0])
    ours = maybe_jit(lambda *x: disdain.peng_returns(*x, 0.7))(r, discount, v)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_no_trace_is_q_learning(maybe_jit):
    r, discount, q, _ = inputs(2)
    r, q = r[..., 0], q[..., 0]
    ours = maybe_jit(lambda *x: disdain.peng_returns(*x, 0.0))(r, discount, q.max(-1))
    learning = jax.vmap(jax.vmap(rlax.q_learning))
    theirs = maybe_jit(learning)(jnp.zeros_like(q), jnp.zeros(r.shape, jnp.int32), r, discount, q)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_a_cut_stream_against_truncated_lambda_returns(maybe_jit):
    """A trace of 0 in the middle: what came before must not see beyond it."""
    r, discount, q, trace = inputs(3)
    v, trace = bootstrap(q)[..., 0], trace.at[:, 8].set(0.0)
    ours = maybe_jit(disdain.peng_returns)(r[..., 0], discount, v, trace)[:, :9]
    theirs = jax.vmap(rlax.lambda_returns)(r[:, :9, 0], discount[:, :9], v[:, :9], trace[:, :9])
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("decay", [0.0, 0.5, 1.0])
def test_scalar_decay(decay):
    r, discount, q, _ = inputs(4)
    v = bootstrap(q)[..., 1]
    theirs = jax.vmap(lambda *x: rlax.lambda_returns(*x, decay))(r[..., 1], discount, v)
    np.testing.assert_allclose(disdain.peng_returns(r[..., 1], discount, v, decay), theirs, rtol=1e-5, atol=1e-5)
