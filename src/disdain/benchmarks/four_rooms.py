"""`disdain bench four-rooms`: the tabular training loop against a plain C loop, and what a user waits for."""

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from disdain.benchmarks.yardstick import Yardstick

REPEATS = 5
PRESET = {"full": "four-rooms", "small": "four-rooms-small"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `disdain bench four-rooms`."""
    parser.add_argument("--size", choices=("full", "small"), default="full", help="the full map or the notebook's")
    parser.add_argument("--seeds", type=int, default=20, help="seeds trained side by side")
    parser.add_argument("--updates", type=int, default=20_000, help="updates of each timed stretch")
    parser.add_argument("--curve", action="store_true", help="cost against the number of seeds (1 to 320)")
    parser.add_argument("--waits", action=argparse.BooleanOptionalAction, default=True, help="also time start-up")


def main(args: argparse.Namespace) -> dict[str, Any]:
    """Measure; every figure of one call was measured in one process on one machine, interleaved where it is a ratio."""
    import jax

    device = jax.devices()[0]
    on_cpu = device.platform == "cpu"
    result: dict[str, Any] = {
        "device": device.device_kind if not on_cpu else f"cpu, {len(jax.devices())} cores",
        "jax": jax.__version__,
        "size": args.size,
        "seeds": args.seeds,
        **_against_c(args.size, args.seeds, args.updates, yardstick=on_cpu),
    }
    if args.curve:
        counts = (1, 4, 20, 80, 320) if not on_cpu else (1, 2, 4, 8, 20, 40)
        result["us_per_update_by_seeds"] = {n: round(_stretch(args.size, n, args.updates).best(3), 2) for n in counts}
    if args.waits and args.size == "full" and on_cpu:
        result.update(_waits())
    return result


class _stretch:
    """A program that trains `seeds` seeds, run `updates` at a time, from where the last stretch ended."""

    def __init__(self, size: str, seeds: int, updates: int) -> None:
        from disdain.envs import make
        from disdain.presets import PRESETS
        from disdain.training.fused import FusedRunner, stack_rates
        from disdain.training.parts import make_parts, rates_of

        config = dataclasses.replace(PRESETS[PRESET[size]].config(), seeds=seeds).validated()
        world, _ = make(config.environment, moves=config.moves)
        self.config, self.updates, self.update = config, updates, 0
        self.runner = FusedRunner(make_parts(config, world), stack_rates([rates_of(config)] * seeds), range(seeds))
        self.training = self.runner.init()
        self.training, _ = self.runner.advance(self.training, 0, 100)  # compiles

    def run(self) -> tuple[float, float]:
        """Microseconds an update (all seeds together), and the greedy skills that were reached."""
        begun = time.perf_counter()
        self.training, measures = self.runner.advance(self.training, self.update, self.updates)
        elapsed = time.perf_counter() - begun
        self.update += self.updates
        return elapsed / self.updates * 1e6, float(np.mean(measures["skills_greedy"]))

    def best(self, repeats: int) -> float:
        """The fastest of a few stretches."""
        return min(self.run()[0] for _ in range(repeats))


def _against_c(size: str, seeds: int, updates: int, *, yardstick: bool) -> dict[str, Any]:
    stretch = _stretch(size, seeds, updates)
    loop = Yardstick() if yardstick else None
    ours, theirs, skills = [], [], 0.0
    for repeat in range(REPEATS):
        microseconds, skills = stretch.run()
        ours.append(microseconds / seeds)
        if loop and loop.available:
            theirs.append(loop.run(size, updates, repeat, stretch.config.learning_rate, "disdain").microseconds)
    return {
        "updates": stretch.update,
        "us_per_seed_update": round(min(ours), 3),
        "us_per_update": round(min(ours) * seeds, 2),
        "us_per_update_c_one_core": round(min(theirs), 3) if theirs else None,
        "ratio_to_c": round(min(ours) / min(theirs), 3) if theirs else None,
        "skills_greedy": round(skills, 2),
    }


def _waits() -> dict[str, Any]:
    """What a user waits for, without a compilation cache, and with one that the first start filled."""

    def start(seed: int, cache: str | None) -> dict[str, float]:
        environment = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "true" if cache else "false"}
        if cache:
            environment["JAX_COMPILATION_CACHE_DIR"] = cache
            environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.1"
        command = [sys.executable, "-m", "disdain.benchmarks.first_skills", str(time.time()), str(seed), "85"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)

    cold = [start(seed, None) for seed in range(5)]
    with tempfile.TemporaryDirectory() as cache:
        start(0, cache)
        warm = [start(seed, cache) for seed in range(3)]
    return {
        "startup_seconds": round(statistics.median(run["startup_seconds"] for run in cold), 2),
        "startup_seconds_cached": round(statistics.median(run["startup_seconds"] for run in warm), 2),
        "seconds_to_85_skills": round(statistics.median(run["seconds"] for run in cold), 2),
        "seconds_to_85_skills_cached": round(statistics.median(run["seconds"] for run in warm), 2),
        "import_ratio_to_jax": round(_seconds("import disdain; disdain.bonus") / _seconds("import jax"), 2),
        "help_seconds": round(_seconds("from disdain.cli import main; main(['--help'])"), 2),
    }


def _seconds(code: str) -> float:
    """Best of five."""

    def once() -> float:
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        return time.perf_counter() - begun

    return min(once() for _ in range(5))
