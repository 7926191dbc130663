"""A command line in a folder of its own."""

import shutil

import pytest
from invoking import command, listing


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder; nothing that a command writes by default lands elsewhere."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def refused(here):
    """Runs a command that must be refused: exit 2, one line on stderr, nothing on stdout, nothing written."""

    def run(*argv: object, says: str | tuple[str, ...]) -> str:
        before = listing(here)
        outcome = command(*argv)
        assert listing(here) == before, "something was written"
        assert outcome.code == 2, outcome
        assert outcome.out == ""
        assert outcome.err.startswith("disdain: error: ")
        assert outcome.err.endswith("\n")
        assert outcome.err.count("\n") == 1, outcome.err
        assert len(outcome.err) < 600, "a line that nobody reads to its end"
        for part in (says,) if isinstance(says, str) else says:
            assert part in outcome.err, outcome.err
        return outcome.err

    return run


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Two finished runs, made by the command line: `a` has seeds 0 and 1, `b` 1 and 2. To be copied, not changed."""
    folder = tmp_path_factory.mktemp("runs")
    sizes = ("--updates", 600, "--evaluate-every", 200, "--checkpoint-every", 200, "--seeds", 2, "--quiet", "--json")
    for name, more in (("a", ()), ("b", ("--method", "unbonused", "--first-seed", 1))):
        outcome = command("train", "four-rooms-small", *sizes, *more, "--out", folder / name)
        assert outcome.code == 0, outcome
    return folder


@pytest.fixture
def copies(runs, here):
    """Copies of the runs in the working folder."""
    for name in ("a", "b"):
        shutil.copytree(runs / name, here / name)
    return here


@pytest.fixture(autouse=True)
def _one_line(monkeypatch):
    """Whatever the shell that runs the tests asks for."""
    monkeypatch.delenv("DISDAIN_TRACEBACK", raising=False)
