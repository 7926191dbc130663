"""Reproducing an experiment: train the runs that are not finished, then draw everything from their tables."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disdain.config import Config
from disdain.errors import UserError
from disdain.experiments.catalogue import Experiment, experiment
from disdain.presets import preset as preset_of

if TYPE_CHECKING:
    from disdain.figures.table import FinalTable
    from disdain.figures.tables import Results
    from disdain.training.progress import Progress
    from disdain.training.run import Run

PRESET = "four-rooms"
QUICK = {"seeds": 3, "updates": 2_000, "evaluate_every": 200, "checkpoint_every": 2_000}
QUICK_REPLAY = 16_000  # unrolls


@dataclasses.dataclass(frozen=True)
class Reproduced:
    """What came of it, all of it on disk too."""

    experiment: Experiment
    out: Path
    figures: list[Path]
    table: "FinalTable"


def default_folder(name: str, *, preset: str = PRESET, quick: bool = False) -> Path:
    """`results/four-rooms`: where an experiment's results go when nothing is said, shared by those that share runs."""
    words = [experiment(name).folder, *([] if preset == PRESET else [preset]), *(["quick"] if quick else [])]
    return Path("results", "-".join(words))


def reproduce(
    name: str,
    out: Path,
    *,
    quick: bool = False,
    seeds: int | None = None,
    updates: int | None = None,
    preset: str = PRESET,
    progress: "Progress | None" = None,
    say: Callable[[str], None] = lambda _: None,
    draw_only: bool = False,
) -> Reproduced:
    """Make `out/runs`, train what is not finished, and draw `out/figures`, `out/table.json` and `out/table.md`.

    Stopped and called again, it goes on where it was. `draw_only` draws from the tables of finished runs or from
    exported ones (`out/tables`). `quick` is the same code on few seeds and updates.
    """
    wanted = experiment(name)
    if not draw_only:
        configs = run_configs(wanted, quick=quick, seeds=seeds, updates=updates, preset=preset)
        _train(configs, out, f"disdain reproduce {name} --out {out} (with the same flags)", preset, progress, say)
    return _draw(wanted, out, say)


def run_configs(
    wanted: Experiment,
    *,
    quick: bool = False,
    seeds: int | None = None,
    updates: int | None = None,
    preset: str = PRESET,
) -> dict[str, Config]:
    """The configuration of each run of an experiment."""
    recipe = preset_of(preset)
    shared: dict[str, Any] = {"seeds": wanted.seeds, **(QUICK if quick else {})}
    if quick and recipe.config().replay == "device":
        shared["replay_size"] = QUICK_REPLAY
    shared |= {field: value for field, value in (("seeds", seeds), ("updates", updates)) if value is not None}
    runs = wanted.quick_runs if quick and wanted.quick_runs is not None else wanted.runs
    return {run: recipe.config(**{**shared, **overrides}) for run, overrides in runs.items()}


def _train(
    configs: Mapping[str, Config],
    out: Path,
    resume_command: str,
    preset: str,
    progress: "Progress | None",
    say: Callable[[str], None],
) -> None:
    from disdain.training.placement import prepare

    prepare(deterministic=any(config.deterministic for config in configs.values()))
    from disdain.training.trainer import train

    folder = out / "runs"
    unfinished = [run for name, config in configs.items() if (run := _stand(folder / name, config, preset))]
    if len(unfinished) < len(configs):
        say(f"{len(configs) - len(unfinished)} of {len(configs)} runs are finished already")
    groups = together(unfinished)
    for number, runs in enumerate(groups, 1):
        say(f"training {', '.join(run.name for run in runs)} ({number} of {len(groups)})")
        train(runs, progress=progress, resume_command=resume_command)


def _stand(path: Path, config: Config, preset: str) -> "Run | None":
    """The run at a path, begun if it is not there; None if it is finished."""
    from disdain.training.run import Run, check_resume

    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return Run.create(path, config, preset=preset)
    run = Run.open(path)
    check_resume(run.config, config, path)
    finished = _is_finished(path) and config.updates == run.config.updates
    return None if finished else run.changed(config)


def together(runs: "list[Run]") -> "list[list[Run]]":
    """Runs to be trained side by side: those that share a program and stand at the same update."""
    from disdain.training.trainer import side_by_side

    groups: list[list[Run]] = []
    for sharing in side_by_side(runs):
        standing: dict[int, list[Run]] = {}
        for run in sharing:
            standing.setdefault(max(run.checkpoints.updates(), default=0), []).append(run)
        groups += standing.values()
    return groups


def _is_finished(path: Path) -> bool:
    try:
        return bool(json.loads((path / "summary.json").read_text(encoding="utf-8"))["finished"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _draw(wanted: Experiment, out: Path, say: Callable[[str], None]) -> Reproduced:
    from disdain.experiments.drawing import draw
    from disdain.figures.reading import read_results
    from disdain.figures.table import final_table

    everything = read_results(out)
    results = _own(wanted, everything, out)
    say("drawing")
    figures = draw(wanted, results, out / "figures")
    table = final_table(everything, runs=[run for run in everything.runs if everything.finished(run)])
    content = json.dumps({"runs": table.as_json()}, indent=1, allow_nan=False)
    (out / "table.json").write_text(content + "\n", encoding="utf-8")
    (out / "table.md").write_text(table.as_markdown(), encoding="utf-8")
    return Reproduced(wanted, out, figures, table)


def _own(wanted: Experiment, results: "Results", out: Path) -> "Results":
    """The experiment's own runs among those that there are."""
    present = [run for run in wanted.runs if run in results.runs]
    needed = wanted.runs if wanted.quick_runs is None else wanted.quick_runs
    missing = [run for run in needed if run not in present]
    if missing:
        raise UserError(f"{out}: {wanted.name} needs the run {missing[0]!r}, which is not there")
    unfinished = [run for run in present if not results.finished(run)]
    if unfinished:
        raise UserError(f"{out}: the run {unfinished[0]!r} is not finished (without --draw-only it would go on)")
    return results.only(present)
