"""How far training is, on stderr: a live bar in a terminal, else a plain line every ten seconds."""

import sys
import time
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

INTERVAL = 10.0  # seconds between two plain lines


@runtime_checkable
class Progress(Protocol):
    """What training tells about itself."""

    def start(self, done: int, total: int) -> None:
        """Training stands at `done` of `total` updates."""
        ...

    def update(self, done: int, skills: Mapping[str, float]) -> None:
        """It has come on; the greedy policy's effective skills, mean over seeds, of each run."""
        ...

    def note(self, text: str) -> None:
        """Something that the user should know, quiet or not."""
        ...

    def close(self) -> None:
        """It ends, well or not."""
        ...


def make_progress(*, quiet: bool = False) -> Progress:
    """The one that fits where stderr goes."""
    if quiet:
        return Quiet()
    return Bar() if sys.stderr.isatty() else Lines()


class Quiet:
    """Notes only."""

    def start(self, done: int, total: int) -> None:
        """Nothing."""

    def update(self, done: int, skills: Mapping[str, float]) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """A line of its own."""
        print(f"disdain: {text}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing."""


class Lines(Quiet):
    """`update 12,000 of 100,000 · 8,100 updates/s · 11 s left · skills: disdain 61.3`."""

    def start(self, done: int, total: int) -> None:
        """Start the clock."""
        self._total, self._first, self._began = total, done, time.monotonic()
        self._said = self._began

    def update(self, done: int, skills: Mapping[str, float]) -> None:
        """A line, if it is time for one or the last."""
        now = time.monotonic()
        if now - self._said < INTERVAL and done < self._total:
            return
        self._said = now
        rate = (done - self._first) / max(now - self._began, 1e-9)
        parts = [
            f"update {done:,} of {self._total:,}",
            f"{rate:,.0f} updates/s",
            f"{_duration((self._total - done) / rate)} left" if rate else "",
            f"skills: {spell(skills)}",
        ]
        print(" · ".join(part for part in parts if part), file=sys.stderr, flush=True)


class Bar:
    """A live bar with the same."""

    def start(self, done: int, total: int) -> None:
        """Draw it."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Rich

        columns = (
            TextColumn("updates"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("skills: {task.fields[skills]}"),
        )
        self._rich: Any = Rich(*columns, console=Console(stderr=True))
        self._task = self._rich.add_task("", total=total, completed=done, rate="", skills="…")
        self._first, self._began = done, time.monotonic()
        self._rich.start()

    def update(self, done: int, skills: Mapping[str, float]) -> None:
        """Move it."""
        rate = (done - self._first) / max(time.monotonic() - self._began, 1e-9)
        self._rich.update(self._task, completed=done, rate=f"{rate:,.0f}/s", skills=spell(skills))

    def note(self, text: str) -> None:
        """A line above it."""
        if hasattr(self, "_rich"):
            self._rich.console.print(f"disdain: {text}", highlight=False, markup=False, soft_wrap=True)
        else:
            Quiet().note(text)

    def close(self) -> None:
        """Leave it as it is."""
        if hasattr(self, "_rich"):
            self._rich.stop()


def spell(skills: Mapping[str, float]) -> str:
    """`count 91.2, disdain 90.4`; a lone run needs no name."""
    if len(skills) == 1:
        return f"{next(iter(skills.values())):.1f}"
    return ", ".join(f"{name} {value:.1f}" for name, value in skills.items())


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
