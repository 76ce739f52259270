"""ScanArgs: what a loop reads and computes, by its role, as programs that inspect loops expect it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from bitale._core import Apply, Variable, clone_replace, graph_inputs
from bitale.scan.classes import Scan, ScanInfo
from bitale.scan.utils import FieldInfo, default_filter_scanargs, safe_index

__all__ = ["ScanArgs"]

# Roles, in the order of inputs and outputs. The library's loops have sequences, states of which the last values are outputs
# (sit_sot), traces (nit_sot) and other inputs (non_seqs); the other lists are empty.
_ROLES = {
    "inner_in": ("seqs", "mit_mot", "mit_sot", "sit_sot", "shared", "non_seqs"),
    "outer_in": ("seqs", "mit_mot", "mit_sot", "sit_sot", "shared", "nit_sot", "non_seqs"),
    "inner_out": ("mit_mot", "mit_sot", "sit_sot", "nit_sot", "shared"),
    "outer_out": ("mit_mot", "mit_sot", "sit_sot", "nit_sot", "shared"),
}
_FIELDS = tuple(f"{side}_{role}" for side, roles in _ROLES.items() for role in roles)


class ScanArgs:
    """Inputs and outputs of a loop and of its inner graph, as lists by their role, which can be changed.

    Parameters
    ----------
    outer_inputs, outer_outputs : sequence of Variable
        Inputs and outputs of the node. _inner_inputs, _inner_outputs : sequence of Variable
        Those of the inner graph.
    info : ScanInfo
        How many there are of each role.
    clone : bool, optional
        Copy the inner graph.

    Raises
    ------
    ValueError
        If there are not as many inputs and outputs as info says.

    Examples
    --------
    >>> from bitale.scan.utils import ScanArgs
    >>> x, w = pt.dvector("x"), pt.dscalar("w")
    >>> total, _ = bt.scan(lambda e, s, w: s + w * e, x, pt.zeros(()), w)
    >>> args = ScanArgs.from_node(total.owner)
    >>> args.inner_in_seqs, args.inner_in_non_seqs
    ([x[t]], [w])
    >>> args.get_alt_field(args.inner_in_non_seqs[0], "outer_in")
    w
    """

    # The lists, which the loop in __init__ makes.
    inner_in_seqs: list[Any]
    inner_in_sit_sot: list[Any]
    inner_in_non_seqs: list[Any]
    inner_out_nit_sot: list[Any]

    default_filter = staticmethod(default_filter_scanargs)
    nested_list_fields = ("inner_in_mit_mot", "inner_in_mit_sot", "inner_out_mit_mot")

    def __init__(
        self,
        outer_inputs: Sequence[Variable],
        outer_outputs: Sequence[Variable],
        _inner_inputs: Sequence[Variable],
        _inner_outputs: Sequence[Variable],
        info: ScanInfo,
        clone: bool | None = None,
    ):
        if info.n_mit_mot or info.n_mit_sot or info.n_untraced_sit_sot:
            raise NotImplementedError(
                "ScanArgs: states of several steps are several states of one step here"
            )
        inner_inputs: list[Any] = list(_inner_inputs)
        inner_outputs: list[Any] = list(_inner_outputs)
        if clone:
            copies = [x.type(x.name) for x in inner_inputs]
            inner_outputs = clone_replace(inner_outputs, dict(zip(inner_inputs, copies)))
            inner_inputs = copies
        self.as_while = info.as_while
        self.cond = [inner_outputs.pop()] if info.as_while else []
        self.mit_mot_in_slices: tuple[Any, ...] = ()
        self.mit_mot_out_slices: tuple[Any, ...] = ()
        self.mit_sot_in_slices: tuple[Any, ...] = ()
        self.sit_sot_in_slices = info.sit_sot_in_slices
        self.n_steps, *rest = outer_inputs
        results = list(outer_outputs)
        self.steps_taken = [results.pop()] if info.as_while else []  # an output with a condition
        for field in _FIELDS:
            setattr(self, field, [])
        counts = {"seqs": info.n_seqs, "sit_sot": info.n_sit_sot, "non_seqs": info.n_non_seqs}
        self._take("inner_in", counts, inner_inputs)
        self._take("outer_in", counts, rest)
        counts = {"sit_sot": info.n_sit_sot, "nit_sot": info.n_nit_sot}
        self._take("inner_out", counts, inner_outputs)
        self._take("outer_out", counts, results)

    def _take(self, side: str, counts: dict[str, int], given: Sequence[Variable]) -> None:
        if sum(counts.values()) != len(given):
            raise ValueError(
                f"ScanArgs: {side}: expected {sum(counts.values())} variables, got {len(given)}"
            )
        at = 0
        for role in _ROLES[side]:
            count = counts.get(role, 0)
            setattr(self, f"{side}_{role}", list(given[at : at + count]))
            at += count

    @staticmethod
    def from_node(node: Apply, clone: bool = False) -> ScanArgs:
        """That of a loop's node. clone: with a copy of the inner graph. TypeError for another node."""
        if not isinstance(node.op, Scan):
            raise TypeError(f"ScanArgs: expected the node of a loop, got {node}")
        op: Any = node.op
        return ScanArgs(
            node.inputs, node.outputs, op.inner_inputs, op.inner_outputs, op.info, clone or None
        )

    def _all(self, side: str) -> list[Variable]:
        return [x for role in _ROLES[side] for x in getattr(self, f"{side}_{role}")]

    @property
    def inner_inputs(self) -> list[Variable]:
        """Those of the inner graph."""
        return self._all("inner_in")

    @property
    def outer_inputs(self) -> list[Variable]:
        """Those of the node."""
        return [self.n_steps, *self._all("outer_in")]

    @property
    def inner_outputs(self) -> list[Variable]:
        """Those of the inner graph."""
        return self._all("inner_out") + self.cond

    @property
    def outer_outputs(self) -> list[Variable]:
        """Those of the node."""
        return self._all("outer_out") + self.steps_taken

    @property
    def field_names(self) -> list[str]:
        """The lists, and n_steps."""
        slices = ["mit_mot_out_slices", "mit_mot_in_slices", "mit_sot_in_slices"]
        return [*slices, "n_steps", *_FIELDS]

    @property
    def n_nit_sot(self) -> int:
        """The number of traces."""
        return len(self.inner_out_nit_sot)

    @property
    def info(self) -> ScanInfo:
        """How many there are of each role."""
        return ScanInfo(
            n_seqs=len(self.inner_in_seqs),
            mit_mot_in_slices=(),
            mit_mot_out_slices=(),
            mit_sot_in_slices=(),
            sit_sot_in_slices=((-1,),) * len(self.inner_in_sit_sot),
            n_nit_sot=self.n_nit_sot,
            n_untraced_sit_sot=0,
            n_non_seqs=len(self.inner_in_non_seqs),
            as_while=self.as_while,
        )

    def _info(self, field: str, index: int) -> FieldInfo:
        side = next(each for each in _ROLES if field.startswith(each))
        everything = f"{side}puts"
        at = safe_index(getattr(self, everything), getattr(self, field)[index])
        return FieldInfo(field, everything, index, None, at)

    def find_among_fields(
        self, i: Variable, field_filter: Callable[[str], bool] = default_filter_scanargs
    ) -> FieldInfo | None:
        """The first place of a variable: the list, its position there, and its position among all inputs or outputs; None if there is no such place."""
        for field in filter(field_filter, _FIELDS):
            index = safe_index(getattr(self, field), i)
            if index is not None:
                return self._info(field, index)
        return None

    def get_alt_field(self, var_info: Variable | FieldInfo, alt_prefix: str) -> Variable:
        """The counterpart of a variable on another side: "inner_in", "inner_out", "outer_in" or "outer_out". ValueError for a variable that is in no list, AttributeError where that side has no variables of its role."""
        found = var_info if isinstance(var_info, FieldInfo) else self.find_among_fields(var_info)
        if found is None:
            raise ValueError(f"ScanArgs: {var_info} is in none of the lists")
        found_at: int = found.index
        alternatives: list[Variable] = getattr(self, f"{alt_prefix}_{_role(found.name)}")
        return alternatives[found_at]

    def _dependents(self, i: Variable) -> list[tuple[str, int]]:
        """The lists and positions of a variable, and of all that has to go with it."""
        open_ = [(f, k) for f in _FIELDS for k, x in enumerate(getattr(self, f)) if x is i]
        if not open_:
            raise ValueError(f"ScanArgs: {i} is in none of the lists")
        seen = dict.fromkeys(open_)
        while open_:
            field, index = open_.pop()
            found = []
            for side, roles in _ROLES.items():  # the same on the other sides
                other = f"{side}_{_role(field)}"
                if _role(field) in roles and index < len(getattr(self, other)):
                    found.append((other, index))
            if field.startswith("inner_in"):
                used = getattr(self, field)[index]
                found += [
                    (f, k)
                    for f in _FIELDS
                    if f.startswith("inner_out")
                    for k, out in enumerate(getattr(self, f))
                    if used in graph_inputs([out])
                ]
            for place in found:
                if place not in seen:
                    seen[place] = None
                    open_.append(place)
        return list(seen)

    def get_dependent_nodes(self, i: Variable, seen: set[Variable] | None = None) -> set[Variable]:
        """Everything that has to be removed with a variable. ValueError for a variable that is in no list. seen: what is left out."""
        found = {getattr(self, field)[index] for field, index in self._dependents(i)}
        return found - {i} - (seen or set())

    def remove_from_fields(
        self, i: Variable, rm_dependents: bool = True
    ) -> list[tuple[Variable, FieldInfo | None]]:
        """Removes a variable from the lists, by default with everything that depends on it. Returns what was removed, and its places."""
        places = self._dependents(i)
        if not rm_dependents:
            places = [(f, k) for f, k in places if getattr(self, f)[k] is i]
        removed: list[tuple[Variable, FieldInfo | None]] = [
            (getattr(self, f)[k], self._info(f, k)) for f, k in places
        ]
        for field in _FIELDS:
            kept = [x for k, x in enumerate(getattr(self, field)) if (field, k) not in places]
            setattr(self, field, kept)
        return removed

    def __copy__(self) -> ScanArgs:
        res = object.__new__(type(self))
        res.__dict__.update(self.__dict__)
        for field in _FIELDS:
            setattr(res, field, copy.copy(getattr(self, field)))
        return res

    def merge(self, other: ScanArgs) -> ScanArgs:
        """A new object with the variables of both."""
        res = copy.copy(self)
        for field in _FIELDS:
            getattr(res, field).extend(getattr(other, field))
        return res

    def __repr__(self) -> str:
        fields = ",\n".join(f"\t{name}={getattr(self, name)}" for name in self.field_names)
        return f"ScanArgs(\n{fields})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScanArgs):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self.field_names)

    __hash__ = None  # type: ignore[assignment]


def _role(field: str) -> str:
    return field[field.index("_", 6) + 1 :]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Variable):
        return one is other
    return len(one) == len(other) and all(x is y for x, y in zip(one, other))
