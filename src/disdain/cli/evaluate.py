"""Measure the newest checkpoint of a run: exactly, and beside it by rollouts, each seed and all of them."""

import argparse
import sys

from disdain.cli.output import print_json, print_measures
from disdain.cli.parsing import Parser, add_json, existing, whole


def add_arguments(parser: Parser) -> None:
    """The verb's arguments."""
    parser.add_argument("run", metavar="RUN", help="a run's folder")
    parser.add_argument(
        "--rollouts",
        type=whole("--rollouts", 0),
        default=100,
        metavar="N",
        help="rollouts of each skill (default: 100)",
    )
    parser.add_argument(
        "--checkpoint", type=whole("--checkpoint", 1), metavar="U", help="the checkpoint of update U, not the newest"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the measures."""
    path = existing(args.run)
    from disdain.reports import evaluate
    from disdain.training.placement import prepare
    from disdain.training.run import Run

    opened = Run.open(path)
    prepare()
    note = lambda text: print(f"disdain: {text}", file=sys.stderr)  # noqa: E731
    found = evaluate(opened, rollouts=args.rollouts, checkpoint=args.checkpoint, note=note)
    if args.json:
        print_json(found)
        return 0
    seeds = len(found["seeds"])
    title = (
        f"{found['run']}: {found['method']} on {found['environment']} after {found['update']:,} updates, "
        f"{seeds} seed{'s' if seeds != 1 else ''}; at most {found['ceiling']:.1f} effective skills"
    )
    print_measures(title, found["measures"])
    return 0
