// A feature whose callbacks are given as functions.
#include "bitale/graph/features.hpp"

namespace bitale {

void DispatchingFeature::on_attach(FunctionGraph& graph) {
  if (callbacks_.on_attach) callbacks_.on_attach(graph);
}

void DispatchingFeature::on_detach(FunctionGraph& graph) {
  if (callbacks_.on_detach) callbacks_.on_detach(graph);
}

void DispatchingFeature::on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) {
  if (callbacks_.on_import) callbacks_.on_import(graph, node, reason);
}

void DispatchingFeature::on_prune(FunctionGraph& graph, const Apply& node, std::string_view reason) {
  if (callbacks_.on_prune) callbacks_.on_prune(graph, node, reason);
}

void DispatchingFeature::on_change_input(FunctionGraph& graph, const Client& client, const Variable& before,
                                         const Variable& after, std::string_view reason) {
  if (callbacks_.on_change_input) callbacks_.on_change_input(graph, client, before, after, reason);
}

void DispatchingFeature::on_validate(FunctionGraph& graph) {
  if (callbacks_.on_validate) callbacks_.on_validate(graph);
}

}  // namespace bitale
