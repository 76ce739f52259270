"""NumPy's functions that bitale.tensor has under NumPy's names, and the layers of networks, under their names in bitale.tensor."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from scipy import special as sp

from . import elementwise
from .rearrangement import _plain, computing, integers, moving
from .values import Val, formula, val, working_dtype

elementwise.define("fmod", elementwise.at_least_int8, np.fmod, 1)
elementwise.define("heaviside", elementwise.as_float, np.heaviside)
elementwise.define("logaddexp2", elementwise.as_float, np.logaddexp2, 8)
elementwise.define(
    "elu", elementwise.as_float, lambda x, alpha=1.0: np.where(x <= 0, alpha * np.expm1(x), x), 8
)
elementwise.define(
    "silu", elementwise.as_float, lambda x: np.where(np.isneginf(x), 0, x * sp.expit(x)), 8
)


def several(function: Callable[..., Any], ulps: float = 64) -> Callable[..., tuple[Val, ...]]:
    """As rearrangement.computing, of a function with several results."""

    @formula(ulps=ulps, backward=2)
    def computed(*arguments: Any, **keywords: Any) -> Any:
        def native(x: Any) -> Any:
            return (
                x.array.astype(x.dtype)
                if isinstance(x, Val)
                else [native(e) for e in x]
                if isinstance(x, (list, tuple))
                else x
            )

        out = function(*map(native, arguments), **{k: native(v) for k, v in keywords.items()})
        made = tuple(
            Val(np.asarray(each).astype(working_dtype(each.dtype)), each.dtype)
            for each in (out if isinstance(out, (tuple, list)) else (out,))
        )
        return made if isinstance(out, (tuple, list)) else made[0]

    return computed


def _relu(x: Any, alpha: Any = 0) -> Val:
    x = val(x)
    is_flat = not isinstance(alpha, Val) and alpha == 0  # also at -inf
    return Val(np.where(x.array <= 0, 0 if is_flat else _plain(alpha) * x.array, x.array), x.dtype)


def _gelu(x: np.ndarray, approximate: bool = False) -> np.ndarray:
    share = (
        (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2 if approximate else sp.ndtr(x)
    )
    return np.where(np.isneginf(x), 0, x * share)


elementwise.define("gelu", elementwise.as_float, _gelu, 8)
elementwise.define("gelu_tanh", elementwise.as_float, lambda x: _gelu(x, True), 8)


def _windows(x: np.ndarray, window: Any, stride: Any) -> np.ndarray:
    """[..., rows, columns, elements of a window]"""
    (h, w), (sy, sx) = np.broadcast_to(window, 2), np.broadcast_to(stride, 2)
    found = np.lib.stride_tricks.sliding_window_view(x, (h, w), axis=(-2, -1))[
        ..., ::sy, ::sx, :, :
    ]
    return found.reshape(*found.shape[:-2], h * w)


def _pool_2d(
    x: np.ndarray,
    ws: Any,
    ignore_border: bool = True,
    stride: Any = None,
    pad: Any = (0, 0),
    mode: str = "max",
) -> np.ndarray:
    (py, px), stride = np.broadcast_to(pad, 2), ws if stride is None else stride
    border = [(0, 0)] * (x.ndim - 2) + [(py, py), (px, px)]
    if mode == "max":
        least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        return _windows(np.pad(x, border, constant_values=least), ws, stride).max(-1)
    total = _windows(np.pad(x, border), ws, stride).sum(-1)
    if mode == "sum":
        return total.astype(x.dtype)
    count = (
        np.prod(np.broadcast_to(ws, 2))
        if mode == "average_inc_pad"
        else _windows(np.pad(np.ones_like(x), border), ws, stride).sum(-1)
    )
    return (total / count).astype(x.dtype if x.dtype.kind == "f" else "float64")


def _conv2d(
    x: np.ndarray,
    w: np.ndarray,
    border_mode: Any = "valid",
    subsample: Any = 1,
    filter_flip: bool = True,
    filter_dilation: Any = 1,
    num_groups: int = 1,
) -> np.ndarray:
    (dy, dx), (sy, sx) = np.broadcast_to(filter_dilation, 2), np.broadcast_to(subsample, 2)
    h, v = (w.shape[2] - 1) * dy + 1, (w.shape[3] - 1) * dx + 1
    names = {"valid": (0, 0), "half": (h // 2, v // 2), "full": (h - 1, v - 1)}
    py, px = names[border_mode] if isinstance(border_mode, str) else np.broadcast_to(border_mode, 2)
    x = np.pad(x, [(0, 0), (0, 0), (py, py), (px, px)])
    w = w[:, :, ::-1, ::-1] if filter_flip else w
    windows = np.lib.stride_tricks.sliding_window_view(x, (h, v), axis=(2, 3))[
        :, :, ::sy, ::sx, ::dy, ::dx
    ]
    groups = [
        np.einsum("bcijkl,ockl->boij", part, each)
        for part, each in zip(np.split(windows, num_groups, 1), np.split(w, num_groups))
    ]
    return np.concatenate(groups, 1)


def _unstack(x: Any, *, axis: int = 0) -> tuple[Val, ...]:
    x = val(x)
    return tuple(Val(part, x.dtype) for part in np.moveaxis(x.array, axis, 0))


def _set(function: Callable[..., Any]) -> Callable[..., Val]:
    return lambda a, b, *rest, **kw: Val(
        function(val(a).array, val(b).array, *rest, **kw),
        np.result_type(val(a).dtype, val(b).dtype),
    )


table: dict[str, Callable[..., Any]] = {
    "relu": _relu, "gelu": lambda x, approximate=False: elementwise.table["gelu_tanh" if approximate else "gelu"](x), "positive": val, "permute_dims": moving(np.transpose),
    "astype": lambda x, dtype, copy=True: Val(val(x).array, dtype), "float_power": computing(np.float_power),
    **{name: computing(getattr(np, name)) for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian", "nancumsum",
                                                      "nancumprod", "nanquantile", "nanpercentile", "trapezoid", "polyval", "vander", "cross", "corrcoef",
                                                      "convolve", "correlate", "select", "piecewise", "vstack", "hstack", "dstack", "column_stack")},
    **{name: integers(getattr(np, name)) for name in ("nanargmax", "nanargmin", "count_nonzero", "lexsort")},
    **{name: several(getattr(np, name)) for name in ("gradient", "histogram")},
    **{name: _set(getattr(np, name)) for name in ("union1d", "setdiff1d", "setxor1d", "intersect1d")},
    "cumulative_sum": computing(np.cumulative_sum), "cumulative_prod": computing(np.cumulative_prod), "unstack": _unstack,
    "isin": lambda x, among, *rest, invert=False, **kw: Val(np.isin(val(x).array, val(among).array, invert=invert)),
    "partition": moving(lambda x, kth, axis=-1: np.sort(x, axis)), "argpartition": integers(lambda x, kth, axis=-1: np.argsort(x, axis, kind="stable")),
    "vector_norm": computing(np.linalg.vector_norm), "matrix_norm": computing(np.linalg.matrix_norm),
    "pool_2d": computing(_pool_2d), "conv2d": computing(_conv2d),
    "concat": lambda tensors, axis=0: computing(np.concatenate)(tensors, axis=axis),
    **{name: elementwise.table[of] for name, of in {
        "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh",
        "remainder": "mod", "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "around": "round",
    }.items()},
    **{name: elementwise.table[name] for name in ("fmod", "heaviside", "logaddexp2", "elu", "silu")},
}  # fmt: skip
