"""Functions of labelled tensors: function() compiles one of their tensors; values are converted from and to xarray's arrays."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping
from typing import Any

import numpy as np

from bitale import _core
from bitale._core import Dim, XTensorVariable
from bitale.compile.function import function, register_compiler
from bitale.compile.io import In, Out
from bitale.compile.wrapped import WrappedFunction
from bitale.xtensor.type import as_xtensor

__all__ = ["XTensorFunction", "data_array", "evaluate", "xtensor_function"]


@functools.cache
def _xarray() -> Any:
    """The module, which is imported when the first value is labelled; None where it is not installed."""
    return None if importlib.util.find_spec("xarray") is None else importlib.import_module("xarray")


def data_array(x: XTensorVariable, value: Any) -> Any:
    """The value of a labelled tensor as an xarray.DataArray with its coordinates; as it is where xarray is not installed."""
    xarray = _xarray()
    if xarray is None:
        return value
    coords = x.coords
    levels = {name: coords.pop(name) for name in list(coords) if hasattr(coords[name], "levels")}
    array = xarray.DataArray(np.asarray(value), dims=x.dims, coords=coords, name=x.name)
    for name, index in levels.items():
        array = array.assign_coords(xarray.Coordinates.from_pandas_multiindex(index, name))
    return array


def _tensor(given: Any) -> Any:
    """The tensor in place of a labelled one, alone or in an In or Out."""
    if isinstance(given, (In, Out)):
        return given.of_tensor()
    return given.values if isinstance(given, XTensorVariable) else given


def _labelled(given: Any) -> XTensorVariable | None:
    """The labelled tensor that an input or an output is, alone or in an In or Out."""
    if isinstance(given, XTensorVariable):
        return given
    found: XTensorVariable | None = given.labelled if isinstance(given, (In, Out)) else None
    return found


class _Input:
    """An input that is a labelled tensor."""

    def __init__(self, variable: XTensorVariable, name: str | None):
        self.name = name
        self.dimensions: list[Dim] = list(variable.dimensions)
        self.text = repr(variable)

    def value(self, given: Any, who: str) -> Any:
        return _core.array_in_order(
            self.dimensions, given, f"{who}: input {self.name or self.text}"
        )

    def lengths(self, given: Any) -> str:
        pairs = zip(self.dimensions, np.shape(given))
        return f"{self.name or 'an input'}({', '.join(f'{dim.name}={length}' for dim, length in pairs)})"


class XTensorFunction(WrappedFunction):
    """A compiled function of which inputs or outputs are labelled. It takes arrays, and xarray's arrays in any order of dimensions, and
    returns xarray's arrays, or NumPy's where xarray is not installed.

    `function` is the function of their tensors, which takes and returns NumPy's arrays, and has all other methods: dprint, profile, ...
    """

    _own = ("_inputs", "_outputs", "_states", "_by_name")

    def __init__(
        self,
        function: Any,
        inputs: list[_Input | None],
        outputs: Any,
        states: Mapping[str, XTensorVariable],
    ):
        self.function, self._inputs, self._outputs, self._states = function, inputs, outputs, states
        self._by_name = {each.name: each for each in inputs if each is not None and each.name}

    def _swapped(self, swap: Any) -> Any:
        return None if swap is None else dict(_tensor_pairs(swap, "copy: swap"))

    def _wrapping(self, function: Any, swap: Any = None) -> XTensorFunction:
        after = {_tensor(old): new for old, new in dict(swap or {}).items()}
        out = super()._wrapping(function)
        out._states = {name: after.get(state.values, state) for name, state in self._states.items()}
        return out

    def __call__(self, *given: Any, **named: Any) -> Any:
        who = self.function.name or "function"
        arrays = [
            value if one is None else one.value(value, who)
            for one, value in zip(self._inputs, given)
        ]
        arrays += given[len(arrays) :]  # too many: the function says so
        keywords = {
            key: self._by_name[key].value(value, who) if key in self._by_name else value
            for key, value in named.items()
        }
        try:
            results = self.function(*arrays, **keywords)
        except ValueError as error:
            lengths = [
                one.lengths(value) for one, value in zip(self._inputs, arrays) if one is not None
            ]
            lengths += [
                self._by_name[key].lengths(value)
                for key, value in keywords.items()
                if key in self._by_name
            ]
            if lengths and hasattr(error, "add_note"):
                error.add_note(f"  lengths  {', '.join(lengths)}")
            raise
        return self._labelled(self._outputs, results)

    def __getitem__(self, key: Any) -> Any:
        """The value that an input with a container has, or a shared variable."""
        value = self.function[_tensor(key)]
        state = key if isinstance(key, XTensorVariable) else self._states.get(key)
        return value if state is None else data_array(state, value)

    def __setitem__(self, key: Any, value: Any) -> None:
        state = key if isinstance(key, XTensorVariable) else self._states.get(key)
        self.function[_tensor(key)] = (
            value
            if state is None
            else _core.array_in_order(state.dimensions, value, f"the value of {state!r}")
        )

    def _labelled(self, outputs: Any, results: Any) -> Any:
        if isinstance(outputs, Mapping):
            return {key: self._labelled(outputs[key], value) for key, value in results.items()}
        if isinstance(outputs, (list, tuple)):
            return [self._labelled(one, value) for one, value in zip(outputs, results)]
        return data_array(outputs, results) if isinstance(outputs, XTensorVariable) else results

    def _described(self) -> list[str]:
        """A line for each labelled tensor among inputs and outputs."""
        outputs = (
            list(self._outputs.values()) if isinstance(self._outputs, Mapping) else self._outputs
        )
        if not isinstance(outputs, (list, tuple)):
            outputs = [outputs]
        lines = [f"input {one.text}" for one in self._inputs if one is not None]
        return lines + [f"output {one!r}" for one in outputs if isinstance(one, XTensorVariable)]

    def _repr_html_(self) -> str:
        return self.function._repr_html_()  # type: ignore[no-any-return]


def _tensor_pairs(given: Any, what: str) -> list[tuple[Any, Any]]:
    """Pairs of tensors in place of pairs of labelled ones."""
    out: list[tuple[Any, Any]] = []
    for before, after in (
        [] if given is None else given.items() if isinstance(given, Mapping) else given
    ):
        if not isinstance(before, XTensorVariable):
            if isinstance(after, XTensorVariable):
                raise TypeError(
                    f"function: {what}: {after!r} is labelled, but {before!r} is not; .values is the tensor"
                )
            out.append((before, after))
            continue
        new = as_xtensor(after)
        if set(new.dims) != set(before.dims):
            raise ValueError(
                f"function: {what}: {before!r} has the dimensions {before.dims}, and what replaces it {new.dims}"
            )
        for dim in before.dimensions:
            theirs = new.dimensions[new.dims.index(dim.name)]
            if (
                dim.coords is not None
                and theirs.coords is not None
                and dim.coords is not theirs.coords
                and dim != theirs
            ):
                raise ValueError(
                    f"function: {what}: {before!r} and what replaces it have other coordinates along {dim.name!r}"
                )
        out.append((before.values, new.transpose(*before.dims).values))
    return out


def xtensor_function(
    inputs: Any,
    outputs: Any,
    updates: Any,
    givens: Any,
    on_unused_input: str | None,
    **options: Any,
) -> XTensorFunction:
    """function() where a labelled tensor is among inputs, outputs, updates or givens."""
    described: list[_Input | None] = []
    states: dict[str, XTensorVariable] = {}
    for one in inputs:
        variable, name = _labelled(one), getattr(one, "name", None)
        if variable is not None and name and isinstance(one, In):
            states[name] = variable
        if not (isinstance(one, In) and one.implicit):  # such an input is no argument of a call
            described.append(None if variable is None else _Input(variable, name))

    def mapped(convert: Any) -> Any:
        if isinstance(outputs, Mapping):
            return {key: convert(one) for key, one in outputs.items()}
        return (
            [convert(one) for one in outputs]
            if isinstance(outputs, (list, tuple))
            else convert(outputs)
        )

    made = mapped(_tensor)
    compiled = function(
        [_tensor(one) for one in inputs],
        made,
        updates=_tensor_pairs(updates, "updates"),
        givens=_tensor_pairs(givens, "givens"),
        on_unused_input=on_unused_input,
        **options,
    )
    return XTensorFunction(compiled, described, mapped(_labelled), states)


def evaluate(x: XTensorVariable, inputs_to_values: Any = None) -> Any:
    """The value of a labelled tensor, given those of the variables that it is computed from."""
    values = dict(inputs_to_values or {})
    return function(list(values), x, on_unused_input="ignore")(*values.values())


register_compiler(XTensorVariable, xtensor_function)
