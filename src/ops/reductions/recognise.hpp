// Statistics such as logsumexp are composed of reductions and elementwise functions. This finds out whether an
// expression is one, for people who read it: it is then shown as the call that made it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale {

struct StatisticCall {
  std::string_view function;
  Variable x;
  std::vector<std::string> settings;  // "axis=1"
};

// The call whose result has the same graph as `y`, node by node.
std::optional<StatisticCall> recognised_statistic(const Variable& y);

}  // namespace bitale
