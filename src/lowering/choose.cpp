// Choice: decides which values are stored. All others are inlined into their readers, which is fusion. A value is
// stored if a reader needs it in memory, or if its cost reaches a threshold and it would be computed more
// than once. Values that turn out to be stored and read in one loop cost nothing (forward.cpp), so the choice may be
// generous.
#include <algorithm>

#include "lowering/costs.hpp"
#include "lowering/definitions.hpp"

namespace bitale::lowering {

using namespace costs::choose;

void Definitions::choose_stores() {
  // Counts readers, seen through permutations, from the outputs backwards.
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    for (auto& output : node->outputs()) {
      Value& value = values_[output.node()];
      for (auto& client : graph_.clients(output)) {
        if (!client.node) {
          value.wanted = true;
          continue;
        }
        const Value& reader = values_[&client.node->outputs[0]];
        if (!reader.permuted_from.defined()) {
          ++value.uses;
          continue;
        }
        value.uses += reader.uses;
        const bool adds_axis = std::find(reader.order.begin(), reader.order.end(), -1) != reader.order.end();
        value.expanded |= reader.expanded || adds_axis;
      }
    }
  }
  for (auto& node : nodes_)
    for (auto& output : node.outputs()) choose(output);
}

void Definitions::choose(const Variable& variable) {
  Value& value = values_[variable.node()];
  if (!value.rule || value.buffer >= 0) return;
  value.cost = value.own_cost;
  for (auto& input : variable.owner().inputs()) {
    const Value& source = value_of(input);
    const bool inlined = source.rule && source.buffer < 0 && !source.scalar.defined();
    if (!inlined) continue;
    value.cost = std::min(largest, value.cost + source.cost);
    value.depth = std::max(value.depth, source.depth + 1);
  }
  if (variable.storage().ndim() == 0) {
    // Scalars are computed once by construction. Long chains are named by variables, so that no expression gets too
    // deep; so are large scalars with several readers, so that a walk over the readers does not walk over them again.
    if (value.depth < deepest && (value.uses <= 1 || value.cost < named)) return;
    const Expr var = declare.var(variable.storage().dtype);
    builders_[variable.owner().node()].push_back([this, var, rule = value.rule] {
      Scanned scalar;
      scalar.var = var;
      add_computation(std::move(scalar), rule, nullptr);
    });
    value.scalar = var;
    return;
  }
  const bool recomputed = value.uses > 1 || value.expanded;
  const bool is_view = value.permuted_from.defined();
  if (!value.wanted && value.depth < deepest && (is_view || value.cost < materialize || !recomputed)) return;
  if (!value.segments.empty()) return store_segments(variable);
  value.buffer = result_buffer(variable);
  builders_[variable.owner().node()].push_back(
      [this, buffer = value.buffer, rule = value.rule, shape = value.shape, is_costly = value.cost >= materialize] {
        add_computation({.what = Stored{{.domain = shape, .buffer = buffer}}, .is_costly = is_costly}, rule, own_index);
      });
}

}  // namespace bitale::lowering
