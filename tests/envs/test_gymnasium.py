"""Tables against Gymnasium itself: what its environments do in 10^5 moves, and where 10^5 rollouts of them end."""

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest

from disdain.envs import make
from disdain.envs.tables import gymnasium_table
from disdain.errors import UserError
from disdain.evaluation.propagation import Chain

NAMES = {"FrozenLake-v1": (16, 4, 100, 1), "Taxi-v4": (500, 6, 200, 300), "CliffWalking-v1": (48, 4, None, 1)}
MOVES = {"FrozenLake-v1": 12, "Taxi-v4": 5, "CliffWalking-v1": 7}
STEPS = ROLLOUTS = 100_000


def bare(name):
    """Gymnasium's own environment, without wrappers (their checks are slow, the time limit is not reached)."""
    return gymnasium.make(name).unwrapped


def chances(world):
    """P(next, over | state, action) [S, A, S, 2]."""
    table = np.zeros((world.num_states, world.num_actions, world.num_states, 2))
    for s, a, k in np.ndindex(world.next_state.shape):
        table[s, a, world.next_state[s, a, k], int(world.terminated[s, a, k])] += world.probability[s, a, k]
    return table


def misfit(counts, expected):
    """Pearson's χ² in standard deviations above its mean, rare cells taken together; infinite for the impossible."""
    if (counts[expected == 0] > 0).any():
        return np.inf
    rare = expected < 10
    pooled = np.array([counts[rare].sum(), expected[rare].sum()])
    counts, expected = np.append(counts[~rare], pooled[0]), np.append(expected[~rare], pooled[1])
    counts, expected = counts[expected > 0], expected[expected > 0]
    freedom = max(len(counts) - 1, 1)
    return (((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom)


@pytest.mark.parametrize("name", NAMES)
def test_the_table_has_every_start_and_the_time_limit(name):
    world = gymnasium_table(name)
    states, actions, limit, starts = NAMES[name]
    assert (world.num_states, world.num_actions, world.time_limit, len(world.starts)) == (
        states,
        actions,
        limit,
        starts,
    )
    np.testing.assert_allclose(world.probability.sum(-1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(world.start.sum(), 1.0, rtol=1e-12)
    assert world.may_terminate
    assert world.stochastic == (name == "FrozenLake-v1")


@pytest.mark.parametrize("name", NAMES)
def test_moves_of_gymnasium_are_as_frequent_as_the_table_says(name):
    """In 10^5 random moves (of Gymnasium's own, with its own restarts)."""
    world, env, rng = gymnasium_table(name), bare(name), np.random.default_rng(0)
    counts = np.zeros((world.num_states, world.num_actions, world.num_states, 2))
    state, _ = env.reset(seed=0)
    for action in rng.integers(0, world.num_actions, STEPS):
        after, _, over, _, _ = env.step(action)
        counts[state, action, after, int(over)] += 1
        state = env.reset()[0] if over else after
    table = chances(world)
    assert (counts[table == 0] == 0).all()
    tried = counts.sum((2, 3), keepdims=True)
    deviation = np.sqrt(tried * table * (1 - table))
    assert (np.abs(counts - tried * table) <= 5.5 * deviation + 1e-9).all()
    if world.stochastic:
        once = table.copy()
        once[..., :] = 0  # what remains when only the first listed outcome of each move is believed
        first = world.next_state[..., 0], world.terminated[..., 0].astype(int)
        once[np.arange(16)[:, None], np.arange(4), first[0], first[1]] = 1.0
        assert (counts[once == 0] > 0).any()


def rollouts_of_gymnasium(name, greedy, epsilon, seed):
    """Where 10^5 trajectories of an ε-greedy policy end, and where they start."""
    env, rng, moves = bare(name), np.random.default_rng(seed), MOVES[name]
    states, actions = greedy.shape[0], env.action_space.n
    explore = rng.random((ROLLOUTS, moves)) < epsilon
    anywhere = rng.integers(0, actions, (ROLLOUTS, moves))
    chosen = greedy.tolist()
    ends, starts = np.zeros(states), np.zeros(states)
    env.reset(seed=seed)
    for tries, others in zip(explore.tolist(), anywhere.tolist(), strict=True):
        state = env.reset()[0]
        starts[state] += 1
        for random, other in zip(tries, others, strict=True):
            state, _, over, _, _ = env.step(other if random else chosen[state])
            if over:
                break
        ends[state] += 1
    return starts, ends


@pytest.mark.parametrize("name", NAMES)
def test_rollouts_of_gymnasium_end_where_propagation_says(name):
    world, epsilon = gymnasium_table(name), 0.3
    greedy = np.random.default_rng(5).integers(0, world.num_actions, world.num_states)
    starts, ends = rollouts_of_gymnasium(name, greedy, epsilon, seed=11)
    final, _ = Chain(world, MOVES[name]).propagate(
        jnp.asarray(world.start, jnp.float32), jnp.asarray(greedy)[None], jnp.full((1,), epsilon)
    )
    final = np.asarray(final[:, 0], float)
    assert abs(final.sum() - 1.0) < 1e-5
    assert misfit(starts, ROLLOUTS * world.start) < 5
    assert misfit(ends, ROLLOUTS * final) < 5
    # the bound is sharp enough to tell a policy that explores less often
    other, _ = Chain(world, MOVES[name]).propagate(
        jnp.asarray(world.start, jnp.float32), jnp.asarray(greedy)[None], jnp.full((1,), 0.22)
    )
    assert misfit(ends, ROLLOUTS * np.asarray(other[:, 0], float)) > 10


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Blackjack-v1", "gym:Blackjack-v1 shows no transition table"),
        ("CartPole-v1", "gym:CartPole-v1 shows no transition table"),
        ("FrozenLake-v2", "did you mean 'FrozenLake-v1'?"),
        ("FrozenLake-v0", "did you mean 'FrozenLake-v1'?"),
        ("Frozenlake-v1", "did you mean 'FrozenLake-v1'?"),
        ("taxi", "did you mean 'Taxi-v4'?"),
        ("no spaces here", "unknown Gymnasium environment 'no spaces here'"),
        ("", "unknown Gymnasium environment ''"),
        ("nomodule:Lake-v1", "gym:nomodule:Lake-v1 cannot be made: ModuleNotFoundError"),
    ],
)
def test_without_a_table_one_clear_line(name, said, recwarn):
    with pytest.raises(UserError) as caught:
        make(f"gym:{name}", moves=19)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not recwarn.list


def test_only_grids_slip():
    with pytest.raises(UserError, match="only grid worlds slip, gym:FrozenLake-v1 has chances of its own"):
        make("gym:FrozenLake-v1", moves=19, slip=0.1)


def test_trajectories_longer_than_an_episode_are_refused():
    assert make("gym:FrozenLake-v1", moves=100)[0].time_limit == 100
    with pytest.raises(UserError, match="an episode of gym:FrozenLake-v1 has 100 moves at most"):
        make("gym:FrozenLake-v1", moves=101)
    assert make("gym:CliffWalking-v1", moves=1000)[0].time_limit is None


class Lake(gymnasium.Env):
    """A table of the user's own."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(1)
    initial_state_distrib = np.array([1.0, 1.0])

    def __init__(self, table):
        self.P = table


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({0: {0: [(0.5, 1, 0.0, False)]}, 1: {0: [(1.0, 0, 0.0, True)]}}, "chances add up to 0.5, not 1"),
        ({0: {0: [(1.0, 7, 0.0, False)]}, 1: {0: [(1.0, 0, 0.0, True)]}}, "another form"),
        ({"a": {0: [(1.0, 0, 0.0, False)]}, "b": {}}, "another form"),
        ({0: {0: [(1.0, 0)]}, 1: {0: []}}, "another form"),
    ],
)
def test_a_table_that_makes_no_sense_gets_one_line(table, said):
    gymnasium.register("Own-v0", entry_point=lambda: Lake(table))
    try:
        with pytest.raises(UserError, match=said):
            gymnasium_table("Own-v0")
    finally:
        gymnasium.registry.pop("Own-v0")


def test_outcomes_listed_twice_are_one():
    table = {0: {0: [(0.25, 1, 0.0, False)] * 4}, 1: {0: [(0.0, 0, 0.0, True), (1.0, 0, 0.0, False)]}}
    gymnasium.register("Own-v0", entry_point=lambda: Lake(table))
    try:
        world = gymnasium_table("Own-v0")
    finally:
        gymnasium.registry.pop("Own-v0")
    assert world.next_state.shape == (2, 1, 1)
    assert not world.stochastic
    assert not world.may_terminate
    np.testing.assert_allclose(world.start, 0.5)
