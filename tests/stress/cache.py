#!/usr/bin/env python3
"""Faults of the compile directory: many processes at once, kill -9, unwritable directories, full disks, damaged
entries, other processors, other versions, missing locks, eviction. In each case results must be right, no process may
hang, and the entries left in the directory must be intact. `--size short` is part of `./dev test`, `--size long` is
`./dev stress`.

The processes run worker.cpp, which compares the results of compiled code with those of the interpreter.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

HANGS = 600  # timeout in seconds, far above what a process needs, after which it counts as hanging
CANT_KEEP = "compiled code can't be kept in"


class Size(NamedTuple):
    processes: int
    graphs: int
    kills: int
    positions: int  # number of positions of an entry that are damaged


SIZES = {"short": Size(8, 5, 10, 24), "long": Size(64, 50, 200, 3000)}


class Skipped(Exception):
    pass


class Result(NamedTuple):
    status: int
    lines: list  # of JSON, one per process
    errors: str

    @property
    def report(self):
        return self.lines[-1]


def with_private_mounts(script, *arguments):
    """A command prefix that runs a shell script in a private mount namespace; its $0 is the given argument and "$@" the
    command."""
    before = ["unshare", "--map-root-user", "--mount", "sh", "-e", "-c"]
    if (
        not shutil.which(before[0])
        or subprocess.run([*before, "mount -t tmpfs none /mnt"], capture_output=True).returncode
    ):
        raise Skipped("user namespaces that permit mounts are not available")
    return [*before, script, *arguments]


class Bench:
    """The environment of one fault test: a new compile directory, and the processes that use it."""

    def __init__(self, options, folder):
        self.size = SIZES[options.size]
        self.worker = options.build / "stress_worker"
        self.other_version = options.build / "stress_worker_of_another_version"
        self.without_locks = options.build / "libwithout_locks.so"
        self.folder = Path(folder)
        self.compiledir = self.folder / "compiledir"
        self.random = random.Random(1)
        self.started = []

    def start(self, *arguments, worker=None, before=(), flags="", variables=None, limit=None):
        # Killed processes leave their temporary files behind, so these belong in the test's folder.
        environment = {
            **os.environ,
            "TMPDIR": str(self.folder),
            "BITALE_FLAGS": f"compiledir={self.compiledir},{flags}",
            **(variables or {}),
        }
        command = [*before, worker or self.worker, *map(str, arguments)]
        self.started.append(
            subprocess.Popen(
                command,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                restore_signals=limit is None,
                preexec_fn=limit,
            )
        )
        return self.started[-1]

    def finish(self, process):
        try:
            output, errors = process.communicate(timeout=HANGS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{process.args} hangs") from None
        return Result(
            process.returncode, [json.loads(line) for line in output.splitlines()], errors
        )

    def run(self, *arguments, **how):
        result = self.finish(self.start(*arguments, **how))
        assert result.status == 0, result.errors
        return result

    def end(self):
        """Kills the processes that a failed test left running."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def compile(self, linker, graphs, **how):
        return self.run("compile", linker, *graphs, **how)

    def at_once(self, arguments):
        """Runs all processes at once, each with the arguments for its number."""
        running = [self.start(*arguments(number)) for number in range(self.size.processes)]
        results = [self.finish(process) for process in running]
        assert all(result.status == 0 and not result.errors for result in results), results
        return results

    def less(self, count, linker):
        """A smaller count for the C compiler, which is slow."""
        return count if linker == "jit" else max(count // 10, 2)

    def few(self, linker):
        """The number of graphs for tests in which it does not matter."""
        return self.less(self.size.graphs, linker)

    def check_whole(self, entries=None, temporary=0):
        """Checks that all entries are intact and that no claim is left."""
        found = self.run("inventory").report
        assert found["damaged"] == 0 and not found["claimed"], found
        assert entries is None or found["entries"] == entries, found
        assert temporary is None or found["temporary"] == temporary, found
        return found


# ---- the tests: of one linker each, or of the store alone ----


def same_graphs_at_once(bench, linker):
    """Each graph is compiled once."""
    graphs = range(bench.size.graphs)
    results = bench.at_once(lambda i: ("compile", linker, *graphs))
    generated = sum(result.report["generated"] for result in results)
    assert generated == len(graphs), f"{generated} compilations of {len(graphs)} graphs"
    bench.check_whole(entries=len(graphs))
    assert bench.compile(linker, graphs).report["generated"] == 0


def different_graphs_at_once(bench, linker):
    """Each process compiles a random subset of the graphs in random order; each graph is compiled once."""
    count = bench.size.graphs
    chosen = [bench.random.sample(range(2 * count), count) for _ in range(bench.size.processes)]
    results = bench.at_once(lambda i: ("compile", linker, *chosen[i]))
    distinct = len(set().union(*chosen))
    assert sum(result.report["generated"] for result in results) == distinct
    bench.check_whole(entries=distinct)


def killed_while_compiling(bench, linker):
    """Some processes are killed at a random moment, the others finish."""
    started = time.monotonic()
    bench.compile(linker, range(4))
    duration = time.monotonic() - started
    for kill in range(0, bench.less(bench.size.kills, linker), 2):
        graphs = range(10 + 4 * kill, 14 + 4 * kill)
        victims = [bench.start("compile", linker, *graphs) for _ in range(2)]
        other = bench.start("compile", linker, *reversed(graphs))
        for victim in victims:
            time.sleep(bench.random.random() * duration / 2)
            victim.send_signal(signal.SIGKILL)
            assert bench.finish(victim).status in (
                0,
                -signal.SIGKILL,
            )  # 0 if it finished before the signal
        result = bench.finish(other)
        assert result.status == 0, result.errors
        bench.check_whole(temporary=None)
        assert bench.compile(linker, graphs).report["generated"] == 0


def killed_while_writing(bench):
    """The same for processes that only claim, load and save entries."""
    for kill in range(bench.size.kills):
        process = bench.start("store", kill, 10**9, 0, 40, 150_000)
        time.sleep(bench.random.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        result = bench.finish(process)
        assert result.status == -signal.SIGKILL, result.errors
        bench.check_whole(temporary=None)
    bench.run("store", 0, 1000, 0, 40, 150_000)


def directory_read_only(bench, linker):
    """Existing entries are used; other graphs are compiled each time, with one warning."""
    count = bench.few(linker)
    bench.compile(linker, range(count))
    before = with_private_mounts(
        'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"', bench.compiledir
    )
    result = bench.compile(linker, range(count), before=before)
    assert result.report["generated"] == 0 and not result.errors, result
    for _ in range(2):
        result = bench.compile(linker, range(2 * count), before=before)
        assert result.report == {"generated": count, "kept": count}, result
        assert result.errors.count("\n") == 1 and CANT_KEEP in result.errors, result
    bench.check_whole(entries=count)


def directory_cannot_be_created(bench, linker):
    """If the compile directory cannot be created, everything works in memory, with one warning."""
    (bench.folder / "file").write_text("no directory")
    bench.compiledir = bench.folder / "file" / "below"
    result = bench.compile(linker, range(bench.few(linker)))
    assert result.report["generated"] == bench.few(linker), result
    assert result.errors.count("\n") == 1 and CANT_KEEP in result.errors, result
    assert bench.compile(linker, [1], flags="cache=off").errors == ""


def disk_full(bench, linker):
    """A file system that has room for only some of the entries."""
    bench.compiledir.mkdir()
    graphs = range(6)
    for kilobytes in (4, 16):
        script = f'mount -t tmpfs -o size={kilobytes}k none "$0"; "$@"; "$@"; exec "$1" inventory'
        result = bench.compile(linker, graphs, before=with_private_mounts(script, bench.compiledir))
        first, second, found = result.lines
        # one warning per process
        assert result.errors.count(CANT_KEEP) == 2 and "No space left" in result.errors, result
        assert first["generated"] == len(graphs) and second["kept"] == found["entries"] < len(
            graphs
        ), result
        assert found["damaged"] == found["temporary"] == 0 and not found["claimed"], result


def compiler_disk_full(bench, linker):
    """If the C compiler cannot write its files, the error says so, and no entry is stored."""
    temporary = bench.folder / "temporary"
    temporary.mkdir()
    before = with_private_mounts('mount -t tmpfs -o size=4k none "$0"; exec "$@"', temporary)
    result = bench.finish(
        bench.start("compile", linker, 3, before=before, variables={"TMPDIR": str(temporary)})
    )
    assert result.status == 1 and re.search(
        "No space left|the temporary directory", result.errors
    ), result
    bench.check_whole(entries=0)
    bench.compile(linker, [3])


def write_fails_partway(bench, linker):
    """If writing an entry fails after some bytes, no part of it is left."""
    for most in (0, 50, 1000):

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        result = bench.compile(linker, range(4), limit=limit)
        assert result.report["generated"] == 4 and result.errors.count(CANT_KEEP) == 1, result
        bench.check_whole(entries=0)


def damaged_entries(bench, linker):
    """An entry with a flipped bit, or truncated at any position, is rebuilt."""
    result = bench.run("damage", linker, 2, bench.less(bench.size.positions, linker)).report
    assert result["rebuilt"] >= 2 * min(bench.less(bench.size.positions, linker), result["bytes"])
    bench.check_whole(entries=1)


def other_processors(bench, linker):
    """Code for different instruction-set levels of this processor coexists."""
    graphs, tried = range(bench.few(linker)), 0
    for target in ("native", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"):
        result = bench.finish(bench.start("compile", linker, *graphs, flags=f"target={target}"))
        if result.status and "no code can be generated for the target" in result.errors:
            continue
        tried += 1
        assert result.status == 0 and result.report["generated"] == len(graphs), result
    for target in ("native", "x86-64"):
        assert bench.compile(linker, graphs, flags=f"target={target}").report["generated"] == 0
    bench.check_whole(entries=tried * len(graphs))


def two_versions(bench, linker):
    """Programs built from different versions of the code generator use the same directory at once."""
    graphs = range(bench.few(linker))
    workers = [bench.worker, bench.other_version]
    running = [bench.start("compile", linker, *graphs, worker=worker) for worker in workers]
    for result in map(bench.finish, running):
        assert result.status == 0 and result.report["generated"] == len(graphs), result
    for worker in workers:
        assert bench.compile(linker, graphs, worker=worker).report["generated"] == 0
    bench.check_whole(entries=2 * len(graphs))


def no_locks(bench, linker):
    """Without file locks, as on some network file systems, a graph may be compiled more than once."""
    if not bench.without_locks.exists():
        raise Skipped("a sanitizer's runtime must be the first library that is loaded")
    graphs = range(bench.few(linker))
    variables = {"LD_PRELOAD": str(bench.without_locks)}
    running = [
        bench.start("compile", linker, *graphs, variables=variables)
        for _ in range(min(bench.size.processes, 16))
    ]
    for result in map(bench.finish, running):
        assert result.status == 0 and not result.errors, result
    bench.check_whole(entries=len(graphs))
    assert bench.compile(linker, graphs, variables=variables).report["generated"] == 0


def evicted_at_once(bench):
    """Many processes write more than the size limit: the limit is respected, and the space is used."""
    room = 300_000
    bench.at_once(lambda i: ("store", i, 40 * bench.size.graphs, 0, 200, room))
    found = bench.check_whole()
    assert room / 2 <= found["bytes"] <= room, found


def evicted_by_last_use(bench):
    """Recently used entries are kept, however many entries other processes write."""
    room, hot, cold, new = 600_000, (0, 10), (10, 30), (100, 26)
    for keys in (hot, cold):
        bench.run("store", 1, 1000, *keys, room)
    then = time.time() - 3 * 3600
    for entry in (bench.compiledir / "objects").iterdir():
        os.utime(entry, (then, then))
    assert all(
        result.report["saved"] == 0
        for result in bench.at_once(lambda i: ("store", i, 200, *hot, room))
    )
    bench.at_once(lambda i: ("store", i, 500, *new, room))
    assert bench.check_whole()["bytes"] <= room
    assert bench.run("store", 1, 200, *hot, room).report["saved"] == 0
    assert bench.run("store", 1, 1000, *cold, 2 * room).report["saved"] > 0


def evicted_while_compiling(bench, linker):
    """The limit allows a single entry, so entries are evicted while other processes use them."""
    graphs = range(bench.few(linker))
    running = [
        bench.start("compile", linker, *graphs, flags="cache__size=0")
        for _ in range(min(bench.size.processes, 16))
    ]
    for result in map(bench.finish, running):
        assert result.status == 0 and not result.errors, result
    bench.check_whole()


OF_EACH_LINKER = (
    same_graphs_at_once,
    different_graphs_at_once,
    killed_while_compiling,
    directory_read_only,
    directory_cannot_be_created,
    disk_full,
    damaged_entries,
    other_processors,
    two_versions,
    no_locks,
    evicted_while_compiling,
)
OF_ONE = (
    (killed_while_writing,),
    (evicted_at_once,),
    (evicted_by_last_use,),
    (write_fails_partway, "jit"),
    (compiler_disk_full, "c"),
)


def run_test(options, test, *linker):
    name = " ".join([test.__name__, *linker])
    if not re.search(options.only, name):
        return True
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bitale-stress-") as folder:
        bench = Bench(options, folder)
        try:
            if "c" in linker and not any(map(shutil.which, ("g++", "c++", "clang++"))):
                raise Skipped("there is no compiler")
            test(bench, *linker)
            report, passed = "passed", True
        except Skipped as reason:
            report, passed = f"skipped: {reason}", True
        except Exception:
            report, passed = f"FAILED\n{traceback.format_exc()}", False
        finally:
            bench.end()
    print(f"{name:<36}{time.monotonic() - started:7.1f} s  {report}", flush=True)
    return passed


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("build", type=Path, help="where the programs were built")
    options.add_argument("--size", choices=SIZES, default="short")
    options.add_argument(
        "--only", default="", metavar="REGEX", help="tests whose name, with the linker's, matches"
    )
    options = options.parse_args()
    options.build = options.build.resolve()
    of_each = [(test, linker) for linker in ("jit", "c") for test in OF_EACH_LINKER]
    passed = [run_test(options, *test) for test in (*OF_ONE, *of_each)]
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
