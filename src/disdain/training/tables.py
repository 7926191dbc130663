"""What a run leaves behind when it ends: tidy tables (a row for each value) and a summary."""

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from disdain.envs import Finite
from disdain.evaluation import statistics
from disdain.training.durable import write_file
from disdain.training.metrics import Row
from disdain.training.run import Run

TABLES = ("metrics.parquet", "states.parquet", "rollouts.parquet", "summary.json")


def write_tables(run: Run, world: Finite, ceiling: float, *, finished: bool) -> None:
    """All of them, from the metrics and snapshots on disk."""
    rows = run.metrics.rows()
    if not rows:
        return
    _write_parquet(run, "metrics.parquet", metrics_table(run, rows))
    taken = run.snapshots.updates()
    if world.position is not None and taken:
        _write_parquet(run, "states.parquet", pa.concat_tables(states_table(run, world, update) for update in taken))
        _write_parquet(run, "rollouts.parquet", rollouts_table(run, world, taken[-1]))
    content = json.dumps(summary(run, rows[-1], ceiling, finished=finished), indent=2) + "\n"
    write_file(run.path / "summary.json", content.encode())


def remove_tables(run: Run) -> None:
    """A run that goes on has not ended: what it left behind is no longer true."""
    for name in TABLES:
        (run.path / name).unlink(missing_ok=True)


def summary(run: Run, row: Row, ceiling: float, *, finished: bool) -> dict[str, Any]:
    """The last evaluation: mean and standard deviation over seeds, and the 95 % interval of the mean."""
    return {
        "name": run.name,
        "method": run.config.method,
        "environment": run.config.environment,
        "seeds": run.config.seeds,
        "updates": row["update"],
        "ceiling": ceiling,
        "measures": {name: statistics.summary(np.asarray(values, float)) for name, values in row["measures"].items()},
        "seconds": row["seconds"],
        "finished": finished,
    }


def metrics_table(run: Run, rows: list[Row]) -> pa.Table:
    """run, method, environment, seed, update, frames, measure, value."""
    entries = [
        (seed, row["update"], row["frames"], measure, value)
        for row in rows
        for measure, values in row["measures"].items()
        for seed, value in zip(run.seeds, values, strict=True)
    ]
    seed, update, frames, measure, value = zip(*entries, strict=True)
    same = {"run": run.name, "method": run.config.method, "environment": run.config.environment}
    return pa.table(
        {
            **{name: pa.array([text] * len(entries)) for name, text in same.items()},
            "seed": pa.array(seed, pa.int32()),
            "update": pa.array(update, pa.int64()),
            "frames": pa.array(frames, pa.int64()),
            "measure": pa.array(measure),
            "value": pa.array(value, pa.float64()),
        }
    )


def states_table(run: Run, world: Finite, update: int) -> pa.Table:
    """For each state at one point of training: how many skills end there, and its bonus."""
    arrays = run.snapshots.load(update)
    ends = np.asarray(arrays["final_state"], int)
    count = np.stack([np.bincount(of_seed, minlength=world.num_states) for of_seed in ends]).astype(np.float32)
    values = np.stack([count, np.asarray(arrays["bonus"], np.float32)], axis=1)  # [seed, measure, state]
    seeds, measures, states = np.indices(values.shape)
    return pa.table(
        {
            "seed": pa.array(np.asarray(run.seeds)[seeds.ravel()], pa.int32()),
            "update": pa.array(np.full(values.size, update), pa.int64()),
            **_states(world, states.ravel()),
            "measure": pa.array(np.array(["final_count", "bonus"])[measures.ravel()]),
            "value": pa.array(values.ravel()),
        }
    )


def rollouts_table(run: Run, world: Finite, update: int) -> pa.Table:
    """The greedy trajectory of every skill, and how sure the discriminators are of its end."""
    arrays = run.snapshots.load(update)
    path = np.asarray(arrays["path"], int)
    seeds, skills, steps = (index.ravel() for index in np.indices(path.shape))
    return pa.table(
        {
            "seed": pa.array(np.asarray(run.seeds)[seeds], pa.int32()),
            "skill": pa.array(skills, pa.int32()),
            "step": pa.array(steps, pa.int32()),
            **_states(world, path.ravel()),
            "confidence": pa.array(np.asarray(arrays["confidence"], np.float32)[seeds, skills]),
        }
    )


def _states(world: Finite, state: np.ndarray) -> dict[str, pa.Array]:
    assert world.position is not None
    row, column = world.position[state].T
    return {name: pa.array(values, pa.int32()) for name, values in (("state", state), ("row", row), ("column", column))}


def _write_parquet(run: Run, name: str, table: pa.Table) -> None:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    write_file(run.path / name, buffer.getvalue())
