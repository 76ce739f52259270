"""Lists whose elements are values of one type: variables of TypedListType, functions of them, and the same as methods. A list is a value like others: append and similar functions return a new list. There are no derivatives with respect to lists.

>>> from bitale.typed_list import TypedListType, append, getitem, length
>>> rows = TypedListType(pt.dvector)("rows")
>>> x = pt.dvector("x")
>>> longer = append(rows, x)
>>> f = bt.function([rows, x], [length(longer), getitem(longer, -1) * 2])
>>> f([[1.0], [2.0, 3.0]], [4.0, 5.0])
[array(3), array([ 8., 10.])]
>>> bt.function([rows, x], rows.append(x)[-1].sum())([[1.0], [2.0, 3.0]], [4.0, 5.0])
array(9.)
"""

from bitale.typed_list.basic import *
from bitale.typed_list.basic import __all__ as __all__
from bitale._geography import finder as _finder

# PyTensor's module has these names of others.
__getattr__ = _finder(__name__, "graph.basic", "graph.op", "tensor", "tensor.type_other")
