// SparseLogDeterminant and SparseSelectedInverse, which is its gradient.
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sparse/factor.hpp"

namespace bitale {

namespace {

// Inputs: the factor, the pattern.
class SparseSelectedInverse final : public Op {
 public:
  std::string_view name() const override { return "SparseSelectedInverse"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 3);
    const Variables own = sparse_factor::checked_values("selected_inverse", inputs.first(1), inputs.subspan(1));
    return Apply(OpRef(this), own, {own[0].type()});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_factor::Columns columns(in[1], in[2], in[0].size());
    const Array factor = in[0].contiguous();
    out[0] = Array::zeros(factor.dtype(), factor.shape());
    const bool is_closed = with_float(factor.dtype(), [&]<class T>(T) {
      return runtime::sparse_selected_inverse(columns.pattern(), factor.data_as<T>(), out[0].data_as<T>());
    });
    if (!is_closed) sparse_factor::refuse_open_pattern();
  }
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override {
    return blockwise(OpRef(this), "(p),(b),(p)->(p)", batched);
  }
  Variables pullback(const Apply& node, std::span<const Variable>) const override {
    Variables out = no_gradients(node);
    out[0] = undefined_gradient(
        "derivatives of a selected inverse, and second derivatives of logdet, are not implemented for sparse matrices");
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override { return connect_first(node, 1); }
};

// Inputs: the lower triangle, its factor, the pattern, the number of each row in the user's matrix.
class SparseLogDeterminant final : public Op {
 public:
  std::string_view name() const override { return "SparseLogDeterminant"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 5);
    const Variables own = sparse_factor::checked_values("logdet", inputs.first(2), inputs.subspan(2));
    return Apply(OpRef(this), own, {tensor_type(own[0].dtype(), {})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape>) const override { return {{}}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_factor::Columns columns(in[2], in[3], in[1].size());
    const auto [size, bounds, rows] = columns.pattern();
    const Array factor = in[1].contiguous();
    double total = 0;
    with_float(factor.dtype(), [&]<class T>(T) {
      for (std::int64_t j = 0; j < size; ++j) total += std::log(double(factor.data_as<T>()[bounds[j]]));
    });
    out[0] = Array(2 * total).astype(factor.dtype());
  }
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override {
    return blockwise(OpRef(this), "(p),(p),(b),(p),(n)->()", batched);
  }
  // The inverse; an element below the diagonal stands for two.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    const Variable &bounds = node.input(2), &rows = node.input(3);
    // The node of the factor again, and not the input, from which second derivatives are disconnected.
    const Variable factor = sparse_cholesky(node.input(0), bounds, rows, node.input(4));
    const Variable inverse = sparse_selected_inverse(factor, bounds, rows);
    const Variable on_diagonal = eq(rows, sparse_factor::column_of(bounds, rows));
    out[0] = cotangents[0] * switch_(on_diagonal, inverse, 2 * inverse);
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override { return connect_first(node, 1); }
};

// ---- samples --------------------------------------------------------------------------------------------------------

std::vector<Sample> sparse_selected_inverse_samples() {
  return {sparse_factor::sample(make_ref<SparseSelectedInverse>(), "lp", false)};
}
REGISTER_OP(SparseSelectedInverse, "The elements of an inverse in the pattern of a sparse Cholesky factor.",
            sparse_selected_inverse_samples);

std::vector<Sample> sparse_log_determinant_samples() {
  return {sparse_factor::sample(make_ref<SparseLogDeterminant>(), "tlpo", false)};
}
REGISTER_OP(SparseLogDeterminant, "The log determinant of a sparse matrix whose Cholesky factor is given.",
            sparse_log_determinant_samples);

}  // namespace

Variable sparse_selected_inverse(const Variable& factor, const Variable& bounds, const Variable& rows) {
  return (*make_ref<SparseSelectedInverse>())({factor, bounds, rows});
}

Variable sparse_logdet(const Variable& triangle, const Variable& factor, const Variable& bounds, const Variable& rows,
                       const Variable& order) {
  return (*make_ref<SparseLogDeterminant>())({triangle, factor, bounds, rows, order});
}

}  // namespace bitale
