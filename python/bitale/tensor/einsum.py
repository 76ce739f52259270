"""PyTensor's place for some names of bitale.tensor: `from bitale.tensor.einsum import NAME` finds any of them."""

from typing import Any


def __getattr__(name: str) -> Any:
    import bitale.tensor

    try:
        return vars(bitale.tensor)[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
