// Stacking, sets, partial sorting, and selection, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions arrays(R"doc(
= vstack
Stack tensors vertically: join them along the first axis.
tup (sequence of tensor_like): Tensors; a vector is a row.
dtype: Dtype of the result; by default the common one.
-> Tensor of at least two dimensions.
! ValueError: if `tup` is empty.
~ hstack, dstack, stack, join

= hstack
Stack tensors horizontally: join them along the second axis.
tup (sequence of tensor_like): Tensors; vectors are joined along their only axis.
dtype: Dtype of the result; by default the common one.
-> Tensor of at least one dimension.
! ValueError: if `tup` is empty.
~ vstack, dstack, stack, join

= dstack
Stack tensors along the third axis.
tup (sequence of tensor_like): Tensors; a vector of length n has the shape (1, n, 1), a matrix a third axis of length 1.
dtype: Dtype of the result; by default the common one.
-> Tensor of at least three dimensions.
! ValueError: if `tup` is empty.
~ vstack, hstack, stack

= column_stack
Stack vectors as the columns of a matrix.
tup (sequence of tensor_like): Vectors, and matrices, which are joined as they are.
dtype: Dtype of the result; by default the common one.
-> Matrix.
! ValueError: if `tup` is empty.
~ hstack, stack

= unstack
Split a tensor into the slices along an axis.
x: Tensor whose length along the axis is known.
axis: Axis along which to split; the slices are without it.
-> tuple of TensorVariable: One slice per element of the axis.
! ValueError: if the length of the axis is not known.
~ stack, split

= isin
Test whether each element is among others.
element: Values to look for.
test_elements: Values among which to look; nan is not equal to any of them.
invert: Return the negation.
kind (str or None): Accepted for compatibility with NumPy; it has no effect.
-> Tensor of dtype bool and of the shape of `element`.
~ intersect1d, searchsorted

= union1d
Sorted distinct elements of two tensors.
-> Vector of the elements of either, in increasing order.
~ intersect1d, setdiff1d, setxor1d, unique

= setdiff1d
Sorted distinct elements of one tensor that are not in another.
assume_unique: Accepted for compatibility with NumPy; the result is always sorted.
-> Vector of the elements of `ar1` that are not in `ar2`, in increasing order.
~ union1d, intersect1d, setxor1d

= setxor1d
Sorted distinct elements that are in exactly one of two tensors.
-> Vector in increasing order.
~ union1d, intersect1d, setdiff1d

= intersect1d
Sorted distinct elements that are in both of two tensors.
return_indices: Also return the indices of the first occurrences in both tensors.
-> TensorVariable or tuple of three: Vector in increasing order, with `return_indices` followed by two vectors of indices, int64. nan is equal to no element of the other tensor.
~ union1d, setdiff1d, setxor1d, isin

= partition
Partially sort a tensor, such that the elements at some indices are those of the sorted tensor.
a: Real numbers.
kth (int or sequence of int): Indices into the sorted axis.
axis (int or None): Axis along which to sort; None sorts the flattened tensor.
-> Tensor of the shape of `a`: smaller elements precede those at `kth`, larger ones follow them.
! ValueError: if an index is out of range.
~ argpartition, sort

= argpartition
Indices that partially sort a tensor.
a: Real numbers.
kth (int or sequence of int): Indices into the sorted axis.
axis (int or None): Axis along which to sort; None sorts the flattened tensor.
-> Indices, int64, of the shape of `a`.
! ValueError: if an index is out of range.
~ partition, argsort

= lexsort
Indices that sort by several keys.
keys (sequence of tensor_like): Keys of one shape; the last is the primary one.
axis: Axis along which to sort.
-> Indices, int64. The sort is stable.
! ValueError: if there are no keys.
~ argsort, sort

= select
Choose elements from several tensors, by the first condition that is true.
condlist (sequence of tensor_like): Conditions of dtype bool.
choicelist (sequence of tensor_like): Values, one tensor per condition.
default: Value where no condition is true.
-> Tensor of the common dtype and of the broadcast shape.
! TypeError: if a condition is not of dtype bool.
! ValueError: if the lists differ in length, or are empty.
~ piecewise, switch, choose

= piecewise
Evaluate a function that is defined piecewise.
x: Argument.
condlist (sequence of tensor_like): Conditions, which are broadcast with `x`; if several are true, the last one applies.
funclist (sequence of callable or tensor_like): A function of `x`, or a value, for each condition, and optionally one more for elements where no condition is true (0 by default). Functions are elementwise and are called with all of `x`.
args (Any): Further arguments of the functions.
kw (Any): Further keyword arguments of the functions.
-> Tensor of the common dtype of `x` and the values.
! ValueError: if the number of functions is neither that of the conditions nor one more.
~ select, switch

= apply_along_axis
Apply a function of vectors along an axis.
func1d (callable): Function of a symbolic vector; it is called once.
axis: Axis of the vectors.
args (Any): Further arguments of the function.
kwargs (Any): Further keyword arguments of the function.
-> Tensor in which the dimensions of a result of the function, if it has any, replace the axis.
! AxisError: if `axis` is out of range.
~ vectorize
)doc");
// clang-format on

}  // namespace bitale::python
