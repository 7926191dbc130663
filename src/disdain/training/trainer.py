"""Training on disk: runs that share a program, side by side, from where they stand to their last update."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from disdain.agents.learning import Rates
from disdain.config import Config
from disdain.errors import Fault, Stopped, UserError
from disdain.training import resuming, tables
from disdain.training.durable import writing
from disdain.training.events import Events, wanted
from disdain.training.fused import FusedRunner, stack_rates
from disdain.training.interrupts import Interrupts
from disdain.training.metrics import make_row
from disdain.training.parts import Parts, Training, make_parts, rates_of
from disdain.training.progress import Progress, make_progress
from disdain.training.resuming import Point
from disdain.training.run import Run
from disdain.training.snapshots import snapshot_points

MAY_DIFFER = ("method", "seeds", "first_seed", *(field.name for field in dataclasses.fields(Rates)))


def same_program(configs: Sequence[Config]) -> bool:
    """Whether runs can be trained side by side: they differ in seeds, and in numbers that agents carry, at most."""
    return len({_program(config) for config in configs}) <= 1


def side_by_side(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs that share a program, together."""
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        groups.setdefault(_program(run.config), []).append(run)
    return list(groups.values())


def train(
    runs: Sequence[Run],
    *,
    stop: Callable[[], bool] | None = None,
    progress: Progress | None = None,
    quiet: bool = False,
    tensorboard: bool = False,
    resume_command: str | None = None,
) -> bool:
    """Train runs that share a program to the end; False if `stop` ended it before (it is asked after each evaluation).

    Without `stop`, Ctrl-C and SIGTERM are what stops; then `Stopped` is raised, once all is saved. What is on disk at
    any moment is enough to go on with the same bits as if nothing had happened.
    """
    if not runs or not same_program([run.config for run in runs]):
        raise UserError(
            "only runs that share a program (same configuration but for method, seeds and rates) train together"
        )
    progress = progress or make_progress(quiet=quiet)
    with contextlib.ExitStack() as stack:
        for run in runs:
            stack.enter_context(run.held())
        stack.callback(progress.close)
        if stop is not None:
            return _train(runs, stop, progress, tensorboard) is None
        interrupts = stack.enter_context(Interrupts())
        stopped_at = _train(runs, lambda: interrupts.signal is not None, progress, tensorboard)
        if stopped_at is None or interrupts.signal is None:
            return True
    how = resume_command or "; ".join(f"disdain train --resume {run.path}" for run in runs)
    raise Stopped(f"stopped after update {stopped_at:,} and saved; go on with: {how}", interrupts.signal)


def _train(runs: Sequence[Run], stop: Callable[[], bool], progress: Progress, tensorboard: bool) -> int | None:
    """None at the end, else the update after which `stop` was heard."""
    config = runs[0].config
    point = resuming.find_point(runs, progress.note)
    parts = make_parts(config, runs[0].world()[0])
    if point.update < config.updates:
        # read before anything is removed: a checkpoint that does not fit must not cost what came after it
        lanes = Lanes(runs, parts)
        training = lanes.start(point, progress.note)
        resuming.go_back(runs, point)
        for run in runs:
            tables.remove_tables(run)
        session = Session(lanes, point, stop, progress)
        with contextlib.ExitStack() as stack:
            for run in runs:
                if tensorboard or wanted(run):
                    session.events[run.path] = Events(run)
                    stack.callback(session.events[run.path].close)
            stopped_at = session.go(training)
        if stopped_at is not None:
            return stopped_at
    for run in runs:
        with writing(run.path):
            tables.write_tables(run, parts.world, parts.exact.ceiling, finished=True)
    return None


class Lanes:
    """Every seed of every run, side by side in one runner."""

    def __init__(self, runs: Sequence[Run], parts: Parts) -> None:
        self.runs, self.parts = runs, parts
        rates = stack_rates([rates_of(run.config) for run in runs for _ in run.seeds])
        self.seeds = [seed for run in runs for seed in run.seeds]
        self.runner = FusedRunner(parts, rates, self.seeds)
        ends = np.cumsum([len(run.seeds) for run in runs])
        self.slices = [slice(int(end) - len(run.seeds), int(end)) for run, end in zip(runs, ends, strict=True)]
        self._rates = rates

    def start(self, point: Point, note: Callable[[str], None]) -> Training:
        """The lanes as they stood at a point."""
        if point.update == 0:
            return self.runner.init()
        resuming.note_another_arithmetic(self.runs, point, self.arithmetic(), note)
        training = self.runner.from_host(resuming.load(self.runs, point, self._abstract()))
        unrolls = point.unrolls_to_refill(self.runs)
        if unrolls:
            note(
                f"the replay was left behind when the run was packed: refilling it with {unrolls:,} unrolls a seed "
                f"of the policy of update {point.update:,}, without learning"
            )
            training = self.runner.refill(training, unrolls // self.runs[0].config.unrolls_per_update)
        return training

    def arithmetic(self) -> dict[str, Any]:
        """What the last bits depend on besides the configuration."""
        platform = jax.devices()[0].platform
        return {"jax": jax.__version__, "platform": platform}

    def _abstract(self) -> Training:
        keys = jax.eval_shape(lambda: jax.vmap(jax.random.key)(np.asarray(self.seeds, np.uint32)))
        return jax.eval_shape(jax.vmap(self.parts.init), keys, self._rates)


class Session:
    """One stretch of training: evaluation after evaluation, each written down before the next begins."""

    def __init__(self, lanes: Lanes, point: Point, stop: Callable[[], bool], progress: Progress) -> None:
        self.lanes, self.runs, self.runner = lanes, lanes.runs, lanes.runner
        self.config, self.point, self.stop, self.progress = lanes.runs[0].config, point, stop, progress
        self.events: dict[Any, Events] = {}
        self._began = time.monotonic()

    def go(self, training: Training) -> int | None:
        """Train; None at the end, else the update after which `stop` was heard."""
        config, update = self.config, self.point.update
        points = set(snapshot_points(config))
        self.progress.start(update, config.updates)
        while update < config.updates:
            after = min((update // config.evaluate_every + 1) * config.evaluate_every, config.updates)
            training, measures = self.runner.advance(training, update, after - update)
            self._check_health(measures.pop("healthy"), after)
            update = after
            self._record(update, measures)
            if update in points:
                self._snapshot(update, training)
            stopping = self.stop()
            if stopping or update % config.checkpoint_every == 0 or update == config.updates:
                self._save(update, training)
            if stopping and update < config.updates:
                return update
        return None

    def _check_health(self, healthy: np.ndarray, after: int) -> None:
        """`Fault` if a loss was not finite; nothing of the stretch in which it happened is written down."""
        sick = np.flatnonzero(healthy < after - 1)
        if not len(sick):
            return
        lane = sick[np.argmin(healthy[sick])]
        run = next(run for run, own in zip(self.runs, self.lanes.slices, strict=True) if own.start <= lane < own.stop)
        kept = run.checkpoints.updates()
        last = f"the checkpoint of update {kept[-1]:,} is kept" if kept else "there was no checkpoint yet"
        raise Fault(
            f"{run.path}, seed {self.lanes.seeds[lane]}: the loss of update {healthy[lane] + 2:,} is not finite "
            f"({len(sick)} of {len(healthy)} seeds by update {after:,}); training stops, {last}"
        )

    def _record(self, update: int, measures: dict[str, np.ndarray]) -> None:
        skills: dict[str, float] = {}
        for run, own, seconds in zip(self.runs, self.lanes.slices, self._seconds(), strict=True):
            row = make_row(
                update, run.frames(update), seconds, {name: values[own] for name, values in measures.items()}
            )
            with writing(run.metrics.path):
                run.metrics.append(row)
                if run.path in self.events:
                    self.events[run.path].add(row)
            skills[run.name] = float(measures["skills_greedy"][own].mean())
        self.progress.update(update, skills)

    def _snapshot(self, update: int, training: Training) -> None:
        arrays = self.runner.snapshot(training)
        for run, own in zip(self.runs, self.lanes.slices, strict=True):
            with writing(run.snapshots.folder):
                run.snapshots.save(update, {name: values[own] for name, values in arrays.items()})

    def _save(self, update: int, training: Training) -> None:
        """Commit a checkpoint of every run before any older one goes: they always have one in common."""
        host = self.runner.to_host(training)
        for run, own, seconds in zip(self.runs, self.lanes.slices, self._seconds(), strict=True):
            of_run: Training = jax.tree.map(lambda leaf: leaf[own], host)  # noqa: B023
            about = {
                "seconds": round(seconds, 3),
                "frames": run.frames(update),
                "config": dataclasses.asdict(run.config),
                "arithmetic": self.lanes.arithmetic(),
                "map": resuming.fingerprint_of_map(run),
                "pushed": None if of_run.replay is None else int(of_run.replay.pushed[0]),
                "metrics": run.metrics.mark(),
            }
            with writing(run.checkpoints.path(update)):
                run.checkpoints.save(update, of_run, about)
        for run in self.runs:
            run.checkpoints.prune(run.config.keep_checkpoints)

    def _seconds(self) -> list[float]:
        """How long each run has been trained, earlier stretches included."""
        return [before + time.monotonic() - self._began for before in self.point.seconds]


def _program(config: Config) -> tuple[Any, ...]:
    values = dataclasses.asdict(config.resolved())
    return tuple(value for name, value in values.items() if name not in MAY_DIFFER)
