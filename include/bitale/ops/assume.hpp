// Statements about matrices, and what is known of one. Rewrites use that: a system of equations with a matrix known to
// be positive definite is solved by Cholesky factors, one that is known to be triangular by substitution.
#pragma once

#include <optional>

#include "bitale/core/array.hpp"
#include "bitale/graph/function_graph.hpp"
#include "bitale/graph/structure.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale {

// x, with the statement that these facts hold, or don't. It is believed, and true of x wherever else a function uses
// it. Without rewriting (Mode("vm", "None")), the facts that should hold are checked: ValueError for a value that
// contradicts one. ConflictingAssumptionsError for what contradicts itself, or what is known of x; ShapeError for a
// fact of square matrices about others.
Variable assume(const Operand& x, const Structure& facts);

// What follows for the matrix from how it is computed, and from the statements in its expression.
Structure structure_of(const Variable& x);
// The same in a graph: statements that other nodes of the graph make about it count as well. Answers are kept until the
// graph changes.
Structure structure_of(FunctionGraph& graph, const Variable& x);
// A statement about a variable of the graph. It passes on to what replaces the variable.
void add_statement(FunctionGraph& graph, const Variable& x, const Structure& facts);

// The first of the facts that should hold and that this value contradicts, by more than rounding.
std::optional<Fact> contradicted_fact(const Array& value, const Structure& facts);

}  // namespace bitale
