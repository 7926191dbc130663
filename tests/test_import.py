"""Importing costs nothing until something is used: seen in fresh processes."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import disdain

HEAVY = ("jax", "torch", "matplotlib", "ray", "orbax", "gymnasium", "pyarrow", "tensorboardX")


def loaded(code: str) -> set[str]:
    """Which of the heavy packages a fresh interpreter has loaded after some code."""
    report = f"import json, sys; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, timeout=120, check=True
    )
    return set(json.loads(ran.stdout.splitlines()[-1]))


LOGITS = "import numpy as np; logits = np.ones((4, 2, 3), np.float32)"


@pytest.mark.parametrize(
    "code",
    [
        "import disdain",
        "import disdain; disdain.__version__; dir(disdain)",
        "import disdain.cli",
        f"import disdain; {LOGITS}; disdain.bonus(logits)",
        f"import disdain; {LOGITS}; disdain.skill_reward(logits, np.arange(4) % 3, clip=True)",
        f"import disdain; {LOGITS}; disdain.effective_skills(logits); disdain.ceiling(128, 103)",
        "import disdain; disdain.Config().validated(); disdain.UserError; disdain.preset('four-rooms').config()",
    ],
)
def test_nothing_heavy_is_imported(code):
    assert loaded(code) == set()


def test_what_needs_jax_has_it():
    """The reader of modules is no decoration."""
    assert "jax" in loaded("import disdain; disdain.peng_returns")


def test_nothing_public_needs_more_than_it_uses():
    assert loaded("from disdain import *") & {"torch", "matplotlib", "ray", "gymnasium"} == set()


def test_every_public_name_is_there():
    for name in disdain.__all__:
        assert getattr(disdain, name) is not None
        assert name in dir(disdain)
    assert set(disdain.__all__) == set(disdain._HOMES) | {"__version__"}
    with pytest.raises(AttributeError, match="bonsu"):
        disdain.bonsu  # noqa: B018


def test_what_type_checkers_see_is_what_is_there():
    """The imports under TYPE_CHECKING name the same objects as the lazy ones."""
    tree = ast.parse(Path(disdain.__file__).read_text(encoding="utf-8"))
    (block,) = (n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    seen = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(seen) == set(disdain._HOMES)
    for name, (module, attribute) in seen.items():
        assert getattr(sys.modules[str(module)], attribute) is getattr(disdain, name)


def seconds(code: str) -> float:
    timed = f"import time; begin = time.perf_counter(); {code}; print(time.perf_counter() - begin)"
    ran = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, timeout=120, check=True)
    return float(ran.stdout)


def test_import_takes_no_longer_than_jax_and_a_half():
    """The best of several, taken in turns, so that a busy machine slows all of them."""
    best = dict.fromkeys(("import jax", "import disdain", "import disdain; disdain.peng_returns"), float("inf"))
    for _ in range(4):
        best = {code: min(time, seconds(code)) for code, time in best.items()}
    jax, ours, used = best.values()
    assert ours <= 0.2 * jax  # nothing was loaded yet
    assert used <= 1.5 * jax
