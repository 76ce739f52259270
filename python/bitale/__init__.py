"""Symbolic tensor expressions, their gradients, and native functions made of them.

>>> import bitale as bt, bitale.tensor as pt
>>> x = pt.dvector("x")
>>> f = bt.function([x], bt.grad((x**3).sum(), x))
>>> f([1.0, 2.0])
array([ 3., 12.])
"""

import atexit as _atexit
import importlib as _importlib
import os as _os
import sys as _sys
import typing as _typing

try:
    from bitale import _core
except ImportError as _error:
    from pathlib import Path as _Path

    from bitale._failed_import import explanation as _explanation

    raise ImportError(_explanation(_error, _Path(__file__).resolve().parent)) from _error

_core.set_package_folder(_os.path.dirname(__file__))

from bitale import _hooks as _hooks

from bitale._core import (
    DisconnectedInputError,
    GradientError,
    InconsistencyError,
    InternalError,
    MissingInputError,
    NotScalarConstantError,
    NullTypeGradError,
    ShapeError,
    UnusedInputError,
)

__version__ = _core.version()

from bitale.configuration import config
from bitale import tensor
from bitale import graph
from bitale import compile
from bitale import gradient
from bitale.compile import Function, In, Mode, OpFromGraph, Out, function, get_mode, shared
from bitale.gradient import (
    Lop,
    Rop,
    disconnected_grad,
    gauss_newton_vector_product,
    grad,
    hessian,
    hessian_vector_product,
    jacfwd,
    jacobian,
    pullback,
    pushforward,
    subgraph_grad,
    verify_grad,
    zero_grad,
)
from bitale.ifelse import ifelse
from bitale.scan import foldl, foldr, map, reduce, scan, scan_checkpoints, until
from bitale.graph import (
    Apply,
    Constant,
    FunctionGraph,
    Op,
    Variable,
    as_op,
    clone_replace,
    graph_replace,
    vectorize_graph,
    wrap_py,
)
from bitale.tensor import as_tensor, as_tensor_variable, dot

_atexit.register(_core.print_profiles)  # while the objects that functions refer to still exist

as_symbolic = as_tensor_variable
export_c = Function.export_c
export_object = Function.export_object
export_stablehlo = Function.export_stablehlo
export_wasm = Function.export_wasm

for _class in (
    DisconnectedInputError,
    GradientError,
    InconsistencyError,
    InternalError,
    MissingInputError,
    NotScalarConstantError,
    NullTypeGradError,
    ShapeError,
    UnusedInputError,
):
    _class.__module__ = __name__
# Those of modules that are imported when they are named: errors and types are shown by these names before that, too.
_core.NanGuardError.__module__ = "bitale.compile.monitor"
for _later in (_core.DualLinkerError, _core.NodeThunk):
    _later.__module__ = "bitale.link"
del _class, _later


__all__ = [
    "Apply",
    "Constant",
    "DisconnectedInputError",
    "Function",
    "FunctionGraph",
    "GradientError",
    "In",
    "InconsistencyError",
    "InternalError",
    "Lop",
    "MissingInputError",
    "Mode",
    "NotScalarConstantError",
    "NullTypeGradError",
    "Op",
    "OpFromGraph",
    "Out",
    "Rop",
    "ShapeError",
    "UnusedInputError",
    "Variable",
    "as_op",
    "as_symbolic",
    "as_tensor",
    "as_tensor_variable",
    "array_api",
    "assumptions",
    "breakpoint",
    "clone_replace",
    "compile",
    "config",
    "debugprint",
    "disconnected_grad",
    "dot",
    "dprint",
    "export_c",
    "export_object",
    "export_stablehlo",
    "export_wasm",
    "foldl",
    "foldr",
    "function",
    "gauss_newton_vector_product",
    "get_mode",
    "grad",
    "gradient",
    "graph",
    "graph_replace",
    "hessian",
    "hessian_vector_product",
    "ifelse",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "link",
    "map",
    "pp",
    "pprint",
    "printing",
    "pullback",
    "pushforward",
    "raise_op",
    "random",
    "reduce",
    "register_tree",
    "remat",
    "rewrite",
    "scan",
    "scan_checkpoints",
    "shared",
    "subgraph_grad",
    "tensor",
    "tree",
    "typing",
    "until",
    "value_and_grad",
    "vectorize_graph",
    "verify_grad",
    "vmap",
    "wrap_py",
    "zero_grad",
]

if _typing.TYPE_CHECKING:
    from bitale import (
        array_api,
        assumptions,
        breakpoint,
        checkpoint,
        datasets,
        integrate,
        link,
        optimizers,
        printing,
        raise_op,
        random,
        rewrite,
        stats,
        tree,
        typing,
    )
    from bitale.functional import jacrev, jit, remat, value_and_grad, vmap
    from bitale.tree import register_tree
    from bitale.printing import debugprint, dprint, pp, pprint

# What the first function of a program does not need is imported when it is named. JAX's package may be missing.
_LATER = {
    **{
        name: f"bitale.{name}"
        for name in (
            "array_api",
            "assumptions",
            "breakpoint",
            "checkpoint",
            "datasets",
            "integrate",
            "jax",
            "link",
            "optimizers",
            "printing",
            "profile",
            "raise_op",
            "random",
            "rewrite",
            "scalar",
            "stats",
            "tree",
            "typing",
        )
    },
    "register_tree": "bitale.tree",
    **dict.fromkeys(("jacrev", "jit", "remat", "value_and_grad", "vmap"), "bitale.functional"),
    **dict.fromkeys(("debugprint", "dprint", "pp", "pprint"), "bitale.printing"),
}


def __getattr__(name: str) -> object:
    if name == "wrap_jax":  # a name of PyTensor's
        return _importlib.import_module("bitale._absent").find(__name__, name)
    if name not in _LATER:
        raise AttributeError(
            f"module 'bitale' has no attribute {name!r}", name=name, obj=_sys.modules[__name__]
        )
    module = _importlib.import_module(_LATER[name])
    value = module if _LATER[name] == f"bitale.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


# What parts of the package offer by modules that need these parts, which they find when it is asked for.
tensor.names_above.update(
    dict.fromkeys(
        """__array_api_version__ __array_namespace_info__ broadcast_shapes can_cast finfo iinfo isdtype result_type
        unique_all unique_counts unique_inverse unique_values""".split(),
        "bitale.array_api",
    )
)
compile.sharedvalue.constructors_above.update(
    {
        "numpy.random": "bitale.tensor.random.generators:shared_constructor",
        "bitale.random": "bitale.tensor.random.generators:shared_constructor",
        "scipy.sparse": "bitale.sparse.basic:shared",
        "xarray.core.dataarray": "bitale.xtensor.type:shared_array",
    }
)

from bitale import _geography as _geography

_geography.add_modules(__name__)
