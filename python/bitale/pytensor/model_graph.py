"""The log density of a PyMC model as Bitale's graph of one vector: the free variables on the unconstrained scale, one after another."""

from __future__ import annotations

import dataclasses
import itertools
import math
import threading
from typing import Any, Callable, Iterable, Sequence

import numpy as np
from bitale.pytensor import versions

versions.check("pymc", "bitale.pytensor")

from pymc import Model
from pymc.initial_point import convert_str_to_rv_dict, make_initial_point_expression
from pymc.pytensorf import compile as compile_pymc, find_rng_nodes, replace_rng_nodes, reseed_rngs
from pytensor.compile.mode import FAST_COMPILE, Mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import graph_replace
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.graph.traversal import ancestors
from pytensor.scalar.basic import Second
from pytensor.tensor import alloc, as_tensor
from pytensor.tensor.elemwise import Elemwise

import bitale as bt
import bitale.tensor as pt
from bitale.rewrite import rewrite_graph
from bitale.pytensor.conversion import Conversion
from bitale.pytensor.linker import SHAPES, BitaleLinker

Start = Callable[[Any], list[np.ndarray]]  # of a seed: the start values


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where variables lie in one vector."""

    names: list[str]
    shapes: list[tuple[int, ...]]

    @property
    def slices(self) -> list[slice]:
        ends = [0, *itertools.accumulate(map(math.prod, self.shapes))]
        return [slice(start, end) for start, end in zip(ends, ends[1:])]

    @property
    def size(self) -> int:
        return sum(map(math.prod, self.shapes))

    def __add__(self, other: Layout) -> Layout:
        return Layout(self.names + other.names, self.shapes + other.shapes)


@dataclasses.dataclass(frozen=True)
class ModelGraph:
    """point: the vector, laid out as `free` says. log_density: a scalar of float64. expanded: the variables called `names`.
    shared: Bitale's counterparts of the model's shared data. start: start values of the free variables."""

    point: pt.TensorVariable
    free: Layout
    log_density: pt.TensorVariable
    names: list[str]
    expanded: list[pt.TensorVariable]
    shared: dict[Any, Any]
    start: Start

    def flat_start(self, seed: Any = None) -> np.ndarray:
        """The start values as one vector. ValueError where a shape is another than that of the first start."""
        values = self.start(seed)
        for value, name, shape in zip(values, self.free.names, self.free.shapes):
            if value.shape != shape:
                raise ValueError(
                    f"the initial value of {name} has shape {value.shape}; expected {shape}"
                )
        return np.concatenate([np.ravel(x) for x in values]).astype("float64", copy=False)

    def expanded_shapes(self) -> list[tuple[int, ...]]:
        """The shapes of `expanded`, evaluated at a start where types don't know them."""
        shapes = {x: x.type.shape for x in self.expanded}
        if unknown := [x for x in self.expanded if None in x.type.shape]:
            evaluate = bt.function(
                [self.point],
                [x.shape for x in unknown],
                mode="FAST_COMPILE",
                on_unused_input="ignore",
            )
            shapes.update(
                (x, tuple(map(int, shape)))
                for x, shape in zip(unknown, evaluate(self.flat_start(0)))
            )
        return [shapes[x] for x in self.expanded]


def _what_changes_meaning(model: Model) -> Callable[[Any], None]:
    """Rewrites a FunctionGraph in place by those of PyTensor's rewrites, and of PyMC's among them, without which it would be another function.

    A parameter outside its domain gives -inf, unless the model does not check bounds: PyMC's graphs raise an error there until this rewrite.
    Labelled tensors become tensors (`minimum_compile`, which the linker requires). Scans keep only the steps that are used, without which those
    of long series would need memory for all of them. The rest, simpler and stabler forms of the same function, is left to Bitale.
    """
    bounds = (
        "local_check_parameter_to_ninf_switch"
        if model.check_bounds
        else "local_remove_check_parameter"
    )
    query = RewriteDatabaseQuery(
        include=["canonicalize", "scan_save_mem_no_prealloc", *SHAPES],
        subquery={"canonicalize": RewriteDatabaseQuery(include=[bounds])},
    )
    optimizer = Mode(BitaleLinker(), query).optimizer
    return lambda fgraph: optimizer.rewrite(fgraph)


def _filled(values: Sequence[Any]) -> list[Any]:
    """Values in which `zeros_like(draw)` and the like, where the shape is known, are not computed from the draw; none if there are none. PyMC
    starts a Cholesky factor so, and its draw, by a Scan, imports `scipy.stats`, in most of a second."""
    filled = {
        v: alloc(v.owner.inputs[1], *v.type.shape)
        for v in ancestors(values)
        if v.owner
        and isinstance(v.owner.op, Elemwise)
        and isinstance(v.owner.op.scalar_op, Second)
        and None not in v.type.shape
    }
    return list(graph_replace(values, filled, strict=False)) if filled else []


def initial_values(
    model: Model, overrides: Any = None, jitter_rvs: Any = None, strategy: str = "support_point"
) -> Start:
    """A function of a seed: the start values of the free variables, by PyMC's expressions of them. PyTensor's own Python linker runs it,
    which compiles nothing. PyTensor's functions are not re-entrant, and nutpie's threads call it at the same time."""
    jitter = (
        (set(model.free_RVs) if strategy == "support_point" else set())
        if jitter_rvs is None
        else jitter_rvs
    )
    strategies = {**model.rvs_to_initial_values, **convert_str_to_rv_dict(model, overrides or {})}
    values = make_initial_point_expression(
        free_rvs=model.free_RVs,
        rvs_to_transforms=model.rvs_to_transforms,
        initval_strategies=strategies,
        jitter_rvs=jitter,
        default_strategy=strategy,
        return_transformed=True,
    )
    values, mode = replace_rng_nodes(values), Mode("py", FAST_COMPILE.provided_optimizer)
    function = compile_pymc([], values, mode=mode)
    generators = find_rng_nodes(
        function.maker.fgraph.outputs
    )  # also those of draws that are not made, so that all have PyMC's seeds
    if filled := _filled(values):
        function = compile_pymc([], filled, mode=mode)
    lock = threading.Lock()

    def evaluate(seed: Any) -> list[np.ndarray]:
        with lock:
            reseed_rngs(generators, seed)
            return [np.asarray(x) for x in function()]

    return evaluate


def require_continuous(model: Any, who: str, var_names: Iterable[str] = ()) -> None:
    """TypeError, ValueError or KeyError if it is not a model with continuous free variables, or has no variables of these names."""
    if not isinstance(model, Model):
        raise TypeError(f"bitale.pytensor.{who} needs a PyMC model, got {type(model).__name__}")
    if not model.free_RVs:
        raise ValueError("the model has no free variables, so there is nothing to sample")
    discrete = [f"{v.name} ({v.dtype})" for v in model.free_RVs if not v.dtype.startswith("float")]
    if discrete:
        raise ValueError(
            f"{who} samples continuous variables, and these are discrete: {', '.join(discrete)}; sum over them, or use pm.sample"
        )
    known = {v.name for v in model.unobserved_value_vars}
    if unknown := [name for name in var_names if name not in known]:
        raise KeyError(
            f"the model has no variables {', '.join(map(repr, unknown))}; there are: {', '.join(sorted(known))}"
        )


def _converted(
    model: Model, free: Layout, wanted: Sequence[Any]
) -> tuple[pt.TensorVariable, list[pt.TensorVariable], dict[Any, Any]]:
    """A vector of the model's free variables, what is wanted of the model as a function of it, and the shared data."""
    point = bt.tensor.tensor("_unconstrained_point", dtype="float64", shape=(free.size,))
    rewrite = _what_changes_meaning(model)
    conversion = Conversion(prepare=rewrite)
    for variable, where, shape in zip(model.free_RVs, free.slices, free.shapes):
        value = model.rvs_to_values[variable]
        conversion.variables[value] = point[where].reshape(shape).astype(value.dtype)
    fgraph = FunctionGraph(outputs=list(wanted), clone=True, copy_inputs=False)
    rewrite(fgraph)
    found = conversion(fgraph.outputs)
    shared = {
        variable: made
        for variable, made in conversion.inputs.items()
        if isinstance(variable, SharedVariable)
    }
    if missing := [str(v) for v in conversion.inputs if v not in shared]:
        raise bt.MissingInputError(
            f"the model depends on variables without a value: {', '.join(missing)}"
        )
    return point, found, shared


def _stable(density: pt.TensorVariable) -> pt.TensorVariable:
    """Stable forms come first, as some formulas are differentiable only in these."""
    stable: pt.TensorVariable = rewrite_graph(
        density.astype("float64"), include=("canonicalize", "stabilize")
    )
    return stable


def model_graph(model: Model, start: Start, var_names: Sequence[str] | None) -> ModelGraph:
    """The graph of a model that `require_continuous` accepts. var_names: which variables besides the free ones; None: all."""
    free = Layout(
        [model.rvs_to_values[v].name for v in model.free_RVs], [x.shape for x in start(0)]
    )
    others = [
        v
        for v in model.unobserved_value_vars
        if v.name not in free.names and (var_names is None or v.name in var_names)
    ]
    wanted = [model.logp(), *(as_tensor(v, allow_xtensor_conversion=True) for v in others)]
    point, (logp, *expanded), shared = _converted(model, free, wanted)
    return ModelGraph(point, free, _stable(logp), [v.name for v in others], expanded, shared, start)


def prior_and_likelihood(
    model: Model, shapes: Sequence[tuple[int, ...]]
) -> tuple[pt.TensorVariable, list[pt.TensorVariable]]:
    """A vector of the model's free variables, whose shapes are given, and the two terms of its log density."""
    free = Layout([model.rvs_to_values[v].name for v in model.free_RVs], list(shapes))
    point, terms, _ = _converted(model, free, [model.varlogp, model.datalogp])
    return point, [_stable(term) for term in terms]
