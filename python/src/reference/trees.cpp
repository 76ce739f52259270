// Values made of others, taken apart and put together.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions trees(R"doc(
= *tree
Trees.
tree (object): Value.
is_leaf (callable): Says of a part whether it is a leaf though it could be taken apart.
treedef: Structure.
rest (object): Values of the same structure; keys of dicts may have another order.

= tree_flatten
Take a value apart.
-> leaves (list): What it is made of.
-> structure (TreeStructure): How; ``structure.unflatten(leaves)`` is the value.
~ tree_unflatten
< *tree

= tree_unflatten
Put a value together.
leaves (iterable): As many leaves as it has.
-> The value.
! ValueError: If there are fewer or more leaves.
~ tree_flatten
< *tree

= tree_leaves
List the leaves of a value.
-> Leaves, in the order of lists, dicts and fields.
< *tree

= tree_structure
Find the structure of a value.
-> The structure, which can be compared and is hashable.
< *tree

= tree_map
Apply a function to each leaf.
f (callable): Function of a leaf, and of those of `rest` at the same place.
-> Value of the same structure.
! TypeError: If the structures differ; the message has the path.
! ValueError: If the keys or the numbers of elements differ.
< *tree

= tree_flatten_with_path
Take a value apart, with the path of each leaf.
-> leaves (list of tuple of str and object): Paths and leaves.
-> structure (TreeStructure): The structure.
< *tree

= tree_leaves_with_path
List the leaves of a value with their paths.
-> Paths and leaves.
< *tree

= tree_map_with_path
Apply a function to each path and leaf.
f (callable): Function of a path, a leaf, and those of `rest` at the same place.
-> Value of the same structure.
< *tree

= tree_reduce
Combine the leaves, two by two.
function (callable): Function of what there is so far and the next leaf.
initializer (object): What there is at first; by default the first leaf.
-> What there is in the end.
< *tree

= tree_all
Tell whether all leaves are true.
-> Whether they are; true of a value without leaves.
< *tree

= tree_transpose
Turn a value whose leaves are values inside out.
outer_treedef: Structure of the containers around.
inner_treedef: Structure of each of the values.
pytree_to_transpose (object): Value of the outer structure, whose leaves have the inner one.
-> Value of the inner structure, whose leaves have the outer one.

= register_tree
Allow objects of a class wherever variables and values are allowed.
cls: The class itself; objects of subclasses are leaves, unless these are registered.
flatten (callable or None): ``flatten(object) -> (children, aux)``: what the object is made of, and hashable data that belongs to its structure. None, as `unflatten`, for a dataclass whose objects are leaves.
unflatten (callable or None): ``unflatten(aux, children) -> object``. Children may be variables, arrays or anything else.
like (callable): ``like(aux, value) -> children``: those of a value that a call may give for such an object, of whatever class. By default an object of the class with equal data.
joined (callable): ``joined(object, other) -> (children, other children, aux)``, of two objects between which a condition chooses. By default both have equal data.
jacobian (callable): ``jacobian(of, by, derivative)``: what becomes of the derivative of an expression by the only child of an object. By default a tensor.
described (callable): ``described(aux, value) -> str``: a note to errors of calls that were given the value.
looped (callable): ``looped(use, object) -> (children, aux)``, in place of `flatten` where the object is a ``"sequence"``, a ``"state"`` or a ``"result"`` of a loop. By default children are stepped through along their first axes, and stacked along a new one.
names (iterable of str): Names of the children, for messages.
! TypeError: If `cls` is no class, or a function is missing.
! ValueError: If the class is registered already.
~ tree_structure
)doc");
// clang-format on

}  // namespace bitale::python
