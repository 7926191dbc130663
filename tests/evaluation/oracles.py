"""Two ways to the exact measures that share nothing with the library's: every trajectory one by one, and matrices."""

import jax.numpy as jnp
import numpy as np
from scipy.special import log_softmax, logsumexp

from disdain.method.objectives import OBJECTIVES


def reward_table(logits):
    """log q̄(z|o) + log N_Z in float64."""
    logits = np.asarray(logits, float)
    return logsumexp(log_softmax(logits, -1), axis=1) - np.log(logits.shape[1]) + np.log(logits.shape[2])


def policy(world, greedy, epsilon):
    """P(action | skill, state)."""
    chance = np.full((*greedy.shape, world.num_actions), epsilon / world.num_actions)
    return chance + (1 - epsilon) * np.eye(world.num_actions)[greedy]


def trajectories(world, chances, moves):
    """Every (states, probability) under P(action | state); one that the world ends is shorter."""

    def go(states, probability, left):
        if not left:
            yield states, probability
            return
        s = states[-1]
        for a, k in np.ndindex(world.next_state.shape[1:]):
            p = probability * chances[s, a] * world.probability[s, a, k]
            if p > 0:
                after = [*states, int(world.next_state[s, a, k])]
                yield from go(after, p, 0 if world.terminated[s, a, k] else left - 1)

    for start in world.starts:
        yield from go([int(start)], float(world.start[start]), moves)


def enumerated(world, objective, moves, greedy, logits, epsilon):
    """All measures by going through every trajectory of every skill, features picked by the objective itself."""
    skills, states = greedy.shape
    rule, pairs = OBJECTIVES[objective], objective == "initial-final"
    features = states**2 if pairs else states
    # the states of each feature, and its weight, of trajectories of each length
    picks = [
        list(zip(np.asarray(rule.states(n, moves)).tolist(), np.asarray(rule.weight(n, moves)).tolist(), strict=True))
        for n in map(jnp.int32, range(moves + 1))
    ]
    goals, reward = np.flatnonzero(world.reachable(moves)), reward_table(logits)
    best = reward.argmax(1)
    p = {name: np.zeros((skills, features)) for name in ("training", "greedy")}
    final, coverage = np.zeros((skills, states)), 0.0
    reached, passed = np.zeros(len(goals)), np.zeros(len(goals))
    for z in range(skills):
        for name, chance in (("training", epsilon), ("greedy", 0.0)):
            for path, probability in trajectories(world, policy(world, greedy, chance)[z], moves):
                for picked, weight in picks[len(path) - 1]:
                    number = 0
                    for at in picked:
                        number = number * states + path[at]
                    p[name][z, number] += probability * weight
                if name == "greedy":
                    final[z, path[-1]] += probability
                    coverage += probability * len(set(path)) / skills
                    for i, g in enumerate(goals):
                        if best[path[0] * states + g if pairs else g] == z:
                            reached[i] += probability * (path[-1] == g)
                            passed[i] += probability * (g in path)
    p = {name: table / table.sum(1, keepdims=True) for name, table in p.items()}
    return measures(p["training"], p["greedy"], reward) | {
        "final_states": float(len(set(final.argmax(1)))),
        "goals_reached": reached.mean(),
        "goals_passed": passed.mean(),
        "coverage_episodic": coverage,
    }


def measures(training, greedy, reward):
    """Effective skills, true and as the ensemble sees them, from p(o|z) in rows."""
    found = {}
    for name, p, exact in (("training", training, "skills_training_exact"), ("greedy", greedy, "skills_greedy")):
        bound = (p * reward.T).sum(1).mean()
        ratio = np.divide(p, p.mean(0), out=np.ones_like(p), where=p > 0)
        truth = (p * np.log(ratio)).sum(1).mean()
        found |= {exact: np.exp(bound), f"skills_{name}_true": np.exp(truth), f"gap_{name}": truth - bound}
    return found


def matrices(world, moves, greedy, epsilon):
    """P(s_T | skill) and P(s visited | skill), by powers of matrices over (alive, ended) states in float64."""
    skills, states = greedy.shape
    step = np.zeros((2, states, world.num_actions, states))
    for s, a, k in np.ndindex(world.next_state.shape):
        step[int(world.terminated[s, a, k]), s, a, world.next_state[s, a, k]] += world.probability[s, a, k]
    final, seen = np.zeros((skills, states)), np.zeros((skills, states))
    for z, chances in enumerate(policy(world, greedy, epsilon)):
        one = np.einsum("sa,esat->est", chances, step)
        whole = np.block([[one[0], one[1]], [np.zeros((states, states)), np.eye(states)]])
        begin = np.concatenate([world.start, np.zeros(states)])
        final[z] = (begin @ np.linalg.matrix_power(whole, moves)).reshape(2, states).sum(0)
        for g in range(states):
            held = whole.copy()
            held[g] = 0.0
            held[g, g] = 1.0
            mass = begin
            for _ in range(moves):
                mass = mass @ held
            seen[z, g] = mass.reshape(2, states)[:, g].sum()
    return final, seen
