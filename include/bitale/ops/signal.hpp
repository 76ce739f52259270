// Convolutions. Names and arguments follow PyTensor's (pytensor.tensor.signal) and SciPy's.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// Which part of all sums a convolution returns. Full: all n + k - 1; Valid: the max(n, k) - min(n, k) + 1 in which the
// shorter operand lies entirely within the longer; Same: the n in the middle.
enum class ConvolutionMode { Full, Valid, Same };

// out[i] = sum over j of x[i - j] y[j], along the last dimension (convolve1d) or the last two (convolve2d). Leading
// dimensions are batches, which broadcast as in elementwise operations. The result has the common dtype, int64 for two
// bools. ShapeError for too few dimensions and lengths of 0.
Variable convolve1d(const Operand& x, const Operand& y, ConvolutionMode mode = ConvolutionMode::Full);
Variable convolve2d(const Operand& x, const Operand& y, ConvolutionMode mode = ConvolutionMode::Full);

// NumPy's, of vectors: Same gives as many sums as the longer one has elements. correlate: out[k] is the sum over j of
// a[j + k] conj(v[j]). ShapeError for other ranks and for lengths of 0.
Variable convolve(const Operand& a, const Operand& v, ConvolutionMode mode = ConvolutionMode::Full);
Variable correlate(const Operand& a, const Operand& v, ConvolutionMode mode = ConvolutionMode::Valid);

}  // namespace bitale
