"""PyTensor's place for profiles of functions: `from bitale.compile.debug.profiling import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "profile")
