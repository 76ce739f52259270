"""How node rewriters become part of compiling: by the phases of `optdb` (docs/extending_rewriting.md has all of them).

>>> from bitale.graph.rewriting.basic import node_rewriter
>>> from bitale.tensor.rewriting.basic import register_specialize
>>> @register_specialize
... @node_rewriter([pt.sqr])
... def square_as_power(fgraph, node):
...     return False
>>> from bitale.compile.mode import optdb
>>> optdb["specialize"]["square_as_power"]
FromFunctionNodeRewriter(square_as_power, sqr)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bitale import _core
from bitale._core import Rule
from bitale.graph.op import Op
from bitale.graph.rewriting.db import EquilibriumDB, RewriteDatabase, optdb
from bitale.graph.rewriting.unify import OpPattern
from bitale.tensor.op_classes import Elemwise

__all__ = [
    "elemwise_of",
    "infer_shape_db",
    "register_canonicalize",
    "register_infer_shape",
    "register_specialize",
    "register_stabilize",
    "register_uncanonicalize",
    "register_useless",
]

# A rewriter that has one of these tags runs where a query names the tag or the rewriter.
_ON_REQUEST = {"opt_in", "unsafe", "unsafe_nan"}

infer_shape_db = EquilibriumDB()
infer_shape_db.name = "infer_shape_db"

_DOC = """Register a node rewriter {where}; also a decorator.

Parameters
----------
node_rewriter : NodeRewriter, GraphRewriter, RewriteDatabase, Rule or str, optional
    What to register; or a tag, of a decorator.
*tags : str
    Tags by which queries find it, besides {tags}. With "opt_in", "unsafe"
    or "unsafe_nan" it is found by its tags and its name only.
name : str, optional
    Its name; by default that of the function that it was made of.
overwrite_existing : bool
    Replace one of this name.
**kwargs : object
    Further arguments of `register` of the database.

Returns
-------
NodeRewriter or callable
    What was registered, or a decorator.
"""


def _registrar(phase: str, where: str, *own: str, db: RewriteDatabase | None = None) -> Any:
    home = optdb[phase] if db is None else db

    def register(
        node_rewriter: Any = None,
        *tags: str,
        name: str | None = None,
        overwrite_existing: bool = False,
        **kwargs: Any,
    ) -> Any:
        if node_rewriter is None or isinstance(node_rewriter, str):
            more = tags if node_rewriter is None else (node_rewriter, *tags)

            def later(inner: Any) -> Any:
                return register(
                    inner, *more, name=name, overwrite_existing=overwrite_existing, **kwargs
                )

            return later
        if isinstance(node_rewriter, Rule) and db is None:
            node_rewriter._register([phase, *tags], overwrite_existing)
            return node_rewriter
        every = (*getattr(node_rewriter, "tags", ()), *tags)
        on_request = not _ON_REQUEST.isdisjoint(every)
        if on_request:
            kwargs["use_db_name_as_tag"] = False
        home.register(
            name or getattr(node_rewriter, "name", None) or node_rewriter.__name__,
            node_rewriter,
            *(() if on_request else own),
            *every,
            overwrite_existing=overwrite_existing,
            **kwargs,
        )
        return node_rewriter

    register.__name__ = register.__qualname__ = f"register_{phase}"
    register.__doc__ = _DOC.format(where=where, tags=" and ".join([*map(repr, own), repr(phase)]))
    return register


register_useless: Callable[..., Any] = _registrar(
    "useless", "among those that run first, and remove nodes", "fast_run"
)
register_canonicalize: Callable[..., Any] = _registrar(
    "canonicalize", "in the phase that gives equal expressions one form", "fast_run", "fast_compile"
)
register_stabilize: Callable[..., Any] = _registrar(
    "stabilize", "in the phase that makes results more accurate", "fast_run"
)
register_specialize: Callable[..., Any] = _registrar(
    "specialize", "in the phase that makes calls cheaper", "fast_run"
)
register_uncanonicalize: Callable[..., Any] = _registrar(
    "uncanonicalize", "in the phase that runs last", "fast_run"
)
_register_infer_shape = _registrar("infer_shape", "", "fast_run", db=infer_shape_db)


def register_infer_shape(rewrite: Any = None, *tags: str, **kwargs: Any) -> Any:
    """Register a node rewriter in `infer_shape_db`; also a decorator.

    No phase uses that database: lengths are expressions, which all phases
    simplify.

    Parameters
    ----------
    rewrite : NodeRewriter, GraphRewriter, RewriteDatabase or str, optional
        What to register; or a tag, of a decorator.
    *tags : str
        Tags by which queries find it, besides 'fast_run'.
    **kwargs : object
        As for the other functions that register: `name`, `overwrite_existing`.

    Returns
    -------
    NodeRewriter or callable
        What was registered, or a decorator.
    """
    return _register_infer_shape(rewrite, *tags, **kwargs)


def elemwise_of(scalar_op: Any) -> OpPattern:
    """Pattern of the elementwise ops of a scalar op.

    Parameters
    ----------
    scalar_op : Op, type, OpPattern or union of types
        Scalar op, class of some, or pattern of some.

    Returns
    -------
    OpPattern
        Pattern.
    """
    if not isinstance(scalar_op, (Op, OpPattern)):
        scalar_op = OpPattern(scalar_op)
    return OpPattern(Elemwise, scalar_op=scalar_op)


def __getattr__(name: str) -> Any:
    """The library's own rules that have the name of one of PyTensor's rewriters, such as `constant_folding`."""
    for phase, _, _, has_rules in _core.optdb_entries() if not name.startswith("_") else ():
        if has_rules and name in (each for each, _ in _core.optdb_members(phase)):
            return optdb[phase][name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
