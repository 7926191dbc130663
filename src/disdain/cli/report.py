"""Final values of runs as tables, and their learning curves as figures."""

import argparse
from pathlib import Path

from disdain.cli.output import print_json, print_measures
from disdain.cli.parsing import Parser, add_json, existing
from disdain.errors import UserError


def add_arguments(parser: Parser) -> None:
    """The verb's arguments."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="runs' folders, or folders of runs")
    parser.add_argument(
        "--measures", metavar="A,B", help="only these measures (default: all in tables, six in figures)"
    )
    parser.add_argument(
        "--out", metavar="DIR", help="draw all runs in one figure there (default: each run's own in RUN/figures)"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the tables; draw the curves."""
    paths = [existing(text) for text in args.runs]
    measures = [name.strip() for name in args.measures.split(",")] if args.measures is not None else None
    if args.out == "" or (args.out and Path(args.out).is_file()):
        raise UserError(f"--out is {args.out!r}: it takes a folder")

    from disdain.reports import draw_curves, read_runs, report

    results = read_runs(paths)
    table = report(results, measures).as_json()
    if args.out is not None:
        figures = draw_curves(results, measures, Path(args.out))
    else:
        figures = [file for path in paths for file in draw_curves(read_runs([path]), measures, path / "figures")]
    if args.json:
        print_json({"runs": table, "figures": figures})
        return 0
    for name, of_run in table.items():
        seeds = f"{of_run['seeds']} seed{'s' if of_run['seeds'] != 1 else ''}"
        ceiling = f"; at most {of_run['ceiling']:.1f} effective skills" if of_run["ceiling"] is not None else ""
        print_measures(f"{name}: {seeds}, {of_run['updates']:,} updates{ceiling}", of_run["measures"])
        print()
    print("\n".join(f"figure: {file}" for file in figures if file.suffix == ".png"))
    return 0
