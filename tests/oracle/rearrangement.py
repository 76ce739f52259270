"""Functions of bitale.tensor that rearrange, create, search and contract, in NumPy, under their names in
bitale.tensor."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .values import Val, formula, val, working_dtype


def _plain(x: Any) -> Any:
    return (
        x.array
        if isinstance(x, Val)
        else [_plain(e) for e in x]
        if isinstance(x, (list, tuple))
        else x
    )


def moving(function: Callable[..., Any]) -> Callable[..., Val]:
    """Makes a formula of a function that only moves elements: the result has the dtype of the first tensor."""

    def moved(x: Any, *arguments: Any, **keywords: Any) -> Val:
        x = val(x)
        out = function(
            x.array, *map(_plain, arguments), **{k: _plain(v) for k, v in keywords.items()}
        )
        return Val(out, x.dtype)

    return moved


def computing(function: Callable[..., Any], ulps: float = 64) -> Callable[..., Any]:
    """Makes a formula of a function that computes values: the result has the dtype that NumPy gives for the nominal
    dtypes."""

    @formula(ulps=ulps, backward=2)
    def computed(*arguments: Any, **keywords: Any) -> Any:
        def native(x: Any) -> Any:
            if isinstance(x, Val):
                return x.array.astype(x.dtype)
            return [native(e) for e in x] if isinstance(x, (list, tuple)) else x

        with np.errstate(all="ignore"):
            out = function(*map(native, arguments), **{k: native(v) for k, v in keywords.items()})
        out = np.asarray(out)
        return Val(out.astype(working_dtype(out.dtype)), out.dtype)

    return computed


def integers(function: Callable[..., Any]) -> Callable[..., Val]:
    """Makes a formula of a function that returns positions or counts: the result has dtype int64."""

    def found(*arguments: Any, **keywords: Any) -> Val:
        return Val(
            np.asarray(
                function(*map(_plain, arguments), **{k: _plain(v) for k, v in keywords.items()})
            ).astype(np.int64)
        )

    return found


def _join_dims(x: np.ndarray, start_axis: int = 0, n_axes: int | None = None) -> np.ndarray:
    n = x.ndim - start_axis if n_axes is None else n_axes
    return x.reshape(
        x.shape[:start_axis]
        + (int(np.prod(x.shape[start_axis : start_axis + n])),)
        + x.shape[start_axis + n :]
    )


def _split_dims(x: np.ndarray, shape: Any, axis: int = 0) -> np.ndarray:
    axis %= x.ndim
    return x.reshape(x.shape[:axis] + tuple(np.atleast_1d(shape)) + x.shape[axis + 1 :])


def _fill_diagonal(x: np.ndarray, value: Any, offset: int = 0) -> np.ndarray:
    out = x.copy()
    if x.ndim == 2:
        i, j = np.indices(x.shape)
        out[j - i == offset] = value
    else:
        np.fill_diagonal(out, value)
    return out


def _permute_rows(x: np.ndarray, y: np.ndarray, inverse: bool = False) -> np.ndarray:
    y = np.argsort(y, -1) if inverse else y
    shape = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    return np.take_along_axis(
        np.broadcast_to(x, shape + x.shape[-1:]), np.broadcast_to(y, shape + y.shape[-1:]), -1
    )


def split(x: Any, splits_size: Any, *, n_splits: Any = None, axis: int = 0) -> list[Val]:
    x = val(x)
    ends = np.cumsum(_plain(splits_size))
    return [Val(part, x.dtype) for part in np.split(x.array, ends[:-1], axis)]


def broadcast_arrays(*args: Any) -> list[Val]:
    values = [val(x) for x in args]
    return [
        Val(out.copy(), x.dtype)
        for out, x in zip(np.broadcast_arrays(*(x.array for x in values)), values)
    ]


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Val]:
    values = [val(x) for x in xi]
    made = np.meshgrid(*(x.array for x in values), sparse=sparse, indexing=indexing)
    return [Val(out, x.dtype) for out, x in zip(made, values)]


def _indices(rows: Any, columns: Any, keep: Any) -> tuple[Val, ...]:
    return tuple(
        Val(i) for i in np.nonzero(keep(*np.indices((rows, rows if columns is None else columns))))
    )


def _topk(x: Any, kth: int, axis: Any, idx_dtype: str) -> tuple[Val, Val]:
    x = val(x)
    array, axis = (x.array.ravel(), 0) if axis is None else (x.array, axis)
    order = np.argsort(array, axis, kind="stable")
    indices = np.take(
        order, range(order.shape[axis] - kth, order.shape[axis]) if kth > 0 else range(-kth), axis
    )
    return Val(np.take_along_axis(array, indices, axis), x.dtype), Val(indices.astype(idx_dtype))


def topk(x: Any, kth: int, axis: Any = -1, sorted: bool = True, idx_dtype: str = "int64") -> Val:
    return _topk(x, kth, axis, idx_dtype)[0]


def argtopk(x: Any, kth: int, axis: Any = -1, sorted: bool = True, idx_dtype: str = "int64") -> Val:
    return _topk(x, kth, axis, idx_dtype)[1]


def topk_and_argtopk(
    x: Any, kth: int, axis: Any = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> tuple[Val, Val]:
    return _topk(x, kth, axis, idx_dtype)


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
) -> Any:
    out = np.unique(
        val(ar).array,
        return_index=return_index,
        return_inverse=return_inverse,
        return_counts=return_counts,
    )
    return tuple(Val(x) for x in out) if isinstance(out, tuple) else Val(out, val(ar).dtype)


def _complex(x: Val, y: Val, formula: Callable[..., Any]) -> Val:
    return Val(formula(x.array, y.array), np.result_type(x.dtype, y.dtype, "complex64"))


table: dict[str, Callable[..., Any]] = {
    **{name: moving(getattr(np, name)) for name in ("flip", "rot90", "roll", "tile", "repeat", "take_along_axis")},
    "join_dims": moving(_join_dims), "split_dims": moving(_split_dims), "fill_diagonal": moving(_fill_diagonal),
    "fill_diagonal_offset": moving(_fill_diagonal), "permute_row_elements": moving(_permute_rows),
    "pad": moving(lambda x, w, mode="constant", **kw: np.pad(x, w, mode, **{k: v for k, v in kw.items() if v is not None})),
    "nan_to_num": moving(lambda x, nan=0.0, posinf=None, neginf=None: np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)),
    "choose": lambda a, choices, mode="raise": Val(np.choose(_plain(a), _plain(choices), mode=mode)),
    **{name: integers(getattr(np, name)) for name in ("searchsorted", "digitize", "ravel_multi_index")},
    "unravel_index": lambda indices, dims, order="C": tuple(Val(i) for i in np.unravel_index(_plain(indices), dims)),
    "inverse_permutation": integers(lambda p: np.argsort(p, -1)),
    "get_vector_length": lambda v: len(val(v).array),
    **{name: computing(getattr(np, name)) for name in ("median", "quantile", "percentile", "cov", "linspace", "logspace",
                                                      "geomspace", "tensordot", "einsum", "bartlett", "tri")},
    "bincount": computing(lambda x, weights=None, minlength=None, assert_nonneg=False: np.bincount(x, weights, minlength or 0)),
    "vecdot": computing(lambda x, y, dtype=None, axis=-1: np.einsum("...i,...i->...", np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1))),
    "matvec": computing(lambda x, y, dtype=None: np.einsum("...ij,...j->...i", x, y)),
    "vecmat": computing(lambda x, y, dtype=None: np.einsum("...i,...ij->...j", x, y)),
    "dense_dot": computing(np.dot),
    "iround": integers(np.rint),
    "split": split, "broadcast_arrays": broadcast_arrays, "meshgrid": meshgrid, "unique": unique,
    "topk": topk, "argtopk": argtopk, "topk_and_argtopk": topk_and_argtopk, "kron": computing(np.kron),
    "tril_indices": lambda n, k=0, m=None: _indices(n, m, lambda i, j: j <= i + k),
    "triu_indices": lambda n, k=0, m=None: _indices(n, m, lambda i, j: j >= i + k),
    "tril_indices_from": lambda a, k=0: _indices(*val(a).shape, lambda i, j: j <= i + k),
    "triu_indices_from": lambda a, k=0: _indices(*val(a).shape, lambda i, j: j >= i + k),
    "stacklists": lambda arg: Val(np.stack([val(x).array for x in arg])),
    "horizontal_stack": lambda *args: Val(np.hstack([val(x).array for x in args])),
    "vertical_stack": lambda *args: Val(np.vstack([val(x).array for x in args])),
    "real": val, "conj": val, "conjugate": val, "imag": lambda x: Val(np.zeros_like(val(x).array), val(x).dtype),
    "complex": lambda re, im: _complex(val(re), val(im), lambda x, y: x + 1j * y),
    "complex_from_polar": lambda size, turn: _complex(val(size), val(turn), lambda x, y: x * np.exp(1j * y)),
    "identity": val, "tensor_copy": val, "tensor_from_scalar": val, "scalar_from_tensor": val,
    "identity_like": lambda x, dtype=None: Val(np.eye(*val(x).shape), dtype or val(x).dtype),
}  # fmt: skip
