"""Whole Python processes: from their start to the first result of the seed's example, and the memory that compiling takes.

Prints the wall seconds of a process that only imports NumPy, of one that also builds, compiles and calls a + a**10 (with
its code in the object cache, and without), and the MB of memory of one that has compiled the digits step.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOTHING = "import numpy"
FIRST_RESULT = """
import numpy, bitale as bt, bitale.tensor as pt
a = pt.dvector("a")
f = bt.function([a], a + a**10)
f(numpy.arange(3.0))
"""
DIGITS = """
import resource, bitale, bitale.tensor, digits
step, _ = digits.symbolic(bitale.tensor, bitale.shared, bitale.grad, bitale.function)
step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def seconds(program, flags):
    # An installed package has its bytecode; so does this one, after the first run.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, env={**env, "BITALE_FLAGS": flags})
    return time.perf_counter() - before


def main():
    with tempfile.TemporaryDirectory() as kept:
        cases = {
            "NumPy": (NOTHING, ""),
            "compiling": (FIRST_RESULT, "cache=off"),
            "code kept": (FIRST_RESULT, f"compiledir={kept}"),
        }
        times = {name: [] for name in cases}
        for _ in range(16):
            for name, (program, flags) in cases.items():
                times[name].append(seconds(program, flags))
    here = Path(__file__).resolve().parent
    memory = subprocess.run(
        [sys.executable, "-c", DIGITS],
        check=True,
        stdout=subprocess.PIPE,
        cwd=here,
        env={**os.environ, "BITALE_FLAGS": "cache=off"},
    ).stdout
    print(
        json.dumps(
            {
                "wall": {name: statistics.median(each) for name, each in times.items()},
                "memory": float(memory),
            }
        )
    )


if __name__ == "__main__":
    main()
