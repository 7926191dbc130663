"""Snapshots at a few points of training: what maps and rollouts are drawn from."""

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from disdain.config import Config
from disdain.errors import UserError
from disdain.training.durable import write_file

POINTS = (0.02, 0.1, 0.25, 0.5, 1.0)


def snapshot_points(config: Config) -> list[int]:
    """The evaluations nearest to 2, 10, 25, 50 and 100 % of training."""
    every, updates = config.evaluate_every, config.updates
    near = (min(updates, max(every, round(point * updates / every) * every)) for point in POINTS[:-1])
    return sorted({*near, updates})


class Snapshots:
    """`snapshots/`: one .npz of plain arrays for each point."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def updates(self) -> list[int]:
        """Those that there are."""
        return sorted(int(path.stem) for path in self.folder.glob("*.npz") if path.stem.isdigit())

    def save(self, update: int, arrays: dict[str, np.ndarray]) -> None:
        """Write one down, whole or not at all."""
        self.folder.mkdir(exist_ok=True)
        buffer = io.BytesIO()
        small: dict[str, Any] = {name: _small(array) for name, array in arrays.items()}
        np.savez_compressed(buffer, **small)
        write_file(self.folder / f"{update:09d}.npz", buffer.getvalue())

    def load(self, update: int) -> dict[str, np.ndarray]:
        """One of them."""
        path = self.folder / f"{update:09d}.npz"
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return dict(arrays)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise UserError(f"{path} cannot be read: {error}") from None

    def discard_after(self, update: int) -> None:
        """Remove those of updates that are to be made again."""
        for later in self.updates():
            if later > update:
                (self.folder / f"{later:09d}.npz").unlink()


def _small(array: np.ndarray) -> np.ndarray:
    """State numbers in the smallest type that holds them."""
    if array.dtype.kind in "iu" and array.size and array.min() >= 0:
        return array.astype(np.min_scalar_type(array.max()))
    return array
