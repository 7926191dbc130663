"""Final values as a table."""

import json

import numpy as np
import pytest
from synthetic import write_run

from disdain.figures.reading import read_results
from disdain.figures.table import final_table, number


def test_numbers_are_those_of_the_last_evaluation(results):
    table = final_table(results)
    final = results.curves("disdain", "skills_greedy").final
    entry = table.as_json()["disdain"]
    reach = 3.182446 * final.std(ddof=1) / 2
    said = entry["measures"]["skills_greedy"]
    wanted = (final.mean(), final.mean() - reach, final.mean() + reach, final.std(ddof=1), final.min(), final.max())
    np.testing.assert_allclose([said[k] for k in ("mean", "low", "high", "std", "least", "most")], wanted, rtol=1e-5)
    skills = results.curves("disdain", "skills_training").final
    best = np.argsort(-skills)[:2]
    assert said["top_mean"] == pytest.approx(final[best].mean())
    assert (entry["seeds"], entry["updates"], entry["ceiling"]) == (4, 10_000, 97.6)
    json.dumps(table.as_json(), allow_nan=False)


def test_a_few_runs_are_columns_and_many_are_rows(results, tmp_path):
    few = final_table(results, ["skills_greedy"]).as_markdown().splitlines()
    assert few[0] == "|  | count | disdain | ensemble | unbonused |"
    assert few[4].startswith("| effective skills, greedy policy | ")
    for i in range(7):
        write_run(tmp_path / f"run-{i}", "count", seeds=2)
    many = final_table(read_results(tmp_path), ["skills_greedy"]).as_markdown().splitlines()
    assert many[0] == "| run | seeds | updates | effective skills, greedy policy |"
    assert many[2].startswith("| run-0 | 2 | 10,000 | ")
    assert len(many[2].split("|")) == len(many[1].split("|")) == len(many[0].split("|"))


def test_a_lone_seed_has_no_interval(tmp_path):
    write_run(tmp_path / "disdain", "disdain", seeds=1)
    table = final_table(read_results(tmp_path / "disdain"))
    assert table.as_json()["disdain"]["measures"]["skills_greedy"]["low"] is None
    assert "[" not in table.as_markdown().split("Final values")[0]


def test_a_terminal_shows_the_same(results):
    from rich.console import Console

    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    table = final_table(results, ["skills_greedy"])
    console.print(table.as_rich("Four Rooms"))
    text = console.export_text()
    assert table.rows["disdain"]["skills_greedy"].text in text
    assert "97.6" in text


def test_three_figures():
    assert [number(x) for x in (91.234, 1.234, 0.1234, float("nan"))] == ["91.2", "1.23", "0.123", "–"]
