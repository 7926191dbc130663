"""Softmax of an ensemble's logits, once, for NumPy, JAX and PyTorch alike."""

import math
from typing import Any

import array_api_compat
from jaxtyping import Float

from disdain.method.reductions import sum_of, top_of

LOG_ZERO = -1e38  # log 0 as a number: fits float32, and two of them can be subtracted


def namespace(array: Any) -> Any:
    """The array library that the argument comes from (Python array API); plain numbers and sequences are NumPy's."""
    if not array_api_compat.is_array_api_obj(array):
        import numpy

        array = numpy.zeros(())
    return array_api_compat.array_namespace(array)


def widen(xp: Any, array: Any) -> tuple[Any, Any]:
    """The array in at least float32, and the dtype in which an answer is owed (float32 for integers)."""
    array = array if array_api_compat.is_array_api_obj(array) else xp.asarray(array)
    kind = str(array.dtype)  # by name: not every library knows bfloat16 for a floating type
    if "complex" in kind or "object" in kind:
        raise TypeError(f"an array of {kind} where real numbers belong")
    if "float" not in kind:
        array = xp.astype(array, xp.float32)
    owed = array.dtype
    return (array, owed) if owed in (xp.float32, xp.float64) else (xp.astype(array, xp.float32), owed)


def opened(logits: Any) -> tuple[Any, Any, Any]:
    """The logits' library, the logits in at least float32, and the dtype in which an answer is owed."""
    xp = namespace(logits)
    logits, owed = widen(xp, logits)
    shape = tuple(logits.shape)
    if len(shape) < 2 or 0 in shape[-2:]:
        raise ValueError(f"logits have shape {shape}: they are [..., member, skill], with one of each at least")
    return xp, logits, owed


def constant(array: Any) -> Any:
    """The same numbers, not differentiated: for what cancels out of a result that was shifted or scaled by it."""
    if array_api_compat.is_jax_array(array):
        import jax

        return jax.lax.stop_gradient(array)
    return array.detach() if array_api_compat.is_torch_array(array) else array


def members(xp: Any, logits: Float[Any, "*batch member skill"]) -> tuple[Any, Any]:
    """log qᵢ(·|o) and qᵢ(·|o) of every member, from one exponential each.

    A logit of −∞ is a probability of 0; a member with no other has no distribution, and NaN for all its answers.
    """
    shifted = logits - constant(top_of(xp, logits))
    unnormalised = xp.exp(shifted)
    total = sum_of(xp, unnormalised)
    return shifted - xp.log(total), unnormalised / total


def within(xp: Any, value: Any, dtype: Any, low: float, high: float) -> Any:
    """Cast to `dtype`, clipped to the numbers of that type that lie in [low, high]: no bound is rounded past."""
    limits = _limits(xp, dtype)
    spacing = float(limits.eps) * 2.0 ** (math.frexp(high)[1] - 1)
    high = math.floor(high / spacing) * spacing
    return xp.astype(xp.clip(value, max(low, float(limits.min)), high), dtype)


def _limits(xp: Any, dtype: Any) -> Any:
    if str(dtype) == "bfloat16":  # known to JAX, and to NumPy only by way of this
        import ml_dtypes

        return ml_dtypes.finfo(dtype)
    return xp.finfo(dtype)
