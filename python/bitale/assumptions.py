"""Facts of matrices that rewrites use: diagonal, triangular, symmetric, positive definite, orthogonal. ``assume`` states
them, ``known_facts`` says what is known of an expression, and ``check_assumption`` asks for one fact by its key."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from bitale._geography import absent
from bitale import _core
from bitale._class_factory import formula_class, is_library_op
from bitale._core import ConflictingAssumptionsError, FunctionGraph as FunctionGraph, assume

__all__ = [
    "ALL_KEYS",
    "DIAGONAL",
    "LOWER_TRIANGULAR",
    "ORTHOGONAL",
    "PERMUTATION",
    "POSITIVE_DEFINITE",
    "SELECTION",
    "SYMMETRIC",
    "TRIDIAGONAL",
    "UNIQUE_INDICES",
    "UNIT_MAGNITUDE",
    "UPPER_TRIANGULAR",
    "AssumptionKey",
    "ConflictingAssumptionsError",
    "FactState",
    "SpecifyAssumptions",
    "assume",
    "check_assumption",
    "known_facts",
]

ConflictingAssumptionsError.__module__ = __name__


@dataclasses.dataclass(frozen=True)
class AssumptionKey:
    """A fact that tensors may have.

    Parameters
    ----------
    name : str
        The argument of `assume`.
    short_name : str
        What `known_facts` calls it.
    """

    name: str
    short_name: str = ""

    def __str__(self) -> str:
        return self.short_name or self.name


DIAGONAL = AssumptionKey("diagonal", "diag")
LOWER_TRIANGULAR = AssumptionKey("lower_triangular", "tril")
UPPER_TRIANGULAR = AssumptionKey("upper_triangular", "triu")
SYMMETRIC = AssumptionKey("symmetric", "sym")
POSITIVE_DEFINITE = AssumptionKey("positive_definite", "pd")
ORTHOGONAL = AssumptionKey("orthogonal", "orth")
SELECTION = AssumptionKey("selection", "sel")
PERMUTATION = AssumptionKey("permutation", "perm")
UNIQUE_INDICES = AssumptionKey("unique_indices", "uniq")
TRIDIAGONAL = AssumptionKey("tridiagonal", "tridiag")
UNIT_MAGNITUDE = AssumptionKey("unit_magnitude", "unit")

ALL_KEYS = (
    DIAGONAL, LOWER_TRIANGULAR, UPPER_TRIANGULAR, SYMMETRIC, POSITIVE_DEFINITE, ORTHOGONAL, SELECTION, PERMUTATION, UNIQUE_INDICES,
    TRIDIAGONAL, UNIT_MAGNITUDE,
)  # fmt: skip


class FactState(enum.Enum):
    """What is known of a fact."""

    UNKNOWN = "unknown"
    TRUE = "true"
    FALSE = "false"
    CONFLICT = "conflict"


def _state(x: Any, key: AssumptionKey) -> FactState:
    facts = known_facts(x)
    holds, fails = key.short_name in facts, f"!{key.short_name}" in facts
    if holds and fails:
        return FactState.CONFLICT
    return FactState.TRUE if holds else FactState.FALSE if fails else FactState.UNKNOWN


def _specify(x: Any, assumptions: Any) -> Any:
    stated = assumptions.items() if isinstance(assumptions, dict) else assumptions
    return assume(
        x,
        **{
            key.name if isinstance(key, AssumptionKey) else str(key): bool(holding)
            for key, holding in stated
        },
    )


SpecifyAssumptions = formula_class(
    "SpecifyAssumptions",
    "States facts about a tensor; see `assume`.",
    _specify,
    __name__,
    {"assumptions": ...},
    is_library_op("SpecifyAssumptions"),
)


def check_assumption(fgraph: Any, var: Any, key: AssumptionKey) -> bool:
    """Find whether a fact is known to hold.

    Parameters
    ----------
    fgraph : FunctionGraph or None
        Accepted for compatibility with PyTensor: what `var` is computed from
        decides.
    var : TensorVariable
        Tensor.
    key : AssumptionKey
        Fact, such as `DIAGONAL`.

    Returns
    -------
    bool
        Whether it follows from what `assume` states and from the ops of the
        expression.

    Raises
    ------
    TypeError
        If `key` is not an AssumptionKey.

    See Also
    --------
    known_facts

    Examples
    --------
    >>> from bitale.assumptions import LOWER_TRIANGULAR, check_assumption
    >>> check_assumption(None, pt.linalg.cholesky(pt.dmatrix("A")), LOWER_TRIANGULAR)
    True
    """
    if not isinstance(key, AssumptionKey):
        raise TypeError(
            f"check_assumption: expected an AssumptionKey, such as DIAGONAL, got {key!r}"
        )
    return _state(var, key) is FactState.TRUE


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
        "orth", "sel", "perm", "uniq", "tridiag", "unit", "posdiag" (the diagonal is positive),
        "unitdiag" (it is 1), "psd" (positive semidefinite), "skew" (the
        negative of its transpose), "square"; with "!" before it for a fact
        that is known not to hold.

    See Also
    --------
    bitale.tensor.assume

    Notes
    -----
    The facts follow from what `assume` states, and from the ops of the expression.
    """
    text = _core._known_structure(x)
    return frozenset(text.split(",")) if text else frozenset()


__getattr__ = absent(__name__)
