"""Distributions as functions: ``next_rng, x = normal(0, 1, size=3, rng=rng, return_next_rng=True)``.

Parameters broadcast against each other, and to size where it is given. Without return_next_rng a function gives the
draw alone; without rng it makes a shared generator with a seed of the system and a default update. dtype: of the draw,
among those of its kind (float or int); default: config.floatX or int64. ValueError for parameters outside their domain,
when the function is called; TypeError for a generator that is none. A method of a generator (``rng.normal(...)``) always
gives both. What is not said otherwise is numpy.random.Generator's draw, to the last bit.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from bitale import _core
from bitale._core import RandomGeneratorVariable, TensorVariable
from bitale.configuration import config
from bitale.raise_op import CheckAndRaise
from bitale.random import Stream
from bitale.tensor.random.generators import as_rng, shared_rng

__all__: list[str] = []  # filled by _distribution


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
        raise ValueError(f"{who}: size is a length, a list of lengths or a vector of known length, got {size!r}")
    return [length[i] for i in range(known)]


def _parameters(*given: Any) -> list[TensorVariable]:
    return [_core.as_tensor_variable(one) for one in given]


def _with_dtype(draw: TensorVariable, dtype: Any, who: str) -> TensorVariable:
    is_float = draw.dtype.startswith("float")
    wanted = np.dtype(config.floatX if dtype == "floatX" or (dtype is None and is_float) else dtype or draw.dtype)
    if wanted.kind != ("f" if is_float else "i") and not (not is_float and wanted.kind in "bu"):
        raise ValueError(f"{who}: draws are {'float' if is_float else 'whole'} numbers, they can't be {wanted}")
    if wanted.name == draw.dtype:
        return draw
    return _core.cast(draw if is_float or who in _ZERO_OR_ONE else _within(draw, wanted, who), wanted.name)


def _within(draw: TensorVariable, dtype: np.dtype[Any], who: str) -> TensorVariable:
    """The draw; a ValueError in a call in which a number is not one of dtype's."""
    least, most = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), 2**63 - 1))
    holds = _core.and_(_core.ge(draw.min(), least), _core.le(draw.max(), most)) if least >= 0 or dtype.itemsize < 8 else None
    message = f"{who}: a number was drawn that is none of {dtype}'s, which are from {least} to {most}"
    return CheckAndRaise(ValueError, message)(draw, *([] if holds is None else [holds]))


class _Source:
    """The generator while several draws are made from it."""

    def __init__(self, rng: Any):
        self.rng = rng

    def draw(self, name: str, parameters: Any, size: Any) -> TensorVariable:
        self.rng, out = _core.random_draw(name, self.rng, _parameters(*parameters), size)
        return out

    def composed(self, name: str, parameters: Any, size: Any) -> TensorVariable:
        self.rng, out = _core.random_composed(name, self.rng, _parameters(*parameters), size)
        return out

    def take(self, function: Callable[..., Any], *arguments: Any) -> TensorVariable:
        self.rng, out = function(self.rng, *arguments)
        return out


def _generator(rng: Any, who: str) -> tuple[Any, bool]:
    """The generator to draw from, and whether it was made here."""
    if rng is None:
        return shared_rng(seed=None), True
    if isinstance(rng, RandomGeneratorVariable):
        return rng, False
    if isinstance(rng, (np.random.Generator, Stream)):
        return as_rng(rng), False
    raise TypeError(f"{who}: expected a random generator, such as pt.random.rng() or pt.random.shared_rng(seed=1), got {rng!r}")


def _as_function(make: Callable[..., TensorVariable]) -> Callable[..., Any]:
    """make(source, *parameters, size=) with the keywords that all distributions have."""
    import functools
    import inspect

    who = make.__name__
    own = inspect.signature(make)
    names = list(own.parameters)[1:]
    if not names or "size" not in names:
        raise TypeError(f"{who}: expected a function of a generator, the parameters, and size")
    names.remove("size")

    @functools.wraps(make)
    def function(*args: Any, rng: Any = None, dtype: Any = None, name: str | None = None, return_next_rng: bool = False, **kwargs: Any) -> Any:
        bound = own.bind(None, *args, **kwargs)
        bound.apply_defaults()
        given, is_own = _generator(rng, who)
        source = _Source(given)
        source_name = next(iter(own.parameters))
        arguments = {**bound.arguments, source_name: source, "size": _as_size(bound.arguments["size"], who)}
        out = make(**arguments)
        out = _with_dtype(out, dtype, who) if who not in _KEEPS_DTYPE else out
        if name is not None:
            out.name = name
        if is_own:
            given.default_update = source.rng
        return (source.rng, out) if return_next_rng else out

    keywords = [inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=default) for word, default in
                (("rng", None), ("dtype", None), ("name", None), ("return_next_rng", False))]
    positional = [own.parameters[name] for name in (*names, "size")]
    function.__signature__ = own.replace(parameters=[*positional, *keywords], return_annotation=inspect.Signature.empty)  # type: ignore[attr-defined]
    return function


def _distribution(make: Callable[..., TensorVariable]) -> Callable[..., Any]:
    """One of the distributions here: a function of the module, and a method of generators."""
    function = _as_function(make)
    __all__.append(make.__name__)
    globals()[make.__name__] = function
    METHODS[make.__name__] = function
    return function


METHODS: dict[str, Callable[..., Any]] = {}  # of generators, by name
_KEEPS_DTYPE = {"choice", "permutation"}
_ZERO_OR_ONE = {"bernoulli"}


# ---- NumPy's distributions -------------------------------------------------------------------------------------------


@_distribution
def uniform(source: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> TensorVariable:
    """From low up to high, high not included."""
    return source.draw("uniform", (low, high), size)


@_distribution
def normal(source: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """With mean loc and standard deviation scale."""
    return source.draw("normal", (loc, scale), size)


@_distribution
def standard_normal(source: Any, size: Any = None) -> TensorVariable:
    """With mean 0 and standard deviation 1."""
    return source.draw("standard_normal", (), size if size is not None else [])


@_distribution
def lognormal(source: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> TensorVariable:
    """The exponential of a normal variable with this mean and standard deviation."""
    return source.draw("lognormal", (mean, sigma), size)


@_distribution
def exponential(source: Any, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """With mean scale."""
    return source.draw("exponential", (scale,), size)


@_distribution
def gamma(source: Any, shape: Any, rate: Any = None, scale: Any = None, size: Any = None) -> TensorVariable:
    """With mean shape * scale. scale or rate (its inverse): ValueError for both or none."""
    if (rate is None) == (scale is None):
        raise ValueError("gamma: expected either scale or rate, " + ("got none" if rate is None else "got both"))
    if scale is None:
        scale = 1.0 / _core.cast(_core.as_tensor_variable(rate), "float64")
    return source.draw("gamma", (shape, scale), size)


@_distribution
def beta(source: Any, alpha: Any, beta: Any, size: Any = None) -> TensorVariable:
    """Between 0 and 1, with mean alpha / (alpha + beta)."""
    return source.draw("beta", (alpha, beta), size)


@_distribution
def chisquare(source: Any, df: Any, size: Any = None) -> TensorVariable:
    """The sum of squares of df standard normal variables."""
    return source.draw("chisquare", (df,), size)


@_distribution
def weibull(source: Any, shape: Any, size: Any = None) -> TensorVariable:
    """With scale 1."""
    return source.draw("weibull", (shape,), size)


@_distribution
def laplace(source: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """Double exponential."""
    return source.draw("laplace", (loc, scale), size)


@_distribution
def logistic(source: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """With mean loc."""
    return source.draw("logistic", (loc, scale), size)


@_distribution
def rayleigh(source: Any, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """The length of a vector of two normal variables with standard deviation scale. NumPy's draws; PyTensor's differ."""
    return source.draw("rayleigh", (scale,), size)


@_distribution
def wald(source: Any, mean: Any = 1.0, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """Inverse Gaussian."""
    return source.draw("wald", (mean, scale), size)


@_distribution
def vonmises(source: Any, mu: Any, kappa: Any, size: Any = None) -> TensorVariable:
    """On the circle, from -pi to pi, around mu."""
    return source.draw("vonmises", (mu, kappa), size)


@_distribution
def triangular(source: Any, left: Any, mode: Any, right: Any, size: Any = None) -> TensorVariable:
    """From left to right, with the peak at mode."""
    return source.draw("triangular", (left, mode, right), size)


@_distribution
def poisson(source: Any, lam: Any = 1.0, size: Any = None) -> TensorVariable:
    """With mean lam."""
    return source.draw("poisson", (lam,), size)


@_distribution
def geometric(source: Any, p: Any, size: Any = None) -> TensorVariable:
    """How many trials it takes until one succeeds, from 1 on."""
    return source.draw("geometric", (p,), size)


@_distribution
def binomial(source: Any, n: Any, p: Any, size: Any = None) -> TensorVariable:
    """How many of n trials succeed. n is a whole number."""
    return source.draw("binomial", (n, p), size)


@_distribution
def negative_binomial(source: Any, n: Any, p: Any, size: Any = None) -> TensorVariable:
    """How many trials fail before n have succeeded; n may be any positive number."""
    return source.draw("negative_binomial", (n, p), size)


@_distribution
def hypergeometric(source: Any, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> TensorVariable:
    """How many good ones are among nsample taken at once."""
    return source.draw("hypergeometric", (ngood, nbad, nsample), size)


@_distribution
def integers(source: Any, low: Any, high: Any = None, size: Any = None) -> TensorVariable:
    """From low up to high, high not included; from 0 up to low where high is None."""
    low, high = (0, low) if high is None else (low, high)
    return source.draw("integers", (low, high), size)


# ---- distributions based on NumPy's: SciPy's and PyTensor's ----------------------------------------------------------


@_distribution
def bernoulli(source: Any, p: Any, size: Any = None) -> TensorVariable:
    """1 with probability p, else 0."""
    return source.composed("bernoulli", (p,), size)


@_distribution
def halfnormal(source: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """loc plus scale times the absolute value of a standard normal variable."""
    return source.composed("halfnormal", (loc, scale), size)


@_distribution
def pareto(source: Any, b: Any, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """From scale on, with the power b; by the inverse distribution function."""
    return source.composed("pareto", (b, scale), size)


@_distribution
def gumbel(source: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """Extreme values of the right; by the inverse distribution function, as SciPy's gumbel_r."""
    return source.composed("gumbel", (loc, scale), size)


@_distribution
def cauchy(source: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """By the inverse distribution function."""
    return source.composed("cauchy", (loc, scale), size)


@_distribution
def halfcauchy(source: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """By the inverse distribution function."""
    return source.composed("halfcauchy", (loc, scale), size)


@_distribution
def invgamma(source: Any, shape: Any, scale: Any, size: Any = None) -> TensorVariable:
    """The inverse of a gamma variable with scale 1 / scale."""
    return source.composed("invgamma", (shape, scale), size)


@_distribution
def truncexpon(source: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """Exponential, from loc to loc + b * scale; by the inverse distribution function."""
    return source.composed("truncexpon", (b, loc, scale), size)


@_distribution
def truncated_normal(
    source: Any, loc: Any = 0.0, scale: Any = 1.0, lower: Any = -np.inf, upper: Any = np.inf, size: Any = None
) -> TensorVariable:
    """Normal with mean loc and deviation scale before what is outside [lower, upper] was cut off.

    By the inverse distribution function, in logarithms and from the nearer tail, so that intervals far from the mean keep
    their precision.
    """
    return source.composed("truncated_normal", (loc, scale, lower, upper), size)


@_distribution
def t(source: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> TensorVariable:
    """Student's t with df degrees of freedom."""
    return source.composed("t", (df, loc, scale), size)


@_distribution
def gengamma(source: Any, alpha: Any = 1.0, p: Any = 1.0, lambd: Any = 1.0, size: Any = None) -> TensorVariable:
    """lambd times a gamma variable of shape alpha / p, to the power 1 / p."""
    return source.composed("gengamma", (alpha, p, lambd), size)


@_distribution
def betabinom(source: Any, n: Any, a: Any, b: Any, size: Any = None) -> TensorVariable:
    """How many of n trials succeed, with a probability that is a beta variable."""
    return source.composed("betabinom", (n, a, b), size)


nbinom = negative_binomial
METHODS["nbinom"] = nbinom
__all__.append("nbinom")


# ---- distributions of vectors ----------------------------------------------------------------------------------------


@_distribution
def multivariate_normal(source: Any, mean: Any, cov: Any, size: Any = None, method: str = "cholesky") -> TensorVariable:
    """With this mean vector and covariance matrix: mean + A z, with standard normal z and A of A A^T = cov.

    method: "cholesky"; or "svd" and "eigh", which also take matrices of which some eigenvalues are 0. LinAlgError for others.
    """
    if method not in ("cholesky", "svd", "eigh"):
        raise ValueError(f"multivariate_normal: method is cholesky, svd or eigh, got {method!r}")
    name = "multivariate_normal" if method == "cholesky" else f"multivariate_normal_{method}"
    return source.composed(name, (mean, cov), size)


@_distribution
def categorical(source: Any, p: Any, size: Any = None) -> TensorVariable:
    """The place in the last dimension of p that is drawn, with these probabilities.

    They sum to 1, up to 1.5e-8 as in NumPy's choice (float32: 3.5e-4).
    """
    return source.take(_core.random_categorical, *_parameters(p), size)


@_distribution
def dirichlet(source: Any, alphas: Any, size: Any = None) -> TensorVariable:
    """Shares that sum to 1, along the last dimension."""
    return source.take(_core.random_dirichlet, *_parameters(alphas), size)


@_distribution
def multinomial(source: Any, n: Any, p: Any, size: Any = None) -> TensorVariable:
    """How many of n trials fall on each place of the last dimension of p, with these probabilities."""
    return source.take(_core.random_multinomial, *_parameters(n, p), size)


@_distribution
def permutation(source: Any, x: Any, size: Any = None) -> TensorVariable:
    """The numbers below x in random order, or x with its first dimension in random order. size: how many such."""
    return source.take(_core.random_permutation, *_parameters(x), size or [])


@_distribution
def choice(source: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> TensorVariable:
    """Elements of the first dimension of a, or numbers below a. p: their probabilities.

    With replacement this is ``integers`` or ``categorical``, as in PyTensor; without, NumPy's ``choice``.
    """
    weights = None if p is None else _core.as_tensor_variable(p)
    return source.take(_core.random_choice, *_parameters(a), size, replace, weights)
