"""Softmax of an ensemble's logits, once, for NumPy, JAX and PyTorch alike."""

from typing import Any

import array_api_compat
from jaxtyping import Float


def namespace(*arrays: Any) -> Any:
    """The array library that the arguments come from (Python array API); plain sequences count as NumPy."""
    known = [array for array in arrays if array_api_compat.is_array_api_obj(array)]
    if not known:
        import numpy

        return array_api_compat.array_namespace(numpy.zeros(()))
    return array_api_compat.array_namespace(known[0])


def widen(xp: Any, logits: Any) -> tuple[Any, Any]:
    """The logits in at least float32, and the dtype in which the answer is owed."""
    logits = logits if array_api_compat.is_array_api_obj(logits) else xp.asarray(logits)
    if not xp.isdtype(logits.dtype, "real floating") and "float" not in str(logits.dtype):
        logits = xp.astype(logits, xp.float32)
    owed = logits.dtype
    return (logits, owed) if owed in (xp.float32, xp.float64) else (xp.astype(logits, xp.float32), owed)


def within(xp: Any, value: Any, dtype: Any, low: float, high: float) -> Any:
    """Cast to `dtype` without rounding past either bound."""
    limits = xp.finfo(dtype)
    low = max(low, float(limits.min))
    return xp.astype(xp.clip(value, low, high * (1.0 - float(limits.eps))), dtype)


def members(xp: Any, logits: Float[Any, "*batch member skill"]) -> tuple[Any, Any]:
    """log qᵢ(·|o) and qᵢ(·|o) of every member, from one exponential each."""
    shifted = logits - xp.max(logits, axis=-1, keepdims=True)
    unnormalised = xp.exp(shifted)
    total = xp.sum(unnormalised, axis=-1, keepdims=True)
    return shifted - xp.log(total), unnormalised / total
