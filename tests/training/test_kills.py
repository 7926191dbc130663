"""SIGKILL at any moment costs nothing: the resumed run ends with the bits of the undisturbed one."""

import random
import signal
import time

import pytest
from harness import arrays, assert_same_arrays, finish, kill, leftovers, measured, new_run, rows, start, wait_for

from disdain.training.metrics import MetricsLog

LONG = {"updates": 144_000, "evaluate_every": 800, "checkpoint_every": 2400}
IN_A_WRITE, IN_UPDATES, ANY = 6, 12, 4


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A run that nothing happened to."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    finish(start(*new_run(folder, **LONG)))
    return folder


def half_written(folder) -> bool:
    return any((folder / "checkpoints").glob(".tmp-0*"))


def kill_in_a_write(folder, process, chance) -> str:
    """Wait for a checkpoint to be begun, then a little, and kill."""
    if wait_for(lambda: half_written(folder), process):
        time.sleep(chance.uniform(0, 0.03))
    kill(process)
    process.communicate()
    return "write" if half_written(folder) else "updates"


def kill_in_updates(folder, process, chance) -> str:
    """Wait for a few rows, then for a moment at which no checkpoint is being written, and kill."""
    seen, more = rows(folder), chance.randint(1, 4)
    if wait_for(lambda: not seen - 4 <= rows(folder) < seen + more, process):
        time.sleep(chance.uniform(0, 0.02))
        wait_for(lambda: not half_written(folder), process)
    kill(process)
    process.communicate()
    return "write" if half_written(folder) else "updates"


def kill_anywhere(folder, process, chance) -> str:
    """Starting, restoring, compiling, training or ending."""
    time.sleep(chance.uniform(0, 1.5))
    kill(process)
    process.communicate()
    return "anywhere"


def test_killed_and_resumed_it_ends_as_if_undisturbed(undisturbed, tmp_path):
    folder, chance = tmp_path / "run", random.Random(20)
    hits = {"write": 0, "updates": 0, "anywhere": 0}
    ways = [kill_in_a_write] * IN_A_WRITE + [kill_in_updates] * IN_UPDATES + [kill_anywhere] * ANY
    chance.shuffle(ways)
    process = start(*new_run(folder, **LONG))
    assert wait_for(lambda: rows(folder) > 0, process)
    while hits["write"] < IN_A_WRITE - 1 or hits["updates"] < IN_UPDATES - 1 or sum(hits.values()) < 20:
        way = ways.pop() if ways else kill_in_a_write
        moment = way(folder, process, chance)
        assert process.returncode == -signal.SIGKILL, "the run came to its end before enough kills"
        hits[moment] += 1
        process = start("--resume", folder, "--quiet")
    _, err = finish(process)
    assert "warning" not in err, "a kill must not damage a checkpoint"
    assert hits["write"] >= 5
    assert hits["updates"] >= 10

    assert measured(folder) == measured(undisturbed)
    assert_same_arrays(arrays(folder, LONG["updates"]), arrays(undisturbed, LONG["updates"]))
    assert leftovers(folder) == []
    seconds = [row["seconds"] for row in MetricsLog(folder / "metrics.jsonl").rows()]
    assert seconds == sorted(seconds)
    for name in ("states.parquet", "rollouts.parquet"):
        assert (folder / name).read_bytes() == (undisturbed / name).read_bytes()
    listed = [sorted(path.name for path in (one / "checkpoints").iterdir()) for one in (folder, undisturbed)]
    kept = [LONG["updates"] - back * LONG["checkpoint_every"] for back in (2, 1, 0)]
    assert listed[0] == listed[1] == [f"{update:09d}" for update in kept]


def test_asked_to_stop_it_saves_and_says_how_to_go_on(undisturbed, tmp_path):
    folder = tmp_path / "run"
    process = start(*new_run(folder, **LONG))
    for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        before = rows(folder)
        assert wait_for(lambda before=before: rows(folder) > before + 1, process)
        kill(process, number)
        out, err = finish(process, code)
        assert out == ""
        assert f"disdain train --resume {folder}" in err
        assert "Traceback" not in err
        newest = max(int(path.name) for path in (folder / "checkpoints").iterdir())
        assert newest == rows(folder) * LONG["evaluate_every"], "nothing of what was trained is lost"
        assert not (folder / "summary.json").exists()
        process = start("--resume", folder, "--quiet")
    finish(process)
    assert measured(folder) == measured(undisturbed)
    assert_same_arrays(arrays(folder, LONG["updates"]), arrays(undisturbed, LONG["updates"]))


def test_asked_twice_it_stops_at_once(tmp_path):
    folder = tmp_path / "run"
    process = start(*new_run(folder, updates=100_000_000, evaluate_every=100_000_000, checkpoint_every=100_000_000))
    wait_for(lambda: (folder / ".lock").exists(), process)
    time.sleep(3)
    kill(process, signal.SIGINT)
    assert process.stderr is not None
    assert "once more to stop at once" in process.stderr.readline()
    began = time.monotonic()
    kill(process, signal.SIGINT)
    finish(process, 130)
    assert time.monotonic() - began < 5
