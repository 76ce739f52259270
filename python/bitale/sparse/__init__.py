"""Sparse matrices made of dense vectors and a pattern, which fuse, differentiate and batch like other expressions."""

from bitale._core import segment_sum
from bitale._geography import add_modules as _add_modules
from bitale._geography import finder as _finder
from bitale.sparse import linalg
from bitale.sparse.basic import *  # noqa: F403
from bitale.sparse.math import *  # noqa: F403
from bitale.sparse.op_classes import *  # noqa: F403
from bitale.sparse.type import SparseTensorType
from bitale.sparse.variable import SparseVariable

# PyTensor's module has these names of others.
__getattr__ = _finder(
    __name__,
    "graph.basic",
    "graph.op",
    "tensor",
    "tensor.op_classes",
    "tensor.formula_classes",
    "tensor.pytensor_functions",
    "tensor.index_lists",
    "gradient",
    "configdefaults",
    "compile.sharedvalue",
)

_add_modules(__name__)
