"""What the verbs do, on real runs of a few hundred updates."""

import dataclasses
import json
import shutil

import numpy as np
import pytest
from invoking import command

from disdain.config import Config, help_texts

SMALL = ("--seeds", 2, "--updates", 200, "--evaluate-every", 100, "--checkpoint-every", 100)


def last_row(run):
    return json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])


def test_train_prints_one_json_object_and_progress_elsewhere(here):
    done = command("train", "four-rooms-small", *SMALL, "--out", "run", "--json")
    assert done.code == 0
    assert done.json["run"] == "run"
    assert done.json["finished"] is True
    assert "update 200 of 200" in done.err
    measures = last_row(here / "run")["measures"]
    assert done.json["measures"].keys() == measures.keys()
    for name, values in measures.items():
        assert done.json["measures"][name]["mean"] == pytest.approx(np.mean(values))
        assert done.json["measures"][name]["std"] == pytest.approx(np.std(values, ddof=1))


def test_train_prints_the_folder_and_a_table(here):
    done = command("train", "four-rooms-small", *SMALL, "--method", "count", "--quiet")
    assert (done.code, done.err) == (0, "")
    folder = here / done.out.splitlines()[-1].removeprefix("run: ")
    assert folder.parent == here / "runs"
    about = json.loads((folder / "config.json").read_text())
    assert (about["preset"], about["config"]["method"], about["config"]["bonus_weight"]) == (
        "four-rooms-small",
        "count",
        20.0,
    )
    for name in last_row(folder)["measures"]:
        assert f"  {name} " in done.out


def test_train_on_a_map_says_what_it_leaves_out(here):
    (here / "world.txt").write_text("#######\n#S  # #\n#   ###\n#######\n")
    done = command("train", "four-rooms", *SMALL, "--map", "world.txt", "--num-skills", 4, "--out", "run", "--quiet")
    assert done.code == 0
    assert done.err.count("\n") == 1
    assert "1 " in done.err
    assert "left out" in done.err
    assert "disdain on map:world.txt" in done.out


def test_train_in_a_gymnasium_world(here):
    done = command("train", "four-rooms", *SMALL, "--env", "gym:FrozenLake-v1", "--num-skills", 8, "--json", "--quiet")
    assert done.code == 0
    assert done.json["environment"] == "gym:FrozenLake-v1"
    assert 1.0 <= done.json["measures"]["coverage_lifetime"]["mean"] <= 16.0
    measured = command("evaluate", done.json["run"], "--json", "--rollouts", 20)
    assert measured.code == 0


def test_train_writes_event_files_when_asked(here):
    done = command("train", "four-rooms-small", *SMALL, "--out", "run", "--quiet", "--tensorboard")
    assert done.code == 0
    assert [path.name for path in sorted((here / "run" / "events").iterdir())] == ["seed-0", "seed-1"]


def test_resume_goes_on_and_refuses_another_configuration(copies, refused):
    words = "seeds: was 2, now 3", "epsilon: was 0.001, now 0.5"
    refused("train", "--resume", "a", "--seeds", 3, "--epsilon", 0.5, says=words)
    refused("train", "--resume", "a", "--updates", 300, says="updates: was 600, now 300")
    refused("train", "--resume", "a", "--out", "b", says="not both")
    done = command("train", "--resume", "a", "--updates", 800, "--quiet", "--json")
    assert (done.code, done.json["updates"]) == (0, 800)
    rows = [json.loads(line)["update"] for line in (copies / "a" / "metrics.jsonl").read_text().splitlines()]
    assert rows == [200, 400, 600, 800]


def test_a_packed_run_goes_on_like_the_original(copies):
    packed = command("pack", "a", "--out", "a.zip", "--json")
    assert packed.code == 0
    assert packed.json["bytes"] == (copies / "a.zip").stat().st_size
    (copies / "elsewhere").mkdir()
    shutil.move(copies / "a.zip", copies / "elsewhere" / "carried.zip")
    there = command("train", "--resume", "elsewhere/carried.zip", "--updates", 800, "--quiet", "--json")
    here = command("train", "--resume", "a", "--updates", 800, "--quiet", "--json")
    assert there.json["run"] == "elsewhere/carried"
    assert there.json["measures"] == here.json["measures"]


def test_evaluate_measures_what_training_measured(runs):
    run = runs / "a"
    found = command("evaluate", run, "--json", "--rollouts", 400).json
    row = last_row(run)
    assert (found["update"], found["seeds"]) == (600, [0, 1])
    for name, measure in found["measures"].items():
        np.testing.assert_allclose(measure["values"], row["measures"][name], rtol=1e-5, atol=1e-6, err_msg=name)
        assert measure["mean"] == pytest.approx(np.mean(measure["values"]))
        assert measure["low"] <= measure["mean"] <= measure["high"]
        if name != "final_states":
            reach = 6 * measure["error"] + 0.01 * abs(measure["mean"])  # counts leave a bias in the information
            assert measure["sampled"] == pytest.approx(measure["mean"], abs=reach), name


def test_evaluate_takes_an_earlier_checkpoint(runs, capsys):
    earlier = command("evaluate", runs / "a", "--json", "--checkpoint", 200, "--rollouts", 0).json
    first = json.loads((runs / "a" / "metrics.jsonl").read_text().splitlines()[0])
    assert earlier["update"] == first["update"] == 200
    values = earlier["measures"]["skills_greedy"]
    np.testing.assert_allclose(values["values"], first["measures"]["skills_greedy"], rtol=1e-5)
    assert "sampled" not in values


def test_evaluate_refuses_a_checkpoint_that_is_not_there_or_not_whole(copies, refused):
    refused("evaluate", "a", "--checkpoint", 300, says=("no checkpoint of update 300", "200, 400, 600"))
    victim = max((copies / "a" / "checkpoints" / "000000400" / "agent").rglob("*"), key=lambda p: p.stat().st_size)
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    refused("evaluate", "a", "--checkpoint", 400, says="damaged")
    assert command("evaluate", "a", "--rollouts", 0).code == 0


def test_report_has_the_final_values_and_draws(copies):
    done = command("report", "a", "b", "--json")
    assert done.code == 0
    assert done.json["runs"].keys() == {"a", "b"}
    for name in ("a", "b"):
        values = np.array(last_row(copies / name)["measures"]["final_states"])
        final = done.json["runs"][name]["measures"]["final_states"]
        assert final["mean"] == pytest.approx(values.mean())
        assert (final["least"], final["most"]) == (values.min(), values.max())
        assert (copies / name / "figures" / "learning-curves.png").read_bytes().startswith(b"\x89PNG")
        assert (copies / name / "figures" / "learning-curves.svg").is_file()


def test_report_draws_all_runs_in_one_figure_when_told_where(copies):
    done = command("report", "a", "b", "--out", "both", "--measures", "skills_greedy,goals_reached")
    assert done.code == 0
    assert (copies / "both" / "learning-curves.svg").is_file()
    assert not (copies / "a" / "figures").exists()
    assert done.out.count("skills_greedy") == 2
    assert "final_states" not in done.out


def test_report_of_a_run_that_is_still_going(copies):
    for name in ("metrics.parquet", "states.parquet", "rollouts.parquet", "summary.json"):
        (copies / "a" / name).unlink()
    assert command("report", "a", "--json").json["runs"]["a"]["updates"] == 600


def test_report_and_compare_name_the_nearest_measure(copies, refused):
    refused("report", "a", "--measures", "skills_gredy", says="did you mean 'skills_greedy'?")
    refused("report", "a", "--measures", "", says="unknown measure ''")
    refused("compare", "a", "b", "--measure", "skills_gredy", says="did you mean 'skills_greedy'?")


def test_compare_pairs_the_seeds_that_both_have(copies):
    found = command("compare", "a", "b", "--measure", "final_states", "--json").json
    first, second = (last_row(copies / name)["measures"]["final_states"] for name in ("a", "b"))
    assert found["seeds"] == [1]
    assert found["difference"]["mean"] == second[0] - first[1]
    assert found["difference"]["low"] is None
    assert found["settings"]["method"] == ["disdain", "unbonused"]


def test_compare_gives_an_interval(copies):
    sizes = ("--updates", 600, "--evaluate-every", 200, "--checkpoint-every", 200, "--seeds", 2, "--quiet")
    assert command("train", "four-rooms-small", *sizes, "--method", "count", "--out", "c").code == 0
    found = command("compare", "a", "c", "--measure", "gap_greedy", "--json").json
    first, second = (np.array(last_row(copies / name)["measures"]["gap_greedy"]) for name in ("a", "c"))
    d = second - first
    reach = 12.7062047364 * d.std(ddof=1) / 2**0.5  # Student's t, one degree of freedom
    assert found["difference"]["mean"] == pytest.approx(d.mean())
    assert found["difference"]["low"] == pytest.approx(d.mean() - reach)
    assert found["difference"]["high"] == pytest.approx(d.mean() + reach)
    assert "95 % interval [" in command("compare", "a", "c").out


def test_compare_refuses_runs_without_a_seed_in_common(copies, refused):
    about = json.loads((copies / "b" / "config.json").read_text())
    about["config"]["first_seed"] = 7
    (copies / "b" / "config.json").write_text(json.dumps(about))
    (copies / "b" / "metrics.parquet").unlink()  # the rows that JSON lines have no number for
    refused("compare", "a", "b", says=("seeds 0–1", "seeds 7–8"))
    refused("compare", "a", "a", says="two runs")


def test_every_field_has_a_flag_with_its_help():
    shown = " ".join(command("train", "--help").out.split())
    for field in dataclasses.fields(Config):
        assert "--" + field.name.replace("_", "-") in shown
        assert " ".join(help_texts()[field.name].split()[:3]) in shown


def test_presets_say_every_value_with_its_source():
    found = command("presets", "four-rooms", "--json").json
    assert [*found["fields"]] == [field.name for field in dataclasses.fields(Config)]
    assert found["fields"]["learning_rate"]["value"] == 0.5
    assert found["fields"]["learning_rate"]["deviation"] == "Table 1: 2e-3"
    shown = command("presets", "four-rooms").out
    for field, row in found["fields"].items():
        assert field in shown
        assert row["source"] in shown
        assert row["deviation"] in shown
    assert len(command("presets").out.splitlines()) == 3


def test_demo(here):
    done = command("demo", "--seeds", 2, "--updates", 2000, "--quiet")
    assert done.code == 0
    figure = done.out.splitlines()[-1].removeprefix("figure: ")
    assert (here / figure).read_bytes().startswith(b"\x89PNG")
    assert "disdain" in done.out
    assert "unbonused" in done.out


def test_reproduce_lists_what_is_here():
    found = command("reproduce", "--list", "--json").json["experiments"]
    assert found["four-rooms"] == {"figure": "3", "here": True, "description": found["four-rooms"]["description"]}
    assert found["atari-skills"]["here"] is False
    assert "Figure 20" in command("reproduce", "--list").out
