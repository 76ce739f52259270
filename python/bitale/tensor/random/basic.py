"""Distributions as functions: ``next_rng, x = normal(0, 1, size=3, rng=rng, return_next_rng=True)``.

Parameters broadcast against each other, and to size if it is given. Without return_next_rng a
function returns only the draw; without rng it creates a shared generator with a seed from the
system and a default update. A method of a generator (``rng.normal(...)``) always returns both.
Unless the notes of a distribution say otherwise, draws equal those of numpy.random.Generator to the
last bit.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Literal, Protocol, Union, overload

import numpy as np

from bitale import _core
from bitale._deprecation import warn_deprecated
from bitale._geography import finder
from bitale._shown import unexpected_keyword
from bitale._core import RandomGeneratorVariable, TensorVariable
from bitale.configuration import config
from bitale.raise_op import CheckAndRaise
from bitale.tensor.random.documentation import document
from bitale.random import Stream
from bitale.tensor.random.generators import as_rng, shared_rng
from bitale.typing import DTypeLike, ShapeLike, TensorLike


def _as_size(size: Any, who: str) -> list[TensorVariable] | None:
    """The lengths of a draw; None: what the parameters broadcast to."""
    if size is None:
        return None
    if isinstance(size, (list, tuple)):
        return [_core.as_tensor_variable(length) for length in size]
    if isinstance(size, np.ndarray) and size.ndim == 1:
        return [_core.as_tensor_variable(int(length)) for length in size]
    length = _core.as_tensor_variable(size)
    if length.ndim == 0:
        return [length]
    known = length.type.shape[0]
    if length.ndim != 1 or known is None:
        raise ValueError(
            f"{who}: size is a length, a list of lengths or a vector of known length, got {size!r}"
        )
    return [length[i] for i in range(known)]


def _parameters(*given: Any) -> list[TensorVariable]:
    return [_core.as_tensor_variable(one) for one in given]


def _with_dtype(draw: TensorVariable, dtype: Any, who: str) -> TensorVariable:
    is_float = draw.dtype.startswith("float")
    wanted = np.dtype(
        config.floatX if dtype == "floatX" or (dtype is None and is_float) else dtype or draw.dtype
    )
    if wanted.kind != ("f" if is_float else "i") and not (not is_float and wanted.kind in "bu"):
        raise ValueError(
            f"{who}: draws are {'float' if is_float else 'whole'} numbers, they can't be {wanted}"
        )
    if wanted.name == draw.dtype:
        return draw
    return _core.cast(
        draw if is_float or who in _ZERO_OR_ONE else _within(draw, wanted, who), wanted.name
    )


def _within(draw: TensorVariable, dtype: np.dtype[Any], who: str) -> TensorVariable:
    """The draw; a ValueError in a call in which a number is not one of dtype's."""
    low, high = (
        (0, 1)
        if dtype.kind == "b"
        else (int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), 2**63 - 1))
    )
    holds = (
        _core.and_(_core.ge(draw.min(), low), _core.le(draw.max(), high))
        if low >= 0 or dtype.itemsize < 8
        else None
    )
    message = f"{who}: a number was drawn that {dtype} does not have; its numbers are from {low} to {high}"
    checked: TensorVariable = CheckAndRaise(ValueError, message)(
        draw, *([] if holds is None else [holds])
    )
    return checked


# The lengths of a draw, after _as_size.
Lengths = Union[list[TensorVariable], None]


class Distribution(Protocol):
    """A distribution as a function: the parameters, then the keywords that all of them have."""

    __name__: str

    @overload
    def __call__(
        self,
        *parameters: TensorLike,
        size: ShapeLike | None = None,
        rng: Any = None,
        dtype: DTypeLike = None,
        name: str | None = None,
        return_next_rng: Literal[False] = False,
        **named: Any,
    ) -> TensorVariable: ...

    @overload
    def __call__(
        self,
        *parameters: TensorLike,
        size: ShapeLike | None = None,
        rng: Any = None,
        dtype: DTypeLike = None,
        name: str | None = None,
        return_next_rng: Literal[True],
        **named: Any,
    ) -> tuple[RandomGeneratorVariable, TensorVariable]: ...


class _Source:
    """The generator while several draws are made from it."""

    def __init__(self, rng: Any):
        self.rng = rng

    def draw(self, name: str, parameters: tuple[TensorLike, ...], size: Lengths) -> TensorVariable:
        drawn: TensorVariable
        self.rng, drawn = _core.draw_from(name, self.rng, _parameters(*parameters), size)
        return drawn

    def take(self, function: Callable[..., Any], *arguments: Any) -> TensorVariable:
        drawn: TensorVariable
        self.rng, drawn = function(self.rng, *arguments)
        return drawn


def _generator(rng: Any, who: str) -> tuple[Any, bool]:
    """The generator to draw from, and whether it was made here."""
    if rng is None:
        return shared_rng(seed=None), True
    if isinstance(rng, RandomGeneratorVariable):
        return rng, False
    if isinstance(rng, (np.random.Generator, Stream)):
        return as_rng(rng), False
    raise TypeError(
        f"{who}: expected a random generator, such as pt.random.rng() or pt.random.shared_rng(seed=1), got {rng!r}"
    )


def _as_function(make: Callable[..., TensorVariable]) -> Callable[..., Any]:
    """make(source, *parameters, size=) with the keywords that all distributions have."""
    import functools

    who = make.__name__
    own = inspect.signature(make)
    names = list(own.parameters)[1:]
    if "size" not in names:
        raise TypeError(f"{who}: expected a function of a generator, the parameters, and size")
    function_names = [*names, "rng", "dtype", "name", "return_next_rng"]

    @functools.wraps(make)
    def function(
        *args: Any,
        rng: Any = None,
        dtype: Any = None,
        name: str | None = None,
        return_next_rng: bool = False,
        **kwargs: Any,
    ) -> Any:
        for keyword in kwargs:
            if keyword not in own.parameters:
                raise unexpected_keyword(who, keyword, function_names)
        bound = own.bind(None, *args, **kwargs)
        bound.apply_defaults()
        given, is_own = _generator(rng, who)
        source = _Source(given)
        source_name = next(iter(own.parameters))
        arguments = {
            **bound.arguments,
            source_name: source,
            "size": _as_size(bound.arguments["size"], who),
        }
        out = make(**arguments)
        out = _with_dtype(out, dtype, who) if who not in _KEEPS_DTYPE else out
        if name is not None:
            out.name = name
        if is_own:
            given.default_update = source.rng
        return (source.rng, out) if return_next_rng else out

    keywords = [
        inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=default)
        for word, default in (
            ("rng", None),
            ("dtype", None),
            ("name", None),
            ("return_next_rng", False),
        )
    ]
    positional = list(own.parameters.values())[1:]
    function.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[*positional, *keywords], return_annotation=inspect.Signature.empty
    )
    return function


def _distribution(make: Callable[..., TensorVariable]) -> Distribution:
    """One of the distributions here: a function of the module, and a method of generators."""
    function: Distribution = _as_function(make)
    function.__doc__ = document(
        make, [name for name in list(inspect.signature(make).parameters)[1:] if name != "size"]
    )
    METHODS[make.__name__] = function
    return function


METHODS: dict[str, Distribution] = {}  # of generators, by name
_KEEPS_DTYPE = {"choice", "permutation"}
_ZERO_OR_ONE = {"bernoulli"}


# ---- distributions whose functions take more than the parameters of their records ---------------------------------


@_distribution
def gamma(
    source: _Source,
    shape: TensorLike,
    rate: TensorLike | None = None,
    scale: TensorLike | None = None,
    size: Lengths = None,
) -> TensorVariable:
    """Draw from the gamma distribution.

    shape: Shape, non-negative.
    rate: Rate, the inverse of the scale; give one of the two.
    scale: Scale, non-negative.
    The mean is ``shape * scale``.
    """
    if (rate is None) == (scale is None):
        raise ValueError(
            "gamma: expected either scale or rate, " + ("got none" if rate is None else "got both")
        )
    if scale is None:
        warn_deprecated("gamma's argument rate", "scale, its inverse", stacklevel=4)
        (inverse,) = _parameters(rate)
        scale = 1.0 / _core.cast(inverse, "float64")
    return source.draw("gamma", (shape, scale), size)


@_distribution
def integers(
    source: _Source, low: TensorLike, high: TensorLike | None = None, size: Lengths = None
) -> TensorVariable:
    """Draw integers from a discrete uniform distribution.

    low: Lower end, included; if `high` is None, this is the upper end, and the lower end is 0.
    high: Upper end, not included.
    """
    low, high = (0, low) if high is None else (low, high)
    return source.draw("integers", (low, high), size)


@_distribution
def multivariate_normal(
    source: _Source,
    mean: TensorLike,
    cov: TensorLike,
    size: Lengths = None,
    method: str = "cholesky",
) -> TensorVariable:
    """Draw from the multivariate normal distribution.

    mean: Mean vectors.
    cov: Covariance matrices.
    method: Factorisation of the covariance: 'cholesky', or 'svd' and 'eigh', which also accept matrices with zero eigenvalues.
    The draws are ``mean + A @ z`` with standard normal z and ``A @ A.T == cov``. LinAlgError is raised at run time for matrices without such a factor.
    """
    if method not in ("cholesky", "svd", "eigh"):
        raise ValueError(
            f"multivariate_normal: method must be cholesky, svd or eigh, got {method!r}"
        )
    return source.take(_core.random_multivariate_normal, *_parameters(mean, cov), size, method)


@_distribution
def permutation(source: _Source, x: TensorLike, size: Lengths = None) -> TensorVariable:
    """Draw random permutations.

    x: Number of integers to permute, or tensor whose first axis is permuted.
    """
    return source.take(_core.random_permutation, *_parameters(x), size or [])


@_distribution
def choice(
    source: _Source,
    a: TensorLike,
    size: Lengths = None,
    replace: bool = True,
    p: TensorLike | None = None,
) -> TensorVariable:
    """Draw elements at random.

    a: Tensor along whose first axis to choose, or number of integers to choose from.
    replace: Whether an element may be drawn several times.
    p: Probabilities of the elements.
    With replacement the draws are those of `integers` or `categorical`; without, those of NumPy's ``choice``.
    """
    weights = None if p is None else _parameters(p)[0]
    return source.take(_core.random_choice, *_parameters(a), size, replace, weights)


# ---- the others, by the records of distributions ---------------------------------------------------------------------


def _by_record(record: _core.Distribution) -> Distribution:
    """A distribution as its record describes it."""

    def make(source: _Source, size: Lengths = None, **given: TensorLike) -> TensorVariable:
        return source.draw(
            record.name, tuple(given.values()), size if given or size is not None else []
        )

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = [
        inspect.Parameter(
            name,
            kind,
            default=inspect.Parameter.empty if initial is None else initial,
            annotation="TensorLike",
        )
        for name, _, initial in record.parameters
    ]
    source, size = inspect.Parameter("source", kind), inspect.Parameter("size", kind, default=None)
    make.__signature__ = inspect.Signature([source, *own, size])  # type: ignore[attr-defined]
    make.__name__ = make.__qualname__ = record.name
    texts = [f"{name}: {text}" for name, text, _ in record.parameters]
    make.__doc__ = "\n".join([f"Draw from the {record.title}.", *texts, record.notes])
    return _distribution(make)


# Declared for type checkers; the loop below defines them.
bernoulli: Distribution
beta: Distribution
betabinom: Distribution
binomial: Distribution
categorical: Distribution
cauchy: Distribution
chisquare: Distribution
dirichlet: Distribution
exponential: Distribution
gengamma: Distribution
geometric: Distribution
gompertz: Distribution
gumbel: Distribution
halfcauchy: Distribution
halfnormal: Distribution
hypergeometric: Distribution
invgamma: Distribution
kumaraswamy: Distribution
laplace: Distribution
logistic: Distribution
lognormal: Distribution
loguniform: Distribution
maxwell: Distribution
moyal: Distribution
multinomial: Distribution
nbinom: Distribution
negative_binomial: Distribution
normal: Distribution
pareto: Distribution
poisson: Distribution
rayleigh: Distribution
standard_normal: Distribution
t: Distribution
triangular: Distribution
truncated_normal: Distribution
truncexpon: Distribution
uniform: Distribution
vonmises: Distribution
wald: Distribution
weibull: Distribution

for _record in _core.distributions():
    if _record.name not in METHODS:
        globals()[_record.name] = _by_record(_record)
METHODS["nbinom"] = METHODS["negative_binomial"]
globals()["nbinom"] = METHODS["nbinom"]

globals()["__all__"] = sorted(METHODS)  # type checkers take the declarations

__getattr__ = finder(__name__, "tensor.random.classes")
