"""Two roads to one number: rollouts made move by move, and propagation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from disdain.envs import make
from disdain.evaluation.exact import Exact
from disdain.evaluation.rollouts import likeliest, rollout, visited
from disdain.evaluation.sampled import Sampled
from disdain.method.objectives import OBJECTIVES

CASES = [
    ("four-rooms", 19, 0.0, "final"),
    ("four-rooms", 19, 0.2, "final"),
    ("four-rooms-small", 8, 0.2, "every"),
    ("four-rooms", 19, 0.2, "initial-final"),
    ("gym:FrozenLake-v1", 12, 0.0, "final"),
    ("gym:FrozenLake-v1", 12, 0.0, "every"),
    ("gym:CliffWalking-v1", 15, 0.0, "final"),
    ("gym:CliffWalking-v1", 15, 0.0, "initial-final"),
    ("gym:Taxi-v4", 10, 0.0, "final"),
]
SKILLS, ROLLOUTS, EPSILON = 6, 3000, 0.2


def an_agent(world, objective, seed):
    """Random greedy actions; logits that have a rough idea of where each skill ends."""
    rng = np.random.default_rng(seed)
    greedy = jnp.asarray(rng.integers(0, world.num_actions, (SKILLS, world.num_states)))
    features = world.num_states ** OBJECTIVES[objective].states_per_feature
    return greedy, jnp.asarray(rng.normal(size=(features, 2, SKILLS)), jnp.float32)


@pytest.mark.parametrize(("name", "moves", "slip", "objective"), CASES)
def test_sampled_and_exact_agree(name, moves, slip, objective):
    world, _ = make(name, moves=moves, slip=slip)
    greedy, logits = an_agent(world, objective, seed=1)
    rules = world, OBJECTIVES[objective], moves, SKILLS
    exact = jax.jit(Exact(*rules).measures)(greedy, logits, jnp.float32(EPSILON))
    sampled = Sampled(*rules, ROLLOUTS).measures(greedy, logits, EPSILON, jax.random.key(7))
    assert sampled.keys() == exact.keys() - {"final_states"}
    for measure, estimate in sampled.items():
        # what the correction of the information leaves behind is of the second order in cells per rollout
        bias = 0.004 * float(exact[measure]) if "true" in measure or "gap" in measure else 0.0
        off = abs(estimate.value - float(exact[measure]))
        assert off <= 4.5 * estimate.error + bias + 1e-5, (measure, estimate, float(exact[measure]))
        assert estimate.error <= 0.05 * max(1.0, float(exact[measure])), measure


def test_errors_are_as_large_as_they_say():
    """Over 40 repetitions the deviations in units of the error have the spread of a standard normal."""
    world, _ = make("gym:FrozenLake-v1", moves=8)
    greedy, logits = an_agent(world, "final", seed=2)
    exact = Exact(world, OBJECTIVES["final"], 8, SKILLS).measures(greedy, logits, jnp.float32(EPSILON))
    sampled = Sampled(world, OBJECTIVES["final"], 8, SKILLS, 400)
    repeats = [sampled.measures(greedy, logits, EPSILON, jax.random.key(seed)) for seed in range(40)]
    for measure in ("skills_training_exact", "skills_greedy", "coverage_episodic", "goals_passed", "goals_reached"):
        deviations = [(r[measure].value - float(exact[measure])) / r[measure].error for r in repeats]
        assert 0.65 < np.std(deviations) < 1.45, measure
        assert abs(np.mean(deviations)) < 4 / np.sqrt(40), measure


def test_a_wrong_policy_is_noticed():
    world, _ = make("four-rooms-small", moves=8, slip=0.2)
    greedy, logits = an_agent(world, "final", seed=1)
    rules = world, OBJECTIVES["final"], 8, SKILLS
    exact = float(Exact(*rules).measures(greedy, logits, jnp.float32(EPSILON + 0.05))["skills_training_true"])
    sampled = Sampled(*rules, ROLLOUTS).measures(greedy, logits, EPSILON, jax.random.key(7))["skills_training_true"]
    assert abs(sampled.value - exact) > 4.5 * sampled.error + 0.004 * exact


def test_rollouts_stop_where_an_episode_ends():
    world, _ = make("gym:CliffWalking-v1", moves=20)
    up_right_down = np.zeros((1, 48), int)
    up_right_down[0, 24:35], up_right_down[0, 35] = 1, 2
    states, length = rollout(world, jnp.asarray(up_right_down), jnp.array([36]), jnp.array([0]), 20)
    assert length.tolist() == [13]
    assert states[:, 0].tolist() == [36, *range(24, 36)] + [47] * 8


def test_chance_asks_for_a_key():
    world, _ = make("gym:FrozenLake-v1", moves=5)
    with pytest.raises(ValueError, match="key"):
        rollout(world, jnp.zeros((1, 16), int), jnp.zeros((1,), int), jnp.zeros((1,), int), 5)


def test_exploring_rollouts_take_each_action_as_often_as_they_should():
    world, _ = make("four-rooms", moves=1)
    n = 100_000
    begin = jnp.full((n,), 40)
    greedy = jnp.full((1, 104), 3)
    states, _ = rollout(world, greedy, begin, jnp.zeros((n,), int), 1, epsilon=0.25, key=jax.random.key(0))
    ends = np.bincount(np.asarray(states[1]), minlength=104) / n
    for action, after in enumerate(world.next_state[40, :, 0]):
        expected = sum(0.05 + 0.75 * (b == 3) for b in range(5) if world.next_state[40, b, 0] == after)
        assert ends[after] == pytest.approx(expected, abs=5 * np.sqrt(0.25 / n)), action


def test_visited_counts_every_state_once():
    states = jnp.array([[[0, 3]], [[1, 3]], [[0, 3]], [[2, 1]]])  # [T, start, skill]
    share = np.asarray(visited(states, jnp.array([0.5]), 4))
    np.testing.assert_array_equal(share, 0.5 * np.array([[1, 0], [1, 1], [1, 0], [0, 1]]))


def test_the_likeliest_outcome_adds_up_what_leads_to_the_same():
    world, _ = make("four-rooms", moves=5, slip=1.0)
    corner = int(world.starts[0])  # three of the five directions stay there
    calm = likeliest(world)
    assert not calm.stochastic
    assert (calm.next_state[corner] == corner).all()
