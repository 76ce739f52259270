// Covariances, ranges and norms. Names and arguments are NumPy's. Means and variances are in ops.hpp, medians and
// quantiles in search.hpp.
#pragma once

#include <optional>

#include "bitale/ops/ops.hpp"

namespace bitale {

// The largest element minus the smallest.
Variable ptp(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
// The largest elements and their indices.
struct MaximumAndArgmax {
  Variable maximum, argmax;
};
MaximumAndArgmax max_and_argmax(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);

// The norm of order L over axes: the L-th root of the sum of the L-th powers of absolute values. An order of 0 counts
// the elements that are not 0; infinity takes the largest absolute value, minus infinity the smallest.
Variable power_norm(const Operand& x, const Operand& order, const Axes& axis = all_axes,
                    KeepDims keepdims = KeepDims::No);

// Variances and standard deviations whose sum is divided by the number of elements less a correction.
Variable var(const Operand& x, const Axes& axis, double correction, KeepDims keepdims = KeepDims::No);
Variable std_(const Operand& x, const Axes& axis, double correction, KeepDims keepdims = KeepDims::No);

struct CovarianceOptions {
  bool rowvar = true;  // whether rows are the variables, else columns
  bool bias = false;   // divide by the number of observations, not by one less
  std::optional<int> ddof = {};
  std::optional<Operand> fweights = {}, aweights = {};  // how often each observation was made, and how much it counts
  std::optional<DType> dtype = {};                      // in which all is computed
};
// The covariance matrix of the variables in m, and in y if given. ValueError for operands that are neither a vector nor
// a matrix.
Variable cov(const Operand& m, const std::optional<Operand>& y = {}, const CovarianceOptions& options = {});
// The same divided by the standard deviations of both variables; its elements are in [-1, 1].
struct CorrelationOptions {
  bool rowvar = true;               // whether rows are the variables, else columns
  std::optional<DType> dtype = {};  // in which all is computed
};
Variable corrcoef(const Operand& m, const std::optional<Operand>& y = {}, const CorrelationOptions& options = {});

}  // namespace bitale
