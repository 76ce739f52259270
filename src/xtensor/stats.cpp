#include "bitale/xtensor/stats.hpp"

#include <optional>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "stats/distribution.hpp"

namespace bitale::xtensor::stats {

namespace {

struct Found {
  const bitale::stats::Distribution* of;
  const bitale::stats::LogFunction* function;
};
std::optional<Found> find(std::string_view name) {
  for (const auto& [distribution, of] : bitale::stats::distributions())
    for (const auto& function : of.log_functions)
      if (function.name == name) return Found{&of, &function};
  return std::nullopt;
}

}  // namespace

XVariable log_function(std::string_view name, const XOperands& value_and_parameters,
                       const std::vector<std::string>& core, const TensorFunction& of_tensors) {
  const LocationScope here(value_and_parameters.empty() ? Location() : value_and_parameters[0].where);
  const auto found = find(name);
  const bitale::stats::CoreDimensions positions = found ? found->of->core : bitale::stats::CoreDimensions();
  const std::vector<std::string> names = core_names(name, core, {positions.count});
  XVariables operands;
  std::vector<std::vector<std::string>> core_of_operands;
  for (std::size_t i = 0; i < value_and_parameters.size(); ++i) {
    operands.push_back(value_and_parameters[i].variable);
    auto& own = core_of_operands.emplace_back();
    if (i > positions.of_parameters.size()) continue;
    for (const std::size_t k : i == 0 ? positions.of_value : positions.of_parameters[i - 1]) own.push_back(names[k]);
  }
  if (positions.count == 0) return elementwise(name, operands, of_tensors);
  return blockwise(name, operands, core_of_operands, {{}},
                   [&](const Variables& values) { return Variables{of_tensors(values)}; })[0];
}

XVariable log_function(std::string_view name, const XOperands& value_and_parameters,
                       const std::vector<std::string>& core) {
  const auto found = find(name);
  if (!found) throw KeyError(cat("bitale.stats has no function \"", name, "\""));
  const bitale::stats::LogFunction& function = *found->function;
  if (value_and_parameters.size() != function.parameters + 1)
    throw ValueError(cat(name, ": expected a value and ", function.parameters, " parameters, got ",
                         value_and_parameters.size(), " arguments"));
  return log_function(name, value_and_parameters, core, [&](const Variables& values) {
    return function.of(std::vector<Operand>(values.begin(), values.end()));
  });
}

}  // namespace bitale::xtensor::stats
