"""PyTensor's place for some names of bitale.tensor: `from bitale.tensor.basic import NAME` finds any of them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__)
