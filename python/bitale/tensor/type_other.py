"""Slices and None as values of graphs: arguments of your own ops. The names are those of pytensor.tensor.type_other.

Functions of tensors take Python's slices and None: bounds of slices may be variables.
"""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import Apply, Variable
from bitale._geography import finder
from bitale.graph.op import Op
from bitale.tensor.pytensor_functions import NoneTypeT, SliceType, none_type_t, slicetype

__all__ = ["MakeSlice", "NoneTypeT", "SliceType", "make_slice", "none_type_t", "slicetype"]


class MakeSlice(Op):
    """A slice of numbers or None as a variable.

    >>> from bitale.tensor.type_other import make_slice
    >>> make_slice(pt.lscalar("n"), None).type == bt.tensor.type_other.slicetype
    True
    """

    __props__ = ()

    def make_node(self, slc: Any, stop: Any = None, step: Any = None) -> Apply:
        bounds = (slc.start, slc.stop, slc.step) if isinstance(slc, slice) else (slc, stop, step)
        given = [
            none_type_t.make_constant(None)
            if bound is None
            else bound
            if isinstance(bound, Variable) and isinstance(bound.type, NoneTypeT)
            else _core.cast(_core.as_tensor_variable(bound), "int64")
            for bound in bounds
        ]
        return Apply(self, given, [slicetype()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = slice(*(None if each is None else int(each) for each in inputs))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]] * 3


make_slice = MakeSlice()

__getattr__ = finder(__name__, "tensor", "tensor.pytensor_functions")
