#include "compile/shared_states.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/core/warning.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/random_type.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/rewriting/rules.hpp"
#include "graph/expansion.hpp"
#include "graph/state_reader.hpp"

namespace bitale {

namespace {

bool has_random_output(const Apply& node) {
  for (int k = 0; k < int(node.output_count()); ++k)
    if (as_random(node.output(k).type())) return true;
  return false;
}

// Whether the node draws from that input, instead of passing it on.
bool draws_from(const Apply& node, int input) {
  for (int k = 0; k < int(node.output_count()); ++k) {
    if (!as_random(node.output(k).type())) continue;
    const std::vector<int> passed = node.op().view_of(node, k);
    if (std::find(passed.begin(), passed.end(), input) == passed.end()) return true;
  }
  return false;
}

const StateReader* as_reader(const Apply& node) { return dynamic_cast<const StateReader*>(&node.op()); }

bool are_one_draw(const Apply& first, const Apply& second) {
  const auto* repeats = dynamic_cast<const RepeatsDraws*>(&first.op());
  return repeats && repeats->draws_the_same(first, second);
}

std::string drawn_at(const Apply& node) {
  const std::string line = node.provenance().where.str();
  return cat(node.op().label(), line.empty() ? std::string() : cat(", made at ", line));
}

void complain(const Variable& state, const Apply& first, const Apply& second) {
  const std::string policy = config::get("random__shared_state");
  if (policy == "ignore") return;
  ValueError error(cat("function: two different draws begin from one state of the generator `", state.str(), "`"));
  error.add("first", drawn_at(first));
  error.add("second", drawn_at(second));
  error.add("hint",
            "draw from the next state that the first gives, or from a generator of its own; "
            "random__shared_state=\"ignore\" allows draws of which a call uses one");
  if (policy == "raise") throw error;
  warn(error.what());
}

struct Conflict {
  Variable state;
  Apply first, second;
};

std::vector<Conflict> conflicts(const FunctionGraph& graph) {
  std::vector<Conflict> out;
  std::unordered_map<const VariableNode*, Apply> drawn;
  for (auto& node : graph.toposort()) {
    if (!has_random_output(node)) continue;
    const StateReader* reader = as_reader(node);
    if (reader && reader->is_part_of_draw()) continue;
    for (int i = 0; i < int(node.inputs().size()); ++i) {
      const Variable& state = node.input(i);
      if (!as_random(state.type()) || !draws_from(node, i)) continue;
      const auto [first, is_new] = drawn.try_emplace(state.node(), node);
      if (!is_new && !(reader && as_reader(first->second)) && !are_one_draw(first->second, node))
        out.push_back({state, first->second, node});
    }
  }
  return out;
}

// The formula of a draw that is a formula over other draws; derivatives of the draw contain these.
std::optional<Variables> as_draws(const Apply& node) {
  const auto* op = dynamic_cast<const Expansion*>(&node.op());
  if (!op || inner_graph_of(node.op()) || !has_random_output(node)) return std::nullopt;
  const LocationScope here(node.provenance().where);
  std::optional<Variables> formula = op->expansion(node);
  if (!formula) return std::nullopt;
  for (auto& each : toposort(*formula))
    if (has_random_output(each) && !as_reader(each)) return formula;
  return std::nullopt;
}

}  // namespace

void check_states(const FunctionGraph& graph) {
  std::vector<Conflict> found = conflicts(graph);
  if (!found.empty()) {  // equal draws within formulas are one draw, too
    FunctionGraph draws(graph.inputs(), graph.outputs());
    for (auto& node : draws.toposort()) {
      const auto formula = as_draws(node);
      if (!formula) continue;
      Replacements pairs;
      for (int k = 0; k < int(node.output_count()); ++k)
        if (const auto fitted = rewriting::fit((*formula)[std::size_t(k)], node.output(k)))
          pairs.emplace_back(node.output(k), *fitted);
      draws.replace_all(pairs, "check_states");
    }
    found = conflicts(draws);
    for (auto& [state, first, second] : found) complain(state, first, second);
  }
  std::unordered_set<const Opaque*> seen;
  for (auto& node : graph.toposort())
    if (const InnerGraph* inner = has_random_output(node) ? inner_graph_of(node.op()) : nullptr;
        inner && seen.insert(inner).second)
      check_states(FunctionGraph(inner->inputs(), inner->outputs()));
}

}  // namespace bitale
