"""Before anything else imports JAX: two devices, compiled programs in a folder of their own, shapes checked."""

import os
import sys
from pathlib import Path

os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)

import jax
import jaxtyping
import pytest

sys.path.insert(0, str(Path(__file__).parent))
jax.config.update("jax_num_cpu_devices", 2)
jaxtyping.install_import_hook("disdain", "checking.checked")


@pytest.fixture(autouse=True, scope="session")
def _caches(tmp_path_factory):
    """Nothing that tests compile mixes with what the user's runs compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def unchecked(monkeypatch):
    """What a user sees, who has no checks of shapes."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture
def strict():
    """JAX refuses to promote types on its own, and stops at the first NaN."""
    with jax.numpy_dtype_promotion("strict"), jax.debug_nans(True):
        yield


@pytest.fixture(params=[False, True], ids=["plain", "jitted"])
def maybe_jit(request):
    """Every function is tested both ways: `maybe_jit(function)`."""
    return jax.jit if request.param else lambda function: function
