// Quantiles by the methods of Hyndman and Fan ("Sample Quantiles in Statistical Packages", 1996) and NumPy's others,
// and order statistics that leave nan out. Names and arguments are NumPy's.
#pragma once

#include <string_view>

#include "bitale/ops/search.hpp"

namespace bitale {

enum class QuantileMethod {
  // The inverse of the empirical distribution function, its averages at steps, and the nearest observation.
  InvertedCdf,
  AveragedInvertedCdf,
  ClosestObservation,
  // Piecewise linear functions of q.
  InterpolatedInvertedCdf,
  Hazen,
  Weibull,
  Linear,
  MedianUnbiased,
  NormalUnbiased,
  // The neighbours of the linear one: one of them, or their mean.
  Lower,
  Higher,
  Midpoint,
  Nearest
};
// By NumPy's name, "median_unbiased". ValueError for another.
QuantileMethod quantile_method(std::string_view name);

Variable quantile(const Operand& x, const Operand& q, const Axes& axis, KeepDims keepdims, QuantileMethod method);
Variable percentile(const Operand& x, const Operand& q, const Axes& axis, KeepDims keepdims, QuantileMethod method);

// The same of the elements that are not nan; nan where there are none.
Variable nanquantile(const Operand& x, const Operand& q, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No,
                     QuantileMethod method = QuantileMethod::Linear);
Variable nanpercentile(const Operand& x, const Operand& q, const Axes& axis = all_axes,
                       KeepDims keepdims = KeepDims::No, QuantileMethod method = QuantileMethod::Linear);
Variable nanmedian(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);

}  // namespace bitale
