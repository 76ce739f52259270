"""PyTensor's place for loops: `from bitale.scan.views import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "scan")
