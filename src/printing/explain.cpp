// explain: a graph as a list of nodes, each with its provenance.
#include "bitale/core/text.hpp"
#include "bitale/graph/provenance.hpp"
#include "bitale/printing/printing.hpp"

namespace bitale {

std::string explain(const FunctionGraph& graph) {
  std::string out;
  std::size_t position = 0;
  for (const Apply& node : graph.toposort()) {
    out += cat(position++, "  ", node.op().label(), "  ", pprint(node.output(), {.depth = 3, .max_length = 100}), "\n");
    const std::vector<std::string> rules = rules_of(node.provenance());
    out += cat("     rules: ", rules.empty() ? "none, it is as written" : join(rules, ", then "), "\n");
    if (const std::string where = node.provenance().where.str(); !where.empty())
      out += cat("     line:  ", where, "\n");
  }
  return out;
}

}  // namespace bitale
