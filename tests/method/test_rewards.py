"""The skill reward and the number of skills that it makes: closed forms, the definition, bounds, integers."""

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


def logits_of(seed, *shape, scale=3.0, dtype=np.float32):
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(dtype)


@pytest.mark.parametrize("skills", [2, 24, 100, 128])
def test_chance_is_worth_nothing(maybe_jit, skills):
    for z in (0, skills - 1):
        np.testing.assert_allclose(maybe_jit(disdain.skill_reward)(jnp.zeros((3, skills)), z), 0.0, atol=1e-6)


def test_certainty_is_worth_the_log_of_the_number_of_skills(maybe_jit):
    logits = jnp.broadcast_to(jnp.eye(16)[:, None] * 60.0, (16, 2, 16))
    np.testing.assert_allclose(maybe_jit(disdain.skill_reward)(logits, jnp.arange(16)), math.log(16), rtol=1e-6)


def test_one_certain_member_of_two(maybe_jit):
    """The mean of probabilities, not of their logarithms: q̄ = ½, whatever the other says."""
    logits = jnp.array([[80.0, 0.0, 0.0], [0.0, 80.0, 0.0]])
    np.testing.assert_allclose(maybe_jit(disdain.skill_reward)(logits, 0), math.log(3 / 2), rtol=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
@pytest.mark.parametrize(("members", "skills"), [(1, 2), (2, 128), (3, 5), (40, 24)])
def test_is_the_definition(kind, members, skills):
    skill = np.random.default_rng(0).integers(skills, size=(4, 6))
    for scale in (0.1, 1.0, 10.0):
        logits = logits_of(members, 4, 6, members, skills, scale=scale)
        got = disdain.skill_reward(kind(logits), kind(skill))
        assert got.dtype == np.float32
        assert got.shape == (4, 6)
        expected = entropies.skill_reward(logits, skill)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(
            disdain.skill_reward(kind(logits), kind(skill), clip=True), np.maximum(expected, 0.0), rtol=1e-5, atol=1e-5
        )


def test_double_precision_stays():
    logits = logits_of(1, 20, 3, 12, dtype=np.float64)
    got = disdain.skill_reward(logits, 5)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, entropies.skill_reward(logits, 5), rtol=1e-12, atol=1e-14)


def test_far_below_chance_stays_in_log_space(maybe_jit):
    """A probability of e⁻⁵⁰⁰⁰ is no zero."""
    logits = jnp.array([[0.0, 5000.0, 0.0, 0.0]] * 3)
    np.testing.assert_allclose(maybe_jit(disdain.skill_reward)(logits, 2), -5000.0 + math.log(4), rtol=1e-6)


@given(
    st.tuples(st.integers(1, 6), st.integers(1, 9)).flatmap(
        lambda size: hnp.arrays(np.float32, (3, *size), elements=st.floats(-1e4, 1e4, width=32))
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=100, deadline=None)
def test_bounds_and_names(logits, random):
    members, skills = (random.sample(range(n), n) for n in logits.shape[-2:])
    got = disdain.skill_reward(logits, np.zeros(3, np.int64))
    assert np.isfinite(got).all()
    assert (got.astype(np.float64) <= math.log(len(skills))).all()
    assert (disdain.skill_reward(logits, 0, clip=True) >= 0.0).all()
    moved = disdain.skill_reward(logits[:, members][..., skills], skills.index(0))
    np.testing.assert_allclose(moved, got, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
@pytest.mark.parametrize("skills", [3, 100, 128])
def test_extreme_logits(kind, dtype, skills):
    scale = 6e4
    logits = np.full((skills, 2, skills), -scale)
    logits[np.arange(skills), :, np.arange(skills)] = scale
    logits = kind(logits.astype(dtype))
    limits = ml_dtypes.finfo(dtype)
    sure = np.asarray(disdain.skill_reward(logits, kind(np.arange(skills))))
    assert sure.dtype == dtype
    wide = sure.astype(np.float64)
    assert (wide <= math.log(skills)).all()
    assert (wide >= math.log(skills) * (1 - 2 * float(limits.eps))).all()
    wrong = np.asarray(disdain.skill_reward(logits, kind((np.arange(skills) + 1) % skills))).astype(np.float64)
    np.testing.assert_allclose(wrong, max(-2 * scale, float(limits.min)), rtol=0.01)


def test_a_skill_that_every_member_rules_out(maybe_jit):
    """The reward is the log of nothing: a number so low that none is lower by much, and finite in every dtype."""
    inf = float("inf")
    logits = jnp.array([[0.0, -inf, 1.0], [0.0, -inf, 3.0]])
    assert maybe_jit(disdain.skill_reward)(logits, 1) == np.float32(-1e38)
    assert maybe_jit(disdain.skill_reward)(logits.astype(jnp.float16), 1) == -65504.0
    assert disdain.skill_reward(logits, 1, clip=True) == 0.0
    one = jnp.array([[0.0, -inf], [-inf, 0.0]])
    np.testing.assert_allclose(maybe_jit(disdain.skill_reward)(one, 1), 0.0, atol=1e-7)


def test_gradient(maybe_jit):
    """∂/∂x = share of the member · (own − q): each member is blamed in proportion to its part in q̄."""
    logits = logits_of(3, 3, 5, dtype=np.float64)
    q = entropies.probabilities(logits)
    expected = (q[:, 2] / q[:, 2].sum())[:, None] * (np.eye(5)[2] - q)
    got = maybe_jit(jax.grad(disdain.skill_reward))(jnp.asarray(logits, jnp.float32), 2)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


SKILLS = [0, 127, 199]
WIDTHS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
def test_any_integer_is_a_skill(kind):
    """Of any width: also of one in which N_Z itself does not fit."""
    logits = kind(logits_of(5, 200, 3, 200))
    for z in SKILLS:
        expected = entropies.skill_reward(logits, z)
        forms = [z, [z] * 200]
        for width in WIDTHS:
            if z <= np.iinfo(width).max:
                forms += [width(z), np.full(200, z, width), np.full((1,), z, width)]
                forms += [jnp.full((), z, width)] if np.dtype(width).itemsize < 8 else []
        for skill in forms:
            got = disdain.skill_reward(logits, skill)
            assert isinstance(got, jax.Array if kind is jnp.asarray else np.ndarray)
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, err_msg=repr(skill))


@pytest.mark.parametrize("width", [jnp.int8, jnp.uint8, jnp.uint32])
def test_traced_integers(width):
    logits = jnp.asarray(logits_of(6, 100, 2, 200))
    skill = jnp.arange(100).astype(width)
    expected = entropies.skill_reward(logits, np.arange(100))
    for function in (jax.jit(disdain.skill_reward), jax.vmap(disdain.skill_reward)):
        np.testing.assert_allclose(function(logits, skill), expected, rtol=1e-5, atol=1e-5)


def test_one_skill_for_all_features_of_a_trajectory():
    logits = logits_of(7, 4, 6, 2, 5)
    skill = np.array([0, 1, 2, 4])
    expected = entropies.skill_reward(logits, np.repeat(skill[:, None], 6, axis=1))
    np.testing.assert_allclose(disdain.skill_reward(logits, skill[:, None]), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
def test_what_is_no_skill(kind):
    logits = kind(np.zeros((4, 2, 5), np.float32))
    for shape in ((3,), (5,), (4, 1), (1, 4), (4, 2)):
        with pytest.raises(ValueError, match="skill has shape"):
            disdain.skill_reward(logits, kind(np.zeros(shape, np.int32)))
    for skill in (5, -1, [0, 1, 2, 9], np.uint64(2**63)):
        with pytest.raises(ValueError, match="skills lie in 0 … 4"):
            disdain.skill_reward(logits, skill)
    for skill in (1.0, kind(np.ones(4, np.float32)), True, kind(np.ones(4, bool))):
        with pytest.raises(TypeError, match="skills are integers"):
            disdain.skill_reward(logits, skill)
    with jax.debug_nans(False):
        assert np.isnan(jax.jit(disdain.skill_reward)(jnp.zeros((2, 5)), jnp.asarray(5)))


@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
def test_effective_skills(kind):
    """Rewards of log n make n skills; a mean of logs is a geometric mean of skills."""
    rewards = kind(np.log(np.array([2.0, 8.0], np.float32)))
    assert disdain.effective_skills(rewards) == pytest.approx(4.0)
    assert disdain.effective_skills(rewards).dtype == np.float32
    half = disdain.effective_skills(kind(np.full(50_000, 3.0, np.float16)))
    assert half.dtype == np.float16
    assert float(half) == pytest.approx(math.exp(3.0), rel=1e-3)


@pytest.mark.parametrize(("skills", "features", "most"), [(128, 103, 97.6), (24, 22, 21.4), (24, 23, 22.7)])
def test_ceilings_of_the_known_worlds(skills, features, most):
    shared = skills - features
    assert disdain.ceiling(skills, features) == pytest.approx(skills * 2 ** (-2 * shared / skills))
    assert disdain.ceiling(skills, features) == pytest.approx(most, abs=0.05)


@pytest.mark.parametrize(("skills", "features"), [(s, f) for s in range(1, 6) for f in range(1, 5)])
def test_ceiling_is_the_best_of_all_certain_assignments(skills, features):
    every = np.indices((features,) * skills).reshape(skills, -1).T
    most = max(entropies.information(np.eye(features)[assignment]) for assignment in every)
    assert disdain.ceiling(skills, features) == pytest.approx(math.exp(most))


@given(st.integers(1, 12), st.integers(1, 12), st.floats(0.01, 3.0), st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_no_channel_exceeds_the_ceiling(skills, features, concentration, seed):
    channel = np.random.default_rng(seed).dirichlet(np.full(features, concentration), size=skills)
    channel = np.nan_to_num(channel)
    channel[channel.sum(-1) == 0, 0] = 1.0
    assert math.exp(entropies.information(channel)) <= disdain.ceiling(skills, features) * (1 + 1e-9)


def test_ceiling_of_enough_features_is_the_number_of_skills():
    assert disdain.ceiling(128, 128) == disdain.ceiling(128, 10**12) == pytest.approx(128)
    assert disdain.ceiling(128, 1) == pytest.approx(1.0)
