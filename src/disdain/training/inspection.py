"""Looking at a run folder before anything in it is read: a pickle can run code, so none is ever opened."""

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from disdain.errors import UserError

PICKLES = (".pkl", ".pickle", ".p", ".joblib", ".dill")


def refuse_pickles(folder: Path) -> None:
    """`UserError` if the folder holds a pickle, by name or inside a NumPy file."""
    for root, _, names in os.walk(folder):
        for name in names:
            refuse_pickle(Path(root, name))


def refuse_pickle(path: Path) -> None:
    """The same for one file. Only headers are read."""
    hidden = False
    try:
        if path.suffix == ".npy":
            with open(path, "rb") as file:
                hidden = _holds_objects(file)
        elif path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    with archive.open(member) as file:
                        hidden = hidden or is_pickle_name(member) or _holds_objects(file)
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise UserError(f"{path} is not what training wrote: {error}") from None
    if hidden or is_pickle_name(path.name):
        raise UserError(f"{path} is a pickle, or hides one: a run has none, and opening it could run code; remove it")


def is_pickle_name(name: str) -> bool:
    """Whether a file is called like a pickle."""
    return name.lower().endswith(PICKLES)


def _holds_objects(file: Any) -> bool:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)[2].hasobject
