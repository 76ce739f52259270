"""Decides which results are right: those that some evaluation within the functions' error budgets gives.

The oracle is evaluated natively, in long double, and several times with every inexact result perturbed within its
budget. The spread of these evaluations bounds the effect of another order of summation, a fused multiply-add or a
rewrite: an ill-conditioned expression, or a discontinuous one near its jump, has a wide spread, all others a spread of
a few ulps. A result passes if it lies within SLACK spreads of the reference or equals one of the evaluations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from oracle.values import Val

from .case import Case, evaluate

SLACK = 8.0


class Ensemble:
    """Evaluations of a case; more are added when a result seems wrong."""

    def __init__(self, case: Case, seed: int = 0):
        self.case = case
        self.rng = np.random.default_rng(seed)
        self.native = evaluate(case)
        self.members: list[dict[str, Val]] = []
        self._try(wide=True)
        self.noisy(2)

    def noisy(self, count: int) -> None:
        for _ in range(count):
            self._try(noise=self.rng)

    def _try(self, **how: Any) -> None:
        try:
            self.members.append(evaluate(self.case, **how))
        except (ValueError, IndexError, TypeError, AssertionError):
            pass  # a perturbed value was used as an index or a length

    def arrays(self, name: str) -> list[np.ndarray] | None:
        """The evaluations of a variable, the reference first; None if their shapes differ."""
        all_of_it = [self.native[name], *(member[name] for member in self.members)]
        if any(each.shape != all_of_it[0].shape for each in all_of_it):
            return None
        return [each.array for each in all_of_it]  # the long double evaluation is not rounded


def wrong_elements(got: np.ndarray, evaluations: list[np.ndarray]) -> np.ndarray:
    """A mask of the elements of `got` that none of the evaluations explains."""
    stacked = np.stack(evaluations)
    with np.errstate(all="ignore"):
        if got.dtype.kind != "f":
            low, high = stacked.min(axis=0), stacked.max(axis=0)
            return ~((got >= low) & (got <= high))
        info = np.finfo(got.dtype)
        wide = stacked.astype(np.longdouble)
        overflows = (np.abs(wide[:2]) >= info.max / 4) & np.isfinite(wide[:2])
        wide = np.where(
            np.abs(wide) > info.max * (1 + 8 * np.longdouble(info.eps)),
            np.copysign(np.inf, wide),
            wide,
        )
        value = got.astype(np.longdouble)
        finite = np.isfinite(wide)
        # The reference is the long double evaluation where that is finite, else the native one.
        reference = np.where(finite[1], wide[1], wide[0]) if len(wide) > 1 else wide[0]
        distance = np.where(finite, np.abs(wide - reference), 0)
        spread = distance.max(axis=0)
        scale = np.where(finite, np.abs(wide), 0).max(axis=0)
        rounding = 4 * info.eps * scale + 4 * np.longdouble(info.smallest_subnormal)
        tolerance = SLACK * spread + rounding
        near = np.abs(value - reference) <= tolerance
        near |= (
            np.isfinite(value)
            & finite.any(axis=0)
            & (np.abs(wide - value) <= tolerance).any(axis=0)
        )
        # Evaluations that are all integers and differ lie on two sides of a jump: a value outside their range is wrong.
        jumps = (~finite | (wide == np.rint(wide))).all(axis=0)
        low, high = (
            np.where(finite, wide, np.inf).min(axis=0),
            np.where(finite, wide, -np.inf).max(axis=0),
        )
        near &= ~jumps | ((value >= low - rounding) & (value <= high + rounding))
        # Below the smallest normal number a function may return 0: SciPy's erfc does, and rewriting guarantees no more.
        tiny = np.longdouble(info.smallest_normal)
        near |= (np.abs(value) < tiny) & (np.abs(reference) < tiny)
        # If an intermediate value overflows, the order of operations decides between inf, -inf and nan.
        near |= (
            ~np.isfinite(value) & ~finite[0] & (finite[-1 if len(wide) < 2 else 1] | overflows[-1])
        )
        # Near the largest finite number, a rounding error suffices to reach infinity.
        near |= (
            np.isinf(value)
            & (np.abs(reference) + tolerance >= info.max)
            & (np.sign(value) == np.sign(reference))
        )
        same = ((wide == value) | (np.isnan(wide) & np.isnan(value))).any(axis=0)
        return ~(near | same)


def difference(got: Any, name: str, ensemble: Ensemble) -> str | None:
    """A description of what is wrong with a result, or None."""
    evaluations = ensemble.arrays(name)
    expected = ensemble.native[name]
    if not isinstance(got, (np.ndarray, np.generic)):
        return f"{name}: a {type(got).__name__}"
    got = np.asarray(got)
    if got.dtype != expected.dtype:
        return f"{name}: dtype {got.dtype}, expected {expected.dtype}"
    if evaluations is None:
        return None
    if got.shape != expected.shape:
        return f"{name}: shape {got.shape}, expected {expected.shape}"
    wrong = wrong_elements(got, evaluations)
    if wrong.any():
        ensemble.noisy(20)
        evaluations = ensemble.arrays(name)
        if evaluations is None:
            return None
        wrong = wrong_elements(got, evaluations)
    if not wrong.any():
        return None
    at = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
    return (
        f"{name}: {int(wrong.sum())} of {wrong.size} elements are wrong; at {at} got {got[at]!r}, "
        f"expected {evaluations[0][at]!r} (in long double {evaluations[min(1, len(evaluations) - 1)][at]!r})"
    )
