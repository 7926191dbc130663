"""What a setting does: final values against it, with intervals over seeds, and the curves on the way there."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from disdain.evaluation.statistics import interval
from disdain.figures.learning_curves import draw_ceiling
from disdain.figures.names import measure_label
from disdain.figures.style import INK, style, update_axis
from disdain.figures.tables import Results

ACROSS = 3


@dataclasses.dataclass(frozen=True)
class Series:
    """One line of a panel: a run for each setting."""

    name: str
    colour: str
    runs: Mapping[Any, str]  # setting, a number or a word → run
    dashed: bool = False


@dataclasses.dataclass(frozen=True)
class Panel:
    """Final values against one setting. Numbers stand on a logarithmic axis, words side by side."""

    title: str
    setting: str
    series: tuple[Series, ...]
    references: tuple[tuple[str, str, str], ...] = ()  # (name, colour, run): drawn as level lines


@dataclasses.dataclass(frozen=True)
class CurvePanel:
    """The learning curves of some runs, colours on a scale from the first to the last."""

    title: str
    runs: Mapping[str, str]  # label → run


def sweep(results: Results, panels: Sequence[Panel], curves: Sequence[CurvePanel], measure: str) -> Figure:
    """The final values of a measure against each setting, then learning curves; what has no runs is left out."""
    drawn = [panel for panel in panels if all(series.runs for series in panel.series)]
    drawn_curves = [panel for panel in curves if panel.runs]
    down = -(-(len(drawn) + len(drawn_curves)) // ACROSS)
    with style():
        figure = Figure(figsize=(13.2, 3.7 * down), layout="constrained")
        places = list(figure.subplots(down, ACROSS, squeeze=False).ravel())
        for axes, panel in zip(places, [*drawn, *drawn_curves], strict=False):
            if isinstance(panel, Panel):
                draw_panel(axes, results, panel, measure)
            else:
                draw_curves(axes, results, panel, measure)
            axes.set_title(panel.title)
            axes.set_ylabel(measure_label(measure))
            draw_ceiling(axes, results, list(results.runs))
        for axes in places[len(drawn) + len(drawn_curves) :]:
            axes.remove()
        return figure


def draw_panel(axes: Axes, results: Results, panel: Panel, measure: str) -> None:
    """Mean and 95 % interval over seeds of each setting's final values; every seed as a dot."""
    settings = list(dict.fromkeys(setting for series in panel.series for setting in series.runs))
    words = any(isinstance(setting, str) for setting in settings)
    for number, series in enumerate(panel.series):
        shift = (number - (len(panel.series) - 1) / 2) * (0.16 if words else 0.05)
        place = [settings.index(s) + shift if words else float(s) * np.exp(shift) for s in series.runs]
        finals = [results.curves(run, measure).final for run in series.runs.values()]
        mean = np.array([final.mean() for final in finals])
        reach = np.nan_to_num([interval(final)[1] - final.mean() for final in finals])
        line = "none" if words else (0, (4, 2)) if series.dashed else "-"
        axes.errorbar(
            place, mean, yerr=reach, color=series.colour, label=series.name,
            linestyle=line, linewidth=1.5, capsize=2.5, marker="o", markersize=4.5,
            markerfacecolor="white" if series.dashed else series.colour,
        )  # fmt: skip
        for x, final in zip(place, finals, strict=True):
            axes.plot(
                np.full(len(final), x), final, ".", color=series.colour, alpha=0.28, markersize=3.5, label="_seeds"
            )
    for name, colour, run in panel.references:
        axes.axhline(results.curves(run, measure).final.mean(), color=colour, linewidth=1.1, linestyle="-.", label=name)
    if words:
        axes.set_xticks(range(len(settings)), [str(setting) for setting in settings])
        axes.set_xlim(-0.5, len(settings) - 0.5)
    else:
        numbers = sorted(float(setting) for setting in settings)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(numbers))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticklabels([f"{number:g}" for number in numbers])
    axes.set_xlabel(panel.setting)
    axes.legend(loc="best")


def draw_curves(axes: Axes, results: Results, panel: CurvePanel, measure: str) -> None:
    """Mean over seeds, one line a run."""
    scale = mpl.colormaps["viridis_r"](np.linspace(0.12, 1.0, len(panel.runs)))
    last = 0.0
    for colour, (label, run) in zip(scale, panel.runs.items(), strict=True):
        curves = results.curves(run, measure)
        axes.plot(curves.updates, curves.values.mean(0), color=colour, label=label, linewidth=1.5)
        last = max(last, float(curves.updates[-1]))
    update_axis(axes, last)
    axes.legend(loc="lower right", ncols=2, labelcolor=INK)
