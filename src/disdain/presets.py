"""The paper's Table 1 and ours: every value with its source, and where it departs from the paper."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from disdain.config import METHODS, Config
from disdain.errors import UserError, nearest

Rule = Callable[[Config], Any]  # a value that follows from the rest of the (resolved) configuration


@dataclasses.dataclass(frozen=True)
class Setting:
    """A field's value, or the rule that gives it; where it comes from; how it differs from the paper ('' if not)."""

    value: Any
    source: str
    deviation: str = ""


@dataclasses.dataclass(frozen=True)
class Preset:
    """A whole configuration with a setting for every field; any method can be chosen with it."""

    name: str
    summary: str
    settings: Mapping[str, Setting]

    def config(self, **overrides: Any) -> Config:
        """The validated configuration, the user's choices over the preset's; rules see those choices."""
        known = [field.name for field in dataclasses.fields(Config)]
        for name in overrides:
            if name not in known:
                raise nearest("field", name, known)
        plain = {name: s.value for name, s in self.settings.items() if not callable(s.value)}
        config = Config(**{**plain, **overrides}).validated()
        rules = {name: s.value(config) for name, s in self.settings.items() if callable(s.value)}
        return dataclasses.replace(config, **{k: v for k, v in rules.items() if k not in overrides}).validated()

    def table(self, method: str = "disdain") -> dict[str, dict[str, Any]]:
        """Every field: its value for a method, its source and its deviation from the paper."""
        config = self.config(method=method)
        return {
            field.name: {
                "value": getattr(config, field.name),
                "source": self.settings[field.name].source,
                "deviation": self.settings[field.name].deviation,
            }
            for field in dataclasses.fields(Config)
        }


def preset(name: str) -> Preset:
    """A preset by its name, or a `UserError` with the nearest."""
    if name not in PRESETS:
        raise nearest("preset", name, PRESETS)
    return PRESETS[name]


def _notebook_weight(config: Config) -> float:
    return 20.0 if METHODS[config.method][2] > 0 else 0.0


def _notebook_rate(config: Config) -> float:
    if not config.ensemble_size:
        raise UserError(f"ensemble_size is {config.ensemble_size}: it must be 1 or more")
    return config.learning_rate / config.ensemble_size


_NO_RATIO = "our reading: the paper gives no ratio of acting to learning; 16 for a batch of 16 learns from each once"

_PAPER = {
    "environment": Setting(
        "four-rooms", "paper, §4: 4 rooms, 104 states, start top left; the 13×13 map has just these"
    ),
    "method": Setting("disdain", "paper; the others are its baselines (--method)"),
    "objective": Setting("final", "paper, §4: the discriminator receives only the final state of a trajectory"),
    "seeds": Setting(20, "paper, Figure 3: 20 seeds"),
    "first_seed": Setting(0, "ours"),
    "updates": Setting(
        20_000_000,
        "measured with the plain C loop: online, DISDAIN has 54 skills after 10M updates, 80 after 15M, 91 after 20M",
        "the paper does not say how long it trained",
    ),
    "num_skills": Setting(128, "Table 1"),
    "unroll_length": Setting(
        20, "Table 1; 20 states are 19 moves: 103 of the 104 cells are then in reach, as the paper says"
    ),
    "batch_size": Setting(16, "Table 1"),
    "unrolls_per_update": Setting(16, _NO_RATIO),
    "num_actors": Setting(64, "Table 1"),
    "actor_period": Setting(100, "Table 1, whose unit is not given; learner updates is our reading"),
    "replay": Setting("device", "Table 1; paper, §4: sampled uniformly"),
    "replay_size": Setting(1_000_000, "Table 1"),
    "learning_rate": Setting(2e-3, "Table 1: SGD; summed over the trajectory, mean over the batch"),
    "discriminator_rate": Setting(
        None,
        "Table 1 has one rate; the loss is summed over members, so that each learns at the full rate (algorithm 1)",
    ),
    "discount": Setting(0.99, "Table 1"),
    "trace_decay": Setting(0.7, "Table 1"),
    "epsilon": Setting(0.001, "the authors' notebook; the paper does not give it"),
    "bonus": Setting(None, "paper, §4: the method's own"),
    "ensemble_size": Setting(None, "Table 1: 2; one where the method needs no ensemble"),
    "bonus_weight": Setting(None, "Table 1: 10 for DISDAIN and for count; ensemble-only is the same ensemble with 0"),
    "bonus_scale": Setting("scaled", "ours: in tables exactly the paper's weighted sum, with λ in one place"),
    "bonus_start": Setting(
        "weighted",
        "the paper's sum of two tables in [0, 1); in an earlier program, tables that start at 0 stalled at 2–3",
    ),
    "values": Setting("two", "paper, §4: 'we found it important to train separate Q-functions'"),
    "clip_skill_reward": Setting(True, "paper, appendix C: generally helpful"),
    "pin_start": Setting(False, "paper: not mentioned (the authors' notebook does it)"),
    "slip": Setting(0.0, "paper: moves are certain"),
    "evaluate_every": Setting(100_000, "ours: 200 points on a curve"),
    "checkpoint_every": Setting(1_000_000, "ours"),
    "keep_checkpoints": Setting(3, "ours"),
    "deterministic": Setting(False, "ours; a CPU is exact without it"),
}

_FAST = _PAPER | {
    "updates": Setting(
        100_000,
        "measured with the plain C loop at lr 0.5: 84–91 skills after 50k updates, then level",
        "the paper does not say how long it trained; at its lr the same takes 20M updates",
    ),
    "num_actors": Setting(
        16, "ours: the actors whose unrolls are the batch", "Table 1: 64; the same here, where each skill begins anew"
    ),
    "actor_period": Setting(1, "ours: actors always have the newest policy", "Table 1: 100"),
    "replay": Setting(
        "online",
        "measured with the plain C loop: 91 skills online, 74 from a replay of 10⁶ (lr 0.1, 1M updates)",
        "Table 1: uniform replay of 10⁶ unrolls",
    ),
    "replay_size": Setting(1_000_000, "Table 1; without effect online"),
    "learning_rate": Setting(
        0.5,
        "measured with the plain C loop: as many skills 400 times sooner; above 0.8 the ends scatter more",
        "Table 1: 2e-3",
    ),
    "evaluate_every": Setting(1_000, "ours: 100 points on a curve"),
    "checkpoint_every": Setting(20_000, "ours"),
}

_SMALL = _FAST | {
    "environment": Setting(
        "four-rooms-small", "the authors' notebook: 8 rows of 7, 24 cells, 23 in reach", "paper, §4: 104 states"
    ),
    "updates": Setting(
        1_000_000, "the authors' notebook: DISDAIN about 15 skills after 500k updates and 21 after 1M", ""
    ),
    "num_skills": Setting(24, "the authors' notebook", "Table 1: 128"),
    "unroll_length": Setting(9, "the authors' notebook: 8 moves, so 9 states", "Table 1: 20"),
    "batch_size": Setting(16, "the authors' notebook; Table 1"),
    "unrolls_per_update": Setting(16, "the authors' notebook: it learns from what it just did"),
    "replay": Setting("online", "the authors' notebook", "Table 1: uniform replay of 10⁶ unrolls"),
    "learning_rate": Setting(4e-3, "the authors' notebook", "Table 1: 2e-3"),
    "discriminator_rate": Setting(
        _notebook_rate,
        "the authors' notebook takes the mean over members: 4e-3 for one member, 2e-3 for each of two",
        "Table 1 and algorithm 1: each member at the full rate",
    ),
    "epsilon": Setting(0.001, "the authors' notebook"),
    "bonus_weight": Setting(_notebook_weight, "the authors' notebook: 20 where there is a bonus", "Table 1: 10"),
    "pin_start": Setting(
        True, "the authors' notebook: ending at the start earns nothing (ceiling 21.4)", "paper: not mentioned"
    ),
    "evaluate_every": Setting(10_000, "ours: 100 points on a curve"),
    "checkpoint_every": Setting(100_000, "ours"),
}

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("four-rooms", "Four Rooms, fast: the paper's skills in 100k updates (online, lr 0.5)", _FAST),
        Preset("four-rooms-paper", "Four Rooms, Table 1 to the letter: lr 2e-3, replay of 10⁶, 20M updates", _PAPER),
        Preset("four-rooms-small", "the authors' notebook: 24 cells, 24 skills, 1M updates", _SMALL),
    )
}
