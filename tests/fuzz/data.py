"""Random input values and their memory layouts."""

from __future__ import annotations

import numpy as np

from bitale.tensor.basic import discrete_dtypes, float_dtypes

dtypes = [*discrete_dtypes, *float_dtypes]


def special_values(dtype: np.dtype) -> list:
    if dtype.kind == "f":
        info = np.finfo(dtype)
        return [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, info.smallest_subnormal, -info.smallest_subnormal,
                info.tiny, info.max, -info.max, info.eps, 1 + info.eps, 1 - info.eps / 2, 2.0**24, 2.0**53, 2.0**31, 2.0**63,
                700.0, -700.0, 100.0, -100.0, 1e-30, 1e30, np.pi]  # fmt: skip
    if dtype == bool:
        return [False, True]
    info = np.iinfo(dtype)
    return [
        info.min,
        info.min + 1,
        info.max,
        info.max - 1,
        0,
        1,
        2,
        info.max // 2,
        info.max // 2 + 1,
    ] + ([-1, -2] if info.min else [])


def random_values(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Mostly finite values of moderate size; one in eight is a special value."""
    kind = np.dtype(dtype)
    if kind == bool:
        return rng.random(shape) < rng.choice([0.5, 0.5, 0.1, 0.9])
    if kind.kind == "f":
        style = rng.integers(5)
        if style == 0:
            out = rng.integers(-3, 4, shape).astype(kind)
        elif style == 1:
            out = (rng.integers(-8, 9, shape) / 4).astype(kind)
        elif style == 2:
            out = rng.uniform(0.1, 2, shape).astype(kind)
        else:
            out = rng.normal(0, 1, shape).astype(kind)
    else:
        low = 0 if kind.kind == "u" else -5
        out = rng.integers(low, 7, shape).astype(kind)
    if rng.random() < 0.25:
        with np.errstate(over="ignore"):
            special = (
                np.array(special_values(kind)).astype(kind)
                if kind.kind == "f"
                else np.array(special_values(kind), kind)
            )
        out = np.where(rng.random(shape) < 0.5, rng.choice(special, shape), out).astype(kind)
    return np.asarray(out, kind)


layouts = ["plain"] * 6 + [
    "fortran",
    "strided",
    "reversed",
    "unaligned",
    "byteswapped",
    "offset",
    "broadcast",
]


def laid_out(value: np.ndarray, layout: str) -> np.ndarray:
    """The same values in another memory layout."""
    if value.ndim == 0 and layout not in ("unaligned", "byteswapped"):
        return value.copy()
    if layout == "fortran":
        return np.asfortranarray(value)
    if layout == "strided":
        big = np.zeros(tuple(2 * n for n in value.shape), value.dtype)
        out = big[tuple(slice(None, None, 2) for _ in value.shape)]
    elif layout == "reversed":
        out = np.empty_like(value)[tuple(slice(None, None, -1) for _ in value.shape)]
    elif layout == "unaligned":
        raw = np.zeros(value.nbytes + 1, np.uint8)
        out = raw[1:].view(value.dtype).reshape(value.shape)
    elif layout == "byteswapped":
        return value.astype(value.dtype.newbyteorder())
    elif layout == "offset":
        big = np.zeros(tuple(n + 3 for n in value.shape), value.dtype)
        out = big[tuple(slice(1, 1 + n) for n in value.shape)]
    elif layout == "broadcast" and value.ndim and value.shape[0] > 1 and (value == value[:1]).all():
        return np.broadcast_to(value[:1], value.shape)
    else:
        return value.copy()
    out[...] = value
    return out
