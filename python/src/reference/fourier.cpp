// Fourier transforms, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions fourier(R"doc(
= fft
Discrete Fourier transform along an axis.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
n (int or scalar): Length to which the axis is cut or padded with zeros; its own by default.
axis: Axis along which to transform.
norm ({"backward", "ortho", "forward"} or None): Normalisation: by 1/n in the inverse transform (the default), by 1/sqrt(n) in both, or by 1/n in the forward one.
-> complex64 or complex128.
! ValueError: if `norm` is unknown.
~ ifft, fft2, fftn

= ifft
Inverse discrete Fourier transform along an axis.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
n (int or scalar): Length to which the axis is cut or padded with zeros; its own by default.
axis: Axis along which to transform.
norm ({"backward", "ortho", "forward"} or None): Normalisation: by 1/n in the inverse transform (the default), by 1/sqrt(n) in both, or by 1/n in the forward one.
-> complex64 or complex128.
! ValueError: if `norm` is unknown.
~ fft

= _rfft
Discrete Fourier transform of real numbers along an axis: the nonnegative frequencies.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
n (int or scalar): Length to which the axis is cut or padded with zeros; its own by default.
axis: Axis along which to transform.
norm ({"backward", "ortho", "forward"} or None): Normalisation: by 1/n in the inverse transform (the default), by 1/sqrt(n) in both, or by 1/n in the forward one.
-> complex64 or complex128, ``n // 2 + 1`` elements along the axis.
! ValueError: if `norm` is unknown.
! TypeError: if `a` is complex.

= _irfft
Inverse of `rfft`.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
n (int or scalar): Length of the result; ``2 * (length - 1)`` by default.
axis: Axis along which to transform.
norm ({"backward", "ortho", "forward"} or None): Normalisation: by 1/n in the inverse transform (the default), by 1/sqrt(n) in both, or by 1/n in the forward one.
-> float32 or float64.
! ValueError: if `norm` is unknown.

= hfft
Discrete Fourier transform of a Hermitian signal, given by its first half.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
n (int or scalar): Length of the result; ``2 * (length - 1)`` by default.
axis: Axis along which to transform.
norm ({"backward", "ortho", "forward"} or None): Normalisation: by 1/n in the inverse transform (the default), by 1/sqrt(n) in both, or by 1/n in the forward one.
-> float32 or float64.
! ValueError: if `norm` is unknown.
~ ihfft

= ihfft
Inverse of `hfft`.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
n (int or scalar): Length to which the axis is cut or padded with zeros; its own by default.
axis: Axis along which to transform.
norm ({"backward", "ortho", "forward"} or None): Normalisation: by 1/n in the inverse transform (the default), by 1/sqrt(n) in both, or by 1/n in the forward one.
-> complex64 or complex128, ``n // 2 + 1`` elements along the axis.
! ValueError: if `norm` is unknown.
! TypeError: if `a` is complex.
~ hfft

= fft2
Two-dimensional discrete Fourier transform.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
s (sequence of int or scalars, or None): Lengths to which the axes are cut or padded with zeros.
axes (sequence of int): Axes along which to transform; by default the last two.
norm ({"backward", "ortho", "forward"} or None): Normalisation, as of `fft`.
-> complex64 or complex128.
! ValueError: if `norm` is unknown.
~ fft

= ifft2
Inverse two-dimensional discrete Fourier transform.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
s (sequence of int or scalars, or None): Lengths to which the axes are cut or padded with zeros.
axes (sequence of int): Axes along which to transform; by default the last two.
norm ({"backward", "ortho", "forward"} or None): Normalisation, as of `fft`.
-> complex64 or complex128.
! ValueError: if `norm` is unknown.
~ fft

= rfft2
Two-dimensional discrete Fourier transform of real numbers.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
s (sequence of int or scalars, or None): Lengths to which the axes are cut or padded with zeros.
axes (sequence of int): Axes along which to transform; by default the last two.
norm ({"backward", "ortho", "forward"} or None): Normalisation, as of `fft`.
-> complex64 or complex128; the last axis has half of its elements and one.
! ValueError: if `norm` is unknown.
~ fft

= irfft2
Inverse of `rfft2`.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
s (sequence of int or scalars, or None): Lengths to which the axes are cut or padded with zeros.
axes (sequence of int): Axes along which to transform; by default the last two.
norm ({"backward", "ortho", "forward"} or None): Normalisation, as of `fft`.
-> float32 or float64.
! ValueError: if `norm` is unknown.
~ fft

= fftn
Discrete Fourier transform along several axes.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
s (sequence of int or scalars, or None): Lengths to which the axes are cut or padded with zeros.
axes (sequence of int): Axes along which to transform; by default as many of the last as `s` has lengths, or all.
norm ({"backward", "ortho", "forward"} or None): Normalisation, as of `fft`.
-> complex64 or complex128.
! ValueError: if `norm` is unknown.
~ fft

= ifftn
Inverse discrete Fourier transform along several axes.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
s (sequence of int or scalars, or None): Lengths to which the axes are cut or padded with zeros.
axes (sequence of int): Axes along which to transform; by default as many of the last as `s` has lengths, or all.
norm ({"backward", "ortho", "forward"} or None): Normalisation, as of `fft`.
-> complex64 or complex128.
! ValueError: if `norm` is unknown.
~ fft

= rfftn
Discrete Fourier transform of real numbers along several axes.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
s (sequence of int or scalars, or None): Lengths to which the axes are cut or padded with zeros.
axes (sequence of int): Axes along which to transform; by default as many of the last as `s` has lengths, or all.
norm ({"backward", "ortho", "forward"} or None): Normalisation, as of `fft`.
-> complex64 or complex128; the last axis has half of its elements and one.
! ValueError: if `norm` is unknown.
~ fft

= irfftn
Inverse of `rfftn`.
a: Numbers. float32 and complex64 are transformed in float32, all others in float64.
s (sequence of int or scalars, or None): Lengths to which the axes are cut or padded with zeros.
axes (sequence of int): Axes along which to transform; by default as many of the last as `s` has lengths, or all.
norm ({"backward", "ortho", "forward"} or None): Normalisation, as of `fft`.
-> float32 or float64.
! ValueError: if `norm` is unknown.
~ fft

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
