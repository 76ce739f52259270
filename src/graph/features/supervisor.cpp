// Supervisor: protected variables must not be destroyed.
#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"
#include "graph/aliasing.hpp"

namespace bitale {

void Supervisor::on_validate(FunctionGraph&) {
  if (!has_destroyers()) return;
  PointerSet is_protected;
  for (auto& v : protected_)
    for (auto& root : memory_roots(v)) is_protected.insert(root.node());
  for (auto& node : destroyers())
    for (int i : destroyed_inputs(node))
      for (auto& root : memory_roots(node.input(i))) {
        if (!is_protected.contains(root.node())) continue;
        InconsistencyError error(cat(node.op().label(), " would destroy `", root.str(), "`, which is protected"));
        error.add("node", node.op().label());
        if (const Location where = node.provenance().where) error.add("built at", where.str_with_callers());
        throw error;
      }
}

}  // namespace bitale
