// SparseLogDeterminant, SparseSelectedInverse, which is its gradient, and SparseInverseDerivative, that of the latter.
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sparse/factor.hpp"

namespace bitale {

namespace {

// The pullback of the derivative, which is linear in the direction: as a map of symmetric matrices it is its own
// transpose, but their elements below the diagonal count twice.
Variable transposed_derivative(const Variable& triangle, const Variable& factor, const Variable& cotangent,
                               const Variable& bounds, const Variable& rows) {
  const Variable direction = sparse_factor::scaled_below(cotangent, 0.5, bounds, rows);
  return sparse_factor::scaled_below(sparse_inverse_derivative(triangle, factor, direction, bounds, rows), 2, bounds,
                                     rows);
}

// Inputs: the lower triangle, its factor, the direction, the pattern.
class SparseInverseDerivative final : public sparse_factor::FactorOp {
 public:
  std::string_view name() const override { return "SparseInverseDerivative"; }
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    const auto columns = sparse_factor::columns_of(node, in, 3, in[1].size());
    if (in[2].size() != in[1].size())
      throw ShapeError("selected_inverse: the direction and the factor have different lengths");
    const Array factor = in[1].contiguous();
    out[0] = in[2].copy();
    const bool is_closed = with_float(factor.dtype(), [&]<class T>(T) {
      return runtime::sparse_inverse_derivative(columns.pattern(), factor.data_as<T>(), out[0].mutable_data_as<T>());
    });
    if (!is_closed) sparse_factor::refuse_open_pattern();
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    const Variable &bounds = node.input(3), &rows = node.input(4);
    out[0] = undefined_gradient(
        "third derivatives of logdet, and second ones of a selected inverse, are not implemented for sparse matrices");
    out[2] = transposed_derivative(node.input(0), node.input(1), cotangents[0], bounds, rows);
    return out;
  }

 private:
  Form form() const override { return {"selected_inverse", "(p),(p),(p),(b),(p)->(p)", {0, 1, 2}, {0, 2}, 2, true}; }
};

// Inputs: the lower triangle, its factor, the pattern.
class SparseSelectedInverse final : public sparse_factor::FactorOp {
 public:
  std::string_view name() const override { return "SparseSelectedInverse"; }
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    const auto columns = sparse_factor::columns_of(node, in, 2, in[1].size());
    const Array factor = in[1].contiguous();
    out[0] = Array::zeros(factor.dtype(), factor.shape());
    const bool is_closed = with_float(factor.dtype(), [&]<class T>(T) {
      return runtime::sparse_selected_inverse(columns.pattern(), factor.data_as<T>(), out[0].mutable_data_as<T>());
    });
    if (!is_closed) sparse_factor::refuse_open_pattern();
  }
  // d(A^-1) = -A^-1 dA A^-1, of which the op above takes the elements in the pattern.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    const Variable &bounds = node.input(2), &rows = node.input(3);
    out[0] = transposed_derivative(node.input(0), node.input(1), cotangents[0], bounds, rows);
    return out;
  }
  bool has_pushforward() const override { return true; }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    if (tangents[0].is_disconnected()) return {disconnected()};
    return {sparse_inverse_derivative(node.input(0), node.input(1), tangents[0], node.input(2), node.input(3))};
  }

 private:
  Form form() const override { return {"selected_inverse", "(p),(p),(b),(p)->(p)", {0, 1}, {0}, 1, true}; }
};

// Inputs: the lower triangle, its factor, the pattern, the number of each row in the user's matrix.
class SparseLogDeterminant final : public sparse_factor::FactorOp {
 public:
  std::string_view name() const override { return "SparseLogDeterminant"; }
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    const auto columns = sparse_factor::columns_of(node, in, 2, in[1].size());
    const runtime::FactorPattern pattern = columns.pattern();
    const Array factor = in[1].contiguous();
    double total = 0;
    with_float(factor.dtype(), [&]<class T>(T) {
      for (std::int64_t j = 0; j < pattern.size; ++j) total += std::log(double(factor.data_as<T>()[pattern.bounds[j]]));
    });
    out[0] = Array(2 * total).astype(factor.dtype());
  }
  // The inverse; an element below the diagonal stands for two.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    const Variable &bounds = node.input(2), &rows = node.input(3);
    const Variable inverse = sparse_selected_inverse(node.input(0), node.input(1), bounds, rows);
    out[0] = cotangents[0] * sparse_factor::scaled_below(inverse, 2, bounds, rows);
    return out;
  }

 private:
  Form form() const override { return {"logdet", "(p),(p),(b),(p),(n)->()", {0, 1}, {0}, {}, true}; }
};

// ---- samples --------------------------------------------------------------------------------------------------------

std::vector<Sample> sparse_inverse_derivative_samples() {
  return {sparse_factor::sample(make_ref<SparseInverseDerivative>(), "tlgp", false)};
}
BITALE_REGISTER_OP(SparseInverseDerivative,
                   "The derivative of the elements of an inverse in the pattern of a sparse factor.",
                   sparse_inverse_derivative_samples);

std::vector<Sample> sparse_selected_inverse_samples() {
  return {sparse_factor::sample(make_ref<SparseSelectedInverse>(), "tlp", false)};
}
BITALE_REGISTER_OP(SparseSelectedInverse, "The elements of an inverse in the pattern of a sparse Cholesky factor.",
                   sparse_selected_inverse_samples);

std::vector<Sample> sparse_log_determinant_samples() {
  return {sparse_factor::sample(make_ref<SparseLogDeterminant>(), "tlpo", false)};
}
BITALE_REGISTER_OP(SparseLogDeterminant, "The log determinant of a sparse matrix whose Cholesky factor is given.",
                   sparse_log_determinant_samples);

}  // namespace

Variable sparse_inverse_derivative(const Variable& triangle, const Variable& factor, const Variable& direction,
                                   const Variable& bounds, const Variable& rows) {
  return (*make_ref<SparseInverseDerivative>())({triangle, factor, direction, bounds, rows});
}

Variable sparse_selected_inverse(const Variable& triangle, const Variable& factor, const Variable& bounds,
                                 const Variable& rows) {
  return (*make_ref<SparseSelectedInverse>())({triangle, factor, bounds, rows});
}

Variable sparse_logdet(const Variable& triangle, const Variable& factor, const Variable& bounds, const Variable& rows,
                       const Variable& order) {
  return (*make_ref<SparseLogDeterminant>())({triangle, factor, bounds, rows, order});
}

}  // namespace bitale
