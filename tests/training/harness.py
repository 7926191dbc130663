"""Real runs for the tests of training on disk: small, and compiled once for all processes."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from disdain.config import Config

SRC = Path(__file__).parents[2] / "src"
SMALL = {
    "environment": "four-rooms-small",
    "seeds": 2,
    "num_skills": 8,
    "unroll_length": 9,
    "replay": "device",
    "replay_size": 4096,
    "updates": 2000,
    "evaluate_every": 200,
    "checkpoint_every": 400,
}


def small_config(**chosen) -> Config:
    return Config(**{**SMALL, **chosen}).validated()


def flags(**chosen) -> list[str]:
    return [word for name, value in chosen.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def start(*words: object, **options) -> subprocess.Popen:
    """`disdain train ...` as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SRC), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "disdain", "train", *map(str, words)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options
    )


def new_run(folder: Path, *extra: object, **chosen) -> list[object]:
    """The words after `disdain train` for a small run in that folder."""
    return ["four-rooms-small", "--out", folder, "--quiet", *flags(**{**SMALL, **chosen}), *extra]


def finish(process: subprocess.Popen, code: int = 0, seconds: float = 120) -> tuple[str, str]:
    """Wait for a process, which must end with that code: what it printed."""
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == code, (process.returncode, out, err)
    return out, err


def kill(process: subprocess.Popen, number: int = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)


def rows(folder: Path) -> int:
    """How many whole rows of metrics a run has now."""
    file = folder / "metrics.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def wait_for(condition, process: subprocess.Popen | None = None, seconds: float = 60) -> bool:
    """Look every millisecond until something is true; False if the process ended before."""
    until = time.monotonic() + seconds
    while not condition():
        if process is not None and process.poll() is not None:
            return False
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.001)
    return True


def arrays(folder: Path, update: int) -> dict[str, np.ndarray]:
    """Every array of a checkpoint, read with Orbax alone."""
    import orbax.checkpoint as ocp

    checkpoint = (folder / "checkpoints" / f"{update:09d}").absolute()
    with ocp.PyTreeCheckpointer() as orbax:
        parts = {part.name: orbax.restore(part) for part in sorted(checkpoint.iterdir()) if part.is_dir()}
    assert parts
    return {f"{part}/{name}": np.asarray(leaf) for part, leaves in parts.items() for name, leaf in leaves.items()}


def assert_same_arrays(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for name, leaf in one.items():
        assert (leaf.dtype, leaf.shape) == (other[name].dtype, other[name].shape), name
        assert leaf.tobytes() == other[name].tobytes(), name


def measured(folder: Path) -> list[str]:
    """The lines of metrics without how long they took."""
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    before, after = zip(*(line.split('"seconds": ') for line in lines), strict=True)
    return [a + b[b.index(",") :] for a, b in zip(before, after, strict=True)]


def leftovers(folder: Path) -> list[str]:
    """What a killed writer left behind."""
    return [str(path) for path in folder.rglob("*") if ".tmp-" in path.name or "orbax-checkpoint-tmp" in path.name]
