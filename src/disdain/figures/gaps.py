"""How pessimistic the discriminator is: the true information of the skills beside the bound that they are paid by."""

import matplotlib.lines as lines
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from disdain.evaluation.statistics import mean_and_std
from disdain.figures.four_rooms import ORDER
from disdain.figures.learning_curves import draw_ceiling
from disdain.figures.names import measure_label, method_name
from disdain.figures.style import INK, colours, style, update_axis
from disdain.figures.tables import Results

POLICIES = {
    "training": ("skills_training_true", "skills_training_exact", "gap_training"),
    "greedy": ("skills_greedy_true", "skills_greedy", "gap_greedy"),
}


def gap(results: Results) -> Figure:
    """Effective skills as they are and as the discriminator sees them, and the gap in nats, for both policies.

    Every number is exact, propagated through the world: exp I(Z; O) (solid), exp E[r_skill] (dashed), and
    I(Z; O) − E[r_skill] ≥ 0 below, mean ± deviation over all seeds.
    """
    runs = [run for run in ORDER if run in results.runs] or list(results.runs)
    methods = [results.method(run) for run in runs]
    with style():
        figure = Figure(figsize=(10.4, 6.6), layout="constrained")
        panels = figure.subplots(2, 2, height_ratios=(1.25, 1), sharey="row")
        for (policy, measures), (upper, lower) in zip(POLICIES.items(), panels.T, strict=True):
            for run, colour in zip(runs, colours(runs, methods), strict=True):
                _both(upper, results, run, measures[:2], colour)
                _gap(lower, results, run, measures[2], colour)
            draw_ceiling(upper, results, runs)
            upper.set_title(f"Skills of the {policy} policy")
            upper.set_ylabel(f"effective skills, {policy} policy")
            lower.set_title(f"Gap of the {policy} policy")
            lower.set_ylabel(measure_label(measures[2]))
            lower.set_ylim(bottom=0)
            for axes in (upper, lower):
                axes.tick_params(labelleft=True)
        handles = [
            lines.Line2D([], [], color=colour, linewidth=2.6, label=method_name(method))
            for method, colour in zip(methods, colours(runs, methods), strict=True)
        ]
        handles += [
            lines.Line2D([], [], color=INK, label="the truth, exp I(Z; O)"),
            lines.Line2D([], [], color=INK, linewidth=1.2, linestyle=(0, (3, 1.5)), label="the bound, exp E[r_skill]"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return figure


def _both(axes: Axes, results: Results, run: str, measures: tuple[str, ...], colour: str) -> None:
    truth, bound = (results.curves(run, measure) for measure in measures)
    axes.plot(truth.updates, truth.values.mean(0), color=colour, label=f"{run} truth")
    axes.plot(
        bound.updates, bound.values.mean(0), color=colour, linewidth=1.2, linestyle=(0, (3, 1.5)), label=f"{run} bound"
    )
    axes.fill_between(truth.updates, bound.values.mean(0), truth.values.mean(0), color=colour, alpha=0.08, linewidth=0)
    update_axis(axes, float(truth.updates[-1]))


def _gap(axes: Axes, results: Results, run: str, measure: str, colour: str) -> None:
    curves = results.curves(run, measure)
    mean, spread = mean_and_std(curves.values)
    axes.plot(curves.updates, mean, color=colour, label=run)
    axes.fill_between(
        curves.updates, np.maximum(mean - spread, 0), mean + spread, color=colour, alpha=0.16, linewidth=0
    )
    update_axis(axes, float(curves.updates[-1]))
