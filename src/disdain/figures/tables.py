"""Result tables of some runs, and the arrays that figures are drawn from."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Float, Int

from disdain.errors import UserError, nearest
from disdain.evaluation.statistics import best

SKILLS = "skills_training"  # the measure that seeds are ranked by


@dataclasses.dataclass(frozen=True)
class Curves:
    """One measure of one run over training."""

    seeds: Int[np.ndarray, "seed"]
    updates: Int[np.ndarray, "update"]
    frames: Int[np.ndarray, "update"]
    values: Float[np.ndarray, "seed update"]

    @property
    def final(self) -> Float[np.ndarray, "seed"]:
        """The values at the end of training."""
        return self.values[:, -1]


@dataclasses.dataclass(frozen=True)
class Snapshots:
    """Something about every state of a grid world, for one seed, at a few points of training. NaN where a wall is."""

    updates: Int[np.ndarray, "point"]
    maps: Float[np.ndarray, "point row column"]


@dataclasses.dataclass(frozen=True)
class Rollouts:
    """One greedy rollout of every skill of one seed, in picture coordinates."""

    skills: Int[np.ndarray, "skill"]
    states: Int[np.ndarray, "skill step"]
    cells: Int[np.ndarray, "skill step 2"]
    confidence: Float[np.ndarray, "skill"]


@dataclasses.dataclass(frozen=True)
class Results:
    """The tables of some runs, side by side; `runs` says for each its config and its summary."""

    where: str
    runs: dict[str, dict[str, Any]]
    metrics: pa.Table
    states: pa.Table | None = None
    rollouts: pa.Table | None = None

    def only(self, runs: Sequence[str]) -> "Results":
        """The same results without the other runs."""

        def part(table: pa.Table | None) -> pa.Table | None:
            return None if table is None else table.filter(pc.field("run").isin(list(runs)))

        metrics = part(self.metrics)
        assert metrics is not None
        about = {run: self.runs[run] for run in runs}
        return dataclasses.replace(
            self, runs=about, metrics=metrics, states=part(self.states), rollouts=part(self.rollouts)
        )

    def config(self, run: str) -> dict[str, Any]:
        """The configuration of a run."""
        self._known(run)
        return self.runs[run]["config"]

    def summary(self, run: str) -> dict[str, Any]:
        """The summary of a run, {} while it has none."""
        self._known(run)
        return self.runs[run]["summary"]

    def method(self, run: str) -> str:
        """The method that a run trained."""
        return str(self.config(run).get("method", run))

    def ceiling(self, run: str) -> float | None:
        """The most effective skills that a run could have reached, where its summary says so."""
        value = self.summary(run).get("ceiling")
        return None if value is None else float(value)

    def finished(self, run: str) -> bool:
        """Whether a run came to its end."""
        return bool(self.summary(run).get("finished"))

    def measures(self, run: str) -> list[str]:
        """The measures that a run has."""
        self._known(run)
        return sorted(self.metrics.filter(pc.field("run") == run)["measure"].unique().to_pylist())

    def curves(self, run: str, measure: str) -> Curves:
        """A measure of a run, every seed over training."""
        self._known(run)
        rows = self.metrics.filter((pc.field("run") == run) & (pc.field("measure") == measure))
        if rows.num_rows == 0:
            raise UserError(f"{self.where}, run {run}: {nearest('measure', measure, self.measures(run))}")
        seed, update, frames, value = (_numpy(rows[name]) for name in ("seed", "update", "frames", "value"))
        seeds, updates = np.unique(seed), np.unique(update)
        if len(value) != len(seeds) * len(updates):
            raise UserError(
                f"{self.where}, run {run}: {measure} has {len(value)} rows for {len(seeds)} seeds "
                f"and {len(updates)} evaluations; rows are missing or doubled"
            )
        order = np.lexsort((update, seed))
        shape = len(seeds), len(updates)
        return Curves(seeds, updates, frames[order].reshape(shape)[0], value[order].reshape(shape).astype(float))

    def snapshots(self, run: str, seed: int, measure: str) -> Snapshots:
        """Something about every state ("final_count" or "bonus") at the points of training that the run kept."""
        rows = _of_seed(self._maps("states", self.states, run), run, seed, self.where)
        rows = rows.filter(pc.field("measure") == measure)
        if rows.num_rows == 0:
            raise UserError(f"{self.where}, run {run}: no {measure!r} of the states was kept")
        update, row, column, value = (_numpy(rows[name]) for name in ("update", "row", "column", "value"))
        updates, point = np.unique(update, return_inverse=True)
        maps = np.full((len(updates), *self.picture(run)), np.nan)
        maps[point, row, column] = value
        return Snapshots(updates, maps)

    def rollout(self, run: str, seed: int) -> Rollouts:
        """The greedy rollouts of one seed's skills."""
        rows = _of_seed(self._maps("rollouts", self.rollouts, run), run, seed, self.where)
        skill, step = _numpy(rows["skill"]), _numpy(rows["step"])
        skills, steps = np.unique(skill), np.unique(step)
        order = np.lexsort((step, skill))
        shape = len(skills), len(steps)
        if rows.num_rows != len(skills) * len(steps):
            raise UserError(f"{self.where}, run {run}: rollouts of seed {seed} are incomplete")
        state, row, column, confidence = (
            _numpy(rows[name])[order].reshape(shape) for name in ("state", "row", "column", "confidence")
        )
        return Rollouts(skills, state, np.stack([row, column], -1), confidence[:, 0].astype(float))

    def floor(self, run: str) -> np.ndarray:
        """Where the floor is, bool [row column], with one cell of wall around it; row 0 is the map's first line."""
        cells = []
        for table in (self.states, self.rollouts):
            if table is not None:
                rows = table.filter(pc.field("run") == run)
                cells.append(np.stack([_numpy(rows["row"]), _numpy(rows["column"])], -1))
        floor = np.zeros(self.picture(run), bool)
        row, column = np.concatenate(cells).T
        floor[row, column] = True
        return floor

    def picture(self, run: str) -> tuple[int, int]:
        """Rows and columns of the map."""
        table = self.states if self.states is not None else self._maps("rollouts", self.rollouts, run)
        rows = table.filter(pc.field("run") == run)
        return int(_numpy(rows["row"]).max()) + 2, int(_numpy(rows["column"]).max()) + 2

    def _maps(self, kind: str, table: pa.Table | None, run: str) -> pa.Table:
        self._known(run)
        rows = None if table is None else table.filter(pc.field("run") == run)
        if rows is None or rows.num_rows == 0:
            raise UserError(f"{self.where}, run {run}: {kind}.parquet is missing (a run writes it when it is finished)")
        if rows["row"].null_count or _numpy(rows["row"]).min() < 0:
            raise UserError(f"{self.where}, run {run}: its world has no map to draw (only grid worlds have one)")
        return rows

    def _known(self, run: str) -> None:
        if run not in self.runs:
            raise UserError(f"{self.where}: {nearest('run', run, self.runs)}")


def top_half(final: Float[np.ndarray, "seed"]) -> Int[np.ndarray, "half"]:
    """The better half of the seeds by their final value (the paper's top 10 of 20), best first."""
    return best(final, max(1, len(final) // 2))


def _of_seed(rows: pa.Table, run: str, seed: int, where: str) -> pa.Table:
    found = rows.filter(pc.field("seed") == seed)
    if found.num_rows == 0:
        seeds = ", ".join(map(str, sorted(rows["seed"].unique().to_pylist())))
        raise UserError(f"{where}, run {run}: no seed {seed} (known: {seeds})")
    return found


def _numpy(column: pa.ChunkedArray) -> np.ndarray:
    return column.to_numpy()
