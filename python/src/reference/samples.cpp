// Functions of samples: integrals, derivatives, polynomials, histograms, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions samples(R"doc(
= trapezoid
Integrate samples along an axis by the trapezoidal rule.
y: Samples.
x (tensor_like or None): Sample points: a vector, or a tensor that broadcasts with `y`.
dx: Spacing of the points where `x` is None.
axis: Axis along which to integrate.
-> Floats; the axis is removed.
~ diff, cumsum

= gradient
Differentiate samples along axes by finite differences.
f: Samples.
varargs (tensor_like): Spacing: nothing for 1, one number for all axes, or per axis a number or the vector of the coordinates.
axis: Axes along which to differentiate; all by default.
edge_order ({1, 2}): Order of the differences at the ends.
-> TensorVariable or tuple of TensorVariable: Derivatives along each axis, of the shape of `f`.
! ValueError: if the number of spacings does not match, or if an axis has fewer than ``edge_order + 1`` elements.
~ diff, grad
* Central differences of second order inside, as numpy.gradient. `bitale.grad` differentiates expressions.

= polyval
Evaluate a polynomial by Horner's scheme.
p: Vector of the coefficients, from the highest power to the constant.
x: Points at which to evaluate.
-> Tensor of the shape of `x`.
! ValueError: if `p` is not a vector.
~ vander

= vander
Vandermonde matrix of a vector.
x: Vector.
N (int or scalar): Number of columns; the length of `x` by default.
increasing: Order the powers from 0 up instead of down to 0.
-> Matrix whose rows are powers of the elements of `x`.
! ValueError: if `x` is not a vector.
~ polyval

= cross
Cross product of vectors.
a: Vectors of length 3; other dimensions broadcast.
b: Vectors of length 3; other dimensions broadcast.
axisa: Axis of the vectors in `a`.
axisb: Axis of the vectors in `b`.
axisc: Axis of the vectors in the result.
axis (int or None): Axis in all three, instead of the others.
-> Vectors of length 3.
! ValueError: if the vectors have another length.
~ dot, outer

= histogram
Count elements in bins.
a: Real numbers; they are flattened, and nan is ignored.
bins (int or tensor_like): Number of bins of equal width, or the vector of the edges.
range (pair of scalars or None): Outer edges of bins of equal width; the extremes of `a` by default.
density: Normalise the counts to a density.
weights (tensor_like or None): Weight of each element, of the shape of `a`.
-> tuple of two TensorVariable: Counts, int64 or of the dtype of the weights, and the edges. A bin includes its lower edge; the last one both.
! ValueError: if edges decrease.
~ bincount, searchsorted

= corrcoef
Pearson correlation coefficients.
x: Observations of variables; a vector is one variable.
y (tensor_like or None): Further variables.
rowvar: Whether rows are variables; otherwise columns are.
dtype: Dtype of the computation and the result.
-> Matrix of correlations; a scalar for one variable.
~ cov
)doc");
// clang-format on

}  // namespace bitale::python
