"""Skills inside episodes: where they begin, where they end, and what is kept of it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from training.building import parts_of

from disdain.agents.learning import Rates
from disdain.agents.tabular import Tabular
from disdain.envs.finite import Finite
from disdain.training.collecting import Collector, Noise
from disdain.training.parts import rates_of


def corridor(length: int, time_limit: int | None, terminal: bool) -> Finite:
    """Action 1 goes right, action 0 stays; the right end may end the episode."""
    after = np.array([[[s], [min(s + 1, length - 1)]] for s in range(length)], np.int32)
    over = np.zeros(after.shape, bool)
    over[length - 2, 1] = terminal
    start = np.eye(length)[0]
    return Finite("corridor", after, np.ones(after.shape), over, start, time_limit)


def always_right(world: Finite, moves: int) -> tuple[Collector, jax.Array, Rates]:
    agent = Tabular(world.num_states, 2, num_skills=2, ensemble_size=1)
    acting = jnp.ones((2 * world.num_states,), jnp.uint8)
    rates = Rates(*(jnp.float32(x) for x in (0.1, 0.1, 0.0, 0.0)))
    return Collector(agent, world, moves, num_skills=2), acting, rates


def noise(collector: Collector, actors: int, seed: int = 0) -> Noise:
    return collector.noise(jax.random.bits(jax.random.key(seed), (actors, collector.words), jnp.uint32))


def test_an_episode_that_ends_inside_a_skill_ends_its_trajectory():
    collector, acting, rates = always_right(corridor(4, None, terminal=True), moves=5)
    episode = collector.begin(jnp.zeros((2,), jnp.uint32))
    episode, unroll = collector.collect(acting, rates, episode, noise(collector, 2))
    assert unroll.observation[0].tolist() == [0, 1, 2, 3, 3, 3]
    assert unroll.length.tolist() == [3, 3]
    assert unroll.terminated.all()
    assert not unroll.truncated.any()
    assert unroll.mask()[0].tolist() == [1, 1, 1, 0, 0]
    assert unroll.discount()[0].tolist() == [1, 1, 0, 1, 1]
    _, following = collector.collect(acting, rates, episode, noise(collector, 2, 1))
    assert following.observation[:, 0].tolist() == [0, 0]  # a new episode


def test_the_last_state_of_a_skill_is_the_first_of_the_next():
    collector, acting, rates = always_right(corridor(30, 9, terminal=False), moves=3)
    episode = collector.begin(jnp.zeros((1,), jnp.uint32))
    first_states = []
    for seed in range(4):
        episode, unroll = collector.collect(acting, rates, episode, noise(collector, 1, seed))
        first_states.append(int(unroll.observation[0, 0]))
    assert first_states == [0, 3, 6, 0]  # nine moves an episode
    assert unroll.length is None  # nothing is stored that could not differ


def test_a_time_limit_truncates_and_does_not_terminate():
    collector, acting, rates = always_right(corridor(30, 5, terminal=False), moves=3)
    episode = collector.begin(jnp.zeros((1,), jnp.uint32))
    episode, first = collector.collect(acting, rates, episode, noise(collector, 1, 0))
    episode, second = collector.collect(acting, rates, episode, noise(collector, 1, 1))
    assert (int(first.length[0]), int(second.length[0])) == (3, 2)
    assert second.observation[0].tolist() == [3, 4, 5, 5]
    assert second.truncated.tolist() == [True]
    assert second.terminated.tolist() == [False]
    assert second.discount().tolist() == [[1.0, 1.0, 1.0]]


def test_exploration_is_uniform_and_as_frequent_as_epsilon():
    agent = Tabular(num_states=3, num_actions=5, num_skills=2, ensemble_size=1)
    n = 400_000
    rates = Rates(*(jnp.float32(x) for x in (0.1, 0.1, 0.02, 0.0)))
    bits = jax.random.bits(jax.random.key(3), (n,), jnp.uint32)
    acting = jnp.full((6,), 2, jnp.uint8)
    zero = jnp.zeros((n,), jnp.int32)
    counts = np.bincount(np.asarray(agent.act(acting, zero, zero, bits, rates)), minlength=5) / n
    sigma = np.sqrt(0.004 * 0.996 / n)
    np.testing.assert_allclose(counts, [0.004, 0.004, 0.984, 0.004, 0.004], atol=5 * sigma + 1e-6)


def test_epsilon_zero_and_one():
    agent = Tabular(num_states=3, num_actions=5, num_skills=2, ensemble_size=1)
    bits = jax.random.bits(jax.random.key(3), (10_000,), jnp.uint32).at[0].set(0)
    zero = jnp.zeros(bits.shape, jnp.int32)
    acting = jnp.full((6,), 2, jnp.uint8)
    for epsilon, most in ((0.0, 0.0), (1.0, 0.85)):
        rates = Rates(*(jnp.float32(x) for x in (0.1, 0.1, epsilon, 0.0)))
        actions = np.asarray(agent.act(acting, zero, zero, bits, rates))
        assert actions.min() >= 0
        assert actions.max() <= 4
        assert abs((actions != 2).mean() - (0.8 if epsilon else 0.0)) < 0.02 or most == 0.0
        if epsilon == 0.0:
            assert (actions == 2).all()


def test_an_unroll_of_four_rooms_takes_forty_bytes():
    from disdain.replay.ring import unroll_bytes

    parts = parts_of(environment="four-rooms", unroll_length=20, num_skills=128, replay="device", replay_size=16)
    training = parts.init(jax.random.key(0), rates_of(parts.config))
    one = jax.tree.map(lambda leaf: leaf[0], training.replay.data)
    assert unroll_bytes(one) == 20 + 19 + 1


def test_actors_take_turns():
    parts = parts_of(num_actors=32, unrolls_per_update=16)
    world = corridor(30, 12, terminal=False)
    agent = Tabular(30, 2, 24, 2)
    parts = dataclasses.replace(parts, world=world, agent=agent, collector=Collector(agent, world, 3, 24))
    rates = rates_of(parts.config)
    training = parts.init(jax.random.key(0), rates)
    training = dataclasses.replace(
        training, agent=dataclasses.replace(training.agent, greedy=jnp.ones_like(training.agent.greedy))
    )
    starts = []
    for index in range(4):
        training, unrolls = parts.collect(training, rates, noise(parts.collector, 16, index), jnp.int32(index))
        starts.append(set(np.asarray(unrolls.observation[:, 0]).tolist()))
    assert starts[0] == starts[1] == {0}
    assert all(start <= {0, 1, 2, 3} and max(start) == 3 for start in starts[2:])
