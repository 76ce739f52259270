"""Deep copies of graphs: shared variables get containers of their own, and what reads them is copied.

Other variables never change, so that their copies are they themselves. Within one copy.deepcopy() a shared variable is copied
once: a function and the variables that are copied with it use the same copies.
"""

from __future__ import annotations

import copy
from typing import Any

from bitale import _core
from bitale._core import Apply, TensorSharedVariable, Variable

_COPIES = "bitale.graph.copying"  # the key of a memo under which the copies of computed variables are found


def deepcopy_variable(variable: Variable, memo: dict[Any, Any]) -> Variable:
    if variable.owner is not None and variable.index is not None:
        return deepcopy_apply(variable.owner, memo).outputs[variable.index]
    return _shared_copy(variable, memo) if _core.is_shared(variable) else variable


def deepcopy_apply(node: Apply, memo: dict[Any, Any]) -> Apply:
    shared = [leaf for leaf in _core.graph_inputs(node.outputs) if _core.is_shared(leaf)]
    if not shared:
        return node
    copies: dict[Variable, Variable] = memo.setdefault(_COPIES, {})
    copies.update((leaf, copy.deepcopy(leaf, memo)) for leaf in shared)
    for each in _core.toposort(node.outputs, list(copies)):
        inputs = [copies.get(variable, variable) for variable in each.inputs]
        made = (
            each.clone_with_new_inputs(inputs)
            if any(a is not b for a, b in zip(inputs, each.inputs))
            else each
        )
        for before, after in zip(each.outputs, made.outputs):
            after.name = before.name
            copies[before] = after
    copied = copies[node.outputs[0]].owner
    return node if copied is None else copied


def _shared_copy(variable: Any, memo: dict[Any, Any]) -> Any:
    value = copy.deepcopy(_core.shared_value(variable, True), memo)
    if isinstance(variable, TensorSharedVariable):
        made: Any = _core.make_shared(value, variable.name, True, variable.type.shape)
    else:
        made = _core.make_shared_of(variable.type, value, variable.name, True)
    memo[id(variable)] = made  # before its default update, which reads it
    made.default_update = copy.deepcopy(variable.default_update, memo)
    return made
