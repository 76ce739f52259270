"""`bt` as used in the text of expressions: bitale.tensor's functions and the other names of the package, on values."""

from __future__ import annotations

import types
from typing import Any, Callable

from . import arrays, functions, loops, random
from .values import Val, val

# Derivatives and batched graphs have no formula in terms of values: their graphs are evaluated op by op (ops.evaluate).
by_graph = (
    "bt.vectorize_graph(",
    "bt.grad(",
    "bt.jacobian(",
    "bt.hessian(",
    "bt.hessian_vector_product(",
    "bt.pushforward(",
    "bt.pullback(",
)


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: Any = None) -> Any:
    chosen = then_branch if val(condition).array != 0 else else_branch
    return [val(each) for each in chosen] if isinstance(chosen, (list, tuple)) else val(chosen)


def identity(x: Any) -> Val:
    return val(x)


def check_and_raise(kind: type[Exception], message: str = "") -> Callable[..., Val]:
    def check(x: Any, *conditions: Any) -> Val:
        if not all(val(condition).array.all() for condition in conditions):
            raise kind(message)
        return val(x)

    return check


def breakpoint_op(name: str) -> Callable[..., Any]:
    return lambda condition, *variables: (
        [val(x) for x in variables] if len(variables) > 1 else val(variables[0])
    )


def op_from_graph(inputs: Any, outputs: Any, inline: bool = True) -> Callable[..., Any]:
    """An OpFromGraph applied to the same variables as its graph has as inputs, so that its outputs are those of the
    graph."""
    return lambda *_: [val(x) for x in outputs] if len(outputs) > 1 else val(outputs[0])


bt = types.SimpleNamespace(
    tensor=functions,
    random=random,
    compile=types.SimpleNamespace(OpFromGraph=op_from_graph),
    ifelse=ifelse,
    scan=loops.scan,
    until=loops.until,
    zero_grad=identity,
    disconnected_grad=identity,
    gradient=types.SimpleNamespace(
        undefined_grad=identity, grad_scale=lambda x, *_: val(x), grad_clip=lambda x, *_: val(x)
    ),
    dot=arrays.dot,
    printing=types.SimpleNamespace(Print=lambda *_, **__: identity),
    breakpoint=types.SimpleNamespace(PdbBreakpoint=breakpoint_op),
    raise_op=types.SimpleNamespace(
        CheckAndRaise=check_and_raise,
        Assert=lambda message="": check_and_raise(AssertionError, message),
    ),
)
