"""The paper's figures: train what an experiment needs, as far as it is not done yet, and draw from the tables.

Stopped and called again with the same folder, it goes on where it was.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from disdain.cli.output import print_json, print_table
from disdain.cli.parsing import Parser, add_json, existing, whole
from disdain.errors import UserError


def add_arguments(parser: Parser) -> None:
    """The verb's arguments."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="an experiment (--list shows them)")
    parser.add_argument(
        "--list", action="store_true", help="the experiments, their figures in the source, what is here"
    )
    parser.add_argument("--quick", action="store_true", help="the same code on few seeds and updates")
    parser.add_argument("--out", metavar="DIR", help="where to (default: a folder under results/)")
    parser.add_argument("--seeds", type=whole("--seeds", 1), metavar="N", help="seeds of each run")
    parser.add_argument("--updates", type=whole("--updates", 1), metavar="N", help="updates of each run")
    parser.add_argument("--preset", metavar="P", help="the preset of its runs (default: four-rooms)")
    parser.add_argument(
        "--draw-only", metavar="FOLDER", help="train nothing: draw from the finished runs or tables there"
    )
    parser.add_argument("--export", metavar="DIR", help="also write the result tables of all runs, compactly, to DIR")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List, or reproduce and print the table and the figures' paths."""
    if args.list:
        return _list(args)
    if args.name is None:
        raise UserError("which experiment? (disdain reproduce --list shows them)")

    from disdain.experiments.catalogue import experiment
    from disdain.experiments.running import PRESET, default_folder, reproduce
    from disdain.training.progress import make_progress

    experiment(args.name)
    if args.draw_only is not None:
        if args.out or args.quick or args.seeds or args.updates or args.preset:
            raise UserError("--draw-only trains nothing and draws where the tables are: it takes no other setting")
        out = existing(args.draw_only)
    elif args.out is not None:
        if not args.out or Path(args.out).is_file():
            raise UserError(f"--out is {args.out!r}: it takes a folder")
        out = Path(args.out)
    else:
        out = default_folder(args.name, preset=args.preset or PRESET, quick=args.quick)
    done = reproduce(
        args.name,
        out,
        quick=args.quick,
        seeds=args.seeds,
        updates=args.updates,
        preset=args.preset or PRESET,
        progress=make_progress(quiet=args.quiet),
        say=(lambda _: None) if args.quiet else (lambda text: print(text, file=sys.stderr, flush=True)),
        draw_only=args.draw_only is not None,
    )
    if args.export is not None:
        from disdain.figures.compact import export_tables

        export_tables(out, Path(args.export))
    if args.json:
        print_json({"experiment": args.name, "out": out, "figures": done.figures, "runs": done.table.as_json()})
        return 0
    print(done.table.as_markdown())
    print("\n".join(f"figure: {file}" for file in done.figures if file.suffix == ".png"))
    return 0


def _list(args: argparse.Namespace) -> int:
    from disdain.experiments.catalogue import EXPERIMENTS

    if args.json:
        about: dict[str, Any] = {
            name: {"figure": item.number or None, "here": item.here, "description": item.description}
            for name, item in EXPERIMENTS.items()
        }
        print_json({"experiments": about})
        return 0
    rows = [
        (name, f"Figure {item.number}" if item.number else "–", "here" if item.here else "not yet", item.description)
        for name, item in EXPERIMENTS.items()
    ]
    print_table("", ("experiment", "in the source", "", "what it shows"), rows, left=4)
    return 0
