"""PyTensor's place for functions of matrices: `from bitale.tensor.slinalg import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "tensor.linalg", "tensor")
