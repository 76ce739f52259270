"""Random cases of indexing, and the result that NumPy gives: values, or the class of the error.

A case is x[index], or x with x[index] set or incremented; a chain applies several cases in succession to an input or to
an expression of one. An index consists of integers, slices, new axes, an ellipsis, integer arrays and masks, each
constant or symbolic; static lengths are known, partly known or unknown. NumPy's result is the reference. An index that
contains a position more than once is assigned in row-major order, which NumPy leaves unspecified.
"""

import dataclasses

import numpy as np

import bitale as bt
import bitale.tensor as pt

LARGEST, LEAST = 2**63 - 1, -(2**63)
EXTREMES = [
    LARGEST,
    LARGEST - 1,
    LEAST,
    LEAST + 1,
    2**62,
    -(2**62),
    2**31,
    -(2**31),
    2**32,
    2**33 - 1,
]
LENGTHS = [0, 1, 2, 7, 33]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"]


@dataclasses.dataclass
class Item:
    """A part of an index: the value that NumPy gets and, if it is symbolic, the static shape of its type (None:
    constant)."""

    value: object
    type: tuple = None  # for symbolic integers and arrays
    symbolic: tuple = (False, False, False)  # for slices: which of start, stop and step


@dataclasses.dataclass
class Case:
    x: np.ndarray
    type: tuple
    items: list
    kind: str = "read"  # or "set", "inc"
    y: object = None
    y_type: tuple = None
    given: np.ndarray = (
        None  # in the first case of a chain: the value of the input from which x is computed
    )

    def __str__(self):
        index = ", ".join(
            f"{i.value!r}"
            + (f":{i.type}" if i.type is not None else "")
            + ("s" if any(i.symbolic) else "")
            for i in self.items
        )
        value = (
            f" y={np.shape(self.y)}:{self.y_type} {getattr(self.y, 'dtype', '')}"
            if self.kind != "read"
            else ""
        )
        return f"{self.kind} x{self.x.shape}:{self.type} {self.x.dtype} [{index}]{value}"


@dataclasses.dataclass
class Chain:
    """Cases that each take the result of the previous one as x; the x of the first case is that of a source."""

    source: str
    cases: list

    def __str__(self):
        return f"{self.source}: " + "; then ".join(map(str, self.cases))


# Sources of a chain: functions of an input, for NumPy and for Bitale.
SOURCES = {
    "x": (lambda x: x, lambda x: x),
    "x * 2 + 1": (lambda x: (x * 2 + 1).astype(x.dtype), lambda x: pt.cast(x * 2 + 1, x.dtype)),
    "x + x": (lambda x: x + x, lambda x: x + x),
    "transposed": (lambda x: x.T, lambda x: x.T),
    "joined": (lambda x: np.concatenate([x, x]), lambda x: pt.concatenate([x, x])),
    "stacked": (lambda x: np.stack([x, x]), lambda x: pt.stack([x, x])),
    "zeros": (np.zeros_like, pt.zeros_like),
    "repeated": (
        lambda x: np.broadcast_to(x, (3, *x.shape)),
        lambda x: pt.alloc(x, 3, *(x.shape[k] for k in range(x.ndim))),
    ),
    "new axis": (lambda x: x[:, None], lambda x: x[:, None]),
    "summed": (lambda x: x.sum(axis=0, dtype=x.dtype), lambda x: pt.sum(x, axis=0, dtype=x.dtype)),
}


# ---- NumPy ----------------------------------------------------------------------------------------------------------


def expected(case):
    """The result, or a tuple of permitted error classes."""
    index = tuple(item.value for item in case.items)
    try:
        part = case.x[index]
    except (IndexError, ValueError, OverflowError) as error:
        # If the value does not fit either, or a step is 0, the choice of the error that is reported is open.
        many = (
            case.kind != "read"
            and np.ndim(case.y)
            or any(getattr(i.value, "step", None) == 0 for i in case.items)
        )
        return (type(error), ValueError, TypeError) if many else (type(error),)
    if case.kind == "read":
        return part
    try:
        value = np.broadcast_to(case.y, part.shape)
    except ValueError:
        return (ValueError, TypeError)
    positions = np.arange(case.x.size).reshape(case.x.shape)[index].ravel()
    out = np.array(case.x, order="C")
    flat, value = out.reshape(-1), value.astype(out.dtype).ravel()
    if case.kind == "set":
        for index, v in zip(positions, value):
            flat[index] = v
    else:
        np.add.at(flat, positions, value)
    return out


def expected_of_chain(chain):
    for case in chain.cases:
        out = expected(case)
        if isinstance(out, tuple):
            break
    return out


# ---- Bitale ---------------------------------------------------------------------------------------------------------


def build(case, x=None, inputs=None, values=None):
    """Inputs, output, and values of the inputs. `x` replaces the case's own input."""
    inputs, values = inputs or [], values or []

    def given(value, type_):
        value = np.asarray(value)
        inputs.append(pt.tensor(dtype=value.dtype, shape=type_))
        values.append(value)
        return inputs[-1]

    x = given(case.x, case.type) if x is None else x
    index = []
    for item in case.items:
        value = item.value
        if isinstance(value, slice):
            numbers = (value.start, value.stop, value.step)
            value = slice(
                *(
                    given(np.int64(n), ()) if s and n is not None else n
                    for n, s in zip(numbers, item.symbolic)
                )
            )
        elif item.type is not None:
            value = given(value, item.type)
        index.append(value)
    out = x[tuple(index)]
    if case.kind != "read":
        y = case.y if case.y_type is None else given(case.y, case.y_type)
        out = out.set(y) if case.kind == "set" else out.inc(y)
    return inputs, out, values


def build_chain(chain):
    first = chain.cases[0]
    x = pt.tensor(dtype=first.x.dtype, shape=first.type)
    inputs, out, values = [x], SOURCES[chain.source][1](x), [first.given]
    for case in chain.cases:
        inputs, out, values = build(case, out, inputs, values)
    return inputs, out, values


def computed(case, mode):
    """The result, or the exception."""
    try:
        inputs, out, values = build_chain(case) if isinstance(case, Chain) else build(case)
        return bt.function(inputs, out, mode=mode, on_unused_input="ignore")(*values)
    except (IndexError, ValueError, TypeError, OverflowError) as error:
        return error


def is_stricter(case):
    """Whether NumPy accepts an index that Bitale rejects: out-of-range positions that are unused because another array
    of the index is empty, and masks of length 0, which match any dimension."""
    if isinstance(case, Chain):
        return any(map(is_stricter, case.cases))
    values = [item.value for item in case.items if isinstance(item.value, np.ndarray)]
    return any(v.size == 0 or v.dtype == bool and not v.any() for v in values)


def difference(case, mode):
    """A description of the mismatch, or None."""
    reference = expected_of_chain(case) if isinstance(case, Chain) else expected(case)
    got = computed(case, mode)
    if isinstance(reference, tuple):
        if isinstance(got, reference):
            return None
        return f"expected {reference[0].__name__}, got {got!r}"
    if isinstance(got, IndexError) and is_stricter(case):
        return None
    if isinstance(got, Exception):
        return (
            f"expected {np.array2string(reference, threshold=20)}, got {type(got).__name__}: {got}"
        )
    if (
        np.shape(got) != reference.shape
        or np.asarray(got).dtype != reference.dtype
        or not np.array_equal(got, reference, equal_nan=True)
    ):
        return f"expected {reference.shape} {np.array2string(reference, threshold=20)}, got {np.shape(got)} {got!r}"
    return None


# ---- cases ----------------------------------------------------------------------------------------------------------


class Generator:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def chance(self, p):
        return self.random.random() < p

    def pick(self, choices, p=None):
        return choices[self.random.choice(len(choices), p=p)]

    def integers(self, low, high, shape=None):
        return self.random.integers(low, high, shape)

    def static(self, shape):
        """A static shape: all, some or none of the lengths are known."""
        known = self.pick([0.0, 0.5, 1.0])
        return tuple(int(n) if self.chance(known) else None for n in shape)

    def number(self, n):
        """A bound of a slice of n elements."""
        choice = self.random.random()
        if choice < 0.15:
            return self.pick(EXTREMES)
        if choice < 0.3:
            return self.pick([n, -n, n + 1, -n - 1, n - 1, 1 - n])
        return int(self.integers(-n - 3, n + 4))

    def slice(self, n):
        start, stop = (None if self.chance(0.35) else self.number(n) for _ in range(2))
        step = None if self.chance(0.4) else self.number(min(n, 4))
        if step == 0 and not self.chance(0.1):
            step = -1
        symbolic = tuple(self.chance(0.3) for _ in range(3))
        return Item(slice(start, stop, step), symbolic=symbolic)

    def index_array(self, n, shape):
        """Integers that mostly index n elements without being out of range."""
        if self.chance(0.06):
            values = self.integers(-n - 2, n + 3, shape)
        elif n == 0:
            return np.zeros([0 for _ in shape] if not self.chance(0.2) else shape, "int64")
        else:
            values = self.integers(-n, n, shape)
            if shape and self.chance(0.3):  # evenly spaced
                first, step = self.integers(0, n), self.integers(-2, 3)
                values = np.broadcast_to(first + step * np.arange(shape[-1]), shape)
                if not self.chance(0.2):
                    values = np.clip(values, -n, n - 1)
        dtype = self.pick(INTEGERS)
        if dtype.startswith("u"):
            values = np.where(values < 0, values + n, values) if n else np.abs(values)
            values = np.maximum(values, 0)
        return values.astype(dtype)

    def array(self, n, shape):
        value = self.index_array(n, shape)
        return Item(value, type=self.static(value.shape) if self.chance(0.5) else None)

    def mask(self, shape):
        if self.chance(0.05) and shape:
            shape = list(shape)
            k = self.integers(0, len(shape))
            shape[k] = self.pick([1, shape[k] + 1, max(shape[k] - 1, 0)])
        value = np.asarray(self.random.random(tuple(shape)) < self.pick([0.0, 0.1, 0.5, 1.0]))
        if value.size and self.chance(0.2):  # a single True
            value = np.zeros(value.shape, bool)
            value.flat[self.integers(0, value.size)] = True
        return Item(value, type=self.static(value.shape) if self.chance(0.5) else None)

    def items(self, shape):
        index_shape = tuple(
            self.pick([0, 1, 2, 3, 7], [0.05, 0.2, 0.35, 0.3, 0.1])
            for _ in range(self.pick([0, 1, 1, 2]))
        )
        style = self.pick(["basic", "arrays", "mixed", "masks"])
        out, axis, ellipsis = [], 0, False
        count = self.integers(0, len(shape) + 1) if not self.chance(0.02) else len(shape) + 1
        while axis < count:
            n = shape[axis] if axis < len(shape) else 3
            if self.chance(0.08):
                out.append(Item(None))
                continue
            if not ellipsis and self.chance(0.08):
                ellipsis = True
                out.append(Item(Ellipsis))
                axis += self.integers(0, count - axis + 1)
                continue
            kinds = {"basic": "sssiii", "arrays": "aaaas", "mixed": "aaassiim", "masks": "mmmsi"}[
                style
            ]
            kind = self.pick(list(kinds))
            if kind == "s":
                out.append(self.slice(n))
            elif kind == "i":
                good = n > 0 and not self.chance(0.06)
                value = int(self.integers(-n, n)) if good else self.pick([n, -n - 1, *EXTREMES])
                if self.chance(0.5):
                    dtype = self.pick(["int64", "int32", "int8"]) if abs(value) < 100 else "int64"
                    out.append(Item(np.asarray(value, dtype)[()], type=()))
                else:
                    out.append(Item(value))
            elif kind == "a":
                cut = self.integers(0, len(index_shape) + 1) if self.chance(0.3) else 0
                own = tuple(1 if self.chance(0.25) else k for k in index_shape[cut:])
                if self.chance(0.03):
                    own = tuple(k + 1 for k in own)
                out.append(self.array(n, own))
            else:
                covered = self.pick([1, 1, 1, 2, 0])
                covered = min(covered, len(shape) - axis) if axis < len(shape) else 1
                out.append(self.mask(shape[axis : axis + covered]))
                axis += covered
                continue
            axis += 1
        return out

    def case(self):
        while True:
            rank = self.pick([0, 1, 2, 3, 4], [0.05, 0.35, 0.35, 0.2, 0.05])
            lengths = LENGTHS if rank < 3 else LENGTHS[:4]
            shape = tuple(
                self.pick(
                    lengths, [0.08, 0.22, 0.2, 0.4, 0.1][: len(lengths)] if rank < 3 else None
                )
                for _ in range(rank)
            )
            dtype = self.pick(
                ["float64", "float32", "int64", "bool", "int8"], [0.6, 0.1, 0.1, 0.1, 0.1]
            )
            x = (
                self.integers(-9, 10, shape).astype(dtype)
                if dtype == "bool"
                else self.values(shape, dtype)
            )
            case = Case(x, self.static(shape), self.items(shape), self.pick(["read", "set", "inc"]))
            if sum(isinstance(i.value, type(Ellipsis)) for i in case.items) <= 1:
                break
        if case.kind != "read":
            self.add_value(case)
        return case

    def chain(self):
        while True:
            case = self.case()
            source = self.pick(list(SOURCES))
            case.given = case.x
            case.type = self.static(case.x.shape)
            if (
                case.x.dtype == bool
                or source in ("transposed", "joined", "new axis", "summed")
                and case.x.ndim == 0
            ):
                continue
            x = SOURCES[source][0](case.x)
            if x.ndim <= 5:
                break
        cases = []
        for _ in range(self.pick([1, 2, 3])):
            items = self.items(x.shape)
            if sum(item.value is Ellipsis for item in items) > 1:
                break
            step = Case(x, None, items, self.pick(["read", "read", "set", "inc"]))
            step.given = case.given
            if step.kind != "read":
                self.add_value(step)
            cases.append(step)
            x = expected(step)
            if isinstance(x, tuple) or x.ndim > 5:
                break
        if not cases:
            return self.chain()
        cases[0].type = case.type
        return Chain(source, cases)

    def values(self, shape, dtype):
        count = int(np.prod(shape, dtype=int))
        return (np.arange(count) % 121 + 1).reshape(shape).astype(dtype)

    def add_value(self, case):
        try:
            region = case.x[tuple(item.value for item in case.items)].shape
        except (IndexError, ValueError, OverflowError):
            region = (2,)
        shape = region[self.integers(0, len(region) + 1) if self.chance(0.4) else 0 :]
        shape = tuple(1 if self.chance(0.2) else n for n in shape)
        if self.chance(0.05) and shape:
            shape = tuple(n + 1 for n in shape)
        case.y = np.asarray(-self.values(shape, "float64")).astype(case.x.dtype)
        case.y_type = self.static(shape) if self.chance(0.7) else None
