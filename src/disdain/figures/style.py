"""How figures look: one colour for each method, readable without colour vision."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from disdain.evaluation.statistics import mean_and_std
from disdain.figures.names import short

METHOD_COLOURS = {"disdain": "#D55E00", "count": "#0072B2", "ensemble": "#009E73", "unbonused": "#4D4D4D"}
MORE_COLOURS = ("#CC79A7", "#E69F00", "#56B4E9", "#7B4173", "#8C6D31", "#17A398", "#B2182B", "#3B3B98")
WALL, FLOOR, INK, FAINT = "#3C4148", "#FFFFFF", "#22262B", "#D5D9DE"
IN_TIME = LinearSegmentedColormap.from_list("green to yellow", ["#0B6E4F", "#45A436", "#B5CF2B", "#FFE94A"])

_RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.edgecolor": "#7A828C",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E7E9EC",
    "grid.linewidth": 0.7,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "savefig.facecolor": "white",
    "svg.hashsalt": "disdain",  # the same figure gives the same bytes
}


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib with our settings; figures are made and saved inside."""
    with mpl.rc_context(_RC):
        yield


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    with style():
        figure.savefig(paths[0], dpi=160, metadata={"Software": None})
        figure.savefig(paths[1], metadata={"Date": None, "Creator": None})
    return paths


def colours(runs: Sequence[str], methods: Sequence[str]) -> list[str]:
    """A colour for each run: its method's where no other run has the same, else one of the others."""
    spare = iter(MORE_COLOURS * (1 + len(runs) // len(MORE_COLOURS)))
    chosen, used = [], set[str]()
    for _, method in zip(runs, methods, strict=True):
        colour = METHOD_COLOURS.get(method)
        if colour is None or colour in used:
            colour = next(spare)
        used.add(colour)
        chosen.append(colour)
    return chosen


def update_axis(axes: Axes, last: float) -> None:
    """An axis of learner updates from 0 to the last."""
    axes.set_xlim(0, last)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: short(x)))
    axes.set_xlabel("learner updates")


def band(axes: Axes, x: np.ndarray, values: Float[np.ndarray, "seed x"], colour: str, label: str, **line: Any) -> None:
    """Mean over seeds as a line and one standard deviation to each side."""
    mean, spread = mean_and_std(values)
    axes.plot(x, mean, color=colour, label=label, **line)
    axes.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.16, linewidth=0)
