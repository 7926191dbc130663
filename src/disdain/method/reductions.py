"""Sums and maxima along the last axis, in the form that each backend is fast at and always in the same order."""

import math
from collections.abc import Callable
from typing import Any

import array_api_compat
from jaxtyping import Float


def top_of(xp: Any, array: Float[Any, "*batch n"]) -> Any:
    """The largest entry along the last axis, which stays with length 1.

    In JAX on a CPU by halving, whole vectors at a time, where a reduction would go number by number.
    """
    return halved(xp, xp.maximum, array) if _is_jax_on_cpu(xp) else xp.max(array, axis=-1, keepdims=True)


def sum_of(xp: Any, array: Float[Any, "*batch n"]) -> Any:
    """The sum along the last axis, which stays with length 1.

    In JAX on a CPU as a product with ones, for the same reason; elsewhere a product could be less exact than a sum.
    Only of whole blocks of rows: those that are left over are added up in another order, and equals would differ.
    """
    if _is_jax_on_cpu(xp) and math.prod(array.shape[:-1]) % 8 == 0:
        return array @ xp.ones((array.shape[-1], 1), dtype=array.dtype)
    return xp.sum(array, axis=-1, keepdims=True)


def halved(xp: Any, operation: Callable[[Any, Any], Any], array: Float[Any, "*batch n"]) -> Any:
    """Fold the last axis by halving it until one entry is left: the same bits however many others are folded beside."""
    while (length := array.shape[-1]) > 1:
        half = length // 2
        folded = operation(array[..., :half], array[..., half : 2 * half])
        array = xp.concat([folded, array[..., 2 * half :]], axis=-1) if length % 2 else folded
    return array


def _is_jax_on_cpu(xp: Any) -> bool:
    if not array_api_compat.is_jax_namespace(xp):
        return False
    import jax

    return jax.default_backend() == "cpu"
