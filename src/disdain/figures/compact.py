"""Small tables to commit: the results of many runs in three compressed files, enough to draw every figure from."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from disdain.figures.reading import COMPACT, METRICS, ROLLOUTS, STATES, read_results
from disdain.figures.tables import Results

POINTS = 100  # evaluations of each run that are kept, the last one always among them
_TYPES = {
    "value": pa.float32(), "confidence": pa.float32(), "frames": pa.int64(), "update": pa.int32(), "seed": pa.int16(),
    "state": pa.int32(), "skill": pa.int16(), "step": pa.int16(), "row": pa.int16(), "column": pa.int16(),
}  # fmt: skip


def export_tables(out: Path, to: Path, points: int = POINTS) -> list[Path]:
    """Write the tables of every run in a results folder, thinned to `points` evaluations, in single precision.

    `read_results` reads them as it reads the folder; `out` may hold the same runs as exported tables already.
    """
    results = read_results(out)
    to.mkdir(parents=True, exist_ok=True)
    about = {
        run: {key: value for key, value in content.items() if key != "path"} for run, content in results.runs.items()
    }
    paths = [to / COMPACT]
    paths[0].write_text(json.dumps(about, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    tables = (
        ("metrics", _thinned(results, points), METRICS, ("run", "measure", "seed", "update")),
        ("states", results.states, STATES, ("run", "measure", "seed", "update", "state")),
        ("rollouts", results.rollouts, ROLLOUTS, ("run", "seed", "skill", "step")),
    )
    for kind, table, columns, order in tables:
        if table is None:
            continue
        table = table.select(columns).sort_by([(name, "ascending") for name in order])
        types = [_TYPES.get(name, table.schema.field(name).type) for name in columns]
        paths.append(to / f"{kind}.parquet")
        repeated: Any = [name for name in columns if name not in ("value", "frames")]
        pq.write_table(
            table.cast(pa.schema(list(zip(columns, types, strict=True)))),
            paths[-1],
            compression="zstd",
            compression_level=19,
            use_dictionary=repeated,
        )
    return paths


def _thinned(results: Results, points: int) -> pa.Table:
    parts = []
    for run in results.runs:
        rows = results.metrics.filter(pc.field("run") == run)
        updates = np.unique(rows["update"].to_numpy())
        if len(updates) > points:
            kept = updates[np.unique(np.linspace(len(updates) - 1, 0, points).round().astype(int))]
            rows = rows.filter(pc.field("update").isin(kept.tolist()))
        parts.append(rows)
    return pa.concat_tables(parts)
