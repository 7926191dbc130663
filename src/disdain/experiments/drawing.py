"""The figures of each experiment, from the tables of its runs."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from disdain.experiments.catalogue import Experiment
from disdain.experiments.sweeps import sweep_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from disdain.figures.tables import Results


def draw(experiment: Experiment, results: "Results", folder: Path) -> list[Path]:
    """Draw an experiment's figures into a folder, each as PNG and SVG; the paths."""
    from disdain.figures.style import save

    return [path for name, figure in _FIGURES[experiment.name](results).items() for path in save(figure, folder, name)]


def _four_rooms(results: "Results") -> dict[str, "Figure"]:
    from disdain.figures.four_rooms import four_rooms

    return {"four-rooms": four_rooms(results)}


def _rollouts(results: "Results") -> dict[str, "Figure"]:
    from disdain.figures.rollouts import rollouts

    return {f"four-rooms-rollouts-{run}": rollouts(results, run) for run in ("disdain", "unbonused")}


def _seeds(results: "Results") -> dict[str, "Figure"]:
    from disdain.figures.seeds import every_seed

    return {"four-rooms-seeds": every_seed(results)}


def _gap(results: "Results") -> dict[str, "Figure"]:
    from disdain.figures.gaps import gap

    return {"four-rooms-gap": gap(results)}


def _sweep(results: "Results") -> dict[str, "Figure"]:
    from disdain.figures.sweeps import sweep

    return {"sweep-four-rooms": sweep(results, *sweep_panels(set(results.runs)), measure="skills_greedy")}


_FIGURES: dict[str, Callable[["Results"], dict[str, "Figure"]]] = {
    "four-rooms": _four_rooms,
    "four-rooms-rollouts": _rollouts,
    "four-rooms-seeds": _seeds,
    "four-rooms-gap": _gap,
    "sweep-four-rooms": _sweep,
}
