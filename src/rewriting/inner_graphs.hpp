// Rewriting of inner graphs: those of the ops that remain after all phases, each distinct one once.
#pragma once

#include "bitale/graph/inner_graph.hpp"
#include "bitale/rewriting/rewriting.hpp"

namespace bitale::rewriting {

// Uses the query, but without inplace rewrites: the caller of an inner graph keeps the values that it passes. Nothing
// is done if the query excludes structural rules (which do not improve stability).
void rewrite_inner_graphs(FunctionGraph& graph, const RewriteQuery& query, RewriteReport& report);

// Replaces the inner graph of the node's op by one with outputs of the same types.
void replace_inner_graph(FunctionGraph& graph, const Apply& node, InnerGraphRef after);

}  // namespace bitale::rewriting
