"""PyTensor's place for functions of tensors and classes of ops: `from bitale.tensor.blockwise import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__)
