"""Tensor variables."""

from __future__ import annotations

import sys
from typing import Any

from bitale._core import TensorConstant, TensorVariable, dot
from bitale._geography import finder

__all__ = ["TensorConstant", "TensorVariable"]


def _array_namespace(self: TensorVariable, *, api_version: str | None = None) -> Any:
    """Return bitale.tensor, which has the functions of the array-API standard in PyTensor's dtypes."""
    if api_version is not None and not "2021.12" <= api_version <= "2025.12":
        raise ValueError(
            f"expected a version of the array-API standard up to 2025.12, got {api_version!r}"
        )
    return sys.modules["bitale.tensor"]


def _device(self: TensorVariable) -> str:
    """Where values are: "cpu"."""
    return "cpu"


def _to_device(self: TensorVariable, device: str, /, *, stream: Any = None) -> TensorVariable:
    """Return the variable itself, which is on the only device."""
    if stream is not None or device != "cpu":
        raise ValueError(f'expected the device "cpu" and no stream, got {device!r}, {stream!r}')
    return self


def _dot(left: TensorVariable, right: Any) -> TensorVariable:
    """The product of vectors and matrices, as PyTensor's functions ask a variable for it."""
    return dot(left, right)


# Attributes that arrays and tensors of other libraries have, and what to write for them.
_ELSEWHERE = {
    "at": "x[index].set(y) and x[index].inc(y) give a changed copy",
    "numpy to_numpy tolist item cpu value": "x.eval({input: value}), or a function that returns x, computes its value",
    "grad backward requires_grad": "bt.grad(cost, x) is the gradient, an expression as well",
    "detach": "bt.gradient.disconnected_grad(x) has the same value and no gradient",
    "append extend": "pt.concatenate([x, y]) is a new, longer tensor",
    "view": "x.reshape(shape) has the elements in another shape, x.astype(dtype) in another dtype",
    "unsqueeze": "x[:, None] and pt.expand_dims(x, axis) have a dimension more",
    "permute": "x.transpose(0, 2, 1) and x.dimshuffle(0, 2, 1) have the dimensions in another order",
}
_HINTS = {name: hint for names, hint in _ELSEWHERE.items() for name in names.split()}


def _missing(self: TensorVariable, name: str) -> Any:
    """AttributeError, which says what an attribute of another library is called here."""
    text = f"'{type(self).__name__}' object has no attribute '{name}'"
    if name in _HINTS:
        text += f": {_HINTS[name]}"
    raise AttributeError(text, name=name, obj=self)


TensorVariable.__getattr__ = _missing  # type: ignore[attr-defined]
TensorVariable.__dot__ = _dot  # type: ignore[attr-defined]
TensorVariable.__array_namespace__ = _array_namespace  # type: ignore[attr-defined]
TensorVariable.device = property(_device)  # type: ignore[attr-defined]
TensorVariable.to_device = _to_device  # type: ignore[attr-defined]
__getattr__ = finder(__name__)

for _class in (TensorConstant, TensorVariable):
    _class.__module__ = __name__
del _class
