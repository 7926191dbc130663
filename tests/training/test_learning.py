"""Every objective with every bonus learns skills, and the default learns what the plain C loop learns."""

import dataclasses
import shutil

import jax.numpy as jnp
import numpy as np
import pytest
from training.building import SMALL, parts_of, runner_of, trained

from disdain.benchmarks.yardstick import Yardstick

BONUSES = {"disagreement": (2, 20.0), "count": (1, 20.0), "none": (1, 0.0)}


@dataclasses.dataclass(frozen=True)
class Shuffled:
    """Another objective whose pay goes to the wrong trajectories."""

    inner: object

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def pay(self, value, last, moves):
        return self.inner.pay(jnp.roll(value, 1, axis=0), last, moves)


@pytest.mark.parametrize("objective", ["final", "initial-final", "every"])
@pytest.mark.parametrize("bonus", sorted(BONUSES))
def test_every_objective_with_every_bonus_beats_a_shuffled_reward(objective, bonus):
    """In a world that slips: elsewhere the policies that tables start with already end in a dozen places."""
    size, weight = BONUSES[bonus]
    parts = parts_of(objective=objective, bonus=bonus, ensemble_size=size, bonus_weight=weight, slip=0.2)
    shuffled = dataclasses.replace(
        parts, rules=dataclasses.replace(parts.rules, objective=Shuffled(parts.rules.objective))
    )
    _, honest = trained(runner_of(seeds=4, parts=parts), 6_000)
    _, control = trained(runner_of(seeds=4, parts=shuffled), 6_000)
    assert honest["skills_greedy"].min() > control["skills_greedy"].max()
    assert honest["skills_greedy"].mean() > 1.3 * control["skills_greedy"].mean()


@pytest.mark.skipif(not (shutil.which("gcc") or shutil.which("cc")), reason="the yardstick is a C program")
@pytest.mark.parametrize("method", ["disdain", "unbonused", "count"])
def test_the_small_map_agrees_with_the_plain_c_loop(method):
    """Two independent programs, 16 seeds each: means within four standard errors of their difference."""
    updates, seeds, rate = 20_000, 16, 0.1
    loop = Yardstick()
    theirs = np.array([loop.run("small", updates, seed, rate, method).greedy_skills for seed in range(seeds)])
    weight = 0.0 if method == "unbonused" else 20.0
    runner = runner_of(seeds=seeds, method=method, bonus_weight=weight, learning_rate=rate, pin_start=True)
    ours = trained(runner, updates)[1]["skills_greedy"]
    error = np.sqrt(ours.var(ddof=1) / seeds + theirs.var(ddof=1) / seeds)
    assert abs(ours.mean() - theirs.mean()) < 4 * error + 0.1
    assert SMALL.num_skills > ours.mean() > 3
