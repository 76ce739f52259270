"""What a function of bitale.tensor does with shapes, dtypes and derivatives, and what it is compiled to: found by calling it
with arguments that fit, differentiating the result and compiling it. tools/api_doc.py makes a page of it."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from api.arguments import required

import bitale as bt
import bitale.tensor as pt
from bitale import _core

_words = {0: "scalar", 1: "vector", 2: "matrix"}
_arities = dict(_core.elementwise_functions())
_names = {id(getattr(pt, name)): name for name in _arities}  # other names are the same object
_called = set(getattr(_core, "elementwise_calls", list)())


@dataclasses.dataclass
class Facts:
    """One row: texts, empty where nothing is known."""

    shapes: str = ""
    dtypes: str = ""
    gradient: str = ""
    compiled: str = ""


def _tensor(dtype: str, ndim: int) -> Any:
    return pt.TensorType(dtype, (None,) * ndim)()


@dataclasses.dataclass
class _Leaf:
    """Stands for a tensor of this rank among the arguments: of integers, or of the dtype that is tried."""

    ndim: int
    is_index: bool = False


_matrix, _vector, _scalar, _indices = _Leaf(2), _Leaf(1), _Leaf(0), _Leaf(1, True)
_tensors: list[Any] = [_matrix, _vector, _scalar, _indices]
_integers = [_Leaf(2, True)]


# Values to call functions with, by the names of arguments; matrices, vectors and numbers for all others.
_by_name: dict[str, list[Any]] = {
    "axis": [0], "axis1": [0], "axis2": [1], "shape": [(2, 3), 3], "dtype": ["float64"], "n": [3], "M": [3, _matrix], "N": [3], "num": [3],
    "new_order": [(1, 0)], "indices": ["lvector", "lmatrix"], "ndim": [2], "pattern": [(1, 0)], "subscripts": ["ij->ji"],
    "shape_padding": [1], "pad_width": [1], "kth": [1], "repeats": [2], "reps": [2], "splits_size": [[1, 2]], "n_splits": [2],
    "width": [3], "q": [0.5], "multi_index": [("lvector", "lvector")], "dims": [(2, 3)], "mode": ["constant"],
}  # fmt: skip


def _choices(name: str, parameter: Any) -> list[Any]:
    if name in _by_name:
        known = {"lvector": _indices, "lmatrix": _Leaf(2, True)}
        return [
            known[each] if isinstance(each, str) and each in known else each
            for each in _by_name[name]
        ]
    if parameter == "*":
        return [(), (_matrix, _matrix), (_vector, _vector), (_matrix,), (_scalar, _scalar)]
    if name in ("tensors", "tensor_list", "arrays", "args", "operands", "xs"):
        return [[_matrix, _matrix], [_vector, _vector], [_scalar]]
    return [*_tensors, 2, [_matrix, _matrix], *_integers]


def _parameters(function: Any) -> list[tuple[str, str]] | None:
    """The arguments that have to be given, and "*" for those that take any number."""
    found = required(function)
    return (
        None
        if found is None
        else [(each.lstrip("*"), "*" if each[0] == "*" else "") for each in found]
    )


def _filled(argument: Any, dtype: str, leaves: list[Any]) -> Any:
    if isinstance(argument, _Leaf):
        leaves.append(_tensor("int64" if argument.is_index else dtype, argument.ndim))
        return leaves[-1]
    if isinstance(argument, (list, tuple)) and any(isinstance(each, _Leaf) for each in argument):
        return type(argument)(_filled(each, dtype, leaves) for each in argument)
    return argument


def _outputs(result: Any) -> list[Any]:
    found = list(result) if isinstance(result, (list, tuple)) else [result]
    if not found or not all(isinstance(each, _core.TensorVariable) for each in found):
        raise TypeError("no variables")
    return found


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _call(
    function: Any, arguments: list[Any], kinds: list[str], dtype: str
) -> tuple[list[Any], list[Any]]:
    leaves: list[Any] = []
    given: list[Any] = []
    for argument, kind in zip(arguments, kinds):
        made = _filled(argument, dtype, leaves)
        given.extend(made) if kind == "*" else given.append(made)
    return _outputs(function(*given)), leaves


def _fitting(function: Any) -> tuple[list[Any], list[str]] | None:
    """Arguments of which the function makes variables that depend on one of them, if any can be found."""
    parameters = _parameters(function)
    if parameters is None or len(parameters) > 4:
        return None
    kinds = [kind for _, kind in parameters]
    second_best = None
    for arguments in itertools.islice(
        itertools.product(*(_choices(*each) for each in parameters)), 400
    ):
        try:
            outputs, leaves = _call(function, list(arguments), kinds, "float64")
            if leaves and not set(_core.graph_inputs(outputs)) & set(leaves):
                continue
        except Exception:  # arguments that do not fit are refused with various exceptions
            continue
        if leaves:
            return list(arguments), kinds
        second_best = second_best or (list(arguments), kinds)
    return second_best


def _rank(variable: Any) -> str:
    return _words.get(variable.ndim, f"tensor{variable.ndim}")


def _dtypes(function: Any, arguments: list[Any], kinds: list[str]) -> str:
    results: dict[str, str] = {}
    for dtype in ("bool", "int64", "float32", "float64"):
        try:
            outputs, leaves = _call(function, arguments, kinds, dtype)
        except Exception:
            continue
        results[dtype] = ", ".join(dict.fromkeys(each.dtype for each in outputs))
    if not leaves_of(arguments):
        return next(iter(results.values()), "")
    if len(set(results.values())) == 1 and len(results) > 1:
        return f"→ {next(iter(results.values()))}"
    kept = [dtype for dtype, out in results.items() if out == dtype]
    others: dict[str, list[str]] = {}
    for dtype, out in results.items():
        if out != dtype:
            others.setdefault(out, []).append(dtype)
    texts = [f"{', '.join(given)} → {out}" for out, given in others.items()]
    if kept:
        texts.append("kept" if len(kept) == 4 else f"{', '.join(kept)} kept")
    return "; ".join(texts)


def leaves_of(arguments: Any) -> list[_Leaf]:
    if isinstance(arguments, _Leaf):
        return [arguments]
    return (
        [leaf for each in arguments for leaf in leaves_of(each)]
        if isinstance(arguments, (list, tuple))
        else []
    )


def _gradient(outputs: list[Any], leaves: list[Any]) -> str:
    floats = [each for each in leaves if np.dtype(each.dtype).kind == "f"]
    results = [each for each in outputs if np.dtype(each.dtype).kind == "f"]
    if not floats:
        return ""
    if not results:
        return "none"
    answers = []
    cost = sum((each.sum() for each in results[1:]), results[0].sum())
    for leaf in floats:
        try:
            found = bt.grad(cost, leaf)
            answers.append("zero" if _is_zero(found) else "yes")
        except bt.DisconnectedInputError:
            answers.append("none")
        except bt.NullTypeGradError:
            answers.append("undefined")
        except NotImplementedError:
            answers.append("missing")
    return answers[0] if len(set(answers)) == 1 else ", ".join(answers)


def _is_zero(found: Any) -> bool:
    simple = bt.rewrite.rewrite_graph(found)
    while (
        simple.owner is not None
        and simple.owner.inputs
        and simple.owner.op.name in ("Alloc", "ExpandDims", "DimShuffle", "Second")
    ):
        simple = simple.owner.inputs[0]
    return isinstance(simple, _core.Constant) and not np.any(simple.data)


def _compiled(name: str, outputs: list[Any], leaves: list[Any]) -> str:
    if name in _called:
        return "fused, a runtime call for each element"
    program = bt.function(leaves, outputs, on_unused_input="ignore").dprint("program", file="str")
    if "host callback" in program or "host call" in program:
        return "callback"
    called = sorted(set(re.findall(r"call (bt_[a-z]+[a-z0-9_]*?)(?:_[a-z]*\d*)?\(", program)))
    return "runtime call" if called else "fused"


def facts(name: str, function: Any) -> Facts:
    """The row of a function."""
    name = _names.get(id(function), name)
    with _quietly():
        fitting = _fitting(function)
        if fitting is None:
            return Facts()
        arguments, kinds = fitting
        outputs, leaves = _call(function, arguments, kinds, "float64")
        out = Facts(dtypes=_dtypes(function, arguments, kinds))
        if name in _arities:
            out.shapes = "broadcast"
        elif leaves:
            out.shapes = f"{', '.join(map(_rank, leaves))} → {', '.join(map(_rank, outputs))}"
        else:
            out.shapes = f"→ {', '.join(map(_rank, outputs))}"
        out.gradient = _gradient(outputs, leaves)
        try:
            out.compiled = _compiled(name, outputs, leaves)
        except Exception as error:  # functions that can't be compiled without more arguments
            out.compiled = f"not here: {type(error).__name__}"
        return out


def errors(value: Any) -> str:
    """The errors that the documentation names."""
    return ", ".join(
        dict.fromkeys(re.findall(r"\b(?:[A-Z]\w*Error)\b", inspect.getdoc(value) or ""))
    )
