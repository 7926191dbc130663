"""Skill discovery with discriminator disagreement (DISDAIN).

The bonus alone, for a training loop of your own, on NumPy, JAX or PyTorch arrays `[..., member, skill]`:

    reward = disdain.skill_reward(logits, skill, clip=True) + 10.0 * disdain.bonus(logits)

Names are imported when they are first used: `import disdain` costs next to nothing, and the bonus of a NumPy or
PyTorch array never loads JAX.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disdain.agents.tabular import Tabular
    from disdain.config import Config
    from disdain.envs import make as make_world
    from disdain.envs.finite import Finite
    from disdain.envs.grid import grid_world
    from disdain.errors import UserError
    from disdain.method.bonuses import Bonus, Count, Disagreement, NoBonus
    from disdain.method.disagreement import disagreement as bonus
    from disdain.method.losses import cross_entropy, squared_td
    from disdain.method.objectives import EveryState, FinalState, InitialAndFinalState, Objective
    from disdain.method.returns import composite, greedy, peng_returns
    from disdain.method.rewards import ceiling, effective_skills, skill_reward
    from disdain.method.unroll import Unroll
    from disdain.presets import preset
    from disdain.training.run import Run
    from disdain.training.trainer import train

    __version__: str

_HOMES = {
    "Bonus": "method.bonuses",
    "Config": "config",
    "Count": "method.bonuses",
    "Disagreement": "method.bonuses",
    "EveryState": "method.objectives",
    "FinalState": "method.objectives",
    "Finite": "envs.finite",
    "InitialAndFinalState": "method.objectives",
    "NoBonus": "method.bonuses",
    "Objective": "method.objectives",
    "Run": "training.run",
    "Tabular": "agents.tabular",
    "Unroll": "method.unroll",
    "UserError": "errors",
    "bonus": "method.disagreement:disagreement",
    "ceiling": "method.rewards",
    "composite": "method.returns",
    "cross_entropy": "method.losses",
    "effective_skills": "method.rewards",
    "greedy": "method.returns",
    "grid_world": "envs.grid",
    "make_world": "envs:make",
    "peng_returns": "method.returns",
    "preset": "presets",
    "skill_reward": "method.rewards",
    "squared_td": "method.losses",
    "train": "training.trainer",
}

__all__ = [
    "Bonus",
    "Config",
    "Count",
    "Disagreement",
    "EveryState",
    "FinalState",
    "Finite",
    "InitialAndFinalState",
    "NoBonus",
    "Objective",
    "Run",
    "Tabular",
    "Unroll",
    "UserError",
    "__version__",
    "bonus",
    "ceiling",
    "composite",
    "cross_entropy",
    "effective_skills",
    "greedy",
    "grid_world",
    "make_world",
    "peng_returns",
    "preset",
    "skill_reward",
    "squared_td",
    "train",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = _version()
    elif name in _HOMES:
        module, _, attribute = _HOMES[name].partition(":")
        value = getattr(importlib.import_module(f"disdain.{module}"), attribute or name)
    else:
        raise AttributeError(f"module 'disdain' has no attribute {name!r}", name=name, obj=globals())
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version("disdain")
    except importlib.metadata.PackageNotFoundError:
        return "0+unknown"  # a source tree that was never installed
