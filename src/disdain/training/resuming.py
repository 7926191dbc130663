"""Where training goes on: the newest checkpoint that all runs of a program have, and that is what was written."""

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from disdain.config import from_dict
from disdain.errors import UserError
from disdain.training.checkpoints import REPLAY
from disdain.training.manifest import Damaged
from disdain.training.metrics import EMPTY
from disdain.training.parts import Training
from disdain.training.run import MAP, Run, check_resume

Note = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Point:
    """A checkpoint of each of some runs, all of the same update; update 0, which needs none, has empty manifests."""

    update: int
    manifests: tuple[dict[str, Any], ...]

    @property
    def seconds(self) -> list[float]:
        """How long each run had been trained."""
        return [float(about.get("seconds", 0.0)) for about in self.manifests]

    def unrolls_to_refill(self, runs: Sequence[Run]) -> int:
        """How many unrolls the replays held that were left out of the checkpoints."""
        held = {
            min(about["pushed"], run.config.replay_size) if REPLAY in about.get("left_out", ()) else 0
            for run, about in zip(runs, self.manifests, strict=True)
        }
        if len(held) > 1:
            raise UserError("some of these runs have left their replay behind and some have not: resume each by itself")
        return held.pop()


def find_point(runs: Sequence[Run], note: Note) -> Point:
    """The newest point that every run can go on from; a damaged checkpoint costs a note and the way to the one before.

    Nothing is changed on disk.
    """
    damaged: list[str] = []
    for update in sorted(set.intersection(*(_offers(run) for run in runs)), reverse=True):
        if update == 0:
            return Point(0, tuple({} for _ in runs))
        try:
            manifests = tuple(_verify(run, update) for run in runs)
        except Damaged as error:
            damaged.append(str(error))
            continue
        for line in damaged:
            note(f"warning: {line}: going on from the checkpoint of update {update:,}")
        return Point(update, manifests)
    if damaged:
        raise UserError(f"no checkpoint is whole ({'; '.join(damaged)}): the run cannot go on")
    stand = ", ".join(f"{run.path} {run.checkpoints.updates() or 'nothing'}" for run in runs)
    raise UserError(f"these runs have no checkpoint in common ({stand}): resume each by itself")


def go_back(runs: Sequence[Run], point: Point) -> None:
    """Make the folders what they were at that point: rows, snapshots and checkpoints that came later are removed."""
    for run, about in zip(runs, point.manifests, strict=True):
        run.metrics.cut(about.get("metrics", EMPTY))
        run.snapshots.discard_after(point.update)
        run.checkpoints.discard_after(point.update)


def load(runs: Sequence[Run], point: Point, like: Training) -> Training:
    """The lanes of all runs, as NumPy arrays; `like` has the shapes of all of them together."""
    loaded = []
    for run in runs:
        own = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((run.config.seeds, *leaf.shape[1:]), leaf.dtype), like)  # noqa: B023
        loaded.append(run.checkpoints.load(point.update, own))
    return loaded[0] if len(loaded) == 1 else jax.tree.map(lambda *leaves: np.concatenate(leaves), *loaded)


def note_another_arithmetic(runs: Sequence[Run], point: Point, now: dict[str, Any], note: Note) -> None:
    """Say so where training cannot go on bit for bit, because what the last bits depend on has changed."""
    for run, about in zip(runs, point.manifests, strict=True):
        before = about.get("arithmetic", {})
        changed = [
            f"{name}: was {before.get(name)}, now {value}" for name, value in now.items() if before.get(name) != value
        ]
        if changed:
            note(f"{run.path} goes on, but from here its last bits may differ ({'; '.join(changed)})")


def fingerprint_of_map(run: Run) -> str | None:
    """The digest of the run's own map, if it has one."""
    path = run.path / MAP
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _offers(run: Run) -> set[int]:
    """The updates that a run may go on from, good or not; 0 if nothing that was saved is lost by it."""
    updates = run.checkpoints.updates()
    if len(updates) == 1 and updates[0] <= run.config.checkpoint_every:
        return {0, *updates}  # a kill between the first checkpoints of two runs
    if updates:
        return set(updates)
    rows = run.metrics.rows()
    if rows and rows[-1]["update"] > run.config.checkpoint_every:
        raise UserError(f"{run.path} was trained for {rows[-1]['update']:,} updates, but its checkpoints are gone")
    return {0}


def _verify(run: Run, update: int) -> dict[str, Any]:
    path = run.checkpoints.path(update)
    try:
        about = run.checkpoints.verify(update)
    except Damaged as error:
        raise Damaged(f"{path} is damaged: {error}") from None
    check_resume(from_dict(about["config"], path), run.config, run.path)
    run.metrics.check(about["metrics"])
    if about["map"] != fingerprint_of_map(run):
        raise UserError(f"{run.path / MAP} was changed by hand: it is not the map that the run was trained on")
    return about
