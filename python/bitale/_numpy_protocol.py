"""NumPy's functions on symbolic variables: the function of bitale.tensor that has the same meaning, or a TypeError.

NumPy asks the variable (`__array_ufunc__`, NEP 13, and `__array_function__`, NEP 18) before it computes anything. Without
an answer it would take the variable for a scalar object, and compute wrong numbers from that."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Callable

import numpy as np

from bitale import _core

_value_is_needed = "compute the value first, with bitale.function or eval()"


def array(self: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """What np.asarray gives: the value of a constant."""
    if isinstance(self, _core.TensorConstant):
        value = self.data
        return (
            value.astype(dtype) if copy or (dtype is not None and dtype != value.dtype) else value
        )
    if isinstance(self, _core.TensorSharedVariable):
        raise TypeError(f"the shared variable {self!r} is symbolic: its value is get_value()")
    raise TypeError(
        f"the symbolic variable {self!r} has no value yet, so it can't become a NumPy array: {_value_is_needed}. "
        "A tensor of variables is pt.stack([x, y]); functions of SciPy that ask for arrays have counterparts in "
        "bitale.tensor, such as pt.linalg.cholesky, and in bitale.stats"
    )


# ---- elementwise functions -------------------------------------------------------------------------------------------

# NumPy's names of ufuncs that have another name in bitale.tensor.
_names = {
    "remainder": "mod",
    "absolute": "abs",
    "fabs": "abs",
    "rint": "round",
    "degrees": "rad2deg",
    "radians": "deg2rad",
}
_reductions = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_accumulations = {"add": "cumsum", "multiply": "cumprod"}


def _elementwise(ufunc: Any) -> Callable[..., Any] | None:
    """The function of bitale.tensor with a ufunc's meaning. Only those of NumPy and scipy.special are known by name."""
    import bitale.tensor as pt

    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        if name == "positive":
            return pt.as_tensor_variable
        name = _names.get(name, name)
    elif getattr(sys.modules.get("scipy.special"), name, None) is ufunc:
        return getattr(pt, name, None) or getattr(pt.special, name, None)
    else:
        return None
    return getattr(pt, name, None) if name else None


def _refuse_keywords(call: str, keywords: dict[str, Any]) -> None:
    for name, value in keywords.items():
        if value is not None and not (name == "where" and value is True):
            raise TypeError(f"{call} of a symbolic variable doesn't take {name}=")


def _symbolic(inputs: tuple[Any, ...]) -> str:
    return repr(next((x for x in inputs if isinstance(x, _core.Variable)), "a variable"))


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """What an elementwise function of NumPy or SciPy gives when an argument is symbolic."""
    import bitale.tensor as pt

    call = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    if keywords.get("out") is not None:
        raise TypeError(
            f"{call}: the result is symbolic, it can't be written into a NumPy array (out= or an in-place operator)"
        )
    function = _elementwise(ufunc)
    known = ufunc if getattr(np, ufunc.__name__, None) is ufunc else None
    if method == "__call__" and function is not None:
        _refuse_keywords(call, keywords)
        return function(*inputs)
    if method == "outer" and function is not None and len(inputs) == 2:
        _refuse_keywords(call, keywords)
        left, right = (pt.as_tensor_variable(x) for x in inputs)
        return function(
            left.reshape((*left.shape, *[1] * right.ndim), ndim=left.ndim + right.ndim), right
        )
    if method == "reduce" and known and ufunc.__name__ in _reductions:
        axis, keepdims = keywords.pop("axis", 0), keywords.pop("keepdims", False)
        _refuse_keywords(call, keywords)
        return getattr(pt, _reductions[ufunc.__name__])(inputs[0], axis=axis, keepdims=keepdims)
    if method == "accumulate" and known and ufunc.__name__ in _accumulations:
        axis = keywords.pop("axis", 0)
        _refuse_keywords(call, keywords)
        return getattr(pt, _accumulations[ufunc.__name__])(inputs[0], axis=axis)
    raise TypeError(
        f"{call} has no symbolic counterpart, and {_symbolic(inputs)} has no value yet: {_value_is_needed}"
    )


# ---- other functions -------------------------------------------------------------------------------------------------

_NAMESPACES = {"numpy": "", "numpy.linalg": "linalg", "numpy.fft": "fft"}
_about_variables: dict[str, Callable[[Any], Any]] = {
    "ndim": lambda a: a.ndim,
    "size": lambda a: a.size,
    "shape": lambda a: a.shape,
    "iscomplexobj": lambda x: x.dtype.startswith("complex"),
    "isrealobj": lambda x: not x.dtype.startswith("complex"),
    "copy": lambda a: a.copy(),
}
# NumPy's names of functions that have another name in bitale.tensor, and the number of arguments that are passed by
# position, since their names differ.
_other_names = {"ravel": "flatten"}
_by_position = {"where": 3, "clip": 3}


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """numpy.split: positions, or a number of equal parts, where the namesake takes the parts' lengths."""
    import bitale.tensor as pt

    x = pt.as_tensor_variable(ary)
    if isinstance(indices_or_sections, (list, tuple)) or np.ndim(indices_or_sections) > 0:
        bounds = [None, *indices_or_sections, None]
        at = (slice(None),) * (axis % x.ndim)
        return [x[(*at, slice(*pair))] for pair in zip(bounds, bounds[1:])]
    if not isinstance(indices_or_sections, (int, np.integer)):
        raise TypeError("numpy.split: the number of parts must be an integer that is known")
    count = int(indices_or_sections)
    if count < 1 or (x.type.shape[axis] or 0) % count:
        raise ValueError(f"numpy.split: {x!r} can't be divided into {count} equal parts")
    return pt.split(x, [x.shape[axis] // count] * count, n_splits=count, axis=axis)


def _atleast_3d(*arrays: Any) -> Any:
    """numpy.atleast_3d, which adds dimensions on both sides of a vector, and behind a matrix."""
    import bitale.tensor as pt

    given = [pt.as_tensor_variable(x) for x in arrays]
    wide = [
        x if x.ndim > 2 else x[..., None] if x.ndim == 2 else x.reshape((1, -1, 1)) for x in given
    ]
    return wide[0] if len(wide) == 1 else tuple(wide)


def _full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """numpy.full_like, whose dtype is that of the array, not that of the value."""
    import bitale.tensor as pt

    if shape is not None:
        raise TypeError("numpy.full_like of a symbolic variable doesn't take shape=")
    x = pt.as_tensor_variable(a)
    return pt.full_like(x, fill_value, dtype=dtype or x.dtype)


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    raise TypeError(
        f"numpy.fill_diagonal changes an array in place, and {a!r} is symbolic: bitale.tensor.fill_diagonal returns "
        "the changed matrix"
    )


# NumPy's functions whose namesakes in bitale.tensor, which follow PyTensor, mean something else.
_other_meanings: dict[str, Callable[..., Any]] = {
    "numpy.split": _split,
    "numpy.atleast_3d": _atleast_3d,
    "numpy.full_like": _full_like,
    "numpy.fill_diagonal": _fill_diagonal,
}

# Those that the array-API standard has as NumPy does.
_of_the_standard = {"linalg.trace", "linalg.diagonal", "fft.rfft", "fft.irfft"}


def _counterpart(func: Any) -> Callable[..., Any] | None:
    import bitale.tensor as pt

    namespace = _NAMESPACES.get(getattr(func, "__module__", ""))
    if namespace is None:
        return None
    if (other := _other_meanings.get(f"{func.__module__}.{func.__name__}")) is not None:
        return other
    if f"{namespace}.{func.__name__}" in _of_the_standard:
        standard = import_module(f"bitale.array_api.{namespace}")
        return getattr(standard, func.__name__)  # type: ignore[no-any-return]
    name = _other_names.get(func.__name__, func.__name__)
    return getattr(getattr(pt, namespace, None) if namespace else pt, name, None)


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # a C function without a signature
        return {}


def _as_bound(
    func: Any, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """NumPy's arguments for its counterpart: required ones by position, the others by keyword and only where they are not
    the default, `out` never. NumPy's default is passed where the counterpart has another."""
    parameters = _parameters(func)
    if not parameters:
        return args, keywords
    bound = inspect.signature(func).bind(*args, **keywords)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for position, (name, value) in enumerate(bound.arguments.items()):
        parameter = parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(value)
        elif parameter.default is parameter.empty or position < _by_position.get(func.__name__, 0):
            positional.append(value)
        elif value is not parameter.default and value is not np._NoValue:
            named[name] = value
    for name, own in _parameters(function).items():
        if name not in parameters:
            continue
        parameter = parameters[name]
        if parameter.default in (parameter.empty, np._NoValue, None):
            continue
        is_left_out = own.default is None or own.default is own.empty  # no other default
        if not is_left_out and own.default != parameter.default:
            if len(positional) <= list(parameters).index(name):
                named.setdefault(name, parameter.default)
    return tuple(positional), named


def array_function(
    self: Any, func: Any, types: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """What another function of NumPy gives when an argument is symbolic, or has a symbolic element."""
    name = f"{func.__module__}.{func.__name__}"
    function = _counterpart(func)
    args, keywords = _as_bound(func, function, args, keywords)
    if keywords.get("out") is not None:
        raise TypeError(
            f"{name}: the result is symbolic, it can't be written into a NumPy array (out=)"
        )
    if (
        func.__name__ in _about_variables
        and func.__module__ == "numpy"
        and not keywords
        and len(args) == 1
    ):
        return _about_variables[func.__name__](args[0])
    if function is None:
        raise TypeError(
            f"{name} has no symbolic counterpart, and {self!r} has no value yet: {_value_is_needed}"
        )
    return function(*args, **keywords)
