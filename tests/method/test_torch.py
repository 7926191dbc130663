"""The same functions on real PyTorch tensors: values, gradients, dtypes, devices, skills of every kind."""

import math

import entropies
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import disdain

try:
    import torch
except ModuleNotFoundError:
    torch = None  # these tests are not selected then, and fail where they are

pytestmark = pytest.mark.torch

SIZES = [(1, 4), (2, 128), (3, 5), (7, 33), (40, 13)]
DTYPES = ["float16", "bfloat16", "float32", "float64"]


def logits_of(seed, *shape, scale=3.0):
    return np.random.default_rng(seed).normal(size=shape) * scale


def wide(tensor):
    return tensor.detach().to(torch.float64).numpy()


@pytest.mark.parametrize(("members", "skills"), SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_values(members, skills, dtype):
    dtype = getattr(torch, dtype)
    logits = torch.tensor(logits_of(members, 4, 6, members, skills)).to(dtype)
    skill = torch.arange(24).reshape(4, 6) % skills
    bonus, reward = disdain.bonus(logits), disdain.skill_reward(logits, skill)
    for got, expected in (
        (bonus, entropies.disagreement(wide(logits))),
        (reward, entropies.skill_reward(wide(logits), skill.numpy())),
    ):
        assert isinstance(got, torch.Tensor)
        assert got.dtype == dtype
        assert got.device == logits.device
        tolerance = 2 * max(torch.finfo(dtype).eps, 3e-7 if dtype != torch.float64 else 0.0) + 1e-14
        np.testing.assert_allclose(wide(got), expected, rtol=tolerance, atol=4 * tolerance)
    clipped = disdain.skill_reward(logits, skill, clip=True)
    np.testing.assert_array_equal(wide(clipped), np.maximum(wide(reward), 0.0))


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_stays_on_its_device(device):
    """`meta` tensors have no numbers: anything that went through the host would fail there."""
    logits = torch.zeros(4, 3, 5, device=device)
    for skill in (2, np.arange(4), torch.arange(4, device=device)):
        assert disdain.skill_reward(logits, skill).device.type == device
    assert disdain.bonus(logits).device.type == device


@pytest.mark.parametrize(("members", "skills"), SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_members_that_agree_earn_exactly_nothing(members, skills, dtype):
    for seed, scale in enumerate((1e-3, 0.5, 3.0, 50.0, 1e4)):
        one = torch.tensor(logits_of(seed, 16, 1, skills, scale=scale)).clamp(-6e4, 6e4).to(getattr(torch, dtype))
        for logits in (one.repeat(1, members, 1), one.expand(-1, members, -1)):
            assert (disdain.bonus(logits) == 0).all()
            assert (torch.func.vmap(disdain.bonus)(logits) == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [1e4, 6e4])
@pytest.mark.parametrize("members", [2, 3, 5, 7])
def test_extreme_logits_stay_within_their_bounds(dtype, scale, members):
    dtype = getattr(torch, dtype)
    tolerance = 4 * max(torch.finfo(dtype).eps, 1e-9)
    logits = ((2 * torch.eye(members, dtype=torch.float64) - 1) * scale).to(dtype).requires_grad_()
    bonus = disdain.bonus(logits)
    assert math.log(members) * (1 - tolerance) <= bonus.item() <= math.log(members)
    same = logits[:1].expand(2, -1)
    sure, wrong = disdain.skill_reward(same, 0), disdain.skill_reward(same, 1)
    assert math.log(members) * (1 - tolerance) <= sure.item() <= math.log(members)
    assert wrong.item() == pytest.approx(max(-2 * scale, torch.finfo(dtype).min), rel=0.01)
    (gradient,) = torch.autograd.grad(bonus + sure + wrong, logits)
    assert torch.isfinite(gradient).all()


def test_a_logit_of_minus_infinity():
    inf = float("inf")
    logits = torch.tensor([[0.0, -inf, -inf], [-inf, 0.0, -inf]], requires_grad=True)
    reward = disdain.skill_reward(logits, 2)
    assert float(disdain.bonus(logits)) == pytest.approx(math.log(2))
    assert float(reward) == np.float32(-1e38)
    (gradient,) = torch.autograd.grad(disdain.bonus(logits) + reward + disdain.skill_reward(logits, 0), logits)
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize(("members", "skills"), SIZES)
def test_gradients_are_those_of_jax(members, skills):
    numbers = logits_of(members, 6, members, skills).astype(np.float32)
    skill = np.arange(6) % skills
    logits = torch.tensor(numbers, requires_grad=True)
    for function in (
        disdain.bonus,
        lambda x: disdain.skill_reward(x, skill),
        lambda x: disdain.skill_reward(x, skill, clip=True),
    ):
        (gradient,) = torch.autograd.grad(function(logits).sum(), logits)
        expected = jax.jit(jax.grad(lambda x, f=function: f(x).sum()))(jnp.asarray(numbers))
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-4, atol=1e-6)


def test_gradients_to_the_second_order():
    logits = torch.tensor(logits_of(3, 3, 4), requires_grad=True)
    assert torch.autograd.gradcheck(disdain.bonus, logits)
    assert torch.autograd.gradgradcheck(disdain.bonus, logits)
    assert torch.autograd.gradcheck(lambda x: disdain.skill_reward(x, 1), logits)
    assert torch.autograd.gradgradcheck(lambda x: disdain.skill_reward(x, 1), logits)


def test_functional_transformations():
    logits = torch.tensor(logits_of(4, 8, 3, 5))
    expected = disdain.bonus(logits)
    torch.testing.assert_close(torch.func.vmap(disdain.bonus)(logits), expected)
    gradient = torch.func.vmap(torch.func.grad(disdain.bonus))(logits)
    variable = logits.clone().requires_grad_()
    torch.testing.assert_close(gradient, torch.autograd.grad(disdain.bonus(variable).sum(), variable)[0])


def integers(z):
    """The skill `z` for each of 4, in every form that there is."""
    forms = [z, [z] * 4]
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        if z <= np.iinfo(name).max:
            forms += [np.dtype(name).type(z), np.full(4, z, name), torch.full((4,), z, dtype=getattr(torch, name))]
            forms += [jnp.full(4, z, name), jnp.asarray(z, name)] if "64" not in name else []
    return forms


@pytest.mark.parametrize("z", [0, 100, 127, 128, 199])
def test_any_integer_of_any_library_is_a_skill(z):
    numbers = logits_of(5, 4, 3, 200).astype(np.float32)
    expected = entropies.skill_reward(numbers, z)
    for logits in (torch.tensor(numbers), numbers, jnp.asarray(numbers)):
        for skill in integers(z):
            got = disdain.skill_reward(logits, skill)
            assert type(got) is type(logits) or isinstance(got, jax.Array) == isinstance(logits, jax.Array)
            np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-5, atol=1e-5, err_msg=repr(skill))


@pytest.mark.usefixtures("unchecked")
def test_what_is_no_ensemble_or_no_skill():
    for shape in ((), (3,), (4, 0, 3), (4, 2, 0)):
        with pytest.raises(ValueError, match="logits have shape"):
            disdain.bonus(torch.zeros(shape))
    logits = torch.zeros(4, 2, 5)
    with pytest.raises(ValueError, match="skill has shape"):
        disdain.skill_reward(logits, torch.zeros(3, dtype=torch.int64))
    with pytest.raises(ValueError, match="skills lie in 0 … 4"):
        disdain.skill_reward(logits, 5)
    for skill in (torch.zeros(4), torch.zeros(4, dtype=torch.bool)):
        with pytest.raises(TypeError, match="skills are integers"):
            disdain.skill_reward(logits, skill)


def test_effective_skills():
    got = disdain.effective_skills(torch.log(torch.tensor([2.0, 8.0])))
    assert isinstance(got, torch.Tensor)
    assert float(got) == pytest.approx(4.0)
