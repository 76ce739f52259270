// Creation, conversion, shapes, joining and rearranging, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions shapes(R"doc(
= as_tensor_variable as_tensor
Convert a value to a symbolic tensor.
x: Variable (returned as it is), array or number (made a constant), or nested list of these (stacked).
name: Name of a new variable.
ndim (int): Number of dimensions of the result: missing ones, of length 1, are added on the left; superfluous ones of length 1 on the left are removed.
dtype: Dtype of a new constant.
-> The variable, of the shape and dtype of `x`.
! TypeError: if `x` cannot be converted to an array of numbers.
~ constant, shared

= constant
Create a constant tensor.
x: Value; arrays are copied.
name: Name of the constant.
ndim: Number of dimensions of the result.
dtype: Dtype of the constant; by default the smallest one of its kind that holds a Python integer, and config.floatX for a Python float.
-> A constant of the shape of `x`.
! TypeError: if `x` cannot be converted to an array of numbers.
~ as_tensor_variable

= scalar vector matrix row col tensor3 tensor4 tensor5 tensor6 tensor7
Create a symbolic variable of type $.
name: Name of the variable, for printing, errors and keyword arguments.
dtype: Dtype; config.floatX by default.
shape (sequence of int or None): Static lengths of the dimensions, None where a length is unknown.
-> A new input variable.
~ tensor

= tensor
Create a symbolic variable of any dtype and static shape.
name: Name of the variable, for printing, errors and keyword arguments.
dtype: Dtype; config.floatX by default.
shape (sequence of int or None): Static lengths of the dimensions, None where a length is unknown.
-> A new input variable.
~ scalar, vector, matrix, TensorType

= *s
Create several symbolic variables of one type.
args (str or int): Names of the variables, or how many unnamed ones to make.
-> list of TensorVariable: New input variables; a single one is returned as it is.
~ tensor

= arange
Evenly spaced values within a half-open interval.
start: First value; if `stop` is not given, this is the end, and the first value is 0.
stop (tensor_like): End of the interval, which is not included.
step (tensor_like): Spacing; 1 by default.
dtype: Dtype of the result; by default the common one of the arguments.
-> Vector ``start, start + step, ...`` of values before `stop`, of length ``ceil((stop - start) / step)``.
~ linspace, geomspace, logspace

= linspace
Evenly spaced numbers over an interval.
start (tensor_like): First number.
stop (tensor_like): Last number, unless `endpoint` is False.
num (int): Number of samples; a constant.
endpoint: Whether `stop` is the last sample.
retstep: Also return the spacing.
dtype (dtype_like): Dtype of the result; config.floatX by default. Integer dtypes round down.
axis: Axis of the result along which the samples lie.
-> Samples: the broadcast shape of the limits with a new axis of length `num`.
~ arange, geomspace, logspace

= logspace
Numbers spaced evenly on a logarithmic scale.
start: Exponent of the first number.
stop: Exponent of the last number.
num: Number of samples.
base: Base of the powers.
endpoint: Whether ``base**stop`` is the last sample.
dtype: Dtype of the result; config.floatX by default.
axis: Axis of the result along which the samples lie.
-> ``base**linspace(start, stop, num)``.
~ linspace, geomspace

= geomspace
Numbers spaced evenly on a logarithmic scale, given by their end points.
start: First number.
stop: Last number, of the sign of `start`; neither is 0.
num: Number of samples.
base: Base of the computation; it does not affect the result.
endpoint: Whether `stop` is the last sample.
dtype: Dtype of the result; config.floatX by default.
axis: Axis of the result along which the samples lie.
-> Samples; the ratio of neighbours is constant.
~ linspace, logspace

= zeros
Create a tensor of zeros.
dtype: Dtype; config.floatX by default.
-> Zeros of this shape.
~ zeros_like, ones, full

= ones
Create a tensor of ones.
dtype: Dtype; config.floatX by default.
-> Ones of this shape.
~ ones_like, zeros, full

= zeros_like
Create a tensor of zeros with the shape of another tensor.
model: Tensor whose shape, and by default whose dtype, the result has.
dtype: Dtype; by default that of `model`.
opt: Accepted for compatibility with PyTensor.
-> Zeros of the shape of `model`.
~ zeros, ones_like

= ones_like
Create a tensor of ones with the shape of another tensor.
model: Tensor whose shape, and by default whose dtype, the result has.
dtype: Dtype; by default that of `model`.
opt: Accepted for compatibility with PyTensor.
-> Ones of the shape of `model`.
~ ones, zeros_like

= empty
Create a tensor whose elements are unspecified.
dtype: Dtype; config.floatX by default.
-> A tensor of this shape; its elements are currently 0.
~ zeros, empty_like

= empty_like
Create a tensor with the shape of another tensor, whose elements are unspecified.
prototype (tensor_like): Tensor whose shape, and by default whose dtype, the result has.
dtype: Dtype; by default that of `prototype`.
-> A tensor of the shape of `prototype`; its elements are currently 0.
~ empty, zeros_like

= full
Create a tensor filled with one value.
fill_value: Value of all elements; it is broadcast to the shape.
dtype: Dtype; by default that of `fill_value`.
-> A tensor of this shape.
~ full_like, zeros, ones

= full_like
Create a tensor filled with one value, with the shape of another tensor.
a: Tensor whose shape the result has.
fill_value: Value of all elements.
dtype: Dtype; by default that of `fill_value`.
-> A tensor of the shape of `a`.
~ full, zeros_like

= alloc
Broadcast a value to a new tensor of a given shape.
value: Value to broadcast.
shape (int or scalar tensor): Lengths of the dimensions, each an argument.
-> Tensor of this shape, of the dtype of `value`.
! ShapeError: at run time, if `value` does not broadcast to the shape.
~ broadcast_to, full

= eye
Matrix with ones on a diagonal and zeros elsewhere.
n: Number of rows.
m (tensor_like): Number of columns; `n` by default.
k (int or TensorVariable): Diagonal: 0 is the main one, positive ones lie above it.
dtype: Dtype; config.floatX by default.
-> An ``(n, m)`` matrix.
~ identity_like, diag, tri

= identity_like
Identity matrix with the shape of another matrix.
x: Matrix whose shape, and by default whose dtype, the result has.
dtype: Dtype; by default that of `x`.
-> Ones on the main diagonal, zeros elsewhere.
! ValueError: if `x` is not a matrix.
~ eye

= identity tensor_copy
Copy a tensor.
-> A new variable with the value of `x`. A derivative with respect to it only includes what is computed from the copy.

= tri
Matrix with ones on and below a diagonal.
N: Number of rows.
M (tensor_like): Number of columns; `N` by default.
k: Diagonal: 0 is the main one, positive ones lie above it.
dtype: Dtype; config.floatX by default.
-> An ``(N, M)`` matrix.
~ tril, triu, eye

= tril
Lower triangle of matrices.
m: Matrix, batch of matrices, or vector, which stands for a matrix with this vector in every row.
k: Diagonal above which elements are zeroed.
-> `m` with zeros above diagonal `k`.
~ triu, tri

= triu
Upper triangle of matrices.
m: Matrix, batch of matrices, or vector, which stands for a matrix with this vector in every row.
k: Diagonal below which elements are zeroed.
-> `m` with zeros below diagonal `k`.
~ tril, tri

= tril_indices
Indices of the lower triangle of a matrix.
n: Number of rows.
k: Diagonal up to which elements are taken.
m (tensor_like): Number of columns; `n` by default.
-> tuple of TensorVariable: Row indices and column indices, two int64 vectors.
~ tril, triu_indices

= triu_indices
Indices of the upper triangle of a matrix.
n: Number of rows.
k: Diagonal from which on elements are taken.
m (tensor_like): Number of columns; `n` by default.
-> tuple of TensorVariable: Row indices and column indices, two int64 vectors.
~ triu, tril_indices

= tril_indices_from
Indices of the lower triangle of a given matrix.
a: Matrix.
k: Diagonal up to which elements are taken.
-> tuple of TensorVariable: Row indices and column indices, two int64 vectors.
! ValueError: if `a` is not a matrix.
~ tril_indices

= triu_indices_from
Indices of the upper triangle of a given matrix.
a: Matrix.
k: Diagonal from which on elements are taken.
-> tuple of TensorVariable: Row indices and column indices, two int64 vectors.
! ValueError: if `a` is not a matrix.
~ triu_indices

= diag
Extract a diagonal of a matrix, or construct a diagonal matrix.
v: Vector to be put on the diagonal, or matrix whose diagonal is taken.
k: Diagonal: 0 is the main one, positive ones lie above it.
-> The matrix of a vector, or the diagonal of a matrix, of the dtype of `v`.
! ValueError: if `v` is neither a vector nor a matrix.
~ diagonal, fill_diagonal, eye

= diagonal
Diagonal of the matrices spanned by two axes.
a: Tensor of at least two dimensions.
-> The diagonals, along a new last axis.
! ValueError: if `a` has fewer than two dimensions.
~ diag, trace

= extract_diag
Diagonal of the matrices spanned by two axes.
x: Tensor of at least two dimensions.
view: Accepted for compatibility with PyTensor.
-> The diagonals, along a new last axis.
~ diagonal
* An older name of `diagonal`.

= fill_diagonal
Matrix with a new value on its main diagonal.
a: Matrix, or tensor whose dimensions have equal lengths.
val: Scalar to be put there.
-> A copy of `a` with `val` on the main diagonal.
~ fill_diagonal_offset, diag

= fill_diagonal_offset
Matrix with a new value on one of its diagonals.
a: Matrix.
val: Scalar to be put there.
-> A copy of `a` with `val` on that diagonal.
~ fill_diagonal

= trace
Sum along a diagonal of the matrices spanned by two axes.
a: Tensor of at least two dimensions.
dtype: Dtype in which the elements are added, and of the result.
-> Sums, of the shape of `a` without the two axes.
~ diagonal, sum

= cast
Convert a tensor to another dtype.
-> Tensor of the shape of `x`; `x` itself if it has this dtype.
! TypeError: for complex `x` and a real dtype.
~ as_tensor_variable
* Floats are truncated towards zero; integers wrap.

= bartlett
Bartlett window.
M: Number of points, a scalar.
-> Vector of length `M`: a triangle with the maximum 1 in the middle and zeros at both ends.
* As ``numpy.bartlett``.

= reshape
Change the shape of a tensor without changing its elements.
newshape: Lengths of the result; one of them may be -1 and is inferred.
ndim: Number of dimensions, where `newshape` is a symbolic vector of unknown length.
copy (bool): Accepted for compatibility with the array-API standard.
-> Tensor of the new shape, with the elements in row-major order.
! ShapeError: at run time, if the number of elements differs.
~ flatten, join_dims, split_dims

= flatten
Collapse the trailing dimensions of a tensor into one.
ndim: Number of dimensions of the result.
-> Tensor of `ndim` dimensions; the leading ``ndim - 1`` are unchanged.
~ reshape, join_dims

= join_dims
Collapse consecutive dimensions into one.
start_axis: First of the dimensions.
n_axes: Number of dimensions to collapse; by default all from `start_axis` on. With 0, a dimension of length 1 is inserted.
-> Tensor with the elements of `x` in row-major order.
~ split_dims, flatten, reshape

= split_dims
Split one dimension into several.
shape: Lengths of the new dimensions; one of them may be -1 and is inferred.
axis: Dimension to split.
-> Tensor with the elements of `x` in row-major order.
! ShapeError: at run time, if the product of the lengths differs from that of the dimension.
~ join_dims, reshape

= dimshuffle
Permute, insert and drop dimensions.
pattern (int or 'x'): For each dimension of the result, the dimension of `x` from which it comes, or ``'x'`` for a new one of length 1. Omitted dimensions must have length 1.
-> View of `x`.
! ValueError: if an omitted dimension is not known to have length 1.
~ transpose, expand_dims, squeeze

= transpose
Permute the dimensions of a tensor.
axes (sequence of int): Order of the dimensions of `x` in the result; reversed by default.
-> View of `x` with permuted dimensions.
~ moveaxis, swapaxes, dimshuffle

= swap_last_axes matrix_transpose
Transpose the matrices of a batch.
x: Tensor of at least two dimensions.
-> View of `x` with its last two dimensions exchanged.
~ transpose

= swapaxes
Exchange two dimensions of a tensor.
y: Tensor.
axis1: First of them.
axis2: Second of them.
-> View of `y`.
~ moveaxis, transpose

= moveaxis
Move dimensions of a tensor to new positions.
source (int or sequence of int): Positions of the dimensions to move.
destination (int or sequence of int): Their positions in the result. Other dimensions keep their order.
-> View of `a`.
~ transpose, swapaxes

= expand_dims
Insert dimensions of length 1.
axis: Positions of the new dimensions in the result.
-> View of `a`.
~ squeeze, shape_padaxis

= squeeze
Remove dimensions of length 1.
axis: Dimensions to remove; by default all whose static length is 1.
-> View of `x`.
! ValueError: if a dimension in `axis` is known to have another length.
~ expand_dims

= shape_padaxis
Insert a dimension of length 1.
t: Tensor.
axis: Position of the new dimension in the result.
-> View of `t`.
~ expand_dims

= shape_padleft
Insert dimensions of length 1 on the left.
t: Tensor.
n_ones: Number of dimensions to insert.
-> View of `t`.
~ shape_padright, expand_dims

= shape_padright
Insert dimensions of length 1 on the right.
t: Tensor.
n_ones: Number of dimensions to insert.
-> View of `t`.
~ shape_padleft, expand_dims

= atleast_1d
View a tensor as one of at least one dimension.
-> `x`, or a vector of length 1 for a scalar.
~ atleast_2d, atleast_Nd

= atleast_2d
View a tensor as one of at least two dimensions.
-> `x` with missing dimensions of length 1 on the left.
~ atleast_1d, atleast_Nd

= atleast_3d
View a tensor as one of at least three dimensions.
-> `x` with missing dimensions of length 1.
~ atleast_Nd

= atleast_Nd
View a tensor as one of at least `n` dimensions.
arry: Tensor.
n: Minimum number of dimensions.
left: Add missing dimensions on the left rather than on the right.
-> `arry` with missing dimensions of length 1.
~ atleast_1d, expand_dims

= shape
Shape of a tensor.
-> Lengths of the dimensions, an int64 vector.
~ shape_i

= shape_i
Length of one dimension of a tensor.
i: Dimension.
-> Length, an int64 scalar.
~ shape

= specify_shape
Assert the shape of a tensor.
shape (int, scalar tensor or None): Lengths, each an argument or all in one sequence; None where a length is not asserted.
-> `x`, with static lengths where they are constants.
! ShapeError: at run time, if a length differs.
~ assume

= specify_broadcastable
Assert that dimensions have length 1.
axes (int): The dimensions.
-> `x`, of static length 1 in these dimensions.
! ShapeError: at run time, if a length differs.
~ specify_shape

= broadcast_to
Broadcast a tensor to a shape.
-> View of `x` of this shape.
! ShapeError: at run time, if `x` does not broadcast to it.
~ broadcast_arrays, alloc

= broadcast_arrays
Broadcast tensors against each other.
args (tensor_like): Tensors.
-> list of TensorVariable: The tensors, all of the broadcast shape.
~ broadcast_to, broadcast_shape

= broadcast_shape
Shape that tensors have when they are broadcast against each other.
arrays (tensor_like): Tensors, or their shapes.
arrays_are_shapes: Whether the arguments are shapes.
-> tuple of TensorVariable: Lengths of the dimensions.
~ broadcast_arrays

= join
Join tensors along an existing axis.
axis: Axis along which to join.
tensors_list (tensor_like): Tensors, of equal lengths in the other dimensions.
-> Joined tensor, of the common dtype.
! ShapeError: at run time, if lengths differ.
~ concatenate, stack, split

= concatenate
Join tensors along an existing axis.
tensor_list (sequence of tensor_like): Tensors, of equal lengths in the other dimensions.
axis: Axis along which to join.
-> Joined tensor, of the common dtype.
! ShapeError: at run time, if lengths differ.
~ stack, split, concat_with_broadcast

= concat_with_broadcast
Join tensors along an axis after broadcasting their other dimensions.
tensor_list (sequence of tensor_like): Tensors of the same number of dimensions.
axis: Axis along which to join.
-> Joined tensor, of the common dtype.
~ concatenate

= stack
Join tensors along a new axis.
tensors (sequence of tensor_like): Tensors of one shape.
axis: Position of the new axis in the result.
-> Stacked tensor, of the common dtype.
~ concatenate

= horizontal_stack
Join matrices side by side.
args (tensor_like): Matrices with the same number of rows.
-> Joined matrix.
! ValueError: if an argument is not a matrix.
~ vertical_stack, concatenate

= vertical_stack
Join matrices one below the other.
args (tensor_like): Matrices with the same number of columns.
-> Joined matrix.
! ValueError: if an argument is not a matrix.
~ horizontal_stack, concatenate

= split
Split a tensor into consecutive parts along an axis.
splits_size: Lengths of the parts.
n_splits (int): Number of parts, where `splits_size` is a symbolic vector of unknown length.
axis: Axis along which to split.
-> list of TensorVariable: The parts.
! ValueError: if a length is negative, or their sum is not the length of the axis.
~ concatenate

= make_vector
Vector of scalars.
scalars (tensor_like): Elements.
dtype: Dtype; by default the common one.
-> A vector with one element per argument.
~ stack

= repeat
Repeat the elements of a tensor.
repeats: How often: one number, or one for each element along the axis.
axis (int): Axis along which to repeat; by default the flattened tensor.
-> Tensor with each element repeated consecutively.
! ValueError: if a number is negative, or a vector of numbers has another length than the axis.
~ tile

= tile
Repeat a tensor along its dimensions.
A: Tensor.
reps (int or sequence of int): How often along each dimension; missing numbers are 1, on the left.
-> Tiled tensor.
~ repeat

= flip
Reverse the order of elements along axes.
axis: Axes to reverse; all by default.
-> View of `arr`.
~ roll, rot90

= roll
Shift elements cyclically along an axis.
shift (int or sequence of int): Number of positions; elements that leave one end come in at the other.
axis (int): Axis along which to shift; by default the flattened tensor, whose shape is then restored.
-> Tensor of the shape of `x`.
~ flip

= rot90
Rotate a tensor by multiples of 90 degrees in the plane of two axes.
m: Tensor of at least two dimensions.
k: Number of rotations.
axes (pair of int): The plane; the direction is from the first axis towards the second.
-> Rotated tensor.
~ flip, transpose

= meshgrid
Coordinate tensors of a grid, given by coordinate vectors.
xi (tensor_like): Coordinates along each dimension; vectors, or flattened to vectors.
copy: Must be True: results share no memory.
sparse: Return tensors that broadcast to the grid instead of full ones.
indexing: ``'xy'`` (the first two dimensions are exchanged) or ``'ij'``.
-> list of TensorVariable: One tensor per coordinate vector.
! ValueError: for another `indexing`.
! NotImplementedError: for ``copy=False``.
* As ``numpy.meshgrid``.

= pad
Pad a tensor.
x (tensor_like): Tensor.
pad_width (int, pair, or sequence of pairs): Numbers of elements before and after each dimension.
mode: ``'constant'``, ``'edge'``, ``'linear_ramp'``, ``'maximum'``, ``'minimum'``, ``'mean'``, ``'median'``, ``'wrap'``, ``'symmetric'`` or ``'reflect'``.
constant_values (tensor_like): Values for mode ``'constant'``; 0 by default.
end_values (tensor_like): Outermost values for mode ``'linear_ramp'``; 0 by default.
stat_length (int or sequence of int): Number of elements at each edge from which a statistic is computed; all by default.
reflect_type: ``'even'`` mirrors `x`; ``'odd'`` mirrors it at the points at its edges, ``2 * edge - x``.
-> Padded tensor.
! ValueError: for an unknown mode, negative widths, or an argument that the mode does not accept.
* As ``numpy.pad``.

= diff
Differences of neighbouring elements along an axis.
n: Number of times to take differences.
axis: Axis along which to take them.
prepend (tensor_like): Joined to `x` before it; a scalar stands for one element.
append (tensor_like): Joined to `x` after it.
-> Differences, `n` fewer along the axis; for bool, whether neighbours differ.
~ cumsum

= flatnonzero
Indices of the nonzero elements of the flattened tensor.
-> Indices, an int64 vector.
! ValueError: for a scalar.
~ nonzero

= deg2rad
Convert degrees to radians.
a: Angles in degrees.
-> ``a * pi / 180``, elementwise.
~ rad2deg

= rad2deg
Convert radians to degrees.
a: Angles in radians.
-> ``a * 180 / pi``, elementwise.
~ deg2rad

= real
Real part of complex numbers.
-> Real parts, elementwise; `x` itself where it is real.
~ imag, conj

= imag
Imaginary part of complex numbers.
-> Imaginary parts, elementwise; zeros where `x` is real.
~ real, conj

= conj conjugate
Complex conjugate.
-> Conjugates, elementwise; `x` itself where it is real.
~ real, imag

= angle
Argument of complex numbers.
z: Complex or real numbers.
-> Angles to the positive real axis in (-pi, pi], elementwise: 0 for positive and pi for negative real numbers; nan for nan.
~ complex_from_polar, abs

= complex
Construct complex numbers from their real and imaginary parts.
real: Real parts.
imag: Imaginary parts.
-> ``real + 1j * imag``, of the broadcast shape: complex64 for float32 and narrower dtypes, otherwise complex128.
! TypeError: for complex operands.
~ complex_from_polar

= complex_from_polar
Construct complex numbers from their absolute values and arguments.
abs: Absolute values.
angle: Arguments in radians.
-> ``abs * exp(1j * angle)``, of the broadcast shape.
~ complex, angle

= get_scalar_constant_value
Value of a scalar that the graph shows to be constant.
v (tensor_like): Scalar, or tensor of one element.
elemwise: Look through elementwise operations.
only_process_constants: Look only at constants.
max_recur: Maximum number of operations to look through.
raise_not_constant: Raise an error if there is no such value; otherwise return `v`.
-> numpy.ndarray: The value, without dimensions.
! NotScalarConstantError: if the graph does not show a value, or `v` has more than one element.
~ get_underlying_scalar_constant_value

= get_underlying_scalar_constant_value
Value that all elements of a tensor have, if the graph shows it.
v (tensor_like): Tensor.
elemwise: Look through elementwise operations.
only_process_constants: Look only at constants.
max_recur: Maximum number of operations to look through.
raise_not_constant: Raise an error if there is no such value; otherwise return `v`.
-> numpy.ndarray: The value, without dimensions.
! NotScalarConstantError: if the graph does not show a value.
~ get_scalar_constant_value

= get_vector_length
Number of elements of a vector of known length.
v: Vector.
-> int: Number of elements.
! ValueError: if the length is not known, or `v` is not a vector.
~ shape

= round round_half_to_even
Round to the nearest integer, or to decimal places, elementwise.
mode (str or int): How ties between two integers are resolved: ``'half_to_even'`` (the default) or ``'half_away_from_zero'``. An integer is NumPy's argument at this position, `decimals`.
decimals: Decimal places; negative: digits before the point.
-> Rounded numbers, of the shape of `a`.
! ValueError: for another mode.
~ floor, ceil, trunc, iround

= iround
Round to the nearest integer as int64, elementwise.
mode: As in `round`.
-> Integers, int64, of the shape of `a`.
! ValueError: for another mode.
~ round

= is_flat
Test whether flattening a tensor changes nothing.
var: Tensor.
ndim: Number of dimensions to flatten to.
-> bool: Whether `var` has `ndim` dimensions.
~ flatten

= pack
Flatten tensors and join them.
tensors: Tensors.
keep_axes: Axes that are not flattened: leading ones, counted from 0, trailing ones, counted from -1, or both.
-> packed: The joined tensor.
-> shapes (list of TensorVariable): Shapes of the flattened axes, which `unpack` needs.
! ValueError: for any other axes, and for tensors with too few dimensions.
~ unpack, concatenate

= unpack
Split a tensor into those that `pack` has joined.
packed_input: Joined tensor.
packed_shapes (sequence of tensor_like): Shapes that `pack` has returned.
keep_axes: Axes that `pack` has not flattened.
-> list of TensorVariable: The tensors.
~ pack, split

= scalar_from_tensor tensor_from_scalar
Scalar, which is a tensor without dimensions.
s: Scalar.
-> `s` as a variable.
! TypeError: for tensors with dimensions.

= sgn
Sign of numbers, elementwise.
-> -1, 0 or 1; nan for nan.
~ sign

= slice_at_axis
Index that takes a slice of one dimension and all of the others.
sl: Slice.
axis: Dimension.
-> tuple: The index.

= stacklists
Stack nested lists of tensors.
arg (nested sequence of tensor_like): Lists of tensors of one shape.
-> Tensor with a new leading dimension for each level of lists.
~ stack

= vectorize
Make a function of variables apply to batches.
func: Function from variables to a variable or several.
signature: Core dimensions of inputs and outputs, as ``'(m,n),(n)->(m)'``; by default all are scalars.
-> collections.abc.Callable: The function of batches, whose batch dimensions broadcast.
! ValueError: for a string that is not a signature, inputs with fewer dimensions than it has, and outputs with other numbers of dimensions.
~ vectorize_graph
)doc");
// clang-format on

}  // namespace bitale::python
