"""A PyMC model as C functions, for samplers that are written in other languages: the functions that PyMC's own proposal compiles by Numba, under the same names.

A function contains its data, so `user_data` is not read. Whatever an address needs lives until the
process ends, so a sampler may keep the address alone.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from typing import Any, Iterable

import numpy as np

import bitale as bt
from bitale.pytensor.linker import nothing_else_compiles
from bitale.pytensor.model_graph import (
    Layout,
    ModelGraph,
    initial_values,
    model_graph,
    require_continuous,
)

_DOUBLES = ctypes.POINTER(ctypes.c_double)


@dataclasses.dataclass(frozen=True)
class Form:
    """How a C function is called: its name among those of `Function.address`, and its type."""

    name: str
    prototype: Any  # one class for equal types, which is that of Numba's `cfunc` of such a function
    declaration: str


DENSITY = Form(
    "finite_value_and_grad",
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, _DOUBLES, _DOUBLES, _DOUBLES, ctypes.c_void_p),
    "int(*)(size_t dim, const double *point, double *gradient, double *value, const void *user_data)",
)
EXPAND = Form(
    "vector",
    ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, _DOUBLES, _DOUBLES, ctypes.c_void_p
    ),
    "int(*)(size_t dim, size_t n_expanded, const double *point, double *expanded, const void *user_data)",
)


@dataclasses.dataclass(frozen=True)
class CFunction:
    """A C function, with the attributes of Numba's `cfunc`. It returns 0, or another number after an error; the first error of each function is also a warning. Any number of threads may call it at once. The address is valid until the process ends."""

    function: bt.Function
    form: Form

    @property
    def address(self) -> int:
        """The address as a number."""
        return self.function.address(self.form.name)

    @functools.cached_property
    def ctypes(self) -> Any:
        """The function as one of ctypes; a call of it releases Python's lock."""
        return self.form.prototype(self.address)

    @functools.cached_property
    def cffi(self) -> Any:
        """The function as a pointer of cffi. ImportError where that is not installed."""
        from cffi import FFI  # type: ignore[import-untyped]

        return FFI().cast(self.form.declaration, self.address)


@dataclasses.dataclass(frozen=True)
class CModel:
    """A PyMC model as two C functions of a point: the free variables on the unconstrained scale, one after another.

    `compiled_logp_func` is ``int f(size_t n_dim, const double *point, double *gradient, double *value, const void *user_data)``. It returns 0, or 3
    or 4 where the gradient or the value is not finite, at which samplers reject the point, or 1 after an error.

    `compiled_expand_func` is ``int f(size_t n_dim, size_t n_expanded, const double *point, double *expanded, const void *user_data)``: all
    variables, where `expanded` says.
    """

    graph: ModelGraph
    density: bt.Function
    expand: bt.Function
    expanded: Layout
    data: dict[Any, np.ndarray]  # of each shared variable of the model

    @property
    def n_dim(self) -> int:
        """Length of a point."""
        return self.graph.free.size

    @property
    def n_expanded(self) -> int:
        """Total number of elements of all variables."""
        return self.expanded.size

    @functools.cached_property
    def compiled_logp_func(self) -> CFunction:
        """The log density and its gradient."""
        return CFunction(self.density, DENSITY)

    @functools.cached_property
    def compiled_expand_func(self) -> CFunction:
        """The model's variables, those on the unconstrained scale first."""
        return CFunction(self.expand, EXPAND)

    @property
    def user_data(self) -> np.ndarray:
        """A value for the last argument, which is not read; a null pointer may be passed as well."""
        return _NO_DATA

    def initial_point_func(self, seed: Any = None) -> np.ndarray:
        """A starting point, jittered as in PyMC. Several threads may call it at once."""
        return self.graph.flat_start(seed)

    def variables(self, expanded: np.ndarray) -> dict[str, np.ndarray]:
        """The model's variables by name, of what `compiled_expand_func` wrote. The last axis is that of the numbers; others come first."""
        layout = self.expanded
        return {
            name: expanded[..., at].reshape((*expanded.shape[:-1], *shape))
            for name, at, shape in zip(layout.names, layout.slices, layout.shapes)
        }

    def with_data(self, **updates: Any) -> CModel:
        """The same model with other data, which may have another length, and with functions at other addresses. KeyError for a name that
        is not a shared variable, ValueError for another rank or values that don't fit its dtype. Both models can be used."""
        data = dict(self.data)
        for name, value in updates.items():
            found = [v for v in data if v.name == name]
            if len(found) != 1:
                known = ", ".join(sorted(str(v.name) for v in data)) or "none"
                raise KeyError(
                    f"{len(found) or 'no'} shared variables are called {name!r}; there are: {known}"
                )
            data[found[0]] = _fitting(value, data[found[0]], name)
        values = {v.name: value for v, value in data.items()}
        density, expand = (_with_values(f, values) for f in (self.density, self.expand))
        return dataclasses.replace(self, data=data, density=density, expand=expand)


_NO_DATA = np.zeros(1, dtype=np.uint8)
_NO_DATA.flags.writeable = False


def _fitting(value: Any, old: np.ndarray, name: str) -> np.ndarray:
    new = np.asarray(value)
    if not np.can_cast(new.dtype, old.dtype, "same_kind"):
        raise ValueError(
            f"the shared variable {name} has values of {old.dtype}, not of {new.dtype}"
        )
    if new.ndim != old.ndim:
        raise ValueError(f"the shared variable {name} must have rank {old.ndim}, got {new.ndim}")
    return np.array(new, dtype=old.dtype, order="C")


def _with_values(function: bt.Function, values: dict[str, np.ndarray]) -> bt.Function:
    swap = {}
    for shared in function.get_shared():
        if shared.name in values:
            swap[shared] = bt.shared(values[shared.name], name=shared.name, shape=shared.type.shape)
    return function.copy(swap=swap) if swap else function


def c_model(
    model: Any,
    *,
    who: str = "c_model",
    var_names: Iterable[str] | None = None,
    initial_points: Any = None,
    jitter_rvs: Any = None,
    default_initialization_strategy: str = "support_point",
) -> CModel:
    """A PyMC model as C functions, compiled by Bitale, for samplers that are written in other languages.

    `compiled_logp_func` and `compiled_expand_func` of the result have the attributes `address`,
    `ctypes` and `cffi`, as functions of Numba have. They are called with a point, the free
    variables on the unconstrained scale, of `n_dim` numbers; the latter writes the `n_expanded`
    numbers of all variables, which `variables` names. `initial_point_func(seed)` gives start
    values. Any number of threads may call all of these at once, and addresses are valid until the
    process ends, even if the result is gone. Shared data keep their current values; `with_data`
    returns a model with others. Options and errors are those of `nutpie.compile_model`, for which
    `who` is another name in errors.
    """
    var_names = None if var_names is None else list(var_names)
    require_continuous(model, who, var_names or ())
    # What PyMC evaluates on the way is not to be compiled by other backends.
    with nothing_else_compiles():
        start = initial_values(model, initial_points, jitter_rvs, default_initialization_strategy)
        graph = model_graph(model, start, var_names)
    point, logp = graph.point, graph.log_density
    density = bt.function(
        [point], [logp, bt.grad(logp, point)], on_unused_input="ignore", threads=1
    )
    trace = bt.tensor.concatenate([point, *(x.ravel().astype("float64") for x in graph.expanded)])
    expand = bt.function([point], trace, on_unused_input="ignore", threads=1)
    data = {variable: np.array(variable.get_value()) for variable in graph.shared}
    return CModel(
        graph, density, expand, graph.free + Layout(graph.names, graph.expanded_shapes()), data
    )
