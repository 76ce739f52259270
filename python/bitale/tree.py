"""Values made of other values: lists, tuples, dicts, dataclasses, None and objects of registered classes, and their leaves.

Functions, derivatives and loops take and return such values; the functions of this module handle
them. Names and arguments are those of ``jax.tree``.

>>> params = {"W": [1.0, 2.0], "b": 0.5}
>>> bt.tree.leaves(params)
[1.0, 2.0, 0.5]
>>> bt.tree.map(lambda x: 2 * x, params)
{'W': [2.0, 4.0], 'b': 1.0}
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from bitale import _core
from bitale._core import TreeStructure

__all__ = [
    "TreeStructure",
    "all",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "register_tree",
    "structure",
    "transpose",
    "unflatten",
]

TreeStructure.__module__ = __name__
IsLeaf = Callable[[Any], bool]

_map = map
_absent = object()


def register_tree(
    cls: type,
    flatten: Callable[[Any], tuple[Iterable[Any], Any]] | None,
    unflatten: Callable[[Any, tuple[Any, ...]], Any] | None,
    *,
    like: Callable[[Any, Any], Iterable[Any]] | None = None,
    joined: Callable[[Any, Any], tuple[Any, Any, Any]] | None = None,
    jacobian: Callable[[Any, Any, Any], Any] | None = None,
    described: Callable[[Any, Any], str] | None = None,
    names: Iterable[str] = (),
) -> None:
    """Allow objects of a class wherever variables and values are allowed.

    Parameters
    ----------
    cls : type
        The class itself; objects of subclasses are leaves, unless these are
        registered.
    flatten : callable
        ``flatten(object) -> (children, aux)``: the parts of the object, and hashable data that
        belongs to its structure. None, like `unflatten`, for a dataclass whose objects are leaves.
    unflatten : callable
        ``unflatten(aux, children) -> object``. Children may be variables,
        arrays or anything else.
    like : callable, optional
        ``like(aux, value) -> children``: the children of a value, of any class, that a call may
        pass for such an object. By default an object of the class with equal data.
    joined : callable, optional
        ``joined(object, other) -> (children, other children, aux)``, for two objects between which
        a condition chooses. By default both must have equal data.
    jacobian : callable, optional
        ``jacobian(of, by, derivative)``: converts the derivative of an expression with respect to
        the only child of an object. By default it is a tensor.
    described : callable, optional
        ``described(aux, value) -> str``: a note added to errors in calls that were passed the value.
    names : iterable of str
        Names of the children, for messages.

    Raises
    ------
    TypeError
        If `cls` is not a class, or a function is missing.
    ValueError
        If the class is registered already.

    See Also
    --------
    structure

    Examples
    --------
    >>> class Line:
    ...     def __init__(self, slope, start):
    ...         self.slope, self.start = slope, start
    >>> bt.register_tree(Line, lambda x: ((x.slope, x.start), None), lambda _, parts: Line(*parts))
    >>> line, x = Line(pt.dscalar("slope"), pt.dscalar("start")), pt.dscalar("x")
    >>> f = bt.function([line, x], line.slope * x + line.start)
    >>> f(Line(2.0, 1.0), 3.0)
    array(7.)
    """
    _core.register_tree(
        cls, flatten, unflatten, like=like, joined=joined, jacobian=jacobian, described=described, names=list(names)
    )  # fmt: skip


def flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], TreeStructure]:
    """Take a value apart.

    Parameters
    ----------
    tree : object
        Value.
    is_leaf : callable, optional
        Tells whether a part is a leaf even if it could be taken apart.

    Returns
    -------
    leaves : list
        What it is made of.
    structure : TreeStructure
        Its structure; ``structure.unflatten(leaves)`` is the value.

    See Also
    --------
    unflatten

    Examples
    --------
    >>> bt.tree.flatten({"W": 1.0, "b": (2.0, None)})
    ([1.0, 2.0], TreeStructure({'W': *, 'b': (*, None)}))
    """
    return _core.tree_flatten(tree, is_leaf)


def unflatten(treedef: TreeStructure, leaves: Iterable[Any]) -> Any:
    """Build a value from its leaves.

    Parameters
    ----------
    treedef : TreeStructure
        Structure.
    leaves : iterable
        As many leaves as the structure has.

    Returns
    -------
    object
        The value.

    Raises
    ------
    ValueError
        If the number of leaves differs.

    See Also
    --------
    flatten
    """
    return treedef.unflatten(leaves)


def leaves(tree: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """List the leaves of a value.

    Parameters
    ----------
    tree : object
        Value.
    is_leaf : callable, optional
        As in `flatten`.

    Returns
    -------
    list
        Leaves, in the order of lists, dicts and fields.
    """
    return _core.tree_flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf | None = None) -> TreeStructure:
    """Find the structure of a value.

    Parameters
    ----------
    tree : object
        Value.
    is_leaf : callable, optional
        As in `flatten`.

    Returns
    -------
    TreeStructure
        The structure, which can be compared and is hashable.
    """
    return _core.tree_flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None) -> Any:
    """Apply a function to each leaf.

    Parameters
    ----------
    f : callable
        Function of a leaf, and of those of `rest` at the same place.
    tree : object
        Value.
    *rest : object
        Values of the same structure; keys of dicts may have another order.
    is_leaf : callable, optional
        As in `flatten`.

    Returns
    -------
    object
        Value of the same structure.

    Raises
    ------
    TypeError or ValueError
        If the structures differ; the message has the path.

    Examples
    --------
    >>> bt.tree.map(lambda x, dx: x - 0.5 * dx, {"W": 1.0, "b": 2.0}, {"b": 2.0, "W": 4.0})
    {'W': -1.0, 'b': 1.0}
    """
    first, treedef = _core.tree_flatten(tree, is_leaf)
    others = [
        treedef.flatten_like(each, f"tree.map: argument {k + 2}") for k, each in enumerate(rest)
    ]
    return treedef.unflatten([f(*each) for each in zip(first, *others)])


def flatten_with_path(
    tree: Any, is_leaf: IsLeaf | None = None
) -> tuple[list[tuple[str, Any]], TreeStructure]:
    """Take a value apart, with the path of each leaf.

    Parameters
    ----------
    tree : object
        Value.
    is_leaf : callable, optional
        As in `flatten`.

    Returns
    -------
    leaves : list of tuple of str and object
        Paths and leaves.
    structure : TreeStructure
        The structure.

    Examples
    --------
    >>> bt.tree.flatten_with_path({"W": [1.0, 2.0]})[0]
    [("['W'][0]", 1.0), ("['W'][1]", 2.0)]
    """
    found, treedef = _core.tree_flatten(tree, is_leaf)
    return list(zip(treedef.paths(), found)), treedef


def leaves_with_path(tree: Any, is_leaf: IsLeaf | None = None) -> list[tuple[str, Any]]:
    """List the leaves of a value with their paths.

    Parameters
    ----------
    tree : object
        Value.
    is_leaf : callable, optional
        As in `flatten`.

    Returns
    -------
    list of tuple of str and object
        Paths and leaves.
    """
    return flatten_with_path(tree, is_leaf)[0]


def map_with_path(
    f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None
) -> Any:
    """Apply a function to each path and leaf.

    Parameters
    ----------
    f : callable
        Function of a path, a leaf, and those of `rest` at the same place.
    tree : object
        Value.
    *rest : object
        Values of the same structure.
    is_leaf : callable, optional
        As in `flatten`.

    Returns
    -------
    object
        Value of the same structure.
    """
    paths = iter(structure(tree, is_leaf).paths())
    return map(lambda *parts: f(next(paths), *parts), tree, *rest, is_leaf=is_leaf)


def reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _absent,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """Combine the leaves one after another.

    Parameters
    ----------
    function : callable
        Function of the intermediate result and the next leaf.
    tree : object
        Value.
    initializer : object, optional
        Initial value; by default the first leaf.
    is_leaf : callable, optional
        As in `flatten`.

    Returns
    -------
    object
        Final result.

    Examples
    --------
    >>> bt.tree.reduce(lambda total, x: total + x, {"W": 1.0, "b": 2.0}, 0.0)
    3.0
    """
    own = leaves(tree, is_leaf)
    return (
        functools.reduce(function, own)
        if initializer is _absent
        else functools.reduce(function, own, initializer)
    )


def all(tree: Any, *, is_leaf: IsLeaf | None = None) -> bool:
    """Test whether all leaves are true.

    Parameters
    ----------
    tree : object
        Value.
    is_leaf : callable, optional
        As in `flatten`.

    Returns
    -------
    bool
        Result; True for a value without leaves.
    """
    return not any(not each for each in leaves(tree, is_leaf))


def transpose(
    outer_treedef: TreeStructure, inner_treedef: TreeStructure, pytree_to_transpose: Any
) -> Any:
    """Exchange the outer and inner structure of nested values.

    Parameters
    ----------
    outer_treedef : TreeStructure
        Structure of the outer containers.
    inner_treedef : TreeStructure
        Structure of each of the values.
    pytree_to_transpose : object
        Value of the outer structure, whose leaves have the inner one.

    Returns
    -------
    object
        Value of the inner structure, whose leaves have the outer one.

    Examples
    --------
    >>> outer, inner = bt.tree.structure([0, 0]), bt.tree.structure({"W": 0, "b": 0})
    >>> bt.tree.transpose(outer, inner, [{"W": 1, "b": 2}, {"W": 3, "b": 4}])
    {'W': [1, 3], 'b': [2, 4]}
    """
    rows = [
        inner_treedef.flatten_like(each, "tree.transpose: an inner value")
        for each in outer_treedef.flatten_like(pytree_to_transpose, "tree.transpose")
    ]
    return inner_treedef.unflatten([outer_treedef.unflatten(column) for column in zip(*rows)])
