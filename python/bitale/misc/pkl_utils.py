"""Pickles of parts of graphs, under PyTensor's name for this module."""

from __future__ import annotations

import pickle
from typing import IO

__all__ = ["StripPickler"]

Pickler = pickle.Pickler


class StripPickler(pickle.Pickler):
    """A pickler of graphs without the lines of code that built them.

    Pickles of graphs never have lines, so this is `pickle.Pickler` with PyTensor's arguments.
    """

    def __init__(
        self, file: IO[bytes], protocol: int = 0, extra_tag_to_remove: str | list[str] | None = None
    ):
        super().__init__(file, None if protocol == 0 else protocol)
        self.tag_to_remove = ["trace"]
        if extra_tag_to_remove is not None:
            extra = extra_tag_to_remove
            self.tag_to_remove += [extra] if isinstance(extra, str) else list(extra)
