"""Delta debugging of a failing case: fewer outputs and steps, simpler inputs, shorter lengths, simpler values."""

from __future__ import annotations

import dataclasses
import itertools
import time
from typing import Any, Callable, Iterator

import numpy as np

from .case import Case, Input, Step, evaluate

Fails = Callable[[Case], bool]


def shrink(case: Case, fails: Fails, seconds: float = 60) -> Case:
    """The smallest case found that still fails."""
    end = time.monotonic() + seconds

    def still(candidate: Case) -> bool:
        try:
            return fails(candidate)
        except Exception:
            return False

    while True:
        for candidate in itertools.chain.from_iterable(_candidates(part, case) for part in _parts):
            if time.monotonic() > end:
                return case
            candidate = candidate.without_dead()
            if _size(candidate) < _size(case) and still(candidate):
                case = candidate
                break
        else:
            return case


def _candidates(part: Callable[[Case], Iterator[Case]], case: Case) -> Iterator[Case]:
    try:
        yield from part(case)
    except (ValueError, IndexError, TypeError, AssertionError):
        pass  # the case has no value: it is one of those that must raise


def _size(case: Case) -> tuple:
    """The measure that shrinking minimizes, in lexicographic order."""
    arrays = [given.value for given in case.inputs]
    return (
        len(case.steps),
        len(case.results),
        len(case.inputs),
        sum(given.layout != "plain" for given in case.inputs)
        + sum(given.shared for given in case.inputs),
        sum(array.size for array in arrays),
        sum(array.ndim for array in arrays),
        sum(len(step.text) for step in case.steps),
        sum(_plainness(array) for array in arrays),
        sum(n is not None for given in case.inputs for n in given.static),
    )


def _plainness(array: np.ndarray) -> float:
    """The distance from small integers."""
    if array.dtype.kind != "f":
        return float(np.sum(np.minimum(np.abs(array.astype(float)), 1e3)))
    with np.errstate(all="ignore"):
        odd = ~np.isfinite(array) | (array != np.rint(array))
        return float(2e3 * odd.sum() + np.minimum(np.abs(np.nan_to_num(array)), 1e3).sum())


# ---- ways to make a case smaller -------------------------------------------------------------------------------------


def _fewer_results(case: Case) -> Iterator[Case]:
    if len(case.results) == 1:
        return
    for name in case.outputs:
        yield dataclasses.replace(case, outputs=(name,), updates=())
    for kept in case.updates:
        yield dataclasses.replace(case, outputs=(), updates=(kept,))
    for i in range(len(case.outputs)):
        yield dataclasses.replace(case, outputs=case.outputs[:i] + case.outputs[i + 1 :])
    for i in range(len(case.updates)):
        yield dataclasses.replace(case, updates=case.updates[:i] + case.updates[i + 1 :])


def _earlier_results(case: Case) -> Iterator[Case]:
    """Replaces a result by an operand of its expression."""
    made = {name: step for step in case.steps for name in step.names}
    for name in case.outputs:
        if name in made:
            for read in made[name].reads:
                yield dataclasses.replace(
                    case, outputs=tuple(read if each == name else each for each in case.outputs)
                )


def _renamed(case: Case, old: str, new: str) -> Case:
    from .case import _name

    def text(source: str) -> str:
        return _name.sub(lambda m: new if m[0] == old else m[0], source)

    return dataclasses.replace(
        case,
        steps=tuple(Step(step.names, text(step.text)) for step in case.steps),
        outputs=tuple(text(name) for name in case.outputs),
        updates=tuple((a, text(b)) for a, b in case.updates),
    )


def _cut(case: Case) -> Iterator[Case]:
    """Replaces a step by an input with its value, or by one of its operands."""
    values = evaluate(case)
    for step in reversed(case.steps):
        for name in step.names:
            if name in case.results:
                continue
            for read in step.reads:
                if (
                    values[read].dtype == values[name].dtype
                    and values[read].shape == values[name].shape
                ):
                    yield _renamed(case, name, read)
            value = np.ascontiguousarray(values[name].array).reshape(values[name].shape)
            for static in (
                (None,) * value.ndim,
                tuple(n if n == 1 else None for n in value.shape),
                value.shape,
            ):
                fresh = Input(
                    f"x{1 + max([int(g.name[1:]) for g in case.inputs], default=0)}", value, static
                )
                smaller = _renamed(case, name, fresh.name)
                yield dataclasses.replace(smaller, inputs=(*smaller.inputs, fresh))


def _merge_inputs(case: Case) -> Iterator[Case]:
    for a, b in itertools.permutations(case.inputs, 2):
        if (
            a.value.dtype == b.value.dtype
            and a.value.shape == b.value.shape
            and not a.shared
            and not b.shared
        ):
            yield _renamed(case, a.name, b.name)


def _with_input(case: Case, i: int, **changes: Any) -> Case:
    inputs = list(case.inputs)
    inputs[i] = dataclasses.replace(inputs[i], **changes)
    return dataclasses.replace(case, inputs=tuple(inputs))


def _plainer_inputs(case: Case) -> Iterator[Case]:
    for i, given in enumerate(case.inputs):
        if given.layout != "plain":
            yield _with_input(case, i, layout="plain")
        if given.shared and all(given.name != shared for shared, _ in case.updates):
            yield _with_input(case, i, shared=False)
        for axis, n in enumerate(given.static):
            if n is not None:
                yield _with_input(
                    case, i, static=given.static[:axis] + (None,) + given.static[axis + 1 :]
                )


def _shorter(case: Case) -> Iterator[Case]:
    """Shortens one length, in all inputs or in one."""
    lengths = sorted({n for given in case.inputs for n in given.value.shape}, reverse=True)
    for n in lengths:
        for m in sorted({0, 1, 2, 3, n // 2, n - 1}):
            if m < n:
                inputs = tuple(_cropped(given, n, m) for given in case.inputs)
                yield dataclasses.replace(case, inputs=inputs)
                texts = tuple(Step(step.names, _numbers(step.text, n, m)) for step in case.steps)
                yield dataclasses.replace(case, inputs=inputs, steps=texts)
    for i, given in enumerate(case.inputs):
        for axis, n in enumerate(given.value.shape):
            for m in sorted({0, 1, 2, n // 2, n - 1}):
                if m < n:
                    value = given.value[(slice(None),) * axis + (slice(0, m),)].copy()
                    static = tuple(
                        m if a == axis and s is not None else s for a, s in enumerate(given.static)
                    )
                    yield _with_input(case, i, value=value, static=static)


def _numbers(text: str, old: int, new: int) -> str:
    import re

    return re.sub(rf"(?<![\w.]){old}(?![\w.])", str(new), text)


def _cropped(given: Input, n: int, m: int) -> Input:
    value = given.value[
        tuple(slice(0, m) if length == n else slice(None) for length in given.value.shape)
    ].copy()
    return dataclasses.replace(
        given, value=value, static=tuple(m if s == n else s for s in given.static)
    )


def _simpler_values(case: Case) -> Iterator[Case]:
    for i, given in enumerate(case.inputs):
        value = given.value
        if not value.size:
            continue
        yield _with_input(case, i, value=np.zeros_like(value))
        yield _with_input(case, i, value=np.ones_like(value))
        counting = np.arange(1, value.size + 1) % 100
        yield _with_input(case, i, value=counting.reshape(value.shape).astype(value.dtype))
        if value.dtype.kind == "f":
            with np.errstate(all="ignore"):
                yield _with_input(case, i, value=np.rint(value))
                yield _with_input(case, i, value=np.nan_to_num(value, posinf=1, neginf=-1))
                yield _with_input(
                    case, i, value=np.where(np.abs(value) < 100, value, 1).astype(value.dtype)
                )
        if value.size <= 16:
            for at in np.ndindex(value.shape):
                for plain in (0, 1):
                    if value[at] != plain:
                        changed = value.copy()
                        changed[at] = plain
                        yield _with_input(case, i, value=changed)


def _simpler_texts(case: Case) -> Iterator[Case]:
    import re

    for i, step in enumerate(case.steps):
        candidates = []
        for pattern, plain in (
            (r", keepdims=True", ""),
            (r", ddof=1", ""),
            (r"\b(sum|prod|mean|var|std)\(", "sum("),
            (r"np\.array\((\[[^a-z]*\]), 'int64'\)", r"\1"),
            (r":-?\d+\b(?=[,\]])", ":"),
        ):
            text = re.sub(pattern, plain, step.text)
            if text != step.text:
                candidates.append(text)
        for text in candidates:
            yield dataclasses.replace(
                case, steps=case.steps[:i] + (Step(step.names, text),) + case.steps[i + 1 :]
            )


_parts = [
    _fewer_results,
    _earlier_results,
    _cut,
    _merge_inputs,
    _plainer_inputs,
    _shorter,
    _simpler_texts,
    _simpler_values,
]
