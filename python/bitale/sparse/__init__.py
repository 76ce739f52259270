"""Sparse matrices: values of dense vectors and a pattern, so that they fuse, differentiate and batch like other expressions."""

from bitale._core import SparseVariable, segment_sum
from bitale.sparse.basic import *  # noqa: F403
from bitale.sparse.basic import get_item, refuse_iteration
from bitale.sparse.function import SparseFunction
from bitale.sparse.math import *  # noqa: F403
from bitale.sparse.type import SparseTensorType
