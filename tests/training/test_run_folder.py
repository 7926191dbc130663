"""A run folder is what training wrote, or it is refused in one line that says why."""

import io
import json
import os
import pickle
import subprocess
import zipfile

import numpy as np
import pytest
from harness import small_config

from disdain.errors import UserError
from disdain.training.durable import remove_leftovers, write_file
from disdain.training.lock import Lock
from disdain.training.run import Run, check_resume, default_folder, git_state


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", small_config(), preset="four-rooms-small")


def edit(run: Run, change) -> None:
    file = run.path / "config.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def refused(run: Run, *parts: str) -> None:
    with pytest.raises(UserError) as caught:
        Run.open(run.path)
    text = str(caught.value)
    assert "\n" not in text
    assert str(run.path) in text
    for part in parts:
        assert part in text, text


def test_a_run_opens_as_it_was_created(run):
    again = Run.open(run.path)
    assert again.config == run.config == small_config()
    assert again.about == run.about
    assert (again.name, again.about["preset"], list(again.seeds)) == ("run", "four-rooms-small", [0, 1])
    assert {"python", "jax", "numpy", "disdain"} <= set(again.about["versions"])


def test_nothing_is_written_for_what_cannot_be_trained(tmp_path):
    for bad in ({"environment": f"map:{tmp_path}/none"}, {"environment": "gym:FrozenLake-v1", "unroll_length": 300}):
        with pytest.raises(UserError):
            Run.create(tmp_path / "run", small_config(**bad))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_empty_is_left_alone(run, tmp_path):
    with pytest.raises(UserError, match="not empty"):
        Run.create(run.path, small_config())
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="is a file"):
        Run.create(tmp_path / "file", small_config())
    (tmp_path / "empty").mkdir()
    assert Run.create(tmp_path / "empty", small_config()).config == small_config()


def test_folders_of_the_same_second_get_names_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {Run.create(None, small_config(), preset="quick").path.name for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith("four-rooms-small-disdain-quick-20") for name in names)
    assert default_folder(small_config(environment="gym:FrozenLake-v1")).name.startswith("gym-frozenlake-v1-disdain-")


def test_from_nowhere(tmp_path):
    for folder, text in (
        ("none", "is not there"),
        ("file", "not a folder"),
        ("empty", "not a run: it has no config.json"),
    ):
        if folder == "file":
            (tmp_path / folder).touch()
        if folder == "empty":
            (tmp_path / folder).mkdir()
        with pytest.raises(UserError, match=text):
            Run.open(tmp_path / folder)


def test_from_a_newer_version(run):
    edit(run, lambda content: content.update(format=2))
    refused(run, "newer disdain", "format 2")
    for bad in ("1", None, True, 0, -1, 1.5):
        edit(run, lambda content, bad=bad: content.update(format=bad))
        refused(run, "format is")


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("updates", "many", "updates is 'many'"),
        ("updates", -100, "updates is -100"),
        ("updates", 150, "multiple of 100"),
        ("epsilon", 1.5, "epsilon is 1.5"),
        ("epsilon", True, "epsilon is True"),
        ("method", "disdian", "did you mean 'disdain'"),
        ("method", ["disdain"], "config.json"),
        ("learning_rate", {}, "learning_rate"),
        ("learning_rat", 0.5, "did you mean 'learning_rate'"),
        ("unroll_length", None, "unroll_length is None"),
    ],
)
def test_edited_by_hand(run, field, value, says):
    edit(run, lambda content: content["config"].update({field: value}))
    refused(run, "config.json", says)


def test_edited_by_hand_beyond_reading(run):
    file = run.path / "config.json"
    text = file.read_text()
    for broken, says in (
        (text[:-20], "not JSON"),
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1, 2]", "list"),
        ("\0\x80", "not JSON"),
        (text.replace('"config"', '"confg"'), "config is NoneType"),
    ):
        file.write_text(broken)
        refused(run, says)
    file.write_bytes(b"\xff\xfe\x00")
    refused(run, "not JSON")
    file.write_text(text)
    edit(run, lambda content: content["config"].pop("epsilon"))
    refused(run, "field epsilon is missing")


class Bomb:
    """Leaves a mark if anybody unpickles it."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize(
    "name", ["state.pkl", "checkpoints/000000400/agent/q.pickle", "snapshots/000000200.npz", "a.npy"]
)
def test_a_pickle_is_refused_and_never_opened(run, tmp_path, name):
    mark = tmp_path / "exploded"
    file = run.path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    hidden = np.array([Bomb(mark)], dtype=object)
    if name.endswith("npz"):
        np.savez(file, plain=np.zeros(3), hidden=hidden)
    elif name.endswith("npy"):
        np.save(file, hidden)
    else:
        file.write_bytes(pickle.dumps(Bomb(mark)))
    refused(run, "pickle", file.name)
    assert not mark.exists()


def test_a_snapshot_that_is_no_snapshot(run):
    file = run.path / "snapshots" / "000000200.npz"
    file.parent.mkdir()
    for content in (b"", b"PK\x03\x04", b"noise" * 100):
        file.write_bytes(content)
        refused(run, "000000200.npz")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00garbage")
    file.write_bytes(buffer.getvalue())
    refused(run, "000000200.npz")


def test_a_map_travels_with_its_run(tmp_path):
    drawing = tmp_path / "my.map"
    drawing.write_text("#####\n#S  #\n#   #\n#####\n")
    run = Run.create(tmp_path / "run", small_config(environment=f"map:{drawing}"))
    drawing.unlink()
    world, _ = Run.open(run.path).world()
    assert (world.num_states, world.name) == (6, f"map:{drawing}")
    (run.path / "map.txt").unlink()
    with pytest.raises(UserError, match=r"lost its map\.txt"):
        run.world()


def test_going_on_says_every_field_that_differs(run):
    old = run.config
    check_resume(old, old)
    check_resume(old, small_config(updates=4000, evaluate_every=100, checkpoint_every=100, keep_checkpoints=1))
    with pytest.raises(UserError) as caught:
        check_resume(old, small_config(updates=1000, seeds=3, learning_rate=0.1, discriminator_rate=0.5))
    text = str(caught.value)
    assert "updates: was 2000, now 1000" in text
    assert "seeds: was 2, now 3" in text
    assert "learning_rate: was 0.5, now 0.1" in text
    assert "discriminator_rate" not in text
    with pytest.raises(UserError, match=r"method: was disdain, now count.*bonus: was disagreement, now count"):
        run.changed(small_config(method="count"))
    assert Run.open(run.path).config == old
    assert Run.open(run.path).changed(small_config(updates=4000)).config.updates == 4000
    assert Run.open(run.path).config.updates == 4000


def test_one_process_at_a_time(run):
    mine = Lock(run.path)
    mine.acquire()
    with pytest.raises(UserError, match=f"in use by process {os.getpid()}"):
        run.acquire()
    mine.release()
    run.acquire()
    run.acquire()
    with pytest.raises(UserError, match="in use"):
        mine.acquire()
    run.release()
    mine.acquire()
    mine.release()


def test_who_takes_a_run_up_clears_what_killed_writers_left(run):
    half = run.path / "checkpoints" / ".tmp-000000400-123"
    (half / "agent").mkdir(parents=True)
    (half / "agent" / "data").write_bytes(b"half")
    (run.path / ".tmp-config.json-123").write_bytes(b"{")
    with run.held():
        assert not half.exists()
        assert not (run.path / ".tmp-config.json-123").exists()
    assert run.path.joinpath("config.json").exists()


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    file = tmp_path / "file"
    write_file(file, b"old")

    with pytest.raises(TypeError):
        write_file(file, 3)  # type: ignore[arg-type]
    assert file.read_bytes() == b"old"
    write_file(file, b"new")
    assert file.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [file]
    remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == [file]


def test_git_is_asked_but_not_needed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_state() is None
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *words], check=True)
    state = git_state()
    assert state is not None
    assert len(state["commit"]) == 40
    assert state["dirty"] is False
    (tmp_path / "a").touch()
    subprocess.run(["git", "add", "a"], check=True)
    assert git_state() == {**state, "dirty": True}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state() is None
