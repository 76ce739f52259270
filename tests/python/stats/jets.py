"""Numbers of many digits with their derivatives by the arguments of a function, for formulas that are exact: `evaluate`
computes with ever more digits until the result and its derivatives do not change."""

from __future__ import annotations

import mpmath

mp = mpmath.mp


class Jet:
    """A value, and its derivatives by all arguments. `size` and `sizes` are those of the terms that the value and the
    derivatives are sums of: as many digits as these exceed the sum, a formula of floats loses."""

    def __init__(self, value, slopes, size=None, sizes=None):
        self.value, self.slopes = mp.mpf(value), slopes
        self.size = abs(self.value) if size is None else size
        self.sizes = [abs(s) for s in slopes] if sizes is None else sizes

    def chained(self, value, slope):
        steep = abs(slope)
        return Jet(
            value,
            [slope * s if s else s for s in self.slopes],
            abs(value)
            + (steep * (self.size - abs(self.value)) if self.size > abs(self.value) else 0),
            [steep * s if s else s for s in self.sizes],
        )

    def __add__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.slopes, self.size + abs(mp.mpf(other)), self.sizes)
        return Jet(
            self.value + other.value,
            [a + b for a, b in zip(self.slopes, other.slopes)],
            self.size + other.size,
            [a + b for a, b in zip(self.sizes, other.sizes)],
        )

    def __mul__(self, other):
        if not isinstance(other, Jet):
            return self.chained(self.value * other, mp.mpf(other))
        a, b = self.value, other.value
        return self.chained(a * b, b) + other.chained(mp.mpf(0), a)

    def __neg__(self):
        return self.chained(-self.value, mp.mpf(-1))

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return self * (reciprocal(other) if isinstance(other, Jet) else 1 / mp.mpf(other))

    def __rtruediv__(self, other):
        return other * reciprocal(self)

    def __abs__(self):
        return -self if self.value < 0 else self

    def __lt__(self, other):
        return self.value < value_of(other)

    def __le__(self, other):
        return self.value <= value_of(other)

    def __gt__(self, other):
        return self.value > value_of(other)

    def __ge__(self, other):
        return self.value >= value_of(other)

    __radd__, __rmul__ = __add__, __mul__


def value_of(x):
    return x.value if isinstance(x, Jet) else x


def lifted(function, slope):
    """The function of jets, by its derivative at x where it is y."""

    def of(x):
        if not isinstance(x, Jet):
            return function(mp.mpf(x))
        y = function(x.value)
        return x.chained(y, slope(x.value, y))

    return of


def bounded(function, below):
    """Exponentials far out, where mpmath has no room for their exponents."""
    return lambda x: below if x < -1e6 else mp.inf if x > 1e6 else function(x)


bounded_exp, bounded_expm1 = bounded(mp.exp, mp.mpf(0)), bounded(mp.expm1, mp.mpf(-1))
reciprocal = lifted(lambda x: 1 / x, lambda x, y: -y * y)
sqr = lifted(lambda x: x * x, lambda x, y: 2 * x)
sqrt = lifted(mp.sqrt, lambda x, y: 1 / (2 * y))

exp = lifted(bounded_exp, lambda x, y: y)
log = lifted(mp.log, lambda x, y: 1 / x)
log1p = lifted(mp.log1p, lambda x, y: 1 / (1 + x))
expm1 = lifted(bounded_expm1, lambda x, y: bounded_exp(x))
cos = lifted(mp.cos, lambda x, y: -mp.sin(x))
atan = lifted(mp.atan, lambda x, y: 1 / (1 + x * x))
loggamma = lifted(mp.loggamma, lambda x, y: mp.psi(0, x))
erf = lifted(mp.erf, lambda x, y: 2 / mp.sqrt(mp.pi) * bounded_exp(-x * x))


def erfcx_number(x):
    """exp(x^2) erfc(x)"""
    if x < 1e5:
        return mp.exp(x * x) * mp.erfc(x)
    out, term, k = mp.mpf(0), mp.mpf(1), 0
    while abs(term) > mp.eps:
        out, k = out + term, k + 1
        term *= -(2 * k - 1) / (2 * x * x)
    return out / (x * mp.sqrt(mp.pi))


def erfc_number(x):
    return mp.erfc(x) if x < 1e3 else mp.mpf(0)


erfc = lifted(erfc_number, lambda x, y: -2 / mp.sqrt(mp.pi) * bounded_exp(-x * x))
erfcx = lifted(erfcx_number, lambda x, y: 2 * x * y - 2 / mp.sqrt(mp.pi))


def log_erfc_number(x):
    if x > 1:
        return mp.log(erfcx_number(x)) - x * x
    return mp.log1p(-mp.erf(x)) if x > -1 else mp.log(2) + mp.log1p(-erfc_number(-x) / 2)


def log_erfc_slope(x, y):
    return -2 / mp.sqrt(mp.pi) * (1 / erfcx_number(x) if x > 1 else bounded_exp(-x * x - y))


log_erfc = lifted(log_erfc_number, log_erfc_slope)
log_half_erfc = lifted(  # of the normal distribution function at -x sqrt(2)
    lambda x: log_erfc_number(x) - mp.log(2) if x > -1 else mp.log1p(-erfc_number(-x) / 2),
    lambda x, y: log_erfc_slope(x, y + mp.log(2)),
)


def log_bessel_i0(x):
    i0 = mp.besseli(0, x.value)
    return x.chained(mp.log(i0), mp.besseli(1, x.value) / i0)


def log_rising(a, h):
    """log(gamma(a + h) / gamma(a)), also where h is lost in a + h."""
    x, y = value_of(a), value_of(h)
    with mp.extradps(40):
        if y < x * mp.mpf(10) ** -30:
            value, by_a = y * mp.psi(0, x) + y * y / 2 * mp.psi(1, x), y * mp.psi(1, x)
            by_h = mp.psi(0, x)
        else:
            by_h = mp.psi(0, x + y)
            value, by_a = mp.loggamma(x + y) - mp.loggamma(x), by_h - mp.psi(0, x)
        size = abs(mp.psi(0, x)) + abs(by_h)
    out = a.chained(value, by_a) if isinstance(a, Jet) else mp.mpf(value)
    if isinstance(a, Jet):
        out.sizes = [size * s for s in a.sizes]
    return out + h.chained(mp.mpf(0), by_h) if isinstance(h, Jet) else out


def xlogy(x, y):
    """x log(y), which is 0 for x = 0, also where y is 0."""
    return (
        x * log(y) if value_of(y) != 0 else 0 * (x + y) if value_of(x) == 0 else -mp.inf * (x + y)
    )


SMALLEST = mp.mpf(10) ** -330  # of no dtype


def agree(a, b):
    """To 25 digits, or as far as a float can show."""
    return a == b or abs(a - b) <= mp.mpf(10) ** -25 * max(abs(b), SMALLEST)


def evaluate(formula, arguments):
    """The value of the formula at the arguments and its derivatives by them, and the sizes of their terms. None where it
    has no value."""
    before, digits = None, 50
    zeros = [mp.mpf(0)] * len(arguments)
    jets = [Jet(a, [*zeros[:k], mp.mpf(1), *zeros[k + 1 :]]) for k, a in enumerate(arguments)]
    while digits <= 3200:
        with mp.workdps(digits):
            try:
                out = formula(*jets)
            except (ZeroDivisionError, TypeError):  # TypeError: it is complex
                return None
            numbers = [out.value, *out.slopes]
            if any(map(mp.isnan, numbers)):
                return None
            # A zero may be a difference that needs more digits.
            if before and all(map(agree, numbers, before)) and (all(numbers) or digits > 150):
                return numbers, [out.size, *out.sizes]
            before, digits = numbers, digits * 2
    raise ArithmeticError(f"{arguments} need more than {digits} digits")
