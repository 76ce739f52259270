"""Custom distributions: compositions of draws, inverse distribution functions, and functions of NumPy's generators."""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import re
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from bitale import _core
from bitale._core import Apply, Op, TensorVariable, Variable
from bitale._deprecation import warn_deprecated
from bitale.configuration import config
from bitale.random import Stream
from bitale.tensor.random import basic
from bitale.tensor.random.utils import (
    compute_batch_shape,
    get_vector_length,
    is_none,
    normalize_size_param,
)

__all__ = ["RNGConsumerOp", "RandomVariable", "distribution", "from_quantile"]


def _lengths(size: Any, parameters: Any) -> Any:
    """size, or what the parameters broadcast to. ValueError where they have more dimensions than size says."""
    given = [one for one in parameters if one.ndim]
    ndim = max((one.ndim for one in given), default=0)
    if size is not None:
        if ndim > len(size):
            raise ValueError(f"the parameters have {ndim} dimensions, but size says {len(size)}")
        return size
    out = []
    for axis in range(-ndim, 0):
        lengths = [
            one.shape[axis] for one in given if one.ndim >= -axis and one.type.shape[axis] != 1
        ]
        out.append(lengths[0] if lengths else _core.as_tensor_variable(1))
    return out


class Draws:
    """The source of draws in a composition: its methods are the distributions (``draws.normal(0, 1, size=3)``), which draw one after another."""

    def __init__(self, source: Any):
        self._source = source

    def __getattr__(self, name: str) -> Any:
        found = basic.METHODS.get(name)
        if found is None:
            raise AttributeError(f"there is no distribution {name}")
        return lambda *args, **kwargs: self.of(found, *args, **kwargs)

    def of(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> TensorVariable:
        """A draw by any function that takes rng and return_next_rng."""
        out: TensorVariable
        self._source.rng, out = function(
            *args, **kwargs, rng=self._source.rng, return_next_rng=True
        )
        return out


def distribution(make: Callable[..., TensorVariable]) -> Callable[..., Any]:
    """Make a distribution from a function that composes draws.

    Parameters
    ----------
    make : callable
        ``make(draws, *parameters, size=None)`` builds an expression from draws; `size` is a list of
        symbolic lengths, or None if it is not given.

    Returns
    -------
    callable
        A function of the parameters with the keywords `size`, `rng`, `dtype`,
        `name` and `return_next_rng`.

    See Also
    --------
    from_quantile

    Examples
    --------
    >>> @pt.random.distribution
    ... def mixture(draws, p, far, size=None):
    ...     return draws.normal(0, 1, size=size) + far * draws.bernoulli(p, size=size)
    """

    (first, *_) = inspect.signature(make).parameters

    @functools.wraps(make)
    def on_source(**arguments: Any) -> TensorVariable:
        arguments[first] = Draws(arguments[first])
        return make(**arguments)

    return basic._as_function(on_source)


def from_quantile(quantile: Callable[..., Any]) -> Callable[..., Any]:
    """Make a distribution from its inverse distribution function.

    Parameters
    ----------
    quantile : callable
        ``quantile(u, *parameters)`` with u in (0, 1); the parameters
        broadcast.

    Returns
    -------
    callable
        A function of the parameters with the keywords `size`, `rng`, `dtype`,
        `name` and `return_next_rng`.

    See Also
    --------
    distribution

    Examples
    --------
    >>> @pt.random.from_quantile
    ... def gompertz(u, eta, b):
    ...     return pt.log1p(-pt.log1p(-u) / eta) / b
    """
    own = inspect.signature(quantile)
    names = list(own.parameters)

    def make(source: Any, size: Any = None, **parameters: Any) -> TensorVariable:
        given = {name: _core.as_tensor_variable(value) for name, value in parameters.items()}
        lengths = _lengths(size, given.values())
        unit = source.take(lambda rng: _core.random_draw("random", rng, [], lengths))
        u = _core.maximum(unit, 2.0**-54)  # excludes 0
        points: TensorVariable = quantile(
            u,
            **{
                name: value if value.ndim == 0 else _core.broadcast_to(value, lengths)
                for name, value in given.items()
            },
        )
        return points

    make.__name__, make.__doc__ = quantile.__name__, quantile.__doc__
    source = inspect.Parameter("source", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    size = inspect.Parameter("size", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    if "size" in names or "source" in names:
        raise TypeError(f"from_quantile: {quantile.__name__} has a parameter named size or source")
    make.__signature__ = own.replace(parameters=[source, *list(own.parameters.values())[1:], size])  # type: ignore[attr-defined]
    return basic._as_function(make)


def _own_attributes(cls: type) -> set[str]:
    """What the class and its bases up to RandomVariable define."""
    own = itertools.takewhile(lambda base: base is not RandomVariable, cls.__mro__)
    return {key for base in own for key in vars(base)}


def _signature_of_ranks(parameters: Sequence[int], out: int) -> str:
    def core(rank: int, side: str) -> str:
        return f"({','.join(f'{side}{i}' for i in range(rank))})"

    return (
        f"{','.join(core(rank, f'p{k}_') for k, rank in enumerate(parameters))}->{core(out, 'out')}"
    )


class RNGConsumerOp(Op):
    """The base of ops that read a random generator; `update(node)` is a dict from generators to their next states."""

    def update(self, node: Apply) -> dict[Variable, Variable]:
        raise NotImplementedError(f"{type(self).__name__} has no update")


class RandomVariable(RNGConsumerOp):
    """A distribution that Python draws from: a subclass has ``name``, ``signature`` and ``rng_fn(rng, *parameters, size)``.

    signature: the core dimensions of the parameters and of the draw, as "(),()->()" or "(k),()->(k)". dtype: of the draw
    ("floatX", "int64"). rng_fn gets a numpy.random.Generator, arrays, and size, a tuple or None; it gives an array of
    size's lengths, followed by the core dimensions. With a counter-based stream the Generator is one of its child. The
    compiled function calls back, so such a draw does not fuse; there is no derivative. The draws of the library are
    instances of this class, too.

    Nodes have the inputs ``rng, size, *parameters``, and the outputs ``next_rng, draw``. size is a vector, or a constant of
    the type of None.

    Parameters
    ----------
    name : str, optional
        Name of the distribution; by default that of the class.
    ndim_supp : int, optional
        Number of dimensions of a draw, instead of a signature.
    ndims_params : sequence of int, optional
        Number of dimensions of each parameter, instead of a signature.
    dtype : str, optional
        Dtype of the draws; by default that of the class.
    inplace : bool, optional
        Accepted: the state of a generator is a value, and never changes.
    signature : str, optional
        Core dimensions; by default those of the class.

    Examples
    --------
    >>> class Zipf(pt.random.RandomVariable):
    ...     name, signature, dtype = "zipf", "()->()", "int64"
    ...     def rng_fn(self, rng, a, size):
    ...         return rng.zipf(a, size)
    >>> rng = bt.shared(np.random.default_rng(1))
    >>> next_rng, x = Zipf()(2.0, size=3, rng=rng, return_next_rng=True)
    >>> x.dtype, bt.function([], x, updates={rng: next_rng})().shape
    ('int64', (3,))
    """

    __props__: Any = ("name", "signature", "dtype", "inplace")
    default_output = 1
    name: str = "random"
    signature: str = "()->()"
    dtype: str = "floatX"
    inplace: bool = False
    # The core dimensions by name, and their numbers.
    inputs_sig: list[tuple[str, ...]]
    output_sig: tuple[str, ...]
    ndims_params: Sequence[int]
    ndim_supp: int

    def __init__(
        self,
        name: str | None = None,
        ndim_supp: int | None = None,
        ndims_params: Sequence[int] | None = None,
        dtype: str | None = None,
        inplace: bool | None = None,
        signature: str | None = None,
    ) -> None:
        for key, given in (("ndim_supp", ndim_supp), ("ndims_params", ndims_params)):
            if given is not None:
                warn_deprecated(f"RandomVariable's argument {key}", "signature", stacklevel=2)
        own = _own_attributes(type(self))
        ndim_supp = getattr(self, "ndim_supp", None) if ndim_supp is None else ndim_supp
        ndims_params = getattr(self, "ndims_params", None) if ndims_params is None else ndims_params
        if signature is None and ndims_params is not None and "signature" not in own:
            signature = _signature_of_ranks(ndims_params, ndim_supp or 0)
        for key, value in (
            ("name", name), ("dtype", dtype), ("signature", signature), ("inplace", inplace)
        ):  # fmt: skip
            if value is not None:
                setattr(self, key, value)
        sides = self.signature.replace(" ", "").split("->")
        cores = [
            [
                tuple(each for each in core.split(",") if each)
                for core in re.findall(r"\(([^()]*)\)", side)
            ]
            for side in sides
        ]
        if len(sides) != 2 or len(cores[1]) != 1:
            raise ValueError(
                f'{self.name}: expected a signature such as "(),()->()", got {self.signature!r}'
            )
        self.inputs_sig, (self.output_sig,) = cores
        self.ndims_params = [len(core) for core in self.inputs_sig]
        self.ndim_supp = len(self.output_sig)

    # ---- what a subclass may define ----

    def rng_fn(self, rng: np.random.Generator, *parameters: Any) -> Any:
        """Draw; by default by the generator's method of the distribution's name."""
        method = getattr(rng, self.name, None)
        if method is None:
            raise NotImplementedError(f"{type(self).__name__} has no rng_fn")
        return method(*parameters)

    def _supp_shape_from_params(self, dist_params: Any, param_shapes: Any = None) -> Any:
        """The lengths of one draw: by default those of parameters' core dimensions, by their names in the signature."""
        lengths: dict[str, Any] = {each: int(each) for each in self.output_sig if each.isnumeric()}
        for k, core in enumerate(self.inputs_sig):
            shape = dist_params[k].shape if param_shapes is None else param_shapes[k]
            at = (
                len(tuple(shape)) - len(core)
                if param_shapes is not None
                else dist_params[k].ndim - len(core)
            )
            for axis, each in enumerate(core):
                lengths.setdefault(each, shape[at + axis])
        unknown = [each for each in self.output_sig if each not in lengths]
        if unknown:
            raise NotImplementedError(
                f"{type(self).__name__}: no parameter has the dimension {unknown[0]!r} of the draw; define "
                "_supp_shape_from_params"
            )
        return [lengths[each] for each in self.output_sig]

    # ---- parts of nodes ----

    def update(self, node: Apply) -> dict[Variable, Variable]:
        """The generator of a node, and its next state."""
        return {node.inputs[0]: node.outputs[0]}

    def rng_param(self, node: Apply) -> Variable:
        """The generator of a node."""
        return node.inputs[0]

    def size_param(self, node: Apply) -> Variable:
        """The size of a node."""
        return node.inputs[1]

    def dist_params(self, node: Apply) -> list[Variable]:
        """The parameters of a node."""
        return list(node.inputs[2:])

    def batch_ndim(self, node: Apply) -> int:
        """How many dimensions of a node's draws are those of size, or of the parameters' batches."""
        draw: Any = node.outputs[1]
        return int(draw.ndim - self.ndim_supp)

    # ---- the op ----

    def _infer_shape(
        self, size: Variable, dist_params: Any, param_shapes: Any = None
    ) -> tuple[Any, ...]:
        one = (
            tuple(self._supp_shape_from_params(dist_params, param_shapes)) if self.ndim_supp else ()
        )
        batches = [each.ndim - core for each, core in zip(dist_params, self.ndims_params)]
        if not is_none(size):
            vector: Any = size
            count = get_vector_length(vector)
            for k, batch in enumerate(batches):
                if batch > count:
                    raise ValueError(
                        f"{self.name}: parameter {k} has {batch} batch dimensions, but size says {count}"
                    )
            return (*(vector[i] for i in range(count)), *one)
        shapes = [each.shape for each in dist_params] if param_shapes is None else param_shapes
        lengths = []
        for axis in range(-max(batches, default=0), 0):
            found: list[Any] = [
                shape[batch + axis]
                for each, shape, batch in zip(dist_params, shapes, batches)
                if batch >= -axis and each.type.shape[batch + axis] != 1
            ]
            lengths.append(found[0] if found else 1)
        return (*lengths, *one)

    def make_node(self, rng: Any, size: Any, *dist_params: Any) -> Apply:
        if len(dist_params) != len(self.ndims_params):
            raise TypeError(
                f"{self.name}: expected {len(self.ndims_params)} parameters, got {len(dist_params)}"
            )
        given: list[Any] = [_core.as_tensor_variable(each) for each in dist_params]
        for k, (each, core) in enumerate(zip(given, self.ndims_params)):
            if each.ndim < core:
                raise ValueError(
                    f"{self.name}: parameter {k} has {each.ndim} dimensions, the signature says {core}"
                )
        lengths = normalize_size_param(size)
        generator, is_own = basic._generator(rng, self.name)
        shape = self._infer_shape(lengths, given)
        count = None if is_none(lengths) else get_vector_length(lengths)
        dtype = config.floatX if self.dtype == "floatX" else self.dtype
        static = [_known_length(length) for length in shape]
        if count is not None:
            static[:count] = _static_lengths(size, count)
        draw = _core.TensorType(dtype, tuple(static))()
        node = Apply(self, [generator, lengths, *given], [generator.type(), draw])
        if is_own:
            generator.default_update = node.outputs[0]
        return node

    def __call__(
        self,
        *args: Any,
        size: Any = None,
        name: str | None = None,
        rng: Any = None,
        dtype: Any = None,
        return_next_rng: bool = False,
        **kwargs: Any,
    ) -> Any:
        op = self
        if dtype is not None and dtype != self.dtype:
            op = copy.copy(self)
            op.dtype = str(np.dtype(config.floatX if dtype == "floatX" else dtype))
        node = op.make_node(rng, size, *args, **kwargs)
        after, draw = node.outputs
        if name is not None:
            draw.name = name
        return (after, draw) if return_next_rng else draw

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Any) -> Any:
        _, size, *given = node.inputs
        return [None, list(self._infer_shape(size, given, input_shapes[2:]))]

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        rng, size, *given = inputs
        if isinstance(rng, Stream):
            generator: Any = np.random.Generator(np.random.Philox(key=rng.fold(0).key))
            after: Any = Stream(rng.key, rng.drawn + 1)
        else:
            generator = after = rng
        lengths = None if size is None else tuple(int(length) for length in size)
        drawn = np.asarray(self.rng_fn(generator, *given, lengths))
        out: Any = node.outputs[1]
        if drawn.ndim != out.ndim:
            raise ValueError(
                f"{self.name}: rng_fn gave {drawn.ndim} dimensions, expected {out.ndim}"
            )
        output_storage[0][0], output_storage[1][0] = after, drawn.astype(out.dtype)

    def vectorize(self, node: Apply, *batched: Any) -> Apply:
        rng, size, *given = batched
        if rng.type != node.inputs[0].type:
            raise NotImplementedError(f"{self.name}: a batch of generators")
        before: Any = node.inputs[1]
        if not is_none(before) and size.ndim > 1:
            raise NotImplementedError(f"{self.name}: a batch of sizes")
        old_ndim = self.batch_ndim(node)
        padded, extra = [], 0
        for each, old, core in zip(given, node.inputs[2:], self.ndims_params):
            old_variable: Any = old
            new = each.ndim - old_variable.ndim
            missing = old_ndim - (old_variable.ndim - core)
            # The new dimensions are in front of all that the draw has.
            is_padded = new and missing
            padded.append(
                _core.expand_dims(each, tuple(range(new, new + missing))) if is_padded else each
            )
            extra = max(extra, new)
        if is_none(before) or not extra:
            return self.make_node(rng, size, *padded)
        batch = compute_batch_shape(padded, self.ndims_params)[:extra]
        return self.make_node(rng, _core.concatenate([batch, size]), *padded)

    def __str__(self) -> str:
        return f'{self.name}_rv{{"{self.signature}"}}'


def _known_length(length: Any) -> int | None:
    if isinstance(length, (int, np.integer)):
        return int(length)
    return int(length.data) if isinstance(length, _core.TensorConstant) else None


def _static_lengths(size: Any, count: int) -> list[int | None]:
    """What is known of the lengths of a size."""
    if isinstance(size, _core.TensorConstant):
        size = np.atleast_1d(size.data)
    if isinstance(size, Variable):
        return [None] * count
    return [_known_length(each) for each in (size if np.iterable(size) else [size])]


def _class_of_draws(name: str) -> None:
    """Make the class of the library's draws of that name, whose ops compute by themselves."""

    def of_library(key: str) -> Any:
        if hasattr(Op, key):
            return inspect.getattr_static(Op, key)
        return property(lambda self: Op.__getattr__(self, key))

    # What the library's ops have by themselves; other methods, of nodes with a size, are inherited.
    by_attribute = ("signature", "dtype", "inplace", "default_output")
    members: dict[str, Any] = {
        key: of_library(key)
        for key in vars(RandomVariable)
        if (hasattr(Op, key) or key in by_attribute)
        and key not in ("__dict__", "__weakref__", "__doc__", "__module__")
    }
    metaclass: Any = type(Op)
    made = metaclass(
        name,
        (RandomVariable,),
        {
            **members,
            "__module__": __name__,
            "__doc__": "Draws of the library.",
            "_is_of_the_library": True,
        },
    )
    _core.set_class_of_ops(name, made)


for _name in ("RandomVariable", "RandomRows", "ComposedDraw"):
    _class_of_draws(_name)
del _name
