"""PyTensor's place for functions, types and classes of ops of scalars: `from bitale.scalar.math import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "scalar")
