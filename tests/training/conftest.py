"""Programs are compiled once for all tests and their processes, in a folder of their own."""

import jax
import pytest


@pytest.fixture(autouse=True, scope="session")
def _programs(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("programs"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_COMPILATION_CACHE_DIR", folder)
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
        yield
        jax.config.update("jax_compilation_cache_dir", None)
