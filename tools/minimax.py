#!/usr/bin/env python3
"""Minimax polynomials and rational functions for src/program/math, by Remez' exchange in 200-bit arithmetic (mpmath).

Usage: minimax.py [NAME...]      prints the coefficients of the approximations below, and their errors; the tables of
                                 erf ("erf_table"), tanh ("tanh_table") and the logarithms ("log_table")

Each approximation P(z) of f(z) on [low, high] is as good as its weight w(z) says: it minimises the largest |w (P - f)|,
which is the relative error of the function that P is part of. Coefficients are rounded to the format one after another,
lowest first, and the rest fitted again, so that rounding costs little.
"""

import sys

from mpmath import (
    asin,
    atan,
    cbrt,
    cos,
    erf,
    erfc,
    erfinv,
    exp,
    expm1,
    floor,
    gamma,
    log,
    lu_solve,
    matrix,
    mp,
    mpf,
    pi,
    sin,
    sqrt,
    tanh,
)

mp.prec = 200


def roots_between(points, values):
    """The extrema of a sampled function between its changes of sign: one index per run of equal signs."""
    best, out = 0, []
    for i in range(1, len(points)):
        if (values[i] > 0) != (values[best] > 0):
            out.append(best)
            best = i
        elif abs(values[i]) > abs(values[best]):
            best = i
    return out + [best]


def chebyshev_grid(low, high, count):
    return [(low + high) / 2 - (high - low) / 2 * cos(pi * i / (count - 1)) for i in range(count)]


def remez(f, w, low, high, free, fixed=()):
    """The coefficients of z^len(fixed), z^(len(fixed)+1), ...: `free` of them, and the largest weighted error."""
    first = len(fixed)
    grid = chebyshev_grid(mpf(low), mpf(high), 40 * (free + 2) + 1)
    grid[0] += (grid[1] - grid[0]) / 1000  # f and w may be 0/0 at an endpoint
    target = [f(z) - sum(c * z**i for i, c in enumerate(fixed)) for z in grid]
    weight = [w(z) for z in grid]
    picks = [round((len(grid) - 1) * i / free) for i in range(free + 1)]
    for _ in range(30):
        a, b = matrix(free + 1), matrix(free + 1, 1)
        for row, p in enumerate(picks):
            for column in range(free):
                a[row, column] = grid[p] ** (first + column)
            a[row, free] = (-1) ** row / weight[p]
            b[row] = target[p]
        solution = lu_solve(a, b)
        coefficients = list(solution[:free])
        errors = [
            weight[i] * (sum(c * z ** (first + k) for k, c in enumerate(coefficients)) - target[i])
            for i, z in enumerate(grid)
        ]
        extrema = roots_between(grid, errors)
        while len(extrema) > free + 1:  # drop the smaller end
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < free + 1 or extrema == picks:
            break
        picks = extrema
    return coefficients, max(abs(e) for e in errors)


def rounded(value, bits):
    with mp.workprec(bits):
        return +value


def fit(f, w, low, high, count, bits):
    """Coefficients rounded to `bits`, and the error before and after rounding."""
    grid = chebyshev_grid(mpf(low), mpf(high), 1001)[1:]

    def error_of(coefficients):
        return max(
            abs(w(z) * (sum(c * z**i for i, c in enumerate(coefficients)) - f(z))) for z in grid
        )

    best, error = remez(f, w, low, high, count)
    at_once = [rounded(c, bits) for c in best]
    one_by_one = at_once[:1]
    while len(one_by_one) < count <= 13:  # for long polynomials this takes minutes
        rest, _ = remez(f, w, low, high, count - len(one_by_one), one_by_one)
        one_by_one.append(rounded(rest[0], bits))
    after, coefficients = min((error_of(c), c) for c in (at_once, one_by_one) if len(c) == count)
    return coefficients, error, after


def quotient(z, g):
    """(g(s) / s - 1) / z with s = sqrt(z): what an odd function g(s) = s + s^3 + ... has beyond its first term."""
    s = sqrt(z)
    return (g(s) / s - 1) / z


def odd(g):
    """For g(s) = s + s z P(z), z = s^2: f and w of P."""
    return (lambda z: quotient(z, g)), (lambda z: z * sqrt(z) / g(sqrt(z)))


def interpolated(g, low, high, count=90):
    """g, which is dear and smooth on [low, high], by its Chebyshev series."""
    centre, radius = (mpf(low) + high) / 2, (mpf(high) - low) / 2
    nodes = [cos(pi * (k + mpf(1) / 2) / count) for k in range(count)]
    values = [g(centre + radius * t) for t in nodes]
    series = [
        2 * sum(v * cos(pi * j * (k + mpf(1) / 2) / count) for k, v in enumerate(values)) / count
        for j in range(count)
    ]

    def value(z):
        t, a, b = (z - centre) / radius, mpf(0), mpf(0)
        for c in reversed(series[1:]):
            a, b = 2 * t * a - b + c, a
        return t * a - b + series[0] / 2

    return value


def inverse_erf(w):
    """y and x = erf(y) with -log(1 - x^2) = w > 0, by Halley's steps."""
    x = sqrt(-expm1(-w))
    rest = exp(-w) / (1 + x)  # 1 - x
    y = erfinv(mpf(float(x))) if w < 9 else sqrt(w - log(sqrt(pi * w)))
    for _ in range(50):
        step = (x - erf(y) if x < 0.5 else erfc(y) - rest) * sqrt(pi) / 2 * exp(y * y)
        step /= 1 - y * step
        y += step
        if abs(step) < mpf(2) ** (12 - mp.prec) * y:
            break
    return y, x


def inverse_erf_over_x(w):
    y, x = inverse_erf(w)
    return y / x


def shifted(g, low, high, shift, weight=lambda z, value: 1 / value):
    """f and w of an approximation of g(z + shift), and its interval; the weight is that of relative errors, or other."""
    value = interpolated(g, low + shift, high + shift)
    return ((lambda z: value(z + shift)), (lambda z: weight(z + shift, value(z + shift)))), (
        low,
        high,
    )


def inverse_erf_bend(w):
    """What erfinv(x) / x = sqrt(pi) / 2 + w P(w) has for P."""
    return (inverse_erf_over_x(w) - sqrt(pi) / 2) / w


half_pi = float(pi / 2)

# name: (f, w), interval of z, number of coefficients for float64, for float32 (None: computed in another way)
approximations = {
    "sin": (odd(sin), (0, half_pi**2), 8, 4),
    "sin_quarter": (odd(sin), (0, half_pi**2 / 4), 6, 3),
    # cos(s) = 1 - z/2 + z^2 P(z)
    "cos_quarter": (
        ((lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2), (lambda z: z**2 / cos(sqrt(z)))),
        (0, half_pi**2 / 4),
        6,
        3,
    ),
    "atan": (odd(atan), (0, 0.25), 12, 5),
    "asin": (odd(asin), (0, 0.25), 12, 5),
    # log(1 + z) = z - z^2 P(z)
    "log1p": (
        ((lambda z: (z - log(1 + z)) / z**2), (lambda z: abs(z**2 / log(1 + z)))),
        (0.5**0.5 - 1, 2**0.5 - 1),
        None,
        9,
    ),
    # 2^z = 1 + z P(z)
    "exp2": (
        ((lambda z: expm1(z * log(2)) / z if z else log(2)), (lambda z: abs(z) / 2**z)),
        (-0.5, 0.50001),
        11,
        6,
    ),
    # Around the middle of the interval of z, in the difference from it.
    "inverse_cbrt": lambda: (*shifted(lambda m: 1 / cbrt(m), -0.36, 0.36, 1.0625), 6, 5),
    "gamma": lambda: (*shifted(gamma, -0.625, 0.625, 1.625), 24, 12),
    # By w = -log(1 - x^2), sqrt(w), and 1 / (1 + sqrt(w)): erfinv(x) / x = sqrt(pi) / 2 + w P(w) = sqrt(w) + P(sqrt(w)),
    # erfinv(x) = sqrt(w) + P(1 / (1 + sqrt(w))).
    "erfinv": lambda: (
        *shifted(inverse_erf_bend, -3.999, 4, 4, lambda w, value: w / (sqrt(pi) / 2 + w * value)),
        26,
        12,
    ),
    "erfinv_tail": lambda: (
        *shifted(
            lambda s: inverse_erf_over_x(s * s) - s,
            -1.635,
            1.635,
            4.4625,
            lambda s, value: 1 / (s + value),
        ),
        27,
        None,
    ),
    "erfinv_tail_float": lambda: (
        *shifted(
            lambda s: inverse_erf_over_x(s * s) - s,
            -0.625,
            0.625,
            3.4375,
            lambda s, value: 1 / (s + value),
        ),
        None,
        8,
    ),
    "erfcinv_tail": lambda: (
        *shifted(
            lambda t: inverse_erf((1 / t - 1) ** 2)[0] - (1 / t - 1),
            -0.1131,
            0.1131,
            0.1482,
            lambda t, value: 1 / (1 / t - 1 + value),
        ),
        36,
        None,
    ),
    "erfcinv_tail_float": lambda: (
        *shifted(
            lambda t: inverse_erf((1 / t - 1) ** 2)[0] - (1 / t - 1),
            -0.087,
            0.087,
            0.17431640625,
            lambda t, value: 1 / (1 / t - 1 + value),
        ),
        None,
        9,
    ),
}


def through(f, low, high, count):
    """The polynomial that equals f at Chebyshev's points: nearly as good as the best."""
    points = [
        (low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * count))
        for k in range(count)
    ]
    points = [p + (high - low) / 1000003 for p in points]  # none is 0
    return list(
        lu_solve(
            matrix([[p**j for j in range(count)] for p in points]), matrix([f(p) for p in points])
        )
    )


def step_table(g, bits, unit, near, bound, degree):
    """Coefficients of g, an odd function, about n h, for a step h next to near / unit whose first values are short."""

    def inexact(h):
        return max(
            abs(g(n * h) - rounded(g(n * h), bits)) * 2**bits * weight
            for n, weight in ((1, 4), (2, 1), (3, 0.5))
        )

    h = min((mpf(near + k) / unit for k in range(50)), key=inexact)
    columns = []
    for n in range(16):
        about, is_first = n * h, n == 0
        low, high = 0 if is_first else -h / 2, min(h / 2, bound - about)
        rest = through(
            lambda t: (g(about + t) - g(about) - (t if is_first else 0)) / t, low, high, degree
        )
        columns.append([rounded(c, bits) for c in [g(about), *rest]])
    return h, list(zip(*columns))


# The rows of erf_table.hpp and tanh_table.hpp.
step_tables = {
    "erf_table": {53: (erf, 53, 2**20, 401492, 5.93, 12), 24: (erf, 24, 2**16, 16595, 3.926, 6)},
    "tanh_table": {24: (tanh, 24, 2**16, 39616, 9.36, 7)},
}


def log_table(base, bits):
    """c and -log(c) to a base, n = 11 ... 22: the logarithm short, and c such that it is right."""
    unit, enough = (2**42, 2.0**-66) if bits == 53 else (2**16, 0)
    scale, rows = 1 / log(base), []
    for n in range(11, 23):
        low, high = max(0.75, (n - 0.5) / 15), min(1.5, (n + 0.5) / 15)
        # Next to c = 1, |r| < 1/32 on the side of 1: r is then known to a quarter unit of the result.
        centre = {14: mpf("0.94"), 16: mpf("1.0605")}.get(n, (mpf(low) + high) / 2)
        steps = int(scale * unit * 0.0025)
        best = (mpf(1), mpf(1), mpf(0))
        for k in range(0 if n == 15 else 2 * steps):
            short = (floor(log(centre) * scale * unit) + (k // 2 if k % 2 else -k // 2)) / unit
            exact = exp(-short / scale)
            best = min(best, (abs(rounded(exact, bits) / exact - 1), rounded(exact, bits), short))
            if best[0] < enough:
                break
        rows.append(best[1:])
    return rows


def print_tables(name):
    for bits, digits in ((53, 17), (24, 9)):
        if name in step_tables:
            if bits not in step_tables[name]:
                continue
            step, rows = step_table(*step_tables[name][bits])
            print(f"{name} float{64 if bits == 53 else 32}: step {mp.nstr(step, 17)}")
            for row in rows:
                print("  {" + ", ".join(mp.nstr(c, digits) for c in row) + "}")
        else:
            for base in (mp.e, 2, 10):
                print(f"log_table to base {mp.nstr(mpf(base), 5)}, {bits} bits")
                for c, value in log_table(base, bits):
                    print(f"  {mp.nstr(c, digits)}, {mp.nstr(value, digits)}")


def main(names):
    for name in names or approximations:
        if name.endswith("_table"):
            print_tables(name)
            continue
        row = approximations[name]
        (f, w), (low, high), double, single = row() if callable(row) else row
        for dtype, count, bits in (("float64", double, 53), ("float32", single, 24)):
            if not count:
                continue
            coefficients, before, after = fit(f, w, low, high, count, bits)
            digits = 17 if bits == 53 else 9
            print(
                f"{name} {dtype}: 2^{float(log(before, 2)):.1f}, rounded 2^{float(log(after, 2)):.1f}"
            )
            print("  {" + ", ".join(mp.nstr(c, digits) for c in coefficients) + "}")


if __name__ == "__main__":
    main(sys.argv[1:])
