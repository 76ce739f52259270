"""Classes of scalar ops: each is the elementwise ops of some functions, so that `isinstance(node.op.scalar_op, Add)` asks for one."""

from __future__ import annotations

import typing

from bitale import _core
from bitale.scalar.own import OwnScalarOp
from bitale.scalar.types import all_types
from bitale.tensor.op_classes import Elemwise as _Elemwise

if typing.TYPE_CHECKING:
    import builtins

_dtypes = tuple(type_.dtype for type_ in all_types)


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
    return _Class(name, bases, {"functions": functions, "__doc__": doc, "__module__": "bitale.scalar", **members})


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

Cast = _class("Cast", *(f"cast_{dtype}" for dtype in _dtypes))
LogicalComparison = FixedLogicalComparison = _class("LogicalComparison", "eq", "ge", "gt", "le", "lt", "neq")
BinaryBitOp = _class("BinaryBitOp", "and", "or", "xor")
UnaryBitOp = _class("UnaryBitOp", "invert")
_arities = dict(_core.elementwise_functions())
ScalarOp = _class("ScalarOp", *(name.rstrip("_") for name in _arities), *Cast.functions)
UnaryScalarOp = _class(
    "UnaryScalarOp", *(name.rstrip("_") for name, n in _arities.items() if n == 1), *Cast.functions, bases=(ScalarOp,), nin=1
)
BinaryScalarOp = _class("BinaryScalarOp", *(name.rstrip("_") for name, n in _arities.items() if n == 2), bases=(ScalarOp,), nin=2)

__all__ = [name for name, each in globals().items() if isinstance(each, _Class)]
