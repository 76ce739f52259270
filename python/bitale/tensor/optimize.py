"""Minima and roots of expressions, found by SciPy on compiled functions. Solutions have derivatives by the implicit function
theorem: whatever the values of the other variables, the gradient is 0 at a minimum, and the equations are 0 at a root."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, TypeVar, cast as as_type

import numpy as np

from bitale._geography import absent
from bitale import _core
from bitale._core import (
    TensorVariable,
    as_tensor_variable,
    cast,
    concatenate,
    grad,
    graph_replace,
    jacobian,
)
from bitale.compile.builders import OpFromGraph
from bitale.graph.basic import Apply
from bitale.graph.op import Op
from bitale.tensor.linalg import solve

__all__ = ["minimize", "minimize_scalar", "root", "root_scalar"]


def _scipy_optimize() -> Any:
    try:
        import scipy.optimize
    except ImportError:
        raise ImportError(
            "bitale.tensor.optimize: the solvers are SciPy's, which is not installed (pip install scipy)"
        ) from None
    return scipy.optimize


def _require_method(function: str, method: str) -> None:
    """ValueError for a method that SciPy's function does not have. Without SciPy, a call says that it is missing."""
    try:
        solvers = _scipy_optimize()
    except ImportError:
        return
    try:
        solvers.show_options(function, method, disp=False)
    except ValueError:
        raise ValueError(
            f"{function}: scipy.optimize.{function} has no method {method!r}"
        ) from None


class _Options:
    """Keyword arguments for SciPy, as a value that ops can be compared by."""

    def __init__(self, options: dict[str, Any] | None):
        self.options = dict(options or {})
        self.key = pickle.dumps(sorted(self.options.items(), key=lambda item: item[0]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Options) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return repr(self.options)


class _SolverOp(Op):
    """Inputs: the start, the other variables of the graph, and perhaps points around the solution. Outputs: the solution,
    whether it is one. graph: an OpFromGraph of the start and the other variables."""

    __props__ = ("graph", "method", "jac", "hess", "around", "options")
    # The expression that is zero at the solution: the graph's gradient, or the graph.
    of_gradient = False
    ndim = 1

    def __init__(
        self, graph: Any, method: str, jac: bool, hess: bool, around: str, options: _Options
    ):
        self.graph = graph
        self.method = method
        self.jac = jac
        self.hess = hess
        self.around = around
        self.options = options
        self._functions: dict[str, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_functions": {}}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.method}}}"

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, list(inputs), [inputs[0].type(), _core.TensorType("bool", ())()])

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Any) -> list[Any]:
        return [input_shapes[0], ()]

    def _split(self, inputs: Sequence[Any]) -> tuple[list[Any], Any]:
        """The other variables, and the points around the solution."""
        return (list(inputs[1:-1]), inputs[-1]) if self.around else (list(inputs[1:]), None)

    def _expressions(self, x: Any, args: Sequence[Any]) -> dict[str, Any]:
        value = self.graph(x, *args)
        if self.of_gradient:
            slope = grad(value, x, disconnected_inputs="ignore") if self.jac or self.hess else None
            out = {"value": value, "slope": slope}
            out["curvature"] = (
                jacobian(as_type(Any, slope), x, disconnected_inputs="ignore")
                if self.hess
                else None
            )
            return out
        slope = jacobian(value, x, disconnected_inputs="ignore") if self.jac or self.hess else None
        curvature = grad(slope, x, disconnected_inputs="ignore") if self.hess else None
        return {"value": value, "slope": slope, "curvature": curvature}

    def _function(self, *names: str) -> Any:
        """A compiled function that gives these expressions."""
        key = " ".join(names)
        if key not in self._functions:
            from bitale.compile.function import function

            inputs = [variable.type() for variable in self.graph.inner_inputs]
            found = self._expressions(inputs[0], inputs[1:])
            outputs = [found[name] for name in names]
            self._functions[key] = function(
                inputs, outputs if len(outputs) > 1 else outputs[0], on_unused_input="ignore"
            )
        return self._functions[key]

    def _solve(self, start: Any, args: list[Any], around: Any) -> Any:
        raise NotImplementedError

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        args, around = self._split(inputs[: len(inputs)])
        points = None if around is None else tuple(float(v) for v in around)
        found, success = self._solve(inputs[0], args, points)
        output_storage[0][0] = np.asarray(found, dtype="float64").reshape(inputs[0].shape)
        output_storage[1][0] = np.asarray(bool(success))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True, False] for _ in node.inputs]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        """Of F(x, a) = 0: dx = -(dF/dx)^-1 (dF/da) da. The start, and points around the solution, don't matter."""
        args, around = self._split(inputs)
        if _core.is_disconnected(cotangents[0]):
            return [_core.disconnected() for _ in inputs]
        # With its own leaves: two of the inputs may be the same variable.
        x, *leaves = (variable.type() for variable in self.graph.inner_inputs)
        value = self.graph(x, *leaves)
        equations = grad(value, x, disconnected_inputs="ignore") if self.of_gradient else value
        slope = jacobian(equations, x, disconnected_inputs="ignore")
        given = x.type()
        weights = solve(slope.T, given, b_ndim=1, on_error="nan") if self.ndim else given / slope
        asked = [
            leaf
            for leaf in leaves
            if isinstance(leaf, TensorVariable) and leaf.dtype.startswith("float")
        ]
        found = (
            _core.pullback(
                [equations],
                asked,
                [-weights],
                disconnected_inputs="ignore",
                return_disconnected="disconnected",
            )
            if asked
            else []
        )
        terms = dict(zip(asked, found))
        replacements = {x: outputs[0], given: cotangents[0], **dict(zip(leaves, args))}
        out = [_core.zeros_like(inputs[0])]
        for leaf in leaves:
            term = terms.get(leaf, _core.disconnected())
            out.append(
                term
                if _core.is_disconnected(term)
                else graph_replace([term], replacements, strict=False)[0]
            )
        return out + ([_core.zeros_like(around)] if around is not None else [])


class MinimizeOp(_SolverOp):
    of_gradient = True

    def _solve(self, start: Any, args: list[Any], around: Any) -> Any:
        options: dict[str, Any] = {}
        if self.jac:
            both = self._function("value", "slope")

            def fun(x: Any) -> Any:
                value, slope = both(x, *args)
                return float(value), slope

            options["jac"] = True
        else:
            value_of = self._function("value")

            def fun(x: Any) -> Any:
                return float(value_of(x, *args))

        if self.hess:
            hessian = self._function("curvature")
            options["hess"] = lambda x: hessian(x, *args)
        out = _scipy_optimize().minimize(
            fun, np.array(start), method=self.method, **{**options, **self.options.options}
        )
        return out.x, out.success


class RootOp(_SolverOp):
    def _solve(self, start: Any, args: list[Any], around: Any) -> Any:
        if self.jac:
            both = self._function("value", "slope")
            options: dict[str, Any] = {"jac": True}
        else:
            both, options = self._function("value"), {}
        out = _scipy_optimize().root(
            lambda x: both(x, *args),
            np.array(start),
            method=self.method,
            **{**options, **self.options.options},
        )
        return out.x, out.success


class MinimizeScalarOp(_SolverOp):
    of_gradient = True
    ndim = 0

    def _solve(self, start: Any, args: list[Any], around: Any) -> Any:
        value = self._function("value")
        options = {self.around: around} if self.around else {}
        out = _scipy_optimize().minimize_scalar(
            lambda x: float(value(x, *args)),
            method=self.method,
            **{**options, **self.options.options},
        )
        return out.x, out.success


class RootScalarOp(_SolverOp):
    ndim = 0

    def _solve(self, start: Any, args: list[Any], around: Any) -> Any:
        options: dict[str, Any] = {}
        for wanted, name, argument in (
            (self.jac, "slope", "fprime"),
            (self.hess, "curvature", "fprime2"),
        ):
            if wanted:
                options[argument] = (lambda f: lambda x: float(f(x, *args)))(self._function(name))
        if self.around:
            options["bracket"] = around
        else:
            options["x0"] = float(start)
        value = self._function("value")
        out = _scipy_optimize().root_scalar(
            lambda x: float(value(x, *args)),
            method=self.method,
            **{**options, **self.options.options},
        )
        return out.root, out.converged


# ---- public functions ------------------------------------------------------------------------------------------------


# What is solved for; the solution has its form.
Unknowns = TypeVar("Unknowns", TensorVariable, list[TensorVariable])


def _float_variable(x: Any, function: str) -> TensorVariable:
    if not isinstance(x, TensorVariable):
        raise TypeError(
            f"{function}: expected a variable of the expression to solve for, got {x!r}"
        )
    if not x.dtype.startswith("float"):
        raise TypeError(f"{function}: expected a float variable to solve for, got {x} of {x.dtype}")
    return x


def _require_dependence(expression: Any, variables: list[Any], function: str) -> None:
    for x in variables:
        if not _core.variable_depends_on(expression, [x]):
            raise ValueError(f"{function}: the expression does not depend on {x}")


def _solved(
    op: type[_SolverOp],
    expressions: list[Any],
    x: Any,
    function: str,
    method: str,
    jac: bool,
    hess: bool,
    options: Any,
) -> tuple[Any, Any]:
    """Variables of any shape as one vector."""
    _require_method(function, method)
    variables = [
        _float_variable(each, function) for each in (x if isinstance(x, (list, tuple)) else [x])
    ]
    if not variables:
        raise ValueError(f"{function}: expected at least one variable to solve for")
    shapes = [each.shape for each in variables]
    start = concatenate([cast(each, "float64").flatten() for each in variables])
    packed = _core.TensorType("float64", (None,))()
    # Unknown lengths are leaves of the inner graph.
    lengths, given, replaced, offset = [], [], {}, as_tensor_variable(np.int64(0))
    for each in variables:
        own = []
        for axis in range(each.ndim):
            if each.type.shape[axis] is not None:
                own.append(as_tensor_variable(np.int64(each.type.shape[axis])))
                continue
            length = _core.TensorType("int64", ())()
            lengths.append(length)
            given.append(each.shape[axis])
            own.append(length)
        size = as_tensor_variable(np.int64(1))
        for length in own:
            size = size * length
        part = packed[offset : offset + size]
        shaped = _core.reshape(part, own) if each.ndim != 1 else part
        if each.ndim == 0:
            shaped = packed[offset]
        replaced[each] = (
            _core.specify_shape(cast(shaped, each.dtype), each.type.shape)
            if each.ndim
            else cast(shaped, each.dtype)
        )
        offset = offset + size
    value = (
        expressions[0] if op.of_gradient else concatenate([each.flatten() for each in expressions])
    )
    _require_dependence(value, variables, function)
    # What the expression reads of the surrounding graph, computed values included, is given to the solver.
    (value,), leaves, values = _core.closed([cast(value, "float64")], variables)
    (value,) = graph_replace([value], replaced, strict=False)
    graph = OpFromGraph([packed, *lengths, *leaves], [value])
    solver = op(graph, method, bool(jac), bool(hess), "", _Options(options))
    found, success = solver(start, *given, *values)
    out, offset = [], as_tensor_variable(np.int64(0))
    for each, shape in zip(variables, shapes):
        size = each.size
        part = found[offset : offset + size] if each.ndim else found[offset]
        out.append(
            cast(
                _core.specify_shape(_core.reshape(part, shape), each.type.shape)
                if each.ndim
                else part,
                each.dtype,
            )
        )
        offset = offset + size
    return (out if isinstance(x, (list, tuple)) else out[0]), success


def _solved_scalar(
    op: type[_SolverOp],
    expression: Any,
    x: Any,
    function: str,
    method: str,
    jac: bool,
    hess: bool,
    around: tuple[str, Any],
    options: Any,
) -> tuple[Any, Any]:
    _require_method(function, method)
    x, expression = _float_variable(x, function), as_tensor_variable(expression)
    if x.ndim != 0:
        raise ValueError(
            f"{function}: expected a scalar to solve for, got {x} with {x.ndim} dimensions"
        )
    if expression.ndim != 0:
        raise ValueError(
            f"{function}: expected a scalar expression, got {expression.ndim} dimensions"
        )
    _require_dependence(expression, [x], function)
    name, points = around
    leaf = _core.TensorType("float64", ())()
    (value,), leaves, values = _core.closed([cast(expression, "float64")], [x])
    (value,) = graph_replace([value], {x: cast(leaf, x.dtype)}, strict=False)
    inputs = [cast(x, "float64"), *values]
    if points is not None:
        inputs.append(cast(as_tensor_variable(points), "float64"))
        if inputs[-1].ndim != 1:
            raise ValueError(
                f"{function}: expected {name} to be a few scalars, got {inputs[-1].ndim} dimensions"
            )
    solver = op(
        OpFromGraph([leaf, *leaves], [value]),
        method,
        jac,
        hess,
        name if points is not None else "",
        _Options(options),
    )
    found, success = solver(*inputs)
    return cast(found, x.dtype), success


def minimize(
    objective: TensorVariable,
    x: Unknowns,
    method: str = "BFGS",
    jac: bool = True,
    hess: bool = False,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: dict[str, Any] | None = None,
) -> tuple[Unknowns, TensorVariable]:
    """Minimise a scalar over variables.

    Parameters
    ----------
    objective : TensorVariable
        Scalar to minimise.
    x : TensorVariable or list of TensorVariable
        Float variables over which to minimise; their values are the starting point.
    method : str
        Method of ``scipy.optimize.minimize``.
    jac : bool
        Compile the gradient for the method.
    hess : bool
        Compile the Hessian for the method.
    use_vectorized_jac : bool
        Accepted for compatibility with PyTensor.
    optimizer_kwargs : dict, optional
        Further arguments of ``scipy.optimize.minimize``.

    Returns
    -------
    solution : TensorVariable or list of TensorVariable
        The point that minimises the objective, with the structure of `x`.
    success : TensorVariable
        Bool scalar: whether the method has converged; if not, the solution is
        its last state.

    See Also
    --------
    root, minimize_scalar

    Notes
    -----
    Derivatives with respect to all other variables are those of a solution at
    which the gradient is 0 (by the implicit function theorem), and nan where the
    Hessian is singular.

    Examples
    --------
    >>> x, a = pt.dscalars("x", "a")
    >>> found, success = pt.optimize.minimize((x - a) ** 2, x)
    >>> found.eval({x: 0.0, a: 3.0}).round(6)
    np.float64(3.0)
    """
    objective = as_tensor_variable(objective)
    if objective.ndim != 0:
        raise ValueError(f"minimize: expected a scalar objective, got {objective.ndim} dimensions")
    return _solved(MinimizeOp, [objective], x, "minimize", method, jac, hess, optimizer_kwargs)


def root(
    equations: TensorVariable | list[TensorVariable],
    variables: Unknowns,
    method: str = "hybr",
    jac: bool = True,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: dict[str, Any] | None = None,
) -> tuple[Unknowns, TensorVariable]:
    """Find a root of a system of equations.

    Parameters
    ----------
    equations : TensorVariable or list of TensorVariable
        Expressions that are 0 at the root.
    variables : TensorVariable or list of TensorVariable
        Float variables with as many elements as there are equations; their values are the starting point.
    method : str
        Method of ``scipy.optimize.root``.
    jac : bool
        Compile the Jacobian for the method.
    use_vectorized_jac : bool
        Accepted for compatibility with PyTensor.
    optimizer_kwargs : dict, optional
        Further arguments of ``scipy.optimize.root``.

    Returns
    -------
    solution : TensorVariable or list of TensorVariable
        The root, with the structure of `variables`.
    success : TensorVariable
        Bool scalar: whether the method has converged.

    See Also
    --------
    minimize, root_scalar

    Notes
    -----
    Derivatives are those of an isolated root (by the implicit function theorem),
    and nan where the Jacobian is singular.

    Examples
    --------
    >>> x, a = pt.dscalars("x", "a")
    >>> found, success = pt.optimize.root(x**3 - a, x)
    >>> found.eval({x: 1.0, a: 8.0}).round(6)
    np.float64(2.0)
    """
    given = [
        as_tensor_variable(each)
        for each in (equations if isinstance(equations, (list, tuple)) else [equations])
    ]
    if not given:
        raise ValueError("root: expected at least one equation")
    return _solved(RootOp, given, variables, "root", method, jac, False, optimizer_kwargs)


def minimize_scalar(
    objective: TensorVariable,
    x: TensorVariable,
    method: str = "brent",
    bracket: Any = None,
    bounds: Any = None,
    optimizer_kwargs: dict[str, Any] | None = None,
) -> tuple[TensorVariable, TensorVariable]:
    """Minimise a scalar over a scalar.

    Parameters
    ----------
    objective : TensorVariable
        Scalar to minimise.
    x : TensorVariable
        Float scalar over which to minimise.
    method : str
        Method of ``scipy.optimize.minimize_scalar``.
    bracket : sequence of scalars, optional
        Two or three points around a minimum, for ``'brent'`` and ``'golden'``.
    bounds : pair of scalars, optional
        Interval, for ``'bounded'``.
    optimizer_kwargs : dict, optional
        Further arguments of ``scipy.optimize.minimize_scalar``.

    Returns
    -------
    solution : TensorVariable
        The point that minimises the objective.
    success : TensorVariable
        Bool scalar: whether the method has converged.

    See Also
    --------
    minimize

    Notes
    -----
    Derivatives are those of a minimum inside the interval.

    Examples
    --------
    >>> x, a = pt.dscalars("x", "a")
    >>> found, success = pt.optimize.minimize_scalar((x - a) ** 2, x)
    >>> found.eval({x: 0.0, a: 3.0}).round(6)
    np.float64(3.0)
    """
    if bracket is not None and bounds is not None:
        raise ValueError("minimize_scalar: expected a bracket or bounds, got both")
    around = ("bracket", bracket) if bounds is None else ("bounds", bounds)
    return _solved_scalar(
        MinimizeScalarOp,
        objective,
        x,
        "minimize_scalar",
        method,
        True,
        False,
        around,
        optimizer_kwargs,
    )


def root_scalar(
    equation: TensorVariable,
    variable: TensorVariable,
    method: str = "secant",
    jac: bool = False,
    hess: bool = False,
    bracket: Any = None,
    optimizer_kwargs: dict[str, Any] | None = None,
) -> tuple[TensorVariable, TensorVariable]:
    """Find a root of a scalar equation.

    Parameters
    ----------
    equation : TensorVariable
        Scalar that is 0 at the root.
    variable : TensorVariable
        Float scalar; its value is the starting point.
    method : str
        Method of ``scipy.optimize.root_scalar``.
    jac : bool
        Compile the first derivative for the method, as ``'newton'`` needs it.
    hess : bool
        Compile the second derivative for the method, as ``'halley'`` needs it.
    bracket : pair of scalars, optional
        Two points with values of different signs, for ``'brentq'``,
        ``'bisect'`` and others.
    optimizer_kwargs : dict, optional
        Further arguments of ``scipy.optimize.root_scalar``.

    Returns
    -------
    solution : TensorVariable
        The root.
    success : TensorVariable
        Bool scalar: whether the method has converged.

    See Also
    --------
    root

    Examples
    --------
    >>> x, a = pt.dscalars("x", "a")
    >>> found, success = pt.optimize.root_scalar(x**3 - a, x)
    >>> found.eval({x: 1.0, a: 8.0}).round(6)
    np.float64(2.0)
    """
    jac = jac or method in ("newton", "halley")
    hess = hess or method == "halley"
    around = ("bracket", bracket)
    return _solved_scalar(
        RootScalarOp, equation, variable, "root_scalar", method, jac, hess, around, optimizer_kwargs
    )


__getattr__ = absent(__name__)
