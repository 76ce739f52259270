"""Random graphs of sparse and dense values, compared with dense NumPy (`oracle.sparse`) as those of complex numbers are.

Patterns are constants of the graph or given in a call, in rows, columns or elements in any order, with 32- and 64-bit positions, stored
zeros, and empty rows, columns and matrices. A configuration of its own passes SciPy's arrays in place of the vectors of a matrix.
"""

from __future__ import annotations

import re
from typing import Any

import bitale.sparse  # noqa: F401 (bt.sparse of the texts)
import numpy as np
import scipy.sparse
from oracle.sparse import Stored

from . import complex_graphs
from .case import Case, Input, Step, define, evaluate_text, symbolic_input
from .complex_graphs import GRADIENT, MOST, _value
from .configurations import Configuration
from .generate import Rejected

# Functions of stored elements that keep zeros, of real and of complex numbers, and those that are only structured.
smooth = ["sin", "expm1", "sqr", "neg", "tanh", "sinh", "arctan", "arcsinh", "conj", "abs"]
real_only = [
    "sign",
    "ceil",
    "floor",
    "trunc",
    "rint",
    "deg2rad",
    "erf",
    "cbrt",
    "structured_sigmoid",
]
structured = [
    "structured_exp({s})",
    "structured_elemwise(pt.cos)({s})",
    "structured_pow({s}, 2)",
    "structured_elemwise(pt.tanh)({s})",
]
structured_real = [
    "structured_minimum({s}, 0)",
    "structured_maximum({s}, 1)",
    "structured_add({s}, 1)",
]


class _Generator(complex_graphs._Generator):
    """Dense values are in `values`, sparse ones in `stored`."""

    def __init__(self, rng: np.random.Generator):
        super().__init__(rng)
        self.real = self.chance(0.7)
        self.lengths = (
            [int(n) for n in rng.choice([1, 2, 3, 4, 6], 3)]
            + ([0] if self.chance(0.2) else [])
            + ([40] if self.chance(0.1) else [])
        )
        self.stored: dict[str, Stored] = {}
        self.static: set[str] = set()  # those whose pattern is known while the graph is built

    # ---- leaves ----

    def new_input(self, kind: str = "c", shape: tuple[int, ...] | None = None) -> str:
        return super().new_input("f" if self.real and kind == "c" else kind, shape)

    def pick(
        self,
        kinds: str = "c",
        ndim: int | None = None,
        min_ndim: int = 0,
        shape: tuple[int, ...] | None = None,
        nonempty: bool = False,
    ) -> str:
        return super().pick(
            kinds.replace("c", "f") if self.real else kinds, ndim, min_ndim, shape, nonempty
        )

    def partner(self, x: str) -> str:
        partner = super().partner(x)
        return "2" if self.real and "j" in partner else partner

    def integers(self, values: Any, static: bool) -> str:
        """A constant of the graph, or an input."""
        dtype = self.choice(["int32", "int64"])
        values = np.asarray(values, dtype)
        if static:
            return f"np.array({values.tolist()}, '{dtype}')"
        given = Input(
            f"x{len(self.inputs)}",
            values,
            tuple(n if self.chance(0.3) else None for n in values.shape),
            "plain",
        )
        self.inputs.append(given)
        self.values[given.name] = given.value
        return given.name

    def new_matrix(self, shape: tuple[int, int] | None = None) -> str:
        shape = shape or (self.choice(self.lengths), self.choice(self.lengths))
        mask = self.rng.random(shape) < self.choice([0, 0.1, 0.3, 0.3, 0.6, 0.6, 1])
        if self.chance(0.3):
            mask[self.rng.random(shape[0]) < 0.4] = False
            mask[:, self.rng.random(shape[1]) < 0.4] = False
        static, of_elements = self.chance(0.5), self.chance(0.25)
        rows, columns = np.nonzero(mask)
        by_columns = self.chance(0.4)
        if of_elements:
            twice = (
                self.rng.integers(0, len(rows), int(self.rng.integers(3)))
                if len(rows)
                else np.zeros(0, int)
            )
            order = self.rng.permutation(np.concatenate([np.arange(len(rows)), twice]))
            rows, columns = rows[order], columns[order]
        elif by_columns:
            columns, rows = np.nonzero(mask.T)
        data = self.new_input("c" if self.chance(0.8) else "f", (len(rows),))
        given = self.inputs[-1]
        if self.chance(0.3):
            given.value[self.rng.random(given.value.shape) < 0.3] = 0  # stored zeros
        lengths = [str(n) for n in shape]
        for axis, n in enumerate(shape):
            fitting = [
                name for name, value in self.values.items() if value.ndim and value.shape[0] == n
            ]
            if fitting and self.chance(0.15):
                lengths[axis] = f"{self.choice(fitting)}.shape[0]"
        size = f"({lengths[0]}, {lengths[1]})"
        if of_elements:
            text = f"bt.sparse.from_elements({data}, {self.integers(rows, static)}, {self.integers(columns, static)}, {size}, '{self.choice(['csr', 'csc'])}')"
        else:
            major, minor, count = (
                (columns, rows, shape[1]) if by_columns else (rows, columns, shape[0])
            )
            bounds = (
                np.concatenate([[0], np.cumsum(np.bincount(major, minlength=count))])
                if count
                else np.zeros(1, int)
            )
            text = f"bt.sparse.{'CSC' if by_columns else 'CSR'}({data}, {self.integers(minor, static)}, {self.integers(bounds, static)}, {size})"
        return self.take(text)

    def matrix(self, shape: tuple[int | None, int | None] = (None, None)) -> str:
        fit = [
            name
            for name, value in self.stored.items()
            if value.dtype.kind in "fc"
            and all(n is None or n == m for n, m in zip(shape, value.shape))
        ]
        if fit and not self.chance(0.1):
            return fit[-1] if self.chance(0.4) else self.choice(fit)
        return self.new_matrix(tuple(self.choice(self.lengths) if n is None else n for n in shape))  # type: ignore[arg-type]

    # ---- expressions ----

    def text(self) -> str:
        kind = self.choice(["unary", "binary", "reduce", "move"] + ["product"] * 4 + ["function"] * 3 + ["scaled"] * 4 + ["sum_of_two"] * 2
                           + ["arranged"] * 4 + ["to_dense"] * 4 + ["product_of_two"] * 2 + ["from_dense", "compared", "looped", "system", "system"])  # fmt: skip
        return getattr(self, "_" + kind)()

    def _function(self) -> str:
        s = self.matrix()
        names = smooth + (real_only if self.stored[s].dtype.kind == "f" else [])
        forms = structured + (structured_real if self.stored[s].dtype.kind == "f" else [])
        return (
            f"bt.sparse.{self.choice(names)}({s})"
            if self.chance(0.6)
            else "bt.sparse." + self.choice(forms).format(s=s)
        )

    def _scaled(self) -> str:
        s = self.matrix()
        m, n = self.stored[s].shape
        row, column, both = self.pick(shape=(n,)), self.pick(shape=(m,)), self.pick(shape=(m, n))
        k = self.choice(self.lengths)
        return self.choice([
            f"{s} * {row}", f"{column}[:, None] * {s}", f"{s} * {both}", f"{s} * {self.pick(shape=())}", f"{s} * 2", f"-{s}", f"{s} ** 2",
            f"{s} / (2 + pt.abs({row}))", f"{s} * pt.exp({column})[:, None]", f"bt.sparse.row_scale({s}, {column})", f"bt.sparse.col_scale({s}, {row})",
            f"bt.sparse.sampling_dot({self.pick(shape=(m, k))}, {self.pick(shape=(n, k))}, {s})", f"bt.sparse.structured_add_s_v({s}, {row})",
            f"{s}.tocsr().with_data(pt.sin({s}.tocsr().data))", f"bt.sparse.sp_ones_like({s}) * {both}", f"abs({s})",
        ])  # fmt: skip

    def _sum_of_two(self) -> str:
        s = self.matrix()
        t = self.matrix(self.stored[s].shape)
        return self.choice([f"{s} + {t}", f"{s} - {t}", f"{s} * {t}", f"{s} - {s} * {t}"])

    def _product_of_two(self) -> str:
        s = self.matrix()
        t = self.matrix((self.stored[s].shape[1], None))
        return self.choice([f"{s} @ {t}", f"{s} @ {t}", f"bt.sparse.dot({s}, {s}.T)"])

    def _arranged(self) -> str:
        s = self.matrix()
        m, n = self.stored[s].shape
        forms = [
            f"{s}.T", f"{s}.tocsr()", f"{s}.tocsc()", f"{s}[1:]", f"{s}[:, :-1]", f"{s}[::-1]", f"{s}[:2, 1:3]", f"bt.sparse.remove0({s})", f"bt.sparse.clean({s})",
            f"bt.sparse.tril({s}, {self.choice([-1, 0, 1])})", f"bt.sparse.triu({s}, {self.choice([-1, 0, 1])})",
            f"bt.sparse.hstack([{s}, {self.matrix((m, None))}])", f"bt.sparse.vstack([{self.matrix((None, n))}, {s}], format='{self.choice(['csr', 'csc'])}')",
            f"bt.sparse.block_diag({s}, {self.matrix()})",
        ]  # fmt: skip
        if m and n:
            some = self.rng.integers(-m, m, 3)
            forms += [
                f"{s}[{self.integers(some, self.chance(0.5))}]",
                f"{s}[{some.tolist()}, {int(self.rng.integers(n))}]",
                f"{s}[:, {self.integers(self.rng.integers(-n, n, 2), self.chance(0.5))}]",
            ]
        return self.choice(forms)

    def _from_dense(self) -> str:
        if self.chance(0.3):
            return f"bt.sparse.square_diagonal({self.pick(ndim=1)})"
        x = self.pick(ndim=2)
        positive = f"{x} * (pt.real({x}) > 0)" if self.chance(0.5) else x
        return f"bt.sparse.cs{self.choice('rc')}_from_dense({positive})"

    def _product(self) -> str:
        s = self.matrix()
        m, n = self.stored[s].shape
        k = self.choice(self.lengths)
        v, x, w, y = (
            self.pick(shape=(n,)),
            self.pick(shape=(n, k)),
            self.pick(shape=(m,)),
            self.pick(shape=(k, m)),
        )
        return self.choice([
            f"{s} @ {v}", f"{s} @ {x}", f"{w} @ {s}", f"{y} @ {s}", f"{s}.dot({v})", f"{s}.T @ {w}", f"({s} * pt.exp({w})[:, None]) @ {v} + {w}",
            f"pt.tanh({s} @ {v})", f"bt.sparse.usmm(2, {s}, {x}, {self.pick(shape=(m, k))})", f"({s} * {s}) @ pt.sin({v})",
            f"({s} @ {v}) * {w}", f"pt.sum({s} @ {x}, axis={self.choice([0, 1])})", f"{s}.T @ ({s} @ {x})",
        ])  # fmt: skip

    def _to_dense(self) -> str:
        s = self.matrix()
        m, n = self.stored[s].shape
        x = self.pick(shape=(m, n))
        forms = [
            f"{s}.todense()",
            f"{s} + {x}",
            f"{x} - {s}",
            f"bt.sparse.sp_sum({s}, axis={self.choice([0, 1, None])})",
            f"{s}.sum(axis={self.choice([0, 1, -1])})",
            f"bt.sparse.sp_sum(bt.sparse.sqr({s}), axis={self.choice([0, 1])})",
            f"{s}.diagonal()",
            f"bt.sparse.diag({s})",
            f"{s}.tocsr().data",
            f"pt.exp({s}.sum(axis=1) / 2)",
            f"pt.sum({s}.tocsr().data)",
        ]
        if m and n:
            i, j = self.rng.integers(-m, m, 3), self.rng.integers(-n, n, 3)
            forms += [
                f"{s}[{i[0]}, {j[0]}]",
                f"bt.sparse.get_item_2lists({s}, {self.integers(i, self.chance(0.5))}, {self.integers(j, self.chance(0.5))})",
            ]
        return self.choice(forms)

    def _compared(self) -> str:
        s = self.matrix()
        t = self.matrix(self.stored[s].shape)
        name = (
            self.choice(["neq", "lt", "gt"])
            if self.stored[s].dtype.kind == self.stored[t].dtype.kind == "f"
            else "neq"
        )
        dtype = self.stored[s].dtype.name
        if self.chance(0.3):
            return f"bt.sparse.{self.choice(['neq', 'eq'])}({s}, {self.pick(shape=self.stored[s].shape)})"
        return (
            f"bt.sparse.{name}({s}, {t}).astype('{dtype}')"
            if self.chance(0.7)
            else f"bt.sparse.{name}({s}, {t})"
        )

    def _looped(self) -> str:
        n = self.choice(self.lengths)
        s = self.matrix((n, n))
        v = self.pick(shape=(n,))
        if np.result_type(self.stored[s].dtype, self.values[v].dtype) != self.values[v].dtype:
            raise Rejected
        return f"bt.scan(lambda s, c: pt.tanh({s} @ s / 2) + c, outputs_info={v}, non_sequences={v}, n_steps={int(self.rng.integers(0, 4))}, return_updates=False)".replace(
            " / 2", "" if not self.wide else " / 2.0"
        )

    def _system(self) -> str:
        """Of a matrix with a heavy diagonal."""
        n = self.choice([n for n in self.lengths if n] or [2])
        s = self.matrix((n, n))
        dtype = self.stored[s].dtype
        real = "float64" if dtype in ("float64", "complex128") else "float32"
        eye = f"bt.sparse.CSR(np.full({n}, {2 * n}, '{real}'), np.arange({n}), np.arange({n + 1}), ({n}, {n}))"
        small = (
            f"bt.sparse.tanh({s} * np.array(0.3, '{real}'))"
            if dtype.kind == "f"
            else f"({s} * np.array(0.1, '{real}'))"
        )
        general, positive = (
            f"({small} + {eye})",
            f"(bt.sparse.dot({small}, bt.sparse.conj({small}.T)) + {eye})",
        )
        b = self.pick(shape=self.choice([(n,), (n, 2)]))
        if max(np.abs(self.stored[s].value).max(), np.abs(self.values[b]).max()) > 4:
            raise Rejected
        triangular = f"bt.sparse.linalg.solve_triangular({general}, {b}, lower={self.chance(0.5)}, trans={self.choice([0, 1, 2])}, unit_diagonal={self.chance(0.3)})"
        kind = self.choice(
            ["pos", "gen", "sym", "her", "diagonal", "lower triangular", "upper triangular"]
        )
        solution = f"bt.sparse.linalg.solve({positive}, {b}, assume_a='{kind}', lower={self.chance(0.5)}, transposed={self.chance(0.5)})"
        form = f"bt.sparse.linalg.quadratic_form({positive}, {self.pick(shape=(n,))})"
        return self.choice([
            form, triangular, solution, f"bt.sparse.linalg.cholesky({positive}).solve({b})", f"bt.sparse.linalg.cholesky({positive}).logdet()",
            f"bt.sparse.linalg.selected_inverse({positive})", f"bt.sparse.linalg.lu({general}).solve({b}, trans={self.choice([0, 1, 2])})",
            f"bt.sparse.linalg.lu({general}).logdet()", f"bt.sparse.linalg.lu({general}).solve({b})", f"bt.sparse.linalg.lu({general}).slogdet()[0]",
        ])  # fmt: skip

    def take(self, text: str) -> str:
        """Adds a step."""
        try:
            value = _value(text, {**self.values, **self.stored})
        except (ValueError, IndexError, TypeError, AssertionError, np.linalg.LinAlgError) as error:
            raise Rejected(text) from error
        dense = value.value if isinstance(value, Stored) else value
        if dense.dtype.kind not in "cfb" or dense.size > 4000 or not (np.abs(dense) < MOST).all():
            raise Rejected
        name = f"v{len(self.steps)}"
        self.steps.append(Step((name,), text))
        (self.stored if isinstance(value, Stored) else self.values)[name] = value
        if self.is_static(self.steps[-1]):
            self.static.add(name)
        return name

    def is_static(self, step: Step) -> bool:
        known = re.fullmatch(
            r"bt\.sparse\.CS[RC]\(x\d+, np\.array.*?, np\.array.*?, \(\d+, \d+\)\)", step.text
        )
        matrices = [name for name in step.reads if name in self.stored]
        of_values = re.search(
            r"remove0|clean|from_elements|from_dense|square_diagonal|CS[RC]|v\d+\[[^\]]*x\d",
            step.text,
        )
        return bool(known) or bool(matrices) and self.static.issuperset(matrices) and not of_values

    def grow(self) -> None:
        self.take(self.text())


def random_case(seed: int) -> Case:
    g = _Generator(np.random.default_rng([seed, 78]))
    g.new_matrix()
    target_size, attempts = g.choice([2, 3, 4, 4, 5, 6, 8, 10]), 0
    while len(g.steps) < target_size and attempts < 40 * target_size:
        attempts += 1
        try:
            g.grow()
        except Rejected:
            pass
    made = [name for step in g.steps for name in step.names]
    read = {name for step in g.steps for name in step.reads}
    outputs = [name for name in made if name not in read]
    if g.chance(0.3):  # without conversion to SciPy's arrays
        for name in [name for name in outputs if name in g.stored]:
            dense = f"v{len(g.steps)}"
            g.steps.append(Step((dense,), f"{name}.todense()"))
            g.values[dense] = g.stored[name].value
            outputs[outputs.index(name)] = dense
    wrt = [
        each.name
        for each in g.inputs
        if each.value.dtype.kind in "fc" and each.value.size and not each.shared
    ]
    kinds = {name: value.dtype.kind for name, value in [*g.stored.items(), *g.values.items()]}
    last = next((name for name in reversed(outputs) if kinds[name] in "fc"), None)
    if g.chance(0.5) and g.wide and wrt and last:
        y = f"{last}.todense()" if last in g.stored else last
        cost = (
            f"pt.sum(pt.sqr({y}) + 2 * {y})"
            if kinds[last] == "f"
            else f"pt.sum(pt.sqr(pt.real({y})) - 2 * pt.real({y}) * pt.imag({y}))"
        )
        name = f"v{len(g.steps)}"
        g.steps.append(
            Step((name,), f"{GRADIENT}{cost}, {g.choice(wrt)}, disconnected_inputs='ignore')")
        )
        outputs.append(name)
    return Case(tuple(g.inputs), tuple(g.steps), tuple(outputs)).without_dead()


# ---- SciPy's arrays as arguments -------------------------------------------------------------------------------------

_matrix_of_inputs = re.compile(
    r"bt\.sparse\.(CSR|CSC)\((x\d+), (x\d+|np\.array\(.*?'\)), (x\d+|np\.array\(.*?'\)), \((\d+), (\d+)\)\)"
)


class OfSciPy(Configuration):
    """Matrices whose vectors are inputs of the graph are inputs themselves, and SciPy's arrays of any format are passed."""

    def __init__(self) -> None:
        super().__init__("SciPy's arrays", "")

    def results(self, case: Case, bt: Any) -> dict[str, Any]:
        given = {each.name: each for each in case.inputs}
        env = {each.name: symbolic_input(each, bt) for each in case.inputs}
        arguments = {each.name: each.value for each in case.inputs if not each.shared}
        inputs: dict[str, Any] = {name: env[name] for name in arguments}
        for step in case.steps:
            found = _matrix_of_inputs.fullmatch(step.text)
            parts = [name for name in step.reads if name in given]
            alone = all(
                sum(
                    part in other.reads
                    for other in case.steps
                    if not other.text.startswith(GRADIENT)
                )
                == 1
                for part in parts
            )
            if (
                not found
                or not alone
                or any(given[name].shared for name in parts)
                or len(parts) == 2
            ):
                define(step, evaluate_text(step.text, bt, env), env)
                continue
            kind, data, indices, indptr, rows, columns = found.groups()
            vectors = [
                eval(text, {"np": np, **{name: each.value for name, each in given.items()}})
                for text in (data, indices, indptr)
            ]
            value = getattr(scipy.sparse, f"{kind.lower()}_array")(
                tuple(vectors), shape=(int(rows), int(columns))
            )
            static = len(parts) == 1
            made = bt.sparse.matrix(
                kind.lower(),
                dtype=given[data].dtype,
                shape=None if static else value.shape,
                pattern=value if static else None,
                index_dtype="int64" if static else vectors[1].dtype,
            )
            name = step.names[0]
            env[name] = inputs[name] = made
            env.update(zip(parts, (made.data, made.indices, made.indptr)))
            for part in parts:
                del inputs[part], arguments[part]
            arguments[name] = value.asformat(["csr", "csc", "coo"][value.nnz % 3])
        function = bt.function(
            list(inputs.values()), [env[name] for name in case.outputs], on_unused_input="ignore"
        )
        return dict(zip(case.outputs, function(*arguments.values())))


def configurations_for(case: Case, seed: int) -> list[Configuration]:
    found = [
        each
        for each in complex_graphs.configurations_for(seed)
        if not isinstance(each, complex_graphs.ComplexExported)
    ]
    return [*found, OfSciPy()] if seed % 3 == 0 else found


def check(seed: int, bt: Any) -> tuple[Case, str] | None:
    """What is wrong with the graph of a seed: a smaller failing case, with the configuration and the difference."""
    case = random_case(seed)
    return complex_graphs.examined(case, configurations_for(case, seed), bt)
