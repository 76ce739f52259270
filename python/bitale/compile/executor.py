"""PyTensor's place for compiled functions: `from bitale.compile.executor import NAME` finds them."""

from bitale.tensor.places import finder

__getattr__ = finder(__name__, "compile.function", "compile")
