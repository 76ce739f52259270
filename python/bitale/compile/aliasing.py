"""PyTensor's place for functions' use of memory: `from bitale.compile.aliasing import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "compile")
