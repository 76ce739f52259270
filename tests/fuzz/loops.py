"""Random programs of loops: several scans in a row and inside each other over small vectors and matrices of known and
unknown lengths, whose steps shift, index, reduce, multiply, solve, branch and draw on the results of other loops; and
their gradients. The oracle runs them as plain loops of NumPy.

python -m fuzz.loops [--seconds S | --programs N] [--seed FIRST] [--jobs J] [--keep FOLDER]

A program is determined by the numbers that its generator draws, where 0 stands for the simplest option: failing
programs are shrunk by leaving numbers out and making them smaller.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import os
import pathlib
import sys
import time
from typing import Any, Callable

import numpy as np

from .case import Case, Input, Step, script, to_json
from .configurations import (
    AS_BUILT,
    BY_C,
    FAST_COMPILE,
    FAST_RUN,
    INTERPRETED,
    NATIVE_AS_BUILT,
    Configuration,
)

Shape = tuple[int, ...]
CONFIGURATIONS = [FAST_RUN, NATIVE_AS_BUILT, BY_C, FAST_COMPILE, AS_BUILT, INTERPRETED]
MOST_DRAWS = 2000


class Draws:
    """A sequence of numbers, from a random generator or from a list; beyond its end, a list goes on with zeros."""

    def __init__(self, rng: np.random.Generator | None = None, recorded: list[int] | None = None):
        self.rng, self.recorded, self.drawn = rng, recorded or [], list[int]()

    def below(self, n: int) -> int:
        at = len(self.drawn)
        if self.rng is not None:
            number = int(self.rng.integers(n)) if at < MOST_DRAWS else 0
        else:
            number = self.recorded[at] % n if at < len(self.recorded) else 0
        self.drawn.append(number)
        return number

    def choice(self, options: Any) -> Any:
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent


class Program:
    """A program in the making. `scope` has the names that an expression may use, with their shapes."""

    def __init__(self, draws: Draws):
        self.draws = draws
        self.inputs: list[Input] = []
        self.steps: list[Step] = []
        self.scope: dict[str, Shape] = {}
        self.locals = 0
        self.loops = 0
        # Few lengths, often equal ones.
        self.lengths = [3, draws.choice([3, 4, 2, 1]), draws.choice([3, 4, 2, 5])]
        # Half of the programs are short: small loops in a row, over vectors and matrices of one length.
        self.is_short = draws.chance(50)
        if self.is_short:
            self.lengths = self.lengths[1:2]

    # ---- leaves ----

    def length(self) -> int:
        return self.draws.choice(self.lengths)

    def shape(self) -> Shape:
        rank = self.draws.choice([1, 1, 1, 2] if self.is_short else [1, 1, 2, 2, 0, 3])
        if rank == 2 and self.draws.chance(50):
            return (self.length(),) * 2
        if rank == 2 and self.draws.chance(12):  # a batch
            return (17, self.length())
        return tuple(self.length() for _ in range(rank))

    def new_input(self, shape: Shape) -> str:
        name = f"x{len(self.inputs)}"
        value = np.random.default_rng(len(self.inputs) + 1).normal(size=shape).round(2)
        known = self.draws.below(3)  # all lengths, none, some
        static = tuple(
            n if known == 0 or (known == 2 and self.draws.chance(50)) else None for n in shape
        )
        self.inputs.append(Input(name, np.asarray(value), static))
        self.scope[name] = shape
        return name

    def count(self, steps: int) -> str:
        """A number of steps: a constant, or an input of the function."""
        if self.draws.chance(60):
            return str(steps)
        known = [
            given.name for given in self.inputs if given.dtype == "int64" and given.value == steps
        ]
        if not known:
            known = [f"x{len(self.inputs)}"]
            self.inputs.append(Input(known[0], np.asarray(steps), ()))
        return known[0]

    def named(self, shape: Shape) -> list[str]:
        return [name for name, known in self.scope.items() if known == shape]

    def leaf(self, shape: Shape) -> str:
        """A name of this shape, a recent one with a higher probability, or else an expression that has it."""
        names = self.named(shape)
        if names and not self.draws.chance(5 if self.is_short else 15):
            return (
                names[-1 - self.draws.below(min(3, len(names)))]
                if self.draws.chance(60)
                else self.draws.choice(names)
            )
        if self.locals == 0 and self.draws.chance(60):
            return self.new_input(shape)
        scalars = self.named(())
        number = self.draws.choice(["0.5", "1.0", "-1.0", "0.0"])
        if shape == ():
            return f"pt.constant(np.array({number}))"
        filled = (
            self.draws.choice(scalars)
            if scalars and self.draws.chance(50)
            else f"np.array({number})"
        )
        return f"pt.alloc({filled}, {', '.join(map(str, shape))})"

    # ---- expressions ----

    def expression(self, shape: Shape, depth: int) -> str:
        if depth <= 0 or (self.is_short and self.draws.chance(25)):
            return self.leaf(shape)
        makers = [
            self.leaf_of,
            self.smooth,
            self.smooth,
            self.binary,
            self.binary,
            self.reduced,
            self.indexed,
            self.where,
        ]
        if len(shape) >= 1:
            makers += [
                self.shifted,
                self.shifted,
                self.updated,
                self.updated,
                self.picked,
                self.broadcast,
                self.accumulated,
            ]
        if len(shape) in (1, 2):
            makers += [self.product, self.product]
        if len(shape) == 2:
            makers += [self.transposed, self.transposed, self.outer]
            if shape[0] == shape[1]:
                makers += [self.linear_algebra]
        if self.loops < 5:
            makers += [self.inner_loop]
        return self.draws.choice(makers)(shape, depth - 1)

    def leaf_of(self, shape: Shape, depth: int) -> str:
        return self.leaf(shape)

    def smooth(self, shape: Shape, depth: int) -> str:
        x = self.expression(shape, depth)
        return self.draws.choice(
            [
                f"pt.tanh({x})",
                f"({x}) * 0.5",
                f"pt.sin({x})",
                f"pt.tanh({x}) * 0.5 + 0.25",
                f"-({x})",
            ]
        )

    def binary(self, shape: Shape, depth: int) -> str:
        x, y = self.expression(shape, depth), self.expression(shape, depth - 1)
        return self.draws.choice(
            [f"({x}) + ({y})", f"({x}) * ({y})", f"({x}) - ({y}) * 0.5", f"pt.maximum({x}, {y})"]
        )

    def broadcast(self, shape: Shape, depth: int) -> str:
        x, smaller = self.expression(shape, depth), shape[1 + self.draws.below(len(shape)) :]
        return f"({x}) {self.draws.choice('+*')} ({self.expression(smaller, depth - 1)})"

    def where(self, shape: Shape, depth: int) -> str:
        condition, x, y = (
            self.expression((), 0),
            self.expression(shape, depth),
            self.expression(shape, depth - 1),
        )
        return self.draws.choice(
            [
                f"pt.switch(({condition}) > 0.1, {x}, {y})",
                f"bt.ifelse(({condition}) > 0.1, {x}, {y})",
            ]
        )

    def reduced(self, shape: Shape, depth: int) -> str:
        """A reduction of a value with one axis more, or two."""
        names = [
            name
            for name, known in self.scope.items()
            if len(known) > len(shape) and self.axes(known, shape)
        ]
        if names and not self.draws.chance(20):
            x = self.draws.choice(names)
            source = self.scope[x]
        else:
            at = self.draws.below(len(shape) + 1)
            source = (*shape[:at], self.length(), *shape[at:])
            x = f"({self.expression(source, depth - 1)})"
        axis = self.draws.choice(self.axes(source, shape))
        how = self.draws.choice(["sum", "sum", "mean", "max", "min", "prod"])
        return f"{x}.{how}({axis if len(axis) > 1 else axis[0]})"

    @staticmethod
    def axes(source: Shape, shape: Shape) -> list[tuple[int, ...]]:
        """The sets of axes without which the one shape is the other."""
        import itertools

        count = len(source) - len(shape)
        return [
            axes
            for axes in itertools.combinations(range(len(source)), count)
            if tuple(n for axis, n in enumerate(source) if axis not in axes) == shape
        ]

    def indexed(self, shape: Shape, depth: int) -> str:
        """A row or column of a value with one axis more."""
        names = [
            name
            for name, known in self.scope.items()
            if len(known) == len(shape) + 1 and self.axes(known, shape)
        ]
        if not names:
            return self.smooth(shape, depth)
        x = self.draws.choice(names)
        (axis,) = self.draws.choice(self.axes(self.scope[x], shape))
        at = self.draws.below(self.scope[x][axis])
        at = at - self.scope[x][axis] if self.draws.chance(30) else at
        return f"{x}[{':, ' * axis}{at}]"

    def indices(self, n: int, count: int) -> list[int]:
        """Constant indices into n elements, often equal ones."""
        first = self.draws.below(n)
        at = (
            [first] * count
            if self.draws.chance(50)
            else [self.draws.below(n) for _ in range(count)]
        )
        return [k - n for k in at] if self.draws.chance(20) else at

    def picked(self, shape: Shape, depth: int) -> str:
        n = self.length()
        x = self.expression((n, *shape[1:]), depth)
        return f"({x})[{self.indices(n, shape[0])}]"

    def updated(self, shape: Shape, depth: int) -> str:
        x, n = self.expression(shape, depth), shape[0]
        kind = self.draws.below(4)
        if kind == 0:
            at = self.indices(n, 1 + self.draws.below(3))
            value, index = self.expression((len(at), *shape[1:]), depth - 1), f"{at}"
        elif kind == 1:
            value, index = self.expression(shape[1:], depth - 1), f"{self.draws.below(n)}"
        elif kind == 2:
            start = self.draws.below(n)
            value, index = self.expression((n - start, *shape[1:]), depth - 1), f"{start}:"
        else:
            start = 1 + self.draws.below(n)
            value, index = self.expression((start, *shape[1:]), depth - 1), f":{start}"
        how = self.draws.choice(["set", "inc"])
        return f"pt.{how}_subtensor(({x})[{index}], {value})"

    def shifted(self, shape: Shape, depth: int) -> str:
        names = self.named(shape)
        x = self.draws.choice(names) if names else f"({self.expression(shape, depth - 1)})"
        new = f"({self.expression(shape[1:], depth - 1)})"
        front = "[None]" if len(shape) == 1 else "[None, :]"
        return self.draws.choice(
            [
                f"pt.concatenate([{x}[1:], {x}[:1] * 0.5])",
                f"pt.concatenate([{new}{front}, {x}[:-1]])",
                f"pt.concatenate([{x}[1:], {new}{front}])",
                f"{x}[::-1]",
                f"pt.roll({x}, 1)" if len(shape) == 1 else f"pt.roll({x}, 1, axis=0)",
            ]
        )

    def accumulated(self, shape: Shape, depth: int) -> str:
        return (
            f"pt.cumsum({self.expression(shape, depth)}, axis={self.draws.below(len(shape))}) * 0.5"
        )

    def product(self, shape: Shape, depth: int) -> str:
        k = self.length()
        if len(shape) == 1 and self.draws.chance(50):
            return f"pt.dot({self.expression((k,), depth)}, {self.expression((k, *shape), depth - 1)}) * 0.3"
        rows = self.expression((shape[0], k), depth)
        return f"pt.dot({rows}, {self.expression((k, *shape[1:]), depth - 1)}) * 0.3"

    def transposed(self, shape: Shape, depth: int) -> str:
        return f"({self.expression(shape[::-1], depth)}).T"

    def outer(self, shape: Shape, depth: int) -> str:
        return f"({self.expression(shape[:1], depth)})[:, None] * ({self.expression(shape[1:], depth - 1)})"

    def linear_algebra(self, shape: Shape, depth: int) -> str:
        n, (x, y) = shape[0], (self.expression(shape, depth), self.expression(shape, depth - 1))
        matrix = f"pt.tanh({x}) * 0.3 + 3.0 * pt.eye({n})"
        return self.draws.choice(
            [
                f"pt.linalg.det({matrix}) * 0.02 * ({y})",
                f"pt.linalg.inv({matrix}) + ({y})",
                f"pt.linalg.solve({matrix}, {y}, b_ndim=2)",
            ]
        )

    # ---- loops ----

    def inner_loop(self, shape: Shape, depth: int) -> str:
        """A loop whose result has this shape."""
        kind = self.draws.below(3)
        if kind == 2 and shape:  # its trace
            return f"({self.loop(shape[1:], depth, shape[0])[0]})"
        text, traces = self.loop(shape, depth)
        return (
            f"({text}){'[0]' if traces > 1 else ''}{self.draws.choice(['[-1]', '[-1]', '.sum(0)'])}"
        )

    def loop(self, shape: Shape, depth: int, steps: int | None = None) -> tuple[str, int]:
        """The text of a scan whose first state, or trace, has this shape; and its number of results. Given `steps`, it
        has one result."""
        self.loops += 1
        draws, many = self.draws, steps is None
        steps = draws.choice([2, 3, 1, 4]) if steps is None else steps
        sequences = []
        for _ in range(draws.choice([0, 1, 1, 2])):
            row = self.shape() if draws.chance(40) else shape
            if len(row) < 3:
                sequences.append((self.expression((steps, *row), min(depth, 1)), row))
        states = [(self.expression(shape, min(depth, 2)), shape)]
        for _ in range(draws.choice([0, 0, 1, 1, 2]) if many else 0):
            other = self.shape() if draws.chance(60) else shape
            states.append((self.expression(other, min(depth, 1)), other))
        traced = [self.shape() for _ in range(draws.choice([0, 0, 1]) if many else 0)]
        outside = dict(self.scope)
        parameters = []
        for _, row in sequences + states:
            self.locals += 1
            parameters.append(f"s{self.locals}")
            self.scope[parameters[-1]] = row
        self.locals += 1
        shared, own = f"s{self.locals}", self.shape()
        value = self.expression(own, 2) if draws.chance(40) else ""
        if value:
            self.scope[shared] = own
        results = [
            self.bounded(self.expression(state, 2 if self.is_short else 3)) for _, state in states
        ]
        results += [self.expression(trace, 2) for trace in traced]
        body = f"({', '.join(results)})" if len(results) > 1 else results[0]
        if value:
            body = f"(lambda {shared}: {body})({value})"
        self.scope = outside
        self.locals -= 1 + len(parameters)
        initial = [text for text, _ in states] + ["None"] * len(traced)
        given = f"sequences=[{', '.join(text for text, _ in sequences)}], " if sequences else ""
        count = "" if sequences and draws.chance(50) else f"n_steps={self.count(steps)}, "
        text = (
            f"bt.scan(lambda {', '.join(parameters)}: {body}, {given}outputs_info=[{', '.join(initial)}], "
            f"{count}return_updates=False)"
        )
        return text, len(results)

    def bounded(self, text: str) -> str:
        """Keeps a state small, so that no wrong value is lost in a saturated one."""
        return self.draws.choice(
            [
                f"pt.tanh({text})",
                f"pt.tanh({text}) * 0.5 + 0.1",
                f"({text}) * 0.3",
                f"pt.sin({text})",
            ]
        )

    # ---- the whole ----

    def define(self, text: str, shapes: list[Shape]) -> list[str]:
        names = [f"v{sum(len(step.names) for step in self.steps) + k}" for k in range(len(shapes))]
        self.steps.append(Step(tuple(names), text))
        self.scope.update(zip(names, shapes))
        return names

    def make(self) -> Case:
        draws = self.draws
        for _ in range(1 + draws.below(2 if self.is_short else 3)):
            self.new_input(self.shape())
        made: list[str] = []
        for _ in range(draws.choice([2, 3] if self.is_short else [1, 2, 2, 3])):
            shape = self.shape()
            if draws.chance(10 if self.is_short else 25):
                made += self.define(self.expression(shape, 3), [shape])
                continue
            text, results = self.loop(shape, 1 if self.is_short else 2)
            if results > 1:  # one of them, at its end or as a whole
                text = f"({text})[0]"
            last = draws.choice(["[-1]", "[-1]", ".sum(0)"])
            made += self.define(f"({text}){last}", [shape])
        made = [name for step in self.steps for name in step.names]
        outputs = made[-1:] if draws.chance(40) else made
        if draws.chance(35) and self.inputs:
            cost = f"({made[-1]}).sum()"
            outputs = [
                *outputs,
                *self.define(
                    f"bt.grad({cost}, {self.inputs[0].name}, disconnected_inputs='ignore')", [()]
                ),
            ]
        if draws.chance(25):  # a batch of it
            x = self.inputs[0]
            batch = (draws.choice([2, 3, 17]), *x.value.shape)
            value = np.random.default_rng(7).normal(size=batch).round(2)
            self.inputs.append(
                Input(f"x{len(self.inputs)}", value, (draws.choice([None, batch[0]]), *x.static))
            )
            outputs = [
                *outputs,
                *self.define(
                    f"bt.vectorize_graph({made[-1]}, {{{x.name}: {self.inputs[-1].name}}})", [()]
                ),
            ]
        return Case(tuple(self.inputs), tuple(self.steps), tuple(outputs))


# ---- checking --------------------------------------------------------------------------------------------------------


def program_of(draws: Draws) -> Case:
    return Program(draws).make().without_dead()


def seeded(seed: int) -> Case:
    return program_of(Draws(np.random.default_rng(seed)))


def trouble(
    case: Case, configurations: list[Configuration] = CONFIGURATIONS
) -> tuple[str, str, str] | None:
    """What is wrong with a program: the configuration, a class of failures, and what happened; None if nothing is.
    A program that the oracle refuses is wrong, too."""
    import bitale as bt

    from .check import is_promised, run
    from .compare import Ensemble

    try:
        ensemble = Ensemble(case)
    except Exception as error:
        return "oracle", f"the oracle raises {type(error).__name__}", str(error)
    for configuration in configurations:
        failure = run(case, bt, configuration, ensemble)
        if failure is not None and not is_promised(failure, bt, ensemble):
            kind = (
                failure.message.split(":")[0]
                if failure.message.startswith("raises")
                else failure.kind
            )
            return configuration.name, kind, failure.message
    return None


def shrunk(drawn: list[int], fails: Callable[[Case], bool], seconds: float) -> list[int]:
    """Fewer and smaller numbers from which a program results that fails alike."""
    end, best = time.monotonic() + seconds, list(drawn)

    def still(candidate: list[int]) -> bool:
        draws = Draws(recorded=candidate)
        try:
            case = program_of(draws)
            return len(draws.drawn) < 4 * len(drawn) + 50 and fails(case)
        except Exception:
            return False

    def candidates() -> Any:
        width = max(1, len(best) // 2)
        while width:
            for at in range(0, len(best), width):
                yield best[:at] + best[at + width :]
                if any(best[at : at + width]):
                    yield best[:at] + [0] * len(best[at : at + width]) + best[at + width :]
            width //= 2
        for at, number in enumerate(best):
            for smaller in (number // 2, number - 1):
                if 0 < smaller < number:
                    yield best[:at] + [smaller] + best[at + 1 :]

    def measure(numbers: list[int]) -> tuple[int, int]:
        return len(numbers), sum(numbers)

    found = True
    while found and time.monotonic() < end:
        found = False
        for candidate in candidates():
            if time.monotonic() > end:
                break
            while candidate and candidate[-1] == 0:
                candidate.pop()
            if measure(candidate) < measure(best) and still(candidate):
                best, found = candidate, True
                break
    return best


def examined(
    seed: int, seconds: float = 60
) -> tuple[int, tuple[str, str, str] | None, Case | None]:
    """The trouble with the program of a seed, in two configurations, and that program, shrunk."""
    draws = Draws(np.random.default_rng(seed))
    case = program_of(draws)
    found = trouble(case, [FAST_RUN, CONFIGURATIONS[1 + seed % (len(CONFIGURATIONS) - 1)]])
    if found is None:
        return seed, None, None
    configurations = [
        configuration for configuration in CONFIGURATIONS if configuration.name == found[0]
    ]

    def fails(smaller: Case) -> bool:
        again = trouble(smaller, configurations)
        return again is not None and again[:2] == found[:2]  # type: ignore[index]

    small = program_of(Draws(recorded=shrunk(draws.drawn, fails, seconds)))
    again = trouble(small, configurations)
    return (seed, again, small) if again else (seed, found, case)


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz.loops", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--programs", type=int, default=2**62)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000 * 1_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--shrink", type=float, default=60, help="seconds for each program that fails"
    )
    parser.add_argument("--keep", help="folder for programs that failed")
    options = parser.parse_args()
    end, last, count, kinds = (
        time.time() + options.seconds,
        options.seed + options.programs,
        0,
        dict[tuple[str, str], list[int]](),
    )
    following = iter(range(options.seed, last))
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        running = {
            pool.submit(examined, seed, options.shrink)
            for seed, _ in zip(following, range(2 * options.jobs))
        }
        while running:
            done, running = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for each in done:
                seed, found, case = each.result()
                count += 1
                if found is not None and case is not None:
                    kinds.setdefault(found[:2], []).append(seed)
                    print(f"\n==== seed {seed}: {found[0]}: {found[2]}\n{script(case)}", flush=True)
                    if options.keep:
                        folder = pathlib.Path(options.keep)
                        folder.mkdir(parents=True, exist_ok=True)
                        (folder / f"loops-{seed}.json").write_text(
                            to_json(case, configuration=found[0], message=found[2])
                        )
                if time.time() < end and (seed := next(following, None)) is not None:
                    running.add(pool.submit(examined, seed, options.shrink))
    print(f"{count} programs of loops, {sum(map(len, kinds.values()))} failures")
    for (configuration, kind), seeds in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"{len(seeds)} x {configuration}: {kind}   seeds {', '.join(map(str, seeds[:8]))}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
