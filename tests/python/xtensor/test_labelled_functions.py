"""The functions that follow from records: how they are called, what they say of themselves, and errors in arguments."""

import inspect
import re

import pytest

from bitale import _core
from bitale import xtensor as px

RECORDS = [name for name in dir(_core) if type(getattr(_core, name)).__name__ == "nb_func"]
RECORDS = [
    name
    for name in RECORDS
    if name.startswith("xtensor_") and (getattr(_core, name).__doc__ or "").count("\nReturns\n")
]
X = px.xtensor("x", dims=("a", "b"))


def test_there_are_records():
    assert len(RECORDS) > 40 and {"xtensor_svd", "xtensor_sum", "xtensor_convolve1d"} <= set(
        RECORDS
    )


@pytest.mark.parametrize("name", RECORDS)
def test_descriptions_are_whole(name):
    function = getattr(_core, name)
    assert function.__name__ == name.removeprefix("xtensor_")
    text = inspect.getdoc(function)
    parameters = text.partition("\nReturns\n")[0]
    for parameter in inspect.signature(function).parameters:
        line = re.search(rf"^{parameter} : (.*)\n    \S", parameters, re.M)
        assert line and "object" not in line[1], f"{parameter} is not described"
    assert "Raises" in text


def test_signatures():
    def shown(function):
        return str(inspect.signature(function)).replace("'", "").replace("Any", "object")

    assert shown(px.linalg.cholesky) == (
        "(x: object, lower: bool = True, *, check_finite: bool = True, dims: object) -> XTensorVariable"
    )
    assert shown(px.linalg.svd).endswith(
        "mode: object = mode) -> tuple[XTensorVariable, XTensorVariable, XTensorVariable]"
    )
    assert shown(px.linalg.pinv) == (
        "(x: object, *, dims: object, rcond: float | None = None) -> XTensorVariable"
    )
    assert list(inspect.signature(X.sum).parameters) == ["dim"]
    assert list(inspect.signature(px.XTensorVariable.var).parameters) == ["self", "dim", "ddof"]


DIMS = {"dims": ("a", "b")}


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda: px.linalg.cholesky(X), TypeError, "cholesky: the argument dims is missing"),
        (lambda: px.linalg.cholesky(X, True, ("a", "b")), TypeError, "at most 2 arguments by position, got 3"),
        (lambda: px.linalg.cholesky(X, x=X, **DIMS), TypeError, "x is given twice"),
        (lambda: px.linalg.cholesky(X, lowr=True, **DIMS), TypeError, 'no argument is called "lowr".*did you mean "lower"'),
        (lambda: px.linalg.cholesky(X, "yes", **DIMS), TypeError, "lower: expected a bool, got 'yes'"),
        (lambda: px.linalg.matrix_power(X, 2.5, **DIMS), TypeError, "n: expected an integer, got 2.5"),
        (lambda: px.linalg.pinv(X, rcond="small", **DIMS), TypeError, "rcond: expected a number, got 'small'"),
        (lambda: px.linalg.norm(X, "large", **DIMS), ValueError, "expected a number, None, or ord"),
        (lambda: px.linalg.schur(X, sort=[], **DIMS), TypeError, "sort: expected a string"),
        (lambda: px.linalg.solve(X, X, ("a", "b"), assume_a="other"), ValueError, "expected assume_a"),
        (lambda: px.linalg.cho_solve(X, X, ("a", "b")), TypeError, r"expected the pair \(factor, lower\)"),
        (lambda: px.linalg.lu_solve((X, X), X, ("a", "b"), trans=3), ValueError, 'expected trans "N", "T" or "C"'),
        (lambda: px.signal.convolve1d(X, X, "most", dims=("a", "b")), ValueError, "expected mode"),
        (lambda: X.sum(3), TypeError, "sum: expected names of dimensions, got 3"),
        (lambda: X.var(ddof=0.5), TypeError, "ddof: expected an integer"),
        (lambda: X.argmax(), TypeError, "the argument dim is missing"),
        (lambda: px.reduction.sum([1.0, 2.0]), TypeError, "names"),
    ],
)  # fmt: skip
def test_bad_arguments(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()
