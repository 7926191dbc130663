"""Trajectories of skills in a finite world, made by nothing but the world's own reset and step."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer

from disdain.envs import Finite, unit


def rollout(
    world: Finite,
    greedy: Integer[Array, "skill state"],
    begin: Int[Array, "*batch"],
    skill: Int[Array, "*batch"],
    moves: int,
    *,
    epsilon: Float[Array, ""] | float = 0.0,
    key: Array | None = None,
) -> tuple[Int[Array, "T *batch"], Int[Array, "*batch"]]:
    """Follow skills from given states: the states of each trajectory (after an episode's end, its last state again)
    and the number of moves really made. Without a key, the world must be deterministic, and ε counts for nothing."""
    if key is None and world.stochastic:
        raise ValueError("chance needs a key")
    keys = None if key is None else jax.random.split(key, moves)
    table, num_states = greedy.reshape(-1), greedy.shape[1]

    def move(carry: tuple[Array, Array, Array], key: Array | None) -> tuple[tuple[Array, Array, Array], Array]:
        state, length, over = carry
        action = table.at[skill * num_states + state].get(mode="promise_in_bounds").astype(jnp.int32)
        word = None
        if key is not None:
            explore, which, word = jax.random.bits(key, (3, *state.shape), jnp.uint32)
            action = jnp.where(unit(explore) < epsilon, (which % world.num_actions).astype(jnp.int32), action)
        after, ended = world.step(state, action, word)
        after = jnp.where(over, state, after)
        return (after, length + ~over, over | ended), after

    none = jnp.zeros(begin.shape, jnp.int32)
    (_, length, _), states = jax.lax.scan(move, (begin, none, none.astype(bool)), keys, length=moves)
    return jnp.concatenate([begin[None], states]), length


def visited(
    states: Int[Array, "T start skill"], weight: Float[Array, "start"], num_states: int
) -> Float[Array, "S skill"]:
    """How much of each skill's trajectories, by weight, visits each state: every state counts when first met."""
    time = jnp.arange(len(states))[:, None, None]

    def first_met(t: Array) -> Float[Array, "start skill"]:
        met_before = ((states == states[t]) & (time < t)).any(0)
        return jnp.where(met_before, 0.0, weight[:, None])

    skills = states.shape[2]
    entry = states * skills + jnp.arange(skills, dtype=jnp.int32)
    share = jnp.zeros((num_states * skills,), jnp.float32)
    share = share.at[entry].add(jax.lax.map(first_met, jnp.arange(len(states))), mode="promise_in_bounds")
    return share.reshape(num_states, skills)


def likeliest(world: Finite) -> Finite:
    """The deterministic world in which every move has its likeliest outcome, the lowest state of equals."""
    next_state = np.zeros((world.num_states, world.num_actions, 1), world.next_state.dtype)
    terminated = np.zeros(next_state.shape, bool)
    for s, a in np.ndindex(world.num_states, world.num_actions):
        outcome = world.next_state[s, a].astype(np.int64) * 2 + world.terminated[s, a]
        known, which = np.unique(outcome, return_inverse=True)
        chance = np.bincount(which, weights=world.probability[s, a])
        next_state[s, a, 0], terminated[s, a, 0] = divmod(int(known[chance.argmax()]), 2)
    return dataclasses.replace(
        world, next_state=next_state, terminated=terminated, probability=np.ones(next_state.shape)
    )
