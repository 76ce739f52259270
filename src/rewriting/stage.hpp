// A stage of rewriting, ready to run: rules that go over the graph in some order, or one function over the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bitale/rewriting/rewriting.hpp"
#include "rewriting/rule_index.hpp"

namespace bitale::rewriting {

using GraphPass = std::function<void(FunctionGraph&)>;
using NamedPass = std::pair<std::string, GraphPass>;

// How rules go over the graph: until nothing changes, or once, in this order.
enum class Order : std::uint8_t { equilibrium, in_to_out, out_to_in, depth_first };

struct Stage {
  std::string name = {};
  double position = 0;
  RuleIndex rules = {};
  GraphPass pass = {};                                       // instead of rules
  std::shared_ptr<const RewriteQuery> of_inner_graphs = {};  // instead: rewrites the inner graphs that are left
  Order order = Order::equilibrium;
  bool visits_new_nodes = true;                  // of an order that is not an equilibrium
  std::vector<NamedPass> first = {}, last = {};  // of an equilibrium: before and after the rules of a round
  std::optional<double> max_use_ratio = {};      // default: config.optdb__max_use_ratio
};

}  // namespace bitale::rewriting
