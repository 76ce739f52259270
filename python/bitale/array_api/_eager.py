"""Arrays that have a value. A function of the namespace is written for symbolic variables; called with an Array, it is applied to
an input of its dtype and rank once, compiled, and kept."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar, cast

import numpy as np

import bitale as bt
import bitale.tensor as pt

Device = str
_compiled: dict[Any, tuple[Any, Any]] = {}


_namespaces: list[Any] = []


def register_namespace(namespace: Any) -> None:
    """Say which module has the functions that methods and operators of arrays call: bitale.array_api, when it is complete.

    Parameters
    ----------
    namespace : module
        The module.
    """
    _namespaces[:] = [namespace]


def _namespace() -> Any:
    return _namespaces[0]


class Array:
    """A value with the standard's operators. Made by asarray and the other functions of the namespace, not by its class."""

    __slots__ = ("_value",)
    _value: np.ndarray[Any, Any]
    __array_priority__ = 2000

    def __new__(cls, *args: Any, **kwargs: Any) -> Array:
        raise TypeError(
            "an Array is made by bitale.array_api.asarray and the other functions of the namespace"
        )

    @classmethod
    def _of(cls, value: Any) -> Array:
        self = object.__new__(cls)
        self._value = np.asarray(value)
        return self

    # ---- attributes

    @property
    def dtype(self) -> np.dtype[Any]:
        out: np.dtype[Any] = self._value.dtype
        return out

    @property
    def device(self) -> Device:
        return "cpu"

    @property
    def ndim(self) -> int:
        return self._value.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._value.shape)

    @property
    def size(self) -> int:
        return self._value.size

    @property
    def T(self) -> Array:
        if self.ndim != 2:
            raise ValueError(
                f"x.T is of matrices, got {self.ndim} dimensions: permute_dims, or mT for stacks of matrices"
            )
        return Array._of(self._value.T)

    @property
    def mT(self) -> Array:
        out: Array = _namespace().matrix_transpose(self)
        return out

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError(
                f"expected a version of the standard up to 2025.12, got {api_version!r}"
            )
        return _namespace()

    def to_device(self, device: Device, /, *, stream: Any = None) -> Array:
        if stream is not None or device != "cpu":
            raise ValueError(f'expected the device "cpu" and no stream, got {device!r}, {stream!r}')
        return self

    # ---- conversions

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._value, dtype=dtype, copy=copy)

    def __dlpack__(self, **keywords: Any) -> Any:
        # A copy, because an Array never changes.
        return self._value.copy().__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._value.__dlpack_device__()

    def __bool__(self) -> bool:
        return bool(self._scalar("bool"))

    def __int__(self) -> int:
        if self.dtype.kind == "c":
            raise TypeError("a complex number is not an int")
        return int(self._scalar("int"))

    def __float__(self) -> float:
        if self.dtype.kind == "c":
            raise TypeError("a complex number is not a float")
        return float(self._scalar("float"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError(f"expected an integer, got dtype {self.dtype}")
        return int(self._scalar("int"))

    def _scalar(self, what: str) -> Any:
        if self.ndim != 0:
            raise TypeError(f"only an array of 0 dimensions is a {what}, got {self.ndim}")
        return self._value[()]

    def __repr__(self) -> str:
        text = np.array2string(self._value, separator=", ", prefix="Array(")
        return f"Array({text}, dtype={self.dtype})"

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __hash__(self) -> int:
        raise TypeError("an Array can't be hashed: == compares its elements")

    # ---- elements

    def __getitem__(self, key: Any) -> Array:
        plain = _map(lambda each: each._value if isinstance(each, Array) else each, key)
        if not _holds_arrays(plain) or _is_empty_mask(plain):
            return Array._of(self._value[plain])
        out: Array = evaluate(lambda x, indices: x[indices], (self, key), {}, name="__getitem__")
        return out

    def __setitem__(self, key: Any, value: Any) -> None:
        plain = _map(lambda each: each._value if isinstance(each, Array) else each, key)
        changed = self._value.copy()
        changed[plain] = (
            value._value
            if isinstance(value, Array)
            else _namespace()._as_operand(value, self.dtype)._value
        )
        self._value = changed


def _holds_arrays(key: Any) -> bool:
    return any(isinstance(each, np.ndarray) for each in (key if isinstance(key, tuple) else (key,)))


def _is_empty_mask(key: Any) -> bool:
    """Whether it is a mask without elements, which selects nothing, along dimensions of any length."""
    return isinstance(key, np.ndarray) and key.dtype == bool and key.ndim > 0 and key.size == 0


def _map(function: Callable[[Any], Any], value: Any) -> Any:
    """Of a value, or of the elements of lists, tuples and slices."""
    if isinstance(value, tuple):
        return tuple(_map(function, each) for each in value)
    if isinstance(value, list):
        return [_map(function, each) for each in value]
    if isinstance(value, slice):
        return slice(*(_map(function, each) for each in (value.start, value.stop, value.step)))
    return function(value)


def is_eager(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(is_eager, value))
    return isinstance(value, Array)


def evaluate(
    function: Callable[..., Any], args: Any, keywords: Any, *, name: str, needs_shape: bool = False
) -> Any:
    """The function of the Arrays among the arguments, computed by a compiled function of symbolic inputs."""
    values: list[np.ndarray[Any, Any]] = []
    kinds: list[Any] = []

    def leaf(value: Any) -> Any:
        if isinstance(value, Array):
            values.append(value._value)
            shape = (
                value.shape if needs_shape else tuple(1 if n == 1 else None for n in value.shape)
            )
            kinds.append((value.dtype.str, shape))
            return _Operand(len(values) - 1)
        return value

    args, keywords = (
        _map(leaf, tuple(args)),
        {key: _map(leaf, value) for key, value in keywords.items()},
    )
    # The text of arguments tells 1, 1.0 and True apart, which are equal.
    key = (name, tuple(kinds), repr(args), repr(sorted(keywords.items())))
    found = _compiled.get(key)
    if found is None:
        inputs = [
            pt.TensorType(dtype, shape)()
            for dtype, shape in ((np.dtype(each), shape) for each, shape in kinds)
        ]
        filled = lambda value: inputs[value.number] if isinstance(value, _Operand) else value  # noqa: E731
        result = function(
            *_map(filled, args), **{key: _map(filled, value) for key, value in keywords.items()}
        )
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        compiled = bt.function(
            inputs,
            [pt.as_tensor_variable(each) for each in outputs],
            mode="FAST_COMPILE",
            on_unused_input="ignore",
        )
        rebuild = type(result) if isinstance(result, (tuple, list)) else None
        found = _compiled[key] = compiled, rebuild
    compiled, rebuild = found
    arrays = [Array._of(each) for each in compiled(*values)]
    if rebuild is None:
        return arrays[0]
    return rebuild(*arrays) if hasattr(rebuild, "_fields") else rebuild(arrays)


class _Operand:
    """Stands for an Array among the arguments of a function that is compiled."""

    def __init__(self, number: int):
        self.number = number

    def __repr__(self) -> str:
        return f"<{self.number}>"


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _taking_arrays(function: _Function, needs_shape: bool) -> _Function:
    name = f"{function.__module__}.{function.__name__}"

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        if any(map(is_eager, args)) or any(map(is_eager, keywords.values())):
            return evaluate(function, args, keywords, name=name, needs_shape=needs_shape)
        return function(*args, **keywords)

    return cast(_Function, call)


def standard(function: _Function) -> _Function:
    """Make a function of symbolic variables one that takes Arrays as well."""
    return _taking_arrays(function, needs_shape=False)


def named(function: Callable[..., Any], name: str, doc: str) -> Any:
    """Do the same for one of several functions that are made alike."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return standard(function)


def standard_by_shape(function: _Function) -> _Function:
    """Do the same for a function that needs the lengths of its arguments, not only their ranks."""
    return _taking_arrays(function, needs_shape=True)


# ---- operators -------------------------------------------------------------------------------------------------------

_operators = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder", "pow": "pow",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
    "matmul": "matmul",
}  # fmt: skip
_comparisons = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


def _bind_operators() -> None:
    def binary(name: str, is_reflected: bool) -> Any:
        def method(self: Array, other: Any) -> Any:
            if not isinstance(other, (Array, bool, int, float, complex)):
                return NotImplemented
            xp = _namespace()
            return (
                getattr(xp, name)(other, self) if is_reflected else getattr(xp, name)(self, other)
            )

        return method

    def in_place(name: str) -> Any:
        def method(self: Array, other: Any) -> Any:
            out = binary(name, False)(self, other)
            if out is NotImplemented:
                return out
            if out.dtype != self.dtype or out.shape != self.shape:
                raise TypeError(
                    f"{name}: the result {out.dtype}{list(out.shape)} does not fit into {self.dtype}{list(self.shape)}"
                )
            self._value = out._value
            return self

        return method

    def unary(name: str) -> Any:
        def method(self: Array) -> Any:
            return getattr(_namespace(), name)(self)

        return method

    for short, name in _operators.items():
        setattr(Array, f"__{short}__", binary(name, False))
        setattr(Array, f"__r{short}__", binary(name, True))
        setattr(Array, f"__i{short}__", in_place(name))
    for short, name in _comparisons.items():
        setattr(Array, f"__{short}__", binary(name, False))
    for short, name in {
        "neg": "negative",
        "pos": "positive",
        "abs": "abs",
        "invert": "bitwise_invert",
    }.items():
        setattr(Array, f"__{short}__", unary(name))


_bind_operators()
