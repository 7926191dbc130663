"""Checkpoints: the named parts of a training on disk, each saved by Orbax, all of them checked by a manifest.

A checkpoint is written under a temporary name, written through to the disk, and renamed: it is there whole or not
at all. Orbax alone does not notice flipped bytes in its files; the manifest does.
"""

import contextlib
import dataclasses
import logging
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from disdain.errors import UserError
from disdain.training.durable import TEMPORARY, remove_tree, sync, sync_tree
from disdain.training.manifest import FORMAT, Damaged, read_manifest, write_manifest
from disdain.training.parts import Training

REPLAY = "replay"


class Checkpoints:
    """The checkpoints of one run, by the update after which they were made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()  # Orbax takes no other

    def path(self, update: int) -> Path:
        """The folder of a checkpoint."""
        return self.folder / f"{update:09d}"

    def updates(self) -> list[int]:
        """Those that there are, good or not, the oldest first."""
        if not self.folder.is_dir():
            return []
        return sorted(int(child.name) for child in self.folder.iterdir() if child.name.isdigit() and child.is_dir())

    def save(self, update: int, training: Training, about: Mapping[str, Any]) -> None:
        """Commit a checkpoint: leaves are NumPy arrays with a leading axis of seeds, `about` goes into the manifest."""
        import orbax.checkpoint as ocp

        self.folder.mkdir(exist_ok=True)
        temporary = self.folder / f"{TEMPORARY}{update:09d}-{os.getpid()}"
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir()
            parts = {name: part for name, part in _parts(training).items() if part}
            with _silent(), ocp.PyTreeCheckpointer() as orbax:
                for name, part in parts.items():
                    orbax.save(temporary / name, part)
            write_manifest(temporary, {"update": update, "parts": sorted(parts), "left_out": [], **about})
            sync_tree(temporary)
            os.rename(temporary, self.path(update))
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        sync(self.folder)

    def verify(self, update: int) -> dict[str, Any]:
        """The manifest of a checkpoint, or `Damaged` if any of its files is not what was written."""
        about = read_manifest(self.path(update))
        if about["format"] > FORMAT:
            raise UserError(f"{self.path(update)} was written by a newer disdain (format {about['format']})")
        if about["update"] != update:
            raise Damaged(f"it is the checkpoint of update {about['update']} under another name")
        return about

    def load(self, update: int, like: Training) -> Training:
        """A verified checkpoint, bit for bit. `like` says which arrays there should be (anything with shape and dtype).

        A replay that was left out comes back empty.
        """
        import orbax.checkpoint as ocp

        loaded = {}
        with ocp.PyTreeCheckpointer() as orbax:
            for name, wanted in _parts(like).items():
                folder = self.path(update) / name
                if folder.is_dir():
                    found = {key: np.asarray(leaf) for key, leaf in orbax.restore(folder).items()}
                elif name == REPLAY:
                    found = {key: np.zeros(leaf.shape, leaf.dtype) for key, leaf in wanted.items()}
                else:
                    found = {}
                self._check_fit(update, name, found, wanted)
                structure = jax.tree.structure(getattr(like, name))
                loaded[name] = jax.tree.unflatten(structure, [found[key] for key in wanted])
        return Training(**loaded)

    def prune(self, keep: int) -> None:
        """Remove all but the newest."""
        for update in self.updates()[:-keep]:
            remove_tree(self.path(update))

    def discard_after(self, update: int) -> None:
        """Remove what is newer than a checkpoint that training goes back to."""
        for later in self.updates():
            if later > update:
                remove_tree(self.path(later))

    def _check_fit(self, update: int, name: str, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        have, want = ({key: f"{leaf.dtype}{list(leaf.shape)}" for key, leaf in of.items()} for of in (found, wanted))
        for key in sorted(have.keys() | want.keys()):
            if have.get(key) != want.get(key):
                raise UserError(
                    f"{self.path(update)} does not fit the run's config: {name}/{key} is {have.get(key, 'missing')}, "
                    f"the config asks for {want.get(key, 'none')}"
                )


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """The error that Orbax raises says enough: it also logs the traceback of every thread that meets a full disk.

    Writes still under way then report to an event loop that is gone, so that silence outlasts a failure.
    """
    now, late, hook = logging.getLogger("absl"), logging.getLogger("asyncio"), sys.unraisablehook
    disabled = now.disabled, late.disabled
    now.disabled = late.disabled = True
    sys.unraisablehook = lambda raised: None if "Event loop is closed" in str(raised.exc_value) else hook(raised)
    try:
        yield
        sys.unraisablehook, late.disabled = hook, disabled[1]
    finally:
        now.disabled = disabled[0]


def _parts(training: Training) -> dict[str, dict[str, Any]]:
    """The arrays of each part by name, {} for a part that this training has not."""
    parts = {}
    for field in dataclasses.fields(training):
        leaves, _ = jax.tree.flatten_with_path(getattr(training, field.name))
        parts[field.name] = {
            jax.tree_util.keystr(path, simple=True, separator="-") or "value": leaf for path, leaf in leaves
        }
    return parts
