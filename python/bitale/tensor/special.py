"""Functions of statistics and special functions."""

from __future__ import annotations

from typing import Any

from bitale._core import (
    TensorVariable,
    as_tensor_variable,
    gammaln,
    log,
    log_softmax,
    logaddexp,
    logsumexp,
    softmax,
    xlog1py,
    xlogy,
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
