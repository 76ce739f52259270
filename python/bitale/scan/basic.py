"""PyTensor's place for loops: `from bitale.scan.basic import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "scan")
