"""PyTensor's place for generators, streams of draws and their types: `from bitale.tensor.random.op import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "tensor.random")
