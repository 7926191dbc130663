"""What a skill is paid for being recognised, and how many skills that makes."""

import math
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from disdain.method.ensembles import members, namespace, widen, within


def skill_reward(
    logits: Float[Any, "*batch member skill"], skill: Int[Any, "*batch"], *, clip: bool = False
) -> Float[Any, "*batch"]:
    """Skill reward, eq. 3: how much likelier than chance the ensemble finds the skill that was followed.

        r_skill = log q̄(z|o) + log N_Z,    q̄ = 1/N Σᵢ qᵢ,    −∞ < r ≤ log N_Z

    `clip=True` gives max(r, 0), the heuristic of appendix C, for learning; metrics use the unclipped reward. The
    mean of the members' probabilities is taken in log space.
    """
    xp = namespace(logits, skill)
    logits, owed = widen(xp, logits)
    log_q, _ = members(xp, logits)
    index = _index_like(xp, skill, logits)
    shape = (*log_q.shape[:-1], 1)
    chosen = xp.take_along_axis(log_q, xp.broadcast_to(index[..., None, None], shape), axis=-1)[..., 0]
    top = xp.max(chosen, axis=-1, keepdims=True)
    log_mean = top[..., 0] + xp.log(xp.mean(xp.exp(chosen - top), axis=-1))
    most = math.log(logits.shape[-1])
    return within(xp, log_mean + most, owed, 0.0 if clip else -math.inf, most)


def effective_skills(reward: Float[Any, "..."]) -> Float[Any, ""]:
    """Effective number of skills, eq. 4, from unclipped rewards: n = exp(E[r_skill]), the paper's 2^bits in nats."""
    xp = namespace(reward)
    return xp.exp(xp.mean(reward))


def ceiling(num_skills: int, num_features: int) -> float:
    """The most effective skills that `num_skills` skills can reach over `num_features` distinct features.

        n* = N_Z · exp(−1/N_Z Σ_k m_k log m_k),    m_k skills share feature k, spread as evenly as they go

    An upper bound for every policy and world: I(Z; O) is convex in p(o|z), so it is largest where each skill has
    one certain feature, and only there is the bound attained. 128 skills over 103 cells: 97.6.
    """
    if num_features < 1 or num_skills < 1:
        return 0.0
    each, extra = divmod(num_skills, num_features)
    shared = np.array([each] * (num_features - extra) + [each + 1] * extra, float)
    shared = shared[shared > 0]
    return float(num_skills * np.exp(-np.sum(shared * np.log(shared)) / num_skills))


def _index_like(xp: Any, skill: Any, logits: Any) -> Any:
    """The skill as an index array of the logits' library, on their device."""
    import array_api_compat

    if array_api_compat.is_torch_array(logits):
        return xp.asarray(skill, dtype=xp.int64, device=logits.device)
    index = xp.asarray(skill)
    return index if xp.isdtype(index.dtype, "signed integer") else xp.astype(index, xp.int32)
