#include "bitale/xtensor/random.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/xtensor/align.hpp"
#include "stats/distribution.hpp"

namespace bitale::xtensor::random {

namespace {

// The core dimensions of a distribution that has a record; others have none.
const stats::CoreDimensions& core_of(std::string_view distribution) {
  static const stats::CoreDimensions none;
  const auto found = stats::distributions().find(distribution);
  return found == stats::distributions().end() ? none : found->second.core;
}

Operand length_of_extra(std::string_view who, const DrawDims& dims, std::size_t k) {
  if (k < dims.lengths.size() && dims.lengths[k]) return *dims.lengths[k];
  const Dim& dim = dims.extra[k];
  if (dim.length()) return Operand(*dim.length());
  throw ValueError(cat(who, ": expected a length of the extra dimension \"", dim.name(), "\", or a Dim that has one, ",
                       "such as Dim(\"", dim.name(), "\", 10)"));
}

}  // namespace

Draw draw(std::string_view distribution, const XOperands& parameters, const DrawDims& dims,
          const Distribution& of_tensors) {
  const LocationScope here(parameters.empty() ? Location() : parameters[0].where);
  const stats::CoreDimensions& core = core_of(distribution);
  const std::vector<std::string> names = core_names(distribution, dims.core, {core.count});
  XVariables operands;
  std::vector<std::vector<std::string>> core_of_operands;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    operands.push_back(parameters[i].variable);
    auto& own = core_of_operands.emplace_back();
    if (i < core.of_parameters.size())
      for (const std::size_t k : core.of_parameters[i]) own.push_back(names[k]);
  }
  const Aligned aligned = align(distribution, operands, core_of_operands);

  DimList all = dims.extra;
  for (const Dim& dim : aligned.dims) all.push_back(dim);
  for (const std::size_t k : core.of_value) {
    Dim own(names[k]);
    for (const DimList& each : aligned.core)
      for (const Dim& dim : each)
        if (dim.name() == own.name()) own = merged(distribution, dim, own);
    all.push_back(own);
  }

  // Without further dimensions the parameters determine the size. A draw without parameters is a scalar.
  bitale::random::Size size;
  if (!dims.extra.empty() || parameters.empty()) {
    Variables lengths;
    for (std::size_t k = 0; k < dims.extra.size(); ++k)
      lengths.push_back(length_of_extra(distribution, dims, k).variable);
    for (const Dim& dim : aligned.dims)
      lengths.push_back(std::ranges::find_if(operands, [&](const XVariable& x) {
                          return x.find(dim.name()) >= 0;
                        })->length(dim.name()));
    size.emplace(lengths);
  }
  const bitale::random::Draw found = of_tensors(aligned.values, size);
  return {found.next_rng, XVariable(found.value, std::move(all))};
}

Draw draw(std::string_view distribution, const Variable& rng, const XOperands& parameters, const DrawDims& dims) {
  return draw(distribution, parameters, dims, [&](const Variables& values, const bitale::random::Size& size) {
    return stats::draw(distribution, rng, values, size);
  });
}

}  // namespace bitale::xtensor::random
