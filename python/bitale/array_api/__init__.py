"""The functions of the array-API standard (2025.12) on symbolic tensors and on arrays of this module.

`bitale.tensor` has PyTensor's names and dtype rules; here names, arguments and dtypes are the
standard's: a Python number takes the dtype of the array that it meets, integers stay integers, and
kinds are not mixed. From symbolic variables a function builds symbolic variables; from an `Array`,
which has a value, it computes an `Array` (an operation is compiled once for each combination of
dtypes and ranks). So code that is written for the standard can be tried on values, and compiled and
differentiated as a graph.

>>> import bitale.array_api as xp
>>> x = xp.asarray([1, 2, 3])
>>> xp.mean(xp.astype(x, xp.float64)) + 1
Array(3., dtype=float64)
"""

import sys as _sys

from bitale.array_api import fft as fft, linalg as linalg
from bitale.array_api._constants import e, inf, nan, newaxis, pi
from bitale.array_api._creation import (
    arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace, meshgrid, ones, ones_like, tril, triu, zeros, zeros_like,
)  # fmt: skip
from bitale.array_api._dtypes import (
    __array_namespace_info__, as_operand as _as_operand, astype, bool, can_cast, complex64, complex128, finfo, float32, float64, iinfo, int8, int16, int32, int64, isdtype,
    result_type, uint8, uint16, uint32, uint64,
)  # fmt: skip
from bitale.array_api._eager import Array, Device, register_namespace as _register_namespace
from bitale.array_api._elementwise import (
    abs, acos, acosh, add, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_or, bitwise_right_shift,
    bitwise_xor, ceil, clip, conj, copysign, cos, cosh, divide, equal, exp, expm1, floor, floor_divide, greater, greater_equal, hypot, imag,
    isfinite, isinf, isnan, less, less_equal, log, log1p, log2, log10, logaddexp, logical_and, logical_not, logical_or, logical_xor, maximum,
    minimum, multiply, negative, nextafter, not_equal, positive, pow, real, reciprocal, remainder, round, sign, signbit, sin, sinh, sqrt, square,
    subtract, tan, tanh, trunc,
)  # fmt: skip
from bitale.array_api._manipulation import (
    broadcast_arrays, broadcast_shapes, broadcast_to, concat, expand_dims, flip, moveaxis, permute_dims, repeat, reshape, roll, squeeze, stack,
    tile, unstack,
)  # fmt: skip
from bitale.array_api._reductions import (
    all, any, argmax, argmin, count_nonzero, cumulative_prod, cumulative_sum, diff, max, mean, min, prod, std, sum, var,
)  # fmt: skip
from bitale.array_api._searching import (
    argsort, isin, nonzero, searchsorted, sort, take, take_along_axis, unique_all, unique_counts, unique_inverse, unique_values, where,
)  # fmt: skip
from bitale.array_api.linalg import matmul, matrix_transpose, tensordot, vecdot

__array_api_version__ = "2025.12"

_register_namespace(_sys.modules[__name__])
