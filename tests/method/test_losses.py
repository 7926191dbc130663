"""The two losses: brute force, JAX's own log-softmax, and who is taught by what."""

import entropies
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import disdain

pytestmark = pytest.mark.usefixtures("strict")


def test_squared_td_sums_over_time_and_averages_over_the_batch(maybe_jit):
    q, target = jnp.array([[1.0, 2.0], [0.0, 5.0]]), jnp.array([[2.0, 4.0], [3.0, 100.0]])
    mask = jnp.array([[1.0, 1.0], [1.0, 0.0]])
    assert maybe_jit(disdain.squared_td)(q, target, mask) == pytest.approx(((1 + 4) + 9) / 2)


def test_padding_teaches_nothing(maybe_jit):
    gradient = maybe_jit(jax.grad(disdain.squared_td))(
        jnp.zeros((1, 3)), jnp.ones((1, 3)), jnp.array([[1.0, 1.0, 0.0]])
    )
    np.testing.assert_array_equal(gradient, [[-2.0, -2.0, 0.0]])


def case(seed, batch=4, features=3, members=2, skills=7):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(batch, features, members, skills)).astype(np.float32) * 3
    skill = rng.integers(skills, size=batch)
    weight = (rng.random((batch, features)) < 0.7).astype(np.float32)
    return logits, skill, weight


@pytest.mark.parametrize("width", [jnp.int32, jnp.uint8, jnp.int8])
def test_cross_entropy_of_each_member(maybe_jit, width):
    logits, skill, weight = case(0, skills=200)  # more than fit a byte: the type of a skill is no limit
    skill = skill % 128
    expected = np.zeros(2)
    for b, f, i in np.ndindex(4, 3, 2):
        expected[i] -= weight[b, f] * np.log(entropies.probabilities(logits[b, f, i])[skill[b]]) / 4
    got = maybe_jit(disdain.cross_entropy)(jnp.asarray(logits), jnp.asarray(skill, width), jnp.asarray(weight))
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    log_q = jax.nn.log_softmax(jnp.asarray(logits))
    own = log_q[np.arange(4)[:, None], np.arange(3), :, skill[:, None]]
    np.testing.assert_allclose(got, -(own * weight[..., None]).sum(1).mean(0), rtol=1e-5)


def test_members_learn_apart_and_at_the_full_rate(maybe_jit):
    """The gradient of the summed loss by a member's logits is (q − own)/batch, as if it were alone."""
    logits, skill, weight = case(1)
    loss = lambda x: disdain.cross_entropy(x, jnp.asarray(skill), jnp.asarray(weight)).sum()  # noqa: E731
    gradient = maybe_jit(jax.grad(loss))(jnp.asarray(logits))
    own = np.eye(7)[skill][:, None, None]
    expected = weight[..., None, None] * (entropies.probabilities(logits) - own) / 4
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)
    lone = lambda x: disdain.cross_entropy(x, jnp.asarray(skill), jnp.asarray(weight)).sum()  # noqa: E731
    np.testing.assert_allclose(gradient[:, :, :1], jax.grad(lone)(jnp.asarray(logits[:, :, :1])), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_narrow_logits_are_reduced_in_float32(dtype):
    logits, skill, weight = (jnp.asarray(x) for x in case(2, skills=500))
    got = disdain.cross_entropy(logits.astype(dtype), skill, weight)
    assert got.dtype == jnp.float32
    wide = disdain.cross_entropy(logits.astype(dtype).astype(jnp.float32), skill, weight)
    np.testing.assert_allclose(got, wide, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e4, 6e4])
def test_certain_and_wrong(maybe_jit, scale):
    """The loss is the distance of the logits, and its gradient is finite."""
    logits = jnp.zeros((1, 1, 1, 3)).at[..., 0].set(scale)
    loss = lambda x: disdain.cross_entropy(x, jnp.array([2]), jnp.ones((1, 1))).sum()  # noqa: E731
    assert maybe_jit(loss)(logits) == pytest.approx(scale)
    np.testing.assert_array_equal(maybe_jit(jax.grad(loss))(logits)[0, 0, 0], [1.0, 0.0, -1.0])
