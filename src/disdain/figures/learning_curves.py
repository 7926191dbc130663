"""Learning curves: measures over training, a colour for each method."""

from collections.abc import Sequence

import matplotlib.lines as lines
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from disdain.errors import UserError
from disdain.evaluation.statistics import mean_and_std
from disdain.figures.names import measure_label, method_name
from disdain.figures.style import INK, band, colours, style, update_axis
from disdain.figures.tables import SKILLS, Results, top_half


def draw_methods(axes: Axes, results: Results, runs: Sequence[str], measure: str) -> None:
    """Mean ± deviation of the better half of each run's seeds (by final training skills); of all seeds dashed."""
    last = 0.0
    for run, colour in zip(runs, colours(runs, [results.method(run) for run in runs]), strict=True):
        curves = results.curves(run, measure)
        best = top_half(results.curves(run, SKILLS).final)
        band(axes, curves.updates, curves.values[best], colour, method_name(results.method(run)))
        mean, spread = mean_and_std(curves.values)
        axes.plot(curves.updates, mean, color=colour, linewidth=1.0, linestyle=(0, (4, 2)), label="_all seeds")
        axes.fill_between(curves.updates, mean - spread, mean + spread, color=colour, alpha=0.07, linewidth=0)
        last = max(last, float(curves.updates[-1]))
    update_axis(axes, last)
    axes.set_ylabel(measure_label(measure))


def draw_ceiling(axes: Axes, results: Results, runs: Sequence[str]) -> None:
    """The most skills that can be learnt, as a line with its value."""
    known = [value for run in runs if (value := results.ceiling(run)) is not None]
    if not known:
        return
    axes.axhline(max(known), color=INK, linewidth=1.0, linestyle=":", label="_ceiling", zorder=1)
    axes.annotate(
        f"ceiling {max(known):.1f}", (0.012, max(known)), xycoords=("axes fraction", "data"), xytext=(0, 2),
        textcoords="offset points", fontsize=8, color=INK,
    )  # fmt: skip
    axes.set_ylim(0, max(known) * 1.09)


def seeds_legend(results: Results, runs: Sequence[str]) -> list[lines.Line2D]:
    """What the solid and the dashed lines are."""
    counts = sorted({len(results.curves(run, SKILLS).seeds) for run in runs})
    every = "/".join(map(str, counts))
    half = "/".join(str(max(1, count // 2)) for count in counts)
    return [
        lines.Line2D([], [], color=INK, label=f"top {half} of {every} seeds, mean ± std"),
        lines.Line2D([], [], color=INK, linewidth=1.0, linestyle=(0, (4, 2)), label=f"all {every} seeds, mean ± std"),
    ]


def report_curves(results: Results, measures: Sequence[str] | None = None) -> Figure:
    """A panel for each measure, a colour for each run: mean ± deviation over seeds, few seeds also one by one."""
    runs = list(results.runs)
    chosen = list(measures) if measures else _usual(results)
    across = min(3, len(chosen))
    down = -(-len(chosen) // across)
    with style():
        figure = Figure(figsize=(4.3 * across, 2.9 * down + 0.5), layout="constrained")
        panels = np.atleast_1d(figure.subplots(down, across)).ravel()
        palette = colours(runs, [results.method(run) for run in runs])
        for axes, measure in zip(panels, chosen, strict=False):
            last = 0.0
            for run, colour in zip(runs, palette, strict=True):
                if measure not in results.measures(run):
                    continue
                curves = results.curves(run, measure)
                band(axes, curves.updates, curves.values, colour, run)
                if 1 < len(curves.seeds) <= 5:
                    axes.plot(curves.updates, curves.values.T, color=colour, linewidth=0.6, alpha=0.5, label="_seed")
                last = max(last, float(curves.updates[-1]))
            if last == 0.0:
                raise UserError(f"{results.where}: no run has the measure {measure!r}")
            update_axis(axes, last)
            axes.set_title(measure_label(measure))
            if measure.startswith("skills_"):
                draw_ceiling(axes, results, runs)
        for axes in panels[len(chosen) :]:
            axes.remove()
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=min(6, len(names)))
        return figure


def _usual(results: Results) -> list[str]:
    wanted = ("skills_training", "skills_greedy", "final_states", "goals_reached", "gap_training", "coverage_lifetime")
    present = {measure for run in results.runs for measure in results.measures(run)}
    return [measure for measure in wanted if measure in present] or sorted(present)
