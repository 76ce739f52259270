"""Rewriting for users: your own rules, checked numerically; rewriting by hand, step by step.

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
from bitale._core import (
    CheckReport,
    InconsistencyError,
    RewriteReport,
    RewriteStep,
    Rule,
    RuleDescription,
)
from bitale.graph.rewriting import basic
from bitale.graph.rewriting.basic import FromFunctionNodeRewriter
from bitale.graph.rewriting.utils import rewrite_graph
from bitale.tensor.rewriting.basic import (
    register_canonicalize,
    register_specialize,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
)

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
    "register_uncanonicalize",
    "register_useless",
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
    no_signed_zeros: bool = False,
    more_accurate: bool = False,
    differs_at: Sequence[float] = (),
    register: bool = True,
    overwrite_existing: bool = False,
) -> Rule:
    """Make a rewrite rule from an equation between two expressions.

    Wherever the left expression is found, it is replaced by the right one. The variables match any
    expression.

    Parameters
    ----------
    name : str
        Name of the rule.
    left : TensorVariable
        Expression to find.
    right : TensorVariable
        Expression that replaces it.
    tags : sequence of str
        Phases to which the rule belongs (canonicalize, stabilize, specialize,
        ...), and other tags for queries.
    assume : sequence of TensorVariable
        Conditions, such as ``x > 0``, under which both sides are equal. The rule is applied only
        where the graph proves that they hold: for constants, and from the bounds of functions. With
        "unsafe" among its tags it is applied without proof, if a mode or query includes "unsafe" or
        the rule by name.
    doc : str
        Description.
    on : str
        Dtypes of the variables: floats, integers, signed_ints, numbers, bools
        or any.
    wider_domain : bool
        The right side may be finite where the left is not.
    no_signed_zeros : bool
        The sides may differ in the sign of zero.
    more_accurate : bool
        The right side may be more accurate than the left.
    differs_at : sequence of float
        Special values of the first variable at which the sides may differ.
    register : bool
        Add the rule to those applied during compilation.
    overwrite_existing : bool
        Replace a rule of this name.

    Returns
    -------
    Rule
        The rule.

    See Also
    --------
    check, node_rewriter
    """
    left, right = _core.as_tensor_variable(left), _core.as_tensor_variable(right)
    rule = _core.equation_rule(
        name,
        left,
        right,
        list(tags),
        list(assume),
        doc,
        on,
        wider_domain,
        no_signed_zeros,
        more_accurate,
        list(differs_at),
    )
    if register:
        rule._register([], overwrite_existing)
    return rule


def node_rewriter(
    tracks: Sequence[Any] | None = None,
    inplace: bool = False,
    requirements: Sequence[Any] = (),
    *,
    name: str | None = None,
    tags: Sequence[str] = (),
    samples: Sequence[Any] = (),
    overwrite_existing: bool = False,
) -> Callable[[Callable[..., Any]], FromFunctionNodeRewriter]:
    """Make a rewrite rule from a function of a node.

    The function takes (fgraph, node) and returns False, a variable, or a list or
    dict of replacements.

    Parameters
    ----------
    tracks : sequence of op or str, optional
        Ops on which the rule is tried: functions such as ``pt.add``, ops,
        classes of ops, or names of ops; by default all.
    inplace : bool
        Whether it introduces ops that overwrite inputs: a DestroyHandler is then attached to the graph.
    requirements : sequence
        Classes of features, or functions of a FunctionGraph, that prepare it.
    name : str, optional
        Name of the rule; by default that of the function.
    tags : sequence of str
        Tags; if they include a phase, the rule is registered immediately.
    samples : sequence of TensorVariable
        Expressions to which the rule applies, for `check`.
    overwrite_existing : bool
        Replace a rule of this name.

    Returns
    -------
    callable
        A decorator that returns the rule.

    Raises
    ------
    ValueError
        For an unknown op name, with a suggestion.

    See Also
    --------
    equation, register
    """
    make = basic.node_rewriter(tracks, inplace, requirements)

    def decorate(function: Callable[..., Any]) -> FromFunctionNodeRewriter:
        rule = make(function)
        rule.name = name or rule.__name__
        rule.tags, rule.samples = list(tags), list(samples)
        if tags:
            register(rule, overwrite_existing=overwrite_existing)
        return rule

    return decorate


_REGISTRARS = {
    "useless": register_useless,
    "canonicalize": register_canonicalize,
    "stabilize": register_stabilize,
    "specialize": register_specialize,
    "uncanonicalize": register_uncanonicalize,
}


def register(rule: Any, *tags: str, overwrite_existing: bool = False) -> Any:
    """Add a rule to those applied during compilation.

    Parameters
    ----------
    rule : Rule or NodeRewriter
        Rule.
    *tags : str
        Further tags; these or those of the rule must include a phase.
    overwrite_existing : bool
        Replace a rule of this name.

    Returns
    -------
    Rule or NodeRewriter
        The rule.

    See Also
    --------
    node_rewriter, equation
    """
    if isinstance(rule, Rule):
        rule._register(list(tags), overwrite_existing)
        return rule
    every = (*rule.tags, *tags)
    phases = [phase for phase in _REGISTRARS if phase in every]
    if not phases:
        raise ValueError(
            f"register: the rule {rule.name!r} belongs to no phase: tag it with {', '.join(_REGISTRARS)}"
        )
    for phase in phases:
        _REGISTRARS[phase](
            rule,
            *(tag for tag in every if tag not in _REGISTRARS),
            overwrite_existing=overwrite_existing,
        )
    return rule


def check(rule: Any, *, on_failure: str = "raise") -> CheckReport:
    """Check a rule for many dtypes, shapes and points.

    Both sides of an equation, or the samples of a function before and after, are compared where the
    assumptions of the rule hold. Arithmetic with 450 digits decides whether they differ, and
    whether a rule is more accurate.

    Parameters
    ----------
    rule : Rule, NodeRewriter or str
        Rule, or its name.
    on_failure : str
        'raise' an error, or 'return' the report.

    Returns
    -------
    CheckReport
        Report of the comparison.

    Raises
    ------
    InconsistencyError
        If the rule is wrong; the message says how.

    See Also
    --------
    equation, node_rewriter
    """
    if on_failure not in ("raise", "return"):
        raise ValueError(f'check: on_failure must be "raise" or "return", not {on_failure!r}')
    report = _core.check_rule(rule) if isinstance(rule, str) else basic.rule_of(rule)._check()
    if not report.ok and on_failure == "raise":
        raise InconsistencyError(str(report))
    return report


def _tags(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


class Trace(list[Any]):
    """Steps of rewriting, in order: a list of RewriteStep.

    Parameters
    ----------
    iterable : iterable of RewriteStep
        The steps.
    """

    def text(self) -> str:
        """The steps, and the whole expression after each."""
        return _core.steps_text(self)

    def html(self, path: Any = None) -> str:
        """A self-contained page, written to the path if one is given: one picture per step, with the changes
        marked, and buttons and arrow keys for the previous and the next step."""
        page = _core.steps_html(self)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    __str__ = text


def trace(
    expression: Any, include: str | Iterable[str] = ("fast_run",), exclude: str | Iterable[str] = ()
) -> Trace:
    """Rewrite an expression step by step.

    Parameters
    ----------
    expression : TensorVariable or list of TensorVariable
        Expressions.
    include : str or iterable of str
        Tags and names of rules to apply.
    exclude : str or iterable of str
        Tags and names of rules to leave out.

    Returns
    -------
    Trace
        The steps, in order.

    See Also
    --------
    trace_text, rewrite_graph
    """
    return Trace(_core.trace_rewrite(expression, _tags(include), _tags(exclude)))


def trace_text(
    expression: Any, include: str | Iterable[str] = ("fast_run",), exclude: str | Iterable[str] = ()
) -> str:
    """Rewriting of an expression as text.

    Parameters
    ----------
    expression : TensorVariable or list of TensorVariable
        Expressions.
    include : str or iterable of str
        Tags and names of rules to apply.
    exclude : str or iterable of str
        Tags and names of rules to leave out.

    Returns
    -------
    str
        The steps, and the whole expression after each.

    See Also
    --------
    trace
    """
    return trace(expression, include, exclude).text()


def rules() -> list[RuleDescription]:
    """Describe all registered rules.

    Returns
    -------
    list of RuleDescription
        The rules.

    See Also
    --------
    describe
    """
    return _core.describe_rules()


def describe(*query: str) -> str:
    """Write the phases and rules that a query selects.

    Parameters
    ----------
    *query : str
        Tags and names, each with '+', '-' or '&' before it, as
        ``describe("+fast_run", "-cancelling", "&float")``.

    Returns
    -------
    str
        Text.

    See Also
    --------
    rules
    """
    return _core.describe_optdb(list(query or ("+fast_run",)))
