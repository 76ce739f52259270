"""Random graphs of complex numbers, compared with the same text evaluated by NumPy and SciPy, in the configurations of all other
graphs.

The tolerance comes from evaluations in which every step's result is perturbed by a few rounding errors, so that it is
wide for an ill-conditioned graph or one on a branch cut. Gradients of real costs are compared with finite differences.
"""

from __future__ import annotations

import dataclasses
import re
import types
from typing import Any, Callable

import numpy as np
import scipy.linalg
from oracle import sparse

from .case import Case, Input, Step, build, define, evaluate_text
from .data import layouts
from .exported import Exported
from .generate import Rejected
from .configurations import ALWAYS, OFTEN, RARELY, Configuration

GRADIENT = "bt.grad("
MOST = 1e4  # largest magnitude: a larger number would mask the effect of all later steps

# ---- the same functions in NumPy -------------------------------------------------------------------------------------


def _scan(
    step: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = (),
    n_steps: Any = None,
    **_: Any,
) -> Any:
    others = list(non_sequences) if isinstance(non_sequences, (list, tuple)) else [non_sequences]
    states, trace = outputs_info, []
    for t in range(len(sequences) if sequences is not None else n_steps):
        states = step(*([sequences[t]] if sequences is not None else []), states, *others)
        trace.append(states)
    return (
        np.array(trace)
        if trace
        else np.zeros((0, *np.shape(outputs_info)), np.asarray(outputs_info).dtype)
    )


def _put(target: Any, value: Any, add: bool) -> Any:
    whole, index = target
    out = np.array(whole)
    if add:
        np.add.at(out, index, np.broadcast_to(value, out[index].shape))  # as in oracle/arrays.py
    else:
        out[index] = value
    return out


_names = (
    "exp expm1 log log1p sqrt sin cos tan sinh cosh tanh arcsinh arctan conj real imag angle abs sum mean prod cumsum dot outer"
    " concatenate stack reshape transpose flip tile tril triu trace diff"
).split()
_linalg = types.SimpleNamespace(
    solve=lambda a, b, transposed=False, b_ndim=None: np.linalg.solve(a.T if transposed else a, b),
    solve_triangular=lambda a, b, lower=False, trans=0, unit_diagonal=False, b_ndim=None: scipy.linalg.solve_triangular(
        a, b, lower=lower, trans=trans, unit_diagonal=unit_diagonal),
    solve_sylvester=scipy.linalg.solve_sylvester, solve_continuous_lyapunov=scipy.linalg.solve_continuous_lyapunov,
    solve_discrete_lyapunov=lambda a, q: scipy.linalg.solve_discrete_lyapunov(a, q).astype(np.result_type(a, q)), cho_solve=scipy.linalg.cho_solve,
    lu_solve=scipy.linalg.lu_solve, lu_factor=scipy.linalg.lu_factor, matrix_power=np.linalg.matrix_power,
    inv=np.linalg.inv, det=np.linalg.det, slogdet=np.linalg.slogdet, expm=scipy.linalg.expm, pinv=np.linalg.pinv,
    cholesky=lambda a, lower=True: np.linalg.cholesky(a) if lower else np.linalg.cholesky(a).conj().T,
    eigvalsh=lambda a, lower=True: np.linalg.eigvalsh(a, "L" if lower else "U"), norm=np.linalg.norm,
    svd=lambda a, compute_uv: np.linalg.svd(a, compute_uv=compute_uv), qr=lambda a, mode: np.linalg.qr(a, mode="reduced"),
)  # fmt: skip
_pt = types.SimpleNamespace(
    **{name: getattr(np, name) for name in _names},
    sqr=np.square,
    switch=np.where,
    eq=np.equal,
    complex=lambda a, b: (
        a
        + np.asarray(1j * b).astype(
            "complex64" if np.result_type(a, b) == np.float32 else "complex128"
        )
    ),
    set_subtensor=lambda target, value: _put(target, value, False),
    inc_subtensor=lambda target, value: _put(target, value, True),
    linalg=_linalg,
)
_bt = types.SimpleNamespace(
    tensor=_pt,
    sparse=sparse,
    ifelse=lambda condition, a, b: a if condition else b,
    compile=types.SimpleNamespace(
        OpFromGraph=lambda inputs, outputs, inline: lambda *_: outputs[0]
    ),
    scan=_scan,
)


_of_index = re.compile(r"_subtensor\((\w+)\[(\w+)\], ")


def _value(text: str, env: dict[str, Any]) -> np.ndarray:
    text = _of_index.sub(r"_subtensor((\1, \2), ", text)
    with np.errstate(all="ignore"):
        out = evaluate_text(text, _bt, env)
    return out if isinstance(out, (sparse.Stored, tuple)) else np.asarray(out)


def _moved(value: Any, rng: np.random.Generator | None) -> Any:
    if isinstance(value, sparse.Stored):
        return sparse.Stored(_moved(value.value, rng), value.mask)
    if rng is None or value.dtype.kind not in "fc":
        return value
    eps = np.finfo(value.dtype).eps * 3
    noise = rng.uniform(-1, 1, value.shape) + (
        1j * rng.uniform(-1, 1, value.shape) if value.dtype.kind == "c" else 0
    )
    return (value + eps * np.abs(value) * noise).astype(value.dtype)


def evaluate(
    case: Case, rng: np.random.Generator | None = None, moved: dict[str, np.ndarray] | None = None
) -> dict[str, np.ndarray]:
    """Every name except gradients as an array."""
    env = {
        given.name: _moved((moved or {}).get(given.name, given.value), rng) for given in case.inputs
    }
    for step in case.steps:
        if not step.text.startswith(GRADIENT):
            define(step, _moved(_value(step.text, env), rng), env)
    return env


# ---- generation ------------------------------------------------------------------------------------------------------

unary = [
    "exp",
    "expm1",
    "log",
    "log1p",
    "sqrt",
    "sin",
    "cos",
    "tanh",
    "sinh",
    "cosh",
    "arcsinh",
    "arctan",
    "sqr",
    "conj",
]
to_real = ["abs", "real", "imag", "angle"]


class _Generator:
    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.wide = bool(rng.random() < 0.75)
        self.lengths = (
            [int(n) for n in rng.choice([1, 2, 3, 4], 2)]
            + ([33] if rng.random() < 0.1 else [])
            + ([0] if rng.random() < 0.1 else [])
        )
        self.inputs: list[Input] = []
        self.steps: list[Step] = []
        self.values: dict[str, np.ndarray] = {}

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def choice(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def new_input(self, kind: str = "c", shape: tuple[int, ...] | None = None) -> str:
        if shape is None:
            shape = tuple(self.choice(self.lengths) for _ in range(self.choice([0, 1, 1, 2, 2, 3])))
        value = self.rng.normal(size=shape)
        if self.chance(0.2):
            value = np.round(value * 2) / 2
        if kind == "c":
            value = value + 1j * (
                np.zeros(shape) if self.chance(0.1) else self.rng.normal(size=shape)
            )
        dtype = {
            "c": "complex128" if self.wide else "complex64",
            "f": "float64" if self.wide else "float32",
            "b": "bool",
        }[kind]
        value = np.asarray(value > 0 if kind == "b" else value, dtype)
        shared = self.chance(0.1)
        static = tuple(n if self.chance(0.4) and not shared else None for n in shape)
        layout = "plain" if shared else self.choice(layouts)
        given = Input(
            f"x{len(self.inputs)}",
            np.ascontiguousarray(value).reshape(shape),
            static,
            layout,
            shared,
        )
        self.inputs.append(given)
        self.values[given.name] = given.value
        return given.name

    def pick(
        self,
        kinds: str = "c",
        ndim: int | None = None,
        min_ndim: int = 0,
        shape: tuple[int, ...] | None = None,
        nonempty: bool = False,
    ) -> str:
        fit = [
            name
            for name, value in self.values.items()
            if value.dtype.kind in kinds
            and (ndim is None or value.ndim == ndim)
            and value.ndim >= min_ndim
            and (shape is None or value.shape == shape)
            and (not nonempty or value.size)
        ]
        if fit and not self.chance(0.1):
            return fit[-1] if self.chance(0.4) else self.choice(fit)
        if shape is None:
            count = ndim if ndim is not None else max(min_ndim, self.choice([0, 1, 2, 2]))
            shape = tuple(self.choice([n for n in self.lengths if n] or [2]) for _ in range(count))
        return self.new_input(kinds[0], shape)

    def partner(self, x: str) -> str:
        shape = self.values[x].shape
        if self.chance(0.15):
            return (
                self.choice(["2.0", "0.5", "1j", "(1 - 2j)", "3"])
                if self.wide
                else self.choice(["2.0", "3"])
            )
        return self.pick(self.choice(["c", "c", "f", "cf"]), shape=self.choice([shape, shape, ()]))

    def square(self, n: int | None = None) -> str:
        """The text of a regular matrix with elements of moderate size."""
        n = n or self.choice([1, 2, 3])
        x = self.pick(ndim=2, shape=(n, n))
        eye = "np.eye({0}, dtype='{1}')".format(n, "float64" if self.wide else "float32")
        return (
            f"(pt.tanh(0.3 * {x}) + {2 * n} * {eye})"
            if self.wide
            else f"(pt.tanh({x} / 4) + {2 * n} * {eye})"
        )

    def text(self) -> str:
        kind = self.choice(
            ["unary"] * 4
            + ["binary"] * 6
            + ["parts"] * 3
            + ["reduce"] * 3
            + ["move"] * 4
            + [
                "put",
                "join",
                "dot",
                "dot",
                "inner",
                "loop",
                "loop",
                "branch",
                "linalg",
                "linalg",
                "linalg",
            ]
        )
        return getattr(self, "_" + kind)()

    def _unary(self) -> str:
        x = self.pick()
        return f"-{x}" if self.chance(0.1) else f"pt.{self.choice(unary)}({x})"

    def _binary(self) -> str:
        x = self.pick()
        y = self.partner(x)
        if self.chance(0.5):
            x, y = y, x
        if self.chance(0.1):
            return f"{self.pick()} ** {self.choice([2, 3, -1])}"
        return f"{x} {self.choice('+-**/')} {y}"

    def _parts(self) -> str:
        if self.chance(0.5):
            return f"pt.{self.choice(to_real)}({self.pick()})"
        x = self.pick("f")
        return f"pt.complex({x}, {self.pick('f', shape=self.values[x].shape)})"

    def _reduce(self) -> str:
        x = self.pick("cf")
        ndim = self.values[x].ndim
        axis = "None" if not ndim or self.chance(0.3) else str(self.choice(range(-ndim, ndim)))
        name = self.choice(["sum", "sum", "mean", "prod"] if self.values[x].size else ["sum"])
        return (
            f"pt.{name}({x}, axis={axis})"
            if name != "prod" or self.values[x].dtype.kind == "f" or self.chance(0.4)
            else f"pt.sum({x}, axis={axis})"
        )

    def _move(self) -> str:
        x = self.pick(min_ndim=1)
        shape = self.values[x].shape
        forms = [
            f"{x}.T",
            f"{x}[::-1]",
            f"{x}[1:]",
            f"pt.flip({x}, axis=0)",
            f"pt.reshape({x}, (-1,))" if 0 not in shape else f"{x}.T",
            f"pt.cumsum({x}, axis={len(shape) - 1})",
            f"pt.stack([{x}, {x}])",
            f"pt.switch({self.pick('b', shape=shape)}, {x}, {self.partner(x)})",
        ]
        if shape[0]:
            forms += [
                f"{x}[0]",
                f"{x}[{int(self.rng.integers(-shape[0], shape[0]))}]",
                f"{x}[[{', '.join(str(int(i)) for i in self.rng.integers(0, shape[0], 3))}]]",
            ]
        if len(shape) == 2:
            forms += [f"pt.tril({x}, {self.choice([0, -1, 1])})", f"pt.triu({x})"]
        return self.choice(forms)

    def _put(self) -> str:
        x = self.pick(min_ndim=1, nonempty=True)
        y = self.pick(self.choice("cf"), shape=self.values[x].shape[1:])
        index = (
            self.pick("b", shape=self.values[x].shape[:1])
            if self.chance(0.3)
            else int(self.rng.integers(self.values[x].shape[0]))
        )
        return f"pt.{self.choice(['set', 'inc'])}_subtensor({x}[{index}], {y})"

    def _join(self) -> str:
        x = self.pick(min_ndim=1)
        return f"pt.concatenate([{x}, {self.pick(self.choice('cf'), shape=self.values[x].shape)}], axis=0)"

    def _dot(self) -> str:
        x = self.pick(min_ndim=1)
        shape = self.values[x].shape
        if len(shape) > 2:
            raise Rejected
        last = shape[-1]
        y = self.pick(
            self.choice("ccf"), shape=self.choice([(last,), (last, self.choice(self.lengths))])
        )
        return (
            f"pt.dot({x}, {y})"
            if not (len(shape) == 1 and self.chance(0.3))
            else f"pt.outer({x}, {x})"
        )

    def _inner(self) -> str:
        x = self.pick()
        form = self.choice(
            ["{x} * {x}", "pt.exp({x} * 0.5)", "pt.abs({x}) + {x}", "pt.sum({x} * 1)"]
        )
        return (
            f"bt.compile.OpFromGraph([{x}], [{form.format(x=x)}], inline={self.chance(0.5)})({x})"
        )

    def _loop(self) -> str:
        if self.chance(0.3):
            s = self.pick()
            step = self.choice(
                ["pt.tanh(s)", "s * 0.5", "pt.conj(s) / 2.0"]
                if self.wide
                else ["pt.tanh(s)", "pt.conj(s) / 2"]
            )
            return f"bt.scan(lambda s: {step}, outputs_info={s}, n_steps={int(self.rng.integers(0, 4))}, return_updates=False)"
        x = self.pick("cf", min_ndim=1)
        value = self.values[x]
        s = self.pick(shape=value.shape[1:])
        steps = [
            "pt.tanh(s + e)",
            "s * e",
            "pt.sin(s) - e",
            "pt.conj(s) + pt.abs(e)",
            "s + pt.exp(e * 0)",
        ]
        if value.ndim == 3 and value.shape[1] == value.shape[2]:
            steps.append("pt.tanh(pt.dot(s, e))")
        step = self.choice(steps)
        if self.chance(0.4):
            return f"bt.scan(lambda e, s, c: {step} + c, sequences={x}, outputs_info={s}, non_sequences={self.pick(shape=value.shape[1:])}, return_updates=False)"
        return (
            f"bt.scan(lambda e, s: {step}, sequences={x}, outputs_info={s}, return_updates=False)"
        )

    def _branch(self) -> str:
        x = self.pick()
        y = self.pick(shape=self.values[x].shape)
        if self.values[x].dtype != self.values[y].dtype:
            raise Rejected
        return f"bt.ifelse(pt.sum(pt.real({self.pick()})) > 0, {x}, {self.choice([y, f'{y} * 2'])})"

    def _linalg(self) -> str:
        a = self.square()
        n = int(a.split("np.eye(")[1].split(",")[0])
        hermitian = f"pt.dot({a}, pt.conj({a}).T)"
        b = self.pick(self.choice("ccf"), shape=self.choice([(n,), (n, 2)]))
        return self.choice([
            f"pt.linalg.solve({a}, {b}, transposed={self.chance(0.5)})" if self.values[b].ndim == 2 else f"pt.linalg.solve({a}, {b})",
            f"pt.linalg.solve_triangular({a}, {b}, lower={self.chance(0.5)}, trans={self.choice([0, 1, 2])}, unit_diagonal={self.chance(0.2)})",
            f"pt.linalg.solve_sylvester({a}, {self.square(n)}, {self.pick('c', shape=(n, n))})",
            f"pt.linalg.solve_continuous_lyapunov({a}, {self.pick(self.choice('ccf'), shape=(n, n))})",
            f"pt.linalg.solve_discrete_lyapunov({a}, {self.pick('c', shape=(n, n))})",
            f"pt.linalg.cho_solve((pt.linalg.cholesky({hermitian}), True), {b})", f"pt.linalg.lu_solve(pt.linalg.lu_factor({a}), {b})",
            f"pt.linalg.matrix_power({a}, {self.choice([-1, 0, 2, 3])})",
            f"pt.linalg.inv({a})", f"pt.linalg.det({a})", f"pt.linalg.slogdet({a})[{self.choice([0, 1])}]", f"pt.linalg.expm({a})",
            f"pt.linalg.cholesky({hermitian}, lower={self.chance(0.5)})", f"pt.linalg.eigvalsh({hermitian})", f"pt.linalg.pinv({a}[:1])",
            f"pt.linalg.norm({a})", f"pt.linalg.svd({a}, compute_uv=False)", f"pt.linalg.qr({a}, mode='reduced')[{self.choice([0, 1])}]",
        ])  # fmt: skip

    def grow(self) -> None:
        text = self.text()
        try:
            value = _value(text, self.values)
        except (ValueError, IndexError, TypeError, AssertionError, np.linalg.LinAlgError) as error:
            raise Rejected(text) from error
        if value.dtype.kind not in "cfb" or value.size > 2000 or not (np.abs(value) < MOST).all():
            raise Rejected
        name = f"v{len(self.steps)}"
        self.steps.append(Step((name,), text))
        self.values[name] = value


def random_case(seed: int) -> Case:
    g = _Generator(np.random.default_rng([seed, 77]))
    g.new_input()
    target_size, attempts = g.choice([1, 2, 3, 3, 4, 5, 6, 8]), 0
    while len(g.steps) < target_size and attempts < 40 * target_size:
        attempts += 1
        try:
            g.grow()
        except Rejected:
            pass
    made = [name for step in g.steps for name in step.names]
    read = {name for step in g.steps for name in step.reads}
    outputs = [name for name in made if name not in read] or ["x0"]
    updates = [
        (given.name, name)
        for given in g.inputs
        if given.shared
        for name in made[-1:]
        if g.values[name].dtype == given.value.dtype and g.values[name].shape == given.value.shape
    ]
    if g.chance(0.4) and made and g.wide:
        wrt = [
            each.name
            for each in g.inputs
            if each.value.dtype.kind in "fc" and each.value.size and not each.shared
        ]
        if wrt:
            cost = f"pt.sum(pt.sqr(pt.real({made[-1]})) - 2 * pt.real({made[-1]}) * pt.imag({made[-1]}))"
            name = f"v{len(g.steps)}"
            g.steps.append(
                Step((name,), f"{GRADIENT}{cost}, {g.choice(wrt)}, disconnected_inputs='ignore')")
            )
            outputs.append(name)
    return Case(tuple(g.inputs), tuple(g.steps), tuple(outputs), tuple(updates)).without_dead()


# ---- checks ----------------------------------------------------------------------------------------------------------


class ComplexExported(Exported):
    def expected(self, case: Case) -> Any:
        values = evaluate(case)
        shapes = {given.name: given.value for given in case.inputs}
        for step in case.steps:
            if step.text.startswith(GRADIENT):
                values[step.names[0]] = shapes[_wrt(step)]
        return values


def _wrt(step: Step) -> str:
    return step.text.split(", disconnected")[0].split(", ")[-1]


def _allowed(reference: np.ndarray, others: list[np.ndarray]) -> np.ndarray:
    eps = np.finfo(reference.dtype).eps
    spread = np.max([np.abs(each - reference) for each in others], axis=0) if others else 0
    scale = np.abs(reference).max(initial=0)
    return (
        60 * spread
        + 60 * eps * (np.abs(reference) + 0.1 * scale)
        + 10 * np.finfo(reference.dtype).tiny
    )


def _gradient_by_differences(case: Case, step: Step) -> tuple[np.ndarray, float] | None:
    """The gradient, and the difference between those of two step widths; None where the cost is not smooth."""
    # Which elements these store depends on values: one that is left out, as it is zero, passes no derivative on.
    if any(re.search(r"remove0|clean|from_dense", each.text) for each in case.steps):
        return None
    name, cost = (
        _wrt(step),
        step.text[len(GRADIENT) : step.text.index(", disconnected")].rsplit(", ", 1)[0],
    )
    start = next(given.value for given in case.inputs if given.name == name)
    if start.size > 40:
        return None
    found = []
    for width in (1e-5, 3e-6):
        out = np.zeros(start.shape, start.dtype)
        for at in np.ndindex(start.shape):
            for unit in (1, 1j) if start.dtype.kind == "c" else (1,):
                ends = []
                for sign in (1, -1):
                    there = start.copy()
                    there[at] += sign * width * unit
                    ends.append(float(_value(cost, evaluate(case, moved={name: there}))))
                middle = float(_value(cost, evaluate(case)))
                sides = (ends[0] - middle) / width, (middle - ends[1]) / width
                if not abs(sides[0] - sides[1]) <= 1e-2 * abs(sides[0]) + 1e-2:
                    return None  # a kink or a branch cut
                out[at] += unit * (ends[0] - ends[1]) / (2 * width)
        found.append(out)
    if not np.isfinite(found[0]).all() or not np.isfinite(found[1]).all():
        return None
    return found[1], float(np.abs(found[0] - found[1]).max(initial=0))


def configurations_for(seed: int) -> list[Configuration]:
    rng = np.random.default_rng(seed)
    configurations = [*ALWAYS, OFTEN[int(rng.integers(len(OFTEN)))]]
    if rng.random() < 0.1:
        rare = (
            [*RARELY, ComplexExported("object"), ComplexExported("c")]
            if Exported.is_possible()
            else RARELY
        )
        configurations.append(rare[int(rng.integers(len(rare)))])
    return configurations


def wrong(
    case: Case, bt: Any, configurations: list[Configuration]
) -> tuple[Configuration | None, str] | None:
    """The first configuration in which a result is wrong, and the difference; the configuration is None if the graph cannot be built."""
    try:
        build(case, bt)
    except Exception as error:
        return None, f"building raises {type(error).__name__}: {str(error).splitlines()[0]}"
    reference, noisy = evaluate(case), []
    for k in range(6):
        try:
            noisy.append(evaluate(case, np.random.default_rng(k)))
        except (ValueError, np.linalg.LinAlgError):
            pass
    gradients = {step.names[0]: step for step in case.steps if step.text.startswith(GRADIENT)}
    slopes = {name: _gradient_by_differences(case, step) for name, step in gradients.items()}
    for configuration in configurations:
        try:
            results = configuration.results(case, bt)
        except NotImplementedError as error:
            if isinstance(configuration, Exported):
                continue
            return configuration, f"raises NotImplementedError: {error}"
        except Exception as error:
            return (
                configuration,
                f"raises {type(error).__name__}: {str(error).strip().splitlines()[0]}",
            )
        for label, got in results.items():
            name = label.split(" ")[0]
            if name in gradients:
                slope = slopes[name]
                if slope is None:
                    continue
                expected, spread = slope
                if got.dtype != expected.dtype or got.shape != expected.shape:
                    return (
                        configuration,
                        f"{name}: {got.dtype} {got.shape}, expected {expected.dtype} {expected.shape}",
                    )
                scale = np.abs(expected).max(initial=0)
                if (
                    spread < 1e-4 * scale + 1e-7
                    and not (np.abs(got - expected) <= 20 * spread + 1e-4 * scale + 1e-6).all()
                ):
                    return (
                        configuration,
                        f"{name}: the gradient is wrong: {got!r}, by differences {expected!r}",
                    )
                continue
            expected = reference[name]
            if isinstance(expected, sparse.Stored):
                message = expected.difference(got)
                if message:
                    return configuration, f"{name}: {message}"
                got, expected = got.toarray(), expected.value
            if got.dtype != expected.dtype or got.shape != expected.shape:
                return (
                    configuration,
                    f"{name}: {got.dtype} {got.shape}, expected {expected.dtype} {expected.shape}",
                )
            if expected.dtype.kind not in "fc":
                continue  # boolean and integer results may flip with a rounding error
            others = [_dense(each[name]) for each in noisy if each[name].shape == expected.shape]
            if not (np.abs(got - expected) <= _allowed(expected, others)).all():
                return configuration, f"{name}: elements are wrong: {got!r}, expected {expected!r}"
    return None


def _dense(value: Any) -> np.ndarray:
    return value.value if isinstance(value, sparse.Stored) else value


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A case with fewer outputs, and steps replaced by their values, that still fails."""
    for output in case.outputs:
        smaller = dataclasses.replace(case, outputs=(output,), updates=()).without_dead()
        if fails(smaller):
            case = smaller
            break
    changed = True
    while changed:
        changed = False
        values = evaluate(case)
        for step in case.steps:
            name = step.names[0]
            if (
                step.text.startswith(GRADIENT)
                or name in case.outputs
                or not isinstance(values[name], np.ndarray)
            ):
                continue
            given = Input(
                "x" + name[1:] + "9",
                np.ascontiguousarray(values[name]).reshape(values[name].shape),
                (None,) * values[name].ndim,
            )
            steps = tuple(
                Step(other.names, _renamed(other.text, name, given.name))
                for other in case.steps
                if other is not step
            )
            smaller = dataclasses.replace(
                case, inputs=(*case.inputs, given), steps=steps
            ).without_dead()
            if len(smaller.steps) < len(case.steps) and fails(smaller):
                case, changed = smaller, True
                break
    return case


def _renamed(text: str, old: str, new: str) -> str:
    return re.sub(rf"\b{old}\b", new, text)


def check(seed: int, bt: Any) -> tuple[Case, str] | None:
    """What is wrong with the graph of a seed: a smaller failing case, with the configuration and the difference."""
    return examined(random_case(seed), configurations_for(seed), bt)


def examined(case: Case, configurations: list[Configuration], bt: Any) -> tuple[Case, str] | None:
    """What is wrong with a graph: a smaller failing case, with the configuration and the difference."""
    found = wrong(case, bt, configurations)
    if found is None:
        return None
    only = [found[0]] if found[0] else []
    kind = found[1].split(":")[:2][-1][:25]

    def fails(smaller: Case) -> bool:
        try:
            again = wrong(smaller, bt, only)
        except Exception:
            return False
        return again is not None and again[1].split(":")[:2][-1][:25] == kind

    small = shrunk(case, fails)
    again = wrong(small, bt, only) or found
    return small, f"{again[0].name if again[0] else 'building'}: {again[1]}"
