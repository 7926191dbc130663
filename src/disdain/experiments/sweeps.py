"""The sweep over Four Rooms: its runs, and the panels that show them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from disdain.config import METHODS

if TYPE_CHECKING:
    from disdain.figures.sweeps import CurvePanel, Panel

WEIGHTS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SIZES = (2, 4, 8, 16, 32, 64)
PLACES = {
    "reward": {},  # the bonus value learns λ·r and starts in [0, λ): the paper's composite exactly
    "value": {"bonus_scale": "weighted"},
    "reward-unit": {"bonus_start": "unit"},
}


def sweep_runs(*, quick: bool = False) -> dict[str, dict[str, Any]]:
    """Every run by name, as what it changes in the preset.

    Each thing that is compared has its runs; what is the default in one comparison is the same run in the others
    (`disdain-weight-10`). Weights of one kind of run differ only in a number and are trained in one program.
    """
    weights, sizes = (WEIGHTS[1::2], SIZES[:2]) if quick else (WEIGHTS, SIZES)
    runs: dict[str, dict[str, Any]] = {}
    for method in ("disdain", "count"):
        for weight in weights:
            setting = {"method": method, "bonus_weight": weight}
            runs[f"{method}-weight-{weight:g}"] = setting
            runs[f"{method}-one-value-weight-{weight:g}"] = {**setting, "values": "one"}
    for place, change in PLACES.items():
        if change:
            for weight in weights:
                runs[f"disdain-{place}-weight-{weight:g}"] = {"method": "disdain", "bonus_weight": weight, **change}
    for size in sizes:
        for method in ("disdain", "ensemble"):
            name = run_of_size(method, size)
            if name not in runs:
                runs[name] = {"method": method, "ensemble_size": size, "bonus_weight": METHODS[method][2]}
    runs["unbonused"] = {"method": "unbonused"}
    for method in METHODS:
        runs[f"{method}-unclipped"] = {**runs[run_of(method)], "clip_skill_reward": False}
    return runs


def run_of(method: str) -> str:
    """The run of a method with everything as it usually is."""
    usual = {"disdain": "disdain-weight-10", "count": "count-weight-10", "ensemble": "ensemble-members-2"}
    return usual.get(method, method)


def run_of_size(method: str, size: int) -> str:
    """The run with an ensemble of that size."""
    return run_of(method) if size == METHODS["disdain"][1] else f"{method}-members-{size}"


def sweep_panels(runs: set[str]) -> tuple[list["Panel"], list["CurvePanel"]]:
    """The panels, of those runs that there are."""
    from disdain.figures.style import METHOD_COLOURS, MORE_COLOURS
    from disdain.figures.sweeps import CurvePanel, Panel, Series

    purple, grey = MORE_COLOURS[3], METHOD_COLOURS["unbonused"]
    orange, blue, green = (METHOD_COLOURS[method] for method in ("disdain", "count", "ensemble"))

    def by_weight(name: str, colour: str, pattern: str, *, dashed: bool = False) -> "Series":
        found = {weight: f"{pattern}-{weight:g}" for weight in WEIGHTS if f"{pattern}-{weight:g}" in runs}
        return Series(name, colour, found, dashed)

    def by_size(name: str, colour: str, method: str) -> "Series":
        found = {size: run_of_size(method, size) for size in SIZES if run_of_size(method, size) in runs}
        return Series(name, colour, found)

    def by_method(name: str, colour: str, ending: str, *, dashed: bool = False) -> "Series":
        names = {method: run_of(method) if not ending else f"{method}{ending}" for method in METHODS}
        return Series(name, colour, {method: run for method, run in names.items() if run in runs}, dashed)

    references = tuple(
        (name, colour, run_of(method))
        for name, colour, method in (("ensemble only", green, "ensemble"), ("unbonused", grey, "unbonused"))
        if run_of(method) in runs
    )
    weight, size = "bonus weight λ", "ensemble size N"
    panels = [
        Panel(
            "Bonus weight",
            weight,
            (by_weight("DISDAIN", orange, "disdain-weight"), by_weight("count", blue, "count-weight")),
            references,
        ),
        Panel(
            "Ensemble size", size, (by_size("DISDAIN", orange, "disdain"), by_size("ensemble only", green, "ensemble"))
        ),
        Panel(
            "One value function or two",
            weight,
            (
                by_weight("DISDAIN, two", orange, "disdain-weight"),
                by_weight("DISDAIN, one", orange, "disdain-one-value-weight", dashed=True),
                by_weight("count, two", blue, "count-weight"),
                by_weight("count, one", blue, "count-one-value-weight", dashed=True),
            ),
        ),
        Panel(
            "Where λ stands (DISDAIN)",
            weight,
            (
                by_weight("in the reward, table starts in [0, λ)", orange, "disdain-weight"),
                by_weight("on the value", purple, "disdain-value-weight", dashed=True),
                by_weight("in the reward, table starts in [0, 1)", blue, "disdain-reward-unit-weight"),
            ),
        ),
        Panel(
            "Skill reward for learning",
            "method",
            (by_method("clipped at 0", orange, ""), by_method("not clipped", purple, "-unclipped", dashed=True)),
        ),
    ]
    curves = [
        CurvePanel("DISDAIN, bonus weight λ", _curves(panels[0].series[0].runs, "λ")),
        CurvePanel("Count, bonus weight λ", _curves(panels[0].series[1].runs, "λ")),
        CurvePanel("DISDAIN, ensemble size N", _curves(panels[1].series[0].runs, "N")),
        CurvePanel("DISDAIN with one value function", _curves(panels[2].series[1].runs, "λ")),
    ]
    return panels, curves


def _curves(runs: Mapping[Any, str], letter: str) -> dict[str, str]:
    return {f"{letter} = {setting:g}": run for setting, run in runs.items()}
