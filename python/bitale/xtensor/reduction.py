"""Reductions of labelled tensors over named dimensions; ``dim=None`` and ``dim=...`` stand for all of them."""

from bitale._core import (
    xtensor_all as all,
    xtensor_any as any,
    xtensor_argmax as argmax,
    xtensor_argmin as argmin,
    xtensor_cumprod as cumprod,
    xtensor_cumsum as cumsum,
    xtensor_max as max,
    xtensor_mean as mean,
    xtensor_min as min,
    xtensor_prod as prod,
    xtensor_std as std,
    xtensor_sum as sum,
    xtensor_var as var,
)

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]
