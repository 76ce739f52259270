"""Rewriting for users: rules of their own, checked by numbers; rewriting by hand, step by step.

>>> import bitale as bt, bitale.tensor as pt
>>> x, y = pt.dscalars("x", "y")
>>> bt.rewrite.equation("log_of_root", pt.log(pt.sqrt(pt.abs(x) + 1)), pt.log1p(pt.abs(x)) / 2, tags=["specialize"])
<Rule log_of_root>
>>> bt.rewrite.check("log_of_root").ok
True
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

from bitale import _core
from bitale._core import CheckReport, InconsistencyError, RewriteReport, RewriteStep, Rule, RuleDescription

__all__ = [
    "Trace",
    "check",
    "describe",
    "equation",
    "hits",
    "node_rewriter",
    "register",
    "register_canonicalize",
    "register_specialize",
    "register_stabilize",
    "rewrite_graph",
    "rules",
    "trace",
    "trace_text",
]

for _class in (CheckReport, RewriteReport, RewriteStep, Rule, RuleDescription):
    _class.__module__ = __name__
del _class

hits = _core.rule_hits


def equation(
    name: str,
    left: Any,
    right: Any,
    tags: Sequence[str] = ("canonicalize",),
    assume: Sequence[Any] = (),
    *,
    doc: str = "",
    on: str = "floats",
    wider_domain: bool = False,
    either_zero: bool = False,
    more_accurate: bool = False,
    differs_at: Sequence[float] = (),
    register: bool = True,
    overwrite_existing: bool = False,
) -> Rule:
    """A rule: where the left expression is found, the right one takes its place. Its variables stand for anything.

    tags: the phases it belongs to (canonicalize, stabilize, specialize, ...), and any others for queries.
    assume: conditions such as ``x > 0`` under which both sides are equal. `check` takes no other points. The rule is
    applied only where the graph shows that they hold: of constants, and by the bounds of functions such as ``exp(x)``,
    ``abs(x)``, ``sigmoid(x)``, ``clip(x, 1, 2)``, sums and products of these; as in mathematics, so that neither nan nor
    underflow counts. With "unsafe" among its tags a rule is applied without that, where a mode or query asks for
    "unsafe" or for the rule by its name: then you vouch for them.
    on: dtypes of the variables: floats, integers, signed_ints, numbers, bools or any.
    wider_domain, either_zero, differs_at: how the sides may differ: where the left is not finite, in the sign of zero,
    at special values of the first variable. `check` wants to see each.
    register: False makes the rule without adding it to the rules that compiling applies.
    """
    left, right = _core.as_tensor_variable(left), _core.as_tensor_variable(right)
    rule = _core.equation_rule(
        name, left, right, list(tags), list(assume), doc, on, wider_domain, either_zero, more_accurate, list(differs_at)
    )
    if register:
        rule._register([], overwrite_existing)
    return rule


def _is_own_class(tracked: Any) -> bool:
    return isinstance(tracked, type) and issubclass(tracked, _core.Op) and not hasattr(tracked, "_is_of_the_library")


def _is_own_op(tracked: Any) -> bool:
    return isinstance(tracked, _core.Op) and _is_own_class(type(tracked))


def _op_name(tracked: Any) -> str:
    """How rules name an op: "add", "Dot". Functions of bitale.tensor stand for the op of their name."""
    if isinstance(tracked, str):
        _core.require_op_name(tracked)
        return tracked
    if isinstance(tracked, _core.Op):
        return _core.op_name(tracked)
    if _is_own_class(tracked):
        return f"{tracked.__module__}.{tracked.__qualname__}"
    name = getattr(tracked, "__name__", None)
    if name is None:
        raise TypeError(f"node_rewriter: expected ops, functions of bitale.tensor, or names; got {tracked!r}")
    if not _core.is_scalar_op(name):
        name = "".join(part.capitalize() for part in name.split("_"))
    _core.require_op_name(name)
    return name


def node_rewriter(
    tracks: Sequence[Any] | None = None,
    *,
    name: str | None = None,
    tags: Sequence[str] = (),
    samples: Sequence[Any] = (),
    overwrite_existing: bool = False,
) -> Callable[[Callable[..., Any]], Rule]:
    """Makes a rule of a function of (fgraph, node) that gives False, a variable, or a list or dict of replacements.

    tracks: the ops it is tried on: functions such as ``pt.add``, ops, classes of ops written in Python, or names of ops;
    None for all. ValueError with a suggestion for a name that no op has.
    tags: with a phase among them the rule is registered at once; else `register` does it.
    samples: expressions on which it fires, for `check`.
    """
    if tracks is not None and not isinstance(tracks, (list, tuple)):
        raise TypeError(f"node_rewriter: expected a list of ops, got {tracks!r}")
    names = None if tracks is None else [_op_name(op) for op in tracks]
    own = [op for op in tracks or () if _is_own_op(op)]  # these match only nodes of equal ops
    of_any = {_op_name(op) for op in tracks or () if not _is_own_op(op)}

    def decorate(function: Callable[..., Any]) -> Rule:
        def of_equal_ops(fgraph: Any, node: Any) -> Any:
            return (_core.op_name(node.op) in of_any or node.op in own) and function(fgraph, node)

        rule = _core.function_rule(
            name or function.__name__, names, of_equal_ops if own else function, list(tags), function.__doc__ or "", list(samples)
        )
        if tags:
            rule._register([], overwrite_existing)
        return rule

    return decorate


def register(rule: Rule, *tags: str, overwrite_existing: bool = False) -> Rule:
    """Adds the rule to those that compiling applies, in the phases among its tags and these."""
    rule._register(list(tags), overwrite_existing)
    return rule


def _registrar(phase: str) -> Callable[..., Any]:
    def decorate(rule: Any = None, *tags: str, overwrite_existing: bool = False) -> Any:
        if isinstance(rule, Rule):
            return register(rule, phase, *tags, overwrite_existing=overwrite_existing)
        more = tags if rule is None else (rule, *tags)
        return lambda late: register(late, phase, *more, overwrite_existing=overwrite_existing)

    decorate.__name__ = decorate.__qualname__ = f"register_{phase}"
    decorate.__doc__ = f"Registers a rule in the phase {phase}; a decorator, also with further tags."
    return decorate


register_canonicalize = _registrar("canonicalize")
register_stabilize = _registrar("stabilize")
register_specialize = _registrar("specialize")


def check(rule: Rule | str, *, on_failure: str = "raise") -> CheckReport:
    """Compares both sides of a rule (of a function: its samples before and after) on many dtypes, shapes and points,
    within what it assumes; arithmetic with 450 digits decides where they differ, and whether a rule is more accurate
    (refused for operations that have no exact form).

    Raises InconsistencyError saying what is wrong, unless on_failure="return".
    """
    if on_failure not in ("raise", "return"):
        raise ValueError(f'check: on_failure must be "raise" or "return", not {on_failure!r}')
    report = _core.check_rule(rule) if isinstance(rule, str) else rule._check()
    if not report.ok and on_failure == "raise":
        raise InconsistencyError(str(report))
    return report


def _tags(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def rewrite_graph(
    expression: Any, include: str | Iterable[str] = ("canonicalize",), exclude: str | Iterable[str] = ()
) -> Any:
    """The expression (or each of a list) rewritten by the rules with these tags or names. The leaves stay the same.

    >>> x = pt.dscalar("x")
    >>> bt.rewrite.rewrite_graph(x + 0)
    x
    """
    many = isinstance(expression, (list, tuple))
    results = _core.rewrite_expressions(list(expression) if many else [expression], _tags(include), _tags(exclude))
    return results if many else results[0]


class Trace(list):
    """The steps of a rewriting, in order: a list of RewriteStep."""

    def text(self) -> str:
        """The steps, and the whole expression after each."""
        return _core.steps_text(self)

    def html(self, path: Any = None) -> str:
        """A page that needs nothing else, written to the path where one is given: one picture per step, in which what
        changed is marked, with buttons and arrow keys for the previous and the next."""
        page = _core.steps_html(self)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    __str__ = text


def trace(
    expression: Any, include: str | Iterable[str] = ("fast_run",), exclude: str | Iterable[str] = ()
) -> Trace:
    """The rewriting of an expression, step by step."""
    return Trace(_core.trace_rewrite(expression, _tags(include), _tags(exclude)))


def trace_text(
    expression: Any, include: str | Iterable[str] = ("fast_run",), exclude: str | Iterable[str] = ()
) -> str:
    """The rewriting of an expression as text: the steps, and the whole expression after each."""
    return trace(expression, include, exclude).text()


def rules() -> list[RuleDescription]:
    """All registered rules."""
    return _core.describe_rules()


def describe(*query: str) -> str:
    """The phases and rules that a query selects: describe("+fast_run", "-cancelling", "&float")."""
    return _core.describe_optdb(list(query or ("+fast_run",)))
