"""What measures and methods are called, each measure with the policy that it is of."""

METHOD_NAMES = {"disdain": "DISDAIN", "count": "Count", "ensemble": "Ensemble only", "unbonused": "Unbonused"}

MEASURES = {
    "skills_training": "effective skills, training policy",
    "skills_training_exact": "effective skills, training policy (exact)",
    "skills_greedy": "effective skills, greedy policy",
    "skills_training_true": "exp I(Z; O), training policy",
    "skills_greedy_true": "exp I(Z; O), greedy policy",
    "gap_training": "gap of the bound in nats, training policy",
    "gap_greedy": "gap of the bound in nats, greedy policy",
    "final_states": "distinct final states, greedy policy",
    "goals_reached": "goals reached, greedy policy",
    "goals_passed": "goals passed through, greedy policy",
    "coverage_lifetime": "states visited so far, training policy",
    "coverage_episodic": "states a skill visits, greedy policy",
    "reward_skill": "skill reward in nats, training policy",
    "reward_bonus": "bonus, training policy",
    "loss_value_skill": "squared TD error of the skill value",
    "loss_value_bonus": "squared TD error of the bonus value",
    "loss_discriminator": "cross-entropy of the discriminator",
}


def measure_label(measure: str) -> str:
    """What a measure is, and of which policy."""
    return MEASURES.get(measure, measure.replace("_", " "))


def method_name(method: str) -> str:
    """A method's name as it is written in figures."""
    return METHOD_NAMES.get(method, method)


def short(number: float) -> str:
    """A count, short: 2000 is 2k, 1500000 is 1.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"
