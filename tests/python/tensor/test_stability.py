"""Values and gradients of common expressions against mpmath: accurate to a few units in the last place at the ends of
their range, in whatever form they are written. tests/rules_coverage/stability.md lists the errors."""

import math
import re
from pathlib import Path

import mpmath
import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from stability_table import ROWS

DOCS = Path(__file__).parents[2] / "rules_coverage" / "stability.md"
# different weights, so that the gradient of a softmax's sum is not zero
WEIGHTS_OF_OUTPUTS = [1, 2, 3, 4, 5, 6, 7, 8, 9]


def ulps(got, exact, floor=0.0):
    """The error of `got` in units in the last place; None if the exact result is not a finite float64."""
    info = np.finfo(np.float64)
    if not mpmath.isfinite(exact) or abs(exact) > mpmath.mpf(float(info.max)):
        return None
    if not math.isfinite(got):
        return math.inf
    size = max(abs(exact), mpmath.mpf(floor))
    exponent = max(mpmath.frexp(size)[1] - 1, info.minexp) if size else info.minexp
    return float(abs(mpmath.mpf(got) - exact) / mpmath.ldexp(1, exponent - info.nmant))


def flat(value):
    return list(np.asarray(value, dtype=object).ravel())


def exact_results(row, point):
    """The elements of the value, and the gradients of their weighted sum with respect to each argument's elements."""
    at = [np.vectorize(mpmath.mpf, otypes=[object])(np.asarray(v)) for v in point]

    def evaluate(arguments):
        return flat(row.exact(*[a.tolist() for a in arguments]))

    if row.derivative:
        return evaluate(at), [row.derivative(*[a.tolist() for a in at])]
    gradients = []
    for i in [i for i in range(len(point)) if i not in row.fixed]:
        for index in np.ndindex(at[i].shape):

            def along(t, i=i, index=index):
                moved = [a.copy() for a in at]
                moved[i][index] = t
                return mpmath.fsum(w * v for w, v in zip(WEIGHTS_OF_OUTPUTS, evaluate(moved)))

            gradients.append(mpmath.diff(along, at[i][index]))
    return evaluate(at), gradients


def measure(row):
    """The largest errors of value and gradient in ulp, and the points at which they occur."""
    variables = [
        pt.tensor(f"x{i}", dtype="float64", shape=(None,) * np.ndim(v))
        for i, v in enumerate(row.points[0])
    ]
    wrt = [v for i, v in enumerate(variables) if i not in row.fixed]
    value = row.build(*variables)
    worst = {"value": (0.0,), "gradient": (0.0,)}
    with mpmath.workdps(row.digits):
        results = [exact_results(row, point) for point in row.points]
        cost = (
            (value * np.array(WEIGHTS_OF_OUTPUTS[: len(results[0][0])], dtype=float)).sum()
            if value.ndim
            else value
        )
        f = bt.function(variables, [value, *bt.grad(cost, wrt)])
        for point, (values, gradients) in zip(row.points, results):
            got = f(*[np.array(v) for v in point])
            pairs = [("value", row.floor, g, e) for g, e in zip(flat(got[0]), values, strict=True)]
            floor = row.gradient_floor or row.floor
            of_gradient = [g for part in got[1:] for g in flat(part)]
            pairs += [
                ("gradient", floor, g, e) for g, e in zip(of_gradient, gradients, strict=True)
            ]
            for what, floor, g, e in pairs:
                error = ulps(float(g), e, floor)
                if error is not None and error > worst[what][0]:
                    worst[what] = (error, point, float(g), float(e))
    return worst


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.text)
def test_value_and_gradient(row):
    worst = measure(row)
    assert worst["value"][0] <= row.value_ulp, worst
    assert worst["gradient"][0] <= row.gradient_ulp, worst
    assert row.why or (
        row.value_ulp <= 4 and row.gradient_ulp <= 4 and not row.floor and not row.gradient_floor
    )


HEAD = "| expression | value, ulp | gradient, ulp | why more than 4, or what counts |\n|---|---|---|---|\n"


def test_the_table_in_the_documentation_is_complete():
    """Each row is listed, in order, with errors within the row's bounds and the reason for larger ones."""
    found = re.findall(r"^\| `(.*)` \| (\S+) \| (\S+) \| ?(.*?) ?\|$", DOCS.read_text(), re.M)
    assert [text for text, *_ in found] == [row.text for row in ROWS]
    for (_, value, gradient, why), row in zip(found, ROWS, strict=True):
        assert (
            float(value) <= row.value_ulp and float(gradient) <= row.gradient_ulp and why == row.why
        )


def write_table():
    """Rewrites the table: `python tests/python/tensor/test_stability.py`."""
    lines = []
    for row in ROWS:
        worst = measure(row)
        errors = " | ".join(f"{worst[what][0]:.3g}" for what in ("value", "gradient"))
        lines.append(f"| `{row.text}` | {errors} | {row.why} |\n")
        print(lines[-1], end="", flush=True)
    before = DOCS.read_text().split(HEAD)[0]
    DOCS.write_text(before + HEAD + "".join(lines))


if __name__ == "__main__":
    write_table()
