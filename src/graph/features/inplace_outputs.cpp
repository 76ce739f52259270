// Features for outputs that must not reuse the memory of other variables.
#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"
#include "graph/aliasing.hpp"

namespace bitale {

namespace {

void check_indices(const std::vector<std::size_t>& indices, std::size_t count, std::string_view what,
                   const Feature& feature) {
  for (std::size_t i : indices)
    if (i >= count) throw IndexError(cat(feature.name(), ": there is no ", what, " ", i, " of ", count));
}

// The inputs that this output overwrites.
Variables overwritten(const Variable& v) {
  Variables out;
  const Apply owner = v.owner();
  if (!owner.defined()) return out;
  for (int i : owner.op().destroys(owner, v.index())) out.push_back(owner.input(i));
  return out;
}

// The variables whose memory v reuses, through any number of overwrites.
Variables destroyed_for(const Variable& v) {
  Variables out, waiting = memory_roots(v);
  PointerSet seen;
  while (!waiting.empty()) {
    const Variable at = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(at.node())) continue;
    for (auto& before : overwritten(at))
      for (auto& root : memory_roots(before)) {
        out.push_back(root);
        waiting.push_back(root);
      }
  }
  return out;
}

}  // namespace

void NoOutputFromInplace::on_attach(FunctionGraph& graph) {
  check_indices(outputs_, graph.outputs().size(), "output", *this);
}

void NoOutputFromInplace::on_validate(FunctionGraph& graph) {
  for (std::size_t k : outputs_)
    for (auto& root : memory_roots(graph.outputs()[k]))
      for (auto& before : overwritten(root))
        throw InconsistencyError(cat("output ", k, " of the graph would be written over `", before.str(), "` by ",
                                     root.owner().op().label(), ", but needs its own memory"));
}

void NoOutputInplaceOnInput::on_attach(FunctionGraph& graph) {
  check_indices(inputs_, graph.inputs().size(), "input", *this);
}

void NoOutputInplaceOnInput::on_validate(FunctionGraph& graph) {
  for (std::size_t k = 0; k < graph.outputs().size(); ++k)
    for (auto& root : destroyed_for(graph.outputs()[k]))
      for (std::size_t i : inputs_)
        if (root.same_as(graph.inputs()[i]))
          throw InconsistencyError(
              cat("output ", k, " of the graph would be written over its input `", root.str(), "`"));
}

}  // namespace bitale
