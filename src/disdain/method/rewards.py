"""What a skill is paid for being recognised, and how many skills that makes."""

import math
from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np
from jaxtyping import Float, Integer

from disdain.method.ensembles import LOG_ZERO, constant, members, namespace, opened, widen, within


def skill_reward(
    logits: Float[Any, "*batch member skill"],
    skill: Integer[Any, "*#batch"] | int | Sequence[Any],
    *,
    clip: bool = False,
) -> Float[Any, "*batch"]:
    """Skill reward, eq. 3: how much likelier than chance the ensemble finds the skill that was followed.

        r_skill = log q̄(z|o) + log N_Z,    q̄ = 1/N Σᵢ qᵢ,    −∞ < r ≤ log N_Z

    `clip=True` gives max(r, 0), the heuristic of appendix C, for learning; metrics use the unclipped reward. The
    mean of the members' probabilities is taken in log space.

    Takes NumPy, JAX and PyTorch arrays and returns the logits' kind, on their device and in their dtype (reduced in
    at least float32, and never rounded past a bound); differentiable where they are. Skills are integers of any
    width and library, broadcast to the batch; those outside 0 … N_Z−1 are an error where they are numbers of Python
    or NumPy, and NaN inside JAX. A skill that every member rules out (−∞) is paid the lowest number at hand.
    """
    xp, logits, owed = opened(logits)
    index = _index(xp, skill, logits)
    log_q, _ = members(xp, logits)
    index = xp.broadcast_to(index[..., None, None], (*log_q.shape[:-1], 1))
    chosen = xp.clip(xp.take_along_axis(log_q, index, axis=-1)[..., 0], LOG_ZERO, None)
    top = constant(xp.max(chosen, axis=-1, keepdims=True))
    log_mean = top[..., 0] + xp.log(xp.mean(xp.exp(chosen - top), axis=-1))
    most = math.log(logits.shape[-1])
    return within(xp, log_mean + most, owed, 0.0 if clip else -math.inf, most)


def effective_skills(reward: Float[Any, "..."]) -> Float[Any, ""]:
    """Effective number of skills, eq. 4, from unclipped rewards: n = exp(E[r_skill]), the paper's 2^bits in nats."""
    xp = namespace(reward)
    reward, owed = widen(xp, reward)
    return xp.astype(xp.exp(xp.mean(reward)), owed)


def ceiling(num_skills: int, num_features: int) -> float:
    """The most effective skills that `num_skills` skills can reach over `num_features` distinct features.

        n* = N_Z · exp(−1/N_Z Σ_k m_k log m_k),    m_k skills share feature k, spread as evenly as they go

    An upper bound for every policy and world: I(Z; O) is convex in p(o|z), so it is largest where each skill has
    one certain feature, and only there is the bound attained. 128 skills over 103 cells: 97.6.
    """
    if num_features < 1 or num_skills < 1:
        return 0.0
    each, extra = divmod(num_skills, num_features)
    shared = extra * (each + 1) * math.log(each + 1)
    if each:
        shared += (num_features - extra) * each * math.log(each)
    return num_skills * math.exp(-shared / num_skills)


def _index(xp: Any, skill: Any, logits: Any) -> Any:
    """The skill as an index array of the logits' library, on their device; its range is checked where that is free."""
    torch, jax = (known(logits) for known in (array_api_compat.is_torch_array, array_api_compat.is_jax_array))
    if not ((torch and array_api_compat.is_torch_array(skill)) or (jax and array_api_compat.is_jax_array(skill))):
        skill = _checked(skill, logits.shape[-1])
    if "int" not in str(skill.dtype):
        raise TypeError(f"skills are integers, not {skill.dtype}")
    batch, shape = tuple(logits.shape[:-2]), tuple(skill.shape)
    if len(shape) > len(batch) or any(s not in (1, b) for s, b in zip(shape[::-1], batch[::-1], strict=False)):
        raise ValueError(f"skill has shape {shape}, but logits of shape {tuple(logits.shape)} ask for {batch}")
    index = xp.asarray(skill, device=logits.device) if torch else xp.asarray(skill)
    return xp.astype(index, xp.int32 if jax else xp.int64)


def _checked(skill: Any, num_skills: int) -> Any:
    numbers = np.asarray(skill.cpu() if array_api_compat.is_torch_array(skill) else skill)
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"skills are integers, not {numbers.dtype}")
    if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < num_skills:
        raise ValueError(f"skills lie in 0 … {num_skills - 1}, not in {numbers.min()} … {numbers.max()}")
    return numbers.astype(np.int32)
