"""The paper's bonus: what an ensemble's members do not agree about, they have not seen."""

import functools
import math
from typing import Any

from jaxtyping import Float

from disdain.method.ensembles import LOG_ZERO, constant, members, opened, within
from disdain.method.reductions import sum_of


def disagreement(logits: Float[Any, "*batch member skill"]) -> Float[Any, "*batch"]:
    """DISDAIN bonus, eq. 10: entropy of the mean member minus mean entropy of the members, in nats.

        r = H[q̄] − 1/N Σᵢ H[qᵢ] = 1/N Σᵢ KL(qᵢ ‖ q̄),    0 ≤ r ≤ log min(N, N_Z)

    Takes NumPy, JAX and PyTorch arrays and returns their kind, on their device and in their dtype (reduced in at
    least float32, and never rounded past a bound); differentiable where they are. A logit of −∞ is a probability of 0.

    Computed as the divergence, with log q̄ taken relative to the member that is surest of each skill: members that
    agree get exactly 0, with no rounding left for λ to multiply.
    """
    xp, logits, owed = opened(logits)
    size = logits.shape[-2]
    log_q, q = members(xp, logits)
    # clipped at 0, a product is rounded before anything is taken from it (no fused multiply-add): equals stay equal
    log_q, q = xp.clip(log_q, LOG_ZERO, None), xp.clip(q, 0.0, None)
    # member by member: an ensemble is small, and a reduction over so short an axis slow
    log_each, each = ([x[..., i, :] for i in range(size)] for x in (log_q, q))
    log_top, top = (constant(functools.reduce(xp.maximum, x)) for x in (log_each, each))
    fall = sum(q_i - top for q_i in each) / size / xp.clip(top, 1e-30, None)  # q̄/top − 1, in [1/N − 1, 0]
    log_mean = log_top + xp.log(1.0 + fall)
    divergence = sum(q_i * (log_q_i - log_mean) for log_q_i, q_i in zip(log_each, each, strict=True)) / size
    most = math.log(min(size, logits.shape[-1]))
    return within(xp, sum_of(xp, divergence)[..., 0], owed, 0.0, most)
