// Times of nodes by the interpreter: each node is run several times before the next one.
#include <algorithm>
#include <chrono>
#include <limits>

#include "bitale/compile/page.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "graph/evaluate.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

namespace {

using Clock = std::chrono::steady_clock;

// The shortest time of several runs; the outputs are those of the last run.
double time_node(const Apply& node, std::span<const Array> values, std::span<Array> out, int runs) {
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    std::vector<Array> in(values.begin(), values.end());
    copy_destroyed(node, in);
    const auto begin = Clock::now();
    evaluate_node(node, in, out);
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return least;
}

}  // namespace

std::vector<std::pair<Apply, double>> node_times(const Function& function, std::span<const Array> inputs, int runs) {
  const FunctionGraph& graph = function.graph();
  if (inputs.size() != function.inputs().size())
    throw ValueError(cat("node_times: expected ", function.inputs().size(), " inputs, got ", inputs.size()));
  if (runs < 1) throw ValueError(cat("node_times: expected at least one of `runs`, got ", runs));
  const std::vector<Apply> order = graph.toposort();
  PointerMap<Array> values;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    values.insert(graph.inputs()[i].node(), function.accept(i, inputs[i]));
  const std::vector<Variable> shared = function.shared_variables();
  for (std::size_t i = 0; i < shared.size(); ++i)
    values.insert(graph.inputs()[inputs.size() + i].node(), get_value(shared[i], Borrow::Yes));
  PointerMap<std::size_t> last_reader;  // after which the value is no longer needed
  for (std::size_t position = 0; position < order.size(); ++position)
    for (auto& input : order[position].inputs()) *last_reader.insert(input.node()).first = position;

  std::vector<std::pair<Apply, double>> out;
  for (std::size_t position = 0; position < order.size(); ++position) {
    const Apply& node = order[position];
    std::vector<Array> in, results(node.output_count());
    for (auto& input : node.inputs())
      in.push_back(input.is_constant() ? *input.constant() : *values.find(input.node()));
    out.emplace_back(node, time_node(node, in, results, runs));
    for (auto& input : node.inputs())
      if (*last_reader.find(input.node()) == position && !input.is_constant()) *values.find(input.node()) = Array();
    for (std::size_t i = 0; i < results.size(); ++i) values.insert(node.output(int(i)).node(), std::move(results[i]));
  }
  return out;
}

}  // namespace bitale
