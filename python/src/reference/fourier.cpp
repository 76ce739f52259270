// Fourier transforms, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions fourier(R"doc(
= *transform
Fourier transforms along an axis.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
n (int or scalar): Length to which the axis is truncated or padded with zeros; by default its own length.
axis: Axis along which to transform.
norm ({"backward", "ortho", "forward"} or None): Normalisation: by 1/n in the inverse transform (the default), by 1/sqrt(n) in both, or by 1/n in the forward one.
! ValueError: if `norm` is unknown.

= fft
Discrete Fourier transform along an axis.
< *transform
-> complex64 or complex128.
~ ifft, fft2, fftn

= ifft
Inverse discrete Fourier transform along an axis.
< *transform
-> complex64 or complex128.
~ fft

= _rfft
Discrete Fourier transform of real numbers along an axis: the nonnegative frequencies.
< *transform
-> complex64 or complex128, ``n // 2 + 1`` elements along the axis.
! TypeError: if `a` is complex.

= _irfft
Inverse of `rfft`.
< *transform
n (int or scalar): Length of the result; ``2 * (length - 1)`` by default.
-> float32 or float64.

= hfft
Discrete Fourier transform of a Hermitian signal, given by its first half.
< *transform
n (int or scalar): Length of the result; ``2 * (length - 1)`` by default.
-> float32 or float64.
~ ihfft

= ihfft
Inverse of `hfft`.
< *transform
-> complex64 or complex128, ``n // 2 + 1`` elements along the axis.
! TypeError: if `a` is complex.
~ hfft

= *transform_of_several
Fourier transforms along several axes.
< *transform
s (sequence of int or scalars, or None): Lengths to which the axes are truncated or padded with zeros.
axes (sequence of int): Axes along which to transform; by default the last ones, as many as `s` has lengths, or all.
norm ({"backward", "ortho", "forward"} or None): Normalisation, as in `fft`.
~ fft

= *transform_of_two
Fourier transforms along two axes.
< *transform_of_several
axes (sequence of int): Axes along which to transform; by default the last two.

= fft2
Two-dimensional discrete Fourier transform.
< *transform_of_two
-> complex64 or complex128.

= ifft2
Inverse two-dimensional discrete Fourier transform.
< *transform_of_two
-> complex64 or complex128.

= rfft2
Two-dimensional discrete Fourier transform of real numbers.
< *transform_of_two
-> complex64 or complex128; the last axis has half of its elements and one.

= irfft2
Inverse of `rfft2`.
< *transform_of_two
-> float32 or float64.

= fftn
Discrete Fourier transform along several axes.
< *transform_of_several
-> complex64 or complex128.

= ifftn
Inverse discrete Fourier transform along several axes.
< *transform_of_several
-> complex64 or complex128.

= rfftn
Discrete Fourier transform of real numbers along several axes.
< *transform_of_several
-> complex64 or complex128; the last axis has half of its elements and one.

= irfftn
Inverse of `rfftn`.
< *transform_of_several
-> float32 or float64.

= fftfreq
Frequencies of the elements of a discrete Fourier transform.
n (int or scalar): Number of samples.
d: Spacing of the samples.
dtype: Dtype of the result; config.floatX by default.
-> Vector: 0 and the positive frequencies, then the negative ones.
~ rfftfreq, fftshift

= rfftfreq
Frequencies of the elements of a discrete Fourier transform of real numbers.
n (int or scalar): Number of samples.
d: Spacing of the samples.
dtype: Dtype of the result; config.floatX by default.
-> Vector of the nonnegative frequencies.
~ fftfreq

= fftshift
Shift the zero frequency to the middle.
x: Tensor in the order of `fft`.
axes: Axes along which to shift; all by default.
-> Tensor of the shape of `x`.
~ ifftshift, fftfreq

= ifftshift
Inverse of `fftshift`.
x: Tensor in the order of `fftfreq` after `fftshift`.
axes: Axes along which to shift; all by default.
-> Tensor of the shape of `x`.
~ fftshift
)doc");
// clang-format on

}  // namespace bitale::python
