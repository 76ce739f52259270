// Recognition of linear algebra in graphs, for rules: systems of equations, factors and inverses of one matrix or of a
// batch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bitale/ops/assume.hpp"
#include "bitale/ops/linalg.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

// The op of the variable's node, or the core op that it applies to a batch; nullptr for leaves.
const Op* core_op(const Variable& v);
bool is_matrix_op(const Variable& v, std::string_view name);
// Declares a rule for applications of these ops to one matrix or to each matrix of a batch.
Rule& matrix_rule(Rules& rules, std::string name, std::vector<std::string> ops, NodeFunction function);

// x with a x = b, or a^T x = b.
struct System {
  Variable a, b;
  bool trans = false, lower = false, unit_diagonal = false;  // the last two: for triangular systems
  int b_ndim = 2;
  OnError on_error = OnError::Raise;
};
std::optional<System> as_system(const Variable& v);             // Solve
std::optional<System> as_triangular_system(const Variable& v);  // SolveTriangular
// The solution of the system, with another matrix or right side.
Variable solution(const System& system);
Variable triangular_solution(const System& system);
// The solution by LU factors of the matrix, a node that other users share. a and b have the same batch dimensions.
Variable solution_by_lu(const System& system);

// The right side as columns of a matrix; and the inverse conversion of a result to the rank of the right side.
Variable right_columns(const System& system);
Variable as_right_side(const System& system, const Variable& columns);

// The matrix a, if v is inv(a).
std::optional<Variable> as_inverse(FunctionGraph& graph, const Variable& v);

struct CholeskyFactor {
  Variable of;
  bool lower = true;
  OnError on_error = OnError::Raise;
};
std::optional<CholeskyFactor> as_cholesky(const Variable& v);
// The lower factor of a matrix, with the error mode of an existing factor in the graph; `otherwise` if there is none.
Variable lower_factor(FunctionGraph& graph, const Variable& a, OnError otherwise);

// Whether the matrix is known to be positive definite: by its facts; or because it is symmetric, and the function fails
// without a Cholesky factor of it, whatever it chooses.
bool is_definite(FunctionGraph& graph, const Variable& a);

// The matrix whose transpose v is.
std::optional<Variable> transposed_matrix(const Variable& v);
Variable matrices_transposed(const Variable& v);
// Whether one is the transpose of the other.
bool are_transposes(const Variable& x, const Variable& y);
// Whether v is a product x y of matrices, batches of matrices, or vectors.
bool is_product(const Variable& v);
// The diagonals of matrices.
Variable diagonal_of(const Variable& a);
// Matrices with these diagonals, and zeros elsewhere.
Variable diagonal_matrices(const Variable& d);
// The facts that an application of assume states.
std::optional<Structure> stated_facts(const Variable& v);
// The variable below all its assume nodes.
Variable without_statements(Variable v);
// The replacements of the node's outputs, if they have the outputs' types.
std::optional<Variables> fitted(const Apply& node, const Variables& values);
// Whether the node computes a determinant's sign and logarithm, not the determinant itself.
inline bool is_logarithmic(const Apply& node) { return node.output_count() == 2; }
// The replacement of a determinant, or of its sign and logarithm, if the determinant is the product of these numbers.
std::optional<Variables> determinant_of_numbers(const Apply& node, const Variable& numbers);
// The facts about a matrix that must be square, because it is an operand of an op that accepts only square ones.
Structure structure_of_square(FunctionGraph& graph, const Variable& a);
// Whether both lengths of the matrices are known to be equal.
bool is_square(FunctionGraph& graph, const Variable& v);

// Leaves and matrices for samples: float64 unless said otherwise.
Variable sample_batch();                      // of matrices
Variable sample_regular(const Variable& x);   // x + 5 I
Variable sample_definite(const Variable& x);  // x x^T + I, which is stated to be positive definite
Variable sample_lower(const Variable& x);     // a regular triangle
// Rules that depend on structure make no guarantee for infinities and nan inside matrices.
inline const std::vector<double> not_finite = {std::numeric_limits<double>::infinity(),
                                               -std::numeric_limits<double>::infinity(),
                                               std::numeric_limits<double>::quiet_NaN()};

}  // namespace bitale::rewriting
