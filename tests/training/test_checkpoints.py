"""A checkpoint restores bit for bit, or says which of its files is not what was written."""

import shutil

import numpy as np
import pytest
from harness import assert_same_arrays
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from disdain.errors import UserError
from disdain.training.checkpoints import Checkpoints
from disdain.training.manifest import Damaged, read_manifest, write_manifest
from disdain.training.parts import Training

BITS = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45, 1 / 3], np.float32).view(np.uint32)


def training(**parts) -> Training:
    everything = dict.fromkeys(("acting", "bonus", "episode", "replay"))
    return Training(**{"agent": None, "tally": {"n": np.zeros((2,), np.int32)}, **everything, **parts})


def sample() -> Training:
    random = np.random.default_rng(0)
    quiet_and_signalling = np.concatenate([BITS, [0x7FC00001, 0xFFC12345]]).astype(np.uint32).view(np.float32)
    return training(
        agent={
            "q": random.standard_normal((2, 500, 2)).astype(np.float32),
            "odd": np.stack([quiet_and_signalling] * 2),
        },
        bonus=random.random((2, 24)).astype(np.float32),
        replay={
            "data": {"action": random.integers(0, 255, (2, 64, 8)).astype(np.uint8)},
            "pushed": np.full(2, 99, np.int32),
        },
        tally={"visited": random.random((2, 24)) > 0.5, "word": random.integers(0, 2**32, (2, 3)).astype(np.uint32)},
    )


def flat(tree: Training) -> dict[str, np.ndarray]:
    import jax

    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree.flatten_with_path(tree)[0]}


@pytest.fixture
def checkpoints(tmp_path):
    return Checkpoints(tmp_path / "checkpoints")


def test_every_bit_comes_back(checkpoints):
    before = sample()
    checkpoints.save(400, before, {"seconds": 1.5})
    about = checkpoints.verify(400)
    assert (about["update"], about["seconds"], about["parts"]) == (400, 1.5, ["agent", "bonus", "replay", "tally"])
    after = checkpoints.load(400, before)
    assert_same_arrays(flat(before), flat(after))
    assert [path.name for path in checkpoints.folder.iterdir()] == ["000000400"]


def test_a_change_of_any_byte_of_any_file_is_noticed(checkpoints):
    checkpoints.save(400, sample(), {})
    folder, random = checkpoints.path(400), np.random.default_rng(1)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 20
    for file in files:
        content = file.read_bytes()
        for at in {0, len(content) - 1, int(random.integers(len(content)))}:
            flipped = bytearray(content)
            flipped[at] ^= 1 << int(random.integers(8))
            file.write_bytes(flipped)
            with pytest.raises(Damaged, match=file.name):
                checkpoints.verify(400)
        file.write_bytes(content[:-1])
        with pytest.raises(Damaged, match=file.name):
            checkpoints.verify(400)
        file.unlink()
        with pytest.raises(Damaged, match=f"{file.name} is missing"):
            checkpoints.verify(400)
        file.write_bytes(content)
        checkpoints.verify(400)
    (folder / "agent" / "new").touch()
    with pytest.raises(Damaged, match="agent/new does not belong"):
        checkpoints.verify(400)


def test_a_checkpoint_under_another_name_is_not_believed(checkpoints):
    checkpoints.save(400, sample(), {})
    shutil.copytree(checkpoints.path(400), checkpoints.path(800))
    with pytest.raises(Damaged, match="update 400"):
        checkpoints.verify(800)


@settings(max_examples=60, deadline=None)
@given(content=st.dictionaries(st.sampled_from("abc"), st.binary(max_size=40), min_size=1), data=st.data())
def test_a_manifest_is_whole_or_refused(tmp_path_factory, content, data):
    folder = tmp_path_factory.mktemp("manifest")
    for name, text in content.items():
        (folder / name).write_bytes(text)
    write_manifest(folder, {"update": 1})
    assert set(read_manifest(folder)["files"]) == set(content)
    file = folder / "manifest.json"
    changed = bytearray(file.read_bytes())
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    file.write_bytes(changed)
    with pytest.raises(Damaged, match=r"manifest\.json"):
        read_manifest(folder)


@pytest.mark.parametrize(
    "other",
    [
        {"agent": {"q": np.zeros((2, 500, 2), np.float16), "odd": np.zeros((2, 9), np.float32)}},
        {"agent": {"q": np.zeros((3, 500, 2), np.float32), "odd": np.zeros((2, 9), np.float32)}},
        {"agent": {"q": np.zeros((2, 500, 2), np.float32)}},
        {"bonus": None},
        {"episode": {"state": np.zeros((2, 16), np.int32)}},
    ],
    ids=["dtype", "shape", "array-too-many", "part-too-many", "part-missing"],
)
def test_a_checkpoint_of_another_configuration_does_not_fit(checkpoints, other):
    before = sample()
    checkpoints.save(400, before, {})
    parts = {name: getattr(before, name) for name in ("agent", "bonus", "replay", "tally")}
    with pytest.raises(UserError, match="does not fit the run's config"):
        checkpoints.load(400, training(**{**parts, **other}))


def test_the_newest_are_kept_and_those_after_a_point_discarded(checkpoints):
    for update in range(100, 600, 100):
        checkpoints.save(update, training(agent={"x": np.full((2, 1), update)}), {})
        checkpoints.prune(3)
    assert checkpoints.updates() == [300, 400, 500]
    checkpoints.discard_after(400)
    assert checkpoints.updates() == [300, 400]
    assert sorted(path.name for path in checkpoints.folder.iterdir()) == ["000000300", "000000400"]


@settings(max_examples=12, deadline=None)
@given(leaf=npst.arrays(st.sampled_from([np.uint8, np.uint16, np.int32, np.bool_]), npst.array_shapes(max_dims=3)))
def test_integers_come_back_in_their_type(tmp_path_factory, leaf):
    checkpoints = Checkpoints(tmp_path_factory.mktemp("checkpoints"))
    before = training(agent={"leaf": leaf})
    checkpoints.save(1, before, {})
    assert_same_arrays(flat(before), flat(checkpoints.load(1, before)))
