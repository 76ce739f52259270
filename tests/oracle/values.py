"""Values of the oracle: an array and its nominal dtype, computed in one of three ways.

- native: in the nominal dtype, as NumPy computes.
- wide: floats in long double, whose rounding errors are 2048 times smaller and which overflows at 1e4932.
- noisy: native, with every inexact result perturbed at random within its function's error budget (Monte Carlo
  arithmetic).

The differences between these measure the conditioning of an expression at its arguments, and identify the elements at
which a discontinuous function may return either of two results (see fuzz.compare).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from typing import Any, Callable, Iterator

import numpy as np

Wide = np.longdouble


@dataclasses.dataclass
class Arithmetic:
    wide: bool = False
    noise: np.random.Generator | None = None


_current = Arithmetic()


@contextlib.contextmanager
def arithmetic(wide: bool = False, noise: np.random.Generator | None = None) -> Iterator[None]:
    """A context in which expressions are evaluated in this way."""
    global _current
    before, _current = _current, Arithmetic(wide, noise)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _current = before


def is_wide() -> bool:
    return _current.wide


def working_dtype(dtype: Any) -> np.dtype:
    """The dtype in which values of a nominal dtype are computed."""
    dtype = np.dtype(dtype)
    return np.dtype(Wide) if _current.wide and dtype.kind == "f" else dtype


class Val:
    """An array and its nominal dtype, with the operators of a symbolic variable."""

    __slots__ = ("array", "dtype", "_indexing")
    __array_ufunc__ = None

    def __init__(self, array: Any, dtype: Any = None):
        array = np.asarray(array)
        self.dtype = np.dtype(dtype if dtype is not None else array.dtype)
        work = working_dtype(self.dtype)
        self.array = array if array.dtype == work else array.astype(work)
        self._indexing: Any = None

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def __repr__(self) -> str:
        return f"Val({self.array!r}, {self.dtype})"


def val(x: Any) -> Val:
    if isinstance(x, Val):
        return x
    if isinstance(x, (list, tuple)) and any(isinstance(each, Val) for each in x):
        from . import functions

        return functions.stack(list(x))
    if isinstance(x, bool):
        return Val(np.asarray(x))
    if isinstance(
        x, int
    ):  # the narrowest integer dtype that holds it, as for the library's constants
        for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint64):
            if np.iinfo(dtype).min <= x <= np.iinfo(dtype).max:
                return Val(np.asarray(x, dtype))
    if isinstance(x, float):  # float32 where that is exact, as for the library's constants
        narrow = np.float32(x)
        return Val(narrow if x != x or float(narrow) == x else np.float64(x))
    return Val(x)


def noised(
    array: np.ndarray, ulps: float, dtype: np.dtype, absolute: bool = False, whole: bool = False
) -> np.ndarray:
    """The array perturbed by up to this many ulps of the nominal dtype: of each element (zeros get a random sign), or
    of the largest element if `whole`."""
    rng = _current.noise
    if rng is None or ulps == 0 or array.dtype.kind != "f" or array.size == 0:
        return array
    info = np.finfo(dtype)
    step = rng.uniform(-1, 1, array.shape) * ulps
    if whole:
        largest = np.abs(array[np.isfinite(array)]).max(initial=0)
        return np.where(
            np.isfinite(array), array + (largest * info.eps * step).astype(array.dtype), array
        ).astype(array.dtype)
    scale = np.copysign(np.maximum(np.abs(array), 1), array) if absolute else array
    moved = array + (scale * info.eps * step).astype(array.dtype)
    tiny = np.abs(array) < info.tiny
    if tiny.any():
        moved = np.where(
            tiny,
            array + np.rint(step).astype(array.dtype) * info.smallest_subnormal * (array != 0),
            moved,
        )
        moved = np.where(array == 0, np.where(step < 0, -array, array), moved)
    return np.where(np.isfinite(array), moved, array).astype(array.dtype)


def in_any_order(array: np.ndarray, axis: int) -> np.ndarray:
    """The array itself, or shuffled along the axis in a noisy evaluation."""
    if _current.noise is None:
        return array
    return np.take(array, _current.noise.permutation(array.shape[axis]), axis=axis)


# The error budgets of each function in ulps: forward error of the result, and backward error of the arguments.
budgets: dict[str, tuple[float, float]] = {}


_nested: list[Any] = []  # the formulas that are being evaluated, the outermost first


def is_outermost() -> bool:
    """Whether the formula that is being evaluated was not called by another one."""
    return len(_nested) == 1


def formula(
    ulps: float = 0, backward: float = 0, absolute: bool = False, whole: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a formula of a function of Vals that returns a Val or a list of them.

    ulps: the budget for the error of the result, 0 for exact functions. backward: the budget for the backward error, an
    equivalent perturbation of the arguments: sums, matrix products and functions composed of them are accurate only in
    this sense. absolute: the error of results below 1 is that of 1. whole: the error of every element is that of the
    largest element, as in matrix algorithms.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        budgets[function.__name__] = (ulps, backward)

        @functools.wraps(function)
        def evaluate(*args: Any, **named: Any) -> Any:
            if backward and _current.noise is not None:
                args = tuple(_perturbed(arg, backward) for arg in args)
            _nested.append(function)
            try:
                out = function(*args, **named)
            finally:
                _nested.pop()
            if not ulps or _current.noise is None:
                return out
            if isinstance(out, (list, tuple)):
                return type(out)(_perturbed(each, ulps, absolute, whole) for each in out)
            return _perturbed(out, ulps, absolute, whole)

        return evaluate

    return decorate


def _perturbed(x: Any, ulps: float, absolute: bool = False, whole: bool = False) -> Any:
    if isinstance(x, Val) and x.dtype.kind == "f":
        return Val(noised(x.array, ulps, x.dtype, absolute, whole), x.dtype)
    return x
