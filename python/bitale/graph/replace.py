"""Copies of graphs with parts replaced."""

from bitale._core import clone_replace, graph_replace, vectorize_graph

__all__ = ["clone_replace", "graph_replace", "vectorize_graph"]
