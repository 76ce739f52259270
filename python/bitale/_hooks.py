"""The functions of this package that the extension module calls, and where they are.

The extension module knows names only (``_core.hook_names()``); it asks for a function when it calls it for the first time, so
a module that is needed rarely is not imported before."""

from __future__ import annotations

import importlib
from typing import Any, Callable

from bitale import _core

HOOKS = {
    "stored_mode": "bitale.compile.mode:stored_mode",
    "stored_function": "bitale.compile.function:stored_function",
    "stored_function_maker": "bitale.compile.maker:stored_function_maker",
    "containers_of": "bitale.compile.function:containers_of",
    "get_input": "bitale.compile.function:get_input",
    "set_input": "bitale.compile.function:set_input",
    "profile_stats": "bitale.profile:ProfileStats",
    "stored_nan_guard": "bitale.link.compiled:stored_nan_guard",
    "dual_linker": "bitale.link.basic:DualLinker",
    "graph_code": "bitale.link.compiled:GraphCode",
    "links_graphs": "bitale.link.basic:links_graphs",
    "linker_object": "bitale.link.compiled:linker_object",
    "rule_of": "bitale.graph.rewriting.basic:rule_of",
    "core_query": "bitale.graph.rewriting.db:core_query",
    "query_object": "bitale.graph.rewriting.db:query_object",
    "database_of_query": "bitale.graph.rewriting.db:database_of_query",
    "rewriter_of_query": "bitale.graph.rewriting.db:rewriter_of_query",
    "clone_get_equiv": "bitale.graph.basic:clone_get_equiv",
    "output_node": "bitale.graph.fg:output_node",
    "op_make_thunk": "bitale.graph.python_op:make_thunk",
    "op_make_py_thunk": "bitale.graph.python_op:make_py_thunk",
    "op_runner": "bitale.graph.python_op:runner",
    "deepcopy_variable": "bitale.graph.copying:deepcopy_variable",
    "deepcopy_apply": "bitale.graph.copying:deepcopy_apply",
    "reduce_variable": "bitale.graph.storing:reduce_variable",
    "reduce_apply": "bitale.graph.storing:reduce_apply",
    "copy_op": "bitale.graph.storing:copy_op",
    "deepcopy_op": "bitale.graph.storing:deepcopy_op",
    "reduce_op": "bitale.graph.storing:reduce_op",
    "reduce_python_op": "bitale.graph.storing:reduce_python_op",
    "reduce_type": "bitale.graph.storing:reduce_type",
    "scratchpad": "bitale.graph.tag:Scratchpad",
    "op_pullback": "bitale.graph.python_op:pullback",
    "op_pushforward": "bitale.graph.python_op:pushforward",
    "op_batched": "bitale.graph.python_op:batched",
    "op_infer_shape": "bitale.graph.python_op:infer_shape",
    "array": "bitale._numpy_protocol:array",
    "array_ufunc": "bitale._numpy_protocol:array_ufunc",
    "array_function": "bitale._numpy_protocol:array_function",
    "transfer": "bitale.tensor.transfers:transfer",
    "debugprint": "bitale.printing:debugprint",
    "function_dprint": "bitale.printing:function_dprint",
    "notebook_svg": "bitale._picture:notebook_svg",
    "notebook_html": "bitale._picture:notebook_html",
    "char_from_number": "bitale.printing:char_from_number",
    "print_value": "bitale.printing:print_value",
    "stop_at_breakpoint": "bitale.breakpoint:stop",
    "classes_of_ops": "bitale.tensor.op_classes:__all__",
    "classes_of_loops": "bitale.scan.classes:__all__",
    "loops": "bitale.scan._loops:FUNCTIONS",
    "exception_called": "bitale.raise_op:exception_called",
    "generator_methods": "bitale.tensor.random.variable:METHODS",
    "words_of_generator": "bitale.tensor.random.state:words_of",
    "generator_of_words": "bitale.tensor.random.state:generator_of",
    "derivative_of_function": "bitale.functional:of_function",
    "kind_of_value": "bitale.functional:kind_of_value",
    "sparse_variable": "bitale.sparse.variable:SparseVariable",
    "jax_fetched": "bitale.jax.linker:fetched",
    "jax_is_within": "bitale.jax.linker:is_within",
    "jax_begin_to_fetch": "bitale.jax.linker:begin_to_fetch",
    "jax_platform": "bitale.jax.linker:platform",
    "jax_compile_module": "bitale.jax.linker:compile_module",
    "jax_to_device": "bitale.jax.linker:to_device",
    "jax_copied": "bitale.jax.linker:copied",
    "jax_is_on_device": "bitale.jax.linker:is_on_device",
}


def _find(name: str) -> Callable[..., Any]:
    module, function = HOOKS[name].split(":")
    return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]


def _report(what: str, *of: Any) -> None:
    """Passes reports on compilations on to a module that few programs need."""
    getattr(importlib.import_module("bitale._progress"), what)(*of)


_core.register_hooks(_find)
_core.register_progress(_report)
