"""PyTensor's place for functions of scalars. A scalar is a tensor of rank 0 here, and a scalar op the elementwise op of its name:
`node.op.scalar_op` is that op itself, so that ``isinstance(node.op.scalar_op, scalar.Add)`` and ``node.op.scalar_op == scalar.add``
ask what they ask in PyTensor."""

from __future__ import annotations

import typing

import numpy as np

import bitale.tensor as _pt
from bitale import _core
from bitale.tensor.op_classes import Elemwise as _Elemwise
from bitale._core import TensorConstant as ScalarConstant, TensorType, TensorVariable as ScalarVariable
from bitale.scalar.output_types import (
    float_out,
    int_out,
    real_out,
    same_out,
    same_out_float_only,
    same_out_min8,
    same_out_nobool,
    same_out_nocomplex,
    specific_out,
    upcast_out,
    upcast_out_min8,
    upcast_out_no_complex,
    upcast_out_nobool,
    upgrade_to_float,
    upgrade_to_float64,
    upgrade_to_float_no_complex,
)
from bitale.scalar.own import OwnScalarOp

if typing.TYPE_CHECKING:
    import builtins


def _function(name: str) -> typing.Any:
    if name.removeprefix("convert_to_") in _casts:
        return _casts[name.removeprefix("convert_to_")]
    other = {"scalar_abs": "abs", "scalar_maximum": "maximum", "scalar_minimum": "minimum"}.get(name, name)
    if other not in _functions:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_pt, other)


_functions = frozenset(name for name, _ in _core.elementwise_functions()) | {
    "complex", "conj", "floor_div", "identity", "imag", "real", "round_half_to_even",
}  # fmt: skip


# ---- types ----------------------------------------------------------------------------------------------------------


class ScalarType:
    """``ScalarType("float64")`` is the type of scalars of a dtype: a TensorType of rank 0."""

    def __new__(cls, dtype: typing.Any) -> typing.Any:
        return TensorType(dtype, ())


def get_scalar_type(dtype: typing.Any, cache: typing.Any = None) -> TensorType:
    """The type of scalars of a dtype; cache is accepted and not needed. TypeError for what is no dtype."""
    return TensorType(dtype, ())


def _types(*dtypes: str) -> tuple[TensorType, ...]:
    made = []
    for dtype in dtypes:
        try:
            made.append(TensorType(dtype, ()))
        except (TypeError, ValueError, NotImplementedError):
            continue  # a dtype that does not exist
    return tuple(made)


_integers = tuple(f"int{bits}" for bits in (8, 16, 32, 64))
int_types = _types(*_integers)
uint_types = _types(*("u" + dtype for dtype in _integers))
float_types = _types("float16", "float32", "float64")
complex_types = _types("complex64", "complex128")
integer_types = int_types + uint_types
discrete_types = (*_types("bool"), *integer_types)
continuous_types = float_types + complex_types
all_types = discrete_types + continuous_types
_by_dtype = {type_.dtype: type_ for type_ in all_types}


def _maker(dtype: str | None) -> typing.Callable[..., typing.Any]:
    def make(*names: str) -> list[typing.Any]:
        type_ = _by_dtype[dtype or _floatX()]
        return [type_(name) for name in names]

    make.__doc__ = f"Scalars of dtype {dtype or 'config.floatX'} with these names, as a list."
    return make


def _floatX() -> str:
    from bitale.configuration import config

    return config.floatX


ints, floats = _maker("int64"), _maker(None)
if complex_types:
    complexs = complexs128 = _maker("complex128")
    complexs64 = _maker("complex64")


# ---- conversion -----------------------------------------------------------------------------------------------------


def as_scalar(x: typing.Any, name: str | None = None) -> typing.Any:
    """x as a variable of rank 0. TypeError for what has more dimensions."""
    made = _pt.as_tensor_variable(x, name=name)
    if made.ndim:
        raise TypeError(f"as_scalar: expected a scalar, got {made} of type {made.type}")
    return made


def constant(x: typing.Any, name: str | None = None, dtype: typing.Any = None) -> typing.Any:
    """A scalar that never changes. TypeError for what has dimensions."""
    made = _pt.constant(x, name=name, dtype=dtype)
    if made.ndim:
        raise TypeError(f"constant: expected a scalar, got an array of shape {made.type.shape}")
    return made


def cast(x: typing.Any, dtype: typing.Any) -> typing.Any:
    """The scalar x converted to the dtype; itself when it has it."""
    return _pt.cast(as_scalar(x), dtype)


def upcast(dtype: str, *dtypes: str) -> str:
    """The dtype that arithmetic on scalars of these dtypes has.

    >>> from bitale import scalar
    >>> scalar.upcast("int8", "uint8"), scalar.upcast("int64", "float32")
    ('int16', 'float64')
    """
    found = _by_dtype[np.dtype(dtype).name]("x")
    for each in dtypes:
        found = _pt.switch(np.True_, found, _by_dtype[np.dtype(each).name]("y"))
    return found.dtype


def convert(x: typing.Any, dtype: typing.Any = None) -> np.ndarray:
    """The value that a constant of x has: of the dtype, or of the smallest that keeps it."""
    return np.asarray(constant(x, dtype=dtype).data)


_casts = {dtype: _Elemwise(f"cast_{dtype}") for dtype in _by_dtype}


# ---- classes of ops -------------------------------------------------------------------------------------------------


def _scalar_name(op: typing.Any) -> str:
    """The name of an elementwise op's function; empty for other ops."""
    return str(dict(op.__props__)["scalar_op"]) if isinstance(op, _Elemwise) else ""


class _Class(type):
    """Of elementwise ops, those of some functions. A subclass that a program makes is one of functions of its own, by `impl`."""

    functions: typing.ClassVar[tuple[str, ...]]

    def __instancecheck__(cls, op: typing.Any) -> builtins.bool:
        return type.__instancecheck__(cls, op) or ("functions" in vars(cls) and _scalar_name(op) in cls.functions)

    def __call__(cls, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        if "functions" not in vars(cls):
            return super().__call__(*args, **kwargs)
        if len(cls.functions) != 1:
            raise TypeError(f"{cls.__name__}: the ops of this class are functions such as scalar.{cls.functions[0]}")
        return _Elemwise(cls.functions[0])


def _class(name: str, *functions: str, bases: tuple[typing.Any, ...] = (OwnScalarOp,), **members: typing.Any) -> typing.Any:
    doc = f"Elementwise ops of {', '.join(functions) if len(functions) < 5 else 'their kind'}: ``isinstance(node.op.scalar_op, {name})``."
    return _Class(name, bases, {"functions": functions, "__doc__": doc, "__module__": __name__, **members})


_named = {
    "AND": "and_", "EQ": "eq", "GE": "ge", "GT": "gt", "LE": "le", "LT": "lt", "NEQ": "neq", "OR": "or_", "XOR": "xor",
    "GammaIncC": "gammaincc", "GammaIncCInv": "gammainccinv", "GammaIncInv": "gammaincinv", "GammaInc": "gammainc",
    "GammaLn": "gammaln", "IntDiv": "int_div", "IsInf": "isinf", "IsNan": "isnan", "NdtriExp": "ndtri_exp", "PolyGamma": "polygamma",
    "BetaInc": "betainc", "BetaIncInv": "betaincinv", "TriGamma": "tri_gamma", "TrueDiv": "true_div",
    "RoundHalfAwayFromZero": "round_half_away_from_zero", "RoundHalfToEven": "round", "ScalarMaximum": "maximum",
    "ScalarMinimum": "minimum", "Hyp2F1": "hyp2f1",
}  # fmt: skip
_same = """Abs Add ArcCos ArcCosh ArcSin ArcSinh ArcTan ArcTan2 ArcTanh Ceil Clip Cos Cosh Erf Erfc Erfcinv Erfcx Erfinv Exp Exp2
Expm1 Floor Gamma I0 I1 Invert Ive J0 J1 Jv Kve Log Log10 Log1mexp Log1p Log2 Maximum Minimum Mod Mul Neg Owens_t Pow Psi
Reciprocal Second Sigmoid Sign Sin Sinh Softplus Sqr Sqrt Sub Switch Tan Tanh Trunc Real Imag Complex Conj"""
for _name, _function_name in {**{each: each.lower() for each in _same.split()}, **_named}.items():
    if _function_name in dict(_core.elementwise_functions()):
        globals()[_name] = _class(_name, _function_name.rstrip("_"))
del _name, _function_name

Cast = _class("Cast", *(f"cast_{dtype}" for dtype in _by_dtype))
LogicalComparison = FixedLogicalComparison = _class("LogicalComparison", "eq", "ge", "gt", "le", "lt", "neq")
BinaryBitOp = _class("BinaryBitOp", "and", "or", "xor")
UnaryBitOp = _class("UnaryBitOp", "invert")
_arities = dict(_core.elementwise_functions())
ScalarOp = _class("ScalarOp", *(name.rstrip("_") for name in _arities), *Cast.functions)
UnaryScalarOp = _class(
    "UnaryScalarOp", *(name.rstrip("_") for name, n in _arities.items() if n == 1), *Cast.functions, bases=(ScalarOp,), nin=1
)
BinaryScalarOp = _class("BinaryScalarOp", *(name.rstrip("_") for name, n in _arities.items() if n == 2), bases=(ScalarOp,), nin=2)


from bitale.scalar.composite import Composite, ScalarInnerGraphOp  # it imports ScalarOp


def betainc_grad(p: typing.Any, q: typing.Any, x: typing.Any, wrtp: builtins.bool) -> typing.Any:
    """The derivative of betainc(p, q, x) by p, or by q unless wrtp."""
    return _pt.betainc_derivative(p, q, x) if wrtp else _pt.betainc_derivative_by_b(p, q, x)


def gammainc_grad(k: typing.Any, x: typing.Any) -> typing.Any:
    """The derivative of gammainc(k, x) by k."""
    return _pt.gammainc_derivative(k, x)


def gammaincc_grad(k: typing.Any, x: typing.Any) -> typing.Any:
    """The derivative of gammaincc(k, x) by k."""
    return -_pt.gammainc_derivative(k, x)


def hyp2f1_grad(a: typing.Any, b: typing.Any, c: typing.Any, z: typing.Any, wrt: typing.Sequence[builtins.int]) -> list[typing.Any]:
    """The derivatives of hyp2f1(a, b, c, z) by a (0), b (1) and c (2), of which wrt says those that are wanted, in this order."""
    if not wrt or not set(wrt) <= {0, 1, 2}:
        raise ValueError(f"hyp2f1_grad: wrt is some of 0, 1 and 2, got {wrt!r}")
    by = {
        0: lambda: _pt.hyp2f1_derivative(a, b, c, z),
        1: lambda: _pt.hyp2f1_derivative(b, a, c, z),
        2: lambda: _pt.hyp2f1_derivative_by_c(a, b, c, z),
    }
    return [by[i]() for i in wrt]


def betaln(a: typing.Any, b: typing.Any) -> typing.Any:
    """The logarithm of the beta function."""
    return _pt.special.betaln(a, b)


def __getattr__(name: str) -> typing.Any:
    """Functions and types by name: many of them (abs, bool, pow) would hide Python's own in this file."""
    if name in _by_dtype and name != "complex":
        return _by_dtype[name]
    return _function(name)


def __dir__() -> list[str]:
    found = [name for name in globals() if name[0] != "_"] + list(_by_dtype) + [f"convert_to_{dtype}" for dtype in _by_dtype]
    return sorted({*found, *(name for name in _functions if hasattr(_pt, name)), "scalar_abs", "scalar_maximum", "scalar_minimum"})
