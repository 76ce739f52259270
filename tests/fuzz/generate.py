"""The generator: each step draws a kind of expression and matching operands, guided by the values that the oracle
computes."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from oracle import language
from oracle.values import Val, arithmetic

from .case import (
    Case,
    Input,
    Step,
    evaluate_text,
    is_derivative,
    names_in,
    symbolic_input,
    values_of,
)
from .data import dtypes, layouts, random_values

MAX_ELEMENTS = 3000
small_lengths = [0, 1, 2, 3, 4, 5, 7]
long_lengths = [16, 33, 65, 130, 257]


class Rejected(Exception):
    """The drawn expression does not fit; another one is drawn."""


class Refused(Exception):
    """A finding: exactly one of library and oracle raises, or a type is wrong."""

    def __init__(self, case: Case, message: str):
        super().__init__(message)
        self.case, self.message = case, message


class Generator:
    """A growing graph. `kinds` are functions that take a Generator and return the text of one more expression."""

    def __init__(
        self,
        rng: np.random.Generator,
        bt: Any,
        kinds: list[tuple[float, Callable[[Generator], str]]],
    ):
        self.rng, self.bt, self.kinds = rng, bt, kinds
        self.weights = np.cumsum([weight for weight, _ in kinds])
        self.inputs: list[Input] = []
        self.steps: list[Step] = []
        self.variables: dict[str, Any] = {}
        self.values: dict[str, Val] = {}
        self.order: list[str] = []
        # Only a few distinct lengths per graph, so that shapes are compatible.
        self.lengths = [int(n) for n in rng.choice(small_lengths, 3)]
        if rng.random() < 0.3:
            self.lengths[0] = int(rng.choice(long_lengths))
        if rng.random() < 0.02:
            self.lengths = [int(rng.choice([1100, 4099]))]
        self.favourite = str(
            rng.choice(["float64", "float64", "float64", "float32", "float16", "int64", "any"])
        )

    # ---- drawing -----------------------------------------------------------------------------------------------------

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def below(self, n: int) -> int:
        return int(self.rng.integers(n))

    def between(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def choice(self, options: Any) -> Any:
        return options[self.below(len(options))]

    def dtype(self, kinds: str = "biuf") -> str:
        if (
            np.dtype("bool" if self.favourite == "any" else self.favourite).kind in kinds
            and self.favourite != "any"
        ):
            if self.chance(0.6):
                return self.favourite
        return self.choice([d for d in dtypes if np.dtype(d).kind in kinds])

    def shape(self, ndim: int | None = None) -> tuple[int, ...]:
        if ndim is None:
            ndim = self.choice([0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5])
        for _ in range(10):
            shape = tuple(
                int(self.choice(self.lengths)) if self.chance(0.8) else self.below(4)
                for _ in range(ndim)
            )
            if np.prod([max(n, 1) for n in shape], dtype=float) <= MAX_ELEMENTS / 2:
                return shape
        return tuple(min(n, 2) for n in shape)

    # ---- the pool ----------------------------------------------------------------------------------------------------

    def new_input(
        self, dtype: str | None = None, shape: tuple[int, ...] | None = None, value: Any = None
    ) -> str:
        free = value is None
        if free:
            value = random_values(
                self.rng, dtype or self.dtype(), self.shape() if shape is None else shape
            )
        value = np.ascontiguousarray(np.asarray(value, dtype)).reshape(np.shape(value))
        knows = self.choice([0.0, 0.5, 1.0])
        static = tuple(n if self.chance(0.7 if n == 1 else knows) else None for n in value.shape)
        shared = self.chance(0.1)
        layout = "plain" if shared else self.choice(layouts)
        if not shared and self.chance(0.06):  # the same array object as another input
            other = [
                each
                for each in self.inputs
                if each.value.dtype == value.dtype
                and each.value.shape == value.shape
                and not each.shared
            ]
            if other and free:
                value, layout = other[0].value, f"same:{other[0].name}"
        given = Input(f"x{len(self.inputs)}", value, static, layout, shared)
        self.inputs.append(given)
        self._enter(given.name, symbolic_input(given, self.bt), Val(value))
        return given.name

    def _enter(self, name: str, variable: Any, value: Val) -> None:
        self.variables[name], self.values[name] = variable, value
        self.order.append(name)

    def pick(
        self,
        ndim: int | None = None,
        kinds: str = "biuf",
        min_ndim: int = 0,
        nonempty: bool = False,
    ) -> str:
        """A variable of this rank (or of at least rank `min_ndim`) and one of these dtype kinds, recent ones with a higher
        probability."""
        fit = [
            name
            for name in self.order
            if self.values[name].dtype.kind in kinds
            and (ndim is None or self.values[name].ndim == ndim)
            and self.values[name].ndim >= min_ndim
            and (not nonempty or self.values[name].array.size)
        ]
        if not fit or self.chance(0.08):
            rank = ndim if ndim is not None else max(min_ndim, self.choice([0, 1, 1, 2, 2, 3]))
            shape = self.shape(rank)
            return self.new_input(
                self.dtype(kinds), tuple(max(n, 1) for n in shape) if nonempty else shape
            )
        if self.chance(0.5):
            return fit[-1 - self.below(min(3, len(fit)))]
        return self.choice(fit)

    def shape_of(self, name: str) -> tuple[int, ...]:
        return self.values[name].shape

    def fits(self, x: str, y: str) -> bool:
        """Whether two variables broadcast together: lengths are equal, or statically 1."""
        a, b = self.variables[x], self.variables[y]
        pairs = zip(
            reversed(list(zip(self.shape_of(x), a.type.shape))),
            reversed(list(zip(self.shape_of(y), b.type.shape))),
        )
        return all(n == m or s == 1 or t == 1 for (n, s), (m, t) in pairs)

    def partner(self, x: str, kinds: str = "biuf") -> str:
        """A variable that broadcasts with x, or a number."""
        if self.chance(0.12):
            return self.number(kinds)
        fit = [
            name
            for name in self.order
            if self.values[name].dtype.kind in kinds and self.fits(x, name)
        ]
        if fit and self.chance(0.75):
            return self.choice(fit)
        shape = self.shape_of(x)
        if shape and self.chance(0.4):
            shape = shape[self.below(len(shape) + 1) :]
        shape = tuple(1 if self.chance(0.1) else n for n in shape)
        name = self.new_input(self.dtype(kinds), shape)
        if not self.fits(x, name):
            raise Rejected
        return name

    def number(self, kinds: str = "biuf") -> str:
        if "f" in kinds and self.chance(0.5):
            return self.choice(["0.5", "2.0", "-1.0", "0.1", "0.0", "1.0", "1e-3", "3.7", "-0.0"])
        if "i" in kinds or "u" in kinds:
            return self.choice(["0", "1", "2", "-1", "3", "-2", "7", "100"])
        return self.choice(["np.True_", "np.False_"])

    def axis(self, x: str) -> int:
        ndim = self.values[x].ndim
        return self.between(-ndim, ndim - 1)

    def axes(self, x: str) -> str:
        """None, an axis, or a tuple of axes, as text."""
        ndim = self.values[x].ndim
        if ndim == 0 or self.chance(0.2):
            return "None"
        if self.chance(0.6):
            return str(self.axis(x))
        count = self.between(1, ndim)
        return str(
            tuple(
                int(a) - (ndim if self.chance(0.3) else 0)
                for a in sorted(self.rng.permutation(ndim)[:count])
            )
        )

    # ---- growth ------------------------------------------------------------------------------------------------------

    def case(
        self, outputs: tuple[str, ...] = (), updates: tuple[tuple[str, str], ...] = ()
    ) -> Case:
        return Case(tuple(self.inputs), tuple(self.steps), outputs, updates)

    def grow(self) -> None:
        """Adds one more step; raises Rejected if the drawn expression does not fit."""
        kind = self.kinds[
            int(np.searchsorted(self.weights, self.rng.random() * self.weights[-1], side="right"))
        ][1]
        self.add(kind(self))

    def add(self, text: str) -> tuple[str, ...]:
        """Evaluates an expression by library and oracle, and adds it to the graph."""
        try:
            value = self.evaluate(text)
        except (
            ValueError,
            IndexError,
            TypeError,
            AssertionError,
            MemoryError,
            ArithmeticError,
        ) as error:
            raise Rejected(f"{text}: {error}") from error
        several = isinstance(value, (tuple, list))
        values = list(value) if several else [value]
        if not all(isinstance(each, Val) for each in values) or any(
            each.array.size > MAX_ELEMENTS for each in values
        ):
            raise Rejected
        self._prefer_tame(text, values)
        names = tuple(f"v{len(self.variables) + i}" for i in range(len(values)))
        step = Step(names, text)
        try:
            built = evaluate_text(text, self.bt, self.variables)
        except Exception as error:
            raise Refused(
                Case(tuple(self.inputs), (*self.steps, step), names).without_dead(),
                f"building raises {type(error).__name__}: {error}",
            ) from error
        if not is_derivative(text):
            self._require_valid(built)
        self.steps.append(step)
        for name, variable, each in zip(names, built if several else [built], values):
            self._check_type(name, variable, each)
            self._enter(name, variable, each)
        return names

    def evaluate(self, text: str) -> Any:
        """The oracle's value of an expression."""
        with arithmetic():
            if is_derivative(text):
                built = evaluate_text(text, self.bt, self.variables)
                return values_of(
                    built,
                    {self.variables[each.name]: self.values[each.name] for each in self.inputs},
                )
            return evaluate_text(text, language.bt, self.values)

    def _require_valid(self, built: Any) -> None:
        """Rejects expressions that NumPy broadcasts and types forbid: lengths of 1 that are not statically known."""
        try:
            with arithmetic():
                values_of(built, {self.variables[name]: self.values[name] for name in self.order})
        except (ValueError, IndexError, AssertionError) as error:
            raise Rejected from error

    def _check_type(self, name: str, variable: Any, value: Val) -> None:
        wrong = None
        if variable.dtype != value.dtype.name:
            wrong = f"dtype {variable.dtype}, expected {value.dtype.name}"
        elif variable.ndim != value.ndim:
            wrong = f"{variable.ndim} dimensions, expected {value.ndim}"
        elif any(s is not None and s != n for s, n in zip(variable.type.shape, value.shape)):
            wrong = f"static shape {variable.type.shape}, expected {value.shape}"
        if wrong:
            raise Refused(self.case((name,)).without_dead(), f"type: {wrong}")

    def _prefer_tame(self, text: str, values: list[Val]) -> None:
        """Keeps most graphs to finite numbers of moderate size, since a nan masks the effect of all later steps."""
        for value in values:
            if value.dtype.kind != "f" or not value.array.size or self.chance(0.1):
                continue
            ordinary = np.isfinite(value.array) & (np.abs(value.array.astype("longdouble")) < 1e6)
            if ordinary.all():
                continue
            fresh = all(
                self.values[name].dtype.kind != "f" or (np.isfinite(self.values[name].array)).all()
                for name in names_in(text)
            )
            if fresh and (~ordinary).mean() > 0.3:
                raise Rejected


def random_case(
    seed: int,
    bt: Any,
    kinds: list[tuple[float, Callable[[Generator], str]]],
    size: int | None = None,
) -> Case:
    """The graph of a seed."""
    g = Generator(np.random.default_rng(seed), bt, kinds)
    g.new_input()
    target_size = size or g.choice([1, 2, 2, 3, 3, 4, 5, 6, 8, 12])
    attempts = 0
    while len(g.steps) < target_size and attempts < 30 * target_size:
        attempts += 1
        try:
            g.grow()
        except Rejected:
            pass
    return _with_outputs(g)


def _with_outputs(g: Generator) -> Case:
    read = {name for step in g.steps for name in step.reads}
    made = [name for step in g.steps for name in step.names]
    outputs = [name for name in made if name not in read] or made[-1:] or g.order[-1:]
    outputs += [name for name in made if name in read and g.chance(0.15)]
    if g.chance(0.05):
        outputs.append(g.choice(g.order))
    updates = []
    for given in g.inputs:
        if given.shared:
            kind = g.variables[given.name].type
            fit = [name for name in made if g.variables[name].type == kind]
            if fit:
                updates.append((given.name, g.choice(fit)))
    return g.case(tuple(outputs), tuple(updates)).without_dead()
