"""What control engineers compute, next to CasADi: a cart-pole, a robot arm, Gauss-Newton, the derivatives of a collocation. Each
function takes a vector and gives a vector, and is called in a loop in C: Bitale's by its address, CasADi's by its virtual machine
(`casadi_c_eval_id`), and both as the C that they write, compiled by the C compiler. Prints the smallest processor time of a call,
and that from the symbols to the first result, compiler included. Values of all agree to 1e-12 or it fails. The loop takes a C
compiler. CasADi is measured where it is installed, with BITALE_BENCH_PEERS set (`./dev bench --casadi`).

Usage: control.py [--only TEXT] [--page docs/measurements/casadi.md] [--flags=-O3]
"""

import argparse
import ctypes
import math
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import bitale as bt
import bitale.tensor as pt
from measure import importable, in_turn, seconds_per_call

sys.path.append(str(Path(__file__).resolve().parents[1]))
from page import machine, replace_section

casadi = importable("casadi")
random = np.random.default_rng(0)


@dataclass
class Task:
    """`formula()` gives Bitale's input and output; those of CasADi by name, each with a way to write the same."""

    name: str
    at: np.ndarray
    formula: Callable
    in_casadi: dict[str, Callable]


# ---- a cart with a pole: position, angle, speed, turn; the force on the cart ----

CART, POLE, LENGTH, G = 1.0, 0.3, 0.5, 9.81
STEPS, DT = 100, 0.02
TARGET = (1.0, math.pi, 0.0, 0.0)


def rates(xp, state, force):
    _, angle, speed, turn = state
    sin, cos = xp.sin(angle), xp.cos(angle)
    swing = POLE * (LENGTH * turn**2 + G * cos) * sin
    mass = CART + POLE * sin**2
    return [
        speed,
        turn,
        (swing + force) / mass,
        -(swing * cos + force * cos + CART * G * sin) / (LENGTH * mass),
    ]


def rk4(xp, state, force):
    def moved(by, change):
        return [s + by * c for s, c in zip(state, change)]

    k1 = rates(xp, state, force)
    k2 = rates(xp, moved(DT / 2, k1), force)
    k3 = rates(xp, moved(DT / 2, k2), force)
    k4 = rates(xp, moved(DT, k3), force)
    return moved(DT / 6, [a + 2 * b + 2 * c + d for a, b, c, d in zip(k1, k2, k3, k4)])


def cart_pole(of=lambda y, x: y):
    v = pt.dvector("v", shape=(5,))
    return v, of(pt.stack(rates(pt, [v[k] for k in range(4)], v[4])), v)


def cart_pole_casadi(of=lambda y, x: y):
    v = casadi.SX.sym("v", 5)
    return v, of(casadi.vertcat(*rates(casadi, casadi.vertsplit(v[:4]), v[4])), v)


def cost(xp, forces, end, sum_of_squares):
    return DT * sum_of_squares(forces) + 100 * sum((e - t) ** 2 for e, t in zip(end, TARGET))


def horizon():
    forces = pt.dvector("forces", shape=(STEPS,))
    path = bt.scan(
        lambda force, *state: rk4(pt, state, force),
        sequences=forces,
        outputs_info=[pt.as_tensor(0.0)] * 4,
        return_updates=False,
    )
    value = cost(pt, forces, [row[-1] for row in path], lambda f: (f**2).sum())
    return forces, pt.concatenate([value[None], bt.grad(value, forces)])


def horizon_casadi(unrolled):
    symbol = casadi.SX if unrolled else casadi.MX
    forces, state, force = (
        symbol.sym("forces", STEPS),
        casadi.SX.sym("state", 4),
        casadi.SX.sym("force"),
    )
    step = casadi.Function(
        "step", [state, force], [casadi.vertcat(*rk4(casadi, casadi.vertsplit(state), force))]
    )
    if unrolled:
        end = casadi.SX.zeros(4)
        for k in range(STEPS):
            end = step(end, forces[k])
    else:
        end = step.mapaccum(STEPS)(np.zeros(4), forces.T)[:, -1]
    value = cost(casadi, forces, casadi.vertsplit(end), casadi.sumsqr)
    return forces, casadi.vertcat(value, casadi.gradient(value, forces))


# ---- direct collocation of the cart-pole by trapezoids: rows of the four states and the forces at the knots ----

KNOTS = STEPS + 1
POINT = 5 * KNOTS


def gaps(xp, join, z):
    *state, force = (z[k * KNOTS : (k + 1) * KNOTS] for k in range(5))
    change = rates(xp, state, force)
    return join(*(s[1:] - s[:-1] - DT / 2 * (c[1:] + c[:-1]) for s, c in zip(state, change)))


def joined(*parts):
    return pt.concatenate(parts)


def gaps_jacobian():
    z = pt.dvector("z", shape=(POINT,))
    return z, bt.jacobian(gaps(pt, joined, z), z, sparse=True).data


def gaps_jacobian_casadi():
    z = casadi.SX.sym("z", POINT)
    return z, casadi.jacobian(gaps(casadi, casadi.vertcat, z), z)


def lagrangian_hessian():
    z, multipliers = pt.dvector("z", shape=(POINT,)), pt.dvector("multipliers", shape=(4 * STEPS,))
    lagrangian = DT * (z[4 * KNOTS :] ** 2).sum() + multipliers @ gaps(pt, joined, z)
    hessian = bt.hessian(lagrangian, z, sparse=True).data
    v = pt.dvector("v", shape=(POINT + 4 * STEPS,))
    return v, bt.graph_replace(hessian, {z: v[:POINT], multipliers: v[POINT:]})


def lagrangian_hessian_casadi():
    z, multipliers = casadi.SX.sym("z", POINT), casadi.SX.sym("multipliers", 4 * STEPS)
    lagrangian = DT * casadi.sumsqr(z[4 * KNOTS :]) + casadi.dot(
        multipliers, gaps(casadi, casadi.vertcat, z)
    )
    return casadi.vertcat(z, multipliers), casadi.hessian(lagrangian, z)[0]


# ---- a robot arm of six joints (Denavit and Hartenberg 1955): a step of damped least squares to a place and a direction ----

ARM = [
    (0, 0.089, math.pi / 2),
    (-0.425, 0, 0),
    (-0.392, 0, 0),
    (0, 0.109, math.pi / 2),
    (0, 0.095, -math.pi / 2),
    (0, 0.082, 0),
]


def missing(xp, angles, target):
    """Six numbers, which are 0 where the hand is at the target and points against the x axis."""
    x, y, z, place = ([float(i == k) for i in range(3)] for k in (0, 1, 2, 3))
    for (length, offset, twist), angle in zip(ARM, angles):
        c, s, ct, st = xp.cos(angle), xp.sin(angle), math.cos(twist), math.sin(twist)
        x, y = [c * a + s * b for a, b in zip(x, y)], [c * b - s * a for a, b in zip(x, y)]
        place = [p + offset * b + length * a for p, a, b in zip(place, x, z)]
        y, z = [ct * a + st * b for a, b in zip(y, z)], [ct * b - st * a for a, b in zip(y, z)]
    return [*(p - t for p, t in zip(place, target)), z[0] + 1, z[1], z[2]]


def arm_step():
    v = pt.dvector("v", shape=(9,))
    angles = v[:6]
    r = pt.stack(missing(pt, [angles[k] for k in range(6)], [v[6], v[7], v[8]]))
    J = bt.jacobian(r, angles)
    return v, angles - pt.linalg.solve(J.T @ J + 1e-4 * pt.eye(6), J.T @ r, assume_a="pos")


def arm_step_casadi():
    v = casadi.SX.sym("v", 9)
    angles = v[:6]
    r = casadi.vertcat(*missing(casadi, casadi.vertsplit(angles), casadi.vertsplit(v[6:])))
    J = casadi.jacobian(r, angles)
    return v, angles - casadi.solve(J.T @ J + 1e-4 * casadi.SX.eye(6), J.T @ r)


# ---- a step of Gauss-Newton: a damped oscillation through 500 points ----

TIMES = np.linspace(0, 3, 500)


def oscillation(xp, p):
    return p[0] * xp.exp(-p[1] * TIMES) * xp.cos(p[2] * TIMES + p[3]) + p[4]


DATA = oscillation(np, np.array([1.5, 0.7, 6.0, 0.3, 0.2])) + 0.05 * random.normal(size=TIMES.size)


def gauss_newton():
    p = pt.dvector("p", shape=(5,))
    r = oscillation(pt, p) - DATA
    J = bt.jacfwd(r, p)
    return p, p - pt.linalg.solve(J.T @ J, J.T @ r, assume_a="pos")


def gauss_newton_casadi():
    p = casadi.MX.sym("p", 5)
    r = oscillation(casadi, p) - DATA
    J = casadi.jacobian(r, p)
    return p, p - casadi.solve(J.T @ J, J.T @ r, "ldl")


def tasks():
    state = np.array([0.1, 0.4, -0.3, 0.8, 2.0])
    yield Task("cart-pole: rates of the state", state, cart_pole, {"SX": cart_pole_casadi})
    yield Task(
        "cart-pole: their Jacobian, 4 x 5",
        state,
        lambda: cart_pole(lambda y, x: bt.jacobian(y, x).ravel()),
        {
            "SX": lambda: cart_pole_casadi(
                lambda y, x: casadi.vec(casadi.densify(casadi.jacobian(y, x)).T)
            )
        },
    )
    yield Task(
        "cart-pole: 100 steps of RK4, cost and gradient",
        random.normal(size=STEPS),
        horizon,
        {"mapaccum": lambda: horizon_casadi(False), "SX, unrolled": lambda: horizon_casadi(True)},
    )
    z, multipliers = random.normal(size=POINT), random.normal(size=4 * STEPS)
    yield Task(
        "collocation, 505 variables: sparse Jacobian",
        z,
        gaps_jacobian,
        {"SX": gaps_jacobian_casadi},
    )
    yield Task(
        "collocation: sparse Hessian of the Lagrangian",
        np.concatenate([z, multipliers]),
        lagrangian_hessian,
        {"SX": lagrangian_hessian_casadi},
    )
    yield Task(
        "robot arm, 6 joints: step of inverse kinematics",
        np.array([0.1, -1.2, 1.8, -2.2, -1.6, 0.3, -0.5, 0.1, 0.4]),
        arm_step,
        {"SX": arm_step_casadi},
    )
    yield Task(
        "Gauss-Newton, 500 points, 5 parameters: step",
        np.array([1.3, 0.6, 5.9, 0.2, 0.1]),
        gauss_newton,
        {"MX": gauss_newton_casadi},
    )


# ---- calls in a loop in C ----

LOOPS = """
#include <stddef.h>
int vector(int (*f)(size_t, size_t, const double*, double*, const void*), size_t n, size_t m, const double* x,
           double* out, int count) {
  int failed = 0;
  for (int k = 0; k < count; ++k) failed |= f(n, m, x, out, NULL);
  return failed;
}
int exported(int (*f)(const double*, long long, double*, void*), long long n, const double* x, double* out, void* work,
             int count) {
  int failed = 0;
  for (int k = 0; k < count; ++k) failed |= f(x, n, out, work);
  return failed;
}
int generated(int (*f)(const double**, double**, long long*, double*, int), const double** in, double** out,
              long long* integers, double* work, int count) {
  int failed = 0;
  for (int k = 0; k < count; ++k) failed |= f(in, out, integers, work, 0);
  return failed;
}
int by_id(int (*f)(int, const double**, double**, long long*, double*, int), int id, const double** in, double** out,
          long long* integers, double* work, int memory, int count) {
  int failed = 0;
  for (int k = 0; k < count; ++k) failed |= f(id, in, out, integers, work, memory);
  return failed;
}
"""


def c_compiler():
    if compiler := shutil.which("gcc") or shutil.which("cc"):
        return compiler
    raise SystemExit("control.py: a loop in C calls the functions, which takes a C compiler")


def compiled_c(source, flags):
    """The library of a C file, next to it."""
    library = source.with_suffix(".so")
    command = [c_compiler(), *flags, "-shared", "-fPIC", source, "-o", library, "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def spent():
    """Processor seconds of this process and of those that have ended."""
    all_of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in all_of)


# Those of the CMakeLists.txt that Bitale writes next to its C, for this processor: products and sums are fused, which takes a call
# of the C library where the processor's instructions for it are not given.
EXPORTED = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-march=native"]


class Calls:
    """Functions that are called `count` times in C, each with the seconds from the symbols to its first result."""

    def __init__(self, folder, flags):
        self.folder, self.flags, self.named = folder, flags, 0
        if casadi:
            self.casadi_c = ctypes.CDLL(
                str(next(Path(casadi.__file__).parent.glob("libcasadi.so*")))
            )
        source = folder / "loops.c"
        source.write_text(LOOPS)
        self.loops = compiled_c(source, ["-O2"])

    def next_name(self, kind):
        self.named += 1
        return f"{kind}{self.named}"

    def of_bitale(self, task):
        """Of the compiled function, and of the C that it is exported as."""
        start = spent()
        x, y = task.formula()
        with bt.config.change_flags(cache="off"):
            f = bt.function([x], y)
        out = np.empty_like(f(task.at))
        ready = spent() - start
        address = ctypes.c_void_p(f.address("vector"))
        exported, compiled = self._exported(f, task.at, out)

        def call(count):
            failed = self.loops.vector(
                address,
                ctypes.c_size_t(task.at.size),
                ctypes.c_size_t(out.size),
                pointer(task.at),
                pointer(out),
                count,
            )
            assert not failed
            return out

        return (call, ready), (exported, ready + compiled)

    def _exported(self, f, at, out):
        start = spent()
        name = self.next_name("exported")
        source, *_ = f.export_c(str(self.folder), name=name)
        library = compiled_c(Path(source), EXPORTED)
        seconds = spent() - start
        function = getattr(library, name)
        size, n = np.zeros(8, "int64"), ctypes.c_longlong(at.size)  # bytes of workspace, lengths
        getattr(library, f"{name}_sizes")(pointer(at), n, pointer(size))
        work, out = np.empty(size[0] // 8 + 1), out.copy()

        def call(count):
            arguments = map(pointer, (at, out, work))
            assert not self.loops.exported(function, n, *arguments, count)
            return out

        return call, seconds

    def of_casadi(self, task, way):
        """Of the virtual machine, and of the generated C."""
        start = spent()
        x, y = task.in_casadi[way]()
        f = casadi.Function(self.next_name("generated"), [x], [y])
        f(task.at)
        ready = spent() - start
        generated, compiled = self._generated(f, task.at)
        return (self._virtual(f, task.at), ready), (generated, ready + compiled), by_rows(f)

    def _virtual(self, f, at):
        library = self.casadi_c
        file = self.folder / f"{f.name()}.casadi"
        f.save(str(file))
        library.casadi_c_push_file(str(file).encode())
        number = library.casadi_c_id(f.name().encode())
        memory = library.casadi_c_checkout_id(number)
        arrays, out = arguments_of(f, at)

        def call(count):
            evaluate = library.casadi_c_eval_id
            assert not self.loops.by_id(evaluate, number, *map(pointer, arrays), memory, count)
            return out

        return call

    def _generated(self, f, at):
        start = spent()
        generator = casadi.CodeGenerator(f"{f.name()}.c")
        generator.add(f)
        generator.generate(f"{self.folder}/")
        function = getattr(compiled_c(self.folder / f"{f.name()}.c", self.flags), f.name())
        seconds = spent() - start
        arrays, out = arguments_of(f, at)

        def call(count):
            assert not self.loops.generated(function, *map(pointer, arrays), count)
            return out

        return call, seconds


def arguments_of(f, at):
    """What a C function of CasADi takes: addresses of inputs and of outputs, workspaces; and the output."""
    out = np.empty(f.nnz_out())
    inputs, outputs = np.zeros(f.sz_arg(), "uintp"), np.zeros(f.sz_res(), "uintp")
    inputs[0], outputs[0] = at.ctypes.data, out.ctypes.data
    return (inputs, outputs, np.empty(f.sz_iw() + 1, "int64"), np.empty(f.sz_w() + 1)), out


def by_rows(f):
    """Where the elements of CasADi's output are, which it stores by columns, in the order of rows."""
    rows, columns = f.sparsity_out(0).get_triplet()
    return np.lexsort((columns, rows))


def measured(task, calls):
    """{who: (seconds of a call, seconds to the first result)}; who is Bitale, the C that it exports, or VM or C with the way in CasADi."""
    found = {}
    found["Bitale"], found["exported"] = calls.of_bitale(task)
    given = {who: call(1) for who, (call, _) in found.items()}
    for way in task.in_casadi if casadi else ():
        virtual, generated, order = calls.of_casadi(task, way)
        found |= {f"VM, {way}": virtual, f"C, {way}": generated}
        given |= {who: found[who][0](1)[order] for who in (f"VM, {way}", f"C, {way}")}
    expected = given["Bitale"]
    for who, values in given.items():
        np.testing.assert_allclose(
            values, expected, 1e-12, 1e-12 * abs(expected).max(), err_msg=f"{task.name}: {who}"
        )
    own = found["Bitale"][0]
    count = max(1, int(1e-3 / seconds_per_call(lambda: own(100), 3) * 100))
    rivals = {who: partial(call, count) for who, (call, _) in found.items()}
    times = in_turn(rivals, rounds=31, summary=min)
    return {who: (seconds / count, found[who][1]) for who, seconds in times.items()}


def called_from_python():
    """{who: seconds of a call} of the cart-pole's rates, from Python, with what each takes and gives there."""
    x, y = cart_pole()
    f, at = bt.function([x], y), np.array([0.1, 0.4, -0.3, 0.8, 2.0])
    rivals = {"Bitale": lambda: f(at)}
    if casadi:
        g = casadi.Function("rates", *([each] for each in cart_pole_casadi()))
        buffer, trigger = g.buffer()
        out = np.empty(4)
        buffer.set_arg(0, memoryview(at))
        buffer.set_res(0, memoryview(out))
        rivals |= {"CasADi": lambda: g(at), "CasADi, buffer": trigger}
    return in_turn(rivals, rounds=31, summary=min)


def duration(seconds):
    """Three digits."""
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"


def rows_of(task, found):
    """A row for each way in CasADi."""
    for way in task.in_casadi:
        three = [found.get(who) for who in ("Bitale", "exported", f"VM, {way}", f"C, {way}")]
        cells = [duration(each[k]) if each else "–" for k in (0, 1) for each in three]
        yield f"| {task.name} | {way} | {' | '.join(cells)} |"


HEAD = """\
| function | in CasADi | Bitale | Bitale's C | CasADi | CasADi's C | first result: Bitale | Bitale's C | CasADi | CasADi's C |
|---|---|---|---|---|---|---|---|---|---|
"""


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--only", default="", help="functions whose name has this text")
    arguments.add_argument("--flags", default="-O3", help="of the C compiler, for CasADi's C")
    arguments.add_argument(
        "--page", type=Path, help="a page whose table, between two comments, is replaced"
    )
    options = arguments.parse_args()
    bt.function([], pt.as_tensor(0.0))()  # what a process loads once
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        calls = Calls(Path(folder), shlex.split(options.flags))
        print(HEAD, end="")
        for task in tasks():
            if options.only in task.name:
                new = list(rows_of(task, measured(task, calls)))
                print("\n".join(new), flush=True)
                rows += new
        if casadi:
            calls.casadi_c.casadi_c_clear()  # else its functions outlive what they are made of
    times = called_from_python()
    called = ", ".join(f"{who} {duration(seconds)}" for who, seconds in times.items())
    versions = [f"Bitale {bt.__version__}"]
    if casadi:
        compiler = subprocess.run([c_compiler(), "--version"], capture_output=True, text=True)
        versions += [f"CasADi {casadi.__version__}", compiler.stdout.splitlines()[0]]
    where = (
        f"{machine(*versions)}; CasADi's C by `{options.flags}`, Bitale's by `{' '.join(EXPORTED)}`"
    )
    rows += ["", f"The first of them, called from Python: {called}. ({where}.)", ""]
    text = HEAD + "\n".join(rows)
    print(text)
    if options.page:
        replace_section(options.page, "<!-- control -->", "<!-- end -->", text)


if __name__ == "__main__":
    main()
