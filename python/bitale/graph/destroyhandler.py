"""PyTensor's place for checks of ops that write over inputs: `from bitale.graph.destroyhandler import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "graph.features", "graph.utils")
