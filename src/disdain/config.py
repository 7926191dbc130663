"""Everything that decides what a run learns. The string under each field is its help text."""

import dataclasses
import typing
from pathlib import Path
from typing import Any, Literal

from disdain.errors import UserError, nearest

Method = Literal["disdain", "count", "ensemble", "unbonused"]
ObjectiveName = Literal["final", "initial-final", "every"]

# What a method is: (bonus, ensemble size, bonus weight). One agent; ensemble-only is the same ensemble with λ = 0.
METHODS: dict[str, tuple[str, int, float]] = {
    "count": ("count", 1, 10.0),
    "disdain": ("disagreement", 2, 10.0),
    "ensemble": ("disagreement", 2, 0.0),
    "unbonused": ("none", 1, 0.0),
}


@dataclasses.dataclass(frozen=True)
class Config:
    """One method in one world: a run trains it on a number of seeds."""

    environment: str = "four-rooms"
    """four-rooms, four-rooms-small, map:FILE (a text map: '#' wall, ' ' floor, 'S' start) or gym:NAME."""
    method: Method = "disdain"
    """disdain, count, ensemble (the same ensemble without its bonus) or unbonused."""
    objective: ObjectiveName = "final"
    """What the discriminator sees: final (s_T), initial-final (VIC) or every (DIAYN)."""
    seeds: int = 20
    """How many seeds to train side by side."""
    first_seed: int = 0
    """Number of the first seed."""
    updates: int = 100_000
    """Learner updates, in whole blocks of 100."""
    num_skills: int = 128
    """Number of skills N_Z."""
    unroll_length: int = 20
    """States in a skill trajectory, T: one more than its moves."""
    batch_size: int = 16
    """Unrolls in a learner's batch."""
    unrolls_per_update: int = 16
    """New unrolls between two updates."""
    num_actors: int = 16
    """Actors, each with an episode of its own; the next `unrolls_per_update` of them act before each update."""
    actor_period: int = 1
    """Learner updates between two refreshes of the actors' copy of the policy; 1: always fresh."""
    replay: Literal["online", "device"] = "online"
    """online: learn from the new unrolls; device: sample uniformly from a ring buffer on the device."""
    replay_size: int = 1_000_000
    """Unrolls that the ring holds."""
    learning_rate: float = 0.5
    """SGD step of both values."""
    discriminator_rate: float | None = None
    """SGD step of each member of the ensemble; the values' own when not given."""
    discount: float = 0.99
    """Discount γ."""
    trace_decay: float = 0.7
    """Trace decay λ of Peng's Q(λ)."""
    epsilon: float = 0.001
    """Chance of a uniformly random action."""
    bonus: Literal["disagreement", "count", "none"] | None = None
    """The exploration bonus; the method's when not given."""
    ensemble_size: int | None = None
    """Members N of the ensemble; the method's when not given."""
    bonus_weight: float | None = None
    """Bonus weight λ; the method's when not given."""
    bonus_scale: Literal["scaled", "weighted"] = "scaled"
    """scaled: the bonus value is learnt on λ·r_bonus; weighted: on r_bonus, and λ multiplies the value."""
    bonus_start: Literal["weighted", "unit"] = "weighted"
    """Where the scaled bonus table starts: uniform in [0, λ) (the composite of the paper, exactly) or in [0, 1)."""
    values: Literal["two", "one"] = "two"
    """two: a value function for each reward; one: a single one for their weighted sum."""
    clip_skill_reward: bool = True
    """Learn from max(r_skill, 0) (appendix C); metrics never clip."""
    pin_start: bool = False
    """Keep the discriminator's logits of the start state at 0, so that ending there earns nothing."""
    slip: float = 0.0
    """Grid worlds: the chance that a move goes in a uniformly random direction."""
    evaluate_every: int = 1_000
    """Updates between two evaluations (a row of metrics each), in whole blocks of 100."""
    checkpoint_every: int = 20_000
    """Updates between two checkpoints, in whole evaluations."""
    keep_checkpoints: int = 3
    """How many checkpoints stay on disk."""
    deterministic: bool = False
    """Exact resume on a GPU too, at some cost in speed (a CPU is always exact)."""

    @property
    def moves(self) -> int:
        """Moves of a full trajectory, T − 1."""
        return self.unroll_length - 1

    def resolved(self) -> "Config":
        """The same configuration with everything that the method decides written out."""
        if self.method not in tuple(METHODS):
            raise nearest("method", self.method, METHODS)
        bonus, size, weight = METHODS[self.method]
        return dataclasses.replace(
            self,
            bonus=self.bonus or bonus,
            ensemble_size=size if self.ensemble_size is None else self.ensemble_size,
            bonus_weight=weight if self.bonus_weight is None else self.bonus_weight,
            discriminator_rate=self.learning_rate if self.discriminator_rate is None else self.discriminator_rate,
        )

    def validated(self) -> "Config":
        """Resolved, or a `UserError` that names the field, its value and what would do."""
        config = self.resolved()
        for field in dataclasses.fields(config):
            _check_type(field.name, getattr(config, field.name), _HINTS[field.name])
        _check_ranges(config)
        return config


def choices(hint: Any) -> tuple[str, ...]:
    """The values that a Literal field allows, () for any other field."""
    for part in (hint, *typing.get_args(hint)):
        if typing.get_origin(part) is Literal:
            return typing.get_args(part)
    return ()


def scalar(hint: Any) -> tuple[type, bool]:
    """The plain type behind a field's annotation, and whether None is allowed."""
    if choices(hint):
        return str, type(None) in typing.get_args(hint)
    parts = [part for part in typing.get_args(hint) if part is not type(None)]
    return (parts[0], True) if parts else (hint, False)


def help_texts() -> dict[str, str]:
    """The string under each field."""
    import ast
    import inspect

    tree = ast.parse(inspect.getsource(Config)).body[0]
    assert isinstance(tree, ast.ClassDef)
    texts: dict[str, str] = {}
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(node, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(node.target, ast.Name):
            texts[node.target.id] = str(ast.literal_eval(after.value))
    return texts


def from_dict(values: dict[str, Any], where: str | Path) -> Config:
    """A configuration as a run folder keeps it."""
    known = {field.name for field in dataclasses.fields(Config)}
    for name in values:
        if name not in known:
            raise UserError(f"{where}: {nearest('field', name, sorted(known))}")
    try:
        return Config(**values).validated()
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def differences(old: Config, new: Config) -> dict[str, tuple[Any, Any]]:
    """The fields in which two configurations differ."""
    pairs = ((field.name, getattr(old, field.name), getattr(new, field.name)) for field in dataclasses.fields(Config))
    return {name: (before, after) for name, before, after in pairs if before != after}


_HINTS = typing.get_type_hints(Config)
BLOCK = 100  # updates whose random numbers are drawn together


def _check_type(name: str, value: Any, hint: Any) -> None:
    allowed = choices(hint)
    kind, optional = scalar(hint)
    if value is None and optional:
        return
    if allowed:
        if value not in allowed:
            raise nearest(name, value, allowed)
    elif kind is float and isinstance(value, int) and not isinstance(value, bool):
        return
    elif not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise UserError(f"{name} is {value!r}: it takes {kind.__name__}")


def _check_ranges(config: Config) -> None:
    positive = ("seeds", "updates", "num_skills", "batch_size", "unrolls_per_update", "num_actors", "actor_period")
    positive += ("replay_size", "ensemble_size", "evaluate_every", "checkpoint_every", "keep_checkpoints")
    for name in positive:
        if getattr(config, name) < 1:
            raise UserError(f"{name} is {getattr(config, name)}: it must be 1 or more")
    if config.unroll_length < 2:
        raise UserError(f"unroll_length is {config.unroll_length}: a trajectory has 2 states or more (one move)")
    if config.num_skills < 2:
        raise UserError(f"num_skills is {config.num_skills}: it must be 2 or more (one skill tells nothing apart)")
    if config.first_seed < 0:
        raise UserError(f"first_seed is {config.first_seed}: it must be 0 or more")
    for name in ("epsilon", "slip", "discount", "trace_decay"):
        if not 0.0 <= getattr(config, name) <= 1.0:
            raise UserError(f"{name} is {getattr(config, name)}: it must lie in [0, 1]")
    for name in ("learning_rate", "discriminator_rate"):
        if not 0.0 < getattr(config, name) < float("inf"):
            raise UserError(f"{name} is {getattr(config, name)}: it must be positive and finite")
    if not 0.0 <= float(config.bonus_weight or 0.0) < float("inf"):
        raise UserError(f"bonus_weight is {config.bonus_weight}: it must be 0 or more and finite")
    for name, block in (("updates", BLOCK), ("evaluate_every", BLOCK), ("checkpoint_every", config.evaluate_every)):
        value = getattr(config, name)
        if value % block:
            raise UserError(f"{name} is {value}: it must be a multiple of {block} (try {_round_up(value, block)})")
    if config.replay == "online" and config.batch_size != config.unrolls_per_update:
        raise UserError(
            f"batch_size is {config.batch_size}: with replay=online a batch is the {config.unrolls_per_update} new "
            f"unrolls of an update (use --batch-size {config.unrolls_per_update}, or --replay device)"
        )
    if config.num_actors % config.unrolls_per_update:
        raise UserError(
            f"num_actors is {config.num_actors}: it must be a multiple of unrolls_per_update, "
            f"{config.unrolls_per_update} (try {_round_up(config.num_actors, config.unrolls_per_update)})"
        )
    if config.replay == "device" and config.replay_size % config.unrolls_per_update:
        raise UserError(
            f"replay_size is {config.replay_size}: it must be a multiple of unrolls_per_update, "
            f"{config.unrolls_per_update}"
        )
    if config.ensemble_size == 1 and config.bonus == "disagreement" and float(config.bonus_weight or 0) > 0:
        raise UserError("ensemble_size is 1: a lone member cannot disagree (use --ensemble-size 2, or --bonus none)")


def _round_up(value: int, block: int) -> int:
    return -(-value // block) * block
