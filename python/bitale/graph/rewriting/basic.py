"""Rewriters: functions of a node, and functions of a whole graph, under PyTensor's names.

A node rewriter says what replaces the outputs of a node. Whatever goes over the nodes of a graph is the engine that applies
the library's own rules (docs/extending_rewriting.md): the classes of this module say in what order, and with which rewriters.

>>> from bitale.graph.rewriting.basic import in2out, node_rewriter
>>> @node_rewriter([pt.sqr])
... def square_as_product(fgraph, node):
...     x = node.inputs[0]
...     return [x * x]
>>> x = pt.dscalar("x")
>>> graph = bt.FunctionGraph([x], [pt.sqr(x) + 1])
>>> _ = in2out(square_as_product).rewrite(graph)
>>> print(bt.pprint(graph.outputs[0]))
x * x + 1
"""

from __future__ import annotations

import abc
import functools
import logging
import pdb
import sys
import time
import traceback
import types
import warnings
from collections import Counter, UserList, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from bitale import _core
from bitale._class_factory import Kind
from bitale._core import InconsistencyError, Rule
from bitale.configuration import config
from bitale.graph import features
from bitale.graph.basic import Apply, Constant, Variable
from bitale.graph.features import (
    AlreadyThere,
    ChangeTracker,
    CheckStackTraceFeature,
    DestroyHandler,
    Feature,
)
from bitale.graph.fg import FunctionGraph
from bitale.graph.op import Op
from bitale.graph.rewriting.unify import (
    Asterisk,
    OpPattern,
    PatternNode,
    PatternVar,
    convert_strs_to_vars,
    match_pattern,
    reify_pattern,
)
from bitale.graph.traversal import toposort, vars_between

__all__ = [
    "ChangeTracker",
    "CheckStackTraceFeature",
    "CheckStackTraceRewriter",
    "DispatchingFeature",
    "EquilibriumGraphRewriter",
    "FailureCallbackType",
    "FromFunctionGraphRewriter",
    "FromFunctionNodeRewriter",
    "GraphRewriter",
    "MergeFeature",
    "MergeOptimizer",
    "NodeProcessingGraphRewriter",
    "NodeRewriter",
    "OpToRewriterTracker",
    "PatternNodeRewriter",
    "RemovalNodeRewriter",
    "Rewriter",
    "SequentialGraphRewriter",
    "SequentialNodeRewriter",
    "SubstitutionNodeRewriter",
    "WalkingGraphRewriter",
    "check_stack_trace",
    "copy_stack_trace",
    "dfs_rewriter",
    "get_active_mode",
    "graph_rewriter",
    "in2out",
    "inplace_graph_rewriter",
    "merge_dict",
    "node_rewriter",
    "out2in",
    "pre_constant_merge",
    "pre_greedy_node_rewriter",
    "walking_rewriter",
]

_logger = logging.getLogger(__name__)

# failure_callback(exception, graph rewriter, pairs of variables and replacements, node rewriter, node)
FailureCallbackType = Callable[[Exception, Any, list[tuple[Any, Any]], Any, Any], None]


def _name_of(rewriter: Any) -> str:
    """How reports and errors call a rewriter."""
    for name in (getattr(rewriter, "name", None), getattr(rewriter, "__name__", None)):
        if isinstance(name, str):
            return name
    own_text = any("__str__" in vars(cls) for cls in type(rewriter).__mro__[:-1])
    return str(rewriter) if own_text else type(rewriter).__name__


class Rewriter:
    """Base of rewriters."""

    name: str | None = None

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach to a graph what the rewriter needs, such as features."""

    def print_summary(self, stream: Any = None, level: int = 0, depth: int = -1) -> None:
        """Print what the rewriter is, indented by `level`, and what it consists of to the depth given (-1: all of it)."""
        _write(stream, level, f"{type(self).__name__} {_name_of(self)}")


def _write(stream: Any, level: int, text: str) -> None:
    print(" " * level + text, file=sys.stdout if stream is None else stream)


def _summaries(rewriters: Iterable[Any], stream: Any, level: int, depth: int) -> None:
    if depth == 0:
        return
    for rewriter in rewriters:
        if isinstance(rewriter, Rule):
            _write(stream, level + 2, f"Rule {rewriter.name}")
        else:
            rewriter.print_summary(stream, level + 2, depth - 1)


class GraphRewriter(Rewriter, abc.ABC):
    """Base of rewriters of whole graphs: a subclass defines `apply`."""

    @abc.abstractmethod
    def apply(self, fgraph: FunctionGraph) -> Any:
        """Rewrite a graph; returns a profile, or None."""

    def rewrite(self, fgraph: FunctionGraph, *args: Any, **kwargs: Any) -> Any:
        """Attach the required features to a graph, and rewrite it."""
        self.add_requirements(fgraph)
        return self.apply(fgraph, *args, **kwargs)

    def __call__(self, fgraph: FunctionGraph) -> Any:
        return self.rewrite(fgraph)

    @classmethod
    def print_profile(cls, stream: Any, prof: Any, level: int = 0) -> None:
        """Print what `apply` has returned."""
        if prof is not None:
            raise NotImplementedError(
                f"{cls.__name__}: apply returns a profile, so print_profile is needed"
            )


class NodeRewriter(Rewriter, abc.ABC):
    """Base of rewriters of a node: a subclass defines `transform`, and may define `tracks`."""

    def tracks(self) -> Sequence[Any] | None:
        """Ops, classes of ops and OpPatterns on whose nodes the rewriter is tried; None for all nodes."""
        return None

    @abc.abstractmethod
    def transform(self, fgraph: FunctionGraph, node: Apply) -> Any:
        """Choose what to replace.

        Returns False or None for nothing; a list with a variable per output of the node, in which
        None keeps an output; or a dict from variables of the graph to what replaces them, in which
        "remove" lists variables whose nodes must then be gone.
        """


NodeRewriter.register(Rule)


# ---- the ops on which a rewriter is tried ----------------------------------------------------------------------------


def _name_of_op(tracked: Any) -> str:
    """How the engine calls the op that a name or a function of bitale.tensor stands for."""
    name = tracked if isinstance(tracked, str) else getattr(tracked, "__name__", None)
    if name is None:
        raise TypeError(
            "node_rewriter: expected ops, classes of ops, OpPatterns, functions of bitale.tensor or names of ops; "
            f"got {tracked!r}"
        )
    if not isinstance(tracked, str) and not _core.is_scalar_op(name):
        name = "".join(part.capitalize() for part in name.split("_"))
    _core.require_op_name(name)
    return str(name)


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _may_be_of(op: Op, cls: Any) -> bool:
    """Whether ops with the name of this one may be instances of a class."""
    if isinstance(cls, tuple) or hasattr(cls, "__args__"):
        return any(_may_be_of(op, each) for each in getattr(cls, "__args__", cls))
    if isinstance(cls, Kind) and "_holds" in vars(cls):  # told by the attributes of an op
        among = vars(cls).get("_among")
        return among is None or _core.op_name(op) in among
    # A class that was defined again has the name of the old one, which is all that tells ops apart here.
    return isinstance(op, cls) or _full_name(cls) in map(_full_name, type(op).__mro__)


class _Tracked:
    """The ops that `tracks` of a node rewriter lists."""

    def __init__(self, tracks: Sequence[Any]) -> None:
        self.tracks = list(tracks)
        self._ops = [each for each in tracks if isinstance(each, Op)]
        self._classes = tuple(each for each in tracks if isinstance(each, type))
        self._patterns = [each for each in tracks if isinstance(each, OpPattern)]
        known = (Op, type, OpPattern)
        self._names = {_name_of_op(each) for each in tracks if not isinstance(each, known)}

    def __contains__(self, op: Op) -> bool:
        return (
            isinstance(op, self._classes)
            or op in self._ops
            or (bool(self._names) and _core.op_name(op) in self._names)
            or any(pattern.match_op(op) for pattern in self._patterns)
        )

    def may_contain(self, op: Op) -> bool:
        """Whether it may contain ops with the name of this one."""
        name = _core.op_name(op)
        return (
            name in self._names
            or any(name == _core.op_name(each) for each in self._ops)
            or _may_be_of(op, self._classes)
            or any(_may_be_of(op, pattern.op_type) for pattern in self._patterns)
        )

    def __str__(self) -> str:
        return ", ".join(
            [
                *map(str, self._ops),
                *(each.__name__ for each in self._classes),
                *map(str, self._patterns),
                *sorted(self._names),
            ]
        )


def _transform_of(rewriter: Any) -> Callable[..., Any]:
    """The function to call where the op is known to be tracked."""
    is_plain = type(rewriter).__dict__.get("transform") is FromFunctionNodeRewriter.transform
    return rewriter.fn if is_plain else rewriter.transform  # type: ignore[no-any-return]


def rule_of(rewriter: Any, name: str | None = None) -> Rule:
    """The rule that the engine tries instead of a node rewriter: it is looked up by ops, and makes all changes or none.

    Parameters
    ----------
    rewriter : NodeRewriter
        Node rewriter.
    name : str, optional
        Name of the rule; by default that of the rewriter.

    Returns
    -------
    Rule
        Rule.
    """
    if isinstance(rewriter, Rule):
        return rewriter
    tracks, function = rewriter.tracks(), _transform_of(rewriter)
    may_match = None
    if tracks is not None:
        tracked = _Tracked(tracks)
        may_match, inner = (str(tracked), tracked.may_contain), function

        def function(fgraph: Any, node: Any) -> Any:
            return node.op in tracked and inner(fgraph, node)

    needs_nothing = type(rewriter).add_requirements is Rewriter.add_requirements or (
        getattr(rewriter, "requirements", None) == ()
    )
    return _core.function_rule(
        name or _name_of(rewriter),
        rewriter,
        function,
        may_match,
        None if needs_nothing else rewriter.add_requirements,
        list(getattr(rewriter, "tags", ())),
        getattr(rewriter, "doc", None) or type(rewriter).__doc__ or "",
        list(getattr(rewriter, "samples", ())),
    )


# ---- rewriters made of functions -------------------------------------------------------------------------------------


def _add_required(requirements: Iterable[Any], fgraph: FunctionGraph) -> None:
    for each in requirements:
        if isinstance(each, type) and issubclass(each, Feature):
            try:
                fgraph.attach_feature(each())
            except AlreadyThere:
                pass
        else:
            each(fgraph)


class FromFunctionGraphRewriter(GraphRewriter):
    """A graph rewriter that calls a function.

    Parameters
    ----------
    fn : callable
        Function of a FunctionGraph.
    requirements : sequence
        Classes of features, or functions of a FunctionGraph, that prepare it.
    """

    def __init__(self, fn: Callable[..., Any], requirements: Sequence[Any] = ()) -> None:
        self.fn = fn
        self.requirements = tuple(requirements)
        self.__name__ = getattr(fn, "__name__", type(self).__name__)

    def apply(self, fgraph: FunctionGraph, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.fn(fgraph, *args, **kwargs)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the requirements."""
        _add_required(self.requirements, fgraph)

    def __str__(self) -> str:
        return self.__name__

    __repr__ = __str__

    @classmethod
    def print_profile(cls, stream: Any, prof: Any, level: int = 0) -> None:
        """Print what the function has returned."""
        if prof is not None:
            _write(stream, 4 * level, f"{cls.__name__} {prof}")


def graph_rewriter(f: Callable[..., Any]) -> FromFunctionGraphRewriter:
    """Make a graph rewriter from a function of a FunctionGraph; a decorator.

    Parameters
    ----------
    f : callable
        Function.

    Returns
    -------
    FromFunctionGraphRewriter
        Rewriter.
    """
    if not callable(f):
        raise TypeError(f"graph_rewriter: expected a function of a FunctionGraph, got {f!r}")
    return FromFunctionGraphRewriter(f)


def inplace_graph_rewriter(f: Callable[..., Any]) -> FromFunctionGraphRewriter:
    """Make a graph rewriter from a function that introduces ops which overwrite inputs; a decorator.

    Parameters
    ----------
    f : callable
        Function.

    Returns
    -------
    FromFunctionGraphRewriter
        Rewriter, which attaches a DestroyHandler to graphs.
    """
    return FromFunctionGraphRewriter(f, (DestroyHandler,))


class FromFunctionNodeRewriter(NodeRewriter):
    """A node rewriter that calls a function.

    Parameters
    ----------
    fn : callable
        Function of a FunctionGraph and a node.
    tracks : sequence, optional
        Ops, classes of ops, OpPatterns, functions or names on which it is
        tried; None for all.
    requirements : sequence
        Classes of features, or functions of a FunctionGraph, that prepare it.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        tracks: Sequence[Any] | None = None,
        requirements: Sequence[Any] = (),
    ) -> None:
        if tracks is not None and not isinstance(tracks, (list, tuple)):
            raise TypeError(f"node_rewriter: expected a list of ops, got {tracks!r}")
        if tracks is not None and not tracks:
            raise ValueError("node_rewriter: tracks is empty; None stands for all ops")
        self.fn = fn
        self._tracks = tracks
        self._tracked = None if tracks is None else _Tracked(tracks)
        self.requirements = tuple(requirements)
        self.__name__ = getattr(fn, "__name__", type(self).__name__)
        self.doc = getattr(fn, "__doc__", None) or ""
        self.tags: list[str] = []
        self.samples: list[Any] = []

    def tracks(self) -> Sequence[Any] | None:
        """What it is tried on."""
        return self._tracks

    def transform(self, fgraph: FunctionGraph, node: Apply, enforce_tracks: bool = True) -> Any:
        """Call the function, on nodes that it tracks."""
        if enforce_tracks and self._tracked is not None and node.op not in self._tracked:
            return False
        return self.fn(fgraph, node)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the requirements."""
        _add_required(self.requirements, fgraph)

    def __str__(self) -> str:
        return _name_of(self)

    def __repr__(self) -> str:
        return f"FromFunctionNodeRewriter({_name_of(self)}, {self._tracked or 'all ops'})"


def node_rewriter(
    tracks: Sequence[Any] | None, inplace: bool = False, requirements: Sequence[Any] | None = ()
) -> Callable[[Callable[..., Any]], FromFunctionNodeRewriter]:
    """Make a node rewriter from a function; a decorator with arguments.

    The function takes (fgraph, node) and returns False, or a list or dict of
    replacements, as `NodeRewriter.transform` does.

    Parameters
    ----------
    tracks : sequence or None
        Ops, classes of ops, OpPatterns, functions such as ``pt.add``, or names
        of ops, on whose nodes it is tried; None for all nodes.
    inplace : bool
        Whether it introduces ops that overwrite inputs: a DestroyHandler is then attached to the graph.
    requirements : sequence, optional
        Classes of features, or functions of a FunctionGraph, that prepare it.

    Returns
    -------
    callable
        A decorator.
    """
    needed = (*(requirements or ()), *([DestroyHandler] if inplace else []))
    return functools.partial(FromFunctionNodeRewriter, tracks=tracks, requirements=needed)


# ---- several node rewriters ------------------------------------------------------------------------------------------


class OpToRewriterTracker:
    """Finds the node rewriters that are to be tried on an op."""

    def __init__(self) -> None:
        self.tracked_instances: dict[Any, list[Any]] = defaultdict(list)
        self.tracked_types: dict[type, list[Any]] = defaultdict(list)
        self.tracked_patterns: dict[OpPattern, list[Any]] = defaultdict(list)
        self.untracked_rewrites: list[Any] = []

    def add_tracker(self, rw: Any) -> None:
        """Add a node rewriter."""
        tracks = rw.tracks()
        if tracks is None:
            self.untracked_rewrites.append(rw)
        for each in tracks or ():
            if isinstance(each, OpPattern):
                self.tracked_patterns[each].append(rw)
            elif isinstance(each, type):
                self.tracked_types[each].append(rw)
            else:
                self.tracked_instances[each if isinstance(each, Op) else _name_of_op(each)].append(
                    rw
                )

    def get_trackers(self, op: Op) -> list[Any]:
        """The rewriters to try on an op: those of its class before those of its bases, then those of the op, then others."""
        bases = type(op).__mro__
        places = {cls: place for place, cls in enumerate(bases)}
        found = sorted(
            (cls for cls in self.tracked_types if isinstance(op, cls)),
            key=lambda cls: places.get(cls, len(bases)),
        )
        out = [each for cls in found for each in self.tracked_types[cls]]
        for pattern, rewriters in self.tracked_patterns.items():
            out += rewriters if pattern.match_op(op) else []
        out += self.tracked_instances.get(op, [])
        out += self.tracked_instances.get(_core.op_name(op), [])
        return [*dict.fromkeys(out), *self.untracked_rewrites]

    def get_rewriters(self) -> Iterator[Any]:
        """All rewriters."""
        tables = (self.tracked_types, self.tracked_instances, self.tracked_patterns)
        every = [each for table in tables for group in table.values() for each in group]
        yield from dict.fromkeys([*every, *self.untracked_rewrites])


class SequentialNodeRewriter(NodeRewriter):
    """Tries several node rewriters on a node, in order.

    Parameters
    ----------
    *rewriters : NodeRewriter
        Node rewriters.
    apply_all_rewrites : bool
        Continue with the result of the first that applies, until none applies.
    profile : bool
        Count and measure.
    """

    def __init__(
        self, *rewriters: Any, apply_all_rewrites: bool = False, profile: bool = False
    ) -> None:
        self.rewrites = rewriters
        self.apply_all_rewrites = apply_all_rewrites
        self.reentrant = any(getattr(each, "reentrant", True) for each in rewriters)
        self.profile = profile
        self.time_rewrites: dict[Any, float] = defaultdict(float)
        self.process_count: dict[Any, int] = Counter()
        self.applied_true: dict[Any, int] = Counter()
        self.tracker = OpToRewriterTracker()
        for each in rewriters:
            self.tracker.add_tracker(each)

    def tracks(self) -> Sequence[Any] | None:
        """What any of them is tried on."""
        every = [each.tracks() for each in self.rewrites]
        return None if None in every else [op for tracks in every for op in tracks]

    def _first_result(self, fgraph: FunctionGraph, node: Apply) -> Any:
        for rewriter in self.tracker.get_trackers(node.op):
            start = time.perf_counter()
            result = _transform_of(rewriter)(fgraph, node)
            if self.profile:
                self.time_rewrites[rewriter] += time.perf_counter() - start
                self.process_count[rewriter] += 1
                self.applied_true[rewriter] += bool(result)
            if result:
                return result
        return False

    def transform(self, fgraph: FunctionGraph, node: Apply, enforce_tracks: bool = False) -> Any:
        """The result of the first of them that applies."""
        result: Any = False
        while found := self._first_result(fgraph, node):
            result = found
            is_list = isinstance(result, (list, tuple))
            made = result[0].owner if is_list and isinstance(result[0], Variable) else None
            if not self.apply_all_rewrites or made is None or list(made.outputs) != list(result):
                break
            node = made
        return result

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what any of them needs."""
        for each in self.rewrites:
            each.add_requirements(fgraph)

    def print_summary(self, stream: Any = None, level: int = 0, depth: int = -1) -> None:
        """Print what they are."""
        super().print_summary(stream, level, depth)
        _summaries(self.rewrites, stream, level, depth)

    @classmethod
    def print_profile(cls, stream: Any, prof: Any, level: int = 0) -> None:
        """Print times, uses and tries of each."""
        times, tried, used = prof[:3]
        for each in sorted(times, key=times.get, reverse=True):
            _write(
                stream,
                4 * level,
                f"{times[each]:.6f} s, {used[each]} uses of {tried[each]} tries: {_name_of(each)}",
            )

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(_name_of, self.rewrites))})"


def _rules_of(rewriter: Any) -> list[Any]:
    """The node rewriters that a navigator tries one by one, so that reports and errors name each."""
    if isinstance(rewriter, SequentialNodeRewriter) and not rewriter.apply_all_rewrites:
        return [rule for each in rewriter.rewrites for rule in _rules_of(each)]
    return [rewriter]


class SubstitutionNodeRewriter(NodeRewriter):
    """Replaces an op by another one of the same inputs.

    Parameters
    ----------
    op1, op2 : Op
        Op, or function that stands for one, to replace, and its replacement.
    transfer_tags : bool
        Give the outputs the tags of those that they replace. (They always get the names.)
    """

    def __init__(self, op1: Any, op2: Any, transfer_tags: bool = True) -> None:
        self.op1, self.op2, self.transfer_tags = op1, op2, transfer_tags

    def tracks(self) -> Sequence[Any]:
        """The op to replace."""
        return [self.op1]

    def transform(self, fgraph: FunctionGraph, node: Apply, enforce_tracks: bool = False) -> Any:
        """The other op's outputs."""
        if not node.op == self.op1:
            return False
        made = self.op2(*node.inputs)
        results = list(made) if isinstance(made, (list, tuple)) else [made]
        if self.transfer_tags:
            for before, after in zip(node.outputs, results):
                _core.tag_notes(after).update(_core.tag_notes(before))
        return results

    def __str__(self) -> str:
        return f"{_text_of_op(self.op1)} -> {_text_of_op(self.op2)}"


class RemovalNodeRewriter(NodeRewriter):
    """Replaces the outputs of an op by its inputs, of which there are as many.

    Parameters
    ----------
    op : Op
        Op, or function that stands for one.
    """

    def __init__(self, op: Any) -> None:
        self.op = op

    def tracks(self) -> Sequence[Any]:
        """The op to remove."""
        return [self.op]

    def transform(self, fgraph: FunctionGraph, node: Apply, enforce_tracks: bool = False) -> Any:
        """The inputs."""
        return list(node.inputs) if node.op == self.op else False

    def __str__(self) -> str:
        return f"{_text_of_op(self.op)}(x) -> x"


def _text_of_op(op: Any) -> str:
    return str(op) if isinstance(op, (Op, OpPattern)) else str(getattr(op, "__name__", op))


def _text_of_pattern(pattern: Any) -> str:
    if isinstance(pattern, PatternNode):
        inputs = ", ".join(map(_text_of_pattern, pattern.inputs))
        return f"{_text_of_op(pattern.op_match)}({inputs})"
    if isinstance(pattern, Asterisk):
        return f"*{pattern.token}"
    if isinstance(pattern, PatternVar):
        return pattern.token
    if isinstance(pattern, Constant):
        return str(pattern.data)
    return str(getattr(pattern, "__name__", pattern))


class PatternNodeRewriter(NodeRewriter):
    """Replaces matches of a pattern with what another pattern, or a function, makes of them.

    A pattern is a tuple of an op, or OpPattern, and of patterns of its inputs: a string is a
    variable, a dict ``{"pattern": "x", "constraint": condition}`` a variable with a condition; a
    number or constant stands for itself. Inputs of commutative ops match in every order.

    Parameters
    ----------
    in_pattern : tuple
        Pattern to find.
    out_pattern : tuple, str or callable
        Pattern of the replacement; or a function of (fgraph, node, what
        variables stand for), which returns a variable, or False.
    allow_multiple_clients : bool
        Replace also where a node inside the pattern is used elsewhere.
    name : str, optional
        Name of the rewriter.
    tracks : sequence
        Ops to be tried on, instead of the first one of the pattern; with
        `get_nodes`.
    get_nodes : callable, optional
        Function of (fgraph, node), for a tracked node, which returns the nodes to compare with the pattern.
    values_eq_approx : callable, optional
        Whether values before and after count as equal; a tag of the result.
    allow_cast : bool
        Convert the result to the dtype of what it replaces.

    Examples
    --------
    >>> from bitale.graph.rewriting.basic import PatternNodeRewriter, in2out
    >>> quotient = PatternNodeRewriter((pt.true_div, (pt.mul, "x", "y"), "y"), "x")
    >>> a, b = pt.dscalars("a", "b")
    >>> graph = bt.FunctionGraph([a, b], [b * a / b])
    >>> _ = in2out(quotient).rewrite(graph)
    >>> graph.outputs[0]
    a
    """

    def __init__(
        self,
        in_pattern: tuple[Any, ...],
        out_pattern: Any,
        allow_multiple_clients: bool = False,
        name: str | None = None,
        tracks: Sequence[Any] = (),
        get_nodes: Callable[..., Any] | None = None,
        values_eq_approx: Callable[..., Any] | None = None,
        allow_cast: bool = True,
    ) -> None:
        variables: dict[str, Any] = {}
        self.in_pattern = convert_strs_to_vars(in_pattern, variables)
        if not isinstance(self.in_pattern, PatternNode):
            raise TypeError(
                f"PatternNodeRewriter: expected a tuple of an op and its inputs, got {in_pattern!r}"
            )
        is_function = callable(out_pattern) and not isinstance(out_pattern, (Op, OpPattern))
        self.out_pattern = (
            out_pattern if is_function else convert_strs_to_vars(out_pattern, variables)
        )
        if tracks and get_nodes is None:
            raise ValueError("PatternNodeRewriter: tracks is given without get_nodes")
        head = self.in_pattern.op_match
        self._tracks = list(tracks) or [head]
        self.get_nodes = get_nodes
        self.allow_multiple_clients = allow_multiple_clients
        self.values_eq_approx = values_eq_approx
        self.allow_cast = allow_cast
        if name:
            self.__name__ = name

    def tracks(self) -> Sequence[Any]:
        """The ops it is tried on."""
        return self._tracks

    def transform(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        enforce_tracks: bool = False,
        get_nodes: bool = True,
    ) -> Any:
        """What replaces a node that matches."""
        if get_nodes and self.get_nodes is not None:
            for other in self.get_nodes(fgraph, node):
                if other and (result := self.transform(fgraph, other, get_nodes=False)):
                    return dict(zip(other.outputs, result))
            return False
        found = match_pattern(self.in_pattern, node) if len(node.outputs) == 1 else None
        if found is None or not (self.allow_multiple_clients or _is_used_once(fgraph, node, found)):
            return False
        if callable(self.out_pattern):
            result = self.out_pattern(fgraph, node, {each.token: found[each] for each in found})
        else:
            result = reify_pattern(self.out_pattern, found)
        if result is None or result is False:
            return False
        if not isinstance(result, Variable):
            raise ValueError(
                f"PatternNodeRewriter: expected a variable, or False, of {self.out_pattern!r}; got {result!r}"
            )
        if self.values_eq_approx is not None:
            result.tag.values_eq_approx = self.values_eq_approx
        return self._fitting(result, node.outputs[0])

    def _fitting(self, result: Any, before: Any) -> Any:
        if before.type.is_super(result.type):
            return [result]
        if not self.allow_cast or not all(hasattr(each, "dtype") for each in (result, before)):
            return False
        result = result.astype(before.dtype)
        return [result] if before.type.is_super(result.type) else False

    def __str__(self) -> str:
        written = f"{_text_of_pattern(self.in_pattern)} -> {_text_of_pattern(self.out_pattern)}"
        return str(getattr(self, "__name__", written))

    __repr__ = __str__


def _is_used_once(fgraph: Any, node: Apply, found: dict[Any, Any]) -> bool:
    """Whether what is between a node and the variables of a match is used nowhere else."""
    leaves: set[Any] = set()
    for value in found.values():
        leaves.update(value if isinstance(value, tuple) else [value])
    between = vars_between([each for each in leaves if isinstance(each, Variable)], node.inputs)
    return all(each in leaves or len(fgraph.get_clients(each)) <= 1 for each in between)


# ---- what goes over the nodes of a graph -------------------------------------------------------------------------------


class DispatchingFeature(features.DispatchingFeature):
    """Calls functions for nodes that come in or leave, and for inputs that change.

    Parameters
    ----------
    importer, pruner : callable or None
        Functions of a node.
    chin : callable or None
        Function of (node, index, variable, new variable, reason).
    name : str, optional
        Name of the feature.
    """

    def __init__(self, importer: Any, pruner: Any, chin: Any, name: str | None = None) -> None:
        super().__init__(
            on_import=importer and (lambda fgraph, node, reason: importer(node)),
            on_prune=pruner and (lambda fgraph, node, reason: pruner(node)),
            on_change_input=chin and (lambda fgraph, *change: chin(*change)),
        )
        self.name = name


class NodeProcessingGraphRewriter(GraphRewriter):
    """Base of graph rewriters that try node rewriters on nodes.

    Parameters
    ----------
    node_rewriter : NodeRewriter or None
        Node rewriter.
    ignore_newtrees : bool or 'auto'
        Skip the nodes that it creates; 'auto' reads its attribute `reentrant`.
    failure_callback : callable, optional
        Called with (exception, graph rewriter, pairs of variables and
        replacements, node rewriter, node) when it raises, or when the graph
        refuses its replacement; by default the exception is raised.
    """

    def __init__(
        self,
        node_rewriter: Any,
        ignore_newtrees: Any,
        failure_callback: FailureCallbackType | None = None,
    ) -> None:
        self.node_rewriter = node_rewriter
        if ignore_newtrees == "auto":
            ignore_newtrees = not getattr(node_rewriter, "reentrant", True)
        self.ignore_newtrees = bool(ignore_newtrees)
        self.failure_callback = failure_callback
        self._stages: dict[Any, Any] = {}

    @classmethod
    def warn(cls, exc: Exception, nav: Any, repl_pairs: Any, node_rewriter: Any, node: Any) -> None:
        """A failure callback that does what config.on_opt_error says."""
        if isinstance(exc, AssertionError) or config.on_opt_error == "raise":
            raise exc
        if config.on_opt_error == "ignore":
            return
        _logger.error("rewriter %s failed on %s", _name_of(node_rewriter), node)
        _logger.error("".join(traceback.format_exception(exc)))
        if config.on_opt_error == "pdb":
            pdb.post_mortem(exc.__traceback__)

    @classmethod
    def warn_inplace(
        cls, exc: Exception, nav: Any, repl_pairs: Any, node_rewriter: Any, node: Any
    ) -> None:
        """A failure callback that ignores refusals by the graph, and otherwise does as `warn`."""
        if not isinstance(exc, InconsistencyError):
            cls.warn(exc, nav, repl_pairs, node_rewriter, node)

    @classmethod
    def warn_ignore(
        cls, exc: Exception, nav: Any, repl_pairs: Any, node_rewriter: Any, node: Any
    ) -> None:
        """A failure callback that does nothing."""

    def _on_failure(self, raise_again: Any, rewriter: Any, node: Any, pairs: Any) -> None:
        try:
            raise_again()
        except Exception as error:
            if self.failure_callback is None:
                raise
            tried = [(each, None) for each in node.outputs] if pairs is None else pairs
            self.failure_callback(error, self, tried, rewriter, node)

    def _stage(self, *rewriters: Any, **how: Any) -> Any:
        """Rewriters as the engine takes them."""
        if rewriters not in self._stages:
            rules = [rule_of(each) for rewriter in rewriters for each in _rules_of(rewriter)]
            self._stages[rewriters] = _core.rewrite_stage(_name_of(self), rules, **how)
        return self._stages[rewriters]

    def process_node(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        node_rewriter: Any = None,
        enforce_tracks: bool = True,
    ) -> bool:
        """Try a node rewriter on a node. Whether the graph has changed."""
        return bool(
            self._stage(node_rewriter or self.node_rewriter).at(fgraph, node, self._on_failure)
        )

    def attach_updater(
        self,
        fgraph: FunctionGraph,
        importer: Any,
        pruner: Any,
        chin: Any = None,
        name: str | None = None,
    ) -> DispatchingFeature | None:
        """Have functions called when nodes come in (unless new ones are ignored) or leave, or inputs change."""
        importer = None if self.ignore_newtrees else importer
        if importer is None and pruner is None:
            return None
        feature = DispatchingFeature(importer, pruner, chin, name)
        fgraph.attach_feature(feature)
        return feature

    def detach_updater(self, fgraph: FunctionGraph, updater: Any) -> None:
        """Undo `attach_updater`, whose result is given."""
        if updater is not None:
            fgraph.remove_feature(updater)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what the node rewriter needs."""
        if self.node_rewriter is not None:
            self.node_rewriter.add_requirements(fgraph)

    def print_summary(self, stream: Any = None, level: int = 0, depth: int = -1) -> None:
        """Print what it tries."""
        super().print_summary(stream, level, depth)
        _summaries([self.node_rewriter], stream, level, depth)


class WalkingGraphRewriter(NodeProcessingGraphRewriter):
    """Tries a node rewriter on each node, once, in an order.

    Parameters
    ----------
    node_rewriter : NodeRewriter
        Node rewriter.
    order : {'in_to_out', 'out_to_in', 'dfs'}
        Inputs first, outputs first, or in order of a search from the outputs.
    ignore_newtrees : bool or 'auto'
        Skip the nodes that it creates. failure_callback : callable, optional
        As for NodeProcessingGraphRewriter.
    """

    def __init__(
        self,
        node_rewriter: Any,
        order: str = "in_to_out",
        ignore_newtrees: Any = False,
        failure_callback: FailureCallbackType | None = None,
    ) -> None:
        if order not in ("in_to_out", "out_to_in", "dfs"):
            raise ValueError(
                f"WalkingGraphRewriter: order is 'in_to_out', 'out_to_in' or 'dfs', not {order!r}"
            )
        self.order = order
        super().__init__(node_rewriter, ignore_newtrees, failure_callback)

    def apply(self, fgraph: FunctionGraph, start_from: Any = None) -> Any:
        """Walk over the graph, or over what the variables `start_from` are computed from."""
        start = time.perf_counter()
        nodes = None if start_from is None else toposort(start_from)
        stage = self._stage(
            self.node_rewriter, order=self.order, visits_new_nodes=not self.ignore_newtrees
        )
        report = stage.apply(fgraph, self._on_failure, nodes)
        return (
            self,
            sum(report.uses.values()),
            report.nodes_before,
            report.nodes_after,
            time.perf_counter() - start - report.seconds,
            report.seconds,
            0.0,
            self.node_rewriter,
        )

    @classmethod
    def print_profile(cls, stream: Any, prof: Any, level: int = 0) -> None:
        """Print what `apply` has returned."""
        rewriter, changes, before, after, _, seconds = prof[:6]
        _write(
            stream,
            4 * level,
            f"{cls.__name__} {_name_of(rewriter)}: {seconds:.6f} s, {changes} changes, {before} -> {after} nodes",
        )

    def __str__(self) -> str:
        return f"{type(self).__name__}({_name_of(self.node_rewriter)}, {self.order})"


def walking_rewriter(
    order: str,
    *node_rewriters: Any,
    name: str | None = None,
    failure_callback: FailureCallbackType | None = WalkingGraphRewriter.warn_inplace,
    **kwargs: Any,
) -> WalkingGraphRewriter:
    """Make a graph rewriter that tries node rewriters on each node, once.

    Parameters
    ----------
    order : {'in_to_out', 'out_to_in', 'dfs'}
        Order of the nodes.
    *node_rewriters : NodeRewriter
        Node rewriters.
    name : str, optional
        Name; by default that of the only node rewriter.
    failure_callback : callable, optional
        What is called when one fails.
    **kwargs : object
        Further arguments of WalkingGraphRewriter.

    Returns
    -------
    WalkingGraphRewriter
        Rewriter.
    """
    if not node_rewriters:
        raise ValueError("expected one node rewriter or more")
    only = (
        node_rewriters[0] if len(node_rewriters) == 1 else SequentialNodeRewriter(*node_rewriters)
    )
    out = WalkingGraphRewriter(only, order, failure_callback=failure_callback, **kwargs)
    out.__name__ = name or _name_of(only)  # type: ignore[attr-defined]
    return out


in2out = functools.partial(walking_rewriter, "in_to_out")
out2in = functools.partial(walking_rewriter, "out_to_in")
dfs_rewriter = functools.partial(walking_rewriter, "dfs")


def _passes(rewriters: Iterable[Any]) -> list[tuple[str, Any]]:
    return [(_name_of(each), each) for each in rewriters]


class EquilibriumGraphRewriter(NodeProcessingGraphRewriter):
    """Applies rewriters until nothing changes.

    Parameters
    ----------
    rewriters : sequence of NodeRewriter or GraphRewriter
        Node rewriters, which are tried on all nodes, and on those that change;
        and graph rewriters, which run before them in every round.
    failure_callback : callable, optional
        As for NodeProcessingGraphRewriter.
    ignore_newtrees : bool
        Accepted: new nodes are always visited, at once.
    tracks_on_change_inputs : bool
        Accepted: nodes whose inputs change are always visited again.
    max_use_ratio : float, optional
        Number of uses per node of the graph after which a rewriter counts as looping and is
        stopped; by default config.optdb__max_use_ratio.
    final_rewriters, cleanup_rewriters : sequence of GraphRewriter, optional
        Rewriters that run after the node rewriters in every round.
    """

    def __init__(
        self,
        rewriters: Sequence[Any],
        failure_callback: FailureCallbackType | None = None,
        ignore_newtrees: bool = True,
        tracks_on_change_inputs: bool = False,
        max_use_ratio: float | None = None,
        final_rewriters: Sequence[Any] | None = None,
        cleanup_rewriters: Sequence[Any] | None = None,
    ) -> None:
        for each in rewriters:
            if not (isinstance(each, Rewriter) or callable(each) or hasattr(each, "name")):
                raise TypeError(f"EquilibriumGraphRewriter: expected rewriters, got {each!r}")
        super().__init__(None, ignore_newtrees, failure_callback)
        self.tracks_on_change_inputs = tracks_on_change_inputs
        self.max_use_ratio = max_use_ratio
        self._node_rewriters = [each for each in rewriters if isinstance(each, NodeRewriter)]
        self.global_rewriters = [each for each in rewriters if not isinstance(each, NodeRewriter)]
        self.final_rewriters = list(final_rewriters or ())
        self.cleanup_rewriters = list(cleanup_rewriters or ())

    @classmethod
    def _of_stage(cls, stage: Any) -> EquilibriumGraphRewriter:
        """What a phase of optdb does."""
        first, last = ([function for _, function in part] for part in (stage.first, stage.last))
        out = cls([*stage.rules, *first], final_rewriters=last)
        out.name = stage.name
        out._stages[None] = stage
        return out

    def get_node_rewriters(self) -> Iterator[Any]:
        """The node rewriters."""
        yield from self._node_rewriters

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what the graph rewriters need; node rewriters attach it when the engine begins with them."""
        for each in (*self.global_rewriters, *self.final_rewriters, *self.cleanup_rewriters):
            each.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph, start_from: Any = None) -> Any:
        """Apply the rewriters until nothing changes."""
        if start_from is not None and list(start_from) != list(fgraph.outputs):
            raise NotImplementedError(
                "EquilibriumGraphRewriter: start_from is not supported: it applies to whole graphs"
            )
        if None in self._stages:
            return self, [self._stages[None].apply(fgraph)]
        stage = self._stage(
            *self._node_rewriters,
            order="equilibrium",
            max_use_ratio=self.max_use_ratio,
            first=_passes(self.global_rewriters),
            last=_passes([*self.final_rewriters, *self.cleanup_rewriters]),
        )
        return self, [stage.apply(fgraph, self._on_failure)]

    @classmethod
    def print_profile(cls, stream: Any, prof: Any, level: int = 0) -> None:
        """Print what `apply` has returned."""
        _write(stream, 4 * level, f"{cls.__name__} {_name_of(prof[0])}")
        for report in prof[1]:
            for line in str(report).splitlines():
                _write(stream, 4 * level + 2, line)

    @staticmethod
    def merge_profile(prof1: Any, prof2: Any) -> Any:
        """Put two profiles together."""
        return prof1[0], [*prof1[1], *prof2[1]]

    def print_summary(self, stream: Any = None, level: int = 0, depth: int = -1) -> None:
        """Print what it tries."""
        Rewriter.print_summary(self, stream, level, depth)
        graph_rewriters = [*self.global_rewriters, *self.final_rewriters, *self.cleanup_rewriters]
        _summaries([*self._node_rewriters, *graph_rewriters], stream, level, depth)


class SequentialGraphRewriter(GraphRewriter, UserList):  # type: ignore[type-arg]
    """Applies graph rewriters one after the other; also a list of them.

    Parameters
    ----------
    *rewrites : GraphRewriter
        Rewriters, or one list of them.
    failure_callback : callable, optional
        Called with (exception, this rewriter, the rewriter that failed), after
        which the next one runs; by default the exception is raised.
    """

    def __init__(self, *rewrites: Any, failure_callback: Callable[..., Any] | None = None) -> None:
        if len(rewrites) == 1 and isinstance(rewrites[0], (list, tuple)):
            rewrites = tuple(rewrites[0])
        UserList.__init__(self, rewrites)
        self.failure_callback = failure_callback

    __hash__ = object.__hash__  # type: ignore[assignment]

    @classmethod
    def warn(cls, exc: Exception, self: Any, rewriter: Any) -> None:
        """A failure callback that does what config.on_opt_error says."""
        NodeProcessingGraphRewriter.warn(exc, self, None, rewriter, "the graph")

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Apply the rewriters in order."""
        before = len(fgraph)
        times: list[float] = []
        profiles: list[Any] = []
        sizes: list[tuple[int, int]] = []
        for rewriter in self.data:
            size, start, profile = len(fgraph), time.perf_counter(), None
            try:
                profile = rewriter.apply(fgraph)
            except Exception as error:
                if self.failure_callback is None or isinstance(error, AssertionError):
                    raise
                self.failure_callback(error, self, rewriter)
            times.append(time.perf_counter() - start)
            profiles.append(profile)
            sizes.append((size, len(fgraph)))
        return self, times, None, None, before, len(fgraph), profiles, [], sizes, {}

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what the rewriters need."""
        for each in self.data:
            each.add_requirements(fgraph)

    def print_summary(self, stream: Any = None, level: int = 0, depth: int = -1) -> None:
        """Print what the rewriters are."""
        Rewriter.print_summary(self, stream, level, depth)
        _summaries(self.data, stream, level, depth)

    @classmethod
    def print_profile(cls, stream: Any, prof: Any, level: int = 0) -> None:
        """Print what `apply` has returned: the rewriters by time."""
        rewriter, times, before, after = prof[0], prof[1], prof[4], prof[5]
        _write(
            stream,
            4 * level,
            f"{cls.__name__} {_name_of(rewriter)}: {sum(times):.6f} s, {before} -> {after} nodes",
        )
        for at in sorted(range(len(times)), key=times.__getitem__, reverse=True):
            each, profile, size = rewriter[at], prof[6][at], prof[8][at]
            text = f"{times[at]:.6f} s, {size[0]} -> {size[1]} nodes: {_name_of(each)} ({at})"
            _write(stream, 4 * level + 2, text)
            if profile is not None:
                each.print_profile(stream, profile, level + 1)

    @staticmethod
    def merge_profile(prof1: Any, prof2: Any) -> Any:
        """Put two profiles together: times of rewriters that are in both are added up."""
        rewriters = list(dict.fromkeys([*prof1[0], *prof2[0]]))
        merged = SequentialGraphRewriter(rewriters)
        times: list[float] = []
        profiles: list[Any] = []
        sizes: list[tuple[int, int]] = []
        for each in rewriters:
            found = [(prof, prof[0].index(each)) for prof in (prof1, prof2) if each in prof[0]]
            parts = [prof[6][at] for prof, at in found]
            merge = getattr(each, "merge_profile", None)
            times.append(sum(prof[1][at] for prof, at in found))
            known = [part for part in parts if part is not None]
            both = len(known) == 2 and merge is not None
            profiles.append(merge(*known) if both else (known[-1] if known else None))  # type: ignore[misc]
            sizes.append(
                (
                    sum(prof[8][at][0] for prof, at in found),
                    sum(prof[8][at][1] for prof, at in found),
                )
            )
        before, after = prof1[4] + prof2[4], prof1[5] + prof2[5]
        return merged, times, None, None, before, after, profiles, [], sizes, {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.data})"


# ---- merging ---------------------------------------------------------------------------------------------------------


class MergeFeature(Feature):
    """Accepted where PyTensor has it: equal nodes of a FunctionGraph are one node anyway."""


class MergeOptimizer(GraphRewriter):
    """Accepted where PyTensor has it: equal nodes of a FunctionGraph are one node anyway."""

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Nothing."""
        return 0, 0.0, None, None, {}, 0, 0

    @classmethod
    def print_profile(cls, stream: Any, prof: Any, level: int = 0) -> None:
        """Print that there is nothing to merge."""
        _write(stream, 4 * level, f"{cls.__name__}: equal nodes are one node")

    @staticmethod
    def merge_profile(prof1: Any, prof2: Any) -> Any:
        """Put two profiles together."""
        return prof1

    def __str__(self) -> str:
        return type(self).__name__


def pre_constant_merge(fgraph: FunctionGraph, variables: Any) -> list[Any]:
    """Return variables as they are: equal constants become one where they come into a graph.

    Parameters
    ----------
    fgraph : FunctionGraph
        Graph.
    variables : Variable or sequence of Variable
        Variables.

    Returns
    -------
    list of Variable
        The variables.
    """
    return [variables] if isinstance(variables, Variable) else list(variables)


def pre_greedy_node_rewriter(fgraph: FunctionGraph, rewrites: Sequence[Any], out: Any) -> Any:
    """Apply node rewriters to an expression attached to a graph, once on each of its nodes, inputs first.

    Parameters
    ----------
    fgraph : FunctionGraph
        Graph, whose nodes are not changed.
    rewrites : sequence of NodeRewriter
        Node rewriters.
    out : Variable
        Expression.

    Returns
    -------
    Variable
        Rewritten expression.
    """
    new: dict[Any, Any] = {}
    for node in toposort([out]):
        if node in fgraph:
            continue
        inputs = [new.get(each, each) for each in node.inputs]
        here = node if inputs == list(node.inputs) else node.clone_with_new_inputs(inputs)
        results = list(here.outputs)
        for rewriter in rewrites:
            found = rewriter.transform(fgraph, here)
            if isinstance(found, (list, tuple)):
                results = [b if a is None else a for a, b in zip(found, results)]
                owner = results[0].owner
                if owner is None or owner in fgraph or list(owner.outputs) != results:
                    break
                here = owner
        new.update(zip(node.outputs, results))
    return new.get(out, out)


# ---- lines -----------------------------------------------------------------------------------------------------------


def copy_stack_trace(from_var: Any, to_var: Any) -> Any:
    """Return `to_var`: nodes that a rewriter creates always inherit the lines of what they replace.

    Parameters
    ----------
    from_var : Variable or sequence of Variable
        What is replaced.
    to_var : Variable or sequence of Variable
        Replacements.

    Returns
    -------
    Variable or sequence of Variable
        The replacements.
    """
    return to_var


def check_stack_trace(
    f_or_fgraph: Any, ops_to_check: Any = "last", bug_print: str = "raise"
) -> bool:
    """Whether the lines of the program from which nodes come are known.

    Parameters
    ----------
    f_or_fgraph : Function or FunctionGraph
        Function or graph.
    ops_to_check : str, Op, type, sequence or callable
        Nodes to look at: 'last', those of the outputs; 'all'; those of an op or
        of ops, or of their classes; or those for which a function returns true.
    bug_print : {'raise', 'warn', 'ignore'}
        What to do if there are no such nodes.

    Returns
    -------
    bool
        Whether they are known for all of them.
    """
    if isinstance(f_or_fgraph, FunctionGraph):
        fgraph = f_or_fgraph
    elif isinstance(f_or_fgraph, _core.Function):
        fgraph = f_or_fgraph.maker.fgraph
    else:
        raise ValueError(f"check_stack_trace: expected a function or a graph, got {f_or_fgraph!r}")
    if bug_print not in ("raise", "warn", "ignore"):
        raise ValueError(
            f"check_stack_trace: bug_print is 'raise', 'warn' or 'ignore', not {bug_print!r}"
        )
    nodes = fgraph.toposort()
    if ops_to_check == "last":
        found = [each.owner for each in fgraph.outputs if each.owner is not None]
    elif ops_to_check == "all":
        found = nodes
    elif isinstance(ops_to_check, str):
        raise ValueError(f"check_stack_trace: expected 'last' or 'all', got {ops_to_check!r}")
    elif isinstance(ops_to_check, (types.FunctionType, types.MethodType, functools.partial)):
        found = [node for node in nodes if ops_to_check(node)]
    else:
        is_list = isinstance(ops_to_check, (list, tuple))
        tracked = _Tracked(ops_to_check if is_list else [ops_to_check])
        found = [node for node in nodes if node.op in tracked]
    if not found:
        text = "check_stack_trace: there are no such nodes in the graph"
        if bug_print == "raise":
            raise ValueError(text)
        if bug_print == "warn":
            warnings.warn(text, stacklevel=2)
    return all(output.where for node in found for output in node.outputs)


class CheckStackTraceRewriter(GraphRewriter):
    """Attaches a CheckStackTraceFeature, which refuses nodes that come from no known line."""

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the feature."""
        fgraph.attach_feature(CheckStackTraceFeature())

    def apply(self, fgraph: FunctionGraph) -> None:
        """Nothing."""


# ---- others ----------------------------------------------------------------------------------------------------------


def get_active_mode(fgraph: FunctionGraph) -> Any:
    """Return the mode of the configuration: a graph does not know for which mode it is rewritten.

    Parameters
    ----------
    fgraph : FunctionGraph
        Graph.

    Returns
    -------
    Mode
        Mode.
    """
    return _core.get_default_mode()


def merge_dict(d1: dict[Any, Any], d2: dict[Any, Any]) -> dict[Any, Any]:
    """Add up the values of two dicts.

    Parameters
    ----------
    d1, d2 : dict
        Dicts.

    Returns
    -------
    dict
        Sums, for each key of either.
    """
    return {**d1, **{key: d1[key] + value if key in d1 else value for key, value in d2.items()}}
