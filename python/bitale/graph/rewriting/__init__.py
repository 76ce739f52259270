"""PyTensor's place for rewriting: `from bitale.graph.rewriting import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "rewrite", "graph.features")
