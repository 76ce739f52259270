"""Facts of matrices that rewrites use: diagonal, triangular, symmetric, positive definite, orthogonal. ``assume`` states
them, ``known_facts`` says what is known of an expression."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import ConflictingAssumptionsError, assume

__all__ = ["ConflictingAssumptionsError", "assume", "known_facts"]

ConflictingAssumptionsError.__module__ = __name__


def known_facts(x: Any) -> frozenset[str]:
    """Find the facts that are known of a tensor as a matrix.

    Parameters
    ----------
    x : TensorVariable
        Matrix, or batch of matrices.

    Returns
    -------
    frozenset of str
        Short names: "diag", "tril", "triu", "sym", "pd" (positive definite),
        "orth", "sel", "perm", "uniq", "posdiag" (the diagonal is positive),
        "unitdiag" (it is 1), "psd" (positive semidefinite), "square"; with "!"
        before it for a fact that is known not to hold.

    See Also
    --------
    bitale.tensor.assume

    Notes
    -----
    The facts follow from what `assume` states, and from the ops of the expression.
    """
    text = _core._known_structure(x)
    return frozenset(text.split(",")) if text else frozenset()
