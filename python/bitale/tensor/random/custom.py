"""Distributions of one's own: compositions of draws, inverses of distribution functions, and functions of NumPy's generators."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from bitale import _core
from bitale._class_factory import is_library_op
from bitale._core import Apply, Op, RandomGeneratorVariable, TensorVariable
from bitale.configuration import config
from bitale.random import Stream
from bitale.tensor.random import basic

__all__ = ["RandomVariable", "distribution", "from_quantile"]


_is_draw, _is_composed = is_library_op("RandomVariable"), is_library_op("ComposedDraw")


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
    """What a composition draws from: its methods are the distributions (``draws.normal(0, 1, size=3)``), one after the other."""

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
    """Make a distribution of a function that composes draws.

    Parameters
    ----------
    make : callable
        ``make(draws, *parameters, size=None)`` builds an expression of what it
        draws; `size` is a list of symbolic lengths, or None where it is not
        given.

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
    """Make a distribution of its inverse distribution function.

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
        u = _core.maximum(source.draw("random", (), lengths), 2.0**-54)  # excludes 0
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


class _Draw(Op):
    """A draw by rng_fn: inputs are the generator, the lengths of size where it is given, and the parameters."""

    __props__ = ("distribution", "lengths", "ndim", "dtype")

    def __init__(self, distribution: Any, lengths: int | None, ndim: int, dtype: str):
        self.distribution, self.lengths, self.ndim, self.dtype = distribution, lengths, ndim, dtype

    def __str__(self) -> str:
        return f"RandomVariable{{{self.distribution.name}}}"

    def make_node(self, rng: Any, *inputs: Any) -> Apply:
        out = _core.TensorType(self.dtype, (None,) * self.ndim)()
        return Apply(self, [rng, *inputs], [rng.type(), out])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        rng, count = inputs[0], self.lengths or 0
        size = (
            None if self.lengths is None else tuple(int(length) for length in inputs[1 : 1 + count])
        )
        if isinstance(rng, Stream):
            generator, after = (
                np.random.Generator(np.random.Philox(key=rng.fold(0).key)),
                Stream(rng.key, rng.drawn + 1),
            )
        else:
            generator = after = rng
        drawn = np.asarray(self.distribution.rng_fn(generator, *inputs[1 + count :], size))
        if drawn.ndim != self.ndim:
            raise ValueError(
                f"{self.distribution.name}: rng_fn gave {drawn.ndim} dimensions, expected {self.ndim}"
            )
        output_storage[0][0], output_storage[1][0] = after, drawn.astype(self.dtype)


def _own_attributes(cls: type) -> set[str]:
    """What the class and its bases up to RandomVariable define."""
    return {
        key
        for base in cls.__mro__
        if base is not object and base is not RandomVariable
        for key in vars(base)
    }


def _signature_of_ranks(parameters: Sequence[int], out: int) -> str:
    def core(rank: int, side: str) -> str:
        return f"({','.join(f'{side}{i}' for i in range(rank))})"

    return (
        f"{','.join(core(rank, f'p{k}_') for k, rank in enumerate(parameters))}->{core(out, 'out')}"
    )


class _OfDraws(type):
    """The ops of all draws are instances of the base class."""

    def __instancecheck__(cls, op: Any) -> bool:
        return type.__instancecheck__(cls, op) or (
            cls is RandomVariable and (isinstance(op, _Draw) or _is_draw(op) or _is_composed(op))
        )


class RandomVariable(metaclass=_OfDraws):
    """A distribution that Python draws from: a subclass has ``name``, ``signature`` and ``rng_fn(rng, *parameters, size)``.

    signature: the core dimensions of the parameters and of the draw, as "(),()->()" or "(k),()->(k)". dtype: of the draw
    ("floatX", "int64"). rng_fn gets a numpy.random.Generator, arrays, and size, a tuple or None; it gives an array of
    size's lengths, followed by the core dimensions. With a counter-based stream the Generator is one of its child. The
    compiled function calls back, so such a draw does not fuse; there is no derivative.

    Parameters
    ----------
    name : str, optional
        Name of the distribution; by default that of the class.
    ndim_supp : int, optional
        How many dimensions a draw has, in place of a signature.
    ndims_params : sequence of int, optional
        How many dimensions each parameter has, in place of a signature.
    dtype : str, optional
        Dtype of the draws; by default that of the class.
    inplace : bool, optional
        Only false: the state of a generator is a value.
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

    name: str = "random"
    signature: str = "()->()"
    dtype: str = "floatX"

    def __init__(
        self,
        name: str | None = None,
        ndim_supp: int | None = None,
        ndims_params: Sequence[int] | None = None,
        dtype: str | None = None,
        inplace: bool | None = None,
        signature: str | None = None,
    ) -> None:
        if inplace:
            raise NotImplementedError(
                f"{name or self.name}: inplace=True is not supported: a generator's state is a value"
            )
        for key, value in (("name", name), ("dtype", dtype), ("signature", signature)):
            if value is not None:
                setattr(self, key, value)
        ndim_supp = getattr(self, "ndim_supp", None) if ndim_supp is None else ndim_supp
        ndims_params = getattr(self, "ndims_params", None) if ndims_params is None else ndims_params
        if (
            signature is None
            and ndims_params is not None
            and "signature" not in _own_attributes(type(self))
        ):
            self.signature = _signature_of_ranks(ndims_params, ndim_supp or 0)

    def rng_fn(self, rng: np.random.Generator, *parameters: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no rng_fn")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def _core_dimensions(self) -> tuple[list[int], int]:
        sides = self.signature.replace(" ", "").split("->")
        cores = [
            [
                len([name for name in core.split(",") if name])
                for core in re.findall(r"\(([^()]*)\)", side)
            ]
            for side in sides
        ]
        if len(sides) != 2 or len(cores[1]) != 1:
            raise ValueError(
                f'{self.name}: expected a signature such as "(),()->()", got {self.signature!r}'
            )
        return cores[0], cores[1][0]

    def __call__(
        self,
        *parameters: Any,
        size: Any = None,
        rng: Any = None,
        dtype: Any = None,
        name: str | None = None,
        return_next_rng: bool = False,
    ) -> Any:
        cores, out = self._core_dimensions()
        if len(parameters) != len(cores):
            raise TypeError(f"{self.name}: expected {len(cores)} parameters, got {len(parameters)}")
        given = [_core.as_tensor_variable(one) for one in parameters]
        batch = 0
        for k, (one, core) in enumerate(zip(given, cores)):
            if one.ndim < core:
                raise ValueError(
                    f"{self.name}: parameter {k} has {one.ndim} dimensions, the signature says {core}"
                )
            batch = max(batch, one.ndim - core)
        lengths = basic._as_size(size, self.name)
        if lengths is not None and len(lengths) < batch:
            raise ValueError(
                f"{self.name}: the parameters have {batch} batch dimensions, but size says {len(lengths)}"
            )
        generator, is_own = basic._generator(rng, self.name)
        ndim = (batch if lengths is None else len(lengths)) + out
        wanted = dtype or self.dtype
        op = _Draw(
            self,
            None if lengths is None else len(lengths),
            ndim,
            config.floatX if wanted == "floatX" else wanted,
        )
        after, drawn = op.make_node(
            generator, *(_core.cast(one, "int64") for one in lengths or ()), *given
        ).outputs
        if name is not None:
            drawn.name = name
        if is_own:
            generator.default_update = after
        return (after, drawn) if return_next_rng else drawn
