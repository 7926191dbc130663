"""Skills and goals over training, final states without and with DISDAIN, and the bonus of every state."""

import functools
from typing import Any

import matplotlib.lines as lines
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage

from disdain.errors import UserError
from disdain.evaluation.statistics import best
from disdain.figures.learning_curves import draw_ceiling, draw_methods, seeds_legend
from disdain.figures.maps import bonus_scale, count_scale, draw_map
from disdain.figures.names import method_name, short
from disdain.figures.style import colours, style
from disdain.figures.tables import SKILLS, Results, Snapshots

BAR = 0.08  # width of a colour bar, in maps
ORDER = ("disdain", "count", "ensemble", "unbonused")


def four_rooms(results: Results) -> Figure:
    """All panels, curves left and maps right, from the runs `disdain`, `unbonused` and whichever others there are."""
    runs = [run for run in ORDER if run in results.runs] or list(results.runs)
    with style():
        figure = Figure(figsize=(13.2, 6.5), layout="constrained")
        halves: Any = figure.subfigures(1, 2, width_ratios=(0.36, 0.64), wspace=0.02)
        _curves(halves[0], results, runs)
        _maps(halves[1], results)
        return figure


def example_seed(results: Results, run: str) -> int:
    """The seed that stands in the middle by its final training skills: neither the best nor the worst."""
    curves = results.curves(run, SKILLS)
    order = best(curves.final, len(curves.seeds))
    return int(curves.seeds[order[(len(order) - 1) // 2]])


def _curves(figure: SubFigure, results: Results, runs: list[str]) -> None:
    top, bottom = figure.subplots(2, 1)
    draw_methods(top, results, runs, SKILLS)
    draw_ceiling(top, results, runs)
    top.set_title("(a) Skills learnt (training policy)")
    draw_methods(bottom, results, runs, "goals_reached")
    bottom.set_ylim(0, 1.03)
    bottom.set_title("(b) Goal reaching (greedy policy)")
    bottom.set_ylabel("fraction of goals at which an episode ends")
    methods = [results.method(run) for run in runs]
    names = [
        lines.Line2D([], [], color=colour, linewidth=2.6, label=method_name(method))
        for method, colour in zip(methods, colours(runs, methods), strict=True)
    ]
    figure.legend(handles=names + seeds_legend(results, runs), loc="outside lower center", ncols=2)


def _maps(figure: SubFigure, results: Results) -> None:
    rows = (("unbonused", "final_count"), ("disdain", "final_count"), ("disdain", "bonus"))
    seeds = {run: example_seed(results, run) for run, _ in rows}
    shots = _same_points([results.snapshots(run, seeds[run], measure) for run, measure in rows], results)
    skills = int(np.nanmax(np.nansum(shots[0].maps, axis=(1, 2))))
    texts = (
        f"(c) Final states without DISDAIN: greedy rollouts of all {skills} skills, seed {seeds['unbonused']}",
        f"(d) Final states with DISDAIN: greedy rollouts of all {skills} skills, seed {seeds['disdain']}",
        f"(e) DISDAIN bonus of each state for the run in (d), seed {seeds['disdain']}",
    )
    most = max(int(np.nanmax(shot.maps)) for shot in shots[:2])
    counts, count_norm, labels = count_scale(most)
    bonus, bonus_norm = bonus_scale(float(np.nanmax(shots[2].maps)))
    panels = figure.subplots(3, len(shots[0].updates) + 1, width_ratios=[1.0] * len(shots[0].updates) + [BAR])
    for row, shot, text in zip(panels, shots, texts, strict=True):
        scale = (bonus, bonus_norm) if shot is shots[2] else (counts, count_norm)
        image = _row(list(row[:-1]), shot, text, *scale)
        bar = figure.colorbar(image, cax=row[-1])
        bar.outline.set_linewidth(0.5)
        row[-1].set_box_aspect(shot.maps.shape[1] / shot.maps.shape[2] / BAR)
        if shot is shots[2]:
            bar.set_label("bonus in nats")
        else:
            edges = np.array(count_norm.boundaries)
            bar.set_ticks(list((edges[:-1] + edges[1:]) / 2), labels=labels, fontsize=7)
            bar.ax.tick_params(which="both", length=0)
            bar.set_label("skills that end there")


def _row(panels: list[Axes], shot: Snapshots, text: str, shades: Colormap, norm: Normalize) -> AxesImage:
    """One map for each point of training, with the row's heading above the first."""
    images = [draw_map(axes, values, shades, norm) for axes, values in zip(panels, shot.maps, strict=True)]
    for axes, update in zip(panels, shot.updates, strict=True):
        axes.set_title(f"\nupdate {short(float(update))}", fontsize=8, fontweight="normal", loc="center", pad=3)
    heading = panels[0].annotate(
        text,
        (0, 1),
        xycoords="axes fraction",
        xytext=(0, 17),
        textcoords="offset points",
        fontsize=10,
        fontweight="bold",
    )
    heading.set_in_layout(False)
    return images[-1]


def _same_points(shots: list[Snapshots], results: Results) -> list[Snapshots]:
    """Those points of training that all have."""
    shared = functools.reduce(np.intersect1d, [shot.updates for shot in shots])
    if not len(shared):
        raise UserError(f"{results.where}: the runs have no point of training in common whose states were kept")
    return [Snapshots(shared, shot.maps[np.isin(shot.updates, shared)]) for shot in shots]
