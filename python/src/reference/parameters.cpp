// Parameters that many functions have: their text where a description has none.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions parameters(R"doc(
= *parameters
Parameters of many functions.
x: Tensor.
y: Tensor; the shapes of the operands are broadcast together.
input: Tensor.
a: Tensor.
axis: Axis or axes of the elements; by default all.
keepdims: Keep reduced axes, with length 1.
dtype: Dtype of the result.
device ({'cpu'}, optional): Accepted for the array-API standard; ValueError for any other device.
shape: Lengths of the dimensions, which may be symbolic.
A: Matrices, of shape (..., n, n).
ar1: First tensor; it is flattened.
ar2: Second tensor; it is flattened.
arr: Tensor.
assume_unique: Accepted for compatibility with NumPy; it has no effect.
axis1: Axis of the rows.
axis2: Axis of the columns.
check_finite: Accepted for compatibility with SciPy.
disconnected_inputs: What to do if `cost` does not depend on a variable: ``'raise'``, ``'warn'`` or ``'ignore'``.
lower: Whether the lower triangle is read.
offset: Diagonal: 0 is the main one, positive ones lie above it.
overwrite_a: Accepted for compatibility with SciPy.
overwrite_b: Accepted for compatibility with SciPy.
b_ndim: Number of dimensions of one right-hand side: 1 for vectors, 2 for matrices; by default 2 if `b` has at least two dimensions. Dimensions before them are batch dimensions.
)doc");
// clang-format on

}  // namespace bitale::python
