"""Where a program runs: one host device a core, and a compilation cache that makes the second start faster."""

import contextlib
import os
from pathlib import Path

from disdain.errors import UserError

CACHE_VARIABLE = "JAX_COMPILATION_CACHE_DIR"


def prepare(*, deterministic: bool = False, cache: bool = True) -> None:
    """Set up JAX before its backend starts; calling it again is harmless."""
    if deterministic and "--xla_gpu_deterministic_ops" not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_gpu_deterministic_ops=true".strip()

    import jax

    # refused once the backend has started: whoever started it has chosen its devices
    with contextlib.suppress(RuntimeError):
        jax.config.update("jax_num_cpu_devices", cores())
    if cache and CACHE_VARIABLE not in os.environ:
        folder = cache_folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return  # a read-only home only costs the second start its head start
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)


def cores() -> int:
    """Cores that this process may use."""
    wanted = os.environ.get("DISDAIN_CORES")
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if wanted is None:
        return available
    if not wanted.isdigit() or int(wanted) < 1:
        raise UserError(f"DISDAIN_CORES is {wanted!r}: it takes a whole number of 1 or more")
    return int(wanted)


def cache_folder() -> Path:
    """The user's cache folder for compiled programs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "disdain" / "programs"
