"""Result tables come back from disk as they were, and what is missing is said."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from synthetic import CELLS, MAP, write_run

from disdain.errors import UserError
from disdain.figures.compact import export_tables
from disdain.figures.reading import read_results
from disdain.figures.tables import top_half


def test_a_folder_of_runs_holds_every_value_where_it_belongs(folder, results):
    assert sorted(results.runs) == ["count", "disdain", "ensemble", "unbonused"]
    raw = pq.read_table(folder / "runs" / "count" / "metrics.parquet").to_pylist()
    curves = results.curves("count", "skills_greedy")
    assert curves.values.shape == (4, 20)
    for row in raw:
        if row["measure"] == "skills_greedy":
            at = list(curves.seeds).index(row["seed"]), list(curves.updates).index(row["update"])
            assert curves.values[at] == row["value"]
            assert curves.frames[at[1]] == row["frames"]
    assert results.ceiling("count") == 97.6
    assert results.method("count") == "count"


def test_rows_may_stand_in_any_order(folder, results, tmp_path):
    shutil.copytree(folder / "runs" / "disdain", tmp_path / "disdain")
    path = tmp_path / "disdain" / "metrics.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take(np.random.default_rng(0).permutation(table.num_rows)), path)
    shuffled = read_results(tmp_path / "disdain")
    np.testing.assert_array_equal(
        shuffled.curves("disdain", "gap_greedy").values, results.curves("disdain", "gap_greedy").values
    )


def test_maps_have_walls_where_the_map_has_them_and_its_first_line_on_top(results):
    wall = np.array([[mark == "#" for mark in row] for row in MAP])
    maps = results.snapshots("disdain", 2, "final_count").maps
    assert maps.shape == (5, 13, 13)
    np.testing.assert_array_equal(np.isnan(maps), np.broadcast_to(wall, maps.shape))
    np.testing.assert_array_equal(results.floor("disdain"), ~wall)
    assert np.nansum(maps, axis=(1, 2)).tolist() == [12] * 5


def test_rollouts_are_paths_that_end_where_the_last_snapshot_counts(results):
    rollouts = results.rollout("disdain", 1)
    counts = np.zeros(len(CELLS))
    for path, states in zip(rollouts.cells, rollouts.states, strict=True):
        assert [CELLS[state] for state in states] == [tuple(cell) for cell in path]
        assert np.abs(np.diff(path, axis=0)).sum(1).max() <= 1
        counts[states[-1]] += 1
    last = results.snapshots("disdain", 1, "final_count").maps[-1]
    np.testing.assert_array_equal([last[cell] for cell in CELLS], counts)


def test_a_run_that_is_still_going_is_read_from_its_lines(tmp_path):
    write_run(tmp_path / "run", "disdain", offset=7)
    (tmp_path / "run" / "metrics.parquet").unlink()
    lines = [
        {"update": u, "frames": 10 * u, "seconds": 1.0, "measures": {"skills_greedy": [u / 100, None, 3.0, 4.0]}}
        for u in (100, 200)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines) + '{"update": 300, "fra'
    (tmp_path / "run" / "metrics.jsonl").write_text(text)
    curves = read_results(tmp_path / "run").curves("run", "skills_greedy")
    assert curves.seeds.tolist() == [7, 8, 9, 10]
    assert curves.updates.tolist() == [100, 200]
    assert curves.frames.tolist() == [1000, 2000]
    np.testing.assert_array_equal(curves.values, [[1, 2], [np.nan] * 2, [3, 3], [4, 4]])


def test_exported_tables_hold_the_same(folder, results, tmp_path):
    paths = export_tables(folder, tmp_path / "tables")
    assert sum(path.stat().st_size for path in paths) < 100_000
    for where in (tmp_path, tmp_path / "tables"):
        compact = read_results(where)
        assert compact.runs.keys() == results.runs.keys()
        for run in results.runs:
            assert compact.config(run) == results.config(run)
            assert compact.summary(run) == results.summary(run)
            for measure in results.measures(run):
                np.testing.assert_allclose(
                    compact.curves(run, measure).values, results.curves(run, measure).values, rtol=1e-6
                )
            for measure in ("final_count", "bonus"):
                ours, theirs = (r.snapshots(run, 3, measure) for r in (compact, results))
                np.testing.assert_allclose(ours.maps, theirs.maps, rtol=1e-6)
                np.testing.assert_array_equal(ours.updates, theirs.updates)
            np.testing.assert_array_equal(compact.rollout(run, 0).cells, results.rollout(run, 0).cells)


def test_exported_tables_can_be_exported_again_without_a_change(folder, tmp_path):
    first = export_tables(folder, tmp_path / "a")
    second = export_tables(tmp_path / "a", tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_thinned_tables_keep_the_last_evaluation(folder, results, tmp_path):
    export_tables(folder, tmp_path, points=4)
    thin, full = (r.curves("count", "skills_training") for r in (read_results(tmp_path), results))
    assert len(thin.updates) == 4
    kept = np.isin(full.updates, thin.updates)
    assert kept[-1]
    np.testing.assert_allclose(thin.values, full.values[:, kept], rtol=1e-6)


def test_runs_with_the_same_name_are_told_apart_by_their_path(tmp_path):
    for place in ("one", "two"):
        write_run(tmp_path / place / "disdain", "disdain", seeds=2 if place == "one" else 3)
    both = read_results([tmp_path / "one", tmp_path / "two" / "disdain"])
    first, second = both.runs
    assert (len(both.curves(first, "skills_greedy").seeds), len(both.curves(second, "skills_greedy").seeds)) == (2, 3)
    assert len(both.rollout(second, 2).skills) == 12


def test_only_some_runs(results):
    part = results.only(["count"])
    assert list(part.runs) == ["count"]
    assert set(part.metrics["run"].to_pylist()) == {"count"}
    with pytest.raises(UserError, match="unknown run 'disdain'"):
        part.curves("disdain", "skills_greedy")


def test_the_better_half_is_sorted_and_never_empty():
    assert top_half(np.array([1.0, 5.0, 3.0, 4.0])).tolist() == [1, 3]
    assert top_half(np.array([1.0])).tolist() == [0]
    assert top_half(np.array([1.0, np.nan, 2.0, 0.0])).tolist() == [2, 0]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda run: (run / "config.json").unlink(), "neither a run, nor a folder of runs"),
        (lambda run: (run / "config.json").write_text("{"), "is not JSON"),
        (lambda run: (run / "config.json").write_text("{}"), "says nothing of the run's configuration"),
        (lambda run: (run / "metrics.parquet").write_bytes(b"PAR1 nonsense"), "metrics.parquet cannot be read"),
        (lambda run: (run / "metrics.parquet").unlink(), "nothing was measured yet"),
        (lambda run: _only_lines(run, "{}\n"), "line 1 is not a line of metrics"),
        (lambda run: _only_lines(run, ""), "nothing was measured yet"),
        (lambda run: _drop_column(run / "metrics.parquet", "seed"), "has no column 'seed'"),
        (lambda run: _drop_row(run / "metrics.parquet"), "rows are missing or doubled"),
        (lambda run: (run / "states.parquet").unlink(), "states.parquet is missing"),
        (lambda run: (run / "rollouts.parquet").unlink(), "rollouts.parquet is missing"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, spoil, says):
    run = write_run(tmp_path / "disdain", "disdain", seeds=2)
    spoil(run)
    with pytest.raises(UserError, match=says) as error:
        _read_everything(run)
    assert "\n" not in str(error.value)


def test_the_nearest_measure_seed_and_run_are_named(results, tmp_path):
    with pytest.raises(UserError, match="did you mean 'skills_greedy'"):
        results.curves("disdain", "skils_greedy")
    with pytest.raises(UserError, match=r"no seed 9 \(known: 0, 1, 2, 3\)"):
        results.snapshots("disdain", 9, "bonus")
    with pytest.raises(UserError, match="did you mean 'disdain'"):
        results.rollout("disdian", 0)
    with pytest.raises(UserError, match="no such folder"):
        read_results(tmp_path / "nowhere")


def _read_everything(run):
    results = read_results(run)
    for measure in results.measures("disdain"):
        results.curves("disdain", measure)
    results.snapshots("disdain", 0, "bonus")
    results.rollout("disdain", 0)


def _only_lines(run, text):
    (run / "metrics.parquet").unlink()
    (run / "metrics.jsonl").write_text(text)


def _drop_column(path, name):
    pq.write_table(pq.read_table(path).drop_columns(name), path)


def _drop_row(path):
    table = pq.read_table(path)
    pq.write_table(table.slice(0, table.num_rows - 1), path)
