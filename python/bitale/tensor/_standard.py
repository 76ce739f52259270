"""What the array-API standard requires of a namespace in addition to functions of tensors, for symbolic variables: dtypes, and conversions of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitale._core import as_tensor_variable, astype, constant, dtype_names

DTYPES = tuple(name for name in dtype_names() if name != "float16")


def dtype(name: str) -> np.dtype[Any]:
    """The dtype that a name of the standard stands for."""
    return np.dtype(name)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """Make a symbolic variable from a value, or from a list of variables.

    Parameters
    ----------
    obj : tensor_like
        A variable is returned unchanged.
    dtype : str or dtype, optional
        By default that of `obj`.
    device : {'cpu'}, optional
        ValueError for another.
    copy : bool, optional
        Accepted: variables are values.

    Returns
    -------
    TensorVariable
        The variable, or a constant with the value.

    See Also
    --------
    as_tensor_variable

    Examples
    --------
    >>> pt.asarray([1, 2], dtype="float32").eval()
    array([1., 2.], dtype=float32)
    """
    variable = as_tensor_variable(obj)
    return astype(
        variable, variable.dtype if dtype is None else np.dtype(dtype).name, device=device
    )


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Make a constant from an array of another library.

    Parameters
    ----------
    x : array
        Object with ``__dlpack__``.
    device : {'cpu'}, optional
        ValueError for another.
    copy : bool, optional
        Accepted: constants are values.

    Returns
    -------
    TensorConstant
        A constant with the values of `x`.

    Examples
    --------
    >>> pt.from_dlpack(np.array([1.0, 2.0])).eval()
    array([1., 2.])
    """
    return asarray(constant(np.array(np.from_dlpack(x))), device=device)
