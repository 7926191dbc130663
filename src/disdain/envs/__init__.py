"""Worlds: what an agent moves in, and the truth about it where it is known."""

import difflib
from pathlib import Path

from disdain.envs.finite import Episode, Finite, unit
from disdain.envs.grid import FOUR_ROOMS, FOUR_ROOMS_SMALL, grid_world, read_map
from disdain.envs.tables import gymnasium_table
from disdain.errors import UserError

__all__ = ["BUILT_IN", "Episode", "Finite", "make", "unit"]

BUILT_IN = {"four-rooms": FOUR_ROOMS, "four-rooms-small": FOUR_ROOMS_SMALL}


def make(name: str, *, moves: int, slip: float = 0.0) -> tuple[Finite, str]:
    """A world by name, and a line for the user about it ('' when there is nothing to say).

    Grid worlds have episodes as long as one skill (`moves`), as in the paper; Gymnasium's have their own limit.
    """
    left_out = 0
    if name in BUILT_IN:
        world, left_out = grid_world(BUILT_IN[name], name, time_limit=moves, slip=slip)
    elif name.startswith("map:"):
        path = Path(name.removeprefix("map:"))
        world, left_out = grid_world(read_map(path), str(path), time_limit=moves, slip=slip)
    elif name.startswith("gym:"):
        if slip:
            raise UserError(f"slip is {slip}: only grid worlds slip, {name} has chances of its own")
        world = gymnasium_table(name.removeprefix("gym:"))
    else:
        close = difflib.get_close_matches(name, BUILT_IN, n=1, cutoff=0.4)
        hint = f"did you mean '{close[0]}'? " if close else ""
        raise UserError(f"unknown environment {name!r}: {hint}(known: {', '.join(BUILT_IN)}, map:FILE, gym:NAME)")
    if world.time_limit is not None and moves > world.time_limit:
        raise UserError(
            f"unroll_length is {moves + 1}: an episode of {name} has {world.time_limit} moves at most, "
            f"so a trajectory has {world.time_limit + 1} states at most"
        )
    note = (
        f"{left_out} floor cells of {world.name} cannot be reached from its start and are left out" if left_out else ""
    )
    return world, note
