"""The definitions, word for word, in float64 NumPy: nothing of ours, no log space, no tricks."""

import numpy as np


def probabilities(logits):
    logits = np.asarray(logits, np.float64)
    unnormalised = np.exp(logits - logits.max(-1, keepdims=True))
    return unnormalised / unnormalised.sum(-1, keepdims=True)


def entropy(p):
    return -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0), axis=-1)


def disagreement(logits):
    q = probabilities(logits)
    return entropy(q.mean(-2)) - entropy(q).mean(-1)


def skill_reward(logits, skill):
    q = probabilities(logits).mean(-2)
    own = np.take_along_axis(q, np.broadcast_to(np.asarray(skill, np.int64), q.shape[:-1])[..., None], -1)[..., 0]
    return np.log(own) + np.log(q.shape[-1])


def information(channel):
    """I(Z; O) of p(o|z) [skill, feature] under uniform skills, in nats."""
    return entropy(channel.mean(0)) - entropy(channel).mean()
