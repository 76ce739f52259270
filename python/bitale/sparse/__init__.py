"""Sparse matrices: values of dense vectors and a pattern, so that they fuse, differentiate and batch like other expressions."""

from bitale._core import segment_sum
from bitale._geography import add_modules as _add_modules
from bitale.sparse import linalg
from bitale.sparse.basic import *  # noqa: F403
from bitale.sparse.function import SparseFunction
from bitale.sparse.math import *  # noqa: F403
from bitale.sparse.op_classes import *  # noqa: F403
from bitale.sparse.type import SparseTensorType
from bitale.sparse.variable import SparseVariable

_add_modules(__name__)
