"""Functions of statistics and special functions."""

from __future__ import annotations

from typing import Any

from bitale._core import (
    TensorVariable,
    as_tensor_variable,
    eq,
    gammaln,
    log,
    log1p,
    log_softmax,
    logaddexp,
    logsumexp,
    softmax,
    switch,
)

__all__ = ["betaln", "log_softmax", "logaddexp", "logit", "logsumexp", "softmax", "xlog1py", "xlogy"]


def logit(x: Any) -> TensorVariable:
    """log(x / (1 - x)): the inverse of sigmoid."""
    x = as_tensor_variable(x)
    return log(x / (1 - x))


def betaln(a: Any, b: Any) -> TensorVariable:
    """Logarithm of the beta function."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def xlogy(x: Any, y: Any) -> TensorVariable:
    """x * log(y), and 0 where x is 0."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    return switch(eq(x, 0), 0 * y, x * log(y))


def xlog1py(x: Any, y: Any) -> TensorVariable:
    """x * log(1 + y), and 0 where x is 0."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    return switch(eq(x, 0), 0 * y, x * log1p(y))
