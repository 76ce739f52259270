#include "rewriting/stabilizing.hpp"

#include "rewriting/database.hpp"

namespace bitale::rewriting {

const RewriteQuery& stabilizing() {
  static const auto& query =
      *new RewriteQuery{.include = {std::string(stabilize)}, .exclude = {std::string(structural)}};
  return query;
}

std::optional<Variable> stable_form_of(FunctionGraph& graph, const Apply& node) {
  if (!node.defined() || node.output_count() != 1) return std::nullopt;
  const auto plan = OptDB::instance().plan(stabilizing());
  for (auto& stage : *plan)
    for (int i : stage->rules.at(node)) {
      const auto found = stage->rules.rules()[std::size_t(i)]->apply(graph, node);
      if (found && (*found)[0].defined() && !(*found)[0].same_as(node.output())) return (*found)[0];
    }
  return std::nullopt;
}

}  // namespace bitale::rewriting
