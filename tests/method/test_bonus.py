"""The disagreement bonus: closed forms, the definition in float64, and what must hold for any logits."""

import math

import entropies
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import disdain

pytestmark = pytest.mark.usefixtures("strict")

LARGE = 60.0  # a logit that leaves e⁻⁶⁰ for the others
SIZES = [(2, 2), (2, 128), (3, 3), (3, 5), (5, 33), (7, 128), (40, 13)]


def logits_of(seed, *shape, scale=3.0, dtype=np.float32):
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(dtype)


def test_two_certain_members_that_contradict_each_other(maybe_jit):
    logits = jnp.array([[LARGE, 0.0, 0.0], [0.0, LARGE, 0.0]])
    np.testing.assert_allclose(maybe_jit(disdain.bonus)(logits), math.log(2), rtol=1e-6)


@pytest.mark.parametrize("members", [2, 3, 5, 16])
def test_as_many_opinions_as_members(maybe_jit, members):
    np.testing.assert_allclose(maybe_jit(disdain.bonus)(jnp.eye(members, 16) * LARGE), math.log(members), rtol=1e-6)


def test_more_members_than_skills(maybe_jit):
    logits = jnp.tile(jnp.eye(4) * LARGE, (3, 1))
    np.testing.assert_allclose(maybe_jit(disdain.bonus)(logits), math.log(4), rtol=1e-6)


def test_one_member_is_certain_and_one_knows_nothing(maybe_jit):
    """q̄ = (1 + 1/Z)/2 at one skill and 1/(2Z) at the others."""
    skills = 8
    logits = jnp.stack([jnp.zeros(skills).at[3].set(LARGE), jnp.zeros(skills)])
    mean = np.full(skills, 0.5 / skills)
    mean[3] += 0.5
    expected = entropies.entropy(mean) - 0.5 * math.log(skills)
    np.testing.assert_allclose(maybe_jit(disdain.bonus)(logits), expected, rtol=1e-6)


def test_a_lone_member_cannot_disagree(maybe_jit):
    np.testing.assert_array_equal(maybe_jit(disdain.bonus)(jnp.asarray(logits_of(0, 6, 1, 9))), 0.0)


@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
@pytest.mark.parametrize(("members", "skills"), SIZES)
def test_is_the_definition(kind, members, skills):
    for scale in (0.1, 1.0, 10.0, 100.0):
        logits = logits_of(members, 4, 5, members, skills, scale=scale)
        got = disdain.bonus(kind(logits))
        assert got.shape == (4, 5)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, entropies.disagreement(logits), rtol=2e-5, atol=3e-7)


def test_double_precision_stays():
    logits = logits_of(1, 20, 3, 12, dtype=np.float64)
    got = disdain.bonus(logits)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, entropies.disagreement(logits), rtol=1e-12, atol=1e-15)
    with jax.enable_x64(True):
        doubled = jax.jit(disdain.bonus)(jnp.asarray(logits))
        assert doubled.dtype == jnp.float64
        np.testing.assert_allclose(doubled, got, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("members", "skills"), SIZES)
@pytest.mark.parametrize("batch", [1, 16])
def test_members_that_agree_earn_exactly_nothing(members, skills, batch):
    """To the last bit, whatever a compiler fuses: λ multiplies what is left."""
    compiled = jax.jit(disdain.bonus)
    for seed, scale in enumerate((1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 50.0, 1e4)):
        one = logits_of(seed, batch, 1, skills, scale=scale)
        logits = np.repeat(one, members, axis=1)
        np.testing.assert_array_equal(compiled(logits), 0.0)
        for dtype in (np.float16, np.float32, np.float64):
            np.testing.assert_array_equal(disdain.bonus(np.clip(logits, -6e4, 6e4).astype(dtype)), 0.0)


@pytest.mark.parametrize(("batch", "members", "skills"), [(3, 7, 128), (5, 3, 128), (7, 5, 100), (304, 2, 127)])
def test_equal_rows_are_reduced_equally(batch, members, skills):
    """Odd numbers of rows: a library that adds rows up in blocks must not treat those that are left over otherwise."""
    compiled = jax.jit(jax.vmap(disdain.bonus))
    for seed in range(30):
        one = logits_of(seed, batch, 1, skills, scale=10.0 ** (seed % 4 - 2))
        np.testing.assert_array_equal(compiled(np.repeat(one, members, axis=1)), 0.0)


def test_members_that_agree_earn_nothing_inside_a_larger_program():
    compiled = jax.jit(jax.vmap(lambda logits, weight: 0.5 + weight * disdain.bonus(logits * 1.7 + 0.3)))
    logits = jnp.repeat(jnp.asarray(logits_of(3, 16, 1, 1, 128)), 3, axis=2)
    np.testing.assert_array_equal(compiled(logits, jnp.full(16, 10.0)), 0.5)


logits_and_bound = st.tuples(st.integers(1, 6), st.integers(1, 9)).flatmap(
    lambda size: hnp.arrays(
        np.float32, (3, *size), elements=st.floats(-1e4, 1e4, width=32) | st.sampled_from([0.0, -3e38, 3e38, 60.0])
    )
)


@given(logits_and_bound)
@settings(max_examples=150, deadline=None)
def test_stays_within_its_bounds(logits):
    got = disdain.bonus(logits).astype(np.float64)
    assert (got >= 0.0).all()
    assert (got <= math.log(min(logits.shape[-2:]))).all()


@given(logits_and_bound, st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_names_do_not_matter(logits, random):
    """Neither the order of the members nor that of the skills, nor what is added to all logits of a member."""
    logits = np.clip(logits, -50, 50)
    members, skills = (random.sample(range(n), n) for n in logits.shape[-2:])
    expected = disdain.bonus(logits)
    np.testing.assert_allclose(disdain.bonus(logits[:, members]), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(disdain.bonus(logits[..., skills]), expected, rtol=1e-4, atol=1e-6)
    shift = np.array([random.choice([-64.0, 0.0, 32.0]) for _ in members], np.float32)[:, None]
    np.testing.assert_allclose(disdain.bonus(logits + shift), expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
@pytest.mark.parametrize("scale", [1e4, 6e4])
def test_extreme_logits(kind, dtype, scale):
    """Certain members: q is one of the corners, and the bound is met but not passed in the dtype that came."""
    logits = np.where(np.random.default_rng(0).random((64, 3, 5)) < 0.5, -scale, scale).astype(dtype)
    got = disdain.bonus(kind(logits))
    assert got.dtype == dtype
    wide = np.asarray(got).astype(np.float64)
    tolerance = 4 * float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(wide, entropies.disagreement(logits), rtol=tolerance, atol=tolerance)
    for members in (2, 3, 5, 7):
        certain = kind((np.eye(members) * scale).astype(dtype))
        most = np.asarray(disdain.bonus(certain)).astype(np.float64)
        assert math.log(members) * (1 - tolerance) <= most <= math.log(members)


def test_a_logit_of_minus_infinity_is_a_probability_of_zero(maybe_jit):
    inf = float("inf")
    logits = jnp.array([[[0.0, -inf, -inf], [-inf, 0.0, -inf]], [[1.0, 1.0, -inf]] * 2, [[2.0, -inf, 0.0]] * 2])
    np.testing.assert_allclose(maybe_jit(disdain.bonus)(logits), [math.log(2), 0.0, 0.0], rtol=1e-6)
    np.testing.assert_allclose(disdain.bonus(np.asarray(logits)), [math.log(2), 0.0, 0.0], rtol=1e-6)


def test_a_member_without_any_probability_has_no_answer():
    with jax.debug_nans(False):
        assert jnp.isnan(jax.jit(disdain.bonus)(jnp.full((2, 3), -jnp.inf)))
        assert jnp.isnan(jax.jit(disdain.bonus)(jnp.array([[0.0, 1.0], [jnp.nan, 0.0]])))


def numerical_gradient(function, logits, step=1e-5):
    gradient = np.zeros_like(logits)
    for index in np.ndindex(*logits.shape):
        moved = logits.copy()
        moved[index] += step
        above = function(moved)
        moved[index] -= 2 * step
        gradient[index] = (above - function(moved)) / (2 * step)
    return gradient


@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_gradient(maybe_jit, scale):
    logits = logits_of(2, 3, 5, scale=scale, dtype=np.float64)
    expected = numerical_gradient(entropies.disagreement, logits)
    got = maybe_jit(jax.grad(disdain.bonus))(jnp.asarray(logits, jnp.float32))
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-5)


def test_gradient_of_members_that_almost_agree(maybe_jit):
    """Probabilities that tie while their logarithms differ in the last bit must not tear the gradient apart."""
    one = logits_of(4, 200, 1, 6)
    two = np.nextafter(one, np.float32(np.inf))
    logits = np.concatenate([one, two, one], axis=1)
    got = maybe_jit(jax.grad(lambda x: disdain.bonus(x).sum()))(jnp.asarray(logits))
    np.testing.assert_allclose(got, 0.0, atol=1e-6)


def test_second_derivative(maybe_jit):
    logits = logits_of(5, 2, 3, dtype=np.float64)
    with jax.enable_x64(True):
        got = maybe_jit(jax.hessian(disdain.bonus))(jnp.asarray(logits))
        gradient = jax.grad(disdain.bonus)
        rows = [numerical_gradient(lambda x, i=i: gradient(jnp.asarray(x))[i], logits) for i in np.ndindex(2, 3)]
    np.testing.assert_allclose(np.asarray(got).reshape(6, 2, 3), rows, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32])
@pytest.mark.parametrize("kind", ["zeros", "1e4", "6e4", "one-hot", "impossible"])
def test_gradient_is_finite_everywhere(maybe_jit, dtype, kind):
    pattern = jnp.asarray(np.random.default_rng(1).choice([-1.0, 1.0], (4, 3, 5)))
    logits = {
        "zeros": jnp.zeros((4, 3, 5)),
        "1e4": 1e4 * pattern,
        "6e4": 6e4 * pattern,
        "one-hot": jnp.broadcast_to(jnp.eye(3, 5) * 100.0, (4, 3, 5)),
        "impossible": jnp.where(pattern.at[..., 0].set(1.0) > 0, 0.0, -jnp.inf),
    }[kind].astype(dtype)
    for function in (disdain.bonus, lambda x: disdain.skill_reward(x, 2)):
        gradient = maybe_jit(jax.grad(lambda x, f=function: f(x).astype(jnp.float32).sum()))(logits)
        assert gradient.dtype == dtype
        assert np.isfinite(np.asarray(gradient, np.float64)).all()


def test_transformations_commute():
    logits = jnp.asarray(logits_of(6, 4, 5, 3, 7))
    expected = disdain.bonus(logits)
    for function in (jax.vmap(disdain.bonus), jax.vmap(jax.vmap(disdain.bonus)), jax.jit(jax.vmap(disdain.bonus))):
        np.testing.assert_allclose(function(logits), expected, rtol=1e-5, atol=1e-7)
    across = jax.vmap(disdain.bonus, in_axes=2, out_axes=0)(jnp.moveaxis(logits, 0, 2))
    np.testing.assert_allclose(across, expected, rtol=1e-5, atol=1e-7)


def test_stays_on_its_device():
    device = jax.devices()[1]
    logits = jax.device_put(jnp.asarray(logits_of(7, 4, 2, 5)), device)
    assert disdain.bonus(logits).devices() == {device}
    for skill in (2, np.arange(4, dtype=np.uint8), jax.device_put(jnp.arange(4), device)):
        assert disdain.skill_reward(logits, skill).devices() == {device}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
@pytest.mark.parametrize("shape", [(), (3,), (4, 0, 3), (4, 2, 0)])
def test_shapes_that_are_no_ensemble(kind, shape):
    with pytest.raises(ValueError, match=r"logits have shape .*\[\.\.\., member, skill\]"):
        disdain.bonus(kind(np.zeros(shape, np.float32)))
    with pytest.raises(ValueError, match="logits have shape"):
        disdain.skill_reward(kind(np.zeros(shape, np.float32)), 0)


@pytest.mark.usefixtures("unchecked")
def test_other_numbers():
    """Lists and integers are read as numbers; complex ones are refused. An empty batch is a batch."""
    assert disdain.bonus([[60.0, 0.0], [0.0, 60.0]]) == pytest.approx(math.log(2))
    assert disdain.bonus(np.array([[60, 0], [0, 60]])).dtype == np.float32
    assert disdain.bonus(np.zeros((0, 2, 3), np.float32)).shape == (0,)
    with pytest.raises(TypeError, match="complex64"):
        disdain.bonus(np.zeros((2, 3), np.complex64))
