"""PyTensor's place for slices and None in graphs: `from bitale.tensor.type_other import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "tensor", "tensor.unexported")
