"""Shapes and types of every call of ours are checked while tests run."""

from typing import Any

from beartype import beartype


def checked(function: Any) -> Any:
    """beartype, but for constructors: JAX rebuilds records with leaves that are no arrays."""
    return function if function.__name__ == "__init__" else beartype(function)
