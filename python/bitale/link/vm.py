"""PyTensor's place for linkers: `from bitale.link.vm import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "link", "compile.io")
