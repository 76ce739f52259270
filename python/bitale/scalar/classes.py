"""Classes of scalar ops: each is the elementwise ops of some functions, so that `isinstance(node.op.scalar_op, Add)` asks for one."""

from __future__ import annotations

import inspect
import typing

from bitale import _core
from bitale._class_factory import SCALAR_FUNCTIONS, op_class
from bitale.scalar.user_ops import UserScalarOp
from bitale.scalar.types import all_types
from bitale.tensor.op_classes import Elemwise as _Elemwise

__all__ = ["FixedLogicalComparison"]  # and those that _class makes


def _scalar_name(op: typing.Any) -> str:
    """The name of an elementwise op's function; empty for other ops."""
    return str(dict(op.__props__)["scalar_op"]) if isinstance(op, _Elemwise) else ""


def _class(
    name: str, *functions: str, bases: tuple[type, ...] = (UserScalarOp,), **members: typing.Any
) -> typing.Any:
    own_name = name

    def make(output_types_preference: typing.Any = None, name: str | None = None) -> typing.Any:
        if len(functions) != 1:
            raise TypeError(
                f"{own_name}: the ops of this class are functions such as scalar.{functions[0]}"
            )
        if output_types_preference is not None:
            raise NotImplementedError(
                f"{own_name}: output_types_preference is not supported: {functions[0]} has one rule of dtypes; cast its result"
            )
        return _Elemwise(functions[0], name=name)

    __all__.append(name)
    doc = f"Elementwise ops of {', '.join(functions) if len(functions) < 5 else 'their kind'}: ``isinstance(node.op.scalar_op, {name})``."
    return op_class(
        name,
        doc,
        make,
        module="bitale.scalar",
        holds=lambda op: _scalar_name(op) in functions,
        among=functions,
        bases=bases,
        **members,
    )


_arities = dict(_core.elementwise_functions())
for _name, _function in SCALAR_FUNCTIONS.items():
    if _function in _arities:
        globals()[_name] = _class(_name, _function.rstrip("_"))
del _name, _function

_casts = [f"cast_{type_.dtype}" for type_ in all_types]


def _cast(o_type: typing.Any, name: str | None = None) -> typing.Any:
    return _Elemwise(f"cast_{getattr(o_type, 'dtype', o_type)}", name=name)


Cast = _class("Cast", *_casts, _make=staticmethod(_cast), __signature__=inspect.signature(_cast))
LogicalComparison = FixedLogicalComparison = _class(
    "LogicalComparison", "eq", "ge", "gt", "le", "lt", "neq"
)
BinaryBitOp = _class("BinaryBitOp", "and", "or", "xor")
UnaryBitOp = _class("UnaryBitOp", "invert")
ScalarOp = _class("ScalarOp", *(name.rstrip("_") for name in _arities), *_casts)
UnaryScalarOp = _class(
    "UnaryScalarOp",
    *(name.rstrip("_") for name, n in _arities.items() if n == 1),
    *_casts,
    bases=(ScalarOp,),
    nin=1,
)
BinaryScalarOp = _class(
    "BinaryScalarOp",
    *(name.rstrip("_") for name, n in _arities.items() if n == 2),
    bases=(ScalarOp,),
    nin=2,
)
