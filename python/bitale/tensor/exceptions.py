"""PyTensor's place for exceptions of tensors: `from bitale.tensor.exceptions import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "tensor", "tensor.unexported")
