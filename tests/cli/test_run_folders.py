"""Run folders that are not what training wrote: each verb refuses with one line and leaves them as they are."""

import json
import pickle
import zipfile

import numpy as np
import pytest

VERBS = [("evaluate",), ("report",), ("pack",), ("train", "--resume")]
pytestmark = pytest.mark.parametrize("verb", VERBS, ids=" ".join)


def edit(run, **changes):
    about = json.loads((run / "config.json").read_text())
    about.update({name: value for name, value in changes.items() if name != "config"})
    about["config"].update(changes.get("config", {}))
    (run / "config.json").write_text(json.dumps(about))


def test_from_nowhere(refused, copies, verb):
    refused(*verb, "c", says="no run at 'c'")
    refused(*verb, "x/y", says=("no run at 'x/y'", "no folder 'x'"))
    refused(*verb, "", says="no run at ''")


def test_the_nearest_run_is_named(refused, copies, verb):
    (copies / "a").rename(copies / "disdain-1")
    refused(*verb, "disdian-1", says="did you mean 'disdain-1'?")


def test_anything_but_a_run(refused, here, verb):
    (here / "photos").mkdir()
    (here / "photos" / "cat.jpg").write_bytes(b"\xff\xd8")
    refused(*verb, "photos", says="photos")


def test_a_file(refused, here, verb):
    (here / "notes.txt").write_text("no archive")
    refused(*verb, "notes.txt", says="notes.txt")


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe\x00", pickle.dumps({"format": 1}), b"[" * 100_000])
def test_a_configuration_that_is_none(refused, copies, verb, content):
    (copies / "a" / "config.json").write_bytes(content)
    refused(*verb, "a", says="config.json")


def test_from_a_newer_version(refused, copies, verb):
    edit(copies / "a", format=99)
    refused(*verb, "a", says=("newer", "format 99"))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": "one"}, "format is 'one'"),
        ({"config": {"epsilon": 1.5}}, "epsilon is 1.5"),
        ({"config": {"seeds": 0}}, "seeds is 0"),
        ({"config": {"seeds": "two"}}, "seeds is 'two'"),
        ({"config": {"method": "disdian"}}, "did you mean 'disdain'?"),
        ({"config": {"learning_rat": 1.0}}, "did you mean 'learning_rate'?"),
        ({"config": {"method": ["disdain"]}}, "method"),
        ({"config": {"updates": None}}, "updates is None"),
    ],
    ids=str,
)
def test_edited_by_hand(refused, copies, verb, changes, says):
    edit(copies / "a", **changes)
    refused(*verb, "a", says=says)


def test_edited_by_hand_into_another_configuration(refused, copies, verb):
    if verb == ("report",):
        pytest.skip("a report reads tables alone, and travels without checkpoints")
    edit(copies / "a", config={"epsilon": 0.5})
    refused(*verb, "a", says=("epsilon", "0.001", "0.5"))
    edit(copies / "b", config={"environment": "four-room"})
    refused(*verb, "b", says="four-room")


@pytest.mark.parametrize("name", ["agent.pkl", "checkpoints/000000600/agent.pickle", "snapshots/x.joblib"])
def test_holding_a_pickle(refused, copies, verb, name):
    (copies / "a" / name).write_bytes(pickle.dumps({"boom": 1}))
    refused(*verb, "a", says=("pickle", name.split("/")[-1]))


def test_holding_a_pickle_inside_an_array_file(refused, copies, verb):
    np.save(copies / "a" / "extra.npy", np.array([{"boom": 1}], object), allow_pickle=True)
    refused(*verb, "a", says=("pickle", "extra.npy"))


def test_archives_that_are_none(refused, here, verb):
    with zipfile.ZipFile(here / "run.zip", "w") as archive:
        archive.writestr("../outside.txt", "x")
        archive.writestr("config.json", "{}")
    refused(*verb, "run.zip", says="run.zip")
