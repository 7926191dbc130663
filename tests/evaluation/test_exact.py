"""Exact measures against every trajectory one by one, against matrices in float64, and in closed form."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disdain.envs import Finite, make
from disdain.evaluation import exact as exact_module
from disdain.evaluation.exact import Exact
from disdain.evaluation.information import rewards
from disdain.evaluation.propagation import UNROLLED, Chain
from disdain.method.objectives import OBJECTIVES
from disdain.method.rewards import skill_reward


def random_world(seed, *, states=5, actions=2, outcomes=2, ends=0.3, starts=2):
    """A world that has everything: chances, endings, several starts, impossible outcomes."""
    rng = np.random.default_rng(seed)
    shape = (states, actions, outcomes)
    probability = rng.random(shape) * (rng.random(shape) < 0.8) + 1e-9
    probability[probability < 1e-6] = 0.0
    probability[..., 0] += probability.sum(-1) == 0
    start = np.zeros(states)
    start[rng.choice(states, starts, replace=False)] = rng.random(starts) + 0.2
    return Finite(
        "random",
        rng.integers(0, states, shape),
        probability / probability.sum(-1, keepdims=True),
        rng.random(shape) < ends,
        start / start.sum(),
    )


def agent_of(world, objective, skills, seed, members=2, sharp=2.0):
    """A greedy table and logits that know a little about it."""
    rng = np.random.default_rng(seed)
    greedy = rng.integers(0, world.num_actions, (skills, world.num_states))
    features = world.num_states ** OBJECTIVES[objective].states_per_feature
    return greedy, sharp * rng.normal(size=(features, members, skills)).astype(np.float32)


def measured(world, objective, moves, greedy, logits, epsilon, pinned_state=None):
    exact = Exact(world, OBJECTIVES[objective], moves, len(greedy), pinned_state)
    found = jax.jit(exact.measures)(jnp.asarray(greedy, jnp.uint8), jnp.asarray(logits), jnp.float32(epsilon))
    return {name: float(value) for name, value in found.items()}


def agree(found, expected, tolerance=2e-5):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=tolerance, abs=tolerance), name


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(3))
def test_every_trajectory_one_by_one(objective, seed):
    world = random_world(seed)
    greedy, logits = agent_of(world, objective, skills=3, seed=seed)
    expected = oracles.enumerated(world, objective, 5, greedy, logits, 0.3)
    agree(measured(world, objective, 5, greedy, logits, 0.3), expected)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("ends", "starts"), [(0.0, 1), (0.4, 1), (0.4, 3)])
def test_every_trajectory_of_deterministic_worlds(objective, ends, starts):
    world = random_world(7, states=6, actions=3, outcomes=1, ends=ends, starts=starts)
    assert not world.stochastic
    greedy, logits = agent_of(world, objective, skills=4, seed=1)
    expected = oracles.enumerated(world, objective, 5, greedy, logits, 0.2)
    agree(measured(world, objective, 5, greedy, logits, 0.2), expected)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_trajectory_on_the_frozen_lake(objective):
    world, _ = make("gym:FrozenLake-v1", moves=4)
    greedy, logits = agent_of(world, objective, skills=3, seed=2)
    expected = oracles.enumerated(world, objective, 4, greedy, logits, 0.1)
    agree(measured(world, objective, 4, greedy, logits, 0.1), expected)


@pytest.mark.parametrize(
    ("name", "moves", "slip", "skills"),
    [
        ("four-rooms", 19, 0.0, 12),
        ("four-rooms", 19, 0.2, 4),
        ("four-rooms-small", 8, 0.5, 8),
        ("gym:FrozenLake8x8-v1", 30, 0.0, 4),
        ("gym:CliffWalking-v1", 25, 0.0, 6),
    ],
)
def test_matrices_in_float64(name, moves, slip, skills):
    world, _ = make(name, moves=moves, slip=slip)
    greedy, logits = agent_of(world, "final", skills, seed=3)
    final, seen = oracles.matrices(world, moves, greedy, 0.0)
    training, _ = oracles.matrices(world, moves, greedy, 0.1)
    reward = oracles.reward_table(logits)
    goals = np.flatnonzero(world.reachable(moves))
    best = reward[goals].argmax(1)
    expected = oracles.measures(training, final, reward) | {
        "goals_reached": final[best, goals].mean(),
        "goals_passed": seen[best, goals].mean(),
        "coverage_episodic": seen.sum(1).mean(),
    }
    found = measured(world, "final", moves, greedy, logits, 0.1)
    assert found.pop("final_states") == len(set(final.argmax(1)))
    agree(found, expected, 5e-5)


def test_final_distribution_in_taxi_with_all_its_starts():
    world, _ = make("gym:Taxi-v4", moves=19)
    greedy, _ = agent_of(world, "final", 2, seed=4)
    chain = Chain(world, 19)
    final, _ = chain.propagate(jnp.asarray(world.start, jnp.float32), jnp.asarray(greedy), jnp.full((2,), 0.2))
    table = np.zeros((2, 500, 6, 500))
    for s, a in np.ndindex(500, 6):
        table[int(world.terminated[s, a, 0]), s, a, world.next_state[s, a, 0]] = 1.0
    for z, chances in enumerate(oracles.policy(world, greedy, 0.2)):
        going, ending = np.einsum("sa,esat->est", chances, table)
        alive, ended = world.start.copy(), np.zeros(500)
        for _ in range(19):
            alive, ended = alive @ going, ended + alive @ ending
        np.testing.assert_allclose(np.asarray(final)[:, z], alive + ended, atol=1e-6)


def test_many_arrows_into_one_state():
    """A star: every state leads to the middle, more arrows than are written out."""
    states = 2 * UNROLLED
    next_state = np.stack([np.zeros(states, int), np.arange(states)], 1)[..., None]
    star = Finite(
        "star", next_state, np.ones((states, 2, 1)), np.zeros((states, 2, 1), bool), np.full(states, 1 / states)
    )
    greedy = np.eye(3, states, dtype=int) * 0 + np.arange(3)[:, None] % 2
    final, _ = Chain(star, 2).propagate(jnp.asarray(star.start, jnp.float32), jnp.asarray(greedy), jnp.full((3,), 0.5))
    expected, _ = oracles.matrices(star, 2, greedy, 0.5)
    np.testing.assert_allclose(np.asarray(final).T, expected, atol=1e-6)


def to_each_cell(world, moves):
    """A greedy table whose skill i goes to the i-th state within reach and stays there: breadth-first, backwards."""
    goals = np.flatnonzero(world.reachable(moves))
    greedy = np.zeros((len(goals), world.num_states), int)
    for z, goal in enumerate(goals):
        reached, frontier = {goal}, [goal]
        while frontier:
            there = frontier.pop(0)
            for s, a in zip(*np.nonzero(world.next_state[..., 0] == there), strict=True):
                if s not in reached:
                    reached.add(s)
                    greedy[z, s] = a
                    frontier.append(s)
    return goals, greedy


def test_perfect_skills_reach_the_ceiling():
    """Skill i ends in the i-th cell, the rest share; discriminators that know attain the ceiling, and no gap."""
    world, _ = make("four-rooms", moves=19)
    goals, greedy = to_each_cell(world, 19)
    greedy = np.concatenate([greedy, greedy[:25]])
    ends = np.concatenate([goals, goals[:25]])
    logits = np.full((104, 2, 128), -1e4, np.float32)
    logits[ends, :, np.arange(128)] = 0.0
    found = measured(world, "final", 19, greedy, logits, 0.0)
    exact = Exact(world, OBJECTIVES["final"], 19, 128)
    assert exact.num_features == 103
    assert exact.ceiling == pytest.approx(128 * 2 ** (-50 / 128))
    assert found["skills_greedy"] == pytest.approx(exact.ceiling, rel=1e-4)
    assert found["skills_greedy_true"] == pytest.approx(exact.ceiling, rel=1e-4)
    assert found["skills_training_exact"] == pytest.approx(exact.ceiling, rel=1e-4)
    assert found["gap_greedy"] == pytest.approx(0.0, abs=1e-4)
    assert found["final_states"] == 103
    assert found["goals_reached"] == 1.0
    assert found["goals_passed"] == 1.0


def test_ignorant_discriminators_see_one_skill_and_the_gap_is_all_that_is_true():
    world, _ = make("four-rooms", moves=19)
    _, greedy = to_each_cell(world, 19)
    found = measured(world, "final", 19, greedy, np.zeros((104, 2, 103), np.float32), 0.0)
    assert found["skills_greedy"] == pytest.approx(1.0, abs=1e-5)
    assert found["skills_greedy_true"] == pytest.approx(103, rel=1e-4)
    assert found["gap_greedy"] == pytest.approx(math.log(103), rel=1e-5)
    assert found["goals_reached"] == pytest.approx(1 / 103)  # every goal asks for skill 0, which stays at the start


def test_a_skill_that_nobody_believes_in_counts_but_is_finite():
    """Where p(o|z) = 0, a reward of −10^4 and worse must not matter; where it is 1, it must."""
    world, _ = make("four-rooms-small", moves=8)
    greedy = np.zeros((2, 24), int)
    logits = np.zeros((24, 1, 2), np.float32)
    logits[1:, :, 0] = -np.inf
    assert measured(world, "final", 8, greedy, logits, 0.0)["skills_greedy"] == pytest.approx(1.0)
    logits[0, :, 0] = -1e4
    found = measured(world, "final", 8, greedy, logits, 0.0)
    assert found["gap_greedy"] == pytest.approx(0.5 * 1e4 - math.log(2), rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), objective=st.sampled_from(sorted(OBJECTIVES)), epsilon=st.floats(0, 1))
def test_bounds_hold_in_any_world(seed, objective, epsilon):
    world = random_world(seed % 3)
    greedy, logits = agent_of(world, objective, skills=4, seed=seed, sharp=float(seed % 5))
    found = _compiled(seed % 3, objective)(jnp.asarray(greedy), jnp.asarray(logits), jnp.float32(epsilon))
    exact = Exact(world, OBJECTIVES[objective], 4, 4)
    assert found["gap_training"] >= -1e-5
    assert found["gap_greedy"] >= -1e-5
    for name in ("skills_training_true", "skills_greedy_true"):
        assert 1 - 1e-5 <= found[name] <= exact.ceiling * (1 + 1e-5)
    assert 0 <= found["goals_reached"] <= found["goals_passed"] <= 1 + 1e-6
    assert 1 - 1e-5 <= found["coverage_episodic"] <= 5 + 1e-5
    assert 1 <= found["final_states"] <= 4


_programs = {}


def _compiled(seed, objective):
    if (seed, objective) not in _programs:
        _programs[seed, objective] = jax.jit(Exact(random_world(seed), OBJECTIVES[objective], 4, 4).measures)
    return _programs[seed, objective]


def test_seeds_side_by_side_are_the_same_as_alone():
    world, _ = make("four-rooms", moves=19)
    agents = [agent_of(world, "final", 16, seed) for seed in range(3)]
    exact = Exact(world, OBJECTIVES["final"], 19, 16)
    greedy, logits = (jnp.asarray(np.stack(parts)) for parts in zip(*agents, strict=True))
    together = jax.jit(jax.vmap(exact.measures))(greedy, logits, jnp.full((3,), 0.05))
    for i, agent in enumerate(agents):
        agree({name: float(v[i]) for name, v in together.items()}, measured(world, "final", 19, *agent, 0.05), 1e-5)


@pytest.mark.parametrize("members", [1, 2, 7])
def test_rewards_are_skill_reward_for_every_skill(members):
    logits = 5 * np.random.default_rng(0).normal(size=(11, members, 6)).astype(np.float32)
    table = np.stack([skill_reward(logits, np.full(11, z)) for z in range(6)], 1)
    np.testing.assert_allclose(np.asarray(rewards(jnp.asarray(logits))), table, rtol=1e-5, atol=2e-6)


def test_one_start_makes_pairs_and_final_states_the_same():
    world, _ = make("four-rooms", moves=19)
    greedy, logits = agent_of(world, "final", 9, seed=5)
    pairs = np.zeros((104**2, 2, 9), np.float32)
    start = int(world.starts[0])
    pairs[start * 104 : (start + 1) * 104] = logits
    single = measured(world, "final", 19, greedy, logits, 0.1)
    agree(measured(world, "initial-final", 19, greedy, pairs, 0.1), single, 1e-5)


def test_large_stochastic_worlds_are_sampled_within_their_error(monkeypatch):
    world, _ = make("four-rooms", moves=19, slip=0.2)
    greedy, logits = agent_of(world, "final", 16, seed=6)
    exact = measured(world, "final", 19, greedy, logits, 0.1)
    monkeypatch.setattr(exact_module, "EXACT_VISITS", 0)
    sampled = measured(world, "final", 19, greedy, logits, 0.1)
    assert sampled["coverage_episodic"] != exact["coverage_episodic"]
    assert sampled["coverage_episodic"] == pytest.approx(exact["coverage_episodic"], abs=0.3)
    assert sampled["goals_passed"] == pytest.approx(exact["goals_passed"], abs=0.03)
    same = [name for name in exact if name not in ("coverage_episodic", "goals_passed")]
    agree({name: sampled[name] for name in same}, {name: exact[name] for name in same}, 1e-6)


def test_sampled_visits_draw_their_starts_too(monkeypatch):
    world = random_world(3)
    greedy, logits = agent_of(world, "final", 4, seed=6)
    exact = measured(world, "final", 4, greedy, logits, 0.1)
    monkeypatch.setattr(exact_module, "EXACT_VISITS", 0)
    sampled = measured(world, "final", 4, greedy, logits, 0.1)
    assert sampled["coverage_episodic"] == pytest.approx(exact["coverage_episodic"], abs=0.25)


@pytest.mark.parametrize(("objective", "features"), [("final", 22), ("every", 22), ("initial-final", 22)])
def test_ceiling_with_the_notebook_s_pinned_start(objective, features):
    world, _ = make("four-rooms-small", moves=8)
    exact = Exact(world, OBJECTIVES[objective], 8, 24, pinned_state=int(world.starts[0]))
    assert exact.num_features == features
    assert exact.ceiling == pytest.approx(24 * 2 ** (-4 / 24))


def test_ceiling_where_ending_at_the_pinned_state_pays_better_than_sharing():
    """One free feature, 24 skills: all of them there are worth 1; 9 there and 15 nowhere are worth more."""
    next_state = np.array([[0, 1], [1, 1]])[..., None]
    world = Finite("fork", next_state, np.ones((2, 2, 1)), np.zeros((2, 2, 1), bool), np.array([1.0, 0.0]))
    exact = Exact(world, OBJECTIVES["final"], 1, 24, pinned_state=0)
    assert exact.num_features == 1
    assert exact.ceiling == pytest.approx(max(math.exp(m / 24 * math.log(24 / m)) for m in range(1, 25)))


def test_ceiling_of_pairs_is_the_mean_over_starts():
    """Two starts, one that leads to two states and one that leads to one: not two skills' worth from each."""
    next_state = np.array([[1, 2], [1, 1], [2, 2], [2, 2]])[..., None]
    world = Finite("fork", next_state, np.ones((4, 2, 1)), np.zeros((4, 2, 1), bool), np.array([0.5, 0, 0, 0.5]))
    exact = Exact(world, OBJECTIVES["initial-final"], 3, 2)
    assert exact.num_features == 3
    assert exact.ceiling == pytest.approx(math.sqrt(2))


def test_snapshot_of_a_deterministic_world_is_its_rollout():
    world, _ = make("four-rooms", moves=19)
    greedy, logits = agent_of(world, "final", 10, seed=8)
    exact = Exact(world, OBJECTIVES["final"], 19, 10)
    bonus = jnp.arange(104.0)
    shot = {
        name: np.asarray(v)
        for name, v in jax.jit(exact.snapshot)(jnp.asarray(greedy), jnp.asarray(logits), bonus).items()
    }
    assert shot["path"].shape == (10, 20)
    for z in range(10):
        state = int(world.starts[0])
        for t in range(20):
            assert shot["path"][z, t] == state
            state = int(world.next_state[state, greedy[z, state], 0])
    np.testing.assert_array_equal(shot["final_state"], shot["path"][:, -1])
    sure = np.exp(oracles.reward_table(logits)[shot["final_state"], np.arange(10)]) / 10
    np.testing.assert_allclose(shot["confidence"], sure, rtol=1e-4)
    np.testing.assert_array_equal(shot["bonus"], bonus)


def test_snapshot_of_a_stochastic_world_follows_what_is_likeliest():
    world, _ = make("four-rooms", moves=19, slip=0.2)
    calm, _ = make("four-rooms", moves=19)
    greedy, logits = agent_of(world, "final", 10, seed=8)

    def take(w):
        exact = Exact(w, OBJECTIVES["final"], 19, 10)
        return exact.snapshot(jnp.asarray(greedy), jnp.asarray(logits), jnp.zeros(104))

    shot = take(world)
    np.testing.assert_array_equal(shot["path"], take(calm)["path"])
    final, _ = oracles.matrices(world, 19, greedy, 0.0)
    np.testing.assert_array_equal(shot["final_state"], final.argmax(1))


def test_snapshot_of_pairs_asks_about_the_first_start():
    world = random_world(2, outcomes=1)
    greedy, logits = agent_of(world, "initial-final", 3, seed=9)
    shot = Exact(world, OBJECTIVES["initial-final"], 4, 3).snapshot(
        jnp.asarray(greedy), jnp.asarray(logits), jnp.zeros(5)
    )
    feature = int(world.starts[0]) * 5 + np.asarray(shot["final_state"])
    sure = np.exp(oracles.reward_table(logits)[feature, np.arange(3)]) / 3
    np.testing.assert_allclose(shot["confidence"], sure, rtol=1e-4)
