"""pad with reflect_type "odd": x mirrored at the points at its edges, again and again. What lies beyond an edge is
2 * edge - x; what lies two reflections away is x, shifted by twice the difference of the edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitale._core import TensorVariable, arange, as_tensor_variable, cast, dimshuffle, eq, expand_dims, gt, int_div, maximum, neq, switch


def _pairs(pad_width: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Widths before and after, for each dimension."""
    if not isinstance(pad_width, (list, tuple, np.ndarray)):
        return [(pad_width, pad_width)] * ndim
    given = list(pad_width)
    pairs = [tuple(each) if isinstance(each, (list, tuple, np.ndarray)) else each for each in given]
    if all(not isinstance(each, tuple) for each in pairs):
        pairs = [(pairs[0], pairs[-1])] if len(pairs) in (1, 2) else pairs
    pairs = [(each[0], each[-1]) if isinstance(each, tuple) else (each, each) for each in pairs]
    if len(pairs) == 1:
        pairs *= ndim
    if len(pairs) != ndim:
        raise ValueError(f"pad: expected one pair or {ndim} pairs as pad_width, got {len(pairs)}")
    return pairs


def _along_axis(x: TensorVariable, axis: int, before: Any, after: Any, reflects: bool) -> TensorVariable:
    for width in (before, after):
        if not isinstance(width, TensorVariable) and width < 0:
            raise ValueError(f"pad: expected widths of at least 0, got {width}")
    n = x.shape[axis]
    last = n - 1
    place = arange(before + n + after) - before
    step = maximum(last, 1) if reflects else n
    count = int_div(place, step)  # of reflections, negative before x
    within = place - count * step
    turned = neq(count % 2, 0)
    front = (slice(None),) * axis
    value = x[(*front, switch(turned, last - within, within))]
    first_edge, last_edge = (expand_dims(x[(*front, k)], axis) for k in (0, -1))
    order = ["x"] * x.ndim
    order[axis] = 0

    def along(vector: TensorVariable) -> TensorVariable:
        return dimshuffle(vector, order)

    edge = switch(along(gt(count, 0)), last_edge, first_edge)
    base = switch(along(turned), edge + edge - value, value)
    shifts = switch(turned, switch(gt(count, 0), count - 1, count + 1), count)
    shifted = base + cast(along(shifts), x.dtype) * (last_edge - first_edge)
    return switch(along(eq(shifts, 0)), base, shifted)  # 0 times an infinite difference is no number


def mirrored_at_points(x: Any, pad_width: Any, reflects: bool) -> TensorVariable:
    """pad with reflect_type "odd", of mode "reflect", else "symmetric". NotImplementedError for bools."""
    x = as_tensor_variable(x)
    if x.dtype == "bool":
        raise NotImplementedError("pad: reflections at points (\"odd\") of bools; cast them first")
    for axis, (before, after) in enumerate(_pairs(pad_width, x.ndim)):
        x = _along_axis(x, axis, before, after, reflects)
    return x
