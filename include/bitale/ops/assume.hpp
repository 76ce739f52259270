// Statements about matrices, and queries of the known facts. Rewrites use these facts: a system of equations with a
// matrix known to be positive definite is solved by Cholesky factors, one with a matrix known to be triangular by
// substitution.
#pragma once

#include <optional>

#include "bitale/core/array.hpp"
#include "bitale/graph/function_graph.hpp"
#include "bitale/graph/structure.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale {

// Returns x, with the statement that these facts hold, or don't. The statement is trusted, and applies to x wherever
// else a function uses it. Without rewriting (Mode("vm", "None")), the facts that should hold are checked: ValueError
// for a value that contradicts one. ConflictingAssumptionsError for facts that contradict each other, or what is known
// of x; ShapeError for a fact of square matrices stated about other matrices.
Variable assume(const Operand& x, const Structure& facts);

// The facts that follow for the matrix from how it is computed, and from the statements in its expression.
Structure structure_of(const Variable& x);
// The same in a graph: statements that other nodes of the graph make about x count as well. Results are kept, and
// derived again where the graph changes.
Structure structure_of(FunctionGraph& graph, const Variable& x);
// A statement about a variable of the graph. It is transferred to the variable's replacement.
void add_statement(FunctionGraph& graph, const Variable& x, const Structure& facts);

// The first of the facts stated to hold that this value contradicts by more than rounding.
std::optional<Fact> contradicted_fact(const Array& value, const Structure& facts);

}  // namespace bitale
