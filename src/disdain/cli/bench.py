"""Measure the speed of one part on this machine; the README says what each number means."""

import argparse
import importlib
import pkgutil
from collections.abc import Sequence
from types import ModuleType

from disdain.cli.output import print_json, print_table
from disdain.cli.parsing import Parser, add_json
from disdain.errors import UserError, nearest


def add_arguments(parser: Parser, argv: Sequence[str]) -> None:
    """The benchmark's name, which comes first, and the flags of that benchmark."""
    known = names()
    parser.add_argument("name", metavar="NAME", help=f"which: {', '.join(known)}")
    add_json(parser)
    if not argv:
        raise UserError(f"which benchmark? (known: {', '.join(known)})")
    if argv[0] in known:
        _module(argv[0]).add_arguments(parser)
    elif not argv[0].startswith("-"):
        raise nearest("benchmark", argv[0], known)


def run(args: argparse.Namespace) -> int:
    """Run it and print what it measured."""
    if args.name not in names():
        raise nearest("benchmark", args.name, names())

    from disdain.training.placement import prepare

    prepare()
    measured = _module(args.name).main(args)
    if args.json:
        print_json(measured)
    else:
        print_table(f"bench {args.name}", ("measured", "value"), list(measured.items()))
    return 0


def names() -> list[str]:
    """The benchmarks of this package, as they are called on the command line."""
    import disdain.benchmarks

    found = (module.name.replace("_", "-") for module in pkgutil.iter_modules(disdain.benchmarks.__path__))
    return sorted(name for name in found if hasattr(_module(name), "add_arguments"))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"disdain.benchmarks.{name.replace('-', '_')}")
