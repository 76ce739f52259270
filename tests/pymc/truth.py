"""Values of PyTensor graphs in 60 digits, by mpmath: the reference where Bitale's and PyTensor's values differ.

Floats are arrays of mpf; other values are NumPy arrays. Constants have the values stored in the graph, and float32
variables are rounded to float32.
"""

from __future__ import annotations

from typing import Any, Sequence

import mpmath
import numpy as np
import pytensor.scalar as ps
import pytensor.tensor.math as ptm
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import graph_replace
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.scan.op import Scan
from pytensor.tensor.basic import (
    ARange,
    Alloc,
    AllocDiag,
    AllocEmpty,
    Join,
    MakeVector,
    ScalarFromTensor,
    Split,
    TensorFromScalar,
)
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.extra_ops import CumOp

from bitale.pytensor.op_imports import Cholesky, SolveTriangular

mp = mpmath.MPContext()
mp.dps = 60
inf, nan = mp.inf, mp.nan


def _log(x: Any) -> Any:
    return -inf if x == 0 else nan if x < 0 else mp.log(x)


def _pow(x: Any, y: Any) -> Any:
    if x == 0 and y < 0:
        return inf
    if x < 0 and y != mp.floor(y):
        return nan
    return mp.power(x, y)


def _divide(x: Any, y: Any) -> Any:
    x = mp.mpf(x)
    return (nan if x == 0 or mp.isnan(x) else inf * mp.sign(x)) if y == 0 else x / y


def _erfc(x: Any) -> Any:
    return (mp.mpf(0) if x > 0 else mp.mpf(2)) if abs(x) > 1e6 else mp.erfc(x)


def _erfcx(x: Any) -> Any:
    return 1 / (x * mp.sqrt(mp.pi)) if x > 1e35 else mp.exp(x * x) * mp.erfc(x)


def _digamma(x: Any) -> Any:
    return nan if x <= 0 and x == mp.floor(x) else mp.digamma(x)


def _reduced(operator: Any) -> Any:
    def of(*values: Any) -> Any:
        out = values[0]
        for value in values[1:]:
            out = operator(out, value)
        return out

    return of


def _both(x: Any, y: Any) -> Any:
    return (x and y) if isinstance(x, (bool, np.bool_)) else x & y


FUNCTIONS = {
    ps.Add: _reduced(lambda a, b: a + b), ps.Mul: _reduced(lambda a, b: a * b), ps.Sub: lambda a, b: a - b, ps.TrueDiv: _divide, ps.Neg: lambda a: -a,
    ps.Pow: _pow, ps.Sqr: lambda a: a * a, ps.Sqrt: lambda a: nan if a < 0 else mp.sqrt(a), ps.Log: _log, ps.Exp: mp.exp, ps.Expm1: mp.expm1,
    ps.Log1p: lambda a: _log(1 + a), ps.Log1mexp: lambda a: _log(-mp.expm1(a)), ps.Abs: abs, ps.Sign: mp.sign, ps.Reciprocal: lambda a: _divide(1, a),
    ps.Sin: mp.sin, ps.Cos: mp.cos, ps.Second: lambda a, b: b, ps.Identity: lambda a: a, ps.Switch: lambda c, a, b: a if c else b,
    ps.Clip: lambda a, low, high: low if a < low else high if a > high else a, ps.Sigmoid: lambda a: 1 / (1 + mp.exp(-a)), ps.Softplus: lambda a: mp.log1p(mp.exp(a)),
    ps.GammaLn: lambda a: inf if a <= 0 and a == mp.floor(a) else mp.re(mp.loggamma(a)), ps.Psi: _digamma, ps.Erf: mp.erf, ps.Erfc: _erfc, ps.Erfcx: _erfcx,
    ps.GT: lambda a, b: a > b, ps.GE: lambda a, b: a >= b, ps.LT: lambda a, b: a < b, ps.LE: lambda a, b: a <= b, ps.EQ: lambda a, b: a == b,
    ps.NEQ: lambda a, b: a != b, ps.IsNan: mp.isnan, ps.IsInf: mp.isinf, ps.Maximum: lambda a, b: nan if mp.isnan(a) or mp.isnan(b) else max(a, b),
    ps.Minimum: lambda a, b: nan if mp.isnan(a) or mp.isnan(b) else min(a, b), ps.AND: _reduced(_both),
}  # fmt: skip


def exact(value: Any) -> Any:
    """Floats converted exactly to mpf."""
    value = np.asarray(value)
    return (
        np.asarray(np.frompyfunc(mp.mpf, 1, 1)(value.astype(float).astype(object)), dtype=object)
        if value.dtype.kind == "f"
        else value
    )


def _elemwise(op: Any, node: Any, inputs: Sequence[Any]) -> list[Any]:
    function = _scalar(op.scalar_op)
    made = np.frompyfunc(function, len(inputs), 1)(*(np.asarray(x, dtype=object) for x in inputs))
    return [_of_dtype(made, node.outputs[0].type.dtype)]


def _scalar(op: Any) -> Any:
    if isinstance(op, ps.Cast):
        return lambda a: a
    if type(op) in FUNCTIONS:
        return FUNCTIONS[type(op)]
    return lambda *arguments: op.impl(*arguments)


def _of_dtype(made: Any, dtype: str) -> Any:
    made = np.asarray(made)
    if dtype == "float64":
        return np.asarray(np.frompyfunc(mp.mpf, 1, 1)(made), dtype=object)
    if dtype.startswith("float"):  # the graph rounds to a narrower dtype
        return exact(made.astype(float).astype(dtype))
    return np.asarray(made).astype(dtype)


_REDUCTIONS = {
    ptm.Sum: np.add,
    ptm.Prod: np.multiply,
    ptm.Max: np.maximum,
    ptm.Min: np.minimum,
    ptm.All: np.logical_and,
    ptm.Any: np.logical_or,
}


def _reduction(op: Any, node: Any, inputs: Sequence[Any]) -> list[Any]:
    (x,) = inputs
    axes = tuple(range(x.ndim)) if op.axis is None else tuple(op.axis)
    made = x
    for axis in sorted(axes, reverse=True):
        made = _REDUCTIONS[type(op)].reduce(made, axis=axis)
    return [_of_dtype(made, node.outputs[0].type.dtype)]


def _cholesky(x: Any, lower: bool) -> Any:
    n = len(x)
    out = np.full((n, n), mp.mpf(0), dtype=object)
    for i in range(n):
        for j in range(i + 1):
            rest = x[i, j] - sum((out[i, k] * out[j, k] for k in range(j)), mp.mpf(0))
            if i == j:
                if not rest > 0:
                    return np.full((n, n), nan, dtype=object)
                out[i, i] = mp.sqrt(rest)
            else:
                out[i, j] = rest / out[j, j]
    return out if lower else out.T


def _solve_triangular(op: Any, a: Any, b: Any) -> Any:
    n, out = len(a), np.array(b, dtype=object)
    for i in range(n) if op.lower else reversed(range(n)):
        for k in range(i) if op.lower else range(i + 1, n):
            out[i] = out[i] - a[i, k] * out[k]
        if not op.unit_diagonal:
            out[i] = out[i] / a[i, i]
    return out


def _core(op: Any, inputs: Sequence[Any]) -> Any:
    if isinstance(op, Cholesky):
        return _cholesky(inputs[0], op.lower)
    if isinstance(op, SolveTriangular):
        return _solve_triangular(op, *inputs)
    if isinstance(op, ptm.Dot):
        return np.asarray(np.dot(*inputs))
    if isinstance(op, AllocDiag):
        return _diagonal(op, inputs[0])
    if isinstance(op, ARange):
        return np.arange(*(int(x) for x in inputs)).astype(op.dtype)
    if type(op).__name__ == "Eigvalsh":
        return np.array(
            mp.eigsy(mp.matrix(inputs[0].tolist()), eigvals_only=True).T.tolist()[0], dtype=object
        )
    raise NotImplementedError(f"in exact numbers: {op}")


def _blockwise(op: Any, node: Any, inputs: Sequence[Any]) -> list[Any]:
    core_ndims = [len(signature) for signature in op.inputs_sig]
    batch = np.broadcast_shapes(*(x.shape[: x.ndim - n] for x, n in zip(inputs, core_ndims)))
    spread = [np.broadcast_to(x, batch + x.shape[x.ndim - n :]) for x, n in zip(inputs, core_ndims)]
    made = {at: _core(op.core_op, [x[at] for x in spread]) for at in np.ndindex(batch)}
    one = next(iter(made.values()))
    out = np.empty(batch + one.shape, dtype=object)
    for at, value in made.items():
        out[at] = value
    return [out]


def _step(node: Any, inputs: list[Any]) -> list[Any]:
    op = node.op
    if isinstance(op, Elemwise):
        return _elemwise(op, node, inputs)
    if isinstance(op, CAReduce):
        return _reduction(op, node, inputs)
    if isinstance(op, Blockwise):
        return _blockwise(op, node, inputs)
    if isinstance(op, (ptm.Dot, Cholesky, SolveTriangular)):
        return [np.asarray(_core(op, inputs))]
    if isinstance(op, OpFromGraph):
        return evaluate(op.fgraph.outputs, dict(zip(op.fgraph.inputs, inputs)))
    if isinstance(op, (CheckAndRaise, ScalarFromTensor, TensorFromScalar)):
        return [inputs[0]]
    if isinstance(op, Alloc):
        return [np.array(np.broadcast_to(inputs[0], [int(n) for n in inputs[1:]]))]
    if isinstance(op, AllocEmpty):
        return [np.full([int(n) for n in inputs], mp.mpf(0), dtype=object)]
    if isinstance(op, AllocDiag):
        return [_diagonal(op, inputs[0])]
    if isinstance(op, MakeVector):
        return [
            np.array(
                [x.item() if isinstance(x, np.ndarray) else x for x in inputs],
                dtype=object if op.dtype.startswith("float") else op.dtype,
            )
        ]
    if isinstance(op, Join):
        axis, parts = (op.axis, inputs) if hasattr(op, "axis") else (int(inputs[0]), inputs[1:])
        return [np.concatenate(parts, axis=axis)]
    if isinstance(op, Split):
        axis = op.axis if hasattr(op, "axis") else int(inputs[1])
        return list(np.split(inputs[0], np.cumsum(inputs[-1])[:-1], axis=axis))
    if isinstance(op, CumOp):
        return [{"add": np.cumsum, "mul": np.cumprod}[op.mode](inputs[0], axis=op.axis)]
    if type(op).__name__ == "LogSumExp":
        return [_logsumexp(inputs[0], op.axis)]
    if type(op).__name__ == "Softmax":
        powers = _elementwise(mp.exp, inputs[0])
        return [powers / powers.sum(axis=op.axis, keepdims=True)]
    storage: list[list[Any]] = [[None] for _ in node.outputs]
    if isinstance(op, Scan):
        raise NotImplementedError("in exact numbers: Scan")
    op.perform(node, inputs, storage)
    return [cell[0] for cell in storage]


def _elementwise(function: Any, x: Any) -> Any:
    return np.asarray(np.frompyfunc(function, 1, 1)(x), dtype=object)


def _logsumexp(x: Any, axis: Any) -> Any:
    axes = axis if axis is None or isinstance(axis, int) else tuple(axis)
    return _elementwise(_log, np.asarray(np.sum(_elementwise(mp.exp, x), axis=axes), dtype=object))


def _diagonal(op: Any, x: Any) -> Any:
    assert x.ndim == 1
    size = len(x) + abs(op.offset)
    out = np.full((size, size), mp.mpf(0), dtype=object)
    for i, value in enumerate(x):
        out[i + max(0, -op.offset), i + max(0, op.offset)] = value
    return out


def evaluate(outputs: Sequence[Variable], given: dict[Variable, Any]) -> list[Any]:
    """The values of these variables for exact values of the inputs. Raises NotImplementedError or TypeError for ops
    without a rule."""
    values = dict(given)

    def value(x: Variable) -> Any:
        if x in values:
            return values[x]
        if isinstance(x, Constant):
            return exact(x.data) if hasattr(x.type, "dtype") else x.data
        return exact(x.get_value())

    for node in toposort(outputs, blockers=list(given)):
        for variable, found in zip(node.outputs, _step(node, [value(x) for x in node.inputs])):
            values[variable] = found
    return [value(x) for x in outputs]


def density(outputs: Sequence[Variable], given: dict[Variable, Any]) -> list[Any]:
    """The values of a log density and of the other outputs. If 60 digits do not suffice for log(1 - p), evaluates the
    graph in which PyTensor has replaced such expressions by stable equivalents."""
    found = evaluate(outputs, given)
    if all(mp.isfinite(x) for x in np.ravel(found[0])):
        return found
    inputs = list(given)
    copies = [x.type(name=x.name) for x in inputs]
    stable = rewrite_graph(
        graph_replace(list(outputs), dict(zip(inputs, copies))),
        include=("canonicalize", "stabilize"),
    )
    return evaluate(stable, dict(zip(copies, given.values())))
