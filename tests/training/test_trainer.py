"""Runs side by side, what they leave behind, and what is said meanwhile."""

import dataclasses
import io
import json
import math
import sys

import jax
import numpy as np
import pyarrow.parquet as pq
import pytest
from harness import arrays, assert_same_arrays, measured, small_config

from disdain.errors import UserError
from disdain.training.metrics import MetricsLog, make_row
from disdain.training.progress import Bar, Lines, Quiet, make_progress
from disdain.training.run import Run
from disdain.training.snapshots import snapshot_points
from disdain.training.trainer import same_program, side_by_side, train

WHOLE = lambda: False  # noqa: E731


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """DISDAIN and the ensemble alone, trained side by side, with different numbers of seeds."""
    folder = tmp_path_factory.mktemp("pair")
    runs = [
        Run.create(folder / "disdain", small_config(seeds=9, first_seed=5)),
        Run.create(folder / "ensemble", small_config(method="ensemble")),
    ]
    assert train(runs, stop=WHOLE, quiet=True)
    return runs


def test_a_run_is_not_touched_by_its_company(pair, tmp_path):
    run = pair[0]  # its 9 lanes make the same program as the 11 of both
    alone = Run.create(tmp_path / run.name, run.config)
    train([alone], stop=WHOLE, quiet=True)
    assert measured(alone.path) == measured(run.path)
    assert_same_arrays(arrays(alone.path, 2000), arrays(run.path, 2000))


def test_it_is_said_where_the_last_bits_may_change(tmp_path, capsys, monkeypatch):
    runs = [Run.create(tmp_path / name, small_config(seeds=seeds)) for name, seeds in (("one", 2), ("two", 5))]
    train(runs, stop=lambda: True, quiet=True)
    capsys.readouterr()
    train(runs[1:], stop=lambda: True, quiet=True)  # fewer lanes at a time do not change a bit
    assert "last bits" not in capsys.readouterr().err
    monkeypatch.setattr(jax, "__version__", "0.0.1")
    train(runs[:1], stop=lambda: True, quiet=True)
    assert ", now 0.0.1" in capsys.readouterr().err


def test_who_can_share_a_program():
    base = small_config()
    for other in ({"seeds": 7}, {"first_seed": 9}, {"method": "ensemble"}, {"learning_rate": 0.1}, {"epsilon": 0.5}):
        assert same_program([base, small_config(**other)]), other
    for other in ({"method": "count"}, {"method": "unbonused"}, {"updates": 4000}, {"num_skills": 9}, {"slip": 0.1}):
        assert not same_program([base, small_config(**other)]), other


def test_runs_are_grouped_by_program_in_order(tmp_path):
    runs = [
        Run.create(tmp_path / method, small_config(method=method))
        for method in ("count", "disdain", "unbonused", "ensemble")
    ]
    assert [[run.name for run in group] for group in side_by_side(runs)] == [
        ["count"], ["disdain", "ensemble"], ["unbonused"]
    ]  # fmt: skip
    with pytest.raises(UserError, match="share a program"):
        train(runs, stop=WHOLE)
    with pytest.raises(UserError, match="share a program"):
        train([], stop=WHOLE)


def test_a_pair_killed_between_its_checkpoints_goes_on_together(pair, tmp_path):
    runs = [Run.create(tmp_path / run.name, run.config) for run in pair]
    stops = iter([False] * 2 + [True])
    train(runs, stop=lambda: next(stops), quiet=True)
    runs[1].checkpoints.discard_after(400)
    assert [run.checkpoints.updates() for run in runs] == [[400, 600], [400]]
    train(runs, stop=WHOLE, quiet=True)
    for run, whole in zip(runs, pair, strict=True):
        assert measured(run.path) == measured(whole.path)
        assert_same_arrays(arrays(run.path, 2000), arrays(whole.path, 2000))


def test_runs_that_stand_apart_are_not_thrown_back(pair, tmp_path):
    fresh = Run.create(tmp_path / "fresh", small_config())
    with pytest.raises(UserError, match="resume each by itself"):
        train([pair[0], fresh], stop=WHOLE, quiet=True)
    assert pair[0].checkpoints.updates() == [1200, 1600, 2000]


def test_tables_are_tidy(pair):
    run = pair[0]
    metrics = pq.read_table(run.path / "metrics.parquet")
    assert metrics.column_names == ["run", "method", "environment", "seed", "update", "frames", "measure", "value"]
    rows = run.metrics.rows()
    assert len(rows) == 10
    measures = set(rows[0]["measures"])
    assert "healthy" not in measures
    assert metrics.num_rows == 10 * 9 * len(measures)
    for entry in metrics.to_pylist()[:: len(measures) + 1]:
        row = rows[entry["update"] // 200 - 1]
        assert row["measures"][entry["measure"]][entry["seed"] - 5] == entry["value"]
        assert entry["frames"] == entry["update"] * 16 * 8
        assert (entry["run"], entry["method"]) == ("disdain", "disdain")


def test_maps_and_rollouts_agree(pair):
    run = pair[0]
    states = pq.read_table(run.path / "states.parquet")
    assert states.column_names == ["seed", "update", "state", "row", "column", "measure", "value"]
    assert sorted(set(states["update"].to_pylist())) == snapshot_points(run.config) == [200, 400, 1000, 2000]
    table = states.to_pylist()
    assert len(table) == 4 * 9 * 2 * 24
    count = {
        (e["seed"], e["state"]): e["value"] for e in table if e["measure"] == "final_count" and e["update"] == 2000
    }
    assert all(sum(count[seed, state] for state in range(24)) == 8 for seed in run.seeds)
    rollouts = pq.read_table(run.path / "rollouts.parquet").to_pylist()
    assert len(rollouts) == 9 * 8 * 9
    ends: dict[tuple[int, int], int] = {}
    for entry in rollouts:
        if entry["step"] == 8:
            ends[entry["seed"], entry["state"]] = ends.get((entry["seed"], entry["state"]), 0) + 1
        assert 0 <= entry["confidence"] <= 1
    assert ends == {key: value for key, value in count.items() if value}
    world, _ = run.world()
    assert all(world.position[e["state"]].tolist() == [e["row"], e["column"]] for e in rollouts + table)


def test_a_summary_is_of_the_last_evaluation(pair):
    run = pair[0]
    summary = json.loads((run.path / "summary.json").read_text())
    values = run.metrics.rows()[-1]["measures"]["skills_greedy"]
    spread = summary["measures"]["skills_greedy"]
    assert (summary["updates"], summary["seeds"], summary["finished"]) == (2000, 9, True)
    assert spread["mean"] == pytest.approx(np.mean(values))
    assert spread["std"] == pytest.approx(np.std(values, ddof=1))
    assert spread["high"] - spread["mean"] == pytest.approx(2.3060041 * spread["std"] / math.sqrt(9))
    assert summary["ceiling"] == pytest.approx(8)


def test_a_run_that_ended_is_not_trained_again(pair):
    before = {path: path.read_bytes() for path in pair[0].path.rglob("*") if path.is_file() and path.name != ".lock"}
    assert train([Run.open(pair[0].path)], stop=WHOLE, quiet=True)
    assert before == {path: path.read_bytes() for path in before}


def test_points_of_training_that_are_kept():
    config = small_config()
    assert snapshot_points(dataclasses.replace(config, updates=100_000, evaluate_every=2000)) == [
        2000, 10_000, 24_000, 50_000, 100_000
    ]  # fmt: skip
    assert snapshot_points(dataclasses.replace(config, updates=100, evaluate_every=200)) == [100]
    assert snapshot_points(dataclasses.replace(config, updates=500, evaluate_every=200)) == [200, 500]


def test_numbers_of_metrics_read_back_as_they_were(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl")
    values = np.array([1 / 3, 1e-42, -0.0, np.nan, np.inf, 3.4e38], np.float32)
    log.append(make_row(100, 12_800, 1.23456, {"x": values, "n": np.arange(6)}))
    mark = log.mark()
    log.append(make_row(200, 25_600, 2.0, {"x": values, "n": np.arange(6)}))
    with open(log.path, "a") as file:
        file.write('{"torn')
    read = log.rows()
    assert [row["update"] for row in read] == [100, 200]
    kept = np.where(np.isfinite(values), values, np.nan).astype(np.float32)
    assert np.array(read[0]["measures"]["x"], np.float32).tobytes() == kept.tobytes()
    log.cut(mark)
    assert [row["update"] for row in log.rows()] == [100]
    assert log.mark() == mark


def test_tensorboard_has_every_row_once(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = Run.create(tmp_path / "run", small_config())
    for stop_after in (3, 2, 99):
        stops = iter([False] * (stop_after - 1) + [True] + [False] * 99)
        train([run], stop=lambda stops=stops: next(stops), quiet=True, tensorboard=stop_after == 3)
        if stop_after == 2:  # back to an older checkpoint: what came after must go from the event files too
            run.checkpoints.discard_after(800)
    assert sorted(path.name for path in (run.path / "events").iterdir()) == ["seed-0", "seed-1"]
    rows = run.metrics.rows()
    for index, seed in enumerate(run.seeds):
        events = EventAccumulator(str(run.path / "events" / f"seed-{seed}"), size_guidance={"scalars": 0})
        events.Reload()
        assert set(events.Tags()["scalars"]) == set(rows[0]["measures"])
        for measure in ("skills_greedy", "loss_discriminator"):
            scalars = events.Scalars(measure)
            assert [(s.step, np.float32(s.value)) for s in scalars] == [
                (row["update"], np.float32(row["measures"][measure][index])) for row in rows
            ]


def test_plain_lines_without_a_terminal(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("disdain.training.progress.time.monotonic", lambda: now[0])
    lines = make_progress()
    assert isinstance(lines, Lines)
    lines.start(1000, 11_000)
    for done in range(2000, 12_000, 1000):
        now[0] += 4.0
        lines.update(done, {"disdain": 61.34, "count": 2.0})
    lines.close()
    out, err = capsys.readouterr()
    assert out == ""
    said = err.splitlines()
    assert said[0] == "update 4,000 of 11,000 · 250 updates/s · 28 s left · skills: disdain 61.3, count 2.0"
    assert len(said) == 4
    assert said[-1].startswith("update 11,000 of 11,000")


def test_quiet_says_only_what_matters(capsys):
    quiet = make_progress(quiet=True)
    quiet.start(0, 100)
    quiet.update(100, {"disdain": 1.0})
    quiet.note("the replay refills")
    quiet.close()
    assert capsys.readouterr() == ("", "disdain: the replay refills\n")
    assert isinstance(quiet, Quiet)


def test_a_live_bar_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setenv("TERM", "xterm")
    bar = make_progress()
    assert isinstance(bar, Bar)
    bar.start(0, 1000)
    bar.update(500, {"disdain": 61.34})
    bar.note("something to know")
    bar.update(1000, {"disdain": 88.0})
    bar.close()
    shown = terminal.getvalue()
    for part in ("1000/1000", "skills: 88.0", "something to know"):
        assert part in shown, shown


def test_a_world_without_a_picture_has_no_maps(tmp_path):
    run = Run.create(tmp_path / "run", small_config(environment="gym:FrozenLake-v1", updates=200, evaluate_every=100))
    train([run], stop=WHOLE, quiet=True)
    assert not (run.path / "states.parquet").exists()
    assert json.loads((run.path / "summary.json").read_text())["finished"] is True
