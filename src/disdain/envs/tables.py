"""Finite Gymnasium environments, by name: those that show their transition table."""

import difflib
import math
import warnings
from typing import Any

import numpy as np

from disdain.envs.finite import Finite
from disdain.errors import UserError, nearest


def gymnasium_table(name: str) -> Finite:
    """The whole table of a Gymnasium environment: every outcome of every move, every start, holes and time limit."""
    environment = _made(name)
    table = getattr(environment.unwrapped, "P", None)
    begin = getattr(environment.unwrapped, "initial_state_distrib", None)
    limit = environment.spec.max_episode_steps if environment.spec else None
    environment.close()
    if not isinstance(table, dict) or begin is None:
        raise UserError(
            f"gym:{name} shows no transition table (env.unwrapped.P and initial_state_distrib): tables need one; "
            "FrozenLake-v1, CliffWalking-v1 and Taxi-v4 have it"
        )
    try:
        return _world(f"gym:{name}", table, np.asarray(begin, float), limit)
    except (KeyError, IndexError, TypeError, ValueError):
        raise UserError(
            f"gym:{name} has a transition table of another form than P[state][action] = [(chance, next, reward, over)] "
            "with states and actions numbered from 0"
        ) from None


def _made(name: str) -> Any:
    """The environment, or a `UserError`; what Gymnasium has to say about other versions stays unsaid."""
    import gymnasium

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return gymnasium.make(name)
    except Exception as error:  # whatever an environment's own code raises
        known = sorted(gymnasium.registry)
        if isinstance(error, gymnasium.error.Error) and name not in known:
            raise nearest("Gymnasium environment", name, _near(name, known)) from None
        reason = (str(error).splitlines() or [""])[0]
        kind = "" if isinstance(error, gymnasium.error.Error) else f"{type(error).__name__}: "
        raise UserError(f"gym:{name} cannot be made: {kind}{reason}") from None


def _world(name: str, table: dict[int, Any], begin: np.ndarray, limit: int | None) -> Finite:
    merged = [[_merged(table[s][a]) for a in range(len(table[0]))] for s in range(len(table))]
    shape = (len(merged), len(merged[0]), max(len(outcomes) for row in merged for outcomes in row))
    next_state, probability, terminated = np.zeros(shape, np.int32), np.zeros(shape), np.zeros(shape, bool)
    for s, a in np.ndindex(shape[:2]):
        for k, ((after, over), chance) in enumerate(sorted(merged[s][a].items())):
            next_state[s, a, k], terminated[s, a, k], probability[s, a, k] = after, over, chance
    if begin.shape != shape[:1] or not 0 <= next_state.min() <= next_state.max() < shape[0]:
        raise ValueError(name)
    return Finite(name, next_state, probability, terminated, begin / begin.sum(), limit)


def _merged(outcomes: list[Any]) -> dict[tuple[int, bool], float]:
    merged: dict[tuple[int, bool], float] = {}
    for chance, after, _, over in outcomes:
        if chance > 0:
            key = (int(after), bool(over))
            merged[key] = merged.get(key, 0.0) + float(chance)
    if not math.isclose(sum(merged.values()), 1.0, abs_tol=1e-6):
        raise UserError(f"a transition table has outcomes whose chances add up to {sum(merged.values()):g}, not 1")
    return merged


def _near(name: str, known: list[str]) -> list[str]:
    return difflib.get_close_matches(name, known, n=3, cutoff=0.4) or ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"]
