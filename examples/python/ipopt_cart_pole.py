"""A cart swings its pole up with the smallest effort: direct collocation by trapezoids (Kelly 2017, An introduction
to trajectory optimization), solved by Ipopt. The derivatives are sparse; Ipopt's C interface calls compiled
functions through their addresses, using only ctypes. Without Ipopt (Debian: coinor-libipopt-dev) the program says
so and ends."""

import ctypes
import ctypes.util
import os
import time
from ctypes import c_char_p, c_double, c_int, c_size_t, c_void_p

import numpy as np

import bitale as bt
import bitale.tensor as pt

if not (library := ctypes.util.find_library("ipopt")):
    print("skipped: libipopt is not installed")
    raise SystemExit

STEPS = 25 if os.environ.get("BITALE_EXAMPLE_QUICK") else 100
SECONDS = 2.0
KNOTS, H = STEPS + 1, SECONDS / STEPS
CART, POLE, LENGTH, G = 1.0, 0.3, 0.5, 9.81

# ---- the problem: four rows of states and one of forces, at the knots ----

n, m = 5 * KNOTS, 4 * STEPS
z = pt.dvector("z", shape=(n,))
x, angle, speed, turn, force = states = [z[k * KNOTS : (k + 1) * KNOTS] for k in range(5)]
sin, cos = pt.sin(angle), pt.cos(angle)
swing = POLE * (LENGTH * turn**2 + G * cos) * sin
rates = [
    speed,
    turn,
    (swing + force) / (CART + POLE * sin**2),
    -(swing * cos + force * cos + CART * G * sin) / (LENGTH * (CART + POLE * sin**2)),
]
effort = H * ((force[1:] ** 2 + force[:-1] ** 2) / 2).sum()
gaps = pt.concatenate(
    [s[1:] - s[:-1] - H / 2 * (r[1:] + r[:-1]) for s, r in zip(states, rates, strict=False)]
)

# ---- its derivatives ----

jacobian = bt.jacobian(gaps, z, sparse=True)
packed = pt.dvector("packed", shape=(n + 1 + m,))  # the point, the cost's factor, the multipliers
lagrangian = packed[n] * effort + packed[n + 1 :] @ gaps
hessian = bt.hessian(lagrangian, z, sparse=True)


def positions(matrix):
    """Rows and columns of the elements of a matrix in CSR, as Ipopt's integers."""
    counts = np.diff(matrix.indptr.data)
    rows = np.repeat(np.arange(len(counts)), counts)
    return rows.astype("int32"), matrix.indices.data.astype("int32")


J_rows, J_columns = positions(jacobian)
H_rows, H_columns = positions(hessian)
lower = np.flatnonzero(H_rows >= H_columns)
H_rows, H_columns = H_rows[lower], H_columns[lower]

# ---- compiled functions, by their addresses ----

Vector = ctypes.CFUNCTYPE(c_int, c_size_t, c_size_t, c_void_p, c_void_p, c_void_p)
ValueAndGrad = ctypes.CFUNCTYPE(c_int, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p)

cost = ValueAndGrad(bt.function([z], [effort, bt.grad(effort, z)]).address("value_and_grad"))
constraints = Vector(bt.function([z], gaps).address("vector"))
J_values = Vector(bt.function([z], jacobian.data).address("vector"))
H_function = bt.function([packed], hessian.data[lower], givens={z: packed[:n]})
H_values = Vector(H_function.address("vector"))

scratch, packed_now = np.empty(n + 1), np.empty(n + 1 + m)
calls = dict.fromkeys(("cost", "gradient", "constraints", "Jacobian", "Hessian"), 0)


def copy_positions(rows, columns, to_rows, to_columns):
    ctypes.memmove(to_rows, rows.ctypes.data, rows.nbytes)
    ctypes.memmove(to_columns, columns.ctypes.data, columns.nbytes)
    return 1


# ---- Ipopt's callbacks: they return 1 where all went well ----

EvalF = ctypes.CFUNCTYPE(c_int, c_int, c_void_p, c_int, c_void_p, c_void_p)
EvalG = ctypes.CFUNCTYPE(c_int, c_int, c_void_p, c_int, c_int, c_void_p, c_void_p)
EvalJ = ctypes.CFUNCTYPE(c_int, c_int, c_void_p, c_int, c_int, c_int, *4 * [c_void_p])
EvalH = ctypes.CFUNCTYPE(
    c_int, c_int, c_void_p, c_int, c_double, c_int, c_void_p, c_int, c_int, *4 * [c_void_p]
)


@EvalF
def eval_f(n, x, new_x, value, user):
    calls["cost"] += 1
    return cost(n, x, scratch.ctypes.data, value, None) == 0


@EvalF
def eval_gradient(n, x, new_x, gradient, user):
    calls["gradient"] += 1
    return cost(n, x, gradient, scratch.ctypes.data, None) == 0


@EvalG
def eval_g(n, x, new_x, m, values, user):
    calls["constraints"] += 1
    return constraints(n, m, x, values, None) == 0


@EvalJ
def eval_jacobian(n, x, new_x, m, count, rows, columns, values, user):
    if values is None:
        return copy_positions(J_rows, J_columns, rows, columns)
    calls["Jacobian"] += 1
    return J_values(n, count, x, values, None) == 0


@EvalH
def eval_hessian(n, x, new_x, factor, m, multipliers, new, count, rows, columns, values, user):
    if values is None:
        return copy_positions(H_rows, H_columns, rows, columns)
    calls["Hessian"] += 1
    ctypes.memmove(packed_now.ctypes.data, x, 8 * n)
    packed_now[n] = factor
    ctypes.memmove(packed_now[n + 1 :].ctypes.data, multipliers, 8 * m)
    return H_values(packed_now.size, count, packed_now.ctypes.data, values, None) == 0


# ---- bounds, a first guess, and the solution ----

start, end = (0.0, 0.0, 0.0, 0.0), (1.0, np.pi, 0.0, 0.0)
upper = np.repeat([2.0, 10.0, 20.0, 20.0, 20.0], KNOTS)
least = -upper
guess = np.zeros(n)
for k in range(4):
    first, last = k * KNOTS, (k + 1) * KNOTS - 1
    least[[first, last]] = upper[[first, last]] = start[k], end[k]
    guess[first : last + 1] = np.linspace(start[k], end[k], KNOTS)

ipopt = ctypes.CDLL(library)
ipopt.CreateIpoptProblem.restype = c_void_p
ipopt.AddIpoptIntOption.argtypes = c_void_p, c_char_p, c_int
ipopt.AddIpoptStrOption.argtypes = c_void_p, c_char_p, c_char_p
ipopt.IpoptSolve.argtypes = 8 * [c_void_p]
ipopt.FreeIpoptProblem.argtypes = (c_void_p,)

address = lambda array: c_void_p(array.ctypes.data)  # noqa: E731
zeros = np.zeros(m)
problem = ipopt.CreateIpoptProblem(
    *(c_int(n), address(least), address(upper)),
    *(c_int(m), address(zeros), address(zeros)),
    *(c_int(len(J_rows)), c_int(len(H_rows)), c_int(0)),
    *(eval_f, eval_g, eval_gradient, eval_jacobian, eval_hessian),
)
assert problem, "CreateIpoptProblem refused the problem"
ipopt.AddIpoptIntOption(problem, b"print_level", 0)
ipopt.AddIpoptStrOption(problem, b"sb", b"yes")
best, least_effort = guess.copy(), np.empty(1)
begin = time.process_time()
status = ipopt.IpoptSolve(
    problem, best.ctypes.data, None, least_effort.ctypes.data, None, None, None, None
)
seconds = time.process_time() - begin
ipopt.FreeIpoptProblem(problem)

missed = np.empty(m)
constraints(n, m, best.ctypes.data, missed.ctypes.data, None)
assert status == 0 and abs(missed).max() < 1e-7
print(f"{n} variables, {m} constraints; Jacobian {len(J_rows)}, Hessian {len(H_rows)} elements")
print(f"calls: {', '.join(f'{name} {count}' for name, count in calls.items())}")
force = best[-KNOTS:]
print(f"effort {least_effort[0]:.3f}, forces from {force.min():.2f} to {force.max():.2f}")
print(f"Ipopt took {1e3 * seconds:.0f} ms of processor time")
