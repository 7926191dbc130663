"""Finite Gymnasium environments, by name: those that show their transition table."""

import math

import numpy as np

from disdain.envs.finite import Finite
from disdain.errors import UserError, nearest


def gymnasium_table(name: str) -> Finite:
    """The whole table of a Gymnasium environment: every outcome of every move, every start, holes and time limit."""
    import gymnasium
    from gymnasium.error import Error

    try:
        with_limits = gymnasium.make(name)
    except Error as error:
        known = sorted(gymnasium.registry)
        if name not in known:
            raise nearest("Gymnasium environment", name, _near(name, known)) from None
        raise UserError(f"gym:{name} cannot be made: {str(error).splitlines()[0]}") from None
    except Exception as error:
        raise UserError(f"gym:{name} cannot be made: {type(error).__name__}: {str(error).splitlines()[0]}") from None
    world = with_limits.unwrapped
    table, begin = getattr(world, "P", None), getattr(world, "initial_state_distrib", None)
    limit = with_limits.spec.max_episode_steps if with_limits.spec else None
    with_limits.close()
    if not isinstance(table, dict) or begin is None:
        raise UserError(
            f"gym:{name} shows no transition table (env.unwrapped.P and initial_state_distrib): tables need one; "
            "FrozenLake-v1, CliffWalking-v1 and Taxi-v4 have it"
        )
    states, actions = len(table), len(table[0])
    outcomes = max(len(_merged(table[s][a])) for s in table for a in table[s])
    next_state = np.zeros((states, actions, outcomes), np.int32)
    probability = np.zeros((states, actions, outcomes))
    terminated = np.zeros((states, actions, outcomes), bool)
    for s in range(states):
        for a in range(actions):
            for k, ((after, over), chance) in enumerate(sorted(_merged(table[s][a]).items())):
                next_state[s, a, k], terminated[s, a, k], probability[s, a, k] = after, over, chance
    start = np.asarray(begin, float)
    return Finite(f"gym:{name}", next_state, probability, terminated, start / start.sum(), limit)


def _merged(outcomes: list[tuple[float, int, float, bool]]) -> dict[tuple[int, bool], float]:
    merged: dict[tuple[int, bool], float] = {}
    for chance, after, _, over in outcomes:
        if chance > 0:
            key = (int(after), bool(over))
            merged[key] = merged.get(key, 0.0) + float(chance)
    if not math.isclose(sum(merged.values()), 1.0, abs_tol=1e-6):
        raise UserError(f"a transition table has outcomes whose chances add up to {sum(merged.values()):g}, not 1")
    return merged


def _near(name: str, known: list[str]) -> list[str]:
    import difflib

    return difflib.get_close_matches(name, known, n=3, cutoff=0.4) or ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"]
