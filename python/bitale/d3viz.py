"""PyTensor's module for graphs in the browser. The page is that of bitale.printing.html, which needs no other file."""

from __future__ import annotations

from typing import Any

from bitale.printing import html

__all__ = ["d3viz"]


def d3viz(fct: Any, outfile: Any, copy_deps: bool = True, *args: Any, **kwargs: Any) -> None:
    """Writes the page of a graph or a compiled function to a file. copy_deps is accepted: the page needs no other files.

    >>> import os, tempfile
    >>> from bitale.d3viz import d3viz
    >>> file = os.path.join(tempfile.mkdtemp(), "graph.html")
    >>> d3viz(pt.exp(pt.dvector("x")), file)
    >>> open(file).read().startswith("<!DOCTYPE html>")
    True
    """
    html(fct, outfile, *args, **kwargs)
