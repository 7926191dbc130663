"""The runner places the parts and changes nothing else: same bits for any chunks, cores and company."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from training.building import parts_of, runner_of, trained

from disdain.config import BLOCK
from disdain.training import fused
from disdain.training.parts import rates_of


def leaves(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def assert_same_bits(one, other):
    for a, b in zip(leaves(one), leaves(other), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("replay", ["online", "device"])
def test_chunks_do_not_change_a_bit(replay):
    runner = runner_of(replay=replay, replay_size=4096, actor_period=30)
    whole, _ = trained(runner, 600)
    pieces, _ = trained(runner, 600, chunk=200)
    # what was summed since the last evaluation is all that a chunk decides
    assert_same_bits([whole.agent, whole.replay, whole.acting], [pieces.agent, pieces.replay, pieces.acting])
    assert_same_bits(whole.tally.visited, pieces.tally.visited)


def test_host_and_back_does_not_change_a_bit():
    runner = runner_of(seeds=3)
    training, _ = runner.advance(runner.init(), 0, 200)
    host = runner.to_host(training)
    straight, _ = runner.advance(training, 200, 200)
    again, _ = runner.advance(runner.from_host(host), 200, 200)
    assert_same_bits(runner.to_host(straight), runner.to_host(again))


def test_a_padded_lane_is_what_it_is_among_others():
    alone, _ = trained(runner_of(seeds=3), 300)
    among, _ = trained(runner_of(seeds=4), 300)
    assert_same_bits(alone, jax.tree.map(lambda leaf: leaf[:3], among))


def test_groups_of_any_size_do_not_change_a_bit(monkeypatch):
    results = []
    for size in (2, 3, 5):
        monkeypatch.setattr(fused, "group_size", lambda lanes, cores, size=size: size)
        runner = runner_of(seeds=5)
        assert runner.group == size
        results.append(trained(runner, 300))
    assert_same_bits(results[0], results[1])
    assert_same_bits(results[0], results[2])


@pytest.mark.parametrize(
    ("lanes", "cores", "size"), [(1, 2, 2), (4, 2, 2), (20, 2, 10), (20, 16, 2), (80, 2, 10), (6, 2, 3)]
)
def test_a_core_gets_its_share(lanes, cores, size):
    assert fused.group_size(lanes, cores) == size


SCRIPT = """
import hashlib, sys
from disdain.training.placement import prepare
prepare()
import jax
from training.building import runner_of, trained
state, measures = trained(runner_of(seeds=6), 300)
digest = hashlib.sha256(b"".join(leaf.tobytes() for leaf in jax.tree.leaves(state)))
digest.update(repr(sorted((k, v.tolist()) for k, v in measures.items())).encode())
print(len(jax.devices()), digest.hexdigest())
"""


def test_cores_and_processes_do_not_change_a_bit():
    def run(cores):
        path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "DISDAIN_CORES": str(cores), "PYTHONPATH": path}
        out = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        devices, digest = out.stdout.split()
        return int(devices), digest

    (one, first), (two, second) = run(1), run(2)
    assert (one, two) == (1, 2)
    assert first == second


def test_the_parts_called_one_by_one_learn_the_same():
    parts = parts_of(replay="device", replay_size=1024, actor_period=7)
    fused, _ = trained(runner_of(parts=parts), 100)
    rates = rates_of(parts.config)
    collect, push, update = (jax.jit(part) for part in (parts.collect, parts.push, parts.update))
    for seed in range(2):
        key = jax.random.key(seed)
        training = parts.init(key, rates)
        noise, sampling = parts.block_noise(key, jnp.int32(0))
        for index in range(BLOCK):
            training, unrolls = collect(training, rates, jax.tree.map(lambda leaf: leaf[index], noise), index)  # noqa: B023
            training = push(training, unrolls)
            batch = parts.sample(training, unrolls, sampling[index])
            training = update(training, rates, batch, index)
        own = jax.tree.map(lambda leaf: leaf[seed], fused)  # noqa: B023
        np.testing.assert_array_equal(training.agent.greedy, own.agent.greedy)
        assert_same_bits(training.replay, own.replay)
        for a, b in zip(
            leaves([training.agent.q, training.agent.discriminator]),
            leaves([own.agent.q, own.agent.discriminator]),
            strict=True,
        ):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_refilled_replay_holds_the_present_policy_and_nothing_is_learnt():
    runner = runner_of(replay="device", replay_size=1024)
    training, _ = runner.advance(runner.init(), 0, 100)
    before = runner.to_host(training)
    after = runner.to_host(runner.refill(runner.from_host(before), 64))
    assert_same_bits(before.agent, after.agent)
    assert (before.replay.pushed == 1600).all()
    assert (after.replay.pushed == 1600).all()  # 1024 more, and the count keeps only the remainder past twice the size
    assert not np.array_equal(before.replay.data.skill, after.replay.data.skill)


def test_starts_and_lengths_are_whole_blocks():
    runner = runner_of()
    with pytest.raises(ValueError, match="multiples of 100"):
        runner.advance(runner.init(), 0, BLOCK // 2)
