"""PyTensor's place for shared variables: `from bitale.scalar.sharedvar import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "compile.sharedvalue")
