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
device ({'cpu'}, optional): Accepted as the array-API standard has it; ValueError for others.
shape: Lengths of the dimensions, which may be symbolic.
b_ndim: Number of dimensions of one right-hand side: 1 for vectors, 2 for matrices; by default 2 if `b` has at least two dimensions. What comes before are batch dimensions.
)doc");
// clang-format on

}  // namespace bitale::python
