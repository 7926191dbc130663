"""Every seed's learning curve, a panel for each method."""

import numpy as np
from matplotlib.figure import Figure

from disdain.figures.four_rooms import ORDER
from disdain.figures.learning_curves import draw_ceiling
from disdain.figures.names import measure_label, method_name
from disdain.figures.style import colours, style, update_axis
from disdain.figures.tables import SKILLS, Results, top_half


def every_seed(results: Results, measure: str = SKILLS) -> Figure:
    """A line a seed; the better half by final training skills in the method's colour, the others paler."""
    runs = [run for run in ORDER if run in results.runs] or list(results.runs)
    methods = [results.method(run) for run in runs]
    with style():
        figure = Figure(figsize=(3.1 * len(runs) + 0.5, 3.5), layout="constrained")
        panels = np.atleast_1d(figure.subplots(1, len(runs), sharey=True))
        for axes, run, method, colour in zip(panels, runs, methods, colours(runs, methods), strict=True):
            curves = results.curves(run, measure)
            best = set(top_half(results.curves(run, SKILLS).final).tolist())
            for i, values in enumerate(curves.values):
                line = {"linewidth": 1.1, "alpha": 0.85} if i in best else {"linewidth": 0.9, "alpha": 0.35}
                axes.plot(curves.updates, values, color=colour, label=f"seed {curves.seeds[i]}", **line)
            axes.set_title(f"{method_name(method)} ({len(curves.seeds)} seeds)")
            update_axis(axes, float(curves.updates[-1]))
            if measure.startswith("skills_"):
                draw_ceiling(axes, results, runs)
        panels[0].set_ylabel(measure_label(measure))
        return figure
