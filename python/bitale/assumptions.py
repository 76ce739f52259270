"""Facts of matrices that rewrites use: diagonal, triangular, symmetric, positive definite, orthogonal. ``assume`` states
them, ``known_facts`` says what is known of an expression."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import ConflictingAssumptionsError, assume

__all__ = ["ConflictingAssumptionsError", "assume", "known_facts"]

ConflictingAssumptionsError.__module__ = __name__


def known_facts(x: Any) -> frozenset[str]:
    """The short names of the facts that are known of x as a matrix, or of each matrix of a batch: "diag", "tril",
    "triu", "sym", "pd" (positive definite), "orth", "sel", "perm", "uniq", "posdiag" (all of the diagonal is greater
    than 0), "unitdiag" (it is 1), "psd" (positive semidefinite), "square"; with "!" in front, those known not to hold. They follow from what was stated by
    ``assume``, and from what the ops of the expression make of it."""
    text = _core._known_structure(x)
    return frozenset(text.split(",")) if text else frozenset()
