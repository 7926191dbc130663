"""Run folders of the shape that training leaves, with made-up numbers of a realistic size."""

import json
from collections import deque
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MAP = """\
#############
#     #     #
#     #     #
#           #
#     #     #
#     #     #
## ####     #
#     ### ###
#     #     #
#     #     #
#           #
#     #     #
#############""".splitlines()
CELLS = [(r, c) for r, row in enumerate(MAP) for c, mark in enumerate(row) if mark == " "]
CEILING = 97.6
FINAL = {"disdain": 88.0, "count": 90.0, "ensemble": 31.0, "unbonused": 27.0}
MOVES = 19


def paths_from_start() -> dict[int, list[int]]:
    """A shortest path to every cell, as state numbers."""
    number = {cell: i for i, cell in enumerate(CELLS)}
    paths, frontier = {0: [0]}, deque([0])
    while frontier:
        state = frontier.popleft()
        r, c = CELLS[state]
        for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            after = number.get(cell)
            if after is not None and after not in paths:
                paths[after] = [*paths[state], after]
                frontier.append(after)
    return paths


def write_run(
    folder: Path,
    method: str,
    *,
    seeds: int = 4,
    updates: int = 10_000,
    every: int = 500,
    skills: int = 12,
    final: float | None = None,
    offset: int = 0,
    **fields: object,
) -> Path:
    """A finished run: config.json, summary.json and the three tables."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng([seeds, updates, skills, *method.encode(), *folder.name.encode()])
    config = {"method": method, "environment": "four-rooms", "seeds": seeds, "updates": updates, "first_seed": offset}
    config |= {"num_skills": skills, "bonus_weight": 10.0, "ensemble_size": 2, **fields}
    about = {"format": 1, "name": folder.name, "preset": "four-rooms", "config": config}
    (folder / "config.json").write_text(json.dumps(about))
    reach = FINAL[method] if final is None else final
    top = reach * rng.normal(1.0, 0.06, seeds)
    curves = _curves(rng, np.minimum(top, CEILING - 0.5), np.arange(every, updates + 1, every), method)
    columns: dict[str, list[object]] = {key: [] for key in ("run", "method", "environment")}
    columns |= {key: [] for key in ("seed", "update", "frames", "measure", "value")}
    for measure, values in curves.items():
        for seed in range(seeds):
            for i, update in enumerate(range(every, updates + 1, every)):
                row = (folder.name, method, "four-rooms", seed + offset, update, update * 16 * MOVES, measure)
                for column, cell in zip(columns.values(), (*row, float(values[seed, i])), strict=True):
                    column.append(cell)
    pq.write_table(pa.table(columns), folder / "metrics.parquet", compression="zstd")
    points = sorted({max(every, round(p * updates / every) * every) for p in (0.02, 0.1, 0.25, 0.5, 1.0)})
    _maps(folder, rng, seeds, offset, points, skills, reach)
    final_values = {m: {"mean": float(v[:, -1].mean()), "std": float(v[:, -1].std())} for m, v in curves.items()}
    summary = {"method": method, "environment": "four-rooms", "seeds": seeds, "updates": updates, "ceiling": CEILING}
    (folder / "summary.json").write_text(json.dumps({**summary, "measures": final_values, "finished": True}))
    return folder


def _curves(rng: np.random.Generator, top: np.ndarray, updates: np.ndarray, method: str) -> dict[str, np.ndarray]:
    last = updates[-1]
    start = {"disdain": 0.3, "count": 0.25}.get(method, 0.08) * rng.normal(1, 0.1, (len(top), 1))
    rise = 1 / (1 + np.exp(-(updates / last - start) * 14))
    skills = 1 + (top[:, None] - 1) * rise
    gap = 0.25 * np.exp(-4 * updates / last)[None] + 0.03 * rng.random(skills.shape)
    return {
        "skills_training": skills * rng.normal(1, 0.01, skills.shape),
        "skills_training_exact": skills,
        "skills_training_true": skills * np.exp(gap),
        "skills_greedy": skills * 1.02,
        "skills_greedy_true": skills * 1.02 * np.exp(gap),
        "gap_training": gap,
        "gap_greedy": gap,
        "final_states": np.round(skills * 1.1),
        "goals_reached": np.minimum(skills / 90, 1),
        "goals_passed": np.minimum(skills / 80, 1),
        "coverage_lifetime": np.minimum(104, skills * 1.3),
    }


def _maps(
    folder: Path, rng: np.random.Generator, seeds: int, offset: int, points: list[int], skills: int, reach: float
) -> None:
    paths = paths_from_start()
    near = sorted((state for state in paths if len(paths[state]) <= MOVES + 1), key=lambda s: len(paths[s]))
    states, rollouts = [], []
    for seed in range(offset, offset + seeds):
        for update in points:
            share = min(1.0, update / points[-1] * 2) * reach / 97.6
            known = near[: max(1, int(share * len(near)))]
            ends = np.array([known[k] for k in rng.integers(0, len(known), skills)])
            count = np.bincount(ends, minlength=len(CELLS))
            bonus = np.where(count > 0, 0.01, 0.6 * rng.random(len(CELLS))) * (1.1 - share)
            for state, (row, column) in enumerate(CELLS):
                for measure, value in (("final_count", count[state]), ("bonus", bonus[state])):
                    states.append((seed, update, state, row, column, measure, float(value)))
        for skill, end in enumerate(ends):
            path = paths[int(end)] + [int(end)] * (MOVES + 1 - len(paths[int(end)]))
            sure = float(rng.random() ** 0.2)
            rollouts += [(seed, skill, step, state, *CELLS[state], sure) for step, state in enumerate(path)]
    names = ("seed", "update", "state", "row", "column", "measure", "value")
    pq.write_table(pa.table(dict(zip(names, zip(*states, strict=True), strict=True))), folder / "states.parquet")
    names = ("seed", "skill", "step", "state", "row", "column", "confidence")
    pq.write_table(pa.table(dict(zip(names, zip(*rollouts, strict=True), strict=True))), folder / "rollouts.parquet")
