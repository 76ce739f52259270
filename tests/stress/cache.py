#!/usr/bin/env python3
"""Faults of the compile directory: many processes at once, kill -9, directories that can't be written, full disks, damaged
entries, other processors, other versions, no locks, eviction. Whatever happens, numbers are right, nobody hangs, and
what is kept afterwards is whole. `--size short` is part of `./dev test`, `--size long` is `./dev stress`.

The work is done by processes of worker.cpp, which compare what compiled code computes with the interpreter.
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

HANGS = 600  # seconds after which a process that should be done by far counts as hanging
CANT_KEEP = "compiled code can't be kept in"


class Size(NamedTuple):
    processes: int
    graphs: int
    kills: int
    places: int  # of an entry that are damaged


SIZES = {"short": Size(8, 5, 10, 24), "long": Size(64, 50, 200, 3000)}


class Skipped(Exception):
    pass


class Result(NamedTuple):
    status: int
    lines: list  # of JSON, one of each process
    errors: str

    @property
    def said(self):
        return self.lines[-1]


def own_mounts(script, *arguments):
    """A shell script that may mount in a view of the files of its own, before a command: its $0, "$@"."""
    before = ["unshare", "--map-root-user", "--mount", "sh", "-e", "-c"]
    if not shutil.which(before[0]) or subprocess.run([*before, "mount -t tmpfs none /mnt"], capture_output=True).returncode:
        raise Skipped("no user namespaces here, in which one may mount")
    return [*before, script, *arguments]


class Bench:
    """One fault test at work: a fresh compile directory, and the processes that use it."""

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
        # Processes that are killed leave their temporary files behind.
        environment = {**os.environ, "TMPDIR": str(self.folder), "BITALE_FLAGS": f"compiledir={self.compiledir},{flags}",
                       **(variables or {})}
        command = [*before, worker or self.worker, *map(str, arguments)]
        self.started.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             text=True, restore_signals=limit is None, preexec_fn=limit))
        return self.started[-1]

    def finish(self, process):
        try:
            output, errors = process.communicate(timeout=HANGS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{process.args} hangs")
        return Result(process.returncode, [json.loads(line) for line in output.splitlines()], errors)

    def run(self, *arguments, **how):
        result = self.finish(self.start(*arguments, **how))
        assert result.status == 0, result.errors
        return result

    def end(self):
        """Of a test that failed, nothing goes on."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def compile(self, linker, graphs, **how):
        return self.run("compile", linker, *graphs, **how)

    def at_once(self, arguments):
        """All processes together, each with the arguments of its number."""
        running = [self.start(*arguments(number)) for number in range(self.size.processes)]
        results = [self.finish(process) for process in running]
        assert all(result.status == 0 and not result.errors for result in results), results
        return results

    def less(self, count, linker):
        """The C compiler takes its time."""
        return count if linker == "jit" else max(count // 10, 2)

    def few(self, linker):
        """Graphs where their number doesn't matter."""
        return self.less(self.size.graphs, linker)

    def check_whole(self, entries=None, temporary=0):
        """What is kept is whole, and nobody waits or is waited for."""
        found = self.run("inventory").said
        assert found["damaged"] == 0 and not found["claimed"], found
        assert entries is None or found["entries"] == entries, found
        assert temporary is None or found["temporary"] == temporary, found
        return found


# ---- the tests: of one linker each, or of the store alone ----


def same_graphs_at_once(bench, linker):
    """Each is compiled once."""
    graphs = range(bench.size.graphs)
    results = bench.at_once(lambda i: ("compile", linker, *graphs))
    generated = sum(result.said["generated"] for result in results)
    assert generated == len(graphs), f"{generated} compilations of {len(graphs)} graphs"
    bench.check_whole(entries=len(graphs))
    assert bench.compile(linker, graphs).said["generated"] == 0


def different_graphs_at_once(bench, linker):
    """Each process has some graphs of its own and some that others have, in its own order."""
    count = bench.size.graphs
    wanted = [bench.random.sample(range(2 * count), count) for _ in range(bench.size.processes)]
    results = bench.at_once(lambda i: ("compile", linker, *wanted[i]))
    distinct = len(set().union(*wanted))
    assert sum(result.said["generated"] for result in results) == distinct
    bench.check_whole(entries=distinct)


def killed_while_compiling(bench, linker):
    """Some die at a random moment, the others finish."""
    started = time.monotonic()
    bench.compile(linker, range(4))
    lasting = time.monotonic() - started
    for kill in range(0, bench.less(bench.size.kills, linker), 2):
        graphs = range(10 + 4 * kill, 14 + 4 * kill)
        victims = [bench.start("compile", linker, *graphs) for _ in range(2)]
        other = bench.start("compile", linker, *reversed(graphs))
        for victim in victims:
            time.sleep(bench.random.random() * lasting / 2)
            victim.send_signal(signal.SIGKILL)
            assert bench.finish(victim).status in (0, -signal.SIGKILL)  # it may have been done
        result = bench.finish(other)
        assert result.status == 0, result.errors
        bench.check_whole(temporary=None)
        assert bench.compile(linker, graphs).said["generated"] == 0


def killed_while_writing(bench):
    """As above, by processes that do nothing but claim, load and save."""
    for kill in range(bench.size.kills):
        process = bench.start("store", kill, 10**9, 0, 40, 150_000)
        time.sleep(bench.random.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        result = bench.finish(process)
        assert result.status == -signal.SIGKILL, result.errors
        bench.check_whole(temporary=None)
    bench.run("store", 0, 1000, 0, 40, 150_000)


def directory_read_only(bench, linker):
    """What is kept is used, the rest compiled each time, with one warning."""
    count = bench.few(linker)
    bench.compile(linker, range(count))
    before = own_mounts('mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"', bench.compiledir)
    result = bench.compile(linker, range(count), before=before)
    assert result.said["generated"] == 0 and not result.errors, result
    for _ in range(2):
        result = bench.compile(linker, range(2 * count), before=before)
        assert result.said == {"generated": count, "kept": count}, result
        assert result.errors.count("\n") == 1 and CANT_KEEP in result.errors, result
    bench.check_whole(entries=count)


def directory_nowhere(bench, linker):
    """A compile directory that can't be made: all goes on in memory, with one warning."""
    (bench.folder / "file").write_text("no directory")
    bench.compiledir = bench.folder / "file" / "below"
    result = bench.compile(linker, range(bench.few(linker)))
    assert result.said["generated"] == bench.few(linker), result
    assert result.errors.count("\n") == 1 and CANT_KEEP in result.errors, result
    assert bench.compile(linker, [1], flags="cache=off").errors == ""


def disk_full(bench, linker):
    """A file system with room for some entries only."""
    bench.compiledir.mkdir()
    graphs = range(6)
    for kilobytes in (4, 16):
        script = f'mount -t tmpfs -o size={kilobytes}k none "$0"; "$@"; "$@"; exec "$1" inventory'
        result = bench.compile(linker, graphs, before=own_mounts(script, bench.compiledir))
        first, second, found = result.lines
        assert result.errors.count(CANT_KEEP) == 2 and "No space left" in result.errors, result  # one of each process
        assert first["generated"] == len(graphs) and second["kept"] == found["entries"] < len(graphs), result
        assert found["damaged"] == found["temporary"] == 0 and not found["claimed"], result


def disk_of_the_compiler_full(bench, linker):
    """The C compiler can't write its files: an error that says so, and nothing is kept."""
    temporary = bench.folder / "temporary"
    temporary.mkdir()
    before = own_mounts('mount -t tmpfs -o size=4k none "$0"; exec "$@"', temporary)
    result = bench.finish(bench.start("compile", linker, 3, before=before, variables={"TMPDIR": str(temporary)}))
    assert result.status == 1 and re.search("No space left|the temporary directory", result.errors), result
    bench.check_whole(entries=0)
    bench.compile(linker, [3])


def file_cut_off_by_the_system(bench, linker):
    """Writing fails after some bytes of an entry: nothing of it stays."""
    for most in (0, 50, 1000):

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        result = bench.compile(linker, range(4), limit=limit)
        assert result.said["generated"] == 4 and result.errors.count(CANT_KEEP) == 1, result
        bench.check_whole(entries=0)


def damaged_entries(bench, linker):
    """A bit flipped or the file cut off, anywhere: the entry is made again."""
    result = bench.run("damage", linker, 2, bench.less(bench.size.places, linker)).said
    assert result["rebuilt"] >= 2 * min(bench.less(bench.size.places, linker), result["bytes"])
    bench.check_whole(entries=1)


def other_processors(bench, linker):
    """Code for each level of instructions that this processor has lies side by side."""
    graphs, tried = range(bench.few(linker)), 0
    for target in ("native", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"):
        result = bench.finish(bench.start("compile", linker, *graphs, flags=f"target={target}"))
        if result.status and "no code can be generated for the target" in result.errors:
            continue
        tried += 1
        assert result.status == 0 and result.said["generated"] == len(graphs), result
    for target in ("native", "x86-64"):
        assert bench.compile(linker, graphs, flags=f"target={target}").said["generated"] == 0
    bench.check_whole(entries=tried * len(graphs))


def two_versions(bench, linker):
    """Programs that were built from other sources of the code generator use the same directory at once."""
    graphs = range(bench.few(linker))
    workers = [bench.worker, bench.other_version]
    running = [bench.start("compile", linker, *graphs, worker=worker) for worker in workers]
    for result in map(bench.finish, running):
        assert result.status == 0 and result.said["generated"] == len(graphs), result
    for worker in workers:
        assert bench.compile(linker, graphs, worker=worker).said["generated"] == 0
    bench.check_whole(entries=2 * len(graphs))


def no_locks(bench, linker):
    """As on some network file systems: the same may be compiled more than once."""
    if not bench.without_locks.exists():
        raise Skipped("a sanitizer's library must be the first that is loaded")
    graphs = range(bench.few(linker))
    variables = {"LD_PRELOAD": str(bench.without_locks)}
    running = [bench.start("compile", linker, *graphs, variables=variables) for _ in range(min(bench.size.processes, 16))]
    for result in map(bench.finish, running):
        assert result.status == 0 and not result.errors, result
    bench.check_whole(entries=len(graphs))
    assert bench.compile(linker, graphs, variables=variables).said["generated"] == 0


def evicted_at_once(bench):
    """Many processes write more than there is room for: the room is kept to, and used."""
    room = 300_000
    bench.at_once(lambda i: ("store", i, 40 * bench.size.graphs, 0, 200, room))
    found = bench.check_whole()
    assert room / 2 <= found["bytes"] <= room, found


def evicted_by_last_use(bench):
    """What is in use stays, however many processes write."""
    room, hot, cold, new = 600_000, (0, 10), (10, 30), (100, 26)
    for keys in (hot, cold):
        bench.run("store", 1, 1000, *keys, room)
    then = time.time() - 3 * 3600
    for entry in (bench.compiledir / "objects").iterdir():
        os.utime(entry, (then, then))
    assert all(result.said["saved"] == 0 for result in bench.at_once(lambda i: ("store", i, 200, *hot, room)))
    bench.at_once(lambda i: ("store", i, 500, *new, room))
    assert bench.check_whole()["bytes"] <= room
    assert bench.run("store", 1, 200, *hot, room).said["saved"] == 0
    assert bench.run("store", 1, 1000, *cold, 2 * room).said["saved"] > 0


def evicted_while_compiling(bench, linker):
    """There is room for one entry: all that others made vanishes under one's hands."""
    graphs = range(bench.few(linker))
    running = [bench.start("compile", linker, *graphs, flags="cache__size=0") for _ in range(min(bench.size.processes, 16))]
    for result in map(bench.finish, running):
        assert result.status == 0 and not result.errors, result
    bench.check_whole()


OF_EACH_LINKER = (same_graphs_at_once, different_graphs_at_once, killed_while_compiling, directory_read_only,
                  directory_nowhere, disk_full, damaged_entries, other_processors, two_versions, no_locks,
                  evicted_while_compiling)
OF_ONE = ((killed_while_writing,), (evicted_at_once,), (evicted_by_last_use,), (file_cut_off_by_the_system, "jit"),
          (disk_of_the_compiler_full, "c"))


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
            said, passed = "passed", True
        except Skipped as reason:
            said, passed = f"skipped: {reason}", True
        except Exception:
            said, passed = f"FAILED\n{traceback.format_exc()}", False
        finally:
            bench.end()
    print(f"{name:<36}{time.monotonic() - started:7.1f} s  {said}", flush=True)
    return passed


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", type=Path, help="where the programs were built")
    options.add_argument("--size", choices=SIZES, default="short")
    options.add_argument("--only", default="", metavar="REGEX", help="tests whose name, with the linker's, matches")
    options = options.parse_args()
    options.build = options.build.resolve()
    of_each = [(test, linker) for linker in ("jit", "c") for test in OF_EACH_LINKER]
    passed = [run_test(options, *test) for test in (*OF_ONE, *of_each)]
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
