"""The ring holds the newest unrolls and draws from them uniformly."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from disdain.replay.ring import Ring


def block(first, size):
    return {"number": jnp.arange(first, first + size, dtype=jnp.int32)}


def filled(ring, pushes):
    state = ring.init({"number": jnp.zeros((), jnp.int32)})
    push = jax.jit(ring.push)
    for i in range(pushes):
        state = push(state, block(i * ring.block, ring.block))
    return state


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 25))
def test_it_holds_the_newest(blocks, size, pushes):
    ring = Ring(blocks * size, size)
    state = filled(ring, pushes)
    newest = np.arange(pushes * size)[-ring.size :]
    held = np.asarray(state.data["number"])
    if pushes >= blocks:
        assert sorted(held) == sorted(newest)
    words = jax.random.bits(jax.random.key(pushes), (500,), jnp.uint32)
    drawn = set(np.asarray(ring.sample(state, words)["number"]).tolist())
    assert drawn <= set(newest.tolist())


def test_draws_are_uniform():
    ring = Ring(20, 4)
    state = filled(ring, 3)  # 12 of 20 are there
    n = 120_000
    words = jax.random.bits(jax.random.key(0), (n,), jnp.uint32)
    counts = np.bincount(np.asarray(ring.sample(state, words)["number"]), minlength=12)
    expected = n / 12
    assert ((counts - expected) ** 2 / expected).sum() < 31.3  # χ² with 11 degrees of freedom, p = 0.001


def test_the_count_never_overflows():
    ring = Ring(8, 4)
    state = filled(ring, 1000)
    assert 8 <= int(state.pushed) <= 16
