"""Every experiment by name: its figure in the source, its runs, and whether it is here yet."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from disdain.config import METHODS
from disdain.errors import UserError, nearest
from disdain.experiments.sweeps import sweep_runs

Overrides = Mapping[str, Any]  # fields of Config, over those of the preset


@dataclasses.dataclass(frozen=True)
class Experiment:
    """Some runs and the figures drawn from them. Experiments with the same `folder` share what they have in common."""

    name: str
    number: str  # of the figure in the source, "" where the paper says it without a figure
    description: str
    folder: str = ""
    runs: Mapping[str, Overrides] = dataclasses.field(default_factory=dict)
    quick_runs: Mapping[str, Overrides] | None = None  # for --quick, where they are not simply `runs`
    seeds: int = 20

    @property
    def here(self) -> bool:
        """Whether it can be reproduced yet."""
        return bool(self.runs)


def experiment(name: str) -> Experiment:
    """An experiment that can be reproduced, or a `UserError`."""
    if name not in EXPERIMENTS:
        raise nearest("experiment", name, EXPERIMENTS)
    found = EXPERIMENTS[name]
    if not found.here:
        here = ", ".join(other.name for other in EXPERIMENTS.values() if other.here)
        raise UserError(f"experiment {name!r} (Figure {found.number} of the source) is not here yet (here: {here})")
    return found


_METHODS: dict[str, Overrides] = {method: {"method": method} for method in METHODS}

EXPERIMENTS: dict[str, Experiment] = {
    entry.name: entry
    for entry in (
        Experiment(
            "four-rooms",
            "3",
            "skills learnt and goals reached, final states without and with DISDAIN, the bonus of every state",
            folder="four-rooms",
            runs=_METHODS,
        ),
        Experiment("atari-skills", "4", "skills learnt on 57 games: curves, distributions and boosts over unbonused"),
        Experiment("atari-utility", "5", "zero-shot reward and lifetime coverage, improvement over unbonused"),
        Experiment("atari-seeds", "6", "skills learnt on each game, every seed"),
        Experiment("atari-boosts", "7", "skills learnt on each game, and each method's boost over unbonused"),
        Experiment("atari-robustness", "8", "DISDAIN's bonus weight and ensemble size, mean over games"),
        Experiment("atari-weights", "9", "DISDAIN's bonus weight, each game"),
        Experiment("atari-ensembles", "10", "DISDAIN's ensemble size, each game"),
        Experiment("atari-rnd-weights", "11", "RND's bonus weight, mean over games"),
        Experiment("atari-rnd-weights-games", "12", "RND's bonus weight, each game"),
        Experiment("atari-rewards", "13", "zero-shot reward over training, each game"),
        Experiment("atari-lifetime-coverage", "14", "lifetime coverage, each game and seed"),
        Experiment("atari-episodic-boosts", "15", "episodic coverage, improvement over unbonused"),
        Experiment("atari-episodic-coverage", "16", "episodic coverage, each game and seed"),
        Experiment("atari-bonuses", "17", "skill reward and DISDAIN bonus over training, each game and seed"),
        Experiment(
            "four-rooms-rollouts",
            "18, 19",
            "a greedy rollout of every skill, with DISDAIN (18) and unbonused (19)",
            folder="four-rooms",
            runs={name: _METHODS[name] for name in ("disdain", "unbonused")},
        ),
        Experiment(
            "four-rooms-seeds",
            "20",
            "skills learnt, every seed",
            folder="four-rooms",
            runs=_METHODS,
        ),
        Experiment(
            "four-rooms-gap",
            "",
            "the pessimism that the paper argues about: true information, the discriminator's bound, and their gap",
            folder="four-rooms",
            runs=_METHODS,
        ),
        Experiment(
            "sweep-four-rooms",
            "",
            "what the paper says of its choices: λ, N, count weight, one value or two, clipping, where λ stands",
            folder="sweep-four-rooms",
            runs=sweep_runs(),
            quick_runs=sweep_runs(quick=True),
            seeds=10,
        ),
    )
}
