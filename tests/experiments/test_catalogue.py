"""The list of experiments: every figure of the source that shows results, and what each takes."""

import subprocess
import sys

import pytest

from disdain.config import METHODS, differences
from disdain.errors import UserError
from disdain.experiments import EXPERIMENTS, experiment
from disdain.experiments.running import run_configs
from disdain.experiments.sweeps import SIZES, WEIGHTS, sweep_panels

HERE = [name for name, entry in EXPERIMENTS.items() if entry.here]


def test_every_figure_of_the_source_with_results_is_listed_once():
    numbers = [int(number) for entry in EXPERIMENTS.values() if entry.number for number in entry.number.split(", ")]
    assert sorted(numbers) == list(range(3, 21))
    assert {entry.number for entry in EXPERIMENTS.values() if entry.here} == {"3", "18, 19", "20", ""}
    assert all(name == entry.name for name, entry in EXPERIMENTS.items())
    assert EXPERIMENTS["four-rooms"].number == "3"
    assert EXPERIMENTS["four-rooms-rollouts"].number == "18, 19"
    assert EXPERIMENTS["four-rooms-seeds"].number == "20"


def test_what_is_not_here_or_not_known_is_said():
    with pytest.raises(UserError, match="Figure 4 of the source"):
        experiment("atari-skills")
    with pytest.raises(UserError, match="did you mean 'four-rooms'"):
        experiment("four-room")


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("preset", ["four-rooms", "four-rooms-paper", "four-rooms-small"])
@pytest.mark.parametrize("quick", [False, True])
def test_every_run_is_a_valid_configuration(name, preset, quick):
    configs = run_configs(experiment(name), quick=quick, preset=preset)
    seeds = 3 if quick else experiment(name).seeds
    assert {config.seeds for config in configs.values()} == {seeds}
    assert len(set(configs.values())) == len(configs)


def test_four_rooms_is_four_methods_by_twenty_seeds_and_its_figures_share_runs():
    configs = run_configs(experiment("four-rooms"))
    assert {config.method for config in configs.values()} == set(METHODS)
    assert {(config.seeds, config.updates, config.num_skills) for config in configs.values()} == {(20, 100_000, 128)}
    for name in ("four-rooms-rollouts", "four-rooms-seeds", "four-rooms-gap"):
        assert run_configs(experiment(name)).items() <= configs.items()
        assert experiment(name).folder == experiment("four-rooms").folder


def test_seeds_and_updates_can_be_chosen():
    configs = run_configs(experiment("four-rooms"), seeds=5, updates=700, quick=True)
    assert {(config.seeds, config.updates) for config in configs.values()} == {(5, 700)}
    with pytest.raises(UserError, match="multiple of 100"):
        run_configs(experiment("four-rooms"), updates=750)


def test_the_sweep_varies_one_thing_at_a_time():
    configs = run_configs(experiment("sweep-four-rooms"))
    panels, curves = sweep_panels(set(configs))
    assert all(config.seeds >= 10 for config in configs.values())
    changes = {
        "Bonus weight": {"bonus_weight", "method", "bonus", "ensemble_size"},
        "Ensemble size": {"ensemble_size", "method", "bonus_weight"},
        "One value function or two": {"bonus_weight", "values", "method", "bonus", "ensemble_size"},
        "Where λ stands (DISDAIN)": {"bonus_weight", "bonus_scale", "bonus_start"},
        "Skill reward for learning": {"clip_skill_reward", "method", "bonus", "ensemble_size", "bonus_weight"},
    }
    assert [panel.title for panel in panels] == list(changes)
    for panel in panels:
        for series in panel.series:
            members = [configs[run] for run in series.runs.values()]
            for config in members:
                assert differences(members[0], config).keys() <= changes[panel.title] - {"values", "clip_skill_reward"}
            if panel.setting == "bonus weight λ":
                assert [config.bonus_weight for config in members] == list(series.runs) == list(WEIGHTS)
            if panel.setting == "ensemble size N":
                assert [config.ensemble_size for config in members] == list(series.runs) == list(SIZES)
    drawn = {run for panel in panels for series in panel.series for run in series.runs.values()}
    assert drawn == set(configs)
    assert {run for panel in curves for run in panel.runs.values()} <= set(configs)


def test_the_quick_sweep_has_something_in_every_panel():
    quick = set(run_configs(experiment("sweep-four-rooms"), quick=True))
    assert quick <= set(run_configs(experiment("sweep-four-rooms")))
    panels, curves = sweep_panels(quick)
    assert all(series.runs for panel in panels for series in panel.series)
    assert all(panel.runs for panel in curves)


def test_listing_needs_neither_jax_nor_matplotlib():
    code = (
        "import sys, disdain.experiments, disdain.experiments.running\n"
        "assert not {'jax', 'matplotlib', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
