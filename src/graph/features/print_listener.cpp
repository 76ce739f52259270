// Logs all changes of a graph.
#include <cstdio>

#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"

namespace bitale {

PrintListener::PrintListener(std::function<void(const std::string&)> write) : write_(std::move(write)) {
  if (!write_) write_ = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
}

void PrintListener::on_attach(FunctionGraph& graph) {
  write_(cat("-- attaching to a graph of ", graph.node_count(), " nodes"));
}

void PrintListener::on_detach(FunctionGraph& graph) {
  write_(cat("-- detaching from a graph of ", graph.node_count(), " nodes"));
}

void PrintListener::on_import(FunctionGraph&, const Apply& node, std::string_view reason) {
  write_(cat("-- importing: ", node.op().label(), ", reason: ", reason));
}

void PrintListener::on_prune(FunctionGraph&, const Apply& node, std::string_view reason) {
  write_(cat("-- pruning: ", node.op().label(), ", reason: ", reason));
}

void PrintListener::on_change_input(FunctionGraph&, const Client& client, const Variable& before, const Variable& after,
                                    std::string_view reason) {
  const std::string user =
      client.node ? cat("input ", client.index, " of ", client.node->op->label()) : cat("output ", client.index);
  write_(cat("-- changing: ", user, " from ", before.str(), " to ", after.str(), ", reason: ", reason));
}

}  // namespace bitale
