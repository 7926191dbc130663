"""Finite worlds: what they draw, and what is within reach."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from disdain.envs import Finite, make

DRAWS = 200_000


def ragged():
    """Three states whose moves have one, two and three outcomes, the impossible ones in every place."""
    next_state = np.array([[[1, 2, 0], [2, 1, 0]], [[0, 1, 2], [2, 2, 1]], [[0, 0, 2], [1, 0, 2]]])
    probability = np.array(
        [[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], [[0.2, 0.0, 0.8], [0.0, 0.0, 1.0]], [[0.1, 0.3, 0.6], [0.5, 0.5, 0.0]]]
    )
    terminated = np.zeros(next_state.shape, bool)
    terminated[2, 0, 1] = True
    return Finite("ragged", next_state, probability, terminated, np.array([0.25, 0.0, 0.75]))


def within_five(counts, chances, draws):
    """Every frequency within five standard deviations, and nothing impossible."""
    counts, chances = np.asarray(counts, float), np.asarray(chances, float)
    assert (counts[chances == 0] == 0).all()
    assert (np.abs(counts - draws * chances) <= 5 * np.sqrt(draws * chances * (1 - chances)) + 1e-9).all()


def chances_of(world, state, action):
    """P(next, over | state, action) as a table [S, 2]."""
    expected = np.zeros((world.num_states, 2))
    outcomes = world.next_state[state, action], world.terminated[state, action].astype(int)
    np.add.at(expected, outcomes, world.probability[state, action])
    return expected


def drawn_by(world, state, action, key):
    words = jax.random.bits(key, (DRAWS,))
    after, over = jax.jit(world.step)(jnp.full((DRAWS,), state), jnp.full((DRAWS,), action), words)
    counts = np.zeros((world.num_states, 2))
    np.add.at(counts, (np.asarray(after), np.asarray(over).astype(int)), 1)
    return counts


def test_step_draws_each_outcome_as_often_as_its_chance():
    world = ragged()
    for state, action in np.ndindex(world.num_states, world.num_actions):
        counts = drawn_by(world, state, action, jax.random.key(10 * state + action))
        within_five(counts, chances_of(world, state, action), DRAWS)


@pytest.mark.parametrize(("state", "action"), [(0, 0), (5, 2), (14, 1)])
def test_a_slippery_lake_is_drawn_as_its_table_says(state, action):
    world, _ = make("gym:FrozenLake-v1", moves=19)
    within_five(drawn_by(world, state, action, jax.random.key(1)), chances_of(world, state, action), DRAWS)


@pytest.mark.parametrize("word", [0, 1, 2**31, 2**32 - 129, 2**32 - 128, 2**32 - 1])
def test_no_random_number_brings_about_the_impossible(word):
    """The largest 32-bit numbers round to 1.0 in single precision: even they must not fall past the last chance."""
    for world in (ragged(), make("gym:FrozenLake-v1", moves=19)[0], make("four-rooms", moves=19, slip=0.3)[0]):
        states, actions = (grid.ravel() for grid in np.meshgrid(range(world.num_states), range(world.num_actions)))
        words = jnp.full(states.shape, word, jnp.uint32)
        after, over = world.step(jnp.asarray(states), jnp.asarray(actions), words)
        for s, a, t, o in zip(states, actions, np.asarray(after), np.asarray(over), strict=True):
            assert chances_of(world, s, a)[t, int(o)] > 0
        assert (world.start[np.asarray(world.reset(words))] > 0).all()


def test_a_deterministic_world_needs_no_random_number_wherever_its_outcome_stands():
    world = ragged()
    certain = Finite("certain", world.next_state, np.eye(3)[[[1, 0], [2, 2], [1, 0]]], world.terminated, world.start)
    assert not certain.stochastic
    for state, action in np.ndindex(3, 2):
        after, over = certain.step(jnp.array(state), jnp.array(action), None)
        assert chances_of(certain, state, action)[int(after), int(over)] == 1.0


@pytest.mark.parametrize("name", ["four-rooms", "gym:Taxi-v4"])
def test_reset_draws_starts_as_often_as_their_chances(name):
    world, _ = make(name, moves=19)
    drawn = np.asarray(jax.jit(world.reset)(jax.random.bits(jax.random.key(3), (DRAWS,))))
    within_five(np.bincount(drawn, minlength=world.num_states), world.start, DRAWS)


def test_uneven_starts():
    world = ragged()
    drawn = np.asarray(world.reset(jax.random.bits(jax.random.key(4), (DRAWS,))))
    within_five(np.bincount(drawn, minlength=3), world.start, DRAWS)


def corridor():
    """0 → 1 → 2 → 3 without a way to stay; the last move ends the episode."""
    next_state = np.array([1, 2, 3, 0]).reshape(4, 1, 1)
    terminated = next_state == 3
    return Finite("corridor", next_state, np.ones((4, 1, 1)), terminated, np.eye(4)[0])


def test_reach_counts_moves_and_episodes_that_ended_earlier():
    world = corridor()
    assert [np.flatnonzero(world.reachable(moves)).tolist() for moves in (1, 2, 3, 4)] == [[1], [2], [3], [3]]
    assert [np.flatnonzero(world.visitable(moves)).tolist() for moves in (1, 2, 3, 4)] == [
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 3],
    ]
