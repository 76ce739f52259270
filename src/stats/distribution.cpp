// The table of distributions.
#include "stats/distribution.hpp"

#include <string>
#include <utility>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "ops/random/domain.hpp"

namespace bitale::stats {

namespace {

Distributions& table() {
  static auto& all = *new Distributions;
  return all;
}

}  // namespace

RegisterDistribution::RegisterDistribution(Distribution distribution) {
  const std::string_view name = distribution.name;
  if (const ComposedOf& composed = distribution.composed_of; composed.formula) {
    std::vector<NumberParameter> parameters;
    for (const auto& each : distribution.parameters) parameters.push_back({each.name, each.range, each.dtype});
    register_composition(
        composition_of_numbers(name, std::move(parameters), composed.result, composed.formula, composed.in_order));
  }
  table().emplace(name, std::move(distribution));
}

const Distributions& distributions() { return table(); }

random::Draw draw(std::string_view name, const Operand& rng, const Operands& parameters, const random::Size& size) {
  const auto found = distributions().find(name);
  if (found == distributions().end() || !found->second.draw.of) {
    std::vector<std::string> names;
    for (const auto& [each, of] : distributions())
      if (of.draw.of) names.emplace_back(each);
    refuse_distribution(name, names);
  }
  const DrawFunction& function = found->second.draw;
  const Variables& given = parameters.variables;
  if (given.size() != function.parameters)
    throw ValueError(cat(name, ": expected ", function.parameters, " parameters, got ", given.size()));
  return function.of(rng, std::vector<Operand>(given.begin(), given.end()), size);
}

}  // namespace bitale::stats
