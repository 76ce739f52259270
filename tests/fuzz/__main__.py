"""python -m fuzz [--seconds S | --graphs N] [--seed FIRST] [--jobs J] [--keep FOLDER]

Runs random graphs on all processors until the time is over. Failing graphs are shrunk, printed as scripts, and stored
as JSON; a crash or hang of a worker counts as a failure of the graph that it was running. A coverage report follows at
the end.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pathlib
import queue
import sys
import time
from typing import Any

from .worker import work

HANG = 60.0  # time limit per graph, in seconds


class Run:
    """The parent process: starts workers, collects their findings, and restarts workers that die."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.jobs = options.jobs or os.cpu_count() or 1
        self.first = (
            options.seed if options.seed is not None else int(time.time()) % 1_000_000 * 1_000
        )
        self.most = self.first + options.graphs if options.graphs else 2**62
        self.start = time.time()
        self.end = self.start + options.seconds
        self.context = multiprocessing.get_context("spawn")
        self.at = self.context.Array("q", [self.first + i for i in range(self.jobs)], lock=False)
        self.since = self.context.Array("d", [time.time()] * self.jobs, lock=False)
        self.results = self.context.Queue()
        self.workers: dict[int, Any] = {}
        self.found: dict[str, list[int]] = {}
        from .coverage import Coverage

        self.coverage = Coverage()

    def begin(self, number: int) -> None:
        self.since[number] = time.time() + 20
        arguments = (
            number,
            self.jobs,
            self.first,
            self.end,
            self.most,
            self.at,
            self.since,
            self.results,
        )
        self.workers[number] = self.context.Process(target=work, args=arguments, daemon=True)
        self.workers[number].start()

    def run(self) -> int:
        for number in range(self.jobs):
            self.begin(number)
        shown = time.time()
        while self.workers:
            try:
                self.take(self.results.get(timeout=1))
            except queue.Empty:
                self.watch()
            if time.time() - shown > 10:
                shown = time.time()
                self.progress()
        from .coverage import report

        self.progress()
        print(report(self.coverage))
        for name, seeds in sorted(self.found.items(), key=lambda item: -len(item[1])):
            print(f"{len(seeds)} x {name}   seeds {', '.join(map(str, seeds[:5]))}")
        return 1 if self.found else 0

    def take(self, message: tuple) -> None:
        if message[0] == "done":
            self.workers.pop(message[1]).join()
        elif message[0] == "coverage":
            self.coverage.add(message[1])
        else:
            self.failure(*message[1:])

    def failure(
        self, seed: int, name: str, case: Any, mode: str | None, configuration: str, text: str
    ) -> None:
        from .case import script, to_json

        self.found.setdefault(name, []).append(seed)
        if len(self.found[name]) > 1:
            return
        print(f"\n==== seed {seed}: {configuration}: {text}")
        if case is not None:
            print(script(case, mode or ""), flush=True)
            if self.options.keep:
                folder = pathlib.Path(self.options.keep)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{seed}.json").write_text(
                    to_json(case, configuration=configuration, message=text)
                )

    def watch(self) -> None:
        """Records a failure for each worker that died or hangs, and starts a new worker at the following graph."""
        for number, worker in list(self.workers.items()):
            hangs = time.time() - self.since[number] > HANG
            if worker.is_alive() and not hangs:
                continue
            seed = self.at[number]
            if not worker.is_alive() and worker.exitcode == 0:
                continue
            what = f"hangs for {HANG:.0f} s" if hangs else f"ends with exit code {worker.exitcode}"
            if worker.is_alive():
                worker.kill()
            worker.join()
            self.failure(
                seed,
                f"the process {what}",
                None,
                None,
                "a worker",
                f"the process {what}; python -m fuzz --show {seed}",
            )
            self.at[number] = seed + self.jobs
            if sum(map(len, self.found.values())) > 1000:
                raise RuntimeError("the workers die again and again")
            self.begin(number)

    def progress(self) -> None:
        seconds = time.time() - self.start
        count = self.coverage.counts["graphs"]
        print(
            f"{seconds:5.0f} s: {count} graphs, {count / max(seconds, 1):.0f} per s, "
            f"{sum(map(len, self.found.values()))} failures of {len(self.found)} kinds",
            file=sys.stderr,
        )


def show(seed: int) -> None:
    """Prints the script of a seed's graph in the default mode."""
    import bitale as bt

    from .case import script
    from .generate import Refused, random_case
    from .kinds import registry

    try:
        print(script(random_case(seed, bt, registry)))
    except Refused as refused:
        print(script(refused.case), refused.message)


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--graphs", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--keep", help="folder for cases that failed")
    parser.add_argument("--show", type=int, help="print the graph of a seed, and stop")
    options = parser.parse_args()
    if options.show is not None:
        show(options.show)
        return 0
    if options.graphs and options.seconds == 60:
        options.seconds = 1e9
    return Run(options).run()


if __name__ == "__main__":
    sys.exit(main())
