"""The same measures from rollouts: what one does where the world is not known, and a check of the exact ones."""

import dataclasses
import math
from collections.abc import Callable
from functools import cached_property, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Integer

from disdain.envs import Finite
from disdain.evaluation.information import rewards
from disdain.evaluation.rollouts import rollout
from disdain.method.objectives import Objective


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A value and its standard error."""

    value: float
    error: float


@dataclasses.dataclass(frozen=True, eq=False)
class Sampled:
    """Estimates from a number of rollouts of each skill, each over the first skill of an episode."""

    world: Finite
    objective: Objective
    moves: int
    num_skills: int
    rollouts: int

    def measures(
        self,
        greedy: Integer[Array, "skill state"],
        logits: Float[Array, "feature member skill"],
        epsilon: float,
        key: Array,
    ) -> dict[str, Estimate]:
        """The measures of `Exact` by name, except for `final_states`, which is a count and not a mean.

        Skills are exponentials of means; their errors follow to first order. Rollouts are the same number for every
        skill. Goals are followed from starts of their own, the same number for every goal.
        """
        key_training, key_greedy, key_goals = jax.random.split(key, 3)
        reward = np.asarray(rewards(logits), float)
        found: dict[str, Estimate] = {}
        names = {
            "training": ("skills_training_exact", epsilon, key_training),
            "greedy": ("skills_greedy", 0.0, key_greedy),
        }
        for policy, (name, chance, key_policy) in names.items():
            skill = np.repeat(np.arange(self.num_skills)[:, None], self.rollouts, 1)
            states, length = self._rollout(greedy, skill, chance, key_policy)
            feature, weight = self._features(states, length)
            bound = _mean(reward[feature, skill[..., None]], weight)
            truth, surprise = self._information(feature, weight)
            found[name] = _exponential(bound)
            found[f"skills_{policy}_true"] = _exponential(truth)
            gap = _mean(surprise - reward[feature, skill[..., None]], weight)
            found[f"gap_{policy}"] = Estimate(truth.value - bound.value, gap.error)
            if policy == "greedy":
                found["coverage_episodic"] = _mean(_distinct(states)[..., None], np.ones((*skill.shape, 1)))
        found["goals_reached"], found["goals_passed"] = self._goals(greedy, reward, key_goals)
        return found

    @cached_property
    def _run(self) -> Callable[..., tuple[Array, Array]]:
        return jax.jit(partial(rollout, self.world, moves=self.moves))

    def _rollout(self, greedy: Array, skill: np.ndarray, epsilon: float, key: Array) -> tuple[np.ndarray, np.ndarray]:
        """States [*batch, T] and lengths [*batch] from starts drawn as episodes draw them."""
        key_start, key_moves = jax.random.split(key)
        begin = self.world.reset(jax.random.bits(key_start, skill.shape))
        states, length = self._run(greedy, begin, jnp.asarray(skill, jnp.int32), epsilon=epsilon, key=key_moves)
        return np.moveaxis(np.asarray(states), 0, -1), np.asarray(length)

    def _features(self, states: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The features of each trajectory and their weights, [*batch, F], as the objective picks them."""
        last = jnp.asarray(length)
        index = np.asarray(self.objective.states(last, self.moves))
        picked = np.take_along_axis(states[..., None, :], index, -1)
        number = picked[..., 0]
        for k in range(1, picked.shape[-1]):
            number = number * self.world.num_states + picked[..., k]
        return number, np.asarray(self.objective.weight(last, self.moves), float)

    def _information(self, feature: np.ndarray, weight: np.ndarray) -> tuple[Estimate, np.ndarray]:
        """I(Z; O) from counts, and the log p(o|z)/p(o) of each feature.

        Counts make the information too large by about (cells in use − 1)/2n (Miller and Madow, 1955), which is taken
        off; with every state the features of a trajectory depend on each other, and n is the number of trajectories.
        """
        known, number = np.unique(feature, return_inverse=True)
        number = number.reshape(feature.shape)
        p = np.zeros((self.num_skills, len(known)))
        np.add.at(p, (np.arange(self.num_skills)[:, None, None], number), weight)
        p /= p.sum(1, keepdims=True)
        surprise = np.log(np.maximum(p, 1e-300)) - np.log(p.mean(0))
        per_feature = np.take_along_axis(surprise, number.reshape(self.num_skills, -1), 1).reshape(number.shape)
        plain = _mean(per_feature, weight)
        within = ((p > 0).sum(1) - 1).mean() / (2 * self.rollouts)
        overall = (len(known) - 1) / (2 * self.rollouts * self.num_skills)
        return Estimate(plain.value - within + overall, plain.error), per_feature

    def _goals(self, greedy: Array, reward: np.ndarray, key: Array) -> tuple[Estimate, Estimate]:
        """How often goals are ended at and visited by the greedy rollout of the skill that is likeliest there.

        The skill is chosen after the start is known, for features hold the start where objectives do.
        """
        goal = np.repeat(np.flatnonzero(self.world.reachable(self.moves))[:, None], self.rollouts, 1)
        key_start, key_moves = jax.random.split(key)
        begin = np.asarray(self.world.reset(jax.random.bits(key_start, goal.shape)))
        feature = begin * self.world.num_states + goal if self.objective.states_per_feature == 2 else goal
        skill = jnp.asarray(reward[feature].argmax(-1), jnp.int32)
        states, _ = self._run(greedy, jnp.asarray(begin), skill, epsilon=0.0, key=key_moves)
        states, ones = np.asarray(states), np.ones((*goal.shape, 1))
        reached, passed = states[-1] == goal, (states == goal).any(0)
        return _mean(reached[..., None].astype(float), ones), _mean(passed[..., None].astype(float), ones)


def _mean(value: np.ndarray, weight: np.ndarray) -> Estimate:
    """Mean over groups [group, n, F] of each group's Σ w·v / Σ w over n independent trajectories."""
    total, amount = (value * weight).sum(-1), weight.sum(-1)
    ratio = total.sum(1) / amount.sum(1)
    groups, n = amount.shape
    residual = (total - ratio[:, None] * amount) / amount.mean(1, keepdims=True)
    variance = (residual**2).sum(1) / (n * max(n - 1, 1))
    return Estimate(float(ratio.mean()), math.sqrt(float(variance.sum())) / groups)


def _exponential(mean: Estimate) -> Estimate:
    return Estimate(math.exp(mean.value), math.exp(mean.value) * mean.error)


def _distinct(states: np.ndarray) -> np.ndarray:
    """How many different states each trajectory [*batch, T] visits."""
    return 1.0 + (np.diff(np.sort(states, -1), axis=-1) != 0).sum(-1)
