"""The command line of checks that draw one program from each seed: so many programs or seconds, from a seed on."""

import argparse
import time
import traceback
import warnings
from collections.abc import Callable


def run(name: str, description: str | None, check: Callable[[int], int | None]) -> int:
    """Calls check with one seed after another and prints the exceptions. Returns the exit status, 1 after a failure.

    check(seed) returns how many values it has compared, or None where it does not count them.
    """
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument("--programs", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000 * 1_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    end, count, compared, failures = time.monotonic() + options.seconds, 0, 0, 0
    while count < options.programs if options.programs else time.monotonic() < end:
        seed = options.seed + count
        count += 1
        try:
            compared += check(seed) or 0
        except Exception:
            failures += 1
            print(f"---- seed {seed}\n{traceback.format_exc(limit=-4)}", flush=True)
    values = f", {compared} values compared" if compared else ""
    print(f"{count} programs{values}, {failures} failures")
    return 1 if failures else 0
