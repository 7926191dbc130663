"""Calling the command line in this process."""

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

from disdain.cli import main


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self):
        lines = self.out.splitlines()
        assert len(lines) == 1, self.out
        return json.loads(lines[0])


def listing(folder: Path) -> dict[str, bytes | None]:
    """Every path below a folder, and what is in the files."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def command(*argv: object) -> Outcome:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in argv])
    return Outcome(code, out.getvalue(), err.getvalue())
