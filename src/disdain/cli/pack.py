"""A run in one archive, to carry to another machine: `disdain train --resume ARCHIVE` goes on with it there."""

import argparse
import sys
from pathlib import Path

from disdain.cli.output import print_json
from disdain.cli.parsing import Parser, add_json, existing


def add_arguments(parser: Parser) -> None:
    """The verb's arguments."""
    parser.add_argument("run", metavar="RUN", help="a run's folder")
    parser.add_argument("--out", metavar="FILE", help="the archive (default: RUN.zip beside the run)")
    parser.add_argument(
        "--replay", action="store_true", help="with the replay (without it, it is filled anew when the run goes on)"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the archive and print where."""
    path = existing(args.run)

    from disdain.training.pack import pack
    from disdain.training.run import Run

    note = lambda text: print(f"disdain: {text}", file=sys.stderr)  # noqa: E731
    archive = pack(Run.open(path), Path(args.out) if args.out else None, with_replay=args.replay, note=note)
    if args.json:
        print_json({"archive": archive, "bytes": archive.stat().st_size, "replay": args.replay})
    else:
        print(f"{archive} ({archive.stat().st_size / 1e6:.1f} MB)")
    return 0
