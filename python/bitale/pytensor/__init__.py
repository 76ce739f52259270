"""PyTensor's graphs, and so PyMC's models, compiled by Bitale. Importing it registers the mode and the linker ``BITALE`` with PyTensor, and changes
nothing else.

>>> import bitale.pytensor
>>> idata = bitale.pytensor.sample(model)
>>> f = pytensor.function([x], y, mode="BITALE")
>>> with bitale.pytensor.as_default():     # for everything that is compiled in this block
...     idata = pm.sample()

`from_pytensor` returns the Bitale graph of PyTensor variables; `converts` registers a converter for
a class of ops.
"""

from __future__ import annotations

import importlib
from typing import Any

from bitale.pytensor import versions as _versions

_versions.check()

from bitale.pytensor.registry import NotConverted, converts, converts_later as _converts_later
from bitale.pytensor.conversion import ConversionError, Report, from_pytensor
from bitale.pytensor import (
    elemwise,
    reductions,
    shapes,
    indexing,
    linalg,
    decompositions,
    special,
    control,
    scan,
    random,
    pymc_random,
    pymc_car,
    extra_ops,
)  # registers converters
from bitale.pytensor.linker import BITALE, BitaleLinker, function
from bitale.pytensor.default_mode import as_default
from bitale.pytensor.sampling import sample

_converts_later("pytensor.xtensor", "bitale.pytensor.labels")
_converts_later("pymc.ode", "bitale.pytensor.pymc_ode")
_converts_later("pytensor.sparse", "bitale.pytensor.sparse")

__all__ = [
    "BITALE",
    "BitaleLinker",
    "ConversionError",
    "NotConverted",
    "Report",
    "as_default",
    "converts",
    "from_pytensor",
    "function",
    "sample",
]


# Names whose modules import PyMC or nutpie.
_LATER = {"batched": "batched_model", "c_model": "c_functions", "nutpie": "nutpie"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_LATER[name]}")
    return getattr(module, name, module)
