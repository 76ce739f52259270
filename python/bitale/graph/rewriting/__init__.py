"""Rewriting of graphs, under PyTensor's names; `bitale.rewrite` has what is Bitale's own."""

from __future__ import annotations

import importlib
from typing import Any

from bitale._geography import absent
from bitale.graph.rewriting.utils import rewrite_graph

__all__ = ["rewrite_graph"]


def __getattr__(name: str) -> Any:
    if name in ("basic", "db", "kanren", "reachability", "unify", "utils"):
        return importlib.import_module(f"bitale.graph.rewriting.{name}")
    return absent(__name__)(name)
