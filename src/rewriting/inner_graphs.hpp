// Rewriting of inner graphs: those of ops that are still there when all phases have run, each distinct one once.
#pragma once

#include "bitale/graph/inner_graph.hpp"
#include "bitale/rewriting/rewriting.hpp"

namespace bitale::rewriting {

// As the query says, but never in place: who calls an inner graph keeps what it passes. Nothing is done where the query
// excludes structural rules, which make nothing more stable.
void rewrite_inner_graphs(FunctionGraph& graph, const RewriteQuery& query, RewriteReport& report);

// The same op with another inner graph, which has outputs of the same types.
void replace_inner_graph(FunctionGraph& graph, const Apply& node, InnerGraphRef after);

}  // namespace bitale::rewriting
