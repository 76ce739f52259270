"""Copies of graphs with parts replaced."""

from bitale._geography import absent
from bitale._core import clone_replace, graph_replace, vectorize_graph

__all__ = ["clone_replace", "graph_replace", "vectorize_graph"]

__getattr__ = absent(__name__)
