"""Distributions as functions: ``next_rng, x = normal(0, 1, size=3, rng=rng, return_next_rng=True)``.

Parameters broadcast against each other, and to size where it is given. Without return_next_rng a function gives the
draw alone; without rng it makes a shared generator with a seed of the system and a default update. A method of a
generator (``rng.normal(...)``) always returns both. Unless the notes of a distribution tell otherwise, draws are those
of numpy.random.Generator, bit by bit.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Literal, Protocol, Union, overload

import numpy as np

from bitale import _core
from bitale._deprecation import warn_deprecated
from bitale._geography import finder
from bitale._core import RandomGeneratorVariable, TensorVariable
from bitale.configuration import config
from bitale.raise_op import CheckAndRaise
from bitale.tensor.random.documentation import document
from bitale.random import Stream
from bitale.tensor.random.generators import as_rng, shared_rng
from bitale.typing import DTypeLike, ShapeLike, TensorLike

__all__ = [
    "bernoulli", "beta", "betabinom", "binomial", "categorical", "cauchy", "chisquare", "choice", "dirichlet",
    "exponential", "gamma", "gengamma", "geometric", "gumbel", "halfcauchy", "halfnormal", "hypergeometric",
    "integers", "invgamma", "laplace", "logistic", "lognormal", "multinomial", "multivariate_normal", "nbinom",
    "negative_binomial", "normal", "pareto", "permutation", "poisson", "rayleigh", "standard_normal", "t",
    "triangular", "truncated_normal", "truncexpon", "uniform", "vonmises", "wald", "weibull",
]  # fmt: skip


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
    message = f"{who}: a number was drawn that is none of {dtype}'s, which are from {low} to {high}"
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
        self.rng, drawn = _core.random_draw(name, self.rng, _parameters(*parameters), size)
        return drawn

    def composed(
        self, name: str, parameters: tuple[TensorLike, ...], size: Lengths
    ) -> TensorVariable:
        drawn: TensorVariable
        self.rng, drawn = _core.composed_draw(name, self.rng, _parameters(*parameters), size)
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

    @functools.wraps(make)
    def function(
        *args: Any,
        rng: Any = None,
        dtype: Any = None,
        name: str | None = None,
        return_next_rng: bool = False,
        **kwargs: Any,
    ) -> Any:
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


# ---- NumPy's distributions -------------------------------------------------------------------------------------------


@_distribution
def uniform(
    source: _Source, low: TensorLike = 0.0, high: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the continuous uniform distribution.

    low: Lower end of the interval, included.
    high: Upper end of the interval, not included.
    """
    return source.draw("uniform", (low, high), size)


@_distribution
def normal(
    source: _Source, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the normal distribution.

    loc: Mean.
    scale: Standard deviation, non-negative.
    """
    return source.draw("normal", (loc, scale), size)


@_distribution
def standard_normal(source: _Source, size: Lengths = None) -> TensorVariable:
    """Draw from the normal distribution with mean 0 and standard deviation 1."""
    return source.draw("standard_normal", (), size if size is not None else [])


@_distribution
def lognormal(
    source: _Source, mean: TensorLike = 0.0, sigma: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the log-normal distribution.

    mean: Mean of the logarithm.
    sigma: Standard deviation of the logarithm, non-negative.
    """
    return source.draw("lognormal", (mean, sigma), size)


@_distribution
def exponential(source: _Source, scale: TensorLike = 1.0, size: Lengths = None) -> TensorVariable:
    """Draw from the exponential distribution.

    scale: Mean, non-negative.
    """
    return source.draw("exponential", (scale,), size)


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
    rate: Rate, the inverse of the scale; either of both is given.
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
def beta(
    source: _Source, alpha: TensorLike, beta: TensorLike, size: Lengths = None
) -> TensorVariable:
    """Draw from the beta distribution.

    alpha: First parameter, positive.
    beta: Second parameter, positive.
    The mean is ``alpha / (alpha + beta)``.
    """
    return source.draw("beta", (alpha, beta), size)


@_distribution
def chisquare(source: _Source, df: TensorLike, size: Lengths = None) -> TensorVariable:
    """Draw from the chi-squared distribution.

    df: Degrees of freedom, positive.
    """
    return source.draw("chisquare", (df,), size)


@_distribution
def weibull(source: _Source, shape: TensorLike, size: Lengths = None) -> TensorVariable:
    """Draw from the Weibull distribution with scale 1.

    shape: Shape, non-negative.
    """
    return source.draw("weibull", (shape,), size)


@_distribution
def laplace(
    source: _Source, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the Laplace distribution.

    loc: Mean.
    scale: Scale of both exponential tails, non-negative.
    """
    return source.draw("laplace", (loc, scale), size)


@_distribution
def logistic(
    source: _Source, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the logistic distribution.

    loc: Mean.
    scale: Scale, non-negative.
    """
    return source.draw("logistic", (loc, scale), size)


@_distribution
def rayleigh(source: _Source, scale: TensorLike = 1.0, size: Lengths = None) -> TensorVariable:
    """Draw from the Rayleigh distribution.

    scale: Scale, non-negative: the mode.
    The draws are NumPy's; PyTensor's differ.
    """
    return source.draw("rayleigh", (scale,), size)


@_distribution
def wald(
    source: _Source, mean: TensorLike = 1.0, scale: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the Wald (inverse Gaussian) distribution.

    mean: Mean, positive.
    scale: Scale, positive.
    """
    return source.draw("wald", (mean, scale), size)


@_distribution
def vonmises(
    source: _Source, mu: TensorLike, kappa: TensorLike, size: Lengths = None
) -> TensorVariable:
    """Draw from the von Mises distribution on the interval [-pi, pi].

    mu: Mode.
    kappa: Concentration, non-negative.
    """
    return source.draw("vonmises", (mu, kappa), size)


@_distribution
def triangular(
    source: _Source, left: TensorLike, mode: TensorLike, right: TensorLike, size: Lengths = None
) -> TensorVariable:
    """Draw from the triangular distribution.

    left: Lower end.
    mode: Position of the peak.
    right: Upper end.
    """
    return source.draw("triangular", (left, mode, right), size)


@_distribution
def poisson(source: _Source, lam: TensorLike = 1.0, size: Lengths = None) -> TensorVariable:
    """Draw from the Poisson distribution.

    lam: Mean, non-negative.
    """
    return source.draw("poisson", (lam,), size)


@_distribution
def geometric(source: _Source, p: TensorLike, size: Lengths = None) -> TensorVariable:
    """Draw from the geometric distribution of the number of trials up to the first success.

    p: Probability of success of a trial.
    Draws are 1 or greater.
    """
    return source.draw("geometric", (p,), size)


@_distribution
def binomial(source: _Source, n: TensorLike, p: TensorLike, size: Lengths = None) -> TensorVariable:
    """Draw from the binomial distribution of the number of successes.

    n: Number of trials, a non-negative integer.
    p: Probability of success of a trial.
    """
    return source.draw("binomial", (n, p), size)


@_distribution
def negative_binomial(
    source: _Source, n: TensorLike, p: TensorLike, size: Lengths = None
) -> TensorVariable:
    """Draw from the negative binomial distribution of the number of failures before a number of successes.

    n: Number of successes, positive; it need not be an integer.
    p: Probability of success of a trial.
    """
    return source.draw("negative_binomial", (n, p), size)


@_distribution
def hypergeometric(
    source: _Source, ngood: TensorLike, nbad: TensorLike, nsample: TensorLike, size: Lengths = None
) -> TensorVariable:
    """Draw from the hypergeometric distribution of successes without replacement.

    ngood: Number of good elements.
    nbad: Number of bad elements.
    nsample: Number of elements sampled.
    """
    return source.draw("hypergeometric", (ngood, nbad, nsample), size)


@_distribution
def integers(
    source: _Source, low: TensorLike, high: TensorLike | None = None, size: Lengths = None
) -> TensorVariable:
    """Draw integers from a discrete uniform distribution.

    low: Lower end, included; or the upper end, with a lower end of 0, where `high` is None.
    high: Upper end, not included.
    """
    low, high = (0, low) if high is None else (low, high)
    return source.draw("integers", (low, high), size)


# ---- distributions based on NumPy's: SciPy's and PyTensor's ----------------------------------------------------------


@_distribution
def bernoulli(source: _Source, p: TensorLike, size: Lengths = None) -> TensorVariable:
    """Draw from the Bernoulli distribution.

    p: Probability of 1; otherwise the draw is 0.
    """
    return source.composed("bernoulli", (p,), size)


@_distribution
def halfnormal(
    source: _Source, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the half-normal distribution.

    loc: Lower end.
    scale: Standard deviation of the normal variable of which the absolute value is taken.
    """
    return source.composed("halfnormal", (loc, scale), size)


@_distribution
def pareto(
    source: _Source, b: TensorLike, scale: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the Pareto distribution.

    b: Shape, positive.
    scale: Scale, the lower end.
    By the inverse distribution function.
    """
    return source.composed("pareto", (b, scale), size)


@_distribution
def gumbel(
    source: _Source, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the right-skewed Gumbel distribution.

    loc: Mode.
    scale: Scale, positive.
    By the inverse distribution function; as SciPy's ``gumbel_r``.
    """
    return source.composed("gumbel", (loc, scale), size)


@_distribution
def cauchy(
    source: _Source, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the Cauchy distribution.

    loc: Median.
    scale: Scale, positive.
    By the inverse distribution function.
    """
    return source.composed("cauchy", (loc, scale), size)


@_distribution
def halfcauchy(
    source: _Source, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Lengths = None
) -> TensorVariable:
    """Draw from the half-Cauchy distribution.

    loc: Lower end.
    scale: Scale, positive.
    By the inverse distribution function.
    """
    return source.composed("halfcauchy", (loc, scale), size)


@_distribution
def invgamma(
    source: _Source, shape: TensorLike, scale: TensorLike, size: Lengths = None
) -> TensorVariable:
    """Draw from the inverse gamma distribution.

    shape: Shape, positive.
    scale: Scale, positive.
    The draws are inverses of gamma variables with scale ``1 / scale``.
    """
    return source.composed("invgamma", (shape, scale), size)


@_distribution
def truncexpon(
    source: _Source,
    b: TensorLike,
    loc: TensorLike = 0.0,
    scale: TensorLike = 1.0,
    size: Lengths = None,
) -> TensorVariable:
    """Draw from the truncated exponential distribution.

    b: Length of the interval in units of `scale`.
    loc: Lower end.
    scale: Scale of the exponential distribution.
    By the inverse distribution function.
    """
    return source.composed("truncexpon", (b, loc, scale), size)


@_distribution
def truncated_normal(
    source: _Source,
    loc: TensorLike = 0.0,
    scale: TensorLike = 1.0,
    lower: TensorLike = -np.inf,
    upper: TensorLike = np.inf,
    size: Lengths = None,
) -> TensorVariable:
    """Draw from the truncated normal distribution.

    loc: Mean before truncation.
    scale: Standard deviation before truncation.
    lower: Lower end.
    upper: Upper end.
    By the inverse distribution function, in logarithms and from the nearer tail, so that intervals far from the mean keep their precision.
    """
    return source.composed("truncated_normal", (loc, scale, lower, upper), size)


@_distribution
def t(
    source: _Source,
    df: TensorLike,
    loc: TensorLike = 0.0,
    scale: TensorLike = 1.0,
    size: Lengths = None,
) -> TensorVariable:
    """Draw from Student's t distribution.

    df: Degrees of freedom, positive.
    loc: Location.
    scale: Scale, positive.
    """
    return source.composed("t", (df, loc, scale), size)


@_distribution
def gengamma(
    source: _Source,
    alpha: TensorLike = 1.0,
    p: TensorLike = 1.0,
    lambd: TensorLike = 1.0,
    size: Lengths = None,
) -> TensorVariable:
    """Draw from the generalised gamma distribution.

    alpha: Shape of the power.
    p: Power.
    lambd: Scale.
    The draws are `lambd` times a gamma variable of shape ``alpha / p``, to the power ``1 / p``.
    """
    return source.composed("gengamma", (alpha, p, lambd), size)


@_distribution
def betabinom(
    source: _Source, n: TensorLike, a: TensorLike, b: TensorLike, size: Lengths = None
) -> TensorVariable:
    """Draw from the beta-binomial distribution of the number of successes.

    n: Number of trials.
    a: First parameter of the beta distribution of the probability of success.
    b: Second parameter of the beta distribution.
    """
    return source.composed("betabinom", (n, a, b), size)


nbinom = negative_binomial
METHODS["nbinom"] = nbinom


# ---- distributions of vectors ----------------------------------------------------------------------------------------


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
    method: Factorisation of the covariance: 'cholesky', or 'svd' and 'eigh', which also take matrices of which some eigenvalues are 0.
    The draws are ``mean + A @ z`` with standard normal z and ``A @ A.T == cov``. LinAlgError is raised at run time for matrices without such a factor.
    """
    if method not in ("cholesky", "svd", "eigh"):
        raise ValueError(f"multivariate_normal: method is cholesky, svd or eigh, got {method!r}")
    name = "multivariate_normal" if method == "cholesky" else f"multivariate_normal_{method}"
    return source.composed(name, (mean, cov), size)


@_distribution
def categorical(source: _Source, p: TensorLike, size: Lengths = None) -> TensorVariable:
    """Draw from the categorical distribution.

    p: Probabilities, along the last axis, whose sum is 1 up to 1.5e-8 (float32: 3.5e-4).
    The draws are indices of the last axis.
    """
    return source.take(_core.random_categorical, *_parameters(p), size)


@_distribution
def dirichlet(source: _Source, alphas: TensorLike, size: Lengths = None) -> TensorVariable:
    """Draw from the Dirichlet distribution.

    alphas: Concentrations, along the last axis.
    The draws sum to 1 along the last axis.
    """
    return source.take(_core.random_dirichlet, *_parameters(alphas), size)


@_distribution
def multinomial(
    source: _Source, n: TensorLike, p: TensorLike, size: Lengths = None
) -> TensorVariable:
    """Draw from the multinomial distribution of counts.

    n: Number of trials.
    p: Probabilities of the categories, along the last axis.
    """
    return source.take(_core.random_multinomial, *_parameters(n, p), size)


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


__getattr__ = finder(__name__, "tensor.random.classes")
