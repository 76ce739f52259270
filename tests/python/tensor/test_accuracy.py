"""Every mathematical function of the registry, and its derivative by each argument that has one, against mpmath in
float64: the errors stay below the bounds of the table in docs/math.md. The suite tries a fixed number of points;

    python tests/python/tensor/test_accuracy.py [--points N] [--seed N] [--markdown] [FUNCTION...]

tries 2,000 (or N) for each function and prints the largest errors."""

from __future__ import annotations

import argparse
import math
import pathlib
import random
import re
import sys
from typing import Any, Callable, NamedTuple

import mpmath
import numpy as np
import pytest
from accuracy_table import EXACT, TABLE, Point, Row, by, settled
from mpmath import mp, mpf

import bitale as bt
import bitale.tensor as pt
from bitale import _core

DIGITS = 40
COLUMNS = ["value", "by x", "by y", "by z", "by w"]
PAGE = pathlib.Path(__file__).parents[3] / "docs" / "math.md"
HEAD = "| function | value | by x | by y | by z | by w |"


class Bound(NamedTuple):
    """In units in the last place of the result; of kind b in those plus the change of the result by one unit in each
    argument; of kind a in those of 1."""

    size: float
    kind: str


def bounds() -> dict[str, dict[str, Bound]]:
    rows = PAGE.read_text().split(HEAD)[1].split("\n\n")[0].splitlines()[2:]
    out = {}
    for row in rows:
        name, *cells = (cell.strip() for cell in row.strip("| ").split("|"))
        found = {
            column: re.fullmatch(r"([0-9.e]+)(?: ([ab]))?", cell)
            for column, cell in zip(COLUMNS, cells)
        }
        out[name.strip("`")] = {
            column: Bound(float(cell[1]), cell[2] or "") for column, cell in found.items() if cell
        }
    return out


# ---- errors ----------------------------------------------------------------------------------------------------------


def ulp(x: Any) -> Any:
    exponent = mpmath.frexp(x)[1] - 1 if x else -1022
    return mpmath.ldexp(1, max(int(exponent), -1022) - 52)


def error_of(got: float, exact: Any, unit: Any) -> float:
    if mpmath.isnan(exact):
        return 0 if math.isnan(got) else math.inf
    if abs(exact) >= mpmath.ldexp(1, 1024) - mpmath.ldexp(1, 970):  # overflow
        return (
            0
            if got == math.copysign(math.inf, exact)
            else float(abs(mpf(got) - exact) / unit)
            if math.isfinite(got)
            else math.inf
        )
    if not math.isfinite(got):
        return math.inf
    return float(abs(mpf(got) - exact) / unit)


def sensitivity(function: Callable[..., Any], at: list[Any], exact: Any) -> Any:
    """How much the result changes if each argument changes by a unit in its last place."""
    step = mpmath.ldexp(1, -40)
    changes = (
        abs(function(*at[:i], x * (1 + step), *at[i + 1 :]) - exact) for i, x in enumerate(at)
    )
    return sum(changes, mpf(0)) * mpmath.ldexp(1, -12)


class Exact(NamedTuple):
    value: Any
    spread: Callable[[], Any]  # the sensitivity


def references(row: Row, point: Point, got: float) -> list[Exact]:
    """The value and each derivative."""
    at = list(map(mpf, point))
    if row.exact:
        functions = [row.exact, *(row.slopes.get(i) or by(row.exact, i) for i in row.derivatives)]
        if not row.is_settled:
            functions = list(map(settled, functions))
        values = [function(*at) for function in functions]
        return [Exact(v, lambda f=f, v=v: sensitivity(f, at, v)) for f, v in zip(functions, values)]
    return inverses(row.inverse_of, at, got, row.derivatives)


def inverses(function: Any, at: list[Any], got: float, derivatives: tuple[int, ...]) -> list[Exact]:
    """Of an inverse function, by Newton's method from the value found: if that is wrong, so is the result."""
    *rest, p = at

    def solve(x: Any, rest: list[Any], p: Any) -> Any:
        for _ in range(3):
            value, slope = function(*rest, x)
            x -= (value - p) / slope
        return x

    x = solve(mpf(got), rest, p)

    def slope_by(i: int, x: Any, rest: list[Any]) -> Any:
        slope = function(*rest, x)[1]
        return 1 / slope if i == len(rest) else -by(lambda *a: function(*a)[0], i)(*rest, x) / slope

    def of(i: int) -> Callable[..., Any]:
        return lambda *at: slope_by(i, solve(x, list(at[:-1]), at[-1]), list(at[:-1]))

    out = [Exact(x, lambda: sensitivity(lambda *at: solve(x, list(at[:-1]), at[-1]), at, x))]
    for i in derivatives:
        value = slope_by(i, x, rest)
        out.append(Exact(value, lambda i=i, value=value: sensitivity(of(i), at, value)))
    return out


def is_at_an_end(row: Row, got: float) -> bool:
    return row.inverse_of is not None and (got in (0, 1, -1) or not math.isfinite(got))


class Worst(NamedTuple):
    error: float
    point: Point
    got: float


def compiled(name: str, row: Row, arity: int) -> Callable[..., list[np.ndarray]]:
    function = pt.special
    for part in name.removeprefix("special.").split("."):
        function = getattr(function if name.startswith("special.") else pt, part)
    variables = [pt.dvector(f"x{i}") for i in range(arity)]
    out = function(*variables)
    outputs = [out, *(bt.grad(out.sum(), variables[i]) for i in row.derivatives)]
    return bt.function(variables, outputs, on_unused_input="ignore")


def columns(row: Row) -> list[str]:
    return ["value", *(COLUMNS[i + 1] for i in row.derivatives)]


def search(name: str, count: int, seed: int, kind: Callable[[str], str]) -> dict[str, list[Worst]]:
    """The errors in each column, the largest first. Points at which mpmath does not converge are left out."""
    row, rng = TABLE[name], random.Random(f"{name} {seed}")
    points = [row.points(rng) for _ in range(max(4, count // row.cost))]
    values = compiled(name, row, len(points[0]))(*(np.array(x) for x in zip(*points)))
    out: dict[str, list[Worst]] = {column: [] for column in columns(row)}
    with mpmath.workdps(DIGITS), np.errstate(all="ignore"):
        for i, point in enumerate(points):
            if is_at_an_end(row, float(values[0][i])):
                continue
            try:
                exact = references(row, point, float(values[0][i]))
                for column, value, (expected, spread) in zip(out, values, exact):
                    if not mpmath.isfinite(expected) or not isinstance(expected, mpf):
                        continue  # no real value
                    unit = (
                        ulp(mpf(1))
                        if kind(column) == "a"
                        else ulp(expected) + (spread() if kind(column) == "b" else 0)
                    )
                    out[column].append(
                        Worst(error_of(float(value[i]), expected, unit), point, float(value[i]))
                    )
            except (mp.NoConvergence, ZeroDivisionError, ValueError, TypeError, OverflowError):
                continue
    for found in out.values():
        found.sort(key=lambda worst: -worst.error)
    return out


# ---- tests -----------------------------------------------------------------------------------------------------------

BOUNDS = bounds()


def test_the_table_has_every_function():
    names = {name for name, _ in _core.elementwise_functions()}
    assert {name for name in TABLE if not name.startswith("special.")} == names - set(EXACT)
    assert list(BOUNDS) == sorted(TABLE)
    for name, row in TABLE.items():
        assert list(BOUNDS[name]) == columns(row), name


@pytest.mark.parametrize("name", sorted(TABLE))
def test_errors_stay_below_the_bounds_of_the_page(name):
    bound = BOUNDS[name]
    for column, found in search(name, 12, 0, lambda column: bound[column].kind).items():
        assert len(found) >= 2, f"{column}: mpmath has no references"
        assert found[0].error <= bound[column].size, f"{column}: {found[0]}"


# ---- the search in full ----------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(
        description="The largest errors of the mathematical functions."
    )
    parser.add_argument("functions", nargs="*")
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", action="store_true", help="rows for the table")
    given = parser.parse_args()
    failed = False
    for name in given.functions or sorted(TABLE):
        known = BOUNDS.get(name, {})
        found = search(
            name,
            given.points,
            given.seed,
            lambda column: known[column].kind if column in known else "",
        )
        cells = dict.fromkeys(COLUMNS, "–")
        for column, errors in found.items():
            bound = known.get(column)
            exceeds = bool(errors) and (bound is None or errors[0].error > bound.size)
            failed |= exceeds
            cells[column] = (
                f"{errors[0].error:.3g}" + (f" {bound.kind}" if bound and bound.kind else "")
                if errors
                else "?"
            )
            if not given.markdown or exceeds:
                for worst in errors[: 3 if exceeds else 1]:
                    print(
                        f"{name} {column}: {worst.error:.4g} at {worst.point}: {worst.got!r}, {len(errors)} points",
                        file=sys.stderr if given.markdown else sys.stdout,
                    )
        if given.markdown:
            print(f"| `{name}` | " + " | ".join(cells.values()) + " |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
