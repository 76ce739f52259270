"""The digits that docs/stats.md promises: every density, probability and tail, and all its derivatives, over the whole
range of each dtype against numbers of many digits. The table of formulas is in density_table.py."""

import os
from functools import lru_cache

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

pytest.importorskip("mpmath")
from density_table import ROWS, Draw
from jets import Jet, evaluate, mp, value_of

POINTS = int(os.environ.get("BITALE_TEST_DENSITY_POINTS", 24))  # of each function
UNITS = 32  # in the last place


def is_density(name):
    return "_logpdf" in name or "_logpmf" in name


def point_at(row, arguments):
    """The value, the derivatives, and the unit of the error of each, less the factor epsilon. None where there is no
    value, or where the arguments are none of which the row speaks."""
    found = evaluate(row.exact, arguments)
    if found is None:
        return None
    numbers, sizes = found
    # What rounding the arguments does. Of the value, this is known; derivatives are taken at rounded arguments.
    units = [abs(number) for number in numbers]
    moving = [k for k in range(len(arguments)) if k not in row.whole]
    units[0] += sum(abs(arguments[k] * numbers[1 + k]) for k in moving)
    for k in moving if mp.isfinite(numbers[0]) else ():
        for step in (mp.mpf(2) ** -60, -(mp.mpf(2) ** -60)):
            with mp.workdps(350):
                moved = [*arguments[:k], mp.mpf(arguments[k]) * (1 + step), *arguments[k + 1 :]]
                other = evaluate(row.exact, moved) if arguments[k] else None
                if other is not None:
                    changes = (abs((a - b) / step) for a, b in zip(other[0], numbers))
                    units[1:] = [u + c for u, c in list(zip(units, changes))[1:]]
                    break
    for k in row.cancels:
        units[k] += sizes[k]
    return arguments, numbers, units


def passed_by(row, arguments):
    """Through which numbers the function computes."""
    with mp.workdps(50):
        try:
            passed = row.through(*(Jet(a, [mp.mpf(0)] * len(arguments)) for a in arguments))
        except ZeroDivisionError:
            return [np.inf]
        return [value_of(q) for q in passed]


def are_numbers(values, info):
    return all(q == 0 or info.tiny <= abs(q) <= info.max for q in values)


@lru_cache
def points_of(name, dtype):
    row, info = ROWS[name], np.finfo(dtype)
    rng = np.random.default_rng([*name.encode()])
    points = []
    for attempt in range(100 * POINTS):
        if len(points) == POINTS:
            break
        arguments = row.draw(Draw(rng, dtype, reach=(0, 0.3, 1)[attempt % 3]))
        if are_numbers(arguments, info) and are_numbers(passed_by(row, arguments), info):
            point = point_at(row, arguments)
            points += [] if point is None else [point]
    return points


def expression(name, arguments):
    row = ROWS[name]
    value = (row.build or getattr(bt.stats, name.split()[0]))(*arguments)
    moving = [a for k, a in enumerate(arguments) if k not in row.whole]
    return [value, *bt.grad(value.sum(), moving, disconnected_inputs="ignore")]


def check(name, dtype, got):
    row, info = ROWS[name], np.finfo(dtype)
    almost_largest = 0.999 * float(info.max)
    moving = [k for k in range(len(points_of(name, dtype)[0][0])) if k not in row.whole]
    for j, (arguments, numbers, units) in enumerate(points_of(name, dtype)):
        for k, numbers_of in zip([0, *(1 + k for k in moving)], got):
            number, right, unit = float(numbers_of[j]), numbers[k], units[k]
            message = f"{'slope by argument ' + str(k) if k else 'value'} at {arguments}: {number}, not {mp.nstr(right, 17)}"
            if abs(right) > almost_largest:
                assert not abs(number) < almost_largest / 2, message
                if not k:
                    assert number == np.sign(right) * np.inf or abs(number) > almost_largest / 2, (
                        message
                    )
            else:
                if k == 0 and is_density(name):
                    unit += 1  # a density has so many digits, not its logarithm
                allowed = UNITS * float(info.eps) * unit + float(info.tiny)
                assert abs(number - right) <= allowed, f"{message}; allowed {mp.nstr(allowed, 3)}"
            if abs(numbers[0]) > almost_largest:
                break  # there are no derivatives


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_digits(name, dtype):
    points = points_of(name, dtype)
    assert len(points) == POINTS
    given = np.array([arguments for arguments, *_ in points], dtype).T
    inputs = [pt.vector(dtype=dtype) for _ in given]
    outputs = expression(name, inputs)
    with np.errstate(all="ignore"):
        for mode in ("FAST_RUN", "FAST_COMPILE"):
            check(
                name,
                dtype,
                bt.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*given),
            )
        constants = expression(name, [pt.as_tensor(a) for a in given])
        check(name, dtype, bt.function([], constants)())


def test_every_density_has_a_row():
    functions = {name for name in dir(bt.stats) if "_log" in name}
    assert {name.split()[0] for name in ROWS} == functions
