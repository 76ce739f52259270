"""Stan's transforms of unconstrained variables to constrained ones, with the logarithms of their Jacobians, and back.

>>> import bitale as bt, bitale.tensor as pt
>>> y = pt.dvector("y")
>>> sigma, log_jacobian = bt.stats.transforms.lower(y, 0.0)
>>> log_density = (bt.stats.halfnormal_logpdf(sigma) + log_jacobian).sum()
"""

from bitale._core import (
    cholesky_corr,
    cholesky_corr_inverse,
    cholesky_cov,
    cholesky_cov_inverse,
    corr_matrix,
    corr_matrix_inverse,
    cov_matrix,
    cov_matrix_inverse,
    interval,
    interval_inverse,
    lower,
    lower_inverse,
    offset_multiplier,
    offset_multiplier_inverse,
    ordered,
    ordered_inverse,
    positive_ordered,
    positive_ordered_inverse,
    simplex,
    simplex_inverse,
    simplex_stick,
    simplex_stick_inverse,
    sum_to_zero,
    sum_to_zero_inverse,
    unit_vector,
    unit_vector_inverse,
    upper,
    upper_inverse,
)

__all__ = [
    "cholesky_corr",
    "cholesky_corr_inverse",
    "cholesky_cov",
    "cholesky_cov_inverse",
    "corr_matrix",
    "corr_matrix_inverse",
    "cov_matrix",
    "cov_matrix_inverse",
    "interval",
    "interval_inverse",
    "lower",
    "lower_inverse",
    "offset_multiplier",
    "offset_multiplier_inverse",
    "ordered",
    "ordered_inverse",
    "positive_ordered",
    "positive_ordered_inverse",
    "simplex",
    "simplex_inverse",
    "simplex_stick",
    "simplex_stick_inverse",
    "sum_to_zero",
    "sum_to_zero_inverse",
    "unit_vector",
    "unit_vector_inverse",
    "upper",
    "upper_inverse",
]
