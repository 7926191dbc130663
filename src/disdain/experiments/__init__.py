"""The paper's experiments: which runs each takes, and which figures are drawn from them."""

from disdain.experiments.catalogue import EXPERIMENTS, Experiment, experiment

__all__ = ["EXPERIMENTS", "Experiment", "experiment"]
