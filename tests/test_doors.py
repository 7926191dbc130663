"""Which room may import which: read from the source, imports inside functions included."""

import ast
from pathlib import Path

import pytest

import disdain

SOURCE = Path(disdain.__file__).parent
LEARNING = {"agents", "envs", "replay", "method", "errors"}
BELOW_TRAINING = LEARNING | {"evaluation", "config"}
ABOVE_TRAINING = BELOW_TRAINING | {"training", "presets", "figures"}

# every room and single file: what it may import besides itself
DOORS: dict[str, set[str]] = {
    "errors": set(),
    "method": set(),
    "agents": {"method", "errors"},
    "envs": {"method", "errors"},
    "replay": {"method", "errors"},
    "evaluation": LEARNING,
    "config": {"errors"},
    "presets": {"config", "errors"},
    "training": BELOW_TRAINING,
    "figures": {"evaluation", "errors"},
    "reports": ABOVE_TRAINING,
    "experiments": ABOVE_TRAINING,
    "benchmarks": ABOVE_TRAINING,
    "__init__": ABOVE_TRAINING,
    "__main__": {"cli"},
}
FREE = {"cli"}

# heavy things that only some rooms touch
OUTSIDE = {
    "matplotlib": {"figures", "experiments"},
    "orbax": {"training"},
    "gymnasium": {"envs"},
    "tensorboardX": {"training"},
    "torch": set(),
    "ray": set(),
}


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> list[tuple[int, str]]:
    """Line and full name of everything that a file imports, wherever in it."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import"
            # `from disdain import method` names a room only in its second half
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "disdain" else [node.module]
            )
            found += [(node.lineno, str(name)) for name in names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            found += [
                (node.lineno, argument.value)
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
    return found


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_through_the_doors(path):
    here = room(path)
    assert here in DOORS or here in FREE, f"{here} is a new room: give it its doors"
    for line, name in imported(ast.parse(path.read_text(encoding="utf-8"))):
        first, _, rest = name.partition(".")
        if first == "disdain" and here not in FREE:
            there = rest.partition(".")[0]
            assert there == here or there in DOORS[here], f"{path}:{line}: {here} imports {name}"
        if first in OUTSIDE and here not in FREE:
            assert here in OUTSIDE[first], f"{path}:{line}: {here} imports {name}"


def test_every_room_of_the_table_exists():
    rooms = {room(path) for path in FILES}
    assert set(DOORS) | FREE <= rooms | {"__main__"}


def test_the_reader_sees_imports_of_every_kind():
    """What holds the doors must notice one that is forced."""
    text = """
import disdain.cli
def f():
    from disdain.training.parts import Parts
    from disdain import figures
    import importlib
    importlib.import_module("disdain.presets")
"""
    names = {name for _, name in imported(ast.parse(text))}
    assert names == {"disdain.cli", "disdain.training.parts", "disdain.figures", "importlib", "disdain.presets"}
