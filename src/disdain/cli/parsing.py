"""Arguments: flags made of the configuration's fields, and every mistake said in one line."""

import argparse
import dataclasses
import difflib
import typing
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from disdain import config as fields
from disdain.config import Config
from disdain.errors import UserError, nearest


class Parser(argparse.ArgumentParser):
    """argparse whose every complaint is a `UserError` of one line, with the nearest valid flag."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **kwargs)

    def error(self, message: str) -> NoReturn:
        """What argparse found, on one line."""
        raise UserError(f"{' '.join(message.split()).removeprefix('argument ')} (see {self.prog} --help)")

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """The arguments; whatever is left over is a mistake."""
        args, extras = self.parse_known_args(argv)
        flags = [word.split("=")[0] for word in extras if word.startswith("-") and word != "-"]
        if flags:
            raise UserError(f"unknown flag '{flags[0]}': {_hint(flags[0], self.flags())}see {self.prog} --help")
        if extras:
            raise UserError(f"unexpected argument {extras[0]!r}: see {self.prog} --help")
        return args

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise nearest(argument_name(action), value, action.choices)

    def flags(self) -> list[str]:
        """All flags that this parser knows."""
        return [flag for action in self._actions for flag in action.option_strings]


def argument_name(action: argparse.Action) -> str:
    """What a complaint calls an argument."""
    return action.option_strings[0].removeprefix("--") if action.option_strings else str(action.metavar or action.dest)


def add_json(parser: Parser) -> None:
    """--json, the same everywhere."""
    parser.add_argument("--json", action="store_true", help="print exactly one JSON object on stdout, logs on stderr")


def add_fields(parser: Parser) -> None:
    """A flag for each field of the configuration; those that are not given leave no trace in the namespace."""
    group = parser.add_argument_group("configuration", "what the preset says (disdain presets NAME), unless given here")
    hints, texts = typing.get_type_hints(Config), fields.help_texts()
    for field in dataclasses.fields(Config):
        names = ["--" + field.name.replace("_", "-")]
        if field.name == "environment":
            names.append("--env")
        text, allowed = texts[field.name].replace("%", "%%"), fields.choices(hints[field.name])
        kind, _ = fields.scalar(hints[field.name])
        common: dict[str, Any] = {"dest": field.name, "default": argparse.SUPPRESS, "help": text}
        if kind is bool:
            group.add_argument(*names, action=argparse.BooleanOptionalAction, **common)
        elif allowed:
            group.add_argument(*names, choices=allowed, **common)
        else:
            group.add_argument(*names, type=_READERS[kind](names[0]), metavar=_METAVARS[kind], **common)


def chosen_fields(args: argparse.Namespace) -> dict[str, Any]:
    """The configuration's fields that the user gave."""
    return {f.name: getattr(args, f.name) for f in dataclasses.fields(Config) if hasattr(args, f.name)}


def whole(flag: str, least: int | None = None) -> Callable[[str], int]:
    """Reads a whole number."""

    def read(text: str) -> int:
        try:
            value = int(text.replace("_", ""))
        except ValueError:
            raise UserError(f"{flag} is {text!r}: it takes a whole number") from None
        if abs(value) >= 2**31:
            raise UserError(f"{flag} is {text}: it must be below 2,147,483,648")
        if least is not None and value < least:
            raise UserError(f"{flag} is {text}: it must be {least} or more")
        return value

    return read


def number(flag: str) -> Callable[[str], float]:
    """Reads a number."""

    def read(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise UserError(f"{flag} is {text!r}: it takes a number") from None

    return read


def word(flag: str) -> Callable[[str], str]:
    """Reads any text but none."""

    def read(text: str) -> str:
        if not text:
            raise UserError(f"{flag} is empty")
        return text

    return read


def existing(text: str) -> Path:
    """The path of a run; what is there is checked where it is opened."""
    path = Path(text)
    if not text or not path.exists():
        raise UserError(f"no run at {text!r}: {_neighbour(path)}")
    return path


def _neighbour(path: Path) -> str:
    parent = path.parent
    if not parent.is_dir():
        return f"there is no folder {str(parent)!r} either"
    runs = sorted(entry.name for entry in parent.iterdir() if entry.is_dir() and (entry / "config.json").is_file())
    close = difflib.get_close_matches(path.name, runs, n=1, cutoff=0.4)
    if close:
        return f"did you mean {str(parent / close[0])!r}?"
    return "a run is the folder that `disdain train` writes"


def _hint(given: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(given.replace("_", "-"), known, n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'? " if close else ""


_READERS: dict[type, Callable[[str], Callable[[str], Any]]] = {int: whole, float: number, str: word}
_METAVARS: dict[type, str] = {int: "N", float: "X", str: "NAME"}
