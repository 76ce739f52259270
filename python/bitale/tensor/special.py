"""Functions of statistics and special functions."""

from __future__ import annotations

from bitale._core import (
    beta,
    betaln,
    factorial,
    log_softmax,
    logaddexp,
    logit,
    logsumexp,
    poch,
    softmax,
    xlog1py,
    xlogx,
    xlogy,
)

from bitale._geography import finder

__getattr__ = finder(__name__)  # classes of ops
__all__ = [
    "beta",
    "betaln",
    "factorial",
    "log_softmax",
    "logaddexp",
    "logit",
    "logsumexp",
    "poch",
    "softmax",
    "xlog1py",
    "xlogx",
    "xlogy",
]
