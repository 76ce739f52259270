// Ops on Cholesky factors of sparse matrices. Their values are vectors in the pattern of the factor, which is two
// further inputs: compressed columns, each with its diagonal element first and its rows ascending
// (runtime/sparse_cholesky.hpp). An op that is given a matrix also gets its factor: derivatives are by the matrix, and
// the factor only saves work.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/graph/variable.hpp"
#include "bitale/ops/registry.hpp"
#include "runtime/sparse_cholesky.hpp"

namespace bitale {

// The factor's elements, of the elements of the lower triangle. `order`: the number of each row in the matrix that the
// user has, for messages; `dense`: whether the pattern is a full triangle, for dprint. LinAlgError in a call where the
// matrix is not positive definite.
Variable sparse_cholesky(const Variable& triangle, const Variable& bounds, const Variable& rows, const Variable& order,
                         bool dense);
// x with L x == b, or L^T x == b.
Variable sparse_solve_triangular(const Variable& factor, const Variable& bounds, const Variable& rows,
                                 const Variable& b, bool transposed);
// x with A x == b for the symmetric matrix A of which `triangle` is the lower one.
Variable sparse_solve(const Variable& triangle, const Variable& factor, const Variable& bounds, const Variable& rows,
                      const Variable& b);
// log det A, and the elements of A's inverse in the pattern.
Variable sparse_logdet(const Variable& triangle, const Variable& factor, const Variable& bounds, const Variable& rows,
                       const Variable& order);
Variable sparse_selected_inverse(const Variable& triangle, const Variable& factor, const Variable& bounds,
                                 const Variable& rows);
// The derivative of these elements when the matrix changes in the direction of a symmetric matrix, of which `direction`
// is the lower triangle.
Variable sparse_inverse_derivative(const Variable& triangle, const Variable& factor, const Variable& direction,
                                   const Variable& bounds, const Variable& rows);

namespace sparse_factor {

// The pattern in a call. ValueError unless it is of columns that begin with their diagonal elements.
struct Columns {
  Columns(const Array& bounds, const Array& rows) : Columns(bounds, rows, rows.size(), false) {}
  Columns(const Array& bounds, const Array& rows, std::int64_t elements, bool is_known_closed);
  runtime::FactorPattern pattern() const;
  Array bounds, rows;
  bool is_known_closed;  // Then only what runtime::fronts_of and solutions read is checked.
};
// Of the inputs of a node from `first` on. A constant pattern was checked when the node was made, so that no call needs
// to read all of it, which is as much as the factor.
Columns columns_of(const Apply& node, std::span<const Array> in, std::size_t first, std::int64_t elements);
[[noreturn]] void refuse_open_pattern();  // ValueError
// The inputs, of which those at `values` get a common dtype, float32 or float64, and the others must be vectors of
// integers. TypeError, NotImplementedError for complex numbers.
Variables checked(std::string_view who, std::span<const Variable> inputs, std::span<const int> values);

// An op on the elements of factors. Its duties follow from a form.
class FactorOp : public Op {
 public:
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  bool has_linear_pullback() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;

 protected:
  struct Form {
    std::string_view who;             // the function's name, for errors
    std::string_view signature;       // where the last input is a right-hand side "(n)", it may be a matrix, too
    std::vector<int> values;          // the inputs that are not integers
    std::vector<int> differentiable;  // of these, on which the outputs depend differentiably
    std::optional<int> like = {};     // the input whose type and shape the output has; else outputs are scalars
    bool has_cholesky = false;        // ValueError for a constant pattern that is not one of a Cholesky factor
  };
  virtual Form form() const = 0;
};

// A node of the op, and values of its inputs by these letters: the lower triangle of a matrix of three rows (t), its
// factor (l), a cotangent of these (g), the pattern (p, two inputs), the rows' numbers (o), a vector (v) or a matrix
// (m).
Sample sample(const OpRef& op, std::string_view inputs, bool smooth);
// The column of each element, for gradients that are products of rows.
Variable column_of(const Variable& bounds, const Variable& rows);
// A lower triangle with the elements below the diagonal multiplied, for symmetric matrices that have these twice.
Variable scaled_below(const Variable& triangle, double factor, const Variable& bounds, const Variable& rows);
// The sum over columns of x[i] y[j], for each element (i, j).
Variable products(const Variable& x, const Variable& y, const Variable& bounds, const Variable& rows);

}  // namespace sparse_factor
}  // namespace bitale
