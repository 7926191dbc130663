"""Grid worlds drawn as text: '#' a wall, ' ' or '.' a floor, 'S' the start."""

from pathlib import Path

import numpy as np

from disdain.envs.finite import Finite
from disdain.errors import UserError

FOUR_ROOMS = """\
#############
#     #     #
#     #     #
#           #
#     #     #
#     #     #
## ####     #
#     ### ###
#     #     #
#     #     #
#           #
#     #     #
#############"""

FOUR_ROOMS_SMALL = """\
#######
#  #  #
#     #
## #  #
#  # ##
#  #  #
#     #
#######"""

MOVES = {"stay": (0, 0), "up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
LARGEST_FILE = 1_000_000
LARGEST_MAP = 10_000  # cells


def read_map(path: str | Path) -> str:
    """The text of a map file, or a `UserError`."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise UserError(f"map {path} is too large: a map has {LARGEST_FILE:,} bytes at most")
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UserError(f"map {path} is not text") from None
    except OSError as error:
        raise UserError(f"map {path} cannot be read: {error.strerror}") from None


def grid_world(text: str, name: str, *, time_limit: int | None, slip: float = 0.0) -> tuple[Finite, int]:
    """A world from its map, and the number of floor cells left out because no path leads there.

    Five actions: stay, up, down, left, right; a move into a wall stays. With chance `slip` a move goes in one of the
    five directions, drawn uniformly, whatever the action.
    """
    rows = _rows(text, name)
    floor = {(r, c): mark for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "#"}
    marked = [cell for cell, mark in floor.items() if mark == "S"]
    if not floor:
        raise UserError(f"map {name} has no free cell")
    if len(marked) > 1:
        (r0, c0), (r1, c1) = marked[:2]
        first, second = f"line {r0 + 1} column {c0 + 1}", f"line {r1 + 1} column {c1 + 1}"
        raise UserError(f"map {name} has {len(marked)} starts ('S' at {first} and at {second}): mark one")
    start = marked[0] if marked else min(floor)
    connected = _connected(floor, start)
    if len(connected) > LARGEST_MAP:
        raise UserError(f"map {name} has {len(connected):,} free cells: {LARGEST_MAP:,} at most")
    cells = sorted(connected)
    number = {cell: i for i, cell in enumerate(cells)}
    target = np.array(
        [[number.get((r + dr, c + dc), number[r, c]) for dr, dc in MOVES.values()] for r, c in cells], np.int32
    )
    actions = len(MOVES)
    if slip > 0:
        next_state = np.repeat(target[:, None, :], actions, axis=1)
        probability = np.full(next_state.shape, slip / actions) + (1.0 - slip) * np.eye(actions)
    else:
        next_state, probability = target[:, :, None], np.ones((*target.shape, 1))
    begin = np.zeros(len(cells))
    begin[number[start]] = 1.0
    world = Finite(
        name=name,
        next_state=next_state,
        probability=probability,
        terminated=np.zeros(next_state.shape, bool),
        start=begin,
        time_limit=time_limit,
        picture=tuple(rows),
        position=np.array(cells),
    )
    return world, len(floor) - len(cells)


def _rows(text: str, name: str) -> list[str]:
    rows = text.rstrip("\n").split("\n") if text.strip("\n") else []
    if not rows:
        raise UserError(f"map {name} is empty")
    for r, row in enumerate(rows):
        for c, mark in enumerate(row):
            if mark not in "# .S":
                known = "'#' is a wall, ' ' or '.' a floor, 'S' the start"
                raise UserError(f"map {name} has {mark!r} at line {r + 1} column {c + 1}: {known}")
        if len(row) != len(rows[0]):
            wide = f"line 1 has {len(rows[0])} columns, line {r + 1} has {len(row)}"
            raise UserError(f"map {name} is not rectangular: {wide}")
    return rows


def _connected(floor: dict[tuple[int, int], str], start: tuple[int, int]) -> set[tuple[int, int]]:
    seen, frontier = {start}, [start]
    while frontier:
        r, c = frontier.pop()
        for dr, dc in MOVES.values():
            cell = (r + dr, c + dc)
            if cell in floor and cell not in seen:
                seen.add(cell)
                frontier.append(cell)
    return seen
