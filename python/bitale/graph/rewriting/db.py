"""Databases of rewriters, and queries, under PyTensor's names.

`optdb` is the database of all rewrites: the library's phases, passes and rules, and what programs register. The classes of
databases are for programs that keep some of their own, which may be parts of `optdb`.

>>> from bitale.graph.rewriting.db import optdb
>>> "log1p" in optdb["stabilize"], "canonicalize" in optdb
(True, True)
>>> x = pt.dscalar("x")
>>> graph = bt.FunctionGraph([x], [pt.log(1 + x)])
>>> _ = optdb.query("+fast_run", "-specialize").rewrite(graph)
>>> print(bt.pprint(graph.outputs[0]))
log1p(x)
"""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bitale import _core
from bitale._core import Rule
from bitale.configuration import config
from bitale.graph.fg import FunctionGraph
from bitale.graph.rewriting.basic import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    NodeProcessingGraphRewriter,
    NodeRewriter,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    WalkingGraphRewriter,
    rule_of,
)

__all__ = [
    "EquilibriumDB",
    "LocalGroupDB",
    "ProxyDB",
    "RewriteDatabase",
    "RewriteDatabaseQuery",
    "SequenceDB",
    "TopoDB",
    "optdb",
]


# ---- queries ---------------------------------------------------------------------------------------------------------


class RewriteDatabaseQuery:
    """Which rewrites to apply: those with any of the included tags, all of the required ones, and none of the excluded ones.

    Parameters
    ----------
    include : iterable of str
        Tags or names, one of which a rewrite must have.
    require : iterable of str, optional
        Tags, all of which it must have.
    exclude : iterable of str, optional
        Tags and names, none of which it may have.
    subquery : dict, optional
        Other queries for databases inside the database, by name.
    position_cutoff : float
        Rewrites at later positions are left out.
    extra_rewrites : sequence of pairs, optional
        Further rewrites, each with its position.
    """

    def __init__(
        self,
        include: Iterable[str | None] | None,
        require: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        subquery: Mapping[str, RewriteDatabaseQuery] | None = None,
        position_cutoff: float = math.inf,
        extra_rewrites: Sequence[tuple[Any, float]] | None = None,
    ) -> None:
        self.include = tuple(dict.fromkeys(each for each in include or () if each is not None))
        self.require = tuple(dict.fromkeys(require or ()))
        self.exclude = tuple(dict.fromkeys(exclude or ()))
        self.subquery = dict(subquery or {})
        self.position_cutoff = position_cutoff
        self.extra_rewrites = list(extra_rewrites or ())
        self.name: str | None = None

    def _with(self, **changes: Any) -> RewriteDatabaseQuery:
        out = RewriteDatabaseQuery(())
        out.__dict__.update(self.__dict__, name=None, extra_rewrites=list(self.extra_rewrites))
        out.__dict__.update(changes)
        return out

    def including(self, *tags: str) -> RewriteDatabaseQuery:
        """The query with rewrites of these tags or names too."""
        return self._with(include=tuple(dict.fromkeys((*self.include, *tags))))

    def excluding(self, *tags: str) -> RewriteDatabaseQuery:
        """The query without rewrites of these tags or names."""
        return self._with(exclude=tuple(dict.fromkeys((*self.exclude, *tags))))

    def requiring(self, *tags: str) -> RewriteDatabaseQuery:
        """The query for rewrites that have these tags, too."""
        return self._with(require=tuple(dict.fromkeys((*self.require, *tags))))

    def register(self, *rewrites: tuple[Any, float]) -> RewriteDatabaseQuery:
        """The query with further rewrites, pairs of a rewriter and its position."""
        return self._with(extra_rewrites=[*self.extra_rewrites, *rewrites])

    def selects(self, tags: Iterable[str]) -> bool:
        """Whether what has these tags is selected."""
        has = set(tags)
        return (
            not has.isdisjoint(self.include)
            and has.issuperset(self.require)
            and has.isdisjoint(self.exclude)
        )

    def __eq__(self, other: object) -> bool:
        parts = ("include", "require", "exclude", "subquery", "position_cutoff", "extra_rewrites")
        return isinstance(other, RewriteDatabaseQuery) and all(
            getattr(self, each) == getattr(other, each) for each in parts
        )

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        signs = [("+", self.include), ("&", self.require), ("-", self.exclude)]
        terms = [repr(sign + tag) for sign, tags in signs for tag in tags]
        terms += [f"{key}={value!r}" for key, value in self.subquery.items()]
        if self.position_cutoff != math.inf:
            terms.append(f"position_cutoff={self.position_cutoff}")
        terms += [f"{rewrite!r} at {position}" for rewrite, position in self.extra_rewrites]
        return f"RewriteDatabaseQuery({', '.join(terms)})"


def _query_of(tags: Sequence[Any], subquery: Mapping[str, Any]) -> RewriteDatabaseQuery:
    """The query that is given as one, or as texts "+tag", "&tag", "-tag"."""
    if tags and isinstance(tags[0], RewriteDatabaseQuery):
        if len(tags) > 1 or subquery:
            raise TypeError("query: expected one RewriteDatabaseQuery, or tags")
        return tags[0]
    parts: dict[str, list[str]] = {"+": [], "&": [], "-": []}
    for tag in tags:
        if tag[:1] not in parts:
            raise ValueError(f'query: expected tags such as "+tag", "&tag" or "-tag", got {tag!r}')
        parts[tag[:1]].append(tag[1:])
    return RewriteDatabaseQuery(parts["+"], parts["&"], parts["-"], subquery)


def core_query(given: Any, db: Any = None) -> Any:
    """The query as the engine takes it: of a query, the name of one, or a graph rewriter, which is then all that is done.

    Parameters
    ----------
    given : RewriteDatabaseQuery, str or GraphRewriter
        What to do.
    db : RewriteDatabase, optional
        Database that is queried; by default `optdb`.

    Returns
    -------
    RewriteQuery
        Query.
    """
    if isinstance(given, str):
        given = _core.query_of_optimizer(config.optimizer if given == "default" else given)
    if isinstance(given, _core.RewriteQuery):
        if db is None or db is optdb:
            return given
        given = query_object(given)
    if not isinstance(given, RewriteDatabaseQuery):
        if not callable(given):
            raise TypeError(
                f"Mode: optimizer: expected a name, a RewriteDatabaseQuery or a GraphRewriter, got {given!r}"
            )
        return _core.RewriteQuery([], extra=[(given, 0.0)])
    own = None if db is None or db is optdb else (db, lambda query: db.query(query_object(query)))
    return _core.RewriteQuery(
        list(given.include),
        list(given.require),
        list(given.exclude),
        given.position_cutoff,
        {name: core_query(query) for name, query in given.subquery.items()},
        list(given.extra_rewrites),
        own,
    )


def query_object(query: Any) -> RewriteDatabaseQuery:
    """The query as programs see it.

    Parameters
    ----------
    query : RewriteQuery
        Query of the engine.

    Returns
    -------
    RewriteDatabaseQuery
        Query.
    """
    return RewriteDatabaseQuery(
        query.include,
        query.require,
        query.exclude,
        {name: query_object(each) for name, each in query.subqueries.items()},
        query.position_cutoff,
        query.extra,
    )


# ---- databases -------------------------------------------------------------------------------------------------------


class RewriteDatabase:
    """Base of databases of rewriters, which queries find by their names and tags."""

    name: str | None = None

    def __init__(self) -> None:
        self._members: dict[str, Any] = {}
        self._tags: dict[str, list[str]] = {}
        self._is_in_optdb = False

    def register(
        self,
        name: str,
        rewriter: Any,
        *tags: str,
        use_db_name_as_tag: bool = True,
        overwrite_existing: bool = False,
    ) -> None:
        """Add a rewriter, or a database of some, which is found by its name, its tags and the name of its class; and, unless
        `use_db_name_as_tag` is false, by the name of this database. ValueError for a name that is taken."""
        _require_rewriter(rewriter)
        every = [tag for tags_ in self._tags.values() for tag in tags_]
        if name in self._members and not overwrite_existing:
            raise ValueError(f"{type(self).__name__}: there is a rewriter {name!r} already")
        if name not in self._members and name in every:
            raise ValueError(f"{type(self).__name__}: {name!r} is a tag of another rewriter")
        _give_name(rewriter, name)
        own = [self.name] if use_db_name_as_tag and self.name is not None else []
        self._members[name] = rewriter
        self._tags[name] = [type(rewriter).__name__]
        self.add_tags(name, *tags, *own)
        if self._is_in_optdb:
            _note(self)

    def add_tags(self, name: str, *tags: str) -> None:
        """Add tags to a rewriter."""
        for tag in tags:
            if tag in self._members:
                raise ValueError(
                    f"{type(self).__name__}: the tag {tag!r} is the name of a rewriter"
                )
        self._tags[name] = list(dict.fromkeys((*self._tags[name], *tags)))
        if self._is_in_optdb:
            _note(self)

    def remove_tags(self, name: str, *tags: str) -> None:
        """Remove tags from a rewriter."""
        self._tags[name] = [tag for tag in self._tags[name] if tag not in tags]
        if self._is_in_optdb:
            _note(self)

    def _selected(self, query: RewriteDatabaseQuery) -> dict[str, Any]:
        """What a query selects, by name; of databases, what it selects there."""
        out: dict[str, Any] = {}
        for name, member in self._members.items():
            if not query.selects((name, *self._tags[name])):
                continue
            if isinstance(member, RewriteDatabase):
                inner = query.subquery.get(name, query._with(extra_rewrites=[]))
                member = member.query(inner)
                _give_name(member, name)
            out[name] = member
        return out

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        """What a query selects: a RewriteDatabaseQuery, or tags with their signs and queries of inner databases by name."""
        return list(self._selected(_query_of(tags, kwtags)).values())

    def __getitem__(self, name: str) -> Any:
        if name in self._members:
            return self._members[name]
        found = [each for each, tags in self._tags.items() if name in tags]
        if not found:
            raise KeyError(f"{type(self).__name__}: nothing is called {name!r}")
        if len(found) > 1:
            raise ValueError(f"{type(self).__name__}: several rewriters have the tag {name!r}")
        return self._members[found[0]]

    def __contains__(self, name: object) -> bool:
        return name in self._members or any(name in tags for tags in self._tags.values())

    def print_summary(self, stream: Any = None) -> None:
        """Print the names, with their tags."""
        stream = sys.stdout if stream is None else stream
        print(f"{type(self).__name__} {self.name or ''}".rstrip(), file=stream)
        for name, tags in self._tags.items():
            print(f"  {name}: {', '.join(tags)}", file=stream)


def _require_rewriter(rewriter: Any) -> None:
    if not isinstance(rewriter, (RewriteDatabase, GraphRewriter, NodeRewriter)):
        raise TypeError(f"register: expected a rewriter or a database of some, got {rewriter!r}")


def _give_name(rewriter: Any, name: str) -> None:
    if not isinstance(rewriter, Rule):
        rewriter.name = name
    elif rewriter.name != name:
        raise ValueError(f"register: the rule {rewriter.name!r} can't be registered as {name!r}")


def _note(db: RewriteDatabase) -> None:
    """Tell the engine which names and tags there are inside a database that is a part of optdb."""
    waiting = [db]
    names: list[str] = []
    while waiting:
        each = waiting.pop()
        each._is_in_optdb = True
        names += [*each._members, *(tag for tags in each._tags.values() for tag in tags)]
        waiting += [
            member for member in each._members.values() if isinstance(member, RewriteDatabase)
        ]
        inner = getattr(each, "db", None)
        waiting += [inner] if isinstance(inner, RewriteDatabase) else []
    _core.optdb_note_tags(names)


class EquilibriumDB(RewriteDatabase):
    """A database of rewriters that are applied until nothing changes.

    Parameters
    ----------
    ignore_newtrees, tracks_on_change_inputs : bool
        As for EquilibriumGraphRewriter.
    eq_rewriter_class : type
        Class of what a query returns.
    """

    def __init__(
        self,
        ignore_newtrees: bool = True,
        tracks_on_change_inputs: bool = False,
        eq_rewriter_class: Any = EquilibriumGraphRewriter,
    ) -> None:
        super().__init__()
        self.ignore_newtrees = ignore_newtrees
        self.tracks_on_change_inputs = tracks_on_change_inputs
        self.eq_rewriter_class = eq_rewriter_class
        self._last: dict[str, bool] = {}

    def register(
        self,
        name: str,
        rewriter: Any,
        *tags: str,
        final_rewriter: bool = False,
        cleanup: bool = False,
        **kwargs: Any,
    ) -> None:
        """Add a rewriter. A graph rewriter runs before the node rewriters of a round; with `final_rewriter` or `cleanup`, after
        them."""
        if final_rewriter and cleanup:
            raise ValueError("EquilibriumDB: a rewriter is final_rewriter or cleanup, not both")
        super().register(name, rewriter, *tags, **kwargs)
        self._last[name] = final_rewriter or cleanup

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        """The EquilibriumGraphRewriter of what a query selects."""
        found = self._selected(_query_of(tags, kwtags))
        return self.eq_rewriter_class(
            [each for name, each in found.items() if not self._last[name]],
            ignore_newtrees=self.ignore_newtrees,
            tracks_on_change_inputs=self.tracks_on_change_inputs,
            failure_callback=NodeProcessingGraphRewriter.warn_inplace,
            final_rewriters=[each for name, each in found.items() if self._last[name]] or None,
            cleanup_rewriters=None,
        )


def _position(given: Any, others: Iterable[float]) -> float:
    if given == "last":
        return max(others, default=-1) + 1
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise TypeError(f"register: expected a number as position, got {given!r}")
    return given


class SequenceDB(RewriteDatabase):
    """A database of rewriters that are applied one after the other, by their positions.

    Parameters
    ----------
    failure_callback : callable, optional
        As for SequentialGraphRewriter.
    """

    seq_rewriter_type: Any = SequentialGraphRewriter

    def __init__(self, failure_callback: Any = SequentialGraphRewriter.warn) -> None:
        super().__init__()
        self.failure_callback = failure_callback
        self.__position__: dict[str, float] = {}

    def register(  # type: ignore[override]
        self, name: str, obj: Any, *tags: str, position: Any = "last", **kwargs: Any
    ) -> None:
        """Add a rewriter at a position: a number, or 'last'."""
        at = _position(position, self.__position__.values())
        super().register(name, obj, *tags, **kwargs)
        self.__position__[name] = at

    def _in_order(self, query: RewriteDatabaseQuery) -> list[Any]:
        found = [
            (self.__position__[name], name, each) for name, each in self._selected(query).items()
        ]
        for each, position in query.extra_rewrites:
            found.append((position, str(getattr(each, "name", None) or type(each).__name__), each))
        kept = [each for each in found if each[0] <= query.position_cutoff]
        return [each for _, _, each in sorted(kept, key=lambda entry: entry[:2])]

    def query(self, *tags: Any, position_cutoff: float | None = None, **kwtags: Any) -> Any:
        """The SequentialGraphRewriter of what a query selects, up to a position."""
        query = _query_of(tags, kwtags)
        if position_cutoff is not None:
            query = query._with(position_cutoff=position_cutoff, name=query.name)
        out = self._made(self._in_order(query))
        out.name = query.name
        return out

    def _made(self, rewriters: list[Any]) -> Any:
        return self.seq_rewriter_type(rewriters, failure_callback=self.failure_callback)

    def print_summary(self, stream: Any = None) -> None:
        """Print the names in order, with their positions and tags."""
        stream = sys.stdout if stream is None else stream
        print(f"{type(self).__name__} {self.name or ''}".rstrip(), file=stream)
        for name in sorted(self.__position__, key=lambda name: (self.__position__[name], name)):
            print(
                f"  {self.__position__[name]:g} {name}: {', '.join(self._tags[name])}", file=stream
            )

    def __str__(self) -> str:
        text = io.StringIO()
        self.print_summary(text)
        return text.getvalue()


class LocalGroupDB(SequenceDB):
    """A database of node rewriters that a query combines into one.

    Parameters
    ----------
    apply_all_rewrites, profile : bool
        As for SequentialNodeRewriter.
    node_rewriter : type
        Class of what a query returns.
    """

    def __init__(
        self,
        apply_all_rewrites: bool = False,
        profile: bool = False,
        node_rewriter: Any = SequentialNodeRewriter,
    ) -> None:
        super().__init__(failure_callback=None)
        self.apply_all_rewrites = apply_all_rewrites
        self.profile = profile
        self.node_rewriter = node_rewriter

    def _made(self, rewriters: list[Any]) -> Any:
        return self.node_rewriter(
            *rewriters, apply_all_rewrites=self.apply_all_rewrites, profile=self.profile
        )


class TopoDB(RewriteDatabase):
    """A database whose queries make a rewriter that tries each node once.

    Parameters
    ----------
    db : RewriteDatabase
        Database of node rewriters, whose queries make one, such as LocalGroupDB.
    order, ignore_newtrees, failure_callback
        As for WalkingGraphRewriter.
    """

    def __init__(
        self,
        db: RewriteDatabase,
        order: str = "in_to_out",
        ignore_newtrees: bool = False,
        failure_callback: Any = None,
    ) -> None:
        super().__init__()
        self.db = db
        self.order = order
        self.ignore_newtrees = ignore_newtrees
        self.failure_callback = failure_callback

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        """The WalkingGraphRewriter of what a query selects."""
        return WalkingGraphRewriter(
            self.db.query(*tags, **kwtags), self.order, self.ignore_newtrees, self.failure_callback
        )


class ProxyDB(RewriteDatabase):
    """A database under another name, so that it can be registered twice.

    Parameters
    ----------
    db : RewriteDatabase
        Database.
    """

    def __init__(self, db: RewriteDatabase) -> None:
        if not isinstance(db, RewriteDatabase):
            raise TypeError(f"ProxyDB: expected a RewriteDatabase, got {db!r}")
        super().__init__()
        self.db = db

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        """What the database makes of the query."""
        return self.db.query(*tags, **kwtags)


# ---- optdb -----------------------------------------------------------------------------------------------------------


class _LibraryPass(GraphRewriter):
    """A pass of the library over a whole graph."""

    def __init__(self, stage: Any) -> None:
        self.name = stage.name
        self._stage = stage

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Run the pass."""
        return self._stage.apply(fgraph)

    @classmethod
    def print_profile(cls, stream: Any, prof: Any, level: int = 0) -> None:
        """Print what the pass has done."""
        print(" " * 4 * level + str(prof), file=stream)

    def __repr__(self) -> str:
        return f"<pass {self.name}>"


def _rewriter_of_stage(stage: Any) -> Any:
    if stage.has_rules:
        return EquilibriumGraphRewriter._of_stage(stage)
    return _LibraryPass(stage) if stage.function is None else stage.function


def database_of_query(query: Any) -> RewriteDatabase:
    """The database that a query is for.

    Parameters
    ----------
    query : RewriteQuery
        Query of the engine.

    Returns
    -------
    RewriteDatabase
        Database.
    """
    return optdb if query.database is None else query.database


def rewriter_of_query(query: Any) -> Any:
    """The rewriter that applies everything that a query selects.

    Parameters
    ----------
    query : RewriteQuery
        Query of the engine.

    Returns
    -------
    SequentialGraphRewriter
        Rewriter.
    """
    if query.database is not None:
        return query.database.query(query_object(query))
    return SequentialGraphRewriter(
        [_rewriter_of_stage(stage) for stage in _core.rewrite_stages(query)],
        failure_callback=SequentialGraphRewriter.warn,
    )


def _source(db: RewriteDatabase) -> Any:
    """How the engine asks a database for what a query selects."""

    def made(query: Any) -> Any:
        found = db.query(query_object(query))
        return rule_of(found, db.name) if isinstance(found, NodeRewriter) else found

    return made


class _InOptDB:
    """What phases of optdb and optdb have in common: the engine keeps what is registered."""

    _phase: str | None
    name: str | None

    def _add(
        self,
        name: str,
        rewriter: Any,
        tags: Sequence[str],
        position: float,
        role: str,
        overwrite: bool,
    ) -> None:
        _require_rewriter(rewriter)
        every = list(dict.fromkeys((*tags, type(rewriter).__name__)))
        if isinstance(rewriter, RewriteDatabase):
            _core.optdb_add_database(
                self._phase, name, rewriter, _source(rewriter), position, every, role, overwrite
            )
        elif isinstance(rewriter, GraphRewriter):
            _core.optdb_add_pass(self._phase, name, rewriter, position, every, role, overwrite)
        elif self._phase is not None:
            _give_name(rewriter, name)
            _core.optdb_add_rule(self._phase, name, rewriter, every, overwrite)
        else:
            raise TypeError(
                f"optdb: {name!r} is a node rewriter: register it in a phase, as optdb['canonicalize'], or as in2out({name})"
            )
        _give_name(rewriter, name)
        if isinstance(rewriter, RewriteDatabase):
            _note(rewriter)

    def add_tags(self, name: str, *tags: str) -> None:
        """Add tags to a rewriter."""
        _core.optdb_change_tags(self._phase, name, list(tags), [])

    def remove_tags(self, name: str, *tags: str) -> None:
        """Remove tags from a rewriter."""
        _core.optdb_change_tags(self._phase, name, [], list(tags))


class _Phase(_InOptDB, EquilibriumDB):
    """A phase of optdb: rules that are applied until nothing changes."""

    def __init__(self, name: str) -> None:
        EquilibriumDB.__init__(self)
        self.name = self._phase = self._own = name

    def register(  # type: ignore[override]
        self,
        name: str,
        rewriter: Any,
        *tags: str,
        final_rewriter: bool = False,
        cleanup: bool = False,
        use_db_name_as_tag: bool = True,
        overwrite_existing: bool = False,
        position: Any = "last",
    ) -> None:
        """Add a rewriter to the phase, as EquilibriumDB.register. `position` is accepted: rules have no order."""
        if final_rewriter and cleanup:
            raise ValueError("EquilibriumDB: a rewriter is final_rewriter or cleanup, not both")
        own = [self._own] if use_db_name_as_tag else []
        role = "last" if final_rewriter or cleanup else "first"
        self._add(name, rewriter, [*tags, *own], 0.0, role, overwrite_existing)

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        """The EquilibriumGraphRewriter of what a query selects."""
        query = _query_of(tags, kwtags)._with(extra_rewrites=[])
        for stage in _core.rewrite_stages(core_query(query)):
            if stage.name == self._phase and stage.has_rules:
                return EquilibriumGraphRewriter._of_stage(stage)
        return EquilibriumGraphRewriter([])

    def __getitem__(self, name: str) -> Any:
        return _member(self._phase, name)

    def __contains__(self, name: object) -> bool:
        return any(name == each or name in tags for each, tags in _core.optdb_members(self._own))

    def print_summary(self, stream: Any = None) -> None:
        """Print the names of the rules, with their tags."""
        stream = sys.stdout if stream is None else stream
        print(f"EquilibriumDB {self._phase}", file=stream)
        for name, tags in _core.optdb_members(self._own):
            print(f"  {name}: {', '.join(tags)}", file=stream)


def _member(phase: str | None, name: str) -> Any:
    found = _core.optdb_member(phase, name)
    return _LibraryPass(found) if isinstance(found, _core.RewriteStage) else found


class _OptDB(_InOptDB, SequenceDB):
    """The database of all rewrites."""

    _phase = None

    def __init__(self) -> None:
        SequenceDB.__init__(self)
        self.name = "optdb"
        self._phases: dict[str, _Phase] = {}

    @property
    def __position__(self) -> dict[str, float]:
        """Positions by name."""
        return {name: position for name, position, _, _ in _core.optdb_entries()}

    @__position__.setter
    def __position__(self, value: dict[str, float]) -> None:
        """Nothing: the engine has them."""

    def register(  # type: ignore[override]
        self,
        name: str,
        obj: Any,
        *tags: str,
        position: Any = "last",
        use_db_name_as_tag: bool = True,
        overwrite_existing: bool = False,
    ) -> None:
        """Add a graph rewriter, or a database, at a position among the phases."""
        at = _position(position, self.__position__.values())
        self._add(name, obj, tags, at, "first", overwrite_existing)

    def query(self, *tags: Any, position_cutoff: float | None = None, **kwtags: Any) -> Any:
        """The SequentialGraphRewriter of what a query selects, up to a position."""
        query = _query_of(tags, kwtags)
        if position_cutoff is not None:
            query = query._with(position_cutoff=position_cutoff, name=query.name)
        out = rewriter_of_query(core_query(query))
        out.name = query.name
        return out

    def __getitem__(self, name: str) -> Any:
        for each, _, _, has_rules in _core.optdb_entries():
            if each == name and has_rules:
                return self._phases.setdefault(name, _Phase(name))
        return _member(None, name)

    def __contains__(self, name: object) -> bool:
        return any(name == each[0] or name in each[2] for each in _core.optdb_entries())

    def print_summary(self, stream: Any = None) -> None:
        """Print the phases in order, with their positions and tags."""
        stream = sys.stdout if stream is None else stream
        print("SequenceDB optdb", file=stream)
        for name, position, tags, _ in _core.optdb_entries():
            print(f"  {position:g} {name}: {', '.join(tags)}", file=stream)


optdb = _OptDB()
