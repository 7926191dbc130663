"""Two runs, seed by seed: how much higher the second ends than the first, with a 95 % interval.

What the seeds share cancels out, so that the interval can be narrower than those of the two means suggest.
"""

import argparse

from disdain.cli.output import number, print_json, print_table
from disdain.cli.parsing import Parser, add_json, existing
from disdain.errors import UserError


def add_arguments(parser: Parser) -> None:
    """The verb's arguments."""
    parser.add_argument("first", metavar="RUN", help="a run's folder")
    parser.add_argument("second", metavar="RUN", help="the run that is compared with it")
    parser.add_argument("--measure", default="skills_greedy", metavar="M", help="what to compare (skills_greedy)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the difference."""
    paths = [existing(text) for text in (args.first, args.second)]
    if paths[0].resolve() == paths[1].resolve():
        raise UserError(f"{args.first} twice: a comparison needs two runs")

    from disdain.reports import compare, read_runs

    results = read_runs(paths)
    if len(results.runs) != 2:
        raise UserError(f"{args.first} and {args.second} hold {len(results.runs)} runs: a comparison needs two")
    found = compare(results, *results.runs, measure=args.measure)
    if args.json:
        print_json(found)
        return 0
    first, second = found["first"], found["second"]
    rows = [
        (f"seed {seed}", *pair, pair[1] - pair[0])
        for seed, *pair in zip(found["seeds"], *found["values"].values(), strict=True)
    ]
    means = found["means"]
    rows.append(("mean", means[first], means[second], found["difference"]["mean"]))
    print_table(f"{found['measure']} at the end of training", ("", first, second, "difference"), rows)
    low, high = found["difference"]["low"], found["difference"]["high"]
    print(f"\n{second} − {first}: {number(found['difference']['mean'])}, 95 % interval [{number(low)}, {number(high)}]")
    if len(found["seeds"]) < 2:
        print("one seed in common: it has no interval")
    if found["updates"][0] != found["updates"][1]:
        print(f"they end at different updates: {found['updates'][0]:,} and {found['updates'][1]:,}")
    print(
        "settings that differ: " + ("; ".join(f"{k}: {a} / {b}" for k, (a, b) in found["settings"].items()) or "none")
    )
    return 0
