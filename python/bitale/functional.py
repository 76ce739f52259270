"""Functions of functions: jit, grad, value_and_grad, jacfwd, jacrev, hessian, vmap and remat of Python functions of arrays.

They are a thin layer over graphs. A function is called with variables in place of its arguments;
the expression that it returns is differentiated, batched or compiled like any other. Called with
variables they return expressions; called with arrays they compile what they need, once for each
kind of arguments.

>>> loss = lambda params, x, y: (((x @ params["W"] + params["b"]) - y) ** 2).mean()
>>> params = {"W": np.ones(2), "b": np.array(0.5)}
>>> bt.grad(loss)(params, np.ones((3, 2)), np.zeros(3))
{'W': array([5., 5.]), 'b': array(5.)}
"""

from __future__ import annotations

import functools
import importlib
import inspect
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bitale import _core
from bitale._core import Function, Variable
from bitale.configuration import config

__all__ = ["CacheInfo", "Jitted", "jacrev", "jit", "remat", "value_and_grad", "vmap"]


class CacheInfo(NamedTuple):
    """Statistics of a table of compiled functions.

    Parameters
    ----------
    hits : int
        Calls that found their function.
    misses : int
        Calls that compiled one.
    maxsize : int
        Maximum number of functions in the table.
    currsize : int
        Current number of functions.
    """

    hits: int
    misses: int
    maxsize: int
    currsize: int


# Functions of values of other classes, by the module of these: `input_like(value, name)` gives a variable for them, and
# `input_kind(value)` what the variable depends on.
_MODULES = {"scipy.sparse": "bitale.sparse.basic", "xarray.core.dataarray": "bitale.xtensor.type"}


def _module_for(value: Any) -> Any:
    for cls in type(value).__mro__:
        for module, of in _MODULES.items():
            if f"{cls.__module__}.".startswith(f"{module}."):
                return importlib.import_module(of)
    return None


def kind_of_value(value: Any) -> Any:
    """What a compiled function depends on, of a value that is neither NumPy's nor a number."""
    module = _module_for(value)
    if module is not None:
        return module.input_kind(value)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return str(value.dtype), tuple(length == 1 for length in value.shape)
    return None


def _variable_like(leaf: Any, name: str | None = None) -> Any:
    """A variable for values such as this variable, array or number."""
    from bitale import tensor as pt

    if isinstance(leaf, Variable):
        return leaf.type(name or leaf.name)
    module = _module_for(leaf)
    if module is not None:
        return module.input_like(leaf, name)
    array = np.asarray(leaf)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"expected an array, a number or a tree of these, got {leaf!r} of type {type(leaf).__name__}"
        )
    # What has length 1 is repeated where another operand is longer, as in NumPy.
    shape = tuple(1 if length == 1 else None for length in array.shape)
    return pt.tensor(name, dtype=str(array.dtype), shape=shape)


def _tensor(leaf: Any) -> Any:
    """A variable, array or number as a variable of the dtype that it has as an argument."""
    return leaf if isinstance(leaf, Variable) else _core.as_tensor_variable(np.asarray(leaf))


def _names_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[str | None]:
    """Names of the leaves of positional arguments, by the parameters of the function."""
    try:
        parameters = [
            each.name
            for each in inspect.signature(function).parameters.values()
            if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        parameters = []
    out: list[str | None] = []
    for k, argument in enumerate(arguments):
        name = parameters[k] if k < len(parameters) else None
        for path in _core.tree_flatten(argument)[1].paths():
            out.append(f"{name}{path}" if name else None)
    return out


def _label(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _static(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, (int, str)) else tuple(given)


def _mode_of_a_call() -> str | None:
    """The default mode of what is compiled while a call waits."""
    return "FAST_START" if config.mode == "FAST_RUN" else None


class Jitted:
    """A function that is compiled when a call brings a new kind of arguments; `jit` makes it.

    Calls may come from many threads. Attributes are those of the function."""

    def __init__(
        self,
        fun: Callable[..., Any],
        static_argnums: Any = None,
        static_argnames: Any = None,
        maxsize: int = 64,
        mode: Any = None,
    ):
        if not callable(fun):
            raise TypeError(f"jit: expected a function, got {fun!r}")
        self.fun, self.mode, self.maxsize = fun, mode, int(maxsize)
        self.static_argnums, self.static_argnames = (
            _static(static_argnums),
            _static(static_argnames),
        )
        if any(k < 0 for k in self.static_argnums):
            raise ValueError(
                f"jit: static_argnums: expected positions from 0 on, got {static_argnums!r}"
            )
        if self.static_argnames:
            known = [
                each.name
                for each in inspect.signature(fun).parameters.values()
                if each.kind == each.POSITIONAL_OR_KEYWORD
            ]
            own = [known.index(name) for name in self.static_argnames if name in known]
            self.static_argnums = tuple(sorted({*self.static_argnums, *own}))
        self._has_static = bool(self.static_argnums or self.static_argnames)
        self._table = _core.CallTable()
        self._lock = threading.RLock()  # a function may call itself while it is traced
        self._hits = self._misses = 0
        functools.update_wrapper(self, fun)

    def _split(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]:
        """What is static, and the other arguments."""
        if not self._has_static:
            return (), args, kwargs
        static = tuple((k, args[k]) for k in self.static_argnums if k < len(args))
        named = tuple((name, kwargs[name]) for name in self.static_argnames if name in kwargs)
        # Numbers of several types are equal, and mean different things: 1, 1.0 and True.
        types = tuple(type(value) for _, value in (*static, *named))
        hash((static, named))  # a TypeError, before it is compared with others
        return (
            (static, named, types),
            tuple(x for k, x in enumerate(args) if k not in self.static_argnums),
            {name: x for name, x in kwargs.items() if name not in self.static_argnames},
        )

    def _traced(
        self, static: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[..., Any]:
        """The function of the arguments that are not static."""
        if not static:
            return self.fun
        by_position, named = dict(static[0]), dict(static[1])

        def call(*given: Any, **keywords: Any) -> Any:
            rest = iter(given)
            count = len(given) + len(by_position)
            own = [by_position[k] if k in by_position else next(rest) for k in range(count)]
            return self.fun(*own, **keywords, **named)

        return call

    def _compiled(
        self, static: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Function:
        leaves, structure = _core.tree_flatten((args, kwargs))
        names = _names_of(self.fun, args) if not static else []
        names += [None] * (len(leaves) - len(names))
        paths = structure.paths()
        variables = []
        for leaf, name, path in zip(leaves, names, paths):
            try:
                variables.append(_variable_like(leaf, name))
            except TypeError as error:
                raise TypeError(f"jit of {_label(self.fun)}: arguments{path}: {error}") from None
        own, keywords = structure.unflatten(variables)
        result = self._traced(static, args, kwargs)(*own, **keywords)
        function: Any = _core.function
        return function(  # type: ignore[no-any-return]
            variables,
            result,
            mode=self.mode or _mode_of_a_call(),
            name=_label(self.fun),
            on_unused_input="ignore",
        )

    def _found(self, static: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function of such arguments, which are no longer the static ones; None if variables are among them."""
        with self._lock:
            found = self._table.find(args, kwargs, static)
            if found is not None:
                self._hits += 1
                return found
            leaves, _ = _core.tree_flatten((args, kwargs))
            if any(isinstance(leaf, Variable) for leaf in leaves):
                return None
            found = self._compiled(static, args, kwargs)
            self._misses += 1
            self._table.add(args, kwargs, static, found, self.maxsize)
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        static, own, named = self._split(args, kwargs)
        result = self._table.call(own, named, static)
        if result is not NotImplemented:
            self._hits += 1
            return result
        try:
            found = self._found(static, own, named)
        except _core.MissingInputError:  # it reads variables around it: the result is an expression
            found = None
        if found is None:
            return self.fun(*args, **kwargs)
        return found(*_core.tree_flatten((own, named))[0])

    def lower(self, *args: Any, **kwargs: Any) -> Function:
        """The compiled function for such arguments, of their leaves."""
        found = self._found(*self._split(args, kwargs))
        if found is None:
            raise TypeError(
                f"jit of {_label(self.fun)}: lower: expected arrays and numbers, got variables"
            )
        return found  # type: ignore[no-any-return]

    def dprint(self, *args: Any, **kwargs: Any) -> Any:
        """Print the graph that is compiled for such arguments."""
        return self.lower(*args, **kwargs).dprint()

    def cache_info(self) -> CacheInfo:
        """Statistics of the table of compiled functions."""
        return CacheInfo(self._hits, self._misses, self.maxsize, len(self._table))

    def cache_clear(self) -> None:
        """Forget the compiled functions."""
        with self._lock:
            self._table.clear()
            self._hits = self._misses = 0

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {_label(self.fun)}>"


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    maxsize: int = 64,
    mode: Any = None,
) -> Any:
    """Compile a Python function of arrays.

    The function is called with variables whenever a call brings a new kind of arguments: another
    structure, other dtypes, numbers of dimensions or lengths of 1, which are repeated as in NumPy,
    or other labels. Other lengths do not matter. The result is compiled and kept.

    Parameters
    ----------
    fun : callable
        Function of arrays, numbers and trees of these, which returns such a tree. In
        it, arguments are variables, sparse and labelled ones for SciPy's and xarray's: functions of `bitale.tensor` and the array-API
        namespace take them, and so do operators and methods.
    static_argnums : int or sequence of int, optional
        Positions of arguments that are passed to the function unchanged. They must be hashable;
        each new value causes a compilation.
    static_argnames : str or iterable of str, optional
        Names of such arguments.
    maxsize : int
        Number of compiled functions to keep; the oldest is removed first.
    mode : str or Mode, optional
        Mode of compilation. A call waits for it, so that by default it is FAST_START where `function` would take
        FAST_RUN, with the same results.

    Returns
    -------
    Jitted
        Function of the same arguments. ``cache_info()`` reports how often it was compiled,
        ``lower(*args)`` returns the compiled `Function`, and ``dprint(*args)`` prints its graph.
        Called with variables, it calls `fun`.

    Raises
    ------
    TypeError
        If `fun` needs the value of a variable, as ``if x > 0`` does, or an argument is not an array.

    See Also
    --------
    bitale.function, vmap, value_and_grad

    Examples
    --------
    >>> @bt.jit
    ... def scaled(params, x):
    ...     return {"y": params["scale"] * x, "norm": (x**2).sum()}
    >>> scaled({"scale": 2.0}, np.array([1.0, 2.0]))
    {'y': array([2., 4.]), 'norm': array(5.)}
    """
    if fun is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames, maxsize=maxsize, mode=mode
        )  # fmt: skip
    return Jitted(fun, static_argnums, static_argnames, maxsize, mode)


def _transform(symbolic: Callable[..., Any], fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is `symbolic` for variables, and compiled for arrays."""
    compiled = jit(symbolic)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        return compiled(*args, **kwargs)

    for name in ("cache_clear", "cache_info", "dprint", "lower"):
        setattr(call, name, getattr(compiled, name))
    return call


class _Opened:
    """Some arguments of a function with variables of their own, by which its result can be differentiated or batched: what the
    function reads besides may be computed from the same variables."""

    def __init__(self, args: tuple[Any, ...], positions: Sequence[int], who: str):
        for position in positions:
            if not -len(args) <= position < len(args):
                raise TypeError(
                    f"{who}: argnums: there is no argument {position} among {len(args)}"
                )
        self.positions = [position % len(args) for position in positions]
        self.leaves, self.own, self.trees = [], [], []
        self.args = list(args)
        for position in self.positions:
            leaves, structure = _core.tree_flatten(args[position])
            own = [_variable_like(leaf) for leaf in leaves]
            self.leaves += leaves
            self.own += own
            self.args[position] = structure.unflatten(own)
            self.trees.append(self.args[position])
            self._require_floats(f"{who}: argument {position}", self.args[position])

    @staticmethod
    def _require_floats(what: str, tree: Any) -> None:
        # (The positions of a sparse matrix are integers, and belong to its form.)
        leaves, structure = _core.tree_flatten(tree, _core.is_registered)
        for path, leaf in zip(structure.paths(), leaves):
            if isinstance(leaf, _core.TensorVariable) and np.dtype(leaf.dtype).kind in "biu":
                raise TypeError(
                    f"{what}{path}: expected floats, got {leaf.dtype}, which has no derivative: write 3.0 for 3, "
                    "or x.astype('float64')"
                )

    def closed(self, result: Any) -> Any:
        """The result as one of the arguments that were given."""
        leaves, structure = _core.tree_flatten(result)
        made = _core.graph_replace(
            [_core.as_tensor_variable(each) for each in leaves],
            list(zip(self.own, map(_tensor, self.leaves))),
            strict=False,
        )
        return structure.unflatten(made)


def _positions(argnums: int | Sequence[int]) -> Sequence[int]:
    return [argnums] if isinstance(argnums, int) else list(argnums)


def _with_aux(result: Any, has_aux: bool, who: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not isinstance(result, (list, tuple)) or len(result) != 2:
        raise TypeError(
            f"{who}: has_aux: expected a function that returns a value and more, got {result!r}"
        )
    return result[0], result[1]


def _value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, who: str, has_value: bool
) -> Callable[..., Any]:
    def symbolic(*args: Any, **kwargs: Any) -> Any:
        opened = _Opened(args, _positions(argnums), who)
        value, aux = _with_aux(fun(*opened.args, **kwargs), has_aux, who)
        by = opened.trees[0] if isinstance(argnums, int) else tuple(opened.trees)
        cost = _core.as_tensor_variable(value)
        slopes = _core.grad(cost, by, disconnected_inputs="ignore")
        first = (cost, aux) if has_aux else cost
        result = (first, slopes) if has_value else (slopes, aux) if has_aux else slopes
        return opened.closed(result)

    return _transform(symbolic, fun)


def value_and_grad(
    fun: Any, wrt: Any = None, *, argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Any:
    """Compute a value together with its gradient.

    Parameters
    ----------
    fun : callable or TensorVariable
        Function whose result is a scalar, or a scalar expression.
    wrt : tree of Variable, optional
        Variables with respect to which to differentiate an expression.
    argnums : int or sequence of int
        Positions of the arguments with respect to which to differentiate a function.
    has_aux : bool
        Whether the function returns a pair of the scalar and something else, which is
        not differentiated.

    Returns
    -------
    callable or tuple
        Function of the same arguments that returns the value (with the auxiliary result, if any)
        and the gradient, with the structure of the argument, or a tuple of gradients for several
        arguments; for an expression, the expression itself and its gradient. Called with arrays it
        is compiled, as by `jit`.

    Raises
    ------
    TypeError
        If the value is not a scalar, or a variable of the differentiation is an integer.

    See Also
    --------
    grad, jit

    Examples
    --------
    >>> bt.value_and_grad(lambda w, x: (w * x).sum())(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    (array(11.), array([3., 4.]))
    """
    if callable(fun) and not isinstance(fun, Variable):
        return _value_and_grad(fun, argnums, has_aux, "value_and_grad", True)
    return fun, _core.grad(fun, wrt)


def _of_outputs(
    derivative: Callable[[Any, Any], Any], who: str
) -> Callable[[Callable[..., Any], int | Sequence[int], bool], Callable[..., Any]]:
    """Of a derivative of an expression that of a function: a tree of the results whose leaves are trees of the arguments."""

    def of_function(
        fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
    ) -> Callable[..., Any]:
        def symbolic(*args: Any, **kwargs: Any) -> Any:
            opened = _Opened(args, _positions(argnums), who)
            value, aux = _with_aux(fun(*opened.args, **kwargs), has_aux, who)
            by = opened.trees[0] if isinstance(argnums, int) else tuple(opened.trees)
            leaves, structure = _core.tree_flatten(value)
            found = structure.unflatten(
                [derivative(_core.as_tensor_variable(leaf), by) for leaf in leaves]
            )
            return opened.closed((found, aux) if has_aux else found)

        return _transform(symbolic, fun)

    return of_function


def _hessian(fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool) -> Any:
    first = _value_and_grad(fun, argnums, has_aux, "hessian", False)
    return _of_outputs(
        lambda x, by: _core.jacobian(x, by, disconnected_inputs="ignore"), "hessian"
    )(first, argnums, has_aux)


def of_function(
    who: str, fun: Callable[..., Any], argnums: Any, has_aux: bool
) -> Callable[..., Any]:
    """The derivative of a function, for those of expressions that are given one."""
    if who == "grad":
        return _value_and_grad(fun, argnums, has_aux, who, False)
    if who == "hessian":
        return _hessian(fun, argnums, has_aux)  # type: ignore[no-any-return]
    function = _core.jacfwd if who == "jacfwd" else _core.jacobian
    return _of_outputs(lambda x, by: function(x, by, disconnected_inputs="ignore"), who)(
        fun, argnums, has_aux
    )


def jacrev(
    fun: Any, wrt: Any = None, *, argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Any:
    """Differentiate each element of a result, in reverse mode.

    Parameters
    ----------
    fun : callable or TensorVariable
        Function of arrays, or an expression.
    wrt : tree of Variable, optional
        Variables with respect to which to differentiate an expression.
    argnums : int or sequence of int
        Positions of the arguments with respect to which to differentiate a function.
    has_aux : bool
        Whether the function returns a pair of its result and something else.

    Returns
    -------
    callable or TensorVariable
        Function of the same arguments; for each leaf of the result of `fun` it returns Jacobians
        with the structure of the argument. For an expression, the result of `jacobian`.

    See Also
    --------
    jacfwd, jacobian

    Examples
    --------
    >>> bt.jacrev(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    if callable(fun) and not isinstance(fun, Variable):
        return of_function("jacrev", fun, argnums, has_aux)
    return _core.jacobian(fun, wrt)


def _axes(axes: Any, tree: Any, who: str) -> list[int | None]:
    """The axis of each leaf, given those of the leaves or of containers around them."""
    given, structure = _core.tree_flatten(axes, lambda x: x is None)
    out: list[int | None] = []
    for axis, part in zip(given, structure.flatten_like(tree, who)):
        if axis is not None and not isinstance(axis, (int, np.integer)):
            raise TypeError(f"{who}: expected axes that are integers or None, got {axis!r}")
        out += [None if axis is None else int(axis)] * len(_core.tree_flatten(part)[0])
    return out


def _of_length(batch: Any, count: Any) -> Any:
    """The batch, checked to have so many elements; None: it is the first."""
    from bitale import tensor as pt

    if count is None:
        return batch
    checked = _core.checked(
        batch,
        pt.eq(batch.shape[0], count),
        "ShapeError",
        "vmap: the batches of the arguments have different lengths",
    )
    return pt.specify_shape(checked, (count, *[None] * (batch.ndim - 1)))


def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Apply a function to each element of a batch.

    The expression for one element is batched as a graph: operations with a batched form do not loop
    over elements.

    Parameters
    ----------
    fun : callable
        Function of one element.
    in_axes : int, None or sequence of these
        Batch axis of each positional argument; None for an argument that all elements share. An
        entry may be a tree, for the parts of a tree.
    out_axes : int, None or tree of these
        Batch axes of the results.

    Returns
    -------
    callable
        Function of batches. Called with arrays it is compiled, as by `jit`.

    Raises
    ------
    ValueError
        If no argument has a batch axis, the number of axes differs from that of arguments, or
        batches have different lengths (a ShapeError).

    See Also
    --------
    bitale.vectorize_graph

    Notes
    -----
    Keyword arguments are batches along axis 0, as in JAX. `bitale.vectorize_graph` is the same
    of expressions.

    Examples
    --------
    >>> slope = bt.grad(lambda w, x: (w * x).sum() ** 2)
    >>> bt.vmap(slope, in_axes=(None, 0))(np.array([1.0, 2.0]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[2., 0.],
           [0., 4.]])
    """

    def symbolic(*args: Any, **kwargs: Any) -> Any:
        from bitale import tensor as pt

        each = in_axes if isinstance(in_axes, (list, tuple)) else [in_axes] * len(args)
        if len(each) != len(args):
            raise ValueError(
                f"vmap: in_axes: expected {len(args)}, one for each argument, got {len(each)}"
            )
        leaves, structure = _core.tree_flatten((args, kwargs))
        axes: list[int | None] = []
        for k, (axis, argument) in enumerate(zip(each, args)):
            axes += _axes(axis, argument, f"vmap: in_axes[{k}]")
        axes += [0] * (len(leaves) - len(axes))
        batched: dict[Any, Any] = {}
        own = []
        count: Any = None
        for leaf, axis in zip(leaves, axes):
            tensor = _tensor(leaf)
            if axis is None:
                own.append(tensor)
                continue
            if tensor.ndim == 0:
                raise ValueError(
                    f"vmap: expected a batch along axis {axis}, got the scalar {leaf!r}"
                )
            front = _of_length(pt.moveaxis(tensor, axis, 0), count)
            count = front.shape[0] if count is None else count
            core = pt.tensor(tensor.name, dtype=tensor.dtype, shape=front.type.shape[1:])
            batched[core] = front
            own.append(core)
        if not batched:
            raise ValueError(
                "vmap: expected a batch in at least one argument, got in_axes without any"
            )
        inner_args, inner_kwargs = structure.unflatten(own)
        result = fun(*inner_args, **inner_kwargs)
        results, form = _core.tree_flatten(result)
        cores = [_core.as_tensor_variable(each) for each in results]
        ends = _axes(out_axes, result, "vmap: out_axes")
        out = []
        for core, found, axis in zip(cores, _core.vectorize_graph(cores, batched), ends):
            is_batched = any(_core.variable_depends_on(core, x) for x in batched)
            if axis is None:
                if is_batched:
                    raise ValueError(
                        "vmap: out_axes is None for a result that differs between elements"
                    )
                out.append(core)
                continue
            if not is_batched:
                found = pt.alloc(core, count, *(core.shape[k] for k in range(core.ndim)))
            out.append(pt.moveaxis(found, 0, axis))
        return form.unflatten(out)

    return _transform(symbolic, fun)


def remat(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Compute the values within a function again for its derivatives, and do not store them.

    A gradient reads intermediate values of the expression that it differentiates, so all of them
    are in memory at once. Of a function with `remat`, only arguments and results are kept; the
    gradient computes what is between them again. ``jax.checkpoint`` does the same.

    Parameters
    ----------
    fun : callable
        Function of arrays, numbers and trees of these, which returns such a tree. It
        may use variables around it.

    Returns
    -------
    callable
        Function of the same arguments. Called with variables it returns an expression, an op that
        remains a node of the graph and is compiled once; called with arrays it is compiled, as by
        `jit`.

    See Also
    --------
    bitale.scan_checkpoints, bitale.compile.OpFromGraph

    Notes
    -----
    Nothing is fused with what is around the function. It is worthwhile for functions
    with large intermediate values. In a loop, use `bitale.scan_checkpoints`.

    Examples
    --------
    >>> block = bt.remat(lambda x, w: {"y": pt.tanh(pt.exp(x) @ w)})
    >>> bt.grad(lambda w: block(np.eye(2), w)["y"].sum())(np.zeros((2, 2)))
    array([[3.71828183, 3.71828183],
           [3.71828183, 3.71828183]])
    """
    if not callable(fun):
        raise TypeError(f"remat: expected a function, got {fun!r}")

    def symbolic(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = _core.tree_flatten((args, kwargs))
        own = [_variable_like(leaf) for leaf in leaves]
        inner_args, inner_kwargs = structure.unflatten(own)
        results, form = _core.tree_flatten(fun(*inner_args, **inner_kwargs))
        found = [_core.as_tensor_variable(each) for each in results]
        outputs, captured, values = _core.closed(found, own)
        if not outputs:
            return form.unflatten([])
        op = _core.make_op_from_graph([*own, *captured], outputs, False, _label(fun), None, None)
        return form.unflatten(op.make_node(*map(_tensor, leaves), *values).outputs)

    return _transform(symbolic, fun)
