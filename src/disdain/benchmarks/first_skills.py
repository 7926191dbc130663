"""Train one seed until it has a number of greedy skills; prints the seconds since the program was asked to start.

Run as a program of its own, so that what is timed is what a user waits for: start-up and compilation included.
"""

import json
import sys
import time


def main(begun: float, seed: int, skills: float) -> dict[str, float]:
    """Seconds from `begun` (wall clock) to the end of the first 100 updates, and to the skills."""
    from disdain.presets import PRESETS
    from disdain.training.placement import prepare

    prepare()
    from disdain.envs import make
    from disdain.training.fused import FusedRunner, stack_rates
    from disdain.training.parts import make_parts, rates_of

    config = PRESETS["four-rooms"].config().validated()
    world, _ = make(config.environment, moves=config.moves)
    runner = FusedRunner(make_parts(config, world), stack_rates([rates_of(config)]), [seed])
    training, _ = runner.advance(runner.init(), 0, 100)
    started, update, reached = time.time() - begun, 100, 0.0
    while reached < skills and update < 300_000:
        training, measures = runner.advance(training, update, 1_000)
        update, reached = update + 1_000, float(measures["skills_greedy"][0])
    return {"startup_seconds": started, "seconds": time.time() - begun, "updates": update, "skills": reached}


if __name__ == "__main__":
    print(json.dumps(main(float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
