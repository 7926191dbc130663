"""Small trainings for tests."""

import dataclasses
from typing import Any

import numpy as np

from disdain.config import Config
from disdain.envs import make
from disdain.training.fused import FusedRunner, stack_rates
from disdain.training.parts import Parts, make_parts, rates_of

SMALL = Config(
    environment="four-rooms-small",
    unroll_length=9,
    num_skills=24,
    bonus_weight=20.0,
    learning_rate=0.3,
    seeds=2,
    evaluate_every=100,
    checkpoint_every=100,
)


def parts_of(**changes: Any) -> Parts:
    """The parts of the small configuration with changes."""
    config = dataclasses.replace(SMALL, **changes).validated()
    world, _ = make(config.environment, moves=config.moves, slip=config.slip)
    return make_parts(config, world)


def runner_of(seeds: int = 2, parts: Parts | None = None, **changes: Any) -> FusedRunner:
    """A runner of a few seeds of it."""
    parts = parts or parts_of(**changes)
    return FusedRunner(parts, stack_rates([rates_of(parts.config)] * seeds), range(seeds))


def trained(runner: FusedRunner, updates: int, chunk: int | None = None) -> tuple[Any, dict[str, np.ndarray]]:
    """Train from the start, in one stretch or in chunks: what was learnt, and the last measures."""
    training, measures, update = runner.init(), {}, 0
    while update < updates:
        step = min(chunk or updates, updates - update)
        training, measures = runner.advance(training, update, step)
        update += step
    return runner.to_host(training), measures
