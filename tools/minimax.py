#!/usr/bin/env python3
"""Minimax polynomials and rational functions for src/program/math, by Remez' exchange in 200-bit arithmetic (mpmath).

Usage: minimax.py [NAME...]      prints the coefficients of the approximations below, and their errors

Each approximation P(z) of f(z) on [low, high] is as good as its weight w(z) says: it minimises the largest |w (P - f)|,
which is the relative error of the function that P is part of. Coefficients are rounded to the format one after another,
lowest first, and the rest fitted again, so that rounding costs little.
"""

import sys

from mpmath import asin, atan, cos, log, lu_solve, matrix, mp, mpf, pi, sin, sqrt

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
    grid[0] += (grid[1] - grid[0]) / 1000  # f and w may be 0/0 at an end
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
        errors = [weight[i] * (sum(c * z ** (first + k) for k, c in enumerate(coefficients)) - target[i])
                  for i, z in enumerate(grid)]
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
        return max(abs(w(z) * (sum(c * z**i for i, c in enumerate(coefficients)) - f(z))) for z in grid)

    best, error = remez(f, w, low, high, count)
    at_once = [rounded(c, bits) for c in best]
    one_by_one = at_once[:1]
    while len(one_by_one) < count:
        rest, _ = remez(f, w, low, high, count - len(one_by_one), one_by_one)
        one_by_one.append(rounded(rest[0], bits))
    after, coefficients = min((error_of(c), c) for c in (at_once, one_by_one))
    return coefficients, error, after


def quotient(z, g):
    """(g(s) / s - 1) / z with s = sqrt(z): what an odd function g(s) = s + s^3 + ... has beyond its first term."""
    s = sqrt(z)
    return (g(s) / s - 1) / z


def odd(g):
    """For g(s) = s + s z P(z), z = s^2: f and w of P."""
    return (lambda z: quotient(z, g)), (lambda z: z * sqrt(z) / g(sqrt(z)))


half_pi = float(pi / 2)

# name: (f, w), interval of z, coefficients for float64, for float32 (None: made otherwise)
approximations = {
    "sin": (odd(sin), (0, half_pi**2), 8, 4),
    "sin_quarter": (odd(sin), (0, half_pi**2 / 4), 6, 3),
    # cos(s) = 1 - z/2 + z^2 P(z)
    "cos_quarter": (((lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2), (lambda z: z**2 / cos(sqrt(z)))),
                    (0, half_pi**2 / 4), 6, 3),
    "atan": (odd(atan), (0, 0.25), 12, 5),
    "asin": (odd(asin), (0, 0.25), 12, 5),
    # log(1 + z) = z - z^2 P(z)
    "log1p": (((lambda z: (z - log(1 + z)) / z**2), (lambda z: abs(z**2 / log(1 + z)))), (0.5**0.5 - 1, 2**0.5 - 1),
              None, 9),
}


def main(names):
    for name in names or approximations:
        (f, w), (low, high), double, single = approximations[name]
        for dtype, count, bits in (("float64", double, 53), ("float32", single, 24)):
            if not count:
                continue
            coefficients, before, after = fit(f, w, low, high, count, bits)
            digits = 17 if bits == 53 else 9
            print(f"{name} {dtype}: 2^{float(log(before, 2)):.1f}, rounded 2^{float(log(after, 2)):.1f}")
            print("  {" + ", ".join(mp.nstr(c, digits) for c in coefficients) + "}")


if __name__ == "__main__":
    main(sys.argv[1:])
