"""Random programs, and all the views of their derivatives: gradients of each element, Jacobians in all their ways,
products from both sides, second derivatives, by inputs and by values on the way, of static and of unknown lengths.

    python -m fuzz.views [--seconds S | --programs N] [--seed FIRST]

Each view must agree with every other, and with central differences. `changed` programs have a reverse mode that is not
the derivative: only views of this mode are compared.
"""

import random

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.compile import OpFromGraph
from bitale.graph import Apply, Op
from bitale.scan import until

from . import programs

LENGTH = 3


# ---- ops with derivatives of users -----------------------------------------------------------------------------------


class Cube(Op):
    """Its pullback alone."""

    __props__ = ()

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] ** 3 / 3

    def infer_shape(self, fgraph, node, input_shapes):
        return input_shapes

    def pullback(self, inputs, outputs, cotangents):
        return [inputs[0] ** 2 * cotangents[0]]


class CubeWithBoth(Cube):
    def pushforward(self, inputs, outputs, tangents):
        return [inputs[0] ** 2 * tangents[0]]


class CubeByDriver(Cube):
    """Its pullback takes the derivative of a formula."""

    def pullback(self, inputs, outputs, cotangents):
        return [bt.gradient.pullback(inputs[0] ** 3 / 3, inputs[0], cotangents[0])]


class Formula(Op):
    __props__ = ()

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def emit(self, node, x):
        return pt.tanh(x) * x


def of_graph(x, **options):
    s = x.type()
    return OpFromGraph([s], [pt.sin(s) * 0.5], **options)(x)


def right_pullback(inputs, outputs, given):
    return [given[0] * pt.cos(inputs[0]) * 0.5]


def by_driver(inputs, outputs, given):
    return [bt.gradient.pullback(pt.sin(inputs[0]) * 0.5, inputs[0], given[0])]


OWN = {
    "Python op": lambda x: Cube()(x),
    "Python op with both": lambda x: CubeWithBoth()(x),
    "Python op by a driver": lambda x: CubeByDriver()(x),
    "formula": lambda x: Formula()(x),
    "graph": of_graph,
    "inlined graph": lambda x: of_graph(x, inline=True),
    "graph with a pullback": lambda x: of_graph(x, pullback=right_pullback),
    "graph by a driver": lambda x: of_graph(x, pullback=by_driver),
    "graph with a pushforward": lambda x: of_graph(x, pushforward=right_pullback),
    "graph with both": lambda x: of_graph(x, pullback=right_pullback, pushforward=right_pullback),
    "scaled": lambda x: bt.gradient.grad_scale(x, 1.0),
}
CHANGED = {
    "clip": lambda x: bt.gradient.grad_clip(x, -0.4, 0.3),
    "scale": lambda x: bt.gradient.grad_scale(x, 3.0),
    "zero": lambda x: bt.gradient.zero_grad(x) + 0.5 * x,
    "another pullback": lambda x: of_graph(
        x, pullback=lambda inputs, outputs, given: [given[0] * 2.0]
    ),
    "another pushforward": lambda x: of_graph(
        x, pushforward=lambda inputs, outputs, given: [given[0] * 2.0]
    ),
    "another pullback that is not linear": lambda x: of_graph(
        x, pullback=lambda inputs, outputs, given: [pt.tanh(3 * given[0])]
    ),
}


# ---- programs --------------------------------------------------------------------------------------------------------


class Program:
    """``build`` makes a vector of the vectors x and y, the matrix A and the column c; `named` are values on the way."""

    def __init__(self, seed, changed=False):
        self.seed = seed
        self.changes = changed

    def build(self, x, y, A, c):
        self.choose = random.Random(self.seed)
        self.changed_left = self.choose.randint(1, 2) if self.changes else 0
        self.vectors, self.matrices, self.columns = [x, y], [A], [c]
        self.named = []
        for _ in range(self.choose.randint(2, 5)):
            kind = self.choose.random()
            if kind < 0.65:
                self.vectors.append(self.vector())
                self.named.append(self.vectors[-1])
            elif kind < 0.9:
                self.matrices.append(self.matrix())
                self.named.append(self.matrices[-1])
            else:
                self.columns.append(self.column())
        # The last value, so that all of the program takes part, and perhaps more elements than x has.
        parts = [pt.tanh(self.vectors[-1]) + 0.1 * self.pick(self.vectors)]
        for _ in range(self.choose.choice([0, 0, 3])):
            parts.append(self.pick(self.vectors) * self.choose.choice([0.5, -1.0]))
        if self.choose.random() < 0.5:
            parts.append(pt.tanh(self.matrices[-1])[self.choose.randint(0, 2)])
        return pt.concatenate(parts) if len(parts) > 1 else parts[0]

    def pick(self, values):
        return self.choose.choice(values)

    def kind(self, kinds):
        return kinds[self.choose.choice(sorted(kinds))]()

    def own(self, x):
        if self.changed_left and self.choose.random() < 0.6:
            self.changed_left -= 1
            return CHANGED[self.choose.choice(sorted(CHANGED))](x)
        return OWN[self.choose.choice(sorted(OWN))](x)

    def vector(self):
        v = self.pick(self.vectors)
        return self.kind(
            {
                "elementwise": lambda: pt.sin(v) * pt.exp(-0.3 * self.pick(self.vectors)),
                "own": lambda: self.own(v) + 0.1,
                "own twice": lambda: self.own_twice(v),
                "product": lambda: pt.tanh(self.pick(self.matrices) @ v),
                "gather": lambda: v[[2, 0, 0]] * v,
                "reversed": lambda: v[::-1] - 0.2 * v**2,
                "set": lambda: pt.set_subtensor(v[1:], pt.sin(v[:-1])),
                "inc": lambda: pt.inc_subtensor(v[[0, 2]], v[:2] ** 2),
                "where": lambda: pt.where(v > 0.1, pt.exp(0.2 * v), v**2),
                "choice": lambda: bt.ifelse(v.sum() > 0.3, pt.sin(v), v * 0.5),
                "failing choice": lambda: bt.ifelse(
                    v.sum() > 0.3, pt.linalg.solve(pt.eye(LENGTH) * (2 + v[0] ** 2), v), v * 0.5
                ),
                "row sums": lambda: (self.pick(self.matrices) ** 2).sum(axis=1) * 0.3,
                "cumulative": lambda: pt.cumsum(v) * 0.4,
                "squeezed": lambda: pt.squeeze(self.pick(self.columns), 1) * v,
                "softmax": lambda: pt.special.softmax(v) * 2,
                "scan": lambda: self.scan(v),
                "sequence": lambda: self.sequence(v),
                "until": lambda: self.until(v),
                "map": lambda: bt.map(
                    lambda e: pt.sin(e) * v.sum(), sequences=[v], return_updates=False
                ),
                "shifted": lambda: self.shifted(v),
                "two states": lambda: self.two_states(v),
                "nested": lambda: bt.scan(
                    lambda s: self.scan(s), outputs_info=[v], n_steps=2, return_updates=False
                )[-1],
                "graph of two": lambda: self.graph_of_two(v),
                "largest": lambda: v * pt.max(self.pick(self.matrices), axis=0) * 0.5,
                "sorted": lambda: pt.sort(v) * 0.7,
                "extremes": lambda: pt.maximum(v, self.pick(self.vectors)),
                "products": lambda: pt.cumprod(1 + 0.2 * v) - pt.prod(v),
                "solution": lambda: pt.linalg.solve(
                    2 * pt.eye(LENGTH) + 0.2 * pt.sin(self.pick(self.matrices)), v
                ),
                "factor": lambda: self.factor() @ v * 0.5,
                "determinant": lambda: v * pt.linalg.slogdet(self.definite())[1] * 0.3,
                "norm": lambda: v / pt.sqrt(1 + (self.pick(self.vectors) ** 2).sum()),
                "logarithm of a sum": lambda: pt.logsumexp(self.pick(self.matrices) + v, axis=1),
                "rearranged": lambda: pt.repeat(v, 2)[::2] + pt.tile(v, 2)[1:4] * 0.3,
                "parts": lambda: (
                    pt.stack([each * (1 + k) for k, each in enumerate([v[2], v[0], v[1]])]) * 0.4
                ),
                "batched": lambda: bt.graph.vectorize_graph(*self.batched(v)).sum(axis=0) * 0.3,
                "written at an element": lambda: v[self.choose.randint(0, 2)].set(v.sum() * 0.2),
            }
        )

    def definite(self):
        M = self.pick(self.matrices)
        return pt.eye(LENGTH) + 0.3 * M @ M.T

    def factor(self):
        return pt.linalg.cholesky(self.definite())

    def two_states(self, v):
        a, b = bt.scan(
            lambda s, r: (pt.sin(r) + 0.2 * s, self.step(s) * 0.5),
            outputs_info=[v, self.pick(self.vectors)],
            n_steps=2,
            return_updates=False,
        )
        return a[-1] + b.sum(axis=0) * 0.3

    def graph_of_two(self, v):
        a, b = pt.dvector(), pt.dmatrix()
        inline = self.choose.random() < 0.5
        return OpFromGraph([a, b], [pt.tanh(b @ a) + a], inline=inline)(v, self.pick(self.matrices))

    def batched(self, v):
        """What `vectorize_graph` takes: an expression of an input, and a batch in its place."""
        s = pt.dvector()
        return self.step(s), {s: pt.stack([v, self.pick(self.vectors)])}

    def own_twice(self, v):
        """Equal nodes that nobody holds."""
        before = self.choose.getstate(), self.changed_left
        first = self.own(v)
        self.choose.setstate(before[0])
        self.changed_left = before[1]
        return pt.sin(first) + 0.7 * self.own(v)

    def matrix(self):
        M = self.pick(self.matrices)
        return self.kind(
            {
                "elementwise": lambda: pt.sin(M) + 0.2 * M.T,
                "outer": lambda: self.pick(self.vectors)[:, None] * self.pick(self.vectors) * 0.5,
                "column": lambda: self.pick(self.columns) + M,
                "column product": lambda: self.pick(self.columns) * M,
                "product": lambda: pt.tanh(M @ self.pick(self.matrices)),
                "own": lambda: self.own(M),
                "diagonal": lambda: pt.diag(self.pick(self.vectors)) + 0.1 * M,
                "inverse": lambda: pt.linalg.inv(2 * pt.eye(LENGTH) + 0.2 * pt.sin(M)),
                "trace": lambda: bt.scan(
                    lambda s: pt.tanh(M @ s),
                    outputs_info=[self.pick(self.vectors)],
                    n_steps=LENGTH,
                    return_updates=False,
                ),
            }
        )

    def column(self):
        c = self.pick(self.columns)
        return self.kind(
            {
                "elementwise": lambda: pt.sin(c) + 0.3,
                "sums": lambda: self.pick(self.matrices).sum(axis=1, keepdims=True) * 0.3,
                "product": lambda: pt.tanh(self.pick(self.matrices) @ c),
            }
        )

    def step(self, s):
        v, M = self.pick(self.vectors), self.pick(self.matrices)
        return self.kind(
            {
                "product": lambda: pt.tanh(M @ s + v),
                "own": lambda: self.own(s) * 0.8 + 0.1 * v,
                "elementwise": lambda: pt.sin(s) * v,
                "choice": lambda: bt.ifelse(s.sum() > 0.3, pt.sin(s), s * 0.5 + v),
                "failing choice": lambda: bt.ifelse(
                    s.sum() > 0.3, pt.linalg.solve(pt.eye(LENGTH) * (2 + s[0] ** 2), s), v
                ),
                "gather": lambda: s[[1, 2, 0]] * 0.9,
            }
        )

    def scan(self, v):
        truncated = {}
        if self.changed_left and self.choose.random() < 0.4:
            self.changed_left -= 1
            truncated = {"truncate_gradient": 1}
        out = bt.scan(
            self.step,
            outputs_info=[v],
            n_steps=self.choose.randint(1, 3),
            return_updates=False,
            **truncated,
        )
        return out[-1] if self.choose.random() < 0.6 else out.sum(axis=0) * 0.5

    def sequence(self, v):
        return bt.scan(
            lambda e, s: pt.sin(self.step(s) * e),
            sequences=[self.pick(self.vectors)],
            outputs_info=[v],
            return_updates=False,
        )[-1]

    def until(self, v):
        limit = self.choose.choice([0.2, 5.0])
        out = bt.scan(
            lambda s: (self.step(s), until(s.sum() > limit)),
            outputs_info=[v],
            n_steps=3,
            return_updates=False,
        )
        return out[-1]

    def shifted(self, v):
        return bt.scan(
            lambda q, s: pt.concatenate([s[1:], q[None] * s[:1]]),
            sequences=[self.pick(self.vectors)],
            outputs_info=[v],
            return_updates=False,
        )[-1]


def inputs(is_static):
    n = LENGTH if is_static else None
    return [
        pt.tensor("x", dtype="float64", shape=(n,)),
        pt.tensor("y", dtype="float64", shape=(n,)),
        pt.tensor("A", dtype="float64", shape=(n, n)),
        pt.tensor("c", dtype="float64", shape=(n, 1)),
    ]


def values(seed):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-0.9, 0.9, shape) for shape in ((3,), (3,), (3, 3), (3, 1))]


# ---- views -----------------------------------------------------------------------------------------------------------


def flat(J, y, w):
    return J.reshape((y.size, w.size))


def views_of(y, w, t, u, is_static, is_changed):
    """Views of the derivative of the vector y by w: of the whole matrix (by name), of its product with t, with u, and
    of the matrix of second derivatives of a cost, and of its product with t."""
    ignore = {"disconnected_inputs": "ignore"}
    whole = {
        "jacobian": flat(bt.jacobian(y, w, **ignore), y, w),
        "loop": bt.map(
            lambda i: bt.grad(y[i], w, **ignore).flatten(),
            sequences=[pt.arange(y.shape[0])],
            return_updates=False,
        ),
    }
    right, left, second, second_right = {}, {}, {}, {}
    if is_static and w.ndim == 1:
        for name in ("auto", "ones"):
            pattern = name if name == "auto" else np.ones((y.type.shape[0], LENGTH), dtype=bool)
            try:
                whole[f"sparsity {name}"] = bt.jacobian(y, w, sparsity=pattern, **ignore)
                if name == "auto":
                    whole["sparse"] = bt.jacobian(y, w, sparse=True, **ignore).toarray()
            except NotImplementedError:  # a length on the way is not known statically
                pass
    if not is_changed:
        whole["jacfwd"] = flat(bt.jacfwd(y, w, **ignore), y, w)
        whole["of a multiple"] = flat(bt.jacobian(2.0 * y, w, **ignore), y, w) / 2.0
        whole["columns"] = bt.map(
            lambda e: bt.pushforward(y, w, e.reshape(w.shape), disconnected_outputs="ignore"),
            sequences=[pt.eye(w.size)],
            return_updates=False,
        ).T
        right["pushforward"] = bt.pushforward(y, w, t, disconnected_outputs="ignore")
        left["pullback"] = bt.gradient.pullback(y, w, u, **ignore)
        cost = (pt.sin(y) * pt.arange(1.0, 1 + y.shape[0])).sum()
        slope = bt.grad(cost, w, **ignore)
        left["gradient"] = bt.grad((y * u).sum(), w, **ignore)
        second_right["hvp"] = bt.hessian_vector_product(cost, w, t, **ignore)
        second_right["pushforward of the gradient"] = bt.pushforward(
            slope, w, t, disconnected_outputs="ignore"
        )
        second_right["gradient of a product"] = bt.grad((slope * t).sum(), w, **ignore)
        second["jacobian"] = flat(bt.jacobian(slope.flatten(), w, **ignore), w, w)
        second["jacfwd"] = flat(bt.jacfwd(slope.flatten(), w, **ignore), w, w)
        if w.ndim == 1:
            second["hessian"] = bt.hessian(cost, w, **ignore)
            if is_static:
                try:
                    second["sparse hessian"] = bt.hessian(cost, w, sparsity="auto", **ignore)
                except NotImplementedError:
                    pass
    return {
        "whole": whole,
        "right": right,
        "left": left,
        "second": second,
        "second right": second_right,
    }


def found_views(seed, is_static, is_changed, mode, rows=False):
    """Values of all views of one program, by group and name, for an input and a value on the way."""
    program = Program(seed, is_changed)
    given = inputs(is_static)
    y = program.build(*given)
    choose = random.Random(seed + 1)
    wrt = [choose.choice(given)]
    if program.named:
        wrt.append(choose.choice(program.named))
    out = {}
    at = values(seed)
    size = bt.function(given, y.shape[0], on_unused_input="ignore")(*at)
    for k, w in enumerate(wrt):
        t, u = w.type("t"), y.type("u")
        groups = views_of(y, w, t, u, is_static, is_changed)
        if rows:
            groups["whole"]["rows"] = pt.stack(
                [bt.grad(y[i], w, disconnected_inputs="ignore").flatten() for i in range(size)]
            )
        names = [(group, name) for group, views in groups.items() for name in views]
        f = bt.function(
            [*given, t, u],
            [groups[group][name] for group, name in names] + [w],
            mode=mode,
            on_unused_input="ignore",
        )
        rng = np.random.default_rng(seed + 7)
        w_shape = bt.function(given, w.shape, on_unused_input="ignore")(*at)
        t_value, u_value = rng.uniform(-1, 1, tuple(w_shape)), rng.uniform(-1, 1, size)
        *results, w_value = f(*at, t_value, u_value)
        for (group, name), result in zip(names, results, strict=True):
            out[k, group, name] = np.asarray(result)
        out[k, "t"], out[k, "u"], out[k, "w"] = t_value, u_value, w_value
    return program, given, y, wrt, out


def differences(given, y, w, at, w_value):
    """The matrix of derivatives by central differences: w is replaced."""
    B = w.type()
    f = bt.function(
        [*given, B], bt.clone_replace([y], {w: B})[0], on_unused_input="ignore", mode="FAST_COMPILE"
    )
    columns = []
    for step in (1e-5, 2e-5):
        column = []
        for index in np.ndindex(w_value.shape):
            moved = [w_value.copy(), w_value.copy()]
            moved[0][index] += step
            moved[1][index] -= step
            column.append((f(*at, moved[0]) - f(*at, moved[1])) / (2 * step))
        columns.append(np.array(column).T.reshape(-1, w_value.size))
    # Where the two steps differ there is an edge.
    return columns[0] if np.allclose(*columns, rtol=1e-4, atol=1e-5) else None


def check(seed, is_changed, modes=("FAST_COMPILE", "FAST_RUN")):
    """Compares all views with each other. Returns how many there were."""
    at = values(seed)
    everything = {}
    for mode in modes:
        for is_static in (False, True):
            program, given, y, wrt, found = found_views(
                seed, is_static, is_changed, mode, rows=not is_static
            )
            for key, value in found.items():
                everything[key if len(key) == 2 else (*key, is_static, mode)] = value
    count = 0
    for k, w in enumerate(wrt):
        t, u = everything[k, "t"], everything[k, "u"]
        reference = everything[k, "whole", "rows", False, modes[0]]
        expected = {"whole": reference, "right": reference @ t.flatten(), "left": u @ reference}
        if not is_changed:
            expected["second"] = everything[k, "second", "jacobian", False, modes[0]]
            expected["second right"] = expected["second"] @ t.flatten()
            numeric = differences(given, y, w, at, everything[k, "w"])
            if numeric is not None:
                np.testing.assert_allclose(
                    reference, numeric, rtol=1e-4, atol=1e-5, err_msg=f"seed {seed}: differences"
                )
        for key, value in everything.items():
            if key[0] != k or len(key) == 2:
                continue
            np.testing.assert_allclose(
                value.reshape(expected[key[1]].shape),
                expected[key[1]],
                rtol=1e-7,
                atol=1e-9,
                err_msg=f"seed {seed}, changed {is_changed}, by {w}: {key}",
            )
            count += 1
    return count


if __name__ == "__main__":
    raise SystemExit(
        programs.run("fuzz.views", __doc__, lambda seed: check(seed, is_changed=seed % 2 == 1))
    )
