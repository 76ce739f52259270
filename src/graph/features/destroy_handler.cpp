// For each destroyed memory, all readers of its views must run before the destroyer.
#include <algorithm>

#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"
#include "graph/aliasing.hpp"
#include "graph/ordered_walk.hpp"

namespace bitale {

namespace {

[[noreturn]] void refuse(const Apply& node, const std::string& why) {
  InconsistencyError error(why);
  error.add("node", node.op().label());
  if (const Location where = node.provenance().where) error.add("built at", where.str_with_callers());
  throw error;
}

// Examines the destroyed memories one by one.
class Examination {
 public:
  explicit Examination(const FunctionGraph& graph) : graph_(graph) {}

  void add(const Apply& destroyer) {
    const std::vector<int> destroyed = destroyed_inputs(destroyer);
    for (int i : destroyed)
      for (auto& root : memory_roots(destroyer.input(i))) {
        const auto [known, is_new] = destroyer_of_.insert(root.node(), destroyer.node());
        if (!is_new)
          refuse(destroyer, cat(destroyer.op().label(), " would destroy `", root.str(), "`, which ",
                                (*known)->op->label(), " destroys"));
        add_memory(destroyer, i, root);
      }
  }

  Orderings orderings;

 private:
  void add_memory(const Apply& destroyer, int input, const Variable& root) {
    const std::string doing = cat(destroyer.op().label(), " would destroy `", root.str(), "`, which ");
    if (root.is_constant()) refuse(destroyer, doing + "is a constant");
    for (auto& view : views_of(graph_, root))
      for (const Client& client : graph_.clients(view)) {
        if (!client.node) refuse(destroyer, cat(doing, "is read as output ", client.index, " of the graph"));
        if (client.node != destroyer.node())
          orderings.emplace_back(destroyer.node(), client.node);
        else if (client.index != input)
          refuse(destroyer, cat(doing, "it also reads as its input ", client.index));
      }
  }

  const FunctionGraph& graph_;
  PointerMap<ApplyNode*> destroyer_of_;
};

Orderings examine(const FunctionGraph& graph, const std::vector<Apply>& destroyers) {
  Examination examination(graph);
  for (auto& destroyer : destroyers) examination.add(destroyer);
  return std::move(examination.orderings);
}

// A reader that depends on the destroyer's outputs, if there is one.
ApplyNode* reader_behind(const FunctionGraph& graph, ApplyNode* destroyer, const Orderings& orderings) {
  PointerSet readers, seen;
  for (auto& [later, earlier] : orderings)
    if (later == destroyer) readers.insert(earlier);
  std::vector<ApplyNode*> waiting{destroyer};
  while (!waiting.empty()) {
    ApplyNode* node = waiting.back();
    waiting.pop_back();
    if (!seen.insert(node)) continue;
    if (readers.contains(node)) return node;
    for (std::size_t k = 0; k < node->output_count; ++k)
      for (const Client& client : graph.clients(Variable::of(&node->outputs[k])))
        if (client.node) waiting.push_back(client.node);
  }
  return nullptr;
}

void check(const FunctionGraph& graph, const std::vector<Apply>& destroyers) {
  const Orderings orderings = examine(graph, destroyers);
  try {
    toposort_with_orderings(graph.outputs(), orderings);
  } catch (const InconsistencyError&) {
    for (auto& destroyer : destroyers)
      if (ApplyNode* reader = reader_behind(graph, destroyer.node(), orderings))
        refuse(destroyer, cat(reader->op->label(), " would read what ", destroyer.op().label(),
                              " destroys, and can only run after it"));
    refuse(destroyers[0], "no order of the nodes lets every value be read before it is destroyed");
  }
}

}  // namespace

void DestroyHandler::on_attach(FunctionGraph& graph) {
  Bookkeeper::on_attach(graph);
  on_validate(graph);
}

void DestroyHandler::on_validate(FunctionGraph& graph) {
  if (has_destroyers()) check(graph, destroyers());
}

std::vector<std::pair<ApplyNode*, ApplyNode*>> DestroyHandler::orderings(FunctionGraph& graph) {
  return has_destroyers() ? examine(graph, destroyers()) : Orderings();
}

std::vector<Apply> DestroyHandler::destroyers(const Variable& variable) const {
  const Variables roots = memory_roots(variable);
  auto destroys_one = [&](const Apply& node) {
    for (int i : destroyed_inputs(node))
      for (auto& destroyed : memory_roots(node.input(i)))
        for (auto& root : roots)
          if (root.same_as(destroyed)) return true;
    return false;
  };
  std::vector<Apply> out = destroyers();
  std::erase_if(out, [&](const Apply& node) { return !destroys_one(node); });
  return out;
}

}  // namespace bitale
