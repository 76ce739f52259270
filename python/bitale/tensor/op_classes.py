"""The classes of ops: `isinstance(node.op, Elemwise)` asks for one, and `Sum(axis=0)(x)` makes and applies an op. Sums and
other reductions are ops of one class, CAReduce; classes such as Sum tell them apart. Each module of PyTensor that has such a
class finds it here."""

from __future__ import annotations

import functools
import itertools
import re
import typing
from collections.abc import Sequence

from bitale import _core
from bitale._class_factory import Built, op_class

__all__ = [
    "AdvancedIncSubtensor",
    "AdvancedSubtensor",
    "BaseSubtensor",
    "All",
    "Alloc",
    "Any",
    "ARange",
    "Argmax",
    "ArgSortOp",
    "BatchedDot",
    "Blockwise",
    "CAReduce",
    "CumOp",
    "DimShuffle",
    "DisconnectedGrad",
    "Dot",
    "Elemwise",
    "GradClip",
    "GradScale",
    "IfElse",
    "IncSubtensor",
    "IRFFTOp",
    "Join",
    "MakeVector",
    "Max",
    "Min",
    "Nonzero",
    "Prod",
    "Reshape",
    "RFFTOp",
    "SearchsortedOp",
    "Shape",
    "Shape_i",
    "SortOp",
    "SpecifyShape",
    "Subtensor",
    "Sum",
    "UndefinedGrad",
    "ZeroGrad",
]

_flag, _integer, _real, _text, _dtype, _integers = (
    "bool",
    "int",
    "float",
    "str",
    "dtype",
    "ints",
)  # as in _core.op_of_stored


_class = functools.partial(op_class, module=__name__)


def _op(name: str, *attributes: tuple[str, str, typing.Any]) -> typing.Any:
    return _core.op_of_stored(name, tuple(each for each in attributes if each[2] is not None))


def _name_of_function(scalar_op: typing.Any) -> str:
    if isinstance(scalar_op, str):
        return scalar_op
    if isinstance(scalar_op, Elemwise):
        return str(dict(scalar_op.__props__)["scalar_op"])
    name: str = getattr(scalar_op, "__name__", "")
    if not name:
        raise TypeError(
            f"Elemwise: expected an elementwise function or its name, got {scalar_op!r}"
        )
    return name.removesuffix("_")


def _elemwise(
    scalar_op: typing.Any,
    inplace_pattern: typing.Any = None,
    name: str | None = None,
    nfunc_spec: typing.Any = None,
    openmp: typing.Any = None,
) -> typing.Any:
    if hasattr(scalar_op, "as_elemwise"):  # a scalar op that a program defines
        if inplace_pattern:
            raise NotImplementedError(
                "Elemwise: inplace_pattern is not supported: only rewriting makes ops in-place"
            )
        if hasattr(scalar_op, "of_tensors"):
            return Built(name or f"Elemwise{{{scalar_op}}}", scalar_op.of_tensors)
        return scalar_op.as_elemwise(name, nfunc_spec)
    return _op("Elemwise", ("scalar_op", _text, _name_of_function(scalar_op)))


def _order(new_order: Sequence[typing.Any]) -> tuple[int, ...]:
    return tuple(-1 if each == "x" else each for each in new_order)


def _dimshuffle(*, input_ndim: int, new_order: Sequence[typing.Any]) -> typing.Any:
    return _op(
        "DimShuffle",
        ("input_ndim", _integer, input_ndim),
        ("new_order", _integers, _order(new_order)),
    )


Elemwise = _class(
    "Elemwise",
    'Applies a function of scalars to each element: Elemwise(pt.exp), Elemwise("exp").',
    _elemwise,
)
Elemwise.scalar_op = property(
    lambda op: op, doc="The op itself: bitale.scalar has the classes of scalar ops."
)
DimShuffle = _class(
    "DimShuffle",
    'Permutes dimensions, adds new ones ("x") and drops others, of length 1.',
    _dimshuffle,
)
DimShuffle.new_order = property(
    lambda op: tuple("x" if each == -1 else each for each in dict(op.__props__)["new_order"]),
    doc='Dimensions of the input, and "x" for new ones.',
)


def _careduce(
    scalar_op: typing.Any,
    axis: typing.Any = None,
    dtype: typing.Any = None,
    acc_dtype: typing.Any = None,
    upcast_discrete_output: bool = False,
) -> typing.Any:
    name = _name_of_function(scalar_op)
    for reduction in (Sum, Prod, Max, Min, All, Any):
        if reduction.scalar_op == name.removesuffix("_"):
            return reduction(axis=axis, dtype=dtype, acc_dtype=acc_dtype)
    raise NotImplementedError(
        f"CAReduce: reductions by {name} are not supported; expected add, mul, maximum, minimum, and_ or or_"
    )


def _argmax(axis: typing.Any = None) -> typing.Any:
    axes = (axis,) if isinstance(axis, int) else axis
    if axes is not None and len(axes) != 1:
        raise NotImplementedError(
            f"Argmax: expected one axis, got {tuple(axes)}; pt.argmax takes several"
        )
    return _op(
        "Argmax", ("axis", _integer, None if axes is None else axes[0]), ("smallest", _flag, False)
    )


def _join(axis: int | None = None) -> typing.Any:
    return (
        Built("Join", _core.join, "Join") if axis is None else _op("Join", ("axis", _integer, axis))
    )


def _signature_of(op: typing.Any) -> str:
    """An op's own, or one of the ranks of its itypes and otypes."""
    if stated := getattr(op, "gufunc_signature", None):
        return str(stated)
    sides: list[typing.Any] = [getattr(op, "itypes", None), getattr(op, "otypes", None)]
    if None in sides:
        raise TypeError(
            f'Blockwise: {op} has no gufunc_signature: give the signature, such as "(m,n),(n)->(m)"'
        )
    names = (f"d{i}" for i in itertools.count())
    return "->".join(
        ",".join(f"({','.join(next(names) for _ in range(t.ndim))})" for t in side)
        for side in sides
    )


def _blockwise(
    core_op: typing.Any, signature: str | None = None, name: str | None = None
) -> typing.Any:
    stated = signature or _signature_of(core_op)
    return Built(
        name or f"Blockwise{{{core_op}, {stated}}}",
        _core.vectorize(core_op, stated),
        "" if name else "Blockwise",
    )


def _core_dimensions(signature: str, side: int) -> list[tuple[str, ...]]:
    groups = re.findall(r"\(([^)]*)\)", signature.split("->")[side])
    return [tuple(each.split(",")) if each else () for each in groups]


def _core_op(op: typing.Any) -> typing.Any:
    name, attributes = _core.stored_op(op)
    of = {key: (kind, value) for key, kind, value in attributes}
    return _op(
        of["core"][1],
        *(
            (key, kind, value)
            for key, (kind, value) in of.items()
            if key not in ("core", "signature")
        ),
    )


def _cumulate(axis: int | None = None, mode: str = "add") -> typing.Any:
    if mode not in ("add", "mul"):
        raise ValueError(f'CumOp: expected "add" or "mul" as mode, got {mode!r}')
    return Built(
        f"CumOp{{{axis}, {mode}}}",
        lambda x: getattr(_core, "cumsum" if mode == "add" else "cumprod")(x, axis),
        "CumOp",
    )


def _index(inputs: Sequence[typing.Any], idx_list: Sequence[typing.Any]) -> tuple[typing.Any, ...]:
    from bitale.tensor.index_lists import unflatten_index_variables

    return unflatten_index_variables(inputs, idx_list)


def _check_entries(idx_list: Sequence[typing.Any]) -> None:
    for each in idx_list:
        if isinstance(each, (str, float)) or each is None:
            raise ValueError(f"idx_list has numbers and slices, got {each!r}")


def _subtensor(idx_list: Sequence[typing.Any]) -> typing.Any:
    _check_entries(idx_list)
    return Built(
        f"Subtensor{{{idx_list}}}",
        lambda x, *inputs: _core.as_tensor_variable(x)[_index(inputs, idx_list)],
        "Subtensor",
    )


def _inc_subtensor(
    idx_list: Sequence[typing.Any],
    inplace: bool = False,
    set_instead_of_inc: bool = False,
    **options: typing.Any,
) -> typing.Any:
    if inplace:
        raise NotImplementedError(
            "IncSubtensor: inplace=True is not supported: only rewriting makes ops in-place"
        )
    _check_entries(idx_list)
    change = _core.set_subtensor if set_instead_of_inc else _core.inc_subtensor

    def apply(x: typing.Any, y: typing.Any, *inputs: typing.Any) -> typing.Any:
        return change(_core.as_tensor_variable(x)[_index(inputs, idx_list)], y, **options)

    more = "".join(f", {key}={value!r}" for key, value in options.items())
    return Built(
        f"{'Set' if set_instead_of_inc else 'Inc'}Subtensor{{{idx_list}{more}}}",
        apply,
        "IncSubtensor",
    )


def _advanced_inc_subtensor(
    idx_list: Sequence[typing.Any],
    inplace: bool = False,
    set_instead_of_inc: bool = False,
    ignore_duplicates: bool = False,
) -> typing.Any:
    options = {"ignore_duplicates": True} if ignore_duplicates and not set_instead_of_inc else {}
    return _inc_subtensor(idx_list, inplace, set_instead_of_inc, **options)


def _listed(text: str) -> tuple[typing.Any, ...]:
    """idx_list of the library's own text, which names the bounds that there are: "start:, i"."""
    count = 0

    def number(named: str) -> int | None:
        nonlocal count
        count += bool(named)
        return count - 1 if named else None

    found: list[typing.Any] = []
    for entry in text.replace(" ", "").split(",") if text else ():
        found.append(
            slice(*[number(part) for part in entry.split(":")]) if ":" in entry else number(entry)
        )
    return tuple(found)


def _listed_axes(axes: Sequence[int]) -> tuple[typing.Any, ...]:
    return tuple(axes.index(axis) if axis in axes else slice(None) for axis in range(max(axes) + 1))


def _make_ifelse(n_outs: int, as_view: bool = False, name: str | None = None) -> typing.Any:
    def apply(condition: typing.Any, *branches: typing.Any) -> typing.Any:
        if len(branches) != 2 * n_outs:
            raise ValueError(
                f"IfElse: expected {n_outs} values for each side, got {len(branches)} in all"
            )
        out = _core.ifelse_of_lists(condition, list(branches[:n_outs]), list(branches[n_outs:]))
        return out[0] if n_outs == 1 else out

    return Built(name or f"IfElse{{{n_outs}}}", apply, "" if name else "IfElse")


CAReduce = _class(
    "CAReduce",
    "Reduces elements along axes: CAReduce(pt.add, axis=0). See Sum, Prod, Max, Min, All and Any.",
    _careduce,
)
CAReduce.axis = property(
    lambda op: dict(op.__props__).get("axis"), doc="The axes, or None for all."
)
CAReduce.scalar_op = property(
    lambda op: _op("Elemwise", ("scalar_op", _text, dict(op.__props__)["scalar_op"])),
    doc="The function that joins two elements.",
)
Argmax = _class("Argmax", "The position of the largest element.", _argmax)
Join = _class(
    "Join",
    "Tensors side by side: Join()(axis, x, y), or an op for one axis, Join(axis)(x, y).",
    _join,
)
MakeVector = _class(
    "MakeVector",
    "A vector of scalars.",
    lambda dtype="int64": _op("MakeVector", ("dtype", _dtype, dtype)),
)
Reshape = _class(
    "Reshape",
    "Another shape, of ndim lengths.",
    lambda ndim: _op("Reshape", ("ndim", _integer, ndim)),
)
Shape_i = _class("Shape_i", "One length of a tensor.", lambda i: _op("Shape_i", ("i", _integer, i)))
ARange = _class(
    "ARange", "Numbers with equal steps.", lambda dtype: _op("ARange", ("dtype", _dtype, dtype))
)
Shape = _class("Shape", "All lengths of a tensor.", lambda: _op("Shape"))
Alloc = _class("Alloc", "A value in a shape.", lambda: _op("Alloc"))
Dot = _class("Dot", "The product of vectors and matrices.", lambda: _op("Dot"))
BatchedDot = _class(
    "BatchedDot",
    "Products of matrices, one per element of a batch.",
    lambda: Built("BatchedDot", lambda x, y: _core.matmul(x, y), "BatchedDot"),
)
Blockwise = _class(
    "Blockwise",
    'An op on each element of a batch: Blockwise(op, "(m,n),(n)->(m)")(a, b).',
    _blockwise,
)
Blockwise.core_op = property(
    lambda op: _core_op(op), doc="The op that is applied to each element of the batch."
)
Blockwise.inputs_sig = property(
    lambda op: _core_dimensions(op.signature, 0),
    doc="The dimensions of the core that each input has, by their names in the signature.",
)
Blockwise.outputs_sig = property(
    lambda op: _core_dimensions(op.signature, 1),
    doc="The dimensions of the core that each output has, by their names in the signature.",
)


def _batch_ndim(self: typing.Any, node: typing.Any) -> int:
    """The number of a node's dimensions that belong to the batch."""
    return int(node.inputs[0].ndim - len(self.inputs_sig[0]))


Blockwise.batch_ndim = _batch_ndim
CumOp = _class("CumOp", 'Running sums (mode "add") and products ("mul") along an axis.', _cumulate)
SortOp = _class(
    "SortOp",
    "Elements in increasing order.",
    lambda kind="quicksort", axis=-1: Built(
        f"SortOp{{{kind}, {axis}}}", lambda x: _core.sort(x, axis, kind), "SortOp"
    ),
)
ArgSortOp = _class(
    "ArgSortOp",
    "The positions of elements in increasing order.",
    lambda kind="quicksort", axis=-1: Built(
        f"ArgSortOp{{{kind}, {axis}}}", lambda x: _core.argsort(x, axis, kind), "ArgSortOp"
    ),
)
SearchsortedOp = _class(
    "SearchsortedOp",
    "Where elements would have to be inserted.",
    lambda side="left": Built(
        f"SearchsortedOp{{{side}}}",
        lambda x, v, sorter=None: _core.searchsorted(x, v, side, sorter),
        "SearchsortedOp",
    ),
    of="SearchSorted",
)
RFFTOp = _class("RFFTOp", "Fourier transforms of real numbers.", of="RFFT")
IRFFTOp = _class("IRFFTOp", "Their inverse.", of="IRFFT")
Nonzero = _class(
    "Nonzero",
    "The positions of elements that are not 0.",
    lambda: Built("Nonzero", lambda x: _core.nonzero(x), "Nonzero"),
)
SpecifyShape = _class(
    "SpecifyShape",
    "A tensor whose lengths are stated, and checked.",
    lambda: Built("SpecifyShape", lambda x, *shape: _core.specify_shape(x, shape), "SpecifyShape"),
)
Subtensor = _class(
    "Subtensor",
    "A slice, or an element: Subtensor([slice(0, None), 1])(x, i, j) is x[i:, j].",
    _subtensor,
)
IncSubtensor = _class(
    "IncSubtensor", "A tensor with a slice that is set or incremented.", _inc_subtensor
)
AdvancedSubtensor = _class(
    "AdvancedSubtensor", "Elements at positions that tensors of integers give.", _subtensor
)
AdvancedIncSubtensor = _class(
    "AdvancedIncSubtensor",
    "A tensor with elements set or incremented at such positions.",
    _advanced_inc_subtensor,
)
_doc_of_lists = "Of each indexed dimension, the number of the input that says which element, or a slice of such numbers (bitale.tensor.index_lists)."


class _IsSubtensor(type):
    def __instancecheck__(cls, instance: typing.Any) -> bool:
        return isinstance(
            instance, (Subtensor, IncSubtensor, AdvancedSubtensor, AdvancedIncSubtensor)
        )


class BaseSubtensor(metaclass=_IsSubtensor):
    """Abstract base class of ops of indices."""


for _cls in (Subtensor, IncSubtensor):
    _cls.idx_list = property(lambda op: _listed(dict(op.__props__)["idx_list"]), doc=_doc_of_lists)
for _cls in (AdvancedSubtensor, AdvancedIncSubtensor):
    _cls.idx_list = property(lambda op: _listed_axes(dict(op.__props__)["axes"]), doc=_doc_of_lists)
del _cls


IfElse = _class("IfElse", "A choice of which only one side is computed.", _make_ifelse)
ZeroGrad = _class("ZeroGrad", "x, whose derivative is zero.", lambda: _op("ZeroGrad"))
UndefinedGrad = _class(
    "UndefinedGrad", "x, whose derivative is undefined.", lambda: _op("UndefinedGrad")
)
DisconnectedGrad = _class(
    "DisconnectedGrad",
    "x, on which nothing depends as far as derivatives go.",
    lambda: _op("DisconnectedGrad"),
)
GradClip = _class(
    "GradClip",
    "x, whose derivative is clipped.",
    lambda clip_lower_bound, clip_upper_bound: _op(
        "GradClip",
        ("lower", _real, float(clip_lower_bound)),
        ("upper", _real, float(clip_upper_bound)),
    ),
)
GradScale = _class(
    "GradScale",
    "x, whose derivative is multiplied.",
    lambda multiplier: _op("GradScale", ("multiplier", _real, float(multiplier))),
)


def _reduction(name: str, doc: str, function: str, scalar_op: str) -> typing.Any:
    """The class of CAReduce ops of one function."""

    def make(
        axis: typing.Any = None, dtype: typing.Any = None, acc_dtype: typing.Any = None
    ) -> typing.Any:
        axes = (
            None
            if axis is None
            else tuple(sorted(axis))
            if isinstance(axis, (tuple, list))
            else (axis,)
        )
        if axes and axes[0] < 0:
            raise ValueError(f"{name}: an op counts axes from the front, got {axis}")
        attributes = (
            ("scalar_op", _text, scalar_op),
            ("name", _text, function),
            ("axis", _integers, axes),
            ("dtype", _dtype, dtype),
        )
        return _op("CAReduce", *attributes)

    def holds(op: typing.Any) -> bool:
        return isinstance(op, CAReduce) and dict(op.__props__).get("name") == function

    return _class(
        name, doc, make, holds=holds, among=("CAReduce",), function=function, scalar_op=scalar_op
    )


Sum = _reduction(
    "Sum", "Sums over axes; the dtype is that of pt.sum unless it is given.", "sum", "add"
)
Prod = _reduction(
    "Prod", "Products over axes; the dtype is that of pt.prod unless it is given.", "prod", "mul"
)
Max = _reduction("Max", "Largest elements over axes.", "max", "maximum")
Min = _reduction("Min", "Smallest elements over axes.", "min", "minimum")
All = _reduction("All", "Whether all elements over axes are true.", "all", "and")
Any = _reduction("Any", "Whether any element over axes is true.", "any", "or")
