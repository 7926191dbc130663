"""Metrics while a run is going: a line of JSON for each evaluation, appended and written through to the disk."""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from disdain.errors import UserError

Row = dict[str, Any]


class MetricsLog:
    """`metrics.jsonl`. A checkpoint remembers its `mark`; going on from there cuts the file back to it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, row: Row) -> None:
        """Add a line; one that does not fit on the disk is taken back."""
        size = self.path.stat().st_size if self.path.exists() else 0
        try:
            with open(self.path, "ab") as file:
                file.write((json.dumps(row, allow_nan=False) + "\n").encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            if self.path.exists():
                os.truncate(self.path, size)
            raise

    def mark(self) -> dict[str, Any]:
        """Where the file ends, and the digest of what is before."""
        content = self.path.read_bytes() if self.path.exists() else b""
        return _mark(content)

    def check(self, mark: Mapping[str, Any]) -> None:
        """`UserError` if what was there when `mark` was made is not there any more."""
        content = self.path.read_bytes() if self.path.exists() else b""
        if _mark(content[: mark["bytes"]]) != dict(mark):
            raise UserError(
                f"{self.path} was changed by hand: its first {mark['bytes']} bytes are not what training wrote"
            )

    def cut(self, mark: Mapping[str, Any]) -> None:
        """Back to what the file was when `mark` was made."""
        self.check(mark)
        if self.path.exists() and self.path.stat().st_size > mark["bytes"]:
            with open(self.path, "r+b") as file:
                file.truncate(mark["bytes"])
                os.fsync(file.fileno())

    def rows(self) -> list[Row]:
        """The rows so far, without a last line that is not whole; null reads as NaN."""
        if not self.path.exists():
            return []
        rows = []
        for number, line in enumerate(self.path.read_bytes().split(b"\n")[:-1], 1):
            try:
                row = json.loads(line)
                numbers = {name: row[name] for name in ("update", "frames", "seconds")}
                measures = {
                    name: [math.nan if value is None else float(value) for value in values]
                    for name, values in row["measures"].items()
                }
                rows.append({**numbers, "measures": measures})
            except (ValueError, KeyError, TypeError, AttributeError):
                raise UserError(f"{self.path}: line {number} is not a line of metrics") from None
        return rows


EMPTY = {"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}


def make_row(update: int, frames: int, seconds: float, measures: Mapping[str, np.ndarray]) -> Row:
    """An evaluation: one value a seed for each measure."""
    values = {name: [_plain(value) for value in measures[name]] for name in sorted(measures)}
    return {"update": update, "frames": frames, "seconds": round(seconds, 3), "measures": values}


def _plain(value: Any) -> int | float | None:
    """The shortest number that reads back as this one; JSON has no NaN and no infinity."""
    if isinstance(value, np.integer):
        return int(value)
    return float(str(value)) if np.isfinite(value) else None


def _mark(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
