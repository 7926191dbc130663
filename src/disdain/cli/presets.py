"""List the presets; with a name, every value of one, its source, and where it departs from the paper."""

import argparse

from disdain.cli.output import print_json
from disdain.cli.parsing import Parser, add_json
from disdain.config import METHODS
from disdain.presets import PRESETS, preset


def add_arguments(parser: Parser) -> None:
    """The verb's arguments."""
    parser.add_argument("name", nargs="?", help="a preset")
    parser.add_argument("--method", choices=list(METHODS), default="disdain", help="the method whose values to show")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the list, or one preset."""
    if args.name is None:
        if args.json:
            print_json({"presets": {name: item.summary for name, item in PRESETS.items()}})
        else:
            width = max(map(len, PRESETS))
            print("\n".join(f"{name:<{width}}  {item.summary}" for name, item in PRESETS.items()))
        return 0
    chosen = preset(args.name)
    table = chosen.table(args.method)
    if args.json:
        print_json({"name": chosen.name, "summary": chosen.summary, "method": args.method, "fields": table})
        return 0
    print(f"{chosen.name}: {chosen.summary} (method {args.method})\n")
    names = max(map(len, table))
    values = max(len(str(row["value"])) for row in table.values())
    for name, row in table.items():
        print(f"{name:<{names}}  {row['value']!s:<{values}}  {row['source']}")
        if row["deviation"]:
            print(f"{'':<{names}}  {'':<{values}}  ≠ {row['deviation']}")
    return 0
