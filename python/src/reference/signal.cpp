// Convolutions and pooling, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions signal(R"doc(
= conv2d
Convolve images with filters, by a product of matrices.
input: Images, of the shape (batch, channels, rows, columns).
filters: Filters, of the shape (filters, channels / num_groups, rows, columns), whose last two lengths are known.
border_mode (str, int, or pair of int): "valid" for positions at which a filter lies within the image, "half" for as many positions as the image has elements (odd filters), "full" for all at which they overlap, or the number of zeros added at each end.
subsample (int or pair of int): Stride of the positions.
filter_flip: Flip the filters, as convolution is defined; otherwise it is a correlation.
filter_dilation (int or pair of int): Spacing of a filter's elements.
num_groups: Number of groups of channels, each with its own filters.
-> Tensor of the shape (batch, filters, rows, columns).
! ShapeError: if ranks or channels do not match, or if an image is smaller than a filter.
! NotImplementedError: if the lengths of a filter are not known.
~ pool_2d, convolve
* The interface is that of Theano's `conv2d`.

= pool_2d
Reduce the last two dimensions over windows.
input: Images; leading dimensions are batch dimensions.
ws (int or pair of int): Lengths of a window.
ignore_border: Use only windows inside the image; must be true.
stride (int, pair of int, or None): Stride of the windows; their lengths by default.
pad (int or pair of int): Number of elements added at each end, smaller than the length of a window.
mode ({"max", "sum", "average_inc_pad", "average_exc_pad"}): Reduction; averages include or exclude the added elements.
-> Tensor with shorter last dimensions. Averages of integers are float64.
! NotImplementedError: if `ignore_border` is false.
! ValueError: if `mode` is unknown, or if `pad` is not less than the window.
~ conv2d
* The interface is that of Theano's `pool_2d`.

= convolve
Discrete convolution of two vectors.
a: First vector.
v: Second vector.
mode ({"full", "valid", "same"}): All n + k - 1 sums; those where the vectors overlap completely; or as many in the middle as the longer vector has elements.
-> Vector whose element i is the sum over j of ``a[i - j] * v[j]``.
! ShapeError: if an operand is not a vector, or is empty.
! ValueError: if `mode` is unknown.
~ correlate, convolve1d

= correlate
Cross-correlation of two vectors.
a: First vector.
v: Second vector; complex elements are conjugated.
mode ({"full", "valid", "same"}): As in `convolve`.
-> Vector whose element k is the sum over j of ``a[j + k] * conj(v[j])``.
! ShapeError: if an operand is not a vector, or is empty.
! ValueError: if `mode` is unknown.
~ convolve
)doc");
// clang-format on

}  // namespace bitale::python
