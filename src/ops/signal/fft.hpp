// The Fourier transforms along one axis of which all others are composed. None is normalized. Pairs of a real and an
// imaginary part are along the last axis.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

// Of pairs z[..., n, 2], along the axis before the last.
Variable transform_of_pairs(const Variable& z, bool inverse);
// Of real x[..., n]: the pairs [..., n / 2 + 1, 2], and the n real numbers of such pairs.
Variable transform_of_reals(const Variable& x);
Variable reals_of_transform(const Variable& z, const Variable& n);

}  // namespace bitale
