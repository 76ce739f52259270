// Discrete Fourier transforms of complex tensors. Names and arguments are NumPy's (numpy.fft) and the array-API
// standard's. fft.hpp has PyTensor's rfft and irfft, whose results are pairs of real numbers. float32 and complex64 are
// computed in float32, all other dtypes in float64. All transforms are linear and have derivatives of every order.
#pragma once

#include <optional>
#include <vector>

#include "bitale/ops/ops.hpp"

namespace bitale::fourier {

// Which transform is divided by the number n of elements: the inverse one, both by sqrt(n), or the forward one.
enum class Norm { Backward, Ortho, Forward };

// Along one axis, of n elements: x is cut, or zeros are added at its end. n: by default the length of x; of irfft and
// hfft, whose x has the first half and one of the elements, 2 (length - 1). AxisError for an axis that does not exist,
// ShapeError for a length of 0, TypeError for complex operands of rfft and ihfft.
struct LineOptions {
  std::optional<Operand> n = {};
  int axis = -1;
  Norm norm = Norm::Backward;
};
Variable fft(const Operand& x, const LineOptions& options = {});
Variable ifft(const Operand& x, const LineOptions& options = {});
Variable rfft(const Operand& x, const LineOptions& options = {});
Variable irfft(const Operand& x, const LineOptions& options = {});
Variable hfft(const Operand& x, const LineOptions& options = {});
Variable ihfft(const Operand& x, const LineOptions& options = {});

// Along several axes, each of as many elements as s says; the real ones along the last of them. axes: by default the
// last ones, as many as there are lengths s, or all. ValueError when s and axes differ in number, and for no axes of a
// real transform.
struct GridOptions {
  std::optional<std::vector<Operand>> s = {};
  Axes axes = all_axes;
  Norm norm = Norm::Backward;
};
Variable fftn(const Operand& x, const GridOptions& options = {});
Variable ifftn(const Operand& x, const GridOptions& options = {});
Variable rfftn(const Operand& x, const GridOptions& options = {});
Variable irfftn(const Operand& x, const GridOptions& options = {});
// The same along the last two axes by default.
Variable fft2(const Operand& x, const GridOptions& options = {.axes = {-2, -1}});
Variable ifft2(const Operand& x, const GridOptions& options = {.axes = {-2, -1}});
Variable rfft2(const Operand& x, const GridOptions& options = {.axes = {-2, -1}});
Variable irfft2(const Operand& x, const GridOptions& options = {.axes = {-2, -1}});

// The frequencies of the elements of a transform of length n, for samples at a distance of d: of fft, 0 and the
// positive ones before the negative ones; of rfft, those from 0 on. dtype: config.floatX when not given.
Variable fftfreq(const Operand& n, const Operand& d = 1.0, std::optional<DType> dtype = {});
Variable rfftfreq(const Operand& n, const Operand& d = 1.0, std::optional<DType> dtype = {});
// The elements of each axis (all by default) rotated such that the frequency 0 is in the middle, and back.
Variable fftshift(const Operand& x, const Axes& axes = all_axes);
Variable ifftshift(const Operand& x, const Axes& axes = all_axes);

}  // namespace bitale::fourier
