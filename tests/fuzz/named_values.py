"""Random programs around loops, solvers and ops, whose values a user names: by givens, derivatives, clone_replace,
vectorize_graph and consider_constant.

    python -m fuzz.named_values [--seconds S | --programs N] [--seed FIRST]

A program is built twice: as it is, and with a variable of its own in the place of a value.
"""

import random

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.compile import OpFromGraph

from . import programs

LENGTH = 2
MATRIX = np.array([[0.5, -0.2], [0.3, 0.4]])
VECTOR = np.array([0.7, -0.4])


class Program:
    """A random program. ``build`` makes the expression; `instead` has variables in the place of values, by number."""

    def __init__(self, seed):
        self.seed = seed
        self.named = {}

    def build(self, A, x, instead=None):
        self.choose = random.Random(self.seed)
        self.instead = instead or {}
        self.named = {}
        self.matrices, self.vectors = [A], [x]
        for _ in range(self.choose.randint(2, 4)):
            if self.choose.random() < 0.6:
                self.matrices.append(self.name(self.matrix()))
            else:
                self.vectors.append(self.name(self.vector()))
        total = self.pick(self.vectors).sum() * 0.1
        for _ in range(self.choose.randint(1, 2)):
            total = total + pt.sin(self.around()).sum()
        for value in self.named.values():  # some are read outside, too
            if self.choose.random() < 0.3:
                total = total + (value**2).sum()
        return total

    def name(self, value):
        number = len(self.named)
        value = self.instead.get(number, value)
        self.named[number] = value
        return value

    def pick(self, values):
        return self.choose.choice(values)

    def condition(self):
        return self.pick(self.vectors).sum() < self.choose.choice([-9.0, 0.1, 9.0])

    def matrix(self):
        M = self.pick(self.matrices)
        kinds = {
            "transposed": lambda: M.T,
            "scaled": lambda: M * 1.0,
            "product": lambda: pt.tanh(M @ self.pick(self.matrices)),
            "choice": lambda: bt.ifelse(self.condition(), M @ M, M),
            "choice of an inverse": lambda: bt.ifelse(
                self.condition(), pt.linalg.inv(M @ M.T + pt.eye(2)), M.T
            ),
            "choice of a slice": lambda: bt.ifelse(self.condition(), M[::-1, [1, 0]], M),
            "constant": lambda: pt.ones((2, 2)) * 0.5,
            "constants chosen": lambda: pt.eye(2) * 0.25 + 0.125,
            "loop": lambda: bt.map(lambda row: pt.sin(row), sequences=[M], return_updates=False),
            "inverse": lambda: pt.linalg.inv(M @ M.T + pt.eye(2)),
        }
        return kinds[self.choose.choice(sorted(kinds))]()

    def vector(self):
        v = self.pick(self.vectors)
        kinds = {
            "product": lambda: pt.tanh(self.pick(self.matrices) @ v),
            "choice": lambda: bt.ifelse(self.condition(), v[::-1], v * 2),
            "constant": lambda: pt.zeros(2) + 0.5,
            "row": lambda: self.pick(self.matrices)[self.choose.randint(0, 1)],
        }
        return kinds[self.choose.choice(sorted(kinds))]()

    def step(self, s):
        """An expression of s and of values around it, some made in it."""
        V, v = self.pick(self.matrices), self.pick(self.vectors)
        kinds = {
            "product": lambda: pt.tanh(V @ s + v),
            "made within": lambda: pt.tanh(pt.exp(-(V**2)).T @ s),
            "choice": lambda: bt.ifelse(s.sum() > 0.1, pt.tanh(V @ s), s * v),
            "guarded": lambda: bt.ifelse(
                s.sum() > 0.1, pt.linalg.inv(V.T @ V + pt.eye(2)) @ s, s - v
            ),
            "own choice": lambda: pt.tanh(bt.ifelse(self.condition(), V @ V, V.T) @ s),
        }
        return kinds[self.choose.choice(sorted(kinds))]()

    def around(self):
        """A vector that something with an inner graph makes."""
        x = self.pick(self.vectors)
        kinds = {
            "scan": self.scan,
            "map": lambda x: bt.map(
                lambda e: self.step(x * e).sum(), sequences=[x], return_updates=False
            ),
            "nested": lambda x: bt.scan(
                lambda s: self.scan(s), outputs_info=[x], n_steps=2, return_updates=False
            )[-1],
            "minimize": self.minimize,
            "root": self.root,
            "minimize_scalar": self.minimize_scalar,
            "graph": self.graph,
        }
        return kinds[self.choose.choice(sorted(kinds))](x)

    def scan(self, x):
        V = self.pick(self.matrices)
        if self.choose.random() < 0.5:
            return bt.scan(
                lambda s, W: pt.tanh(W @ self.step(s)),
                outputs_info=[x],
                non_sequences=[V],
                n_steps=2,
                return_updates=False,
            )[-1]
        return bt.scan(self.step, outputs_info=[x], n_steps=2, return_updates=False)[-1]

    def minimize(self, x):
        V, v, start = self.pick(self.matrices), self.pick(self.vectors), pt.dvector()
        objective = ((pt.tanh(V) @ start - v) ** 2).sum() + (start**2).sum()
        found = pt.optimize.minimize(objective, start, optimizer_kwargs={"tol": 1e-12})[0]
        return bt.clone_replace([found], {start: x})[0]

    def root(self, x):
        V, v, start = self.pick(self.matrices), self.pick(self.vectors), pt.dvector()
        equations = start + 0.3 * pt.tanh(V @ start) - v
        found = pt.optimize.root(equations, start, optimizer_kwargs={"tol": 1e-13})[0]
        return bt.clone_replace([found], {start: x})[0]

    def minimize_scalar(self, x):
        v, start = self.pick(self.vectors), pt.dscalar()
        found = pt.optimize.root_scalar(start**3 + start - v.sum(), start)[0]
        return bt.clone_replace([found], {start: x.sum()})[0] * x

    def graph(self, x):
        V = self.pick(self.matrices)
        M, s = pt.dmatrix(), pt.dvector()
        return OpFromGraph([M, s], [pt.tanh(M.T @ s)], inline=self.choose.random() < 0.5)(V, x)


def inputs():
    return pt.dmatrix("A"), pt.dvector("x")


def check(seed, mode):
    program = Program(seed)
    A, x = inputs()
    y = program.build(A, x)
    named = dict(program.named)
    if not named:
        return
    number = random.Random(seed + 1).choice(sorted(named))
    V = named[number]
    B, T = V.type("B"), V.type("T")
    of_B = program.build(A, x, {number: B})
    options = {"mode": mode, "on_unused_input": "ignore"}
    given = [A, x, B, T]

    def both(actual, expected, what, **more):
        values = (MATRIX, VECTOR, value, direction)
        found = bt.function(given, actual, **options, **more)(*values)
        wanted = bt.function(given, expected, **options)(*values)
        for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
            np.testing.assert_allclose(
                a, b, rtol=1e-6, atol=1e-8, err_msg=f"seed {seed}, {what}, result {k}"
            )

    rng = np.random.default_rng(seed)
    value, direction = rng.uniform(-0.6, 0.6, (2, *((2,) * V.ndim)))
    ignore = {"disconnected_inputs": "ignore"}
    both([y], [of_B], "givens", givens={V: B})
    both(bt.clone_replace([y], {V: B}), [of_B], "clone_replace")
    own = bt.function([A, x], V, on_unused_input="ignore")
    value = own(MATRIX, VECTOR)
    both([bt.grad(y, V, **ignore)], [bt.grad(of_B, B, **ignore)], "grad")
    forward = {"disconnected_outputs": "ignore"}
    both(
        [bt.pushforward(y, V, T, **forward)], [bt.pushforward(of_B, B, T, **forward)], "pushforward"
    )
    both(
        [bt.hessian_vector_product(y, V, T, **ignore)],
        [bt.hessian_vector_product(of_B, B, T, **ignore)],
        "hvp",
    )
    constant = program.build(A, x, {number: bt.gradient.disconnected_grad(V)})
    both(
        [bt.grad(y, [A, x], consider_constant=[V], **ignore)[k] for k in (0, 1)],
        [bt.grad(constant, [A, x], **ignore)[k] for k in (0, 1)],
        "consider_constant",
    )
    batch = pt.tensor(dtype="float64", shape=(None,) * (V.ndim + 1))
    rows = np.stack([value, value + 0.1, value - 0.2])
    batched = bt.function([A, x, batch], bt.graph.vectorize_graph(y, {V: batch}), **options)(
        MATRIX, VECTOR, rows
    )
    one = bt.function([A, x, B], of_B, **options)
    np.testing.assert_allclose(
        np.broadcast_to(batched, (3,)),
        [one(MATRIX, VECTOR, row) for row in rows],
        rtol=1e-6,
        atol=1e-8,
        err_msg=f"seed {seed}, vectorize_graph",
    )


def check_modes(seed):
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        check(seed, mode)


if __name__ == "__main__":
    raise SystemExit(programs.run("fuzz.named_values", __doc__, check_modes))
