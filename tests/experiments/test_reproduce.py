"""An experiment from its first update to its figures, on the small map."""

import json
import shutil

import pytest

from disdain.errors import UserError
from disdain.experiments.running import default_folder, reproduce
from disdain.figures.compact import export_tables
from disdain.training.progress import Quiet

SMALL = {"quick": True, "preset": "four-rooms-small", "seeds": 2, "updates": 400}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduced")
    return reproduce("four-rooms", out, progress=Quiet(), **SMALL)


def test_runs_figures_and_tables_are_on_disk(made):
    assert sorted(path.name for path in (made.out / "runs").iterdir()) == ["count", "disdain", "ensemble", "unbonused"]
    assert [path.name for path in made.figures] == ["four-rooms.png", "four-rooms.svg"]
    assert all(path.stat().st_size > 10_000 for path in made.figures)
    runs = json.loads((made.out / "table.json").read_text())["runs"]
    assert {(entry["seeds"], entry["updates"]) for entry in runs.values()} == {(2, 400)}
    assert 21.3 < runs["disdain"]["ceiling"] < 21.5
    for entry in runs.values():
        assert 0.0 < entry["measures"]["skills_greedy"]["most"] <= 24.0  # the bound may lie below 1 at first
    assert "effective skills, greedy policy" in (made.out / "table.md").read_text()


def test_a_figure_of_the_same_runs_trains_nothing_again(made):
    files = sorted(path for path in (made.out / "runs").rglob("*") if path.is_file() and path.name != ".lock")
    before = {path: path.stat().st_mtime_ns for path in files}
    said = []
    for name in ("four-rooms-rollouts", "four-rooms-seeds", "four-rooms-gap"):
        more = reproduce(name, made.out, progress=Quiet(), say=said.append, **SMALL)
        assert all(path.is_file() for path in more.figures)
    assert not [line for line in said if line.startswith("training")]
    assert {path: path.stat().st_mtime_ns for path in files} == before
    assert len(json.loads((made.out / "table.json").read_text())["runs"]) == 4


def test_exported_tables_draw_the_same_without_the_runs(made, tmp_path):
    export_tables(made.out, tmp_path / "tables")
    drawn = reproduce("four-rooms", tmp_path, draw_only=True)
    assert [path.name for path in drawn.figures] == ["four-rooms.png", "four-rooms.svg"]
    ours, theirs = (made.table.as_json()[run] for run in ("disdain", "unbonused")), drawn.table.as_json()
    for run, entry in zip(("disdain", "unbonused"), ours, strict=True):
        for measure, values in entry["measures"].items():
            assert theirs[run]["measures"][measure]["mean"] == pytest.approx(values["mean"], rel=1e-5)


def test_a_run_that_lost_its_tables_is_finished_again(made, tmp_path):
    shutil.copytree(made.out, tmp_path / "again")
    run = tmp_path / "again" / "runs" / "count"
    wanted = (run / "metrics.parquet").read_bytes()
    for name in ("metrics.parquet", "summary.json"):
        (run / name).unlink()
    said = []
    reproduce("four-rooms", tmp_path / "again", progress=Quiet(), say=said.append, **SMALL)
    assert said[:2] == ["3 of 4 runs are finished already", "training count (1 of 1)"]
    assert (run / "metrics.parquet").read_bytes() == wanted


def test_other_settings_in_the_same_folder_are_refused(made):
    with pytest.raises(UserError, match="seeds: was 2, now 3"):
        reproduce("four-rooms", made.out, **{**SMALL, "seeds": 3})


def test_drawing_says_which_run_is_missing(made, tmp_path):
    shutil.copytree(made.out / "runs" / "disdain", tmp_path / "runs" / "disdain")
    with pytest.raises(UserError, match="needs the run 'unbonused'"):
        reproduce("four-rooms-rollouts", tmp_path, draw_only=True)
    shutil.copytree(made.out / "runs" / "unbonused", tmp_path / "runs" / "unbonused")
    (tmp_path / "runs" / "unbonused" / "summary.json").unlink()
    with pytest.raises(UserError, match="'unbonused' is not finished"):
        reproduce("four-rooms-rollouts", tmp_path, draw_only=True)
    assert not (tmp_path / "figures").exists()


def test_results_of_different_kinds_do_not_meet():
    folders = [default_folder("four-rooms"), default_folder("four-rooms", quick=True)]
    folders += [default_folder("four-rooms", preset="four-rooms-paper"), default_folder("sweep-four-rooms")]
    assert len(set(folders)) == 4
    assert default_folder("four-rooms-seeds") == default_folder("four-rooms")
