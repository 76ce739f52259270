// Log densities and tails of labelled values, whose parameters meet them by the names of their dimensions. Those of
// vectors and categories have core dimensions, along which the values and parameters are, and which results lack.
//
//   XVariable logp = sum(xtensor::stats::log_function("normal_logpdf", {y, mu, sigma}));
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bitale/xtensor/align.hpp"
#include "bitale/xtensor/variable.hpp"

namespace bitale::xtensor::stats {

// A function of bitale/stats/densities.hpp by its name, of a value and all of its parameters; `core`: the names of the
// distribution's core dimensions. KeyError for a name that is not there; ValueError for another number of arguments or
// of core dimensions, and for names that are not there.
XVariable log_function(std::string_view name, const XOperands& value_and_parameters,
                       const std::vector<std::string>& core = {});
// The same by a function of the aligned tensors.
XVariable log_function(std::string_view name, const XOperands& value_and_parameters,
                       const std::vector<std::string>& core, const TensorFunction& of_tensors);

}  // namespace bitale::xtensor::stats
