"""What can happen to a run besides kills: damaged checkpoints, full disks, second processes, losses that explode."""

import os
import re
import shutil
import signal
import subprocess

import numpy as np
import pytest
from harness import (
    arrays,
    assert_same_arrays,
    finish,
    kill,
    leftovers,
    measured,
    new_run,
    rows,
    start,
    wait_for,
)

from disdain.training.manifest import read_manifest
from disdain.training.resuming import find_point
from disdain.training.run import Run


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A small run that has ended."""
    folder = tmp_path_factory.mktemp("done") / "run"
    finish(start(*new_run(folder)))
    return folder


@pytest.fixture
def copy(done, tmp_path):
    return shutil.copytree(done, tmp_path / "run")


def newest(folder):
    return max((folder / "checkpoints").iterdir())


def test_any_damage_to_the_newest_checkpoint_leads_to_the_one_before(copy):
    checkpoint, before, chance = newest(copy), arrays(copy, 1600), np.random.default_rng(0)
    for file in [path for path in checkpoint.rglob("*") if path.is_file()]:
        content = file.read_bytes()
        flipped = bytearray(content)
        flipped[chance.integers(len(content))] ^= 1 << int(chance.integers(8))
        for damaged in (bytes(flipped), content[: len(content) // 2], None):
            if damaged is None:
                file.unlink()
            else:
                file.write_bytes(damaged)
            notes: list[str] = []
            assert find_point([Run.open(copy)], notes.append).update == 1600
            assert len(notes) == 1
            assert file.name in notes[0]
            assert checkpoint.name in notes[0]
        file.write_bytes(content)
    assert find_point([Run.open(copy)], print).update == 2000
    assert_same_arrays(before, arrays(copy, 1600))


def test_resumed_from_the_one_before_it_ends_as_before(done, copy):
    large = max((path for path in newest(copy).rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    content = bytearray(large.read_bytes())
    content[len(content) // 2] ^= 1
    large.write_bytes(content)
    _, err = finish(start("--resume", copy, "--quiet"))
    warnings = [line for line in err.splitlines() if "warning" in line]
    assert len(warnings) == 1
    assert "000002000 is damaged" in warnings[0]
    assert "going on from the checkpoint of update 1,600" in warnings[0]
    assert measured(copy) == measured(done)
    assert_same_arrays(arrays(copy, 2000), arrays(done, 2000))
    read_manifest(newest(copy))


def test_without_a_whole_checkpoint_nothing_is_touched(copy):
    for checkpoint in (copy / "checkpoints").iterdir():
        (checkpoint / "manifest.json").write_text("{}")
    before = (copy / "metrics.jsonl").read_bytes()
    _, err = finish(start("--resume", copy), 2)
    assert "no checkpoint is whole" in err
    assert err.count("\n") == 1
    shutil.rmtree(copy / "checkpoints")
    _, err = finish(start("--resume", copy), 2)
    assert "its checkpoints are gone" in err
    assert (copy / "metrics.jsonl").read_bytes() == before


def test_leftovers_of_killed_writers_are_removed(done, copy):
    half = shutil.copytree(newest(copy), copy / "checkpoints" / ".tmp-000002400-99")
    (half / "agent").rename(half / "agent.orbax-checkpoint-tmp")
    (copy / "snapshots" / ".tmp-000002000.npz-99").write_bytes(b"PK")
    (copy / ".tmp-summary.json-99").write_bytes(b"{")
    assert len(leftovers(copy)) > 3
    finish(start("--resume", copy, "--quiet"))
    assert leftovers(copy) == []
    assert measured(copy) == measured(done)


def test_a_torn_row_and_rows_after_the_checkpoint_are_made_again(done, copy):
    shutil.rmtree(newest(copy))
    with open(copy / "metrics.jsonl", "a") as file:
        file.write('{"update": 2200, "fra')
    shutil.copy(copy / "snapshots" / "000002000.npz", copy / "snapshots" / "000002200.npz")
    finish(start("--resume", copy, "--quiet"))
    assert measured(copy) == measured(done)
    assert not (copy / "snapshots" / "000002200.npz").exists()


def test_rows_changed_by_hand_are_not_gone_on_from(copy):
    text = (copy / "metrics.jsonl").read_text()
    (copy / "metrics.jsonl").write_text(text.replace('"update": 400', '"update": 401'))
    _, err = finish(start("--resume", copy, "--updates", 4000), 2)
    assert "metrics.jsonl was changed by hand" in err
    assert newest(copy).name == "000002000"


def test_more_updates_later_are_the_same_as_at_once(copy, tmp_path):
    finish(start(*new_run(tmp_path / "long", updates=3000)))
    finish(start("--resume", copy, "--quiet", "--updates", 3000))
    assert measured(copy) == measured(tmp_path / "long")
    assert_same_arrays(arrays(copy, 3000), arrays(tmp_path / "long", 3000))


def test_a_changed_configuration_is_refused_field_by_field(copy):
    before = (copy / "config.json").read_bytes()
    _, err = finish(start("--resume", copy, "--seeds", 3, "--updates", 1000, "--epsilon", 0.5), 2)
    for part in ("seeds: was 2, now 3", "updates: was 2000, now 1000", "epsilon: was 0.001, now 0.5"):
        assert part in err
    assert err.count("\n") == 1
    assert (copy / "config.json").read_bytes() == before
    (copy / "config.json").write_bytes(before.replace(b'"epsilon": 0.001', b'"epsilon": 0.5'))
    _, err = finish(start("--resume", copy, "--updates", 4000), 2)
    assert "epsilon: was 0.001, now 0.5" in err, "what a checkpoint was trained with cannot be edited"


def test_the_second_process_is_refused(tmp_path):
    folder = tmp_path / "run"
    first = start(*new_run(folder, updates=1_000_000, checkpoint_every=1_000_000))
    try:
        assert wait_for(lambda: rows(folder) > 0, first)
        _, err = finish(start("--resume", folder), 2)
        assert f"in use by process {first.pid}" in err
        assert err.count("\n") == 1
        assert first.poll() is None
    finally:
        kill(first, signal.SIGKILL)
        first.communicate()
    with Run.open(folder).held():
        pass  # the lock died with its owner


def test_a_loss_that_explodes_stops_training_and_the_last_good_checkpoint_stays(tmp_path):
    folder = tmp_path / "run"
    every = {"evaluate_every": 100, "checkpoint_every": 100}
    _, err = finish(start(*new_run(folder, learning_rate=1.6, discount=1.0, trace_decay=1.0, **every)), 1)
    said = re.search(r"seed ([01]): the loss of update ([\d,]+) is not finite", err)
    assert said, err
    assert str(folder) in err
    assert "Traceback" not in err
    update, last = int(said[2].replace(",", "")), rows(folder) * 100
    assert last >= 100, "too early to keep anything"
    assert last < update <= last + 100
    assert int(newest(folder).name) == last
    assert f"the checkpoint of update {last:,} is kept" in err
    read_manifest(newest(folder))
    assert all(np.isfinite(leaf).all() for leaf in arrays(folder, last).values())


def test_a_loss_that_explodes_at_once(tmp_path):
    folder = tmp_path / "run"
    _, err = finish(start(*new_run(folder, learning_rate=1e30)), 1)
    assert "is not finite" in err
    assert "there was no checkpoint yet" in err
    assert rows(folder) == 0
    assert not (folder / "checkpoints").exists()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_said_and_costs_nothing(done, small_disk):
    folder, ballast = small_disk / "run", small_disk / "ballast"
    process = start(*new_run(folder, keep_checkpoints=2, checkpoint_every=200))
    assert wait_for(lambda: rows(folder) > 0, process)
    free = os.statvfs(small_disk)
    ballast.write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - 200_000)))
    _, err = finish(process, 1)
    assert "No space left on device" in err
    assert "what was saved before is intact" in err
    assert f"cannot write {folder}" in err
    assert err.count("\n") == 1, err
    assert leftovers(folder) == []
    kept = list((folder / "checkpoints").iterdir()) if (folder / "checkpoints").exists() else []
    for checkpoint in kept:
        read_manifest(checkpoint)
    _, err = finish(start("--resume", folder, "--quiet"), 1)
    assert "No space left on device" in err
    ballast.unlink()
    finish(start("--resume", folder, "--quiet"))
    assert measured(folder) == measured(done)
    assert_same_arrays(arrays(folder, 2000), arrays(done, 2000))
