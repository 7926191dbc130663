"""Maps: what they say, what is wrong with them, and what is left out."""

import os
from collections import Counter

import numpy as np
import pytest

from disdain.envs import make
from disdain.envs.grid import FOUR_ROOMS, MOVES, grid_world, read_map
from disdain.errors import UserError

BOX = "#####\n#   #\n#   #\n#####"


def distances(world):
    """Moves from the start to each state, by breadth-first search over the table."""
    far = {int(world.starts[0]): 0}
    frontier = list(far)
    while frontier:
        state = frontier.pop(0)
        for after in world.next_state[state].ravel().tolist():
            if after not in far:
                far[after] = far[state] + 1
                frontier.append(after)
    return far


def written(tmp_path, data):
    path = tmp_path / "map.txt"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return f"map:{path}"


def refused(name):
    with pytest.raises(UserError) as caught:
        make(name, moves=5)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_four_rooms_is_the_paper_s():
    world, note = make("four-rooms", moves=19)
    assert (world.num_states, world.num_actions, note) == (104, 5, "")
    assert world.position is not None
    assert world.position[world.starts[0]].tolist() == [1, 1]
    assert world.reachable(19).sum() == 103
    assert world.reachable(20).sum() == 104
    assert not world.stochastic
    assert not world.may_terminate
    assert world.time_limit == 19
    counts = [count for _, count in sorted(Counter(distances(world).values()).items())]
    assert counts == [1, 2, 3, 4, 5, 4, 4, 4, 5, 7, 10, 11, 10, 7, 6, 3, 6, 6, 3, 2, 1]


def test_the_small_map_is_the_notebook_s():
    world, _ = make("four-rooms-small", moves=8)
    assert world.num_states == 24
    assert world.reachable(8).sum() == 23
    assert world.reachable(9).sum() == 24


@pytest.mark.parametrize("name", ["four-rooms", "four-rooms-small"])
def test_every_move_goes_one_cell_in_its_direction_or_nowhere(name):
    world, _ = make(name, moves=5)
    assert world.position is not None
    for state, cell in enumerate(world.position):
        for action, step in enumerate(MOVES.values()):
            row, column = cell + step
            there = cell if world.picture[row][column] == "#" else cell + step
            assert (world.position[world.next_state[state, action, 0]] == there).all()


def test_reachable_is_what_breadth_first_search_says():
    world, _ = make("four-rooms", moves=19)
    far = distances(world)
    for moves in (1, 7, 19):
        assert set(np.flatnonzero(world.reachable(moves))) == {s for s, d in far.items() if d <= moves}


def test_s_marks_the_start_else_the_first_free_cell():
    for text, cell in (("#.. #\n# S #", [1, 2]), ("#####\n# . #", [1, 1])):
        world, _ = grid_world(text, "a map", time_limit=3)
        assert world.position is not None
        assert world.position[world.starts].tolist() == [cell]


def test_cells_out_of_reach_are_left_out_and_counted(tmp_path):
    name = written(tmp_path, "#########\n#   #   #\n#   # S #\n#########\n")
    world, note = make(name, moves=4)
    assert world.num_states == 6
    assert world.position is not None
    assert world.position[:, 1].min() == 5
    assert note.startswith("6 floor cells of ")
    assert "cannot be reached" in note


def test_a_map_without_walls_has_edges():
    world, _ = grid_world("..\n..", "open", time_limit=3)
    assert world.next_state[0, :, 0].tolist() == [0, 0, 2, 0, 1]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("#####\n#  #\n#####\n", "is not rectangular: line 1 has 5 columns, line 2 has 4"),
        ("#####\n#S S#\n#####\n", "has 2 starts ('S' at line 2 column 2 and at line 2 column 4): mark one"),
        ("", "is empty"),
        ("\n\n\n", "is empty"),
        ("###\n###\n", "has no free cell"),
        ("####\n#x #\n####\n", "has 'x' at line 2 column 2: '#' is a wall, ' ' or '.' a floor, 'S' the start"),
        ("####\n#\t #\n####\n", "has '\\t' at line 2 column 2"),
        ("####\n#\0 #\n####\n", "has '\\x00' at line 2 column 2"),
        (b"\x89PNG\r\n\x1a\n\x00\xff\xfe", "is not text"),
        (np.random.default_rng(0).bytes(10_000_000), "is too large: a map has 1,000,000 bytes at most"),
        (b"#" * 10_000_000, "is too large: a map has 1,000,000 bytes at most"),
        ("\n".join(["." * 101] * 100), "has 10,100 free cells: 10,000 at most"),
    ],
    ids=["ragged", "starts", "empty", "lines", "walls", "unknown", "tab", "null", "binary", "noise", "big", "cells"],
)
def test_what_is_wrong_with_a_map_is_said_in_one_line(tmp_path, data, said):
    name = written(tmp_path, data)
    message = refused(name)
    assert message.startswith(f"map {name.removeprefix('map:')} ")
    assert said in message


def test_maps_that_cannot_be_read(tmp_path):
    assert "cannot be read: Is a directory" in refused(f"map:{tmp_path}")
    assert "cannot be read: No such file or directory" in refused(f"map:{tmp_path / 'nowhere.txt'}")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no endless file here")
def test_an_endless_file_is_refused():
    assert "is too large" in refused("map:/dev/zero")


def test_windows_files_and_byte_order_marks_are_read(tmp_path):
    name = written(tmp_path, b"\xef\xbb\xbf" + BOX.replace("\n", "\r\n").encode() + b"\r\n\r\n")
    assert make(name, moves=2)[0].num_states == 6
    assert read_map(name.removeprefix("map:")).strip() == BOX


@pytest.mark.parametrize("slip", [0.05, 0.2, 1.0])
def test_slip_goes_uniformly_in_one_of_five_directions(slip):
    calm, _ = make("four-rooms", moves=19)
    world, _ = make("four-rooms", moves=19, slip=slip)
    np.testing.assert_allclose(world.probability.sum(-1), 1.0, rtol=1e-12)
    expected = np.zeros((104, 5, 104))
    for s, a in np.ndindex(104, 5):
        expected[s, a, calm.next_state[s, a, 0]] += 1 - slip
        for b in range(5):
            expected[s, a, calm.next_state[s, b, 0]] += slip / 5
    got = np.zeros_like(expected)
    for s, a, k in np.ndindex(world.next_state.shape):
        got[s, a, world.next_state[s, a, k]] += world.probability[s, a, k]
    np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("four-room", "did you mean 'four-rooms'?"),
        ("FourRooms", "known: four-rooms, four-rooms-small, map:FILE, gym:NAME"),
        ("", "known: four-rooms"),
    ],
)
def test_a_misspelt_world_gets_the_nearest(name, said):
    message = refused(name)
    assert message.startswith(f"unknown environment {name!r}")
    assert said in message


def test_the_built_in_map_stands_in_the_picture():
    world, _ = make("four-rooms", moves=19)
    assert "\n".join(world.picture) == FOUR_ROOMS
