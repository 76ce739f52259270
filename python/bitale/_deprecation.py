"""Names and arguments that PyTensor deprecates: they work here, and warn as they do there, saying what replaces them."""

from __future__ import annotations

import warnings


def warn_deprecated(
    name: str, instead: str, stacklevel: int = 2, category: type[Warning] = FutureWarning
) -> None:
    """Warn with PyTensor's class of warning.

    Parameters
    ----------
    name : str
        What is deprecated.
    instead : str
        What to use instead.
    stacklevel : int
        Frames between the caller of this function and the line that is named.
    category : type
        Class of warning; by default one that is shown.
    """
    warnings.warn(
        f"{name} is deprecated in PyTensor; use {instead}", category, stacklevel=stacklevel + 1
    )
