"""Presets: the paper's numbers, every field with a source, every departure from the paper said."""

import dataclasses

import pytest

from disdain.config import METHODS, Config
from disdain.envs import make
from disdain.errors import UserError
from disdain.presets import PRESETS, preset

FIELDS = [field.name for field in dataclasses.fields(Config)]
# what a run is made of but not what it learns
LOGISTICS = {"first_seed", "evaluate_every", "checkpoint_every", "keep_checkpoints", "deterministic"}

TABLE_1 = {  # the Four Rooms column, and §4
    "num_actors": 64,
    "batch_size": 16,
    "unroll_length": 20,
    "actor_period": 100,
    "num_skills": 128,
    "replay": "device",
    "replay_size": 10**6,
    "learning_rate": 2e-3,
    "trace_decay": 0.7,
    "discount": 0.99,
    "ensemble_size": 2,
    "bonus_weight": 10.0,
    "objective": "final",
    "environment": "four-rooms",
    "seeds": 20,
    "clip_skill_reward": True,
    "values": "two",
}


@pytest.mark.parametrize("name", PRESETS)
def test_every_field_has_a_setting_and_a_source(name):
    settings = preset(name).settings
    assert list(settings) == FIELDS
    assert all(setting.source for setting in settings.values())


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("method", METHODS)
def test_every_preset_takes_every_method(name, method):
    config = preset(name).config(method=method)
    assert config == config.validated()
    assert (config.bonus, config.ensemble_size) == METHODS[method][:2]
    assert (config.bonus_weight > 0) == (METHODS[method][2] > 0)
    world, note = make(config.environment, moves=config.moves, slip=config.slip)
    assert note == ""
    assert world.reachable(config.moves).sum() == {"four-rooms": 103, "four-rooms-small": 23}[config.environment]


def test_paper_preset_is_table_1_to_the_letter():
    config = preset("four-rooms-paper").config()
    assert {name: getattr(config, name) for name in TABLE_1} == TABLE_1
    assert config.discriminator_rate == config.learning_rate
    assert preset("four-rooms-paper").config(method="count").bonus_weight == 10.0


def test_default_preset_is_the_default_configuration():
    assert preset("four-rooms").config() == Config().validated()


@pytest.mark.parametrize("name", PRESETS)
def test_departures_from_table_1_are_said(name):
    table = preset(name).table()
    departs = {field for field, value in TABLE_1.items() if table[field]["value"] != value}
    said = {field for field in TABLE_1 if table[field]["deviation"]}
    assert departs == said


@pytest.mark.parametrize("name", PRESETS)
def test_fields_that_differ_from_the_paper_preset_say_why(name):
    paper, here = preset("four-rooms-paper").settings, preset(name).settings
    for field in set(FIELDS) - LOGISTICS:
        if here[field].value != paper[field].value:
            assert here[field].source != paper[field].source, field


@pytest.mark.parametrize(
    ("method", "rate", "weight"),
    [("disdain", 2e-3, 20), ("ensemble", 2e-3, 0), ("count", 4e-3, 20), ("unbonused", 4e-3, 0)],
)
def test_notebook_takes_the_mean_over_members(method, rate, weight):
    config = preset("four-rooms-small").config(method=method)
    assert (config.learning_rate, config.discriminator_rate, config.bonus_weight) == (4e-3, rate, weight)


def test_rules_follow_what_the_user_chose_and_give_way_to_it():
    small = preset("four-rooms-small")
    assert small.config(ensemble_size=4).discriminator_rate == 1e-3
    assert small.config(learning_rate=0.2).discriminator_rate == 0.1
    assert small.config(discriminator_rate=0.3).discriminator_rate == 0.3
    assert small.config(bonus_weight=3.0).bonus_weight == 3.0


def test_unknown_names_get_the_nearest():
    with pytest.raises(UserError, match="did you mean 'four-rooms-paper'"):
        preset("four-rooms-papr")
    with pytest.raises(UserError, match="did you mean 'ensemble_size'"):
        preset("four-rooms").config(ensemble_sze=3)
    with pytest.raises(UserError, match="ensemble_size is 0"):
        preset("four-rooms-small").config(ensemble_size=0)
