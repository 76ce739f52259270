"""Variables with a value that lives between calls."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import SharedVariable, TensorSharedVariable
from bitale.compile.io import refuse

TensorSharedVariable.__module__ = "bitale.tensor.sharedvar"


def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Any = None,
) -> TensorSharedVariable:
    """A shared variable that starts with a copy of the value (the array itself, if borrow).

    Its dtype and rank are the value's; its lengths may change, unless shape fixes them.
    """
    refuse("shared", {"allow_downcast": allow_downcast})
    return _core.make_shared(value, name, borrow, shape)
