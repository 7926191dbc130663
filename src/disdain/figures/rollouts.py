"""One greedy rollout of every skill, a panel each, sorted by where they end."""

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure

from disdain.figures.four_rooms import example_seed
from disdain.figures.names import method_name
from disdain.figures.style import FLOOR, IN_TIME, INK, WALL, style
from disdain.figures.tables import Results, Rollouts

ACROSS = 16


def rollouts(results: Results, run: str, seed: int | None = None) -> Figure:
    """A panel a skill, labelled with its number and q̄(z|s_T): its greedy rollout's way, green at first, then yellow."""
    seed = example_seed(results, run) if seed is None else seed
    drawn = results.rollout(run, seed)
    floor = results.floor(run)
    order = np.argsort(drawn.states[:, -1], kind="stable")
    across = min(ACROSS, len(order))
    down = -(-len(order) // across)
    size = max(0.92, 9.0 / across)
    tall = floor.shape[0] / floor.shape[1] * size * 0.93 + 0.17
    with style():
        figure = Figure(figsize=(across * size + 0.3, down * tall + 0.85))
        width, height = figure.get_size_inches()
        grid = figure.add_gridspec(
            down, across, left=0.12 / width, right=1 - 0.12 / width, top=1 - 0.58 / height, bottom=0.12 / height,
            wspace=0.07, hspace=0.2 / (0.93 * size),
        )  # fmt: skip
        for place, skill in enumerate(order):
            _panel(figure.add_subplot(grid[place // across, place % across]), floor, drawn, int(skill))
        ends = len(np.unique(drawn.states[:, -1]))
        figure.text(
            0.12 / width, 1 - 0.16 / height,
            f"{method_name(results.method(run))}: greedy rollouts of {len(order)} skills, seed {seed}, "
            f"{ends} distinct final states",
            fontsize=12, fontweight="bold", va="top",
        )  # fmt: skip
        _time_bar(figure, drawn.cells.shape[1] - 1)
        return figure


def last_visit(cells: Int[np.ndarray, "step 2"], shape: tuple[int, ...]) -> np.ndarray:
    """For each cell of the map the last step of the path that was there, −1 where it never was."""
    steps = np.full(shape, -1)
    for step, (row, column) in enumerate(cells):
        steps[row, column] = step
    return steps


def _panel(axes: Axes, floor: np.ndarray, drawn: Rollouts, skill: int) -> None:
    cells = drawn.cells[skill]
    last = len(cells) - 1
    steps = last_visit(cells, floor.shape)
    shades = ListedColormap([WALL, FLOOR, *IN_TIME(np.linspace(0, 1, last + 1))])
    axes.imshow(
        np.where(steps >= 0, steps + 2, floor), cmap=shades, norm=Normalize(-0.5, last + 2.5), interpolation="nearest"
    )
    axes.plot(cells[:, 1], cells[:, 0], color=INK, linewidth=0.7, alpha=0.75, solid_joinstyle="round")
    axes.plot(cells[-1, 1], cells[-1, 0], "o", markersize=2.6, color=INK)
    axes.set_title(
        f"{drawn.skills[skill]}: {drawn.confidence[skill]:.2f}", fontsize=7, fontweight="normal", loc="center", pad=1.5
    )
    axes.set_axis_off()


def _time_bar(figure: Figure, last: int) -> None:
    width, height = figure.get_size_inches()
    axes = figure.add_axes((1 - 2.9 / width, 1 - 0.3 / height, 2.0 / width, 0.13 / height))
    bar = figure.colorbar(ScalarMappable(Normalize(0, last), IN_TIME), cax=axes, orientation="horizontal", ticks=[])
    bar.outline.set_visible(False)
    for place, side, text in ((-0.03, "right", "skill: q(z|s_T)   start"), (1.03, "left", f"step {last}")):
        axes.text(place, 0.5, text, transform=axes.transAxes, ha=side, va="center", fontsize=8)
