"""Classes of ops under PyTensor's names: the factory that makes all of them, and the table of scalar functions that
`bitale.scalar`, `bitale.tensor` and the converter from PyTensor read.

`isinstance(node.op, Sum)` asks for a kind of op, and `Sum(axis=0)(x)` makes and applies one. A class is that of ops of the
library; or a kind of these, told by a predicate: sums among reductions, ops of one scalar function; or a formula of several
ops, which no node has.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from bitale import _core
from bitale._core import Op

# Classes of scalar ops, and the elementwise functions that they are here.
SCALAR_FUNCTIONS = {
    **{name: name.lower() for name in """Abs Add Angle ArcCos ArcCosh ArcSin ArcSinh ArcTan ArcTan2 ArcTanh Ceil Clip Complex Conj Cos
        Cosh Deg2Rad Erf Erfc Erfcinv Erfcx Erfinv Exp Exp2 Expm1 Floor Gamma I0 I1 Imag Invert Ive J0 J1 Jv Kve Log Log10 Log1mexp
        Log1p Log2 Maximum Minimum Mod Mul Neg Owens_t Pow Psi Rad2Deg Real Reciprocal Second Sigmoid Sign Sin Sinh Softplus Sqr Sqrt
        Sub Switch Tan Tanh Trunc""".split()},
    "AND": "and_", "EQ": "eq", "GE": "ge", "GT": "gt", "LE": "le", "LT": "lt", "NEQ": "neq", "OR": "or_", "XOR": "xor",
    "BetaInc": "betainc", "BetaIncInv": "betaincinv", "ComplexFromPolar": "complex_from_polar", "GammaInc": "gammainc",
    "GammaIncC": "gammaincc", "GammaIncCInv": "gammainccinv", "GammaIncInv": "gammaincinv", "GammaLn": "gammaln", "Hyp2F1": "hyp2f1",
    "IntDiv": "int_div", "IsInf": "isinf", "IsNan": "isnan", "NdtriExp": "ndtri_exp", "PolyGamma": "polygamma",
    "RoundHalfAwayFromZero": "round_half_away_from_zero", "RoundHalfToEven": "round", "ScalarMaximum": "maximum",
    "ScalarMinimum": "minimum", "TriGamma": "tri_gamma", "TrueDiv": "true_div",
}  # fmt: skip


class LibraryOp(Op):
    """The base of classes of the library's own ops."""

    __slots__ = ()
    _is_of_the_library = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: what __new__ returns is complete."""


class Kind(type):
    """The metaclass of classes that are told by a predicate. A subclass that a program derives is an ordinary class."""

    def __instancecheck__(cls, op: Any) -> bool:
        holds = vars(cls).get("_holds")
        return type.__instancecheck__(cls, op) or (holds is not None and bool(holds(op)))

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        make = vars(cls).get("_make")
        return super().__call__(*args, **kwargs) if make is None else make(*args, **kwargs)


class _OfClass:
    """The signature of a class, which its instances, whose own calls take inputs, do not have."""

    def __init__(self, signature: Any) -> None:
        self._signature = signature

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is not None:
            raise AttributeError("an op has no signature of its own")
        return self._signature


def op_class(
    name: str,
    doc: str,
    make: Callable[..., Any] | None = None,
    *,
    module: str,
    of: str | None = None,
    holds: Callable[[Any], bool] | None = None,
    among: tuple[str, ...] | None = None,
    bases: tuple[type, ...] = (),
    **members: Any,
) -> Any:
    """Make a class of ops.

    Parameters
    ----------
    name, doc, module : str
        Name, docstring and module of the class.
    make : callable, optional
        What a call of the class returns. By default the class can't be called.
    of : str, optional
        What the library calls the ops whose class this becomes; by default `name`.
    holds : callable, optional
        Whether an op is of the kind, where the class isn't that of the library's ops.
    among : tuple of str, optional
        What rules call the ops among which those of the kind are: "CAReduce", "add".
    bases : tuple of type
        Further bases of such a class.
    **members : object
        Further members of the class.
    """

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{name}: ops of this class are made by functions of bitale.tensor")

    made = make or refuse
    signature = members.pop("__signature__", None) or inspect.signature(made)
    members |= {"__signature__": _OfClass(signature), "__doc__": doc, "__module__": module}
    if holds is not None:
        return Kind(
            name,
            bases,
            {
                "_make": staticmethod(made),
                **members,
                "_holds": staticmethod(holds),
                "_among": among,
            },
        )
    metaclass: Any = type(Op)
    created = metaclass(
        name,
        (LibraryOp,),
        {**members, "__slots__": (), "__new__": lambda cls, *args, **kwargs: made(*args, **kwargs)},
    )
    _core.set_class_of_ops(of or name, created)
    return created


class Built:
    """What a class returns whose ops are made of others here: it takes the inputs of PyTensor's op, while nodes have other ops.

    Two are equal if they have the same class and arguments; arguments are attributes.
    """

    __slots__ = ("_apply", "_ranks", "_text", "arguments", "kind")

    def __init__(
        self,
        text: str,
        apply: Callable[..., Any],
        kind: str = "",
        arguments: dict[str, Any] | None = None,
        ranks: tuple[int, ...] = (),
    ):
        self._text, self._apply, self.kind, self.arguments = (
            text,
            apply,
            kind,
            dict(arguments or {}),
        )
        self._ranks = ranks

    @property
    def gufunc_signature(self) -> str:
        """The dimensions of inputs and outputs that belong together: that of the op which nodes have."""
        if not self._ranks:
            raise AttributeError(f"{self._text} has no attribute 'gufunc_signature'")
        out = self(*(_core.tensor(dtype="float64", shape=(None,) * ndim) for ndim in self._ranks))
        return str((out[0] if isinstance(out, (list, tuple)) else out).owner.op.gufunc_signature)

    @property
    def __props__(self) -> dict[str, Any]:
        return self.arguments

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "arguments")[name]
        except (KeyError, AttributeError):
            raise AttributeError(
                f"{self._text if name[:1] != '_' else 'op'} has no attribute {name!r}"
            ) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Built) and (
            self is other
            or (self.kind != "" and (self.kind, self._text) == (other.kind, other._text))
        )

    def __hash__(self) -> int:
        return hash((self.kind, self._text)) if self.kind else id(self)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        return self._apply(*inputs, **named)

    def make_node(self, *inputs: Any, **named: Any) -> Any:
        """The Apply node of these inputs."""
        out = self(*inputs, **named)
        return (out[0] if isinstance(out, (list, tuple)) else out).owner

    def __repr__(self) -> str:
        return self._text


def formula_class(
    name: str,
    doc: str,
    apply: Callable[..., Any],
    module: str,
    defaults: dict[str, Any],
    holds: Callable[[Any], bool] | None = None,
    ranks: Callable[[dict[str, Any]], tuple[int, ...]] | None = None,
    check: Callable[..., None] | None = None,
) -> Any:
    """Make a class whose ops are formulas: a call takes arguments that have defaults, its result the inputs.

    Parameters
    ----------
    name, doc, module : str
        Name, docstring and module of the class.
    apply : callable
        The formula: of the inputs, and the arguments by name.
    defaults : dict
        The arguments and their defaults; `Ellipsis` for those that must be given.
    holds : callable, optional
        Whether an op of a node is of the class, where nodes have such ops.
    ranks : callable, optional
        The numbers of dimensions of the inputs, from the arguments, where the
        ops of nodes state a signature.
    check : callable, optional
        Raises an error for arguments, given by name, that no op can have.
    """

    def make(*args: Any, **kwargs: Any) -> Built:
        unknown = [each for each in kwargs if each not in defaults]
        if unknown or len(args) > len(defaults):
            raise TypeError(
                f"{name}: expected as arguments {', '.join(defaults) or 'none'}, got {unknown or args}"
            )
        arguments = {**defaults, **dict(zip(defaults, args)), **kwargs}
        absent = [key for key, value in arguments.items() if value is ...]
        if absent:
            raise TypeError(f"{name}: the argument {absent[0]} is missing")
        if check is not None:
            check(**arguments)
        text = f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
        return Built(
            text,
            lambda *inputs, **named: apply(*inputs, **named, **arguments),
            name,
            arguments,
            ranks(arguments) if ranks else (),
        )

    def is_one(op: Any) -> bool:
        return (isinstance(op, Built) and op.kind == name) or (holds is not None and holds(op))

    by_position_or_name = inspect.Parameter.POSITIONAL_OR_KEYWORD
    keys = (
        sorted(defaults, key=lambda key: defaults[key] is not ...)
        if ... in defaults.values()
        else list(defaults)
    )
    parameters = [
        inspect.Parameter(
            key,
            by_position_or_name,
            default=inspect.Parameter.empty if defaults[key] is ... else defaults[key],
        )
        for key in keys
    ]
    return op_class(
        name,
        doc,
        make,
        module=module,
        holds=is_one,
        arguments=tuple(defaults),
        __signature__=inspect.Signature(parameters),
    )


def is_library_op(name: str) -> Callable[[Any], bool]:
    """Return the predicate of the library's ops of a name, such as "Cholesky".

    Parameters
    ----------
    name : str
        What the library calls them.
    """

    def holds(op: Any) -> bool:
        return (
            type(op).__name__ == name
            and isinstance(op, Op)
            and getattr(type(op), "_is_of_the_library", False)
        )

    return holds
