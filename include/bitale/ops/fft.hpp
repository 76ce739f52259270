// Discrete Fourier transforms. Names and arguments follow PyTensor's (pytensor.tensor.fft). Complex results are real
// tensors whose last dimension has length 2: real and imaginary part. float32 is computed in float32, integers and
// bools in float64. All transforms are linear and have derivatives of every order.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// Which transform is divided by which number: Backward: the inverse one by the number of elements n; Ortho: both by
// sqrt(n); None: neither.
enum class FourierNorm { Backward, Ortho, None };

// The transform of real x[m, ..., n] over all dimensions but the first: [m, ..., n / 2 + 1, 2]. ShapeError for fewer
// than two dimensions, and for a length of 0 of a dimension that is transformed.
Variable rfft(const Operand& x, FourierNorm norm = FourierNorm::Backward);
struct InverseOptions {
  FourierNorm norm = FourierNorm::Backward;
  bool is_odd = false;  // whether the last length n is odd
};
// The inverse of rfft: from z[m, ..., k, 2] the real [m, ..., n], where n is 2 (k - 1), or with is_odd 2 (k - 1) + 1.
// Imaginary parts that no transform of real numbers has are ignored.
Variable irfft(const Operand& z, const InverseOptions& options = {});

}  // namespace bitale
