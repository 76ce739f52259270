#include "ops/reductions/recognise.hpp"

#include <algorithm>

#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/reductions/reduce.hpp"

namespace bitale {

namespace {

struct Statistic {
  std::string_view name, setting;
  Variable (*of)(const Variable& x, const Axes& axis, KeepDims keepdims);
};

constexpr Statistic statistics[] = {
    {"mean", "", [](const Variable& x, const Axes& axis, KeepDims keepdims) { return mean(x, axis, keepdims); }},
    {"var", "", [](const Variable& x, const Axes& axis, KeepDims keepdims) { return var(x, axis, 0, keepdims); }},
    {"var", "ddof=1", [](const Variable& x, const Axes& axis, KeepDims keepdims) { return var(x, axis, 1, keepdims); }},
    {"std", "", [](const Variable& x, const Axes& axis, KeepDims keepdims) { return std_(x, axis, 0, keepdims); }},
    {"std", "ddof=1",
     [](const Variable& x, const Axes& axis, KeepDims keepdims) { return std_(x, axis, 1, keepdims); }},
    {"logsumexp", "",
     [](const Variable& x, const Axes& axis, KeepDims keepdims) { return logsumexp(x, axis, keepdims); }},
    {"softmax", "", [](const Variable& x, const Axes& axis, KeepDims) { return softmax(x, axis); }},
    {"log_softmax", "", [](const Variable& x, const Axes& axis, KeepDims) { return log_softmax(x, axis); }},
};

// Each reduction among the nearest nodes below y, the farthest first: the statistic may be one of what it reduces, over
// the same axes, and a variance is also a mean of squares.
std::vector<Apply> reductions_near(const Variable& y) {
  constexpr std::size_t near = 24;  // nodes; the largest composition has fewer
  std::vector<Apply> found, seen{y.owner()};
  for (std::size_t i = 0; i < seen.size() && i < near; ++i) {
    const Apply node = seen[i];
    if (dynamic_cast<const CAReduce*>(&node.op())) found.push_back(node);
    for (auto& input : node.inputs())
      if (input.has_owner() &&
          std::none_of(seen.begin(), seen.end(), [&](auto& each) { return each.node() == input.owner().node(); }))
        seen.push_back(input.owner());
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<std::string> settings_of(const Statistic& statistic, const Axes& axis, KeepDims keepdims) {
  std::vector<std::string> out;
  if (axis && axis->size() == 1) out.push_back(cat("axis=", axis->front()));
  if (axis && axis->size() > 1) {
    std::vector<std::string> numbers;
    for (const int each : *axis) numbers.push_back(cat(each));
    out.push_back(cat("axis=(", join(numbers, ", "), ")"));
  }
  if (!statistic.setting.empty()) out.emplace_back(statistic.setting);
  if (keepdims == KeepDims::Yes) out.emplace_back("keepdims=True");
  return out;
}

}  // namespace

std::optional<StatisticCall> recognised_statistic(const Variable& y) {
  if (!y.has_owner() || y.owner().output_count() != 1 || !as_tensor(y.type())) return {};
  const TestValuesOff while_building;
  for (const Apply& node : reductions_near(y)) {
    const auto& reduction = dynamic_cast<const CAReduce&>(node.op());
    const Variable& x = node.inputs()[0];
    if (!is_float(x.dtype())) continue;
    const Variable leaf(x.type(), "x");
    const bool has_all = !reduction.axes || int(reduction.axes->size()) == x.ndim();
    const Axes axis = has_all ? Axes{} : Axes{*reduction.axes};
    for (const Statistic& statistic : statistics)
      for (const KeepDims keepdims : {KeepDims::No, KeepDims::Yes}) {
        const Variable made = statistic.of(leaf, axis, keepdims);
        if (made.has_owner() && made.owner().op().equals(y.owner().op()) &&
            equal_computations(std::span(&y, 1), std::span(&made, 1), std::span(&x, 1), std::span(&leaf, 1)))
          return StatisticCall{statistic.name, x, settings_of(statistic, axis, keepdims)};
      }
  }
  return {};
}

}  // namespace bitale
