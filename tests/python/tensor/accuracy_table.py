"""References in mpmath for the mathematical functions of the registry, and points over their whole domains: small, large
and equal parameters, arguments near the mean of a distribution and in its tails, near zeros, poles and ends."""

from __future__ import annotations

import dataclasses
import math
import random
from typing import Any, Callable

import mpmath
from mpmath import mpf

mp = mpmath.mp
Point = tuple[float, ...]


@dataclasses.dataclass
class Row:
    """A function. `exact` takes and returns numbers of mpmath; `inverse_of` replaces it for an inverse: the function whose
    value at the result, beside the other arguments, is the last argument, and its slope there. `points` draws one."""

    points: Callable[[random.Random], Point]
    exact: Callable[..., Any] | None = None
    inverse_of: Callable[..., Any] | None = None
    derivatives: tuple[int, ...] = (0,)  # the arguments by which it has one
    slopes: dict[int, Callable[..., Any]] = dataclasses.field(
        default_factory=dict
    )  # where differences take long
    is_settled: bool = False  # whether `exact` has all digits as it is
    cost: int = 1  # the number of points is divided by this


# ---- points ----------------------------------------------------------------------------------------------------------


def near(rng: random.Random, x: float) -> float:
    """A number at any relative distance from x."""
    step = rng.choice([-1, 1]) * 10 ** rng.uniform(-16, -0.5)
    return x * (1 + step) if x else step


def real(
    low: float, high: float, *points: float, smallest: float = -300.0
) -> Callable[[random.Random], Point]:
    """Uniform, of all magnitudes, and near points, within the bounds."""

    def draw(rng: random.Random) -> Point:
        while True:
            kind = rng.random()
            if kind < 0.3:
                x = rng.uniform(max(low, -10), min(high, 10))
            elif kind < 0.5:
                x = rng.uniform(max(low, -700), min(high, 700))
            elif kind < 0.75 or not points:
                x = rng.choice([-1, 1]) * 10 ** rng.uniform(
                    smallest, 2 if max(-low, high) < 1e3 else 300
                )
            else:
                x = near(rng, rng.choice(points))
            if low <= x <= high:
                return (x,)

    return draw


def inside(*points: float) -> Callable[[random.Random], Point]:
    """Inside (0, 1)."""
    return lambda rng: (unit(rng, *points),)


def unit(rng: random.Random, *points: float) -> float:
    while True:
        kind = rng.random()
        x = (
            rng.random()
            if kind < 0.4
            else 10 ** rng.uniform(-300 if kind < 0.5 else -12, 0)
            if kind < 0.7
            else 1 - 10 ** rng.uniform(-15, 0)
        )
        if points and kind > 0.85:
            x = near(rng, rng.choice(points))
        if 0 < x < 1:
            return x


def parameter(rng: random.Random, smallest: float = -8, largest: float = 5) -> float:
    kind = rng.random()
    if kind < 0.5:
        return 10 ** rng.uniform(-1, 2)
    return 10 ** (rng.uniform(smallest, 0) if kind < 0.75 else rng.uniform(1, largest))


def gamma_points(rng: random.Random) -> Point:
    k = parameter(rng, largest=3.5)
    kind = rng.random()
    x = (
        k
        if kind < 0.1
        else k * 10 ** rng.uniform(-1, 0.5)
        if kind < 0.4
        else rng.gauss(k, 3 * k**0.5)
    )
    if x <= 0 or kind > 0.8:
        x = 10 ** rng.uniform(-200 if kind > 0.95 else -6, 2)
    return k, x


def beta_points(rng: random.Random) -> Point:
    a, b = parameter(rng, largest=3.5), parameter(rng, largest=3.5)
    if rng.random() < 0.1:
        b = a
    mean = a / (a + b)
    x = rng.gauss(mean, 3 * (mean * (1 - mean) / (a + b + 1)) ** 0.5)
    return a, b, x if 0 < x < 1 and rng.random() < 0.5 else unit(rng)


def inverse_points(points: Callable[[random.Random], Point]) -> Callable[[random.Random], Point]:
    """Probabilities in place of the last argument."""
    return lambda rng: (
        *(min(max(each, 1e-3), 300) for each in points(rng)[:-1]),
        10 ** rng.uniform(-100, -1) if rng.random() < 0.3 else unit(rng),
    )


def bessel_points(rng: random.Random) -> Point:
    order = rng.choice(
        [
            0.0,
            1.0,
            2.0,
            0.5,
            float(rng.randrange(200)),
            rng.uniform(0, 5),
            parameter(rng, largest=2.5),
            -rng.uniform(0, 20),
        ]
    )
    kind = rng.random()
    x = (
        rng.uniform(0, 10)
        if kind < 0.3
        else 10
        ** (
            rng.uniform(-300, 0)
            if kind < 0.4
            else rng.uniform(-10, 0)
            if kind < 0.6
            else rng.uniform(0, 4)
        )
    )
    return order, abs(order) * rng.uniform(0.5, 2) if kind > 0.9 and order else x


def hypergeometric_points(rng: random.Random) -> Point:
    a, b, c = (
        rng.choice(
            [
                rng.uniform(0.1, 4),
                10 ** rng.uniform(-6, 1),
                rng.uniform(-8, 0),
                float(rng.randrange(1, 6)),
            ]
        )
        for _ in range(3)
    )
    if c <= 0:
        c = rng.uniform(0.1, 9)
    return (
        a,
        b,
        c,
        rng.choice(
            [
                rng.uniform(-0.9, 0.9),
                1 - 10 ** rng.uniform(-6, 0),
                -(10 ** rng.uniform(-8, 3)),
                10 ** rng.uniform(-20, -1),
            ]
        ),
    )


def pair(
    first: Callable[[random.Random], Point],
    second: Callable[[random.Random], Point],
    equal: float = 0.1,
) -> Callable[[random.Random], Point]:
    def draw(rng: random.Random) -> Point:
        x, y = first(rng)[0], second(rng)[0]
        return x, x if rng.random() < equal else y

    return draw


def of_two_parameters(smallest: float, largest: float) -> Callable[[random.Random], Point]:
    return pair(
        lambda rng: (parameter(rng, smallest, largest),),
        lambda rng: (parameter(rng, smallest, largest),),
    )


# ---- references ------------------------------------------------------------------------------------------------------


def positive_series(term: Any, ratio: Callable[[int], Any]) -> Any:
    total, n = term, 0
    while term > total * mpf(2) ** (-mp.prec - 4):
        term *= ratio(n)
        total += term
        n += 1
    return total


def lower_gamma(k: Any, x: Any) -> Any:
    return positive_series(
        mpmath.exp(k * mpmath.log(x) - x - mpmath.loggamma(k + 1)), lambda n: x / (k + 1 + n)
    )


def is_lower(k: Any, x: Any) -> bool:
    return x < k + 1


def gammainc(k: Any, x: Any) -> Any:
    return lower_gamma(k, x) if x < 1e5 else mpf(1)


def gammaincc(k: Any, x: Any) -> Any:
    lost = (
        max(0, int((x - k - k * mpmath.log(x / k)) / 2.3))
        if x > k
        else max(0, int(-mpmath.log10(k)))
    )
    with mpmath.workdps(mp.dps + lost + 10):
        return 1 - lower_gamma(k, x)


def lower_beta(a: Any, b: Any, x: Any, y: Any) -> Any:
    start = (
        a * mpmath.log(x)
        + b * mpmath.log(y)
        + mpmath.loggamma(a + b)
        - mpmath.loggamma(a + 1)
        - mpmath.loggamma(b)
    )
    return positive_series(mpmath.exp(start), lambda n: (a + b + n) / (a + 1 + n) * x)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """On the side of x on which the series converges fast."""
    with mpmath.workdps(mp.dps + 15):
        if x <= (a + 1) / (a + b + 2):
            return lower_beta(a, b, x, 1 - x)
        lower = lower_beta(b, a, 1 - x, x)
    lost = max(0, int(-mpmath.log10(abs(1 - lower)))) if lower != 1 else 330
    with mpmath.workdps(mp.dps + 20 + lost):
        return 1 - lower_beta(b, a, 1 - x, x)


def settled(function: Callable[..., Any]) -> Callable[..., Any]:
    """With as many digits as it takes until more do not change the result."""

    def value(*at: Any) -> Any:
        digits, last = mp.dps, None
        for extra in (10, 60, 300, 900):
            with mpmath.workdps(digits + extra):
                now = function(*at)
                if (
                    last is not None
                    and now
                    and abs(now - last) <= abs(now) * mpf(10) ** (-digits * 3 // 4)
                ):
                    return now
                last = now
        return last

    return value


def by(function: Callable[..., Any], i: int) -> Callable[..., Any]:
    """The derivative by an argument, by a central difference."""

    def derivative(*at: Any) -> Any:
        x = at[i]
        with mpmath.workdps(mp.dps + 60 + int(abs(mpmath.log10(abs(x) or 1)))):
            step = min(abs(x) or 1, 1) * mpf(10) ** -30
            return (
                function(*at[:i], x + step, *at[i + 1 :])
                - function(*at[:i], x - step, *at[i + 1 :])
            ) / (2 * step)

    return derivative


def gamma_density(k: Any, x: Any) -> Any:
    return mpmath.exp((k - 1) * mpmath.log(x) - x - mpmath.loggamma(k))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
    return mpmath.exp((a - 1) * mpmath.log(x) + (b - 1) * mpmath.log(1 - x) - log_beta)


def gamma_score(k: Any, x: Any) -> Any:
    """The derivative of the logarithm of the density by k."""
    return mpmath.log(x) - mpmath.psi(0, k)


def beta_score(a: Any, b: Any, x: Any) -> Any:
    return mpmath.log(x) - mpmath.psi(0, a) + mpmath.psi(0, a + b)


def beta_score_of_b(a: Any, b: Any, x: Any) -> Any:
    return mpmath.log(1 - x) - mpmath.psi(0, b) + mpmath.psi(0, a + b)


def gammainc_slope(k: Any, x: Any) -> Any:
    """By k: with as many more digits as the complement has zeros."""
    lost = max(0, int((x - k - k * mpmath.log(x / k)) / 2.3)) if x > k else 0
    with mpmath.workdps(mp.dps + lost):
        return by(gammainc, 0)(k, x)


def product(*functions: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *at: mpmath.fprod(f(*at) for f in functions)


def owens_t(h: Any, a: Any) -> Any:
    if (
        abs(a) > 1
    ):  # T(h, a) = (Phi(h) + Phi(ah)) / 2 - Phi(h) Phi(ah) - T(ah, 1 / a) for positive a and h
        h, sign, a = abs(h), mpmath.sign(a), abs(a)
        p, q = mpmath.erfc(h / mpmath.sqrt(2)) / 2, mpmath.erfc(a * h / mpmath.sqrt(2)) / 2
        return sign * ((p + q) / 2 - p * q - owens_t(a * h, 1 / a))
    scale = mpmath.exp(-h * h / 2) / (2 * mpmath.pi)
    cut = min(a, 14 / abs(h)) if h and a > 0 else max(a, -14 / abs(h)) if h else a
    return scale * mpmath.quad(
        lambda t: mpmath.exp(-h * h * t * t / 2) / (1 + t * t), [0, cut / 4, cut]
    )


def log_ndtr(x: Any) -> Any:
    return (
        mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2)
        if x < 0
        else mpmath.log1p(-mpmath.erfc(x / mpmath.sqrt(2)) / 2)
    )


def bessel(function: Callable[..., Any], scale: int) -> Callable[..., Any]:
    """A modified Bessel function times exp(scale x)."""
    return lambda v, x: function(v, x) * mpmath.exp(scale * x)


def complex_safe(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *at: mpmath.re(function(*at))


root_half = lambda: 1 / mpmath.sqrt(2)  # noqa: E731
MODIFIED = {"i": mpmath.besseli, "k": mpmath.besselk}
half_pi = 1.5707963267948966

TABLE: dict[str, Row] = {
    "arccos": Row(real(-1, 1, 1.0, -1.0, 0.5), mpmath.acos),
    "arccosh": Row(real(1, 1e300, 1.0), mpmath.acosh),
    "arcsin": Row(real(-1, 1, 1.0, -1.0, 0.5), mpmath.asin),
    "arcsinh": Row(real(-1e300, 1e300, 1.0), mpmath.asinh),
    "arctan": Row(real(-1e150, 1e150, 1.0), mpmath.atan),
    "arctan2": Row(pair(real(-1e300, 1e300), real(-1e300, 1e300)), mpmath.atan2, derivatives=(0, 1)),
    "arctanh": Row(real(-1, 1, 1.0, -1.0), mpmath.atanh),
    "cbrt": Row(real(-1e300, 1e300, 1.0), lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))),
    "cos": Row(real(-1e300, 1e300, half_pi), mpmath.cos),
    "cosh": Row(real(-710, 710, 1.0), mpmath.cosh),
    "erf": Row(real(-30, 30, 1.0), mpmath.erf),
    "erfc": Row(real(-30, 27, 1.0), mpmath.erfc),
    "erfcx": Row(real(-26, 1e300, 50.0), lambda x: mpmath.exp(x * x) * mpmath.erfc(x) if x < 1e4 else (1 - 1 / (2 * x * x)) / x / mpmath.sqrt(mpmath.pi)),
    "erfinv": Row(real(-1, 1, 1.0, -1.0), inverse_of=lambda x: (mpmath.erf(x), 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x))),
    "erfcinv": Row(lambda rng: (2 * unit(rng, 0.5),), inverse_of=lambda x: (mpmath.erfc(x), -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x))),
    "exp": Row(real(-745, 709, 1.0), mpmath.exp),
    "exp2": Row(real(-1074, 1023, 1.0), lambda x: mpmath.power(2, x)),
    "expm1": Row(real(-745, 709, 1.0), mpmath.expm1),
    "gamma": Row(real(-170, 171, 1.0, 2.0, -3.0), mpmath.gamma),
    "gammaln": Row(real(0, 1e300, 1.0, 2.0), mpmath.loggamma),
    "hypot": Row(pair(real(-1e300, 1e300), real(-1e300, 1e300)), mpmath.hypot, derivatives=(0, 1)),
    "log": Row(real(0, 1e300, 1.0), mpmath.log),
    "log10": Row(real(0, 1e300, 1.0), mpmath.log10),
    "log1mexp": Row(real(-745, 0, -0.7), lambda x: mpmath.log(-mpmath.expm1(x))),
    "log1p": Row(real(-1, 1e300, -1.0), mpmath.log1p),
    "log2": Row(real(0, 1e300, 1.0), lambda x: mpmath.log(x, 2)),
    "log_ndtr": Row(real(-1e5, 38, 1.0, -1.0), log_ndtr),
    "logit": Row(inside(0.5), lambda x: mpmath.log(x / (1 - x))),
    "ndtr": Row(real(-38, 38, 1.0), lambda x: mpmath.erfc(-x * root_half()) / 2),
    "polygamma": Row(lambda rng: (float(rng.randrange(2, 12)), real(0, 1e6, 1.0, smallest=-20)(rng)[0]), lambda n, x: mpmath.psi(int(n), x), derivatives=(1,)),
    "pow": Row(lambda rng: ((x := real(0, 1e300, 1.0)(rng)[0]), rng.uniform(-700, 700) / (abs(math.log(x)) or 1) if rng.random() < 0.7 else rng.uniform(-3, 3)), mpmath.power, derivatives=(0, 1)),
    "psi": Row(real(0, 1e300, 1.0, 1.4616321449683622), lambda x: mpmath.psi(0, x)),
    "reciprocal": Row(real(-1e150, 1e150, smallest=-150), lambda x: 1 / x),
    "sigmoid": Row(real(-745, 745, 1.0), lambda x: 1 / (1 + mpmath.exp(-x))),
    "sin": Row(real(-1e300, 1e300, 2 * half_pi), mpmath.sin),
    "sinh": Row(real(-710, 710, 1.0), mpmath.sinh),
    "softplus": Row(real(-745, 1e300, 1.0), lambda x: mpmath.log1p(mpmath.exp(x)) if x < 1e4 else x),
    "sqr": Row(real(-1e150, 1e150, smallest=-150), lambda x: x * x),
    "sqrt": Row(real(0, 1e300), mpmath.sqrt),
    "tan": Row(real(-1e300, 1e300, half_pi, 2 * half_pi), mpmath.tan),
    "tanh": Row(real(-700, 700, 1.0), mpmath.tanh),
    "tri_gamma": Row(real(0, 1e300, 1.0, smallest=-150), lambda x: mpmath.psi(1, x)),
    "true_div": Row(pair(real(-1e100, 1e100, smallest=-100), real(-1e100, 1e100, smallest=-100)), lambda x, y: x / y, derivatives=(0, 1)),
    "xlogy": Row(pair(real(-1e100, 1e100), real(0, 1e300, 1.0, smallest=-200)), lambda x, y: x * mpmath.log(y), derivatives=(0, 1)),
    "xlog1py": Row(pair(real(-1e100, 1e100), real(-1, 1e300, -1.0, smallest=-200)), lambda x, y: x * mpmath.log1p(y), derivatives=(0, 1)),
    # Calls of the runtime
    "betainc": Row(beta_points, betainc, derivatives=(0, 1, 2), slopes={2: beta_density}, is_settled=True, cost=8),
    "betainc_density": Row(
        beta_points, beta_density, derivatives=(2,), is_settled=True,
        slopes={0: product(beta_density, beta_score), 1: product(beta_density, beta_score_of_b),
                2: product(beta_density, lambda a, b, x: (a - 1) / x - (b - 1) / (1 - x))},
    ),
    "betainc_derivative": Row(beta_points, by(betainc, 0), derivatives=(), is_settled=True, cost=8),
    "betainc_derivative_by_b": Row(beta_points, by(betainc, 1), derivatives=(), is_settled=True, cost=8),
    "betaincinv": Row(inverse_points(beta_points), inverse_of=lambda a, b, x: (betainc(a, b, x), beta_density(a, b, x)), derivatives=(0, 1, 2), cost=8),
    "gammainc": Row(gamma_points, gammainc, derivatives=(0, 1), slopes={0: gammainc_slope, 1: gamma_density}, is_settled=True, cost=4),
    "gammainc_density": Row(
        gamma_points, gamma_density, derivatives=(0, 1), is_settled=True,
        slopes={0: product(gamma_density, gamma_score), 1: product(gamma_density, lambda k, x: (k - 1) / x - 1)},
    ),
    "gammaincc": Row(gamma_points, gammaincc, derivatives=(0, 1), slopes={0: lambda k, x: -gammainc_slope(k, x), 1: lambda k, x: -gamma_density(k, x)}, is_settled=True, cost=4),
    "gammainc_derivative": Row(gamma_points, gammainc_slope, derivatives=(1,), slopes={1: product(gamma_density, gamma_score)}, is_settled=True, cost=4),
    "gammaincinv": Row(inverse_points(gamma_points), inverse_of=lambda k, x: (gammainc(k, x), gamma_density(k, x)), derivatives=(0, 1), cost=4),
    "gammainccinv": Row(inverse_points(gamma_points), inverse_of=lambda k, x: (gammaincc(k, x), -gamma_density(k, x)), derivatives=(0, 1), cost=4),
    "hyp2f1": Row(hypergeometric_points, complex_safe(mpmath.hyp2f1), derivatives=(0, 1, 2, 3), cost=8, is_settled=True),
    "hyp2f1_derivative": Row(hypergeometric_points, complex_safe(by(mpmath.hyp2f1, 0)), derivatives=(3,), cost=8, is_settled=True),
    "hyp2f1_derivative_by_c": Row(hypergeometric_points, complex_safe(by(mpmath.hyp2f1, 2)), derivatives=(3,), cost=8, is_settled=True),
    "i0": Row(real(-700, 700, smallest=-20), lambda x: mpmath.besseli(0, x)),
    "i1": Row(real(-700, 700, smallest=-200), lambda x: mpmath.besseli(1, x)),
    "iv": Row(bessel_points, mpmath.besseli, derivatives=(1,)),
    "ive": Row(bessel_points, bessel(mpmath.besseli, -1), derivatives=(1,)),
    "ive_derivative": Row(bessel_points, lambda v, x: (mpmath.besseli(v + 1, x) + (v / x - 1) * mpmath.besseli(v, x)) * mpmath.exp(-x), derivatives=()),
    "j0": Row(real(-1e4, 1e4, 2.404825557695773, smallest=-20), lambda x: mpmath.besselj(0, x)),
    "j1": Row(real(-1e4, 1e4, 3.8317059702075125, smallest=-200), lambda x: mpmath.besselj(1, x)),
    "jv": Row(bessel_points, mpmath.besselj, derivatives=(1,)),
    "kv": Row(bessel_points, mpmath.besselk, derivatives=(1,)),
    "kve": Row(bessel_points, bessel(mpmath.besselk, 1), derivatives=(1,)),
    "kve_derivative": Row(bessel_points, lambda v, x: ((1 + v / x) * mpmath.besselk(v, x) - mpmath.besselk(v + 1, x)) * mpmath.exp(x), derivatives=(), cost=2),
    "ndtri_exp": Row(real(-1e5, 0, -0.7), inverse_of=lambda x: (log_ndtr(x), mpmath.exp(-x * x / 2 - log_ndtr(x)) / mpmath.sqrt(2 * mpmath.pi))),
    "owens_t": Row(
        pair(real(-30, 30, smallest=-20), real(-1e3, 1e3, 1.0, smallest=-20)), owens_t, derivatives=(0, 1), cost=8, is_settled=True,
        slopes={0: lambda h, a: -mpmath.erf(a * h * root_half()) * mpmath.exp(-h * h / 2) / mpmath.sqrt(8 * mpmath.pi),
                1: lambda h, a: mpmath.exp(-h * h * (1 + a * a) / 2) / (1 + a * a) / (2 * mpmath.pi)},
    ),
    # Formulas of several of them
    "special.beta": Row(of_two_parameters(-300, 300), lambda a, b: mpmath.exp(log_beta(a, b)), derivatives=()),
    "special.betaln": Row(of_two_parameters(-300, 300), lambda a, b: log_beta(a, b), derivatives=()),
    "special.poch": Row(of_two_parameters(-20, 8), lambda z, m: mpmath.exp(mpmath.loggamma(z + m) - mpmath.loggamma(z)), derivatives=()),
}  # fmt: skip


def log_beta(a: Any, b: Any) -> Any:
    with mpmath.workdps(mp.dps + max(0, int(abs(mpmath.log10(a / b)))) + 20):
        return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


# Exact, or rounded once: arithmetic, selections, roundings, comparisons and logic are tested elsewhere.
EXACT = """abs add and_ angle ceil clip conj copysign eq floor ge gt imag int_div invert isinf isnan le left_shift lt maximum minimum mod mul neg neq
nextafter or_ real right_shift round second sign signbit sub switch trunc xor""".split()
