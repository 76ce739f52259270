"""Methods of labelled variables that take Python's dicts and keywords, give xarray's arrays, or are stored by pickle."""

from __future__ import annotations

from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale import _core
from bitale._core import XTensorVariable
from bitale.xtensor import selection, shape, windows
from bitale.compile.function import evaluate
from bitale.xtensor.tree import data_array
from bitale.xtensor.math import where
from bitale.xtensor.type import XTensorType

__all__ = ["XTensorVariable", "restored"]

XTensorVariable.__module__ = __name__


def restored(values: Any, dims: Any) -> XTensorVariable:
    """The tensor that pickle has stored."""
    return _core.xtensor_of_values(values, dims)


def _reduced(x: XTensorVariable) -> tuple[Any, ...]:
    return restored, (x.values, x.dimensions)


def _type(x: XTensorVariable) -> XTensorType:
    return XTensorType(x.dtype, dims=x.dimensions, shape=x.static_shape)


def _rename(
    x: XTensorVariable, /, new_name_or_name_dict: Any = None, **names: Any
) -> XTensorVariable:
    """Other names for dimensions, or, for a text, another name for the variable itself."""
    if isinstance(new_name_or_name_dict, str):
        out = _copy(shape.rename(x, {}, **names) if not names else shape.rename(x, **names))
        out.name = new_name_or_name_dict
        return out
    return shape.rename(x, new_name_or_name_dict, **names)


def _copy(x: XTensorVariable, name: str | None = None) -> XTensorVariable:
    """A copy, which may have another name."""
    out = x.with_values(x.values.copy())
    if name is not None:
        out.name = name
    return out


def _squeeze(
    x: XTensorVariable, dim: Any = None, drop: Any = None, axis: Any = None
) -> XTensorVariable:
    """Without dimensions of length 1."""
    if axis is not None:
        if dim is not None:
            raise ValueError("squeeze: expected names or axes, got both")
        dim = [x.dims[each] for each in ([axis] if isinstance(axis, int) else axis)]
    return shape.squeeze(x, dim)


def _expand_dims(
    x: XTensorVariable,
    /,
    dim: Any = None,
    create_index_for_new_dim: Any = None,
    axis: Any = None,
    **dim_kwargs: Any,
) -> XTensorVariable:
    """With further dimensions."""
    return shape.expand_dims(x, dim, axis, **dim_kwargs)


def _where(x: XTensorVariable, cond: Any, other: Any = None, drop: bool = False) -> XTensorVariable:
    """The elements where a condition holds; others are `other`, by default nan."""
    if drop:
        raise NotImplementedError(
            "where: drop=True: the lengths of the result would depend on values"
        )
    nan = np.asarray(
        np.nan, dtype=x.dtype if x.dtype.startswith(("float", "complex")) else "float64"
    )
    made = where(cond, x, nan if other is None else other)
    # As in xarray, x's dimensions come first, though the condition is the first argument.
    return shape.transpose(made, *x.dims, *(name for name in made.dims if name not in x.dims))


def _item(x: XTensorVariable) -> Any:
    """The only element, a scalar without dimensions. ValueError where there are known to be several."""
    if any(length not in (1, None) for length in x.static_shape):
        raise ValueError(f"item: expected a tensor with one element, got {x!r}")
    return x._squeeze(list(x.dims))


def _dprint(x: XTensorVariable, **options: Any) -> Any:
    """Print the graph; see bitale.dprint."""
    from bitale.printing import dprint

    return dprint(x, **options)


def _repr_latex(x: XTensorVariable) -> str:
    """The expression of the tensor as a notebook typesets it, with the dimensions."""
    lengths = ("?" if length is None else str(length) for length in x.static_shape)
    names = r",\ ".join(f"{name}: {length}" for name, length in zip(x.dims, lengths)).replace(
        "_", r"\_"
    )
    return f"{x.values._repr_latex_()[:-1]}\\quad[\\mathrm{{{names}}}]$"


def _repr_html(x: XTensorVariable) -> str | None:
    """Of a shared variable the value, as xarray shows it; None for others."""
    if not isinstance(x.values, _core.TensorSharedVariable):
        return None
    value = _get_value(x)
    return value._repr_html_() if hasattr(value, "_repr_html_") else x.values._repr_html_()


def _get_value(x: XTensorVariable, borrow: bool = False) -> Any:
    """The value of a shared variable, one of xarray's arrays if it is installed. TypeError for others."""
    shared: Any = x.values
    return data_array(x, shared.get_value(borrow=borrow))


def _set_value(x: XTensorVariable, new_value: Any, borrow: bool = False) -> None:
    """Stores a value in a shared variable. ValueError for one with other dimensions or coordinates."""
    shared: Any = x.values
    shared.set_value(
        _core.array_in_order(x.dimensions, new_value, f"set_value: {x.name}"), borrow=borrow
    )


def _made_complex(name: str) -> property:
    def part(x: XTensorVariable) -> XTensorVariable:
        return x.with_values(getattr(pt, name)(x.values))

    return property(part, doc=f"{name} of each element.")


def _conj(x: XTensorVariable) -> XTensorVariable:
    """The conjugate of each element."""
    return x.with_values(pt.conj(x.values))


def _of_tensor(name: str) -> property:
    """What a graph's variables have, which is that of the tensor."""
    return property(lambda x: getattr(x.values, name), doc=f"`{name}` of `values`, the tensor.")


def _clone(x: XTensorVariable, **options: Any) -> XTensorVariable:
    """A leaf of the same type and name."""
    return x.with_values(x.values.clone(**options))


def _round(x: XTensorVariable, decimals: int = 0) -> XTensorVariable:
    """The elements rounded to so many decimals, halves to even ones."""
    scale = 10.0**decimals
    return x.with_values(
        pt.round(x.values) if decimals == 0 else pt.round(x.values * scale) / scale
    )


def _isnull(x: XTensorVariable) -> XTensorVariable:
    """Whether elements are nan."""
    return x.with_values(pt.isnan(x.values))


def _notnull(x: XTensorVariable) -> XTensorVariable:
    """Whether elements are not nan."""
    return x.with_values(pt.logical_not(pt.isnan(x.values)))


def _pipe(x: XTensorVariable, func: Any, *args: Any, **kwargs: Any) -> Any:
    """func(x, *args, **kwargs)."""
    return func(x, *args, **kwargs)


def _get_axis_num(x: XTensorVariable, dim: Any) -> Any:
    """The axis of a dimension, or a tuple of those of several. ValueError for a name that is not there."""
    found = []
    for one in _core.xtensor_dims(dim):
        x._isel({one.name: slice(None)})  # says whether it is there
        found.append(x.dims.index(one.name))
    return found[0] if isinstance(dim, (str, _core.Dim)) else tuple(found)


def _as_numpy(x: XTensorVariable) -> XTensorVariable:
    """The variable itself: values are always NumPy's arrays."""
    return x


for _name in (
    "auto_name",
    "broadcastable",
    "get_parents",
    "index",
    "owner",
    "owner_op",
    "owner_op_and_inputs",
    "tag",
):
    setattr(XTensorVariable, _name, _of_tensor(_name))

for _name, _method in {
    "as_numpy": property(_as_numpy, doc=_as_numpy.__doc__),
    "diff": windows.diff, "groupby": windows.groupby, "interp": windows.interp, "isel": selection.isel,
    "loc": property(selection.Locations, doc="Selection by labels, x.loc[labels], in the order of the dimensions or by a dict."),
    "roll": windows.roll, "rolling": windows.rolling, "sel": selection.sel, "shift": windows.shift,
    "__reduce__": _reduced, "_repr_html_": _repr_html, "_repr_latex_": _repr_latex, "assign_coords": shape.assign_coords,
    "clone": _clone, "conj": _conj, "conjugate": _conj, "copy": _copy, "drop_vars": shape.drop_coords, "dprint": _dprint,
    "drop_coords": shape.drop_coords, "eval": evaluate, "expand_dims": _expand_dims, "get_axis_num": _get_axis_num, "get_value": _get_value,
    "imag": _made_complex("imag"), "isnull": _isnull, "item": _item, "notnull": _notnull, "pipe": _pipe, "round": _round, "real": _made_complex("real"), "rename": _rename, "set_value": _set_value, "squeeze": _squeeze, "stack": shape.stack,
    "type": property(_type, doc="The type: dtype, dimensions and lengths."), "unstack": shape.unstack, "where": _where,
}.items():  # fmt: skip
    setattr(XTensorVariable, _name, _method)
