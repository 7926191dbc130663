"""Train a preset in a run folder of its own, or go on with a run where it stopped."""

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disdain.cli.output import print_json, print_measures
from disdain.cli.parsing import Parser, add_fields, add_json, chosen_fields, existing
from disdain.errors import UserError
from disdain.presets import preset

if TYPE_CHECKING:
    from disdain.training.run import Run


def add_arguments(parser: Parser) -> None:
    """The verb's arguments."""
    parser.usage = "%(prog)s PRESET [options]\n       %(prog)s --resume RUN [--updates N] [options]"
    parser.add_argument("preset", nargs="?", metavar="PRESET", help="a preset (disdain presets lists them)")
    parser.add_argument("--resume", metavar="RUN", help="go on with this run (a folder, or what `disdain pack` made)")
    parser.add_argument("--out", metavar="DIR", help="the run's folder, new or empty (default: one under runs/)")
    parser.add_argument("--map", metavar="FILE", help="a grid world drawn as text; short for --environment map:FILE")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--tensorboard", action="store_true", help="event files for TensorBoard too")
    add_json(parser)
    add_fields(parser)


def run(args: argparse.Namespace) -> int:
    """Train; print the run's folder and its last measures."""
    chosen = _chosen(args)
    begun = _begin(args, chosen) if args.resume is None else _resume(args, chosen)

    from disdain.training.placement import prepare
    from disdain.training.progress import make_progress
    from disdain.training.trainer import train

    prepare(deterministic=begun.config.deterministic)
    progress = make_progress(quiet=args.quiet)
    _, note = begun.world()
    if note:
        progress.note(note)
    train([begun], progress=progress, tensorboard=args.tensorboard)
    summary = json.loads((begun.path / "summary.json").read_text(encoding="utf-8"))
    if args.json:
        print_json({"run": begun.path, **summary})
        return 0
    print_measures(about(summary), summary["measures"])
    print(f"\nrun: {begun.path}")
    return 0


def about(summary: dict[str, Any]) -> str:
    """What a summary is of, on a line."""
    seeds = f"{summary['seeds']} seed" + ("s" if summary["seeds"] != 1 else "")
    return (
        f"{summary['method']} on {summary['environment']}: {seeds}, {summary['updates']:,} updates, "
        f"{summary['seconds']:.1f} s; at most {summary['ceiling']:.1f} effective skills"
    )


def _chosen(args: argparse.Namespace) -> dict[str, Any]:
    chosen = chosen_fields(args)
    if args.map is not None:
        if not args.map:
            raise UserError("--map is empty: it takes a file")
        if "environment" in chosen:
            raise UserError("--map and --environment both name the world: give one of them")
        chosen["environment"] = f"map:{args.map}"
    return chosen


def _begin(args: argparse.Namespace, chosen: dict[str, Any]) -> "Run":
    if args.preset is None:
        raise UserError("which preset? (disdain presets lists them; --resume RUN goes on with a run)")
    if args.out == "":
        raise UserError("--out is empty: it takes a folder")
    config = preset(args.preset).config(**chosen)

    from disdain.training.run import Run

    return Run.create(args.out, config, preset=args.preset)


def _resume(args: argparse.Namespace, chosen: dict[str, Any]) -> "Run":
    if args.preset is not None or args.out is not None:
        raise UserError("--resume goes on with a run in its folder: give it, or a preset and --out, not both")
    path = existing(args.resume)

    from disdain.training.pack import unpack
    from disdain.training.run import Run

    opened = unpack(path, unpacked(path)) if path.is_file() else Run.open(path)
    return opened.changed(dataclasses.replace(opened.config, **chosen))


def unpacked(archive: Path) -> Path:
    """The folder beside an archive that its run is unpacked to."""
    return archive.with_suffix("") if archive.suffix else archive.with_name(f"{archive.name}-run")
