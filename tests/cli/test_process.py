"""The command as a process of its own: how fast it starts, what it imports, pipes, signals, exit codes."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from disdain.cli.app import VERBS, main

COMMAND = (sys.executable, "-m", "disdain")


def process(*words, **options):
    options = {"capture_output": True, "text": True, "timeout": 300, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run([*COMMAND, *map(str, words)], check=False, **options)


def test_help_is_there_within_a_second():
    def once():
        begun = time.perf_counter()
        assert "usage: disdain" in process("--help").stdout
        return time.perf_counter() - begun

    assert min(once() for _ in range(3)) <= 1.0


def test_help_of_no_verb_imports_jax():
    code = f"""
import sys
from disdain.cli import main
for verb in {["", *VERBS]!r}:
    assert main([*verb.split(), "--help"]) == 0
assert main(["presets", "four-rooms"]) == 0
assert main(["--version"]) == 0
loaded = [name for name in ("jax", "matplotlib", "orbax", "gymnasium", "pyarrow") if name in sys.modules]
assert not loaded, loaded
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_bad_input_through_a_real_process(tmp_path):
    (tmp_path / "world.txt").write_text("###\n###\n")
    for words, says in (
        (("trian",), "did you mean 'train'?"),
        (("train", "four-roms"), "did you mean 'four-rooms'?"),
        (("train", "four-rooms", "--env", "gym:Taxi-v3"), "did you mean 'Taxi-v4'?"),
        (("train", "four-rooms", "--map", "world.txt"), "has no free cell"),
        (("report", "nowhere"), "no run at 'nowhere'"),
    ):
        done = process(*words, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
        assert done.stderr.startswith("disdain: error: ")
        assert says in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["world.txt"]


def test_a_reader_that_goes_away_gets_no_traceback():
    for words in (("presets", "four-rooms"), ("train", "--help")):
        with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            running.stdout.close()
            assert running.stderr.read() == ""
            assert running.wait() in (0, 141)  # argparse keeps a write that failed to itself


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_output_that_cannot_be_written_is_said_in_one_line():
    with open("/dev/full", "w") as full:
        done = process("presets", "four-rooms", stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


def test_a_terminal_without_greek_letters():
    done = process("presets", "four-rooms", env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (done.returncode, done.stderr) == (0, "")


def test_what_nobody_expected_is_one_line_and_how_to_see_more(monkeypatch, capsys):
    from disdain.cli import presets

    def broken(_):
        raise RuntimeError("the sky\nfell")

    monkeypatch.setattr(presets, "run", broken)
    assert main(["presets"]) == 1
    assert capsys.readouterr().err == "disdain: error: RuntimeError: the sky fell (DISDAIN_TRACEBACK=1 shows where)\n"
    monkeypatch.setenv("DISDAIN_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        main(["presets"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_saves_and_says_how_to_go_on(tmp_path, number):
    words = ("train", "four-rooms-small", "--seeds", "2", "--evaluate-every", "500", "--checkpoint-every", "500000")
    with subprocess.Popen(
        [*COMMAND, *words, "--out", "run", "--json"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        metrics, deadline = tmp_path / "run" / "metrics.jsonl", time.monotonic() + 120
        while not (metrics.exists() and metrics.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        running.send_signal(number)
        out, err = running.communicate(timeout=120)
    assert (running.returncode, out) == (128 + number, "")
    assert "saved" in err
    assert "disdain train --resume run" in err
    assert "Traceback" not in err
    rows = [json.loads(line)["update"] for line in metrics.read_text().splitlines()]
    saved = max(int(path.name) for path in (tmp_path / "run" / "checkpoints").iterdir())
    assert rows[-1] == saved
    done = process("evaluate", "run", "--json", "--rollouts", 0, cwd=tmp_path)
    assert json.loads(done.stdout)["update"] == saved
