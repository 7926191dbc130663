"""Final values of runs as a table: for the terminal, for a page, and as JSON."""

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from disdain.evaluation.statistics import interval, mean_and_std
from disdain.figures.names import measure_label
from disdain.figures.tables import SKILLS, Results, top_half

if TYPE_CHECKING:
    from rich.table import Table

MOST_COLUMNS = 6
USUAL = ("skills_training", "skills_greedy", "final_states", "goals_reached", "goals_passed", "gap_training")


@dataclasses.dataclass(frozen=True)
class Final:
    """A measure at the end of training, over seeds."""

    mean: float
    low: float  # 95 % interval of the mean
    high: float
    std: float
    least: float
    most: float
    top_mean: float  # of the better half of the seeds by training skills
    top_std: float

    @property
    def text(self) -> str:
        """Mean and interval; the value alone where there is one seed."""
        if not math.isfinite(self.low):
            return number(self.mean)
        return f"{number(self.mean)} [{number(self.low)}, {number(self.high)}]"

    @property
    def top_text(self) -> str:
        """Mean and standard deviation of the better half."""
        spread = f" ± {number(self.top_std)}" if math.isfinite(self.top_std) else ""
        return number(self.top_mean) + spread


@dataclasses.dataclass(frozen=True)
class FinalTable:
    """What each run came to."""

    measures: tuple[str, ...]
    rows: dict[str, dict[str, Final]]  # run → measure
    seeds: dict[str, int]
    updates: dict[str, int]
    ceilings: dict[str, float | None]

    def as_json(self) -> dict[str, Any]:
        """Every number."""
        return {
            run: {
                "seeds": self.seeds[run],
                "updates": self.updates[run],
                "ceiling": self.ceilings[run],
                "measures": {measure: _plain(dataclasses.asdict(final)) for measure, final in finals.items()},
            }
            for run, finals in self.rows.items()
        }

    def as_markdown(self) -> str:
        """Mean and 95 % interval over all seeds; the better half's mean of the training skills in a column."""
        header, body = self._cells()
        lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body]) + "\n\n" + self.note() + "\n"

    def as_rich(self, title: str = "") -> "Table":
        """For a terminal."""
        from rich.table import Table

        header, body = self._cells()
        table = Table(title=title or None, title_justify="left", caption=self.note(), caption_justify="left")
        for i, name in enumerate(header):
            table.add_column(name, justify="left" if i == 0 else "right")
        for row in body:
            table.add_row(*row)
        return table

    def note(self) -> str:
        """What the numbers are."""
        known = sorted({value for value in self.ceilings.values() if value is not None})
        ceiling = f" The ceiling of the skills is {', '.join(f'{value:.1f}' for value in known)}." if known else ""
        return (
            "Final values: mean over seeds [95 % interval of the mean]; "
            f"'top' is mean ± std of the better half of the seeds by training skills.{ceiling}"
        )

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows: a column for each of a few runs, else a row for each."""
        lines = [["seeds", *map(str, self.seeds.values())], ["updates", *(f"{n:,}" for n in self.updates.values())]]
        for measure in self.measures:
            found = [finals.get(measure) for finals in self.rows.values()]
            lines.append([measure_label(measure), *(final.text if final else "–" for final in found)])
            if measure == SKILLS:
                tops = [final.top_text if final else "–" for final in found]
                lines.append([f"{measure_label(measure)}, top", *tops])
        if len(self.rows) <= MOST_COLUMNS:
            return ["", *self.rows], lines
        return ["run", *(line[0] for line in lines)], [
            [run, *(line[i] for line in lines)] for i, run in enumerate(self.rows, 1)
        ]


def final_table(
    results: Results, measures: Sequence[str] | None = None, runs: Sequence[str] | None = None
) -> FinalTable:
    """The final values of runs, from their tables; the usual measures when none are named."""
    runs = list(results.runs if runs is None else runs)
    known = {run: results.measures(run) for run in runs}
    usual = [measure for measure in USUAL if any(measure in known[run] for run in runs)]
    chosen = (
        tuple(measures) if measures is not None else tuple(usual or sorted({m for ms in known.values() for m in ms}))
    )
    seeds, updates, rows = {}, {}, {}
    for run in runs:
        have = [measure for measure in chosen if measure in known[run]]
        first = results.curves(run, SKILLS if SKILLS in known[run] else known[run][0])
        top = top_half(first.final)
        rows[run] = {measure: _final(results.curves(run, measure).final, top) for measure in have}
        seeds[run], updates[run] = len(first.seeds), int(first.updates[-1])
    return FinalTable(chosen, rows, seeds, updates, {run: results.ceiling(run) for run in runs})


def number(value: float) -> str:
    """Three figures that count."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def _final(values: np.ndarray, top: np.ndarray) -> Final:
    mean, std = mean_and_std(values)
    low, high = interval(values)
    top_mean, top_std = mean_and_std(values[top])
    spread = (mean, low, high, std, values.min(), values.max(), top_mean, top_std)
    return Final(*(float(value) for value in spread))


def _plain(values: dict[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in values.items()}
