"""PyTensor's graphs, and so PyMC's models, compiled by Bitale. Importing it registers the mode and the linker ``BITALE`` with PyTensor.

>>> import bitale.pytensor
>>> f = pytensor.function([x], y, mode="BITALE")
>>> idata = pm.sample(backend="BITALE")

`from_pytensor` gives the Bitale graph of PyTensor variables; `converts` registers a converter for a class of ops.
"""

from __future__ import annotations

from bitale.pytensor import versions as _versions

_versions.check()

from bitale.pytensor.registry import NotConverted, converts
from bitale.pytensor.conversion import ConversionError, Report, from_pytensor
from bitale.pytensor import elemwise, reductions, shapes, indexing, linalg, special, control  # whose converters are registered
from bitale.pytensor.linker import BitaleLinker, function

__all__ = ["BitaleLinker", "ConversionError", "NotConverted", "Report", "converts", "from_pytensor", "function"]
