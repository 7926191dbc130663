"""What runs came to: their newest checkpoints measured again, tables of final values, differences between two."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disdain.errors import UserError, nearest

if TYPE_CHECKING:
    from disdain.figures.table import FinalTable
    from disdain.figures.tables import Results
    from disdain.training.parts import Parts
    from disdain.training.run import Run

FEATURED = "skills_greedy"
Note = Callable[[str], None]


def read_runs(paths: Sequence[Path]) -> "Results":
    """The tables of runs; a folder that holds runs or exported tables stands for all of its runs."""
    from disdain.figures.reading import read_results
    from disdain.training.run import CONFIG, Run

    for path in paths:
        if path.is_file() or (path / CONFIG).exists():
            Run.open(path)  # says what is wrong with it, if anything is
    return read_results(list(paths))


def report(results: "Results", measures: Sequence[str] | None = None) -> "FinalTable":
    """The final values of runs: mean, deviation and interval over seeds, and the better half of the seeds."""
    from disdain.figures.table import final_table

    known = sorted({measure for run in results.runs for measure in results.measures(run)})
    for measure in measures or known:
        if measure not in known:
            raise nearest("measure", measure, known)
    return final_table(results, measures or known)


def draw_curves(results: "Results", measures: Sequence[str] | None, folder: Path) -> list[Path]:
    """Learning curves of some runs in one figure; the files written."""
    from disdain.figures.learning_curves import report_curves
    from disdain.figures.style import save

    return save(report_curves(results, measures), folder, "learning-curves")


def compare(results: "Results", first: str, second: str, measure: str = FEATURED) -> dict[str, Any]:
    """`second − first` at the end of both runs, over the seeds that both have, with its interval."""
    from disdain.evaluation.statistics import paired_difference

    curves = {run: results.curves(run, measure) for run in (first, second)}
    values = {run: dict(zip(found.seeds.tolist(), found.final.tolist(), strict=True)) for run, found in curves.items()}
    shared = sorted(values[first].keys() & values[second].keys())
    if not shared:
        raise UserError(
            f"{first} has the seeds {_spell(values[first])} and {second} the seeds {_spell(values[second])}: "
            "a comparison needs seeds that both have"
        )
    difference = paired_difference(values[first], values[second])
    settings = (results.config(first), results.config(second))
    fields = sorted(settings[0].keys() | settings[1].keys())
    pairs = {name: [config.get(name) for config in settings] for name in fields}
    return {
        "measure": measure,
        "first": first,
        "second": second,
        "seeds": shared,
        "updates": [int(curves[run].updates[-1]) for run in (first, second)],
        "values": {run: [values[run][seed] for seed in shared] for run in (first, second)},
        "means": {run: sum(values[run][seed] for seed in shared) / len(shared) for run in (first, second)},
        "difference": dataclasses.asdict(difference),
        "settings": {name: pair for name, pair in pairs.items() if pair[0] != pair[1] and "seed" not in name},
    }


def evaluate(run: "Run", *, rollouts: int, checkpoint: int | None = None, note: Note = print) -> dict[str, Any]:
    """Every exact measure of a checkpoint's agents, and beside it what rollouts of each skill say of it.

    `values`, `mean`, `std`, `low`, `high`: the exact measure of each seed and over seeds. `sampled` and `error`: the
    estimate's mean over the same seeds and its standard error, which knows of the rollouts' chance alone.
    """
    import jax
    import jax.numpy as jnp
    import numpy as np

    from disdain.evaluation.sampled import Sampled
    from disdain.evaluation.statistics import summary
    from disdain.training.parts import make_parts

    parts = make_parts(run.config, run.world()[0])
    update = _which(run, checkpoint, note)
    tables = _agents(run, parts, update)
    epsilon = jnp.float32(run.config.epsilon)
    greedy = jnp.asarray(tables.greedy, jnp.int32).reshape(len(run.seeds), run.config.num_skills, -1)
    logits = jnp.asarray(tables.discriminator)
    exact = jax.jit(jax.vmap(parts.exact.measures, in_axes=(0, 0, None)))(greedy, logits, epsilon)
    estimator = Sampled(parts.world, parts.rules.objective, run.config.moves, run.config.num_skills, rollouts)
    sampled = [
        estimator.measures(greedy[i], logits[i], run.config.epsilon, jax.random.key(seed)) if rollouts else {}
        for i, seed in enumerate(run.seeds)
    ]
    measures = {}
    for name, values in exact.items():
        measures[name] = {**summary(np.asarray(values)), "values": np.asarray(values, float).tolist()}
        estimates = [of_seed[name] for of_seed in sampled if name in of_seed]
        if estimates:
            count = len(estimates)
            measures[name]["sampled"] = sum(estimate.value for estimate in estimates) / count
            measures[name]["error"] = sum(estimate.error**2 for estimate in estimates) ** 0.5 / count
    return {
        "run": run.path,
        "method": run.config.method,
        "environment": run.config.environment,
        "update": update,
        "seeds": list(run.seeds),
        "rollouts_per_skill": rollouts,
        "ceiling": parts.exact.ceiling,
        "measures": measures,
    }


def _which(run: "Run", checkpoint: int | None, note: Note) -> int:
    """The newest whole checkpoint, or the one that was asked for."""
    from disdain.training.manifest import Damaged
    from disdain.training.resuming import find_point

    there = run.checkpoints.updates()
    if not there:
        raise UserError(f"{run.path} has no checkpoint yet")
    if checkpoint is None:
        return find_point([run], note).update
    if checkpoint not in there:
        raise UserError(f"{run.path} has no checkpoint of update {checkpoint} (there are: {_spell(there)})")
    try:
        run.checkpoints.verify(checkpoint)
    except Damaged as error:
        raise UserError(f"{run.checkpoints.path(checkpoint)} is damaged: {error}") from None
    return checkpoint


def _agents(run: "Run", parts: "Parts", update: int) -> Any:
    """The tables of every seed, read from a checkpoint."""
    import jax
    import numpy as np

    from disdain.training.fused import stack_rates
    from disdain.training.parts import rates_of

    keys = jax.eval_shape(lambda: jax.vmap(jax.random.key)(np.asarray(run.seeds, np.uint32)))
    shapes = jax.eval_shape(jax.vmap(parts.init), keys, stack_rates([rates_of(run.config) for _ in run.seeds]))
    return run.checkpoints.load(update, shapes).agent


def _spell(numbers: Any) -> str:
    """`0–4, 9`."""
    ordered, parts = sorted(numbers), list[str]()
    while ordered:
        end = next((i for i in range(1, len(ordered)) if ordered[i] != ordered[0] + i), len(ordered))
        parts.append(str(ordered[0]) if end == 1 else f"{ordered[0]}–{ordered[end - 1]}")
        ordered = ordered[end:]
    return ", ".join(parts)
