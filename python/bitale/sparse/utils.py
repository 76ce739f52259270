"""Keys of sparse matrices, under PyTensor's name for this module."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

__all__ = ["hash_from_sparse"]


def hash_from_sparse(data: Any) -> str:
    """Make a key of a sparse matrix of SciPy's: equal matrices of one format have equal keys.

    Parameters
    ----------
    data : scipy.sparse array
        Matrix in the format CSR or CSC.

    Returns
    -------
    str
        Hexadecimal digits.
    """
    key = hashlib.sha256(f"{data.format} {data.shape}".encode())
    for part in (data.indptr, data.indices, data.data):
        array = np.ascontiguousarray(part)
        key.update(f"{array.dtype.str} {array.shape}".encode())
        key.update(array.tobytes())
    return key.hexdigest()
