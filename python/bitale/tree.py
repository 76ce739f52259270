"""Values made of others: lists, tuples, dicts, dataclasses, None and objects of registered classes, taken apart into their leaves.

Functions, derivatives and loops take and return such values; here are the functions by which programs handle them. Names and
arguments are those of ``jax.tree``.

>>> params = {"W": [1.0, 2.0], "b": 0.5}
>>> bt.tree.leaves(params)
[1.0, 2.0, 0.5]
>>> bt.tree.map(lambda x: 2 * x, params)
{'W': [2.0, 4.0], 'b': 1.0}
"""

from __future__ import annotations

from bitale._core import (
    TreeStructure,
    register_tree,
    tree_all as all,
    tree_flatten as flatten,
    tree_flatten_with_path as flatten_with_path,
    tree_leaves as leaves,
    tree_leaves_with_path as leaves_with_path,
    tree_map as map,
    tree_map_with_path as map_with_path,
    tree_reduce as reduce,
    tree_structure as structure,
    tree_transpose as transpose,
    tree_unflatten as unflatten,
)

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
