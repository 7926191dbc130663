"""Train DISDAIN and unbonused skill discovery on Four Rooms with a few seeds; show a table and draw their curves."""

import argparse
from pathlib import Path
from typing import Any

from disdain.cli.output import WHAT, number, print_json, print_table
from disdain.cli.parsing import Parser, add_json, whole
from disdain.errors import UserError

METHODS = ("disdain", "unbonused")
SHOWN = ("skills_training", "skills_greedy", "final_states", "goals_reached", "coverage_lifetime", "gap_greedy")


def add_arguments(parser: Parser) -> None:
    """The verb's arguments."""
    parser.add_argument("--seeds", type=whole("--seeds", 1), default=4, metavar="N", help="seeds of each method (4)")
    parser.add_argument(
        "--updates", type=whole("--updates", 100), default=100_000, metavar="N", help="updates of each seed (100000)"
    )
    parser.add_argument("--out", metavar="DIR", help="a new or empty folder (default: one under runs/)")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Train both, print the table and where the figure is."""
    from disdain.presets import preset

    every = max(100, args.updates // 5000 * 100)  # some fifty points on a curve
    sizes = {"seeds": args.seeds, "updates": args.updates, "evaluate_every": every, "checkpoint_every": 10 * every}
    configs = {method: preset("four-rooms").config(method=method, **sizes) for method in METHODS}
    out = Path(args.out) if args.out else _default_folder()
    if args.out == "" or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise UserError(f"--out is {args.out!r}: it takes a new or empty folder")

    from disdain.figures.names import measure_label
    from disdain.reports import draw_curves, read_runs, report
    from disdain.training.placement import prepare
    from disdain.training.progress import make_progress
    from disdain.training.run import Run
    from disdain.training.trainer import train

    prepare()
    runs = [Run.create(out / method, config, name=method, preset="four-rooms") for method, config in configs.items()]
    for begun in runs:
        progress = make_progress(quiet=args.quiet)
        if not args.quiet:
            progress.note(f"training {begun.name}: {begun.config.seeds} seeds, {begun.config.updates:,} updates")
        train([begun], progress=progress)
    results = read_runs([begun.path for begun in runs])
    table = report(results, SHOWN).as_json()
    figures = draw_curves(results, SHOWN, out)
    if args.json:
        print_json({"runs": table, "figures": figures, "out": out})
        return 0
    rows = [[name, *(_cell(of["measures"][name]) for of in table.values()), measure_label(name)] for name in SHOWN]
    title = f"{args.updates:,} updates, {args.seeds} seeds: mean [95 % interval]"
    print_table(title, ("measure", *table, WHAT), rows)
    print(f"\nThe bound for skills is {table['disdain']['ceiling']:.1f}.", end=" ")
    print("In the paper unbonused does not exceed 30 and the best seeds of DISDAIN reach about 90.")
    print(f"figure: {figures[0]}")
    return 0


def _cell(final: dict[str, Any]) -> str:
    return f"{number(final['mean'])} [{number(final['low'])}, {number(final['high'])}]"


def _default_folder() -> Path:
    from datetime import datetime

    base = Path("runs", f"demo-{datetime.now():%Y%m%d-%H%M%S}")
    return next(p for n in range(1, 1000) if not (p := base if n == 1 else base.with_name(f"{base.name}-{n}")).exists())
