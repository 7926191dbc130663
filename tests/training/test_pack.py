"""A run in one archive: everything to go on with, and nothing that could hurt who unpacks it."""

import json
import shutil
import zipfile

import numpy as np
import pytest
from harness import arrays, assert_same_arrays, measured, small_config

from disdain.errors import UserError
from disdain.training.manifest import read_manifest
from disdain.training.pack import pack, unpack
from disdain.training.run import Run
from disdain.training.trainer import train


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """A run that was stopped after 1200 of 2000 updates, past its newest regular checkpoint."""
    run = Run.create(tmp_path_factory.mktemp("half") / "run", small_config())
    stops = iter([False] * 5 + [True])
    assert not train([run], stop=lambda: next(stops), quiet=True)
    return run


@pytest.fixture
def run(half, tmp_path):
    return Run.open(shutil.copytree(half.path, tmp_path / "run"))


def test_what_travels(run, tmp_path):
    archive = pack(run)
    assert archive == tmp_path / "run.zip"
    names = zipfile.ZipFile(archive).namelist()
    assert names == sorted(names)
    assert {name.split("/")[1] for name in names if name.startswith("checkpoints/")} == {"000001200"}
    assert not any("/replay/" in name or name.startswith(".") for name in names)
    assert {"config.json", "metrics.jsonl", "snapshots/000000200.npz"} <= set(names)
    full = pack(run, tmp_path / "full.zip", with_replay=True)
    assert any("/replay/" in name for name in zipfile.ZipFile(full).namelist())
    again = pack(run, tmp_path / "again.zip")
    assert again.read_bytes() == archive.read_bytes(), "the same run makes the same archive"
    with pytest.raises(UserError, match="there already"):
        pack(run)


def test_with_its_replay_it_goes_on_bit_for_bit(run, tmp_path):
    there = unpack(pack(run, with_replay=True), tmp_path / "there")
    assert there.config == run.config
    for one in (run, there):
        train([one], stop=lambda: False, quiet=True)
    assert measured(there.path) == measured(run.path)
    assert_same_arrays(arrays(there.path, 2000), arrays(run.path, 2000))


def test_without_its_replay_the_replay_refills_first_and_says_so(run, tmp_path, capsys):
    there = unpack(pack(run), tmp_path / "there")
    about = read_manifest(there.checkpoints.path(1200))
    assert about["left_out"] == ["replay"]
    before = arrays(run.path, 1200)
    held = before["replay/pushed"]
    assert (held == about["pushed"]).all()
    assert about["pushed"] > run.config.replay_size
    same = arrays(there.path, 1200)
    assert_same_arrays(same, {name: leaf for name, leaf in before.items() if not name.startswith("replay/")})

    train([there], stop=lambda: True, quiet=True)
    said = capsys.readouterr().err
    assert "refilling it with 4,096 unrolls a seed of the policy of update 1,200" in said
    after = arrays(there.path, 1400)
    assert (after["replay/pushed"] == 4096 + 200 * 16).all()
    assert train([there], stop=lambda: False, quiet=True)
    assert "refill" not in capsys.readouterr().err, "once is enough"
    assert measured(there.path)[:6] == measured(run.path)[:6]
    assert there.metrics.rows()[-1]["measures"]["skills_greedy"] > [1.0, 1.0]


def test_a_young_run_refills_what_it_held(tmp_path, capsys):
    run = Run.create(tmp_path / "run", small_config(replay_size=64_000))
    train([run], stop=lambda: True, quiet=True)
    there = unpack(pack(run), tmp_path / "there")
    capsys.readouterr()
    train([there], stop=lambda: True, quiet=True)
    assert "refilling it with 3,200 unrolls" in capsys.readouterr().err
    assert (arrays(there.path, 400)["replay/pushed"] == 6400).all()


def test_an_online_run_needs_no_refill(tmp_path, capsys):
    run = Run.create(tmp_path / "run", small_config(replay="online", updates=800))
    train([run], stop=lambda: True, quiet=True)
    there = unpack(pack(run), tmp_path / "there")
    for one in (run, there):
        assert train([one], stop=lambda: False, quiet=True)
    assert "refill" not in capsys.readouterr().err
    assert_same_arrays(arrays(there.path, 800), arrays(run.path, 800))


def test_a_damaged_checkpoint_does_not_travel(run, tmp_path, capsys):
    file = next(path for path in run.checkpoints.path(1200).rglob("*") if path.is_file())
    file.write_bytes(b"?")
    notes: list[str] = []
    there = unpack(pack(run, note=notes.append), tmp_path / "there")
    assert there.checkpoints.updates() == [800]
    assert len(notes) == 1
    assert len(there.metrics.rows()) == 4, "rows after the checkpoint stay behind with it"


def test_a_run_in_use_is_not_packed(run):
    with Run.open(run.path).held(), pytest.raises(UserError, match="in use"):
        pack(run)


def rebuilt(archive, target, change):
    """A copy of an archive with other members."""
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(target, "w") as to:
        members = {name: source.read(name) for name in source.namelist()}
        change(members)
        for name, content in members.items():
            to.writestr(name, content)
    return target


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("../escaped", "outside"),
        ("/tmp/disdain-escaped", "outside"),
        ("snapshots/../../escaped", "outside"),
        ("C:\\escaped", "outside"),
        ("agent.pkl", "pickle"),
    ],
)
def test_an_archive_cannot_write_elsewhere(run, tmp_path, name, says):
    evil = rebuilt(pack(run), tmp_path / "evil.zip", lambda members: members.update({name: b"x"}))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UserError, match=says):
        unpack(evil, tmp_path / "deep" / "there")
    assert sorted(path for path in tmp_path.iterdir() if path.name != "deep") == before
    assert list((tmp_path / "deep").iterdir()) == []


def test_an_archive_that_is_none(run, tmp_path):
    archive = pack(run)
    whole = archive.read_bytes()
    broken = tmp_path / "broken.zip"
    middle = whole.index(b"metrics.jsonl") + 60
    for content in (b"", b"noise" * 99, whole[:-30], whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]):
        broken.write_bytes(content)
        with pytest.raises(UserError, match=r"broken\.zip"):
            unpack(broken, tmp_path / "there")
        assert not (tmp_path / "there").exists()
    with pytest.raises(UserError, match="not there"):
        unpack(tmp_path / "none.zip", tmp_path / "there")

    def edited(members):
        about = json.loads(members["config.json"])
        about["config"]["epsilon"] = 7
        members["config.json"] = json.dumps(about).encode()

    with pytest.raises(UserError, match=r"epsilon is 7"):
        unpack(rebuilt(archive, tmp_path / "edited.zip", edited), tmp_path / "there")

    def hidden(members):
        np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
        members["snapshots/x.npy"] = (tmp_path / "objects.npy").read_bytes()

    with pytest.raises(UserError, match="pickle"):
        unpack(rebuilt(archive, tmp_path / "hidden.zip", hidden), tmp_path / "there")
    assert not (tmp_path / "there").exists()
    with pytest.raises(UserError, match="not empty"):
        unpack(archive, run.path)
