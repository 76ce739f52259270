// Indexing, searching, sorting, products and interpolation, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions indexing(R"doc(
= set_subtensor
Copy of a tensor with new values at an index.
x: Result of indexing a tensor, ``t[index]``.
y: Values; they are broadcast to the shape of ``t[index]``.
inplace: Accepted for compatibility with PyTensor: rewriting decides what is done in place.
tolerate_inplace_aliasing: Accepted for compatibility with PyTensor.
-> A copy of ``t`` in which ``t[index]`` is `y`.
! TypeError: if `x` is not the result of indexing.
~ inc_subtensor

= inc_subtensor
Copy of a tensor with values added at an index.
x: Result of indexing a tensor, ``t[index]``.
y: Values to add; they are broadcast to the shape of ``t[index]``.
inplace: Accepted for compatibility with PyTensor: rewriting decides what is done in place.
set_instead_of_inc: Do what `set_subtensor` does.
tolerate_inplace_aliasing: Accepted for compatibility with PyTensor.
ignore_duplicates: Let the last of repeated indices count; otherwise they add up.
-> A copy of ``t`` in which `y` is added to ``t[index]``.
! TypeError: if `x` is not the result of indexing.
~ set_subtensor

= take
Take elements by their indices along an axis.
indices: Integers, of any shape; negative ones count from the end.
axis (int): Axis of the indices; by default the flattened tensor.
mode ({'raise', 'clip', 'wrap'}): Treatment of indices out of range: raise an error, use the nearest end (the first element for negative ones), or wrap around.
-> Elements; `axis` is replaced by the dimensions of `indices`.
! IndexError: at run time, for an index out of range in mode ``'raise'``, or if there is nothing to take.
~ take_along_axis, choose

= take_along_axis
Take elements along one axis by indices that match the other axes.
indices: Integers, of as many dimensions as `arr`; other axes broadcast.
axis (int): Axis of the indices; None stands for the flattened tensor.
-> Elements, of the shape of `indices` broadcast against `arr` in the other axes.
~ take, argsort

= choose
Construct a tensor by choosing elements from several tensors.
a: Integers: which of the choices each element is taken from.
choices (sequence of tensor_like): Tensors to choose from, or one tensor that contains them along its first axis.
mode: Treatment of integers out of range: ``'raise'`` an error, ``'clip'`` to the nearest, ``'wrap'`` around.
-> Chosen elements, of the broadcast shape of `a` and the choices.
! IndexError: at run time, for an integer out of range in mode ``'raise'``.
~ take, where

= compress
Select slices of a tensor along an axis by a condition.
condition: Vector; slices at which it is not 0 are selected.
axis (int): Axis along which to select; by default the flattened tensor.
-> Selected slices.
! ValueError: if `condition` is not a vector.
! IndexError: at run time, if `condition` is true beyond the end of the axis.
~ nonzero_values, take

= nonzero
Indices of the nonzero elements, in row-major order.
@ def nonzero(a: TensorVariable | numpy.typing.ArrayLike, return_matrix: typing.Literal[False] = False) -> tuple[TensorVariable, ...]
@ def nonzero(a: TensorVariable | numpy.typing.ArrayLike, return_matrix: typing.Literal[True]) -> TensorVariable
@ def nonzero(a: TensorVariable | numpy.typing.ArrayLike, return_matrix: bool) -> typing.Any
a: Tensor of at least one dimension.
return_matrix: Return a matrix with one row per dimension.
-> tuple of TensorVariable: One int64 vector per dimension; or a matrix.
! ValueError: for a scalar.
~ flatnonzero, nonzero_values, where

= nonzero_values
Nonzero elements of a tensor, in row-major order.
a: Tensor of at least one dimension.
-> The elements, a vector.
! ValueError: for a scalar.
~ nonzero

= ravel_multi_index
Convert tuples of indices to indices into the flattened tensor.
multi_index (sequence of tensor_like): One tensor of integers per dimension.
dims: Shape of the tensor.
mode: Treatment of indices out of range: ``'raise'`` an error, ``'wrap'`` or ``'clip'``.
order: ``'C'`` for row-major, ``'F'`` for column-major order.
-> Indices, int64, of the broadcast shape.
! ValueError: at run time, for an index out of range in mode ``'raise'``.
~ unravel_index

= unravel_index
Convert indices into the flattened tensor to tuples of indices.
indices: Integers.
dims: Shape of the tensor.
order: ``'C'`` for row-major, ``'F'`` for column-major order.
-> tuple of TensorVariable: One int64 tensor per dimension, of the shape of `indices`.
~ ravel_multi_index

= sort
Sort a tensor along an axis in increasing order.
axis (int): Axis along which to sort; None stands for the flattened tensor.
kind: Accepted for compatibility with NumPy: all kinds give the same result.
order (None): Must be None: dtypes have no fields.
stable (bool): Accepted for compatibility with NumPy.
descending: Sort in decreasing order.
-> Sorted tensor, of the shape and dtype of `a`; nan comes last, and first in decreasing order.
~ argsort, topk, unique

= argsort
Indices that sort a tensor along an axis.
axis (int): Axis along which to sort; None stands for the flattened tensor.
kind: Accepted for compatibility with NumPy: sorting is always stable.
order (None): Must be None: dtypes have no fields.
stable (bool): Accepted for compatibility with NumPy.
descending: Sort in decreasing order; equal elements keep their order.
-> Indices, int64, of the shape of `a`; equal elements keep their order.
~ sort, take_along_axis

= topk
Largest or smallest elements along an axis.
kth (int or scalar tensor): Number of largest elements; if negative, of smallest elements.
axis (int): Axis along which to select; None stands for the flattened tensor.
sorted: Accepted for compatibility with PyTensor: the result is always in increasing order.
idx_dtype (dtype_like): Accepted for compatibility with PyTensor.
-> The ``abs(kth)`` elements in increasing order.
! ValueError: if `kth` is 0, or at run time if the axis has fewer elements.
~ argtopk, topk_and_argtopk, sort

= argtopk
Indices of the largest or smallest elements along an axis.
kth (int or scalar tensor): Number of largest elements; if negative, of smallest elements.
axis (int): Axis along which to select; None stands for the flattened tensor.
sorted: Accepted for compatibility with PyTensor.
idx_dtype: Dtype of the indices.
-> Indices of the elements that `topk` returns.
~ topk, argsort

= topk_and_argtopk
Largest or smallest elements along an axis, and their indices.
kth: Number of largest elements; if negative, of smallest elements.
axis: Axis along which to select; None stands for the flattened tensor.
sorted: Accepted for compatibility with PyTensor.
idx_dtype: Dtype of the indices.
-> tuple of TensorVariable: The results of `topk` and `argtopk`.
~ topk, argtopk

= searchsorted
Find where elements have to be inserted to keep a vector sorted.
x: Increasing vector.
v: Values to insert, of any shape.
side: ``'left'`` for the position before equal elements, ``'right'`` for the one after them.
sorter (tensor_like): Vector of indices that sorts `x`.
-> Positions, int64, of the shape of `v`.
~ digitize, sort

= digitize
Indices of the bins to which values belong.
x: Values, of any shape.
bins: Monotone vector of limits.
right: Whether the right limit of a bin belongs to it.
-> Indices, int64, of the shape of `x`.
~ searchsorted, bincount
* As ``numpy.digitize``.

= inverse_permutation
Inverse of permutations.
perm: Permutation, or batch of permutations along the last axis.
-> Permutations, int64, of the shape of `perm`.
~ permute_row_elements, argsort

= permute_row_elements
Permute the elements of rows.
x: Rows along the last axis.
y: One permutation for all rows, or one for each.
inverse: Apply the inverse permutations.
-> Permuted rows.
~ inverse_permutation

= dot
Dot product of tensors.
l: Left operand.
r: Right operand.
-> Sum over the last axis of `l` and the second to last of `r` (its last if it is a vector), as ``numpy.dot``.
! ShapeError: at run time, if these lengths differ.
~ matmul, tensordot, einsum

= dense_dot
Dot product of tensors.
a (tensor_like): Left operand.
b (tensor_like): Right operand.
-> The result of `dot`: all tensors are dense here.
~ dot

= matmul
Matrix product of batches of matrices.
x1: Left operand; a vector stands for a row.
x2: Right operand; a vector stands for a column.
dtype: Dtype of the result; by default the common one.
-> Products; batch dimensions are broadcast, as ``numpy.matmul``.
! ShapeError: at run time, if inner lengths differ.
~ dot, matvec, vecmat

= matvec
Matrix-vector product of batches.
x1: Matrices in the last two dimensions.
x2: Vectors in the last dimension.
dtype: Dtype of the result; by default the common one.
-> Vectors ``x1 @ x2``; batch dimensions are broadcast.
~ vecmat, vecdot, matmul

= vecmat
Vector-matrix product of batches.
x1: Vectors in the last dimension; complex ones are conjugated.
x2: Matrices in the last two dimensions.
dtype: Dtype of the result; by default the common one.
-> Vectors ``x1 @ x2``; batch dimensions are broadcast.
~ matvec, vecdot, matmul

= vecdot
Inner product of batches of vectors.
x1: Vectors in the last dimension; complex ones are conjugated.
x2: Vectors in the last dimension.
dtype: Dtype of the result; by default the common one.
axis (int): Dimension of the vectors, instead of the last one.
-> Scalars ``sum(conj(x1) * x2)``; batch dimensions are broadcast.
~ dot, matvec, vecmat

= outer
Outer product of two vectors.
x: First vector; other tensors are flattened.
y: Second vector; other tensors are flattened.
-> Matrix with elements ``x[i] * y[j]``.
~ dot, kron

= tensordot
Tensor contraction over given axes.
a: Left operand.
b: Right operand.
axes (int or pair of sequences of int): Number of last axes of `a` and first axes of `b`, or the axes of both.
-> Sum of products over these axes; the remaining axes of `a` come before those of `b`.
! ShapeError: at run time, if lengths of the axes differ.
~ dot, einsum

= einsum
Sum of products in Einstein's notation.
subscripts: Subscripts, as ``'ij,jk->ik'``; an ellipsis stands for broadcast dimensions.
operands (tensor_like): Operands.
optimize (bool or str): Accepted for compatibility with NumPy: an order is always chosen.
-> The tensor that the subscripts describe.
! ValueError: if the subscripts do not match the operands.
~ tensordot, dot
* Operands are contracted in pairs, each by a matrix product where possible, in an order based on the known lengths.

= kron
Kronecker product.
a: Left operand.
b: Right operand.
-> Blocks of `b`, multiplied by the elements of `a`.
~ outer

= clip
Limit values to an interval.
x: Values.
min (tensor_like or None): Lower bound; None for none.
max (tensor_like or None): Upper bound; None for none.
-> ``minimum(maximum(x, min), max)``, of the broadcast shape.
~ maximum, minimum

= largest
Elementwise maximum of several tensors.
args (tensor_like): Operands; their shapes are broadcast together.
-> Maxima; nan where an operand is nan.
! TypeError: without an argument.
~ smallest, maximum

= smallest
Elementwise minimum of several tensors.
args (tensor_like): Operands; their shapes are broadcast together.
-> Minima; nan where an operand is nan.
! TypeError: without an argument.
~ largest, minimum

= divmod
Quotient and remainder, elementwise.
x: Dividend.
y: Divisor.
-> tuple of TensorVariable: ``(x // y, x % y)``.
~ int_div, mod

= ceil_intdiv
Quotient of integers, rounded up, elementwise.
a: Dividend.
b: Divisor.
-> ``ceil(a / b)`` as integers.
~ int_div

= isclose
Test whether elements are equal within a tolerance.
a: First operand.
b: Second operand, to which the relative tolerance refers.
rtol: Relative tolerance.
atol: Absolute tolerance.
equal_nan: Whether nan equals nan.
-> ``abs(a - b) <= atol + rtol * abs(b)``, bool, of the broadcast shape; equal infinities are close.
~ allclose, eq

= allclose
Test whether all elements are equal within a tolerance.
a: First operand.
b: Second operand, to which the relative tolerance refers.
rtol: Relative tolerance.
atol: Absolute tolerance.
equal_nan: Whether nan equals nan.
-> A bool scalar.
~ isclose, all

= isfinite
Test for finite elements.
a: Numbers.
-> Bool tensor: true unless an element is infinite or nan.
~ isinf, isnan

= isposinf
Test for plus infinity.
-> Bool tensor of the shape of `x`.
~ isneginf, isinf

= isneginf
Test for minus infinity.
-> Bool tensor of the shape of `x`.
~ isposinf, isinf

= isinf
Test for infinite elements.
a (tensor_like): Numbers.
-> Bool tensor of the shape of `a`.
~ isnan, isfinite

= isnan
Test for nan.
a (tensor_like): Numbers.
-> Bool tensor of the shape of `a`.
~ isinf, isfinite

= nan_to_num
Replace nan and infinities by numbers.
nan: Replacement of nan.
posinf (tensor_like): Replacement of plus infinity; by default the largest finite number of the dtype.
neginf (tensor_like): Replacement of minus infinity; by default the most negative finite number of the dtype.
-> Tensor of the shape and dtype of `x`.
~ isfinite

= interp
One-dimensional linear interpolation.
x: Where to interpolate, of any shape.
xp: Increasing vector of abscissae.
fp: Vector of ordinates.
left (tensor_like): Value below ``xp[0]``; ``fp[0]`` by default.
right (tensor_like): Value above ``xp[-1]``; ``fp[-1]`` by default.
period (tensor_like): Period of the abscissae; `left` and `right` are then ignored.
-> Interpolated values, of the shape of `x`.
* As ``numpy.interp``.

= assume
State facts about a tensor as a matrix, for rewrites to use.
diagonal: Elements off the main diagonal are 0.
lower_triangular: Elements above the main diagonal are 0.
upper_triangular: Elements below the main diagonal are 0.
symmetric: The matrix equals its transpose.
positive_definite: The matrix is symmetric with positive eigenvalues.
orthogonal: The transpose is the inverse.
selection: The rows are distinct rows of an identity matrix.
permutation: The matrix is a permutation of an identity matrix.
unique_indices: Elements, as indices, are distinct.
tridiagonal: Elements are 0 except on the main diagonal and the two next to it.
unit_magnitude: Each element has the absolute value 1; for tensors of any rank.
-> `x`, with these facts known from now on: True for a fact that holds, False for one that does not. For a batch, they apply to each matrix.
! ConflictingAssumptionsError: if facts contradict each other, or known facts about `x`.
! ValueError: for a fact about square matrices if `x` is not square.
~ specify_shape, solve
* Facts are trusted, not checked. They select the algorithms of `solve`, `cholesky` and others, and their derivatives.
)doc");
// clang-format on

}  // namespace bitale::python
