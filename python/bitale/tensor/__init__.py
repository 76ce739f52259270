"""Tensors: variables, and the functions that make more of them. Names and arguments are PyTensor's."""

import importlib as _importlib
import math as _math
import typing as _typing

# Names are imported `as` themselves to tell type checkers that they belong to this module.
if _typing.TYPE_CHECKING:
    from bitale.tensor import (
        fft as fft,
        linalg as linalg,
        op_classes as op_classes,
        optimize as optimize,
        random as random,
        signal as signal,
        special as special,
        xlogx as xlogx,
    )
    from bitale.typing import TensorLike as TensorLike

from bitale._core import *
from bitale._core import NotScalarConstantError as NotScalarConstantError, ShapeError as ShapeError
from bitale._core import (
    add as add,
    and_ as and_,
    eq as eq,
    exp as exp,
    ge as ge,
    gt as gt,
    int_div as int_div,
    invert as invert,
    kron as kron,
    le as le,
    lt as lt,
    mul as mul,
    neg as neg,
    neq as neq,
    or_ as or_,
    pow as pow,
    psi as psi,
    second as second,
)
from bitale._core import (
    sigmoid as sigmoid,
    sign as sign,
    softplus as softplus,
    sqr as sqr,
    sub as sub,
    switch as switch,
    transpose as transpose,
    true_div as true_div,
    xor as xor,
)
from bitale.tensor import _standard as _standard
from bitale.tensor._standard import asarray as asarray, from_dlpack as from_dlpack
from bitale.tensor.sharedvar import TensorSharedVariable as TensorSharedVariable
from bitale.tensor.type import TensorType as TensorType
from bitale.tensor.variable import (
    TensorConstant as TensorConstant,
    TensorVariable as TensorVariable,
)
from bitale.tensor.pytensor_functions import (
    none_type_t as none_type_t,
    slicetype as slicetype,
    values_eq_approx_always_true as values_eq_approx_always_true,
)
from bitale.tensor.extra_ops import *
from bitale.tensor.grids import *
from bitale.tensor.transfers import *
from bitale.tensor.unique_slices import *
from bitale.tensor.interpolate import *

# Aliases of the same functions.
power = pow
square = sqr
subtract = sub
multiply = mul
divide = true_divide = true_div
floor_div = floor_divide = int_div
negative = neg
equal = eq
not_equal = neq
less = lt
less_equal = le
greater = gt
greater_equal = ge
bitwise_and = and_
bitwise_or = or_
bitwise_xor = xor
bitwise_not = invert
fill = second
expit = sigmoid
log1pexp = softplus
digamma = psi
round_half_to_even = round
matrix_transpose = swap_last_axes
remainder = mod
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift
around = round
acos, asin, atan, atan2 = arccos, arcsin, arctan, arctan2
acosh, asinh, atanh = arccosh, arcsinh, arctanh
bitwise_invert = invert
concat = concatenate

e = _math.e
pi = _math.pi
inf = _math.inf
nan = _math.nan
euler_gamma = 0.5772156649015329
newaxis = None
NoneConst = None  # None and slices are Python's own; bounds of slices may be variables
NoneSliceConst = slice(None)

# Predefined types by dtype and rank.
int_scalar_types = int_types = (bscalar, wscalar, iscalar, lscalar)
float_scalar_types = float_types = (fscalar, dscalar)
complex_scalar_types = complex_types = (cscalar, zscalar)
int_vector_types = (bvector, wvector, ivector, lvector)
float_vector_types = (fvector, dvector)
complex_vector_types = (cvector, zvector)
int_matrix_types = (bmatrix, wmatrix, imatrix, lmatrix)
float_matrix_types = (fmatrix, dmatrix)
complex_matrix_types = (cmatrix, zmatrix)


# Names that a module above this one has, and that module: bitale.array_api has those of the standard about dtypes and sets.
names_above: dict[str, str] = {}

# What a first function does not need is imported when it is named.
_LATER = ("fft", "linalg", "op_classes", "optimize", "random", "signal", "special", "xlogx")


def __getattr__(name: str) -> object:
    if name in _LATER:
        return _importlib.import_module(f"bitale.tensor.{name}")
    if name == "TensorLike":
        return _importlib.import_module("bitale.typing").TensorLike
    if name in names_above:
        return getattr(_importlib.import_module(names_above[name]), name)
    if name in _standard.DTYPES:
        return _standard.dtype(name)
    raise AttributeError(f"module 'bitale.tensor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, "TensorLike"})


from bitale import _geography as _geography

_geography.add_modules(__name__)
