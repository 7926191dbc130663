"""Reading what runs left on disk: run folders, folders of runs, and exported tables."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from disdain.errors import UserError
from disdain.figures.tables import Results

METRICS = ("run", "method", "environment", "seed", "update", "frames", "measure", "value")
STATES = ("run", "seed", "update", "state", "row", "column", "measure", "value")
ROLLOUTS = ("run", "seed", "skill", "step", "state", "row", "column", "confidence")
COMPACT = "runs.json"  # stands in a folder of exported tables, where a run has its config.json


def read_results(where: str | Path | Sequence[str | Path]) -> Results:
    """The tables of a run, of a folder of runs, of exported tables, or of several of these.

    Runs are known by their folder's name; by their path where two have the same.
    """
    given = [where] if isinstance(where, str | Path) else list(where)
    parts = [part for path in given for part in _read(Path(path))]
    names = [name for part in parts for name in part.runs]
    parts = [_renamed(part, names) for part in parts]
    return Results(
        where=", ".join(map(str, given)),
        runs={name: about for part in parts for name, about in part.runs.items()},
        metrics=pa.concat_tables([part.metrics for part in parts], promote_options="permissive"),
        states=_concat([part.states for part in parts]),
        rollouts=_concat([part.rollouts for part in parts]),
    )


def _read(path: Path) -> list[Results]:
    if (path / COMPACT).is_file():
        return [_read_compact(path)]
    if (path / "config.json").is_file():
        return [_read_run(path)]
    if (path / "runs").is_dir():
        return _read(path / "runs")
    if (path / "tables" / COMPACT).is_file():
        return [_read_compact(path / "tables")]
    if not path.is_dir():
        raise UserError(f"{path}: no such folder of results")
    runs = sorted(child for child in path.iterdir() if (child / "config.json").is_file())
    if not runs:
        raise UserError(
            f"{path}: neither a run, nor a folder of runs, nor exported tables (no config.json, no {COMPACT})"
        )
    return [_read_run(run) for run in runs]


def _read_run(path: Path) -> Results:
    config = _json(path / "config.json")
    if not isinstance(config.get("config"), dict):
        raise UserError(f"{path / 'config.json'}: it says nothing of the run's configuration")
    summary = _json(path / "summary.json") if (path / "summary.json").is_file() else {}
    if (path / "metrics.parquet").is_file():
        metrics = _parquet(path / "metrics.parquet", METRICS[1:])
    else:
        metrics = _from_lines(path / "metrics.jsonl", config["config"])
    states, rollouts = (
        _parquet(path / f"{kind}.parquet", columns[1:]) if (path / f"{kind}.parquet").is_file() else None
        for kind, columns in (("states", STATES), ("rollouts", ROLLOUTS))
    )
    name = path.resolve().name
    runs = {name: {"path": str(path), "config": config["config"], "summary": summary}}
    return Results(str(path), runs, _named(metrics, name), *(t and _named(t, name) for t in (states, rollouts)))


def _read_compact(path: Path) -> Results:
    runs = _json(path / COMPACT)
    for name, about in runs.items():
        if not isinstance(about, dict) or not {"config", "summary"} <= about.keys():
            raise UserError(f"{path / COMPACT}: run {name!r} has no config and summary")
    runs = {name: {"path": str(path / name), **about} for name, about in runs.items()}
    states, rollouts = (
        _parquet(path / f"{kind}.parquet", columns) if (path / f"{kind}.parquet").is_file() else None
        for kind, columns in (("states", STATES), ("rollouts", ROLLOUTS))
    )
    return Results(str(path), runs, _parquet(path / "metrics.parquet", METRICS), states, rollouts)


def _from_lines(path: Path, config: dict[str, Any]) -> pa.Table:
    """The metrics of a run that is still going: a line for each evaluation; a last line cut short is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        raise UserError(f"{path.parent}: neither metrics.parquet nor metrics.jsonl: nothing was measured yet") from None
    columns: dict[str, list[Any]] = {name: [] for name in ("seed", "update", "frames", "measure", "value")}
    first = int(config.get("first_seed", 0))
    for count, line in enumerate(text.split("\n")[:-1], 1):
        try:
            entry = json.loads(line)
            for measure, values in entry["measures"].items():
                for seed, value in enumerate(values, first):
                    number = float("nan") if value is None else float(value)
                    row = (seed, entry["update"], entry["frames"], measure, number)
                    for column, cell in zip(columns.values(), row, strict=True):
                        column.append(cell)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(f"{path}: line {count} is not a line of metrics") from None
    if not columns["seed"]:
        raise UserError(f"{path.parent}: nothing was measured yet")
    table = pa.table(columns)
    for name in ("environment", "method"):
        table = table.add_column(0, name, pa.array([str(config.get(name))] * table.num_rows))
    return table


def _renamed(part: Results, names: list[str]) -> Results:
    """Runs whose name another one has too are called by their path."""
    twice = [name for name in part.runs if names.count(name) > 1]
    if not twice:
        return part
    new = {name: part.runs[name]["path"] if name in twice else name for name in part.runs}

    def rename(table: pa.Table | None) -> pa.Table | None:
        if table is None:
            return None
        column = pa.array([new[name] for name in table["run"].to_pylist()])
        return table.set_column(table.schema.get_field_index("run"), "run", column)

    metrics = rename(part.metrics)
    assert metrics is not None
    runs = {new[name]: about for name, about in part.runs.items()}
    return Results(part.where, runs, metrics, rename(part.states), rename(part.rollouts))


def _named(table: pa.Table, run: str) -> pa.Table:
    """The table with its run's name, dictionaries written out, so that tables of several runs can be joined."""
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(i, field.name, pc.cast(table[field.name], field.type.value_type))
    if "run" in table.column_names:
        table = table.drop_columns("run")
    return table.add_column(0, "run", pa.array([run] * table.num_rows, pa.string()))


def _parquet(path: Path, columns: Sequence[str]) -> pa.Table:
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise UserError(f"{path} is missing") from None
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    missing = [name for name in columns if name not in table.column_names]
    if missing:
        raise UserError(f"{path} has no column {missing[0]!r} (its columns: {', '.join(table.column_names)})")
    if table.num_rows == 0:
        raise UserError(f"{path} is empty")
    return table


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: a JSON object is expected")
    return content


def _concat(tables: Sequence[pa.Table | None]) -> pa.Table | None:
    present = [table for table in tables if table is not None]
    return pa.concat_tables(present, promote_options="permissive") if present else None
