"""Whatever a user can get wrong: exit 2, exactly one line on stderr, the nearest valid choice, nothing written."""

import pickle

import pytest

TRAIN = ("train", "four-rooms")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("trian", "four-rooms"), ("unknown command 'trian'", "did you mean 'train'?")),
        (("train",), "which preset?"),
        (("train", "four-roms"), ("unknown preset 'four-roms'", "did you mean 'four-rooms'?")),
        (("presets", "four-rooms-smal"), ("unknown preset", "did you mean 'four-rooms-small'?")),
        (("presets", "four-rooms", "--method", "cuont"), "did you mean 'count'?"),
        ((*TRAIN, "--lerning-rate", "1"), ("unknown flag '--lerning-rate'", "did you mean '--learning-rate'?")),
        ((*TRAIN, "--lerning-rate=1"), "did you mean '--learning-rate'?"),
        ((*TRAIN, "--learning_rate", "1"), "did you mean '--learning-rate'?"),
        ((*TRAIN, "--learning", "1"), "did you mean '--learning-rate'?"),
        ((*TRAIN, "stray"), "unexpected argument 'stray'"),
        ((*TRAIN, "--method", "disdian"), ("unknown method 'disdian'", "did you mean 'disdain'?")),
        ((*TRAIN, "--objective", "evry"), ("unknown objective 'evry'", "did you mean 'every'?")),
        ((*TRAIN, "--replay", "devic"), "did you mean 'device'?"),
        ((*TRAIN, "--env", "four-room"), ("unknown environment 'four-room'", "did you mean 'four-rooms'?")),
        ((*TRAIN, "--environment", ""), "environment is empty"),
        ((*TRAIN, "--env", "gym:FrozenLak-v1"), ("unknown Gymnasium environment", "did you mean 'FrozenLake-v1'?")),
        ((*TRAIN, "--env", "gym:Blackjack-v1"), ("shows no transition table", "FrozenLake-v1")),
        ((*TRAIN, "--env", "four-rooms", "--map", "x.txt"), "one of them"),
        ((*TRAIN, "--updates", "many"), "--updates is 'many': it takes a whole number"),
        ((*TRAIN, "--updates", "1.5"), "it takes a whole number"),
        ((*TRAIN, "--updates", "10000000000"), "--updates"),
        ((*TRAIN, "--updates"), "--updates: expected one argument"),
        ((*TRAIN, "--discount", "high"), "--discount is 'high': it takes a number"),
        ((*TRAIN, "--discount", "nan"), "discount is nan: it must lie in [0, 1]"),
        ((*TRAIN, "--epsilon", "1.5"), "epsilon is 1.5: it must lie in [0, 1]"),
        ((*TRAIN, "--epsilon", "-0.1"), "epsilon is -0.1: it must lie in [0, 1]"),
        ((*TRAIN, "--slip", "2"), "slip is 2.0: it must lie in [0, 1]"),
        ((*TRAIN, "--learning-rate", "inf"), "learning_rate is inf"),
        ((*TRAIN, "--learning-rate", "0"), "learning_rate is 0.0"),
        ((*TRAIN, "--bonus-weight", "-3"), "bonus_weight is -3.0"),
        ((*TRAIN, "--updates", "150"), ("updates is 150", "try 200")),
        ((*TRAIN, "--unroll-length", "1"), "unroll_length is 1"),
        ((*TRAIN, "--num-skills", "1"), "num_skills is 1"),
        ((*TRAIN, "--ensemble-size", "1"), "a lone member cannot disagree"),
        ((*TRAIN, "--batch-size", "32"), "--batch-size 16"),
        (
            (*TRAIN, "--env", "gym:FrozenLake-v1", "--unroll-length", "102"),
            ("unroll_length is 102", "100 moves at most"),
        ),
        ((*TRAIN, "--env", "gym:FrozenLake-v1", "--slip", "0.1"), "only grid worlds slip"),
        ((*TRAIN, "--resume", "nowhere"), "not both"),
        (("report",), "required: RUN"),
        (("report", "nowhere"), "no run at 'nowhere'"),
        (("evaluate", "nowhere"), "no run at 'nowhere'"),
        (("evaluate", "nowhere/at/all"), "no run at 'nowhere/at/all'"),
        (("compare", "nowhere"), "required"),
        (("compare", "nowhere", "nowhere"), "no run at 'nowhere'"),
        (("pack", "nowhere"), "no run at 'nowhere'"),
        (("train", "--resume", "nowhere"), "no run at 'nowhere'"),
        (("bench",), "which benchmark?"),
        (("bench", "four-roms"), ("unknown benchmark", "did you mean 'four-rooms'?")),
        (("reproduce",), "which"),
        (("reproduce", "four-rooms-sedes"), ("unknown", "did you mean 'four-rooms-seeds'?")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) and value[0].isalpha() else "",
)
def test_command_lines(refused, argv, says):
    refused(*argv, says=says)


SIZES = (
    *("seeds", "updates", "num-skills", "unroll-length", "batch-size", "unrolls-per-update", "num-actors"),
    *("actor-period", "replay-size", "ensemble-size", "evaluate-every", "checkpoint-every", "keep-checkpoints"),
)


@pytest.mark.parametrize("value", [0, -1, -100])
@pytest.mark.parametrize("field", SIZES)
def test_sizes_are_positive(refused, field, value):
    refused(*TRAIN, f"--{field}", value, says=f"{field.replace('-', '_')} is {value}")


MAPS = {
    "jagged": (b"#####\n#  #\n#####\n", "not rectangular: line 1 has 5 columns, line 2 has 4"),
    "two-starts": (b"#####\n#S S#\n#####\n", "has 2 starts ('S' at line 2 column 2 and at line 2 column 4)"),
    "empty": (b"", "is empty"),
    "blank-lines": (b"\n\n\n", "is empty"),
    "walls": (b"###\n###\n", "has no free cell"),
    "letters": (b"#####\n# x #\n#####\n", "has 'x' at line 2 column 3"),
    "binary": (bytes(range(256)) * 8, "is not text"),
    "zeros": (b"\0" * 64, "at line 1 column 1"),
    "wide": (b"#" * 10 + b"\x1b[31m", "at line 1 column 11"),
}


@pytest.mark.parametrize("name", MAPS)
def test_maps(refused, here, name):
    content, says = MAPS[name]
    (here / "world.txt").write_bytes(content)
    refused(*TRAIN, "--map", "world.txt", says=("world.txt", says))


def test_ten_megabytes_of_noise(refused, here):
    import random

    (here / "world.txt").write_bytes(random.Random(0).randbytes(10_000_000))
    refused(*TRAIN, "--map", "world.txt", says=("world.txt", "1,000,000 bytes at most"))


def test_maps_that_cannot_be_read(refused, here):
    (here / "folder").mkdir()
    refused(*TRAIN, "--map", "missing.txt", says="missing.txt cannot be read: No such file")
    refused(*TRAIN, "--map", "folder", says="folder cannot be read: Is a directory")
    refused(*TRAIN, "--map", "", says="--map is empty")


def test_a_folder_in_use_is_left_alone(refused, here):
    (here / "mine").mkdir()
    (here / "mine" / "thesis.tex").write_text("years of work")
    refused(*TRAIN, "--out", "mine", says="mine")
    (here / "file").write_text("x")
    refused(*TRAIN, "--out", "file", says="file")


@pytest.mark.parametrize("verb", [("evaluate",), ("report",), ("pack",), ("train", "--resume")])
class TestRunFolders:
    def test_anything_but_a_run(self, refused, here, verb):
        (here / "photos").mkdir()
        (here / "photos" / "cat.jpg").write_bytes(b"\xff\xd8")
        refused(*verb, "photos", says="photos")

    def test_a_file(self, refused, here, verb):
        (here / "notes.txt").write_text("no archive")
        refused(*verb, "notes.txt", says="notes.txt")

    def test_a_pickle_where_the_configuration_should_be(self, refused, here, verb):
        (here / "run").mkdir()
        (here / "run" / "config.json").write_bytes(pickle.dumps({"format": 1}))
        refused(*verb, "run", says="config.json")
