"""A run: one method on its seeds, in one folder that says everything about it."""

import contextlib
import dataclasses
import datetime
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from disdain.config import Config, differences, from_dict
from disdain.envs import Finite, make
from disdain.errors import UserError
from disdain.training.checkpoints import Checkpoints
from disdain.training.durable import remove_leftovers, write_file, writing
from disdain.training.inspection import refuse_pickles
from disdain.training.lock import Lock
from disdain.training.metrics import MetricsLog
from disdain.training.snapshots import Snapshots

FORMAT = 1
CONFIG, MAP = "config.json", "map.txt"
MAY_CHANGE = ("evaluate_every", "checkpoint_every", "keep_checkpoints")  # on resume; and `updates` may grow


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """A run folder. `about` is everything in config.json besides the configuration."""

    path: Path
    config: Config
    about: dict[str, Any]
    lock: Lock

    @classmethod
    def create(
        cls, path: str | Path | None, config: Config, *, name: str | None = None, preset: str | None = None
    ) -> "Run":
        """Start a run in a new or empty folder (None: one under runs/). Nothing is written if anything is wrong."""
        config = config.validated()
        make(config.environment, moves=config.moves, slip=config.slip)
        folder = default_folder(config, preset) if path is None else Path(path)
        if folder.exists() and not folder.is_dir():
            raise UserError(f"{folder} is a file: a run needs a folder of its own")
        if folder.is_dir() and any(folder.iterdir()):
            raise UserError(
                f"{folder} is not empty: a run needs a folder of its own (to go on with a run: --resume {folder})"
            )
        about = {
            "format": FORMAT,
            "name": name or folder.name,
            "preset": preset,
            "versions": versions(),
            "git": git_state(),
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        }
        run = cls(folder, config, about, Lock(folder))
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if config.environment.startswith("map:"):
                write_file(folder / MAP, Path(config.environment.removeprefix("map:")).read_bytes())
            run._write_config()
        return run

    @classmethod
    def open(cls, path: str | Path) -> "Run":
        """A run that exists, or a `UserError` that says what is wrong with the folder."""
        folder = Path(path)
        if not folder.is_dir():
            raise UserError(
                f"{folder} is {'not a folder' if folder.exists() else 'not there'}: a run is a folder with a {CONFIG}"
            )
        file = folder / CONFIG
        if not file.is_file():
            raise UserError(f"{folder} is not a run: it has no {CONFIG}")
        refuse_pickles(folder)
        about = _read_about(file)
        values = about.pop("config", None)
        if not isinstance(values, dict):
            raise UserError(f"{file}: config is {type(values).__name__}, not the fields of a configuration")
        missing = sorted({field.name for field in dataclasses.fields(Config)} - values.keys())
        if missing:
            raise UserError(f"{file}: field {missing[0]} is missing")
        try:
            return cls(folder, from_dict(values, file), about, Lock(folder))
        except TypeError as error:
            raise UserError(f"{file}: {error}") from None

    @property
    def name(self) -> str:
        """What tables call the run."""
        return str(self.about.get("name", self.path.name))

    @property
    def seeds(self) -> range:
        """The seeds by number."""
        return range(self.config.first_seed, self.config.first_seed + self.config.seeds)

    @property
    def checkpoints(self) -> Checkpoints:
        """The run's checkpoints."""
        return Checkpoints(self.path / "checkpoints")

    @property
    def metrics(self) -> MetricsLog:
        """The run's metrics."""
        return MetricsLog(self.path / "metrics.jsonl")

    @property
    def snapshots(self) -> Snapshots:
        """The run's snapshots."""
        return Snapshots(self.path / "snapshots")

    def frames(self, update: int) -> int:
        """Environment moves per seed up to an update."""
        return update * self.config.unrolls_per_update * self.config.moves

    def world(self) -> tuple[Finite, str]:
        """The run's world, and what the user should know about it. A map comes from the copy in the folder."""
        config, copy = self.config, self.path / MAP
        is_map = config.environment.startswith("map:")
        if is_map and not copy.is_file():
            raise UserError(f"{self.path} has lost its {MAP}")
        environment = f"map:{copy}" if is_map else config.environment
        world, note = make(environment, moves=config.moves, slip=config.slip)
        return dataclasses.replace(world, name=config.environment), note

    def acquire(self) -> None:
        """Become the only process that writes here; leftovers of killed writers are removed."""
        self.lock.acquire()
        for folder in (self.path, self.path / "checkpoints", self.path / "snapshots"):
            remove_leftovers(folder)

    def release(self) -> None:
        """Let others write."""
        self.lock.release()

    @contextlib.contextmanager
    def held(self) -> Iterator["Run"]:
        """The run, locked for as long as the block lasts."""
        if self.lock.held:
            yield self
            return
        self.acquire()
        try:
            yield self
        finally:
            self.release()

    def changed(self, config: Config) -> "Run":
        """The same run under a configuration that it may go on with (see `check_resume`), written down."""
        config = config.validated()
        check_resume(self.config, config)
        if config == self.config:
            return self
        run = dataclasses.replace(self, config=config)
        with self.held(), writing(self.path / CONFIG):
            run._write_config()
        return run

    def _write_config(self) -> None:
        content = {**self.about, "config": dataclasses.asdict(self.config)}
        write_file(self.path / CONFIG, (json.dumps(content, indent=2) + "\n").encode())


def check_resume(old: Config, new: Config, where: str | Path | None = None) -> None:
    """A run goes on as it began: only `updates` may grow, and what decides when to evaluate and save may change."""
    changed = {name: pair for name, pair in differences(old, new).items() if name not in MAY_CHANGE}
    if "updates" in changed and new.updates > old.updates:
        del changed["updates"]
    if changed:
        listed = "; ".join(f"{name}: was {before}, now {after}" for name, (before, after) in changed.items())
        subject = f"{where}: " if where else ""
        raise UserError(
            f"{subject}a run goes on as it began (only updates may grow), but these fields differ: {listed}"
        )


def default_folder(config: Config, preset: str | None = None) -> Path:
    """`runs/<environment>-<method>[-<preset>]-<date-time>`, one that is not taken."""
    environment = re.sub(r"[^A-Za-z0-9]+", "-", Path(config.environment).stem).strip("-").lower()
    words = [environment, config.method, *([preset] if preset and preset != config.environment else [])]
    base = Path("runs", "-".join([*words, datetime.datetime.now().strftime("%Y%m%d-%H%M%S")]))
    folder, number = base, 2
    while folder.exists():
        folder, number = base.with_name(f"{base.name}-{number}"), number + 1
    return folder


def versions() -> dict[str, str]:
    """What the run was made with."""
    import importlib.metadata
    import platform

    found = {"python": platform.python_version()}
    for package in ("disdain", "jax", "jaxlib", "numpy", "orbax-checkpoint"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def git_state() -> dict[str, Any] | None:
    """Commit of the repository that the user stands in, and whether it was changed since; None outside of one."""
    answers = []
    for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no")):
        try:
            done = subprocess.run(["git", *words], capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.SubprocessError):
            return None
        if done.returncode:
            return None
        answers.append(done.stdout.strip())
    return {"commit": answers[0], "dirty": bool(answers[1])}


def _read_about(file: Path) -> dict[str, Any]:
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} is not JSON: {error}") from None
    if not isinstance(about, dict):
        raise UserError(f"{file} holds a {type(about).__name__}, not the description of a run")
    written = about.get("format")
    if not isinstance(written, int) or isinstance(written, bool) or written < 1:
        raise UserError(f"{file}: format is {written!r}: it must be a whole number from 1 on")
    if written > FORMAT:
        raise UserError(f"{file} was written by a newer disdain (format {written}; this one reads up to {FORMAT})")
    return about
