// What rules of linear algebra look for in graphs: systems of equations, factors, inverses, of one matrix or of a
// batch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bitale/ops/assume.hpp"
#include "bitale/ops/linalg.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

// The op of the variable's node, or the core that it applies to a batch; nullptr of leaves.
const Op* core_op(const Variable& v);
bool is_matrix_op(const Variable& v, std::string_view name);
// Declares a rule for applications of these ops, to one matrix or to each of a batch.
Rule& matrix_rule(Rules& rules, std::string name, std::vector<std::string> ops, NodeFunction function);

// x with a x = b, or a^T x = b.
struct System {
  Variable a, b;
  bool trans = false, lower = false, unit_diagonal = false;  // the latter two: of triangular ones
  int b_ndim = 2;
  OnError on_error = OnError::Raise;
};
std::optional<System> as_system(const Variable& v);             // Solve
std::optional<System> as_triangular_system(const Variable& v);  // SolveTriangular
// The solution of the system, with another matrix or right side.
Variable solution(const System& system);
Variable triangular_solution(const System& system);
// By LU factors of the matrix, a node that others share. Of a and b with the same batch dimensions.
Variable solution_by_lu(const System& system);

// The right side as columns of a matrix; and what was computed of these, in the rank that the right side has.
Variable right_columns(const System& system);
Variable as_right_side(const System& system, const Variable& columns);

// The matrix of which it is the inverse.
std::optional<Variable> as_inverse(FunctionGraph& graph, const Variable& v);

struct CholeskyFactor {
  Variable of;
  bool lower = true;
  OnError on_error = OnError::Raise;
};
std::optional<CholeskyFactor> as_cholesky(const Variable& v);
// The lower factor of a matrix, with the way to treat errors that a factor of it in the graph has already.
Variable lower_factor(FunctionGraph& graph, const Variable& a, OnError otherwise);

// What it is the transpose of.
std::optional<Variable> transposed_matrix(const Variable& v);
Variable matrices_transposed(const Variable& v);
// Whether y is x transposed, or the other way.
bool are_transposes(const Variable& x, const Variable& y);
// x y, of matrices, batches of them, or vectors.
bool is_product(const Variable& v);
// The diagonals of matrices.
Variable diagonal_of(const Variable& a);
// What an application of assume states.
std::optional<Structure> stated_facts(const Variable& v);
// The variable without the statements that are made of it.
Variable without_statements(Variable v);
// What replaces the node's outputs, if it has their types.
std::optional<Variables> fitted(const Apply& node, const Variables& values);
// A node that gives a determinant's sign and logarithm, not the determinant.
inline bool is_logarithmic(const Apply& node) { return node.output_count() == 2; }
// What replaces a determinant, or its sign and logarithm, of a matrix whose determinant is the product of these
// numbers.
std::optional<Variables> determinant_of_numbers(const Apply& node, const Variable& numbers);
// What is known of a matrix that is square, for it is an operand of what takes no others.
Structure structure_of_square(FunctionGraph& graph, const Variable& a);
// Whether both lengths of the matrices are known to be equal.
bool is_square(FunctionGraph& graph, const Variable& v);

// Leaves and matrices for samples: float64 unless said otherwise.
Variable sample_batch();                      // of matrices
Variable sample_regular(const Variable& x);   // x + 5 I
Variable sample_definite(const Variable& x);  // x x^T + I, which is stated to be positive definite
Variable sample_lower(const Variable& x);     // a regular triangle
// Structure-dependent rules treat infinities and nan inside of matrices as they come.
inline const std::vector<double> not_finite = {std::numeric_limits<double>::infinity(),
                                               -std::numeric_limits<double>::infinity(),
                                               std::numeric_limits<double>::quiet_NaN()};

}  // namespace bitale::rewriting
