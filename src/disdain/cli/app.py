"""From words to a verb, and from whatever goes wrong to one line and an exit code."""

import importlib
import io
import os
import sys
from collections.abc import Sequence

from disdain.cli.parsing import Parser
from disdain.errors import Fault, Stopped, UserError, nearest

# each verb is a module of this package with HELP, add_arguments(parser) and run(args)
VERBS: dict[str, str] = {
    "demo": "train DISDAIN and unbonused skill discovery on Four Rooms: a table and a figure in a minute",
    "train": "train a preset, or go on with a run",
    "evaluate": "measure the newest checkpoint of a run, exactly and by sampling",
    "report": "tables and figures of runs",
    "compare": "two runs, seed by seed: difference with interval",
    "pack": "a run in one archive, to carry to another machine",
    "presets": "list presets; every value of one, with its source",
    "reproduce": "the paper's figures, from fresh runs or from their tables",
    "bench": "measure speed",
}
USAGE, INTERRUPTED, PIPE = 2, 130, 141
TRACEBACK = "DISDAIN_TRACEBACK"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code: 0, 2 for what the user can put right, 1 for the rest."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Greek letters is no reason to fail
    try:
        code = _dispatch(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
        return code
    except UserError as error:
        return _complain(str(error), USAGE)
    except SystemExit as stop:  # argparse, after --help
        return stop.code if isinstance(stop.code, int) else 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its exit
        return PIPE
    except Stopped as stopped:
        print(f"disdain: {stopped}", file=sys.stderr, flush=True)
        return stopped.code
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except Fault as fault:
        return _complain(str(fault), 1)
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return _complain(f"{what} ({TRACEBACK}=1 shows where)", 1)


def _dispatch(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if argv[0] in ("-V", "--version"):
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"disdain {version('disdain')}")
        except PackageNotFoundError:  # run from a source tree
            print("disdain (not installed)")
        return 0
    name = argv[0]
    if name not in VERBS:
        raise nearest("command", name, VERBS)
    verb = importlib.import_module(f"disdain.cli.{name}")
    parser = Parser(prog=f"disdain {name}", description=verb.__doc__)
    if name == "bench":  # each benchmark has flags of its own
        verb.add_arguments(parser, argv[1:])
    else:
        verb.add_arguments(parser)
    return verb.run(parser.parse(argv[1:]))


def overview() -> str:
    """What `disdain --help` prints."""
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {name:<{width}}  {text}" for name, text in VERBS.items())
    return f"""\
usage: disdain COMMAND [...]

Skill discovery with discriminator disagreement (DISDAIN).

commands:
{verbs}

`disdain COMMAND --help` says more; `disdain --version` which one this is.
Try: disdain train four-rooms --seeds 4"""


def _complain(text: str, code: int) -> int:
    print(f"disdain: error: {' '.join(text.split())}", file=sys.stderr, flush=True)
    return code
