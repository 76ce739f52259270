"""as_jax: a compiled function as one primitive of JAX, whose rules are Bitale's.

JAX's own way, a function of ``jax.numpy`` built op by op, would have JAX trace, differentiate and simplify the graph a
second time. As a primitive the graph is rewritten by Bitale alone, and reaches XLA as one module that JAX inlines into
what surrounds it: ``jit`` lowers to that module, ``vmap`` to that of the vectorized graph, and derivatives to those of
Bitale's pushforwards and pullbacks, of any order, for all of them are graphs again.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import numpy as np

import bitale as bt
from bitale.graph import graph_replace, vectorize_graph
from bitale.graph.traversal import apply_ancestors
from bitale.jax.linker import find_lapack, inlined, jax_package

Variables = tuple[Any, ...]


class Graph:
    """What one call of the primitive computes: outputs of inputs, rewritten when it is first lowered."""

    def __init__(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        tangent_of: tuple[Graph, tuple[int, ...]] | None = None,
        cotangent_of: tuple[Graph, tuple[int, ...], tuple[int, ...]] | None = None,
    ):
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.tangent_of = (
            tangent_of  # the graph whose pushforward this is, and the inputs that have tangents
        )
        self.cotangent_of = cotangent_of  # whose pullback it is, the inputs that it is for, and the outputs that have cotangents
        self._modules: dict[Any, tuple[str, list[tuple[str, list[int]]]]] = {}

    @functools.cached_property
    def function(self) -> Any:
        return bt.function(
            list(self.inputs), list(self.outputs), mode="JAX", on_unused_input="ignore"
        )

    def module(
        self, shapes: Sequence[tuple[int, ...]], platform: str = "cpu"
    ) -> tuple[str, list[tuple[str, list[int]]]]:
        """Text of the module for inputs of these shapes, and dtype and shape of its results, which no platform changes."""
        key = (platform, *(tuple(shape) for shape in shapes))
        if key not in self._modules:
            text, results, _ = self.function.stablehlo(
                [list(shape) for shape in key[1:]], checks=False, platform=platform
            )
            self._modules[key] = text, results
        return self._modules[key]

    @functools.cached_property
    def draws(self) -> bool:
        return _draws(self.outputs)

    @functools.lru_cache(maxsize=None)
    def vectorized(self, batched: tuple[bool, ...]) -> Graph:
        """With a batch dimension in front of these inputs. Each element of the batch draws numbers of its own."""
        inputs = [
            bt.tensor.tensor(v.name, dtype=v.dtype, shape=(None, *v.type.shape))
            if more
            else v.type(v.name)
            for v, more in zip(self.inputs, batched)
        ]
        outputs = vectorize_graph(list(self.outputs), dict(zip(self.inputs, inputs)))
        return Graph(inputs, outputs)

    def batched(self, flags: tuple[bool, ...]) -> tuple[Graph, tuple[bool, ...]]:
        """What computes a batch where these inputs have one, and which of its inputs have one.

        Derivatives of a graph that draws are those of the batched graph, so that each element's derivative is at the numbers
        that its value was computed from.
        """
        origin, active = (self.tangent_of or self.cotangent_of or (self, ()))[:2]
        if origin is self or not self.draws or not any(flags[: len(origin.inputs)]):
            return self.vectorized(flags), flags
        whole, known = origin.batched(
            tuple(more or k in active for k, more in enumerate(flags[: len(origin.inputs)]))
        )
        if self.tangent_of:
            return whole.pushforward(active), (*known, *(True for _ in active))
        given = self.cotangent_of[2]  # type: ignore[index]
        has_batch = (_ndim(whole.outputs[k]) > _ndim(origin.outputs[k]) for k in given)
        return whole.pullback(active, given), (*known, *has_batch)

    @functools.lru_cache(maxsize=None)
    def pushforward(self, active: tuple[int, ...]) -> Graph:
        """Tangents of the outputs, of the inputs and then the tangents of the active ones."""
        wrt = [self.inputs[i] for i in active]
        tangents = [v.type() for v in wrt]
        of = [v for v in self.outputs if _is_real(v)]
        outputs = bt.pushforward(
            of, wrt, tangents, disconnected_outputs="ignore", return_disconnected="zero"
        )
        return Graph([*self.inputs, *tangents], outputs, (self, active))

    @functools.lru_cache(maxsize=None)
    def pullback(self, active: tuple[int, ...], given: tuple[int, ...]) -> Graph:
        """Cotangents of the active inputs, of the inputs and then the cotangents of the given outputs."""
        outputs = [self.outputs[k] for k in given]
        cotangents = [v.type() for v in outputs]
        wrt = [self.inputs[i] for i in active]
        made = bt.pullback(outputs, wrt, cotangents, disconnected_inputs="ignore")
        return Graph([*self.inputs, *cotangents], made, None, (self, active, given))


def _draws(outputs: Sequence[Any]) -> bool:
    """Whether there are draws from generators in the graph."""
    return any(_is_state(v) for node in apply_ancestors(outputs) for v in node.inputs)


def _is_state(v: Any) -> bool:
    return isinstance(v.type, bt.tensor.random.RandomGeneratorType)


def _is_real(v: Any) -> bool:
    return bool(np.issubdtype(np.dtype(_dtype(v)), np.inexact))


def _graph_of(function: Any) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """Inputs, outputs, and the shared variables that are the last of the inputs.

    Rewritten, but where numbers are drawn: what a draw is for each element of a batch only the draw itself says, not the
    formula that it becomes.
    """
    fgraph = function.fgraph
    if _draws(fgraph.outputs):
        maker = bt.compile.FunctionMaker(**function.maker.arguments, no_fgraph_prep=True)
        return maker.fgraph.inputs, maker.fgraph.outputs, maker.shared
    return fgraph.inputs, fgraph.outputs, function.get_shared()


def _array(value: Any) -> Any:
    """Of an argument or a shared variable's value; the state of a stream is two words."""
    if isinstance(value, bt.random.Stream):
        return np.array([value.key, value.drawn], dtype="uint64")
    return value


def _dtype(v: Any) -> str:
    return getattr(v, "dtype", "uint64")


def _ndim(v: Any) -> int:
    return getattr(v, "ndim", 1)


def _with_batch(x: Any, has_batch: bool, wanted: bool, size: int) -> Any:
    if has_batch == wanted:
        return x
    x = jax_package().numpy.asarray(x)
    # An output without a batch depends on no batched value, so its cotangents reach no requested input.
    return jax_package().numpy.broadcast_to(x, (size, *x.shape)) if wanted else x[0]


def _require_wide(variables: Sequence[Any]) -> None:
    jax = jax_package()
    if jax.config.jax_enable_x64:
        return
    for v in variables:
        if np.dtype(_dtype(v)).itemsize == 8:
            raise ValueError(
                f"as_jax: `{v}` is {_dtype(v)}, which JAX does not keep: call jax.config.update('jax_enable_x64', True), or "
                "declare it with 32 bits"
            )


@functools.cache
def primitive() -> Any:
    """The primitive, with its rules, made when it is first used."""
    jax_package()
    import jax
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir
    from jax._src import dispatch

    call = Primitive("bitale")
    call.multiple_results = True
    call.def_impl(functools.partial(dispatch.apply_primitive, call))

    def results(*operands: Any, graph: Graph) -> list[Any]:
        _, made = graph.module([x.shape for x in operands])
        return [jax.core.ShapedArray(tuple(shape), np.dtype(dtype)) for dtype, shape in made]

    call.def_abstract_eval(results)

    def lower(context: Any, *operands: Any, graph: Graph, platform: str = "") -> Any:
        text, _ = graph.module([x.shape for x in context.avals_in], platform)
        return inlined(context, text, operands)

    def lower_for_processors(context: Any, *operands: Any, graph: Graph) -> Any:
        find_lapack()
        return lower(context, *operands, graph=graph, platform="cpu")

    mlir.register_lowering(call, lower)
    mlir.register_lowering(call, lower_for_processors, platform="cpu")
    mlir.register_lowering(call, functools.partial(lower, platform="cuda"), platform="cuda")

    def batch(operands: Any, axes: Any, *, graph: Graph) -> tuple[Any, Any]:
        batched = tuple(axis is not None for axis in axes)
        moved = [
            jax.numpy.moveaxis(x, axis, 0) if more else x
            for x, axis, more in zip(operands, axes, batched)
        ]
        if any(_is_state(v) and more for v, more in zip(graph.inputs, batched)):
            return apply_sequentially(moved, batched, graph), [0] * len(graph.outputs)
        whole, expected = graph.batched(batched)
        if expected != batched:
            size = next(len(x) for x, more in zip(moved, batched) if more)
            moved = [
                _with_batch(x, more, wanted, size)
                for x, more, wanted in zip(moved, batched, expected)
            ]
        made = call.bind(*moved, graph=whole)
        return made, [
            0 if _ndim(new) > _ndim(old) else None for new, old in zip(whole.outputs, graph.outputs)
        ]

    def apply_sequentially(operands: Any, batched: Any, graph: Graph) -> Any:
        """A loop over the batch: a generator's state has no batch dimension."""

        def of_one(each: Any) -> Any:
            rest = iter(each)
            return call.bind(
                *(next(rest) if more else x for x, more in zip(operands, batched)), graph=graph
            )

        return jax.lax.map(of_one, tuple(x for x, more in zip(operands, batched) if more))

    batching.primitive_batchers[call] = batch

    def zero_for(primal: Any) -> Any:
        return ad.Zero(jax.typeof(primal).to_tangent_aval())

    def jvp(primals: Any, tangents: Any, *, graph: Graph) -> tuple[Any, Any]:
        active = tuple(k for k, t in enumerate(tangents) if not isinstance(t, ad.Zero))
        out = call.bind(*primals, graph=graph)
        if not active:
            return out, [zero_for(y) for y in out]
        given = [ad.instantiate_zeros(tangents[k]) for k in active]
        made = iter(call.bind(*primals, *given, graph=graph.pushforward(active)))
        return out, [next(made) if _is_real(v) else zero_for(y) for v, y in zip(graph.outputs, out)]

    ad.primitive_jvps[call] = jvp

    def transpose(cotangents: Any, *operands: Any, graph: Graph) -> list[Any]:
        origin, active = graph.tangent_of or (graph, ())
        known = operands[: len(origin.inputs)]
        if not active or any(ad.is_undefined_primal(x) for x in known):
            raise NotImplementedError(
                "as_jax: JAX transposes a call that is not linear in what it is transposed by"
            )
        given = tuple(k for k, c in enumerate(cotangents) if not isinstance(c, ad.Zero))
        wanted = tuple(
            i for k, i in enumerate(active) if ad.is_undefined_primal(operands[len(known) + k])
        )
        made = iter(
            call.bind(*known, *(cotangents[k] for k in given), graph=origin.pullback(wanted, given))
        )
        return [None] * len(known) + [next(made) if i in wanted else None for i in active]

    ad.primitive_transposes[call] = transpose
    return call


def as_jax(function: Any) -> Callable[..., Any]:
    """A compiled function as a function of JAX arrays, for ``jax.jit``, ``vmap``, ``grad`` and other transformations.

    function: a ``bitale.function`` of any mode. Its inputs are the arguments, converted to their
    dtypes, and the result has the structure of its outputs; both may be trees. The values of shared
    variables are read when JAX traces. Derivatives and batches are Bitale's graphs. As in JAX,
    indices out of range are clamped, and errors that depend on values are not raised.

    TypeError for anything but a function; ValueError for one with updates, which would be side
    effects, and for 64-bit types while ``jax_enable_x64`` is off; NotImplementedError for anything
    that can't be translated to StableHLO.
    """
    if not isinstance(function, bt.Function):
        raise TypeError(f"as_jax: expected a compiled function, got {type(function).__name__}")
    jax = jax_package()
    if len(function.maker.outputs) != len(function.fgraph.outputs):
        raise ValueError(
            "as_jax: the function updates shared variables, and functions of JAX have no side effects"
        )
    inputs, expressions, shared = _graph_of(function)
    plain = [v.type(v.name) for v in inputs]
    outputs = graph_replace(list(expressions), dict(zip(inputs, plain)), strict=False)
    graph = Graph(plain, outputs)
    _require_wide([*plain, *outputs])

    def call(*arguments: Any) -> Any:
        own = function._leaves_of(*arguments)
        values = [_array(x) for x in (*own, *(s.get_value(borrow=True) for s in shared))]
        operands = [jax.numpy.asarray(x, dtype=_dtype(v)) for x, v in zip(values, plain)]
        for x, v in zip(operands, plain):
            if x.ndim != _ndim(v):
                raise TypeError(f"as_jax: `{v}` has {_ndim(v)} dimensions, got shape {x.shape}")
        return function._in_form(list(primitive().bind(*operands, graph=graph)))

    call.__name__ = function.name or "bitale_function"
    return call
