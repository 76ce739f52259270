// SparseCholesky: the Cholesky factor of a sparse matrix, and its derivative as an op of its own.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sparse/factor.hpp"

namespace bitale {

namespace {

constexpr const char* no_second_derivatives =
    "second derivatives of the elements of a sparse Cholesky factor are not implemented; those of solve are";

Variable cholesky_gradient(const Variable& factor, const Variable& cotangent, const Apply& node);

// The factor's derivative in the direction of a matrix, given the factor and the lower triangle of the direction.
class SparseCholeskyDerivative final : public sparse_factor::FactorOp {
 public:
  std::string_view name() const override { return "SparseCholeskyDerivative"; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_factor::Columns columns(in[2], in[3], in[0].size(), false);
    if (in[1].size() != in[0].size()) throw ShapeError("cholesky: the direction and the factor have different lengths");
    const Array factor = in[0].contiguous();
    out[0] = in[1].copy();
    const bool is_closed = with_float(factor.dtype(), [&]<class T>(T) {
      return runtime::sparse_cholesky_derivative(columns.pattern(), factor.data_as<T>(), out[0].mutable_data_as<T>());
    });
    if (!is_closed) sparse_factor::refuse_open_pattern();
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    out[0] = undefined_gradient(no_second_derivatives);
    out[1] = cholesky_gradient(node.input(0), cotangents[0], node);
    return out;
  }

 private:
  Form form() const override { return {"cholesky", "(p),(p),(b),(p)->(p)", {0, 1}, {0, 1}, 0}; }
};

// The gradient by the lower triangle, given the factor and the gradient by its elements.
class SparseCholeskyGradient final : public sparse_factor::FactorOp {
 public:
  std::string_view name() const override { return "SparseCholeskyGradient"; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_factor::Columns columns(in[2], in[3], in[0].size(), false);
    if (in[1].size() != in[0].size()) throw ShapeError("cholesky: the gradient and the factor have different lengths");
    const Array factor = in[0].contiguous();
    out[0] = in[1].copy();
    with_float(factor.dtype(), [&]<class T>(T) {
      runtime::sparse_cholesky_gradient(columns.pattern(), factor.data_as<T>(), out[0].mutable_data_as<T>());
    });
  }
  // It is linear in the gradient by the factor: the transpose of the derivative.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    out[0] = undefined_gradient(no_second_derivatives);
    out[1] = (*make_ref<SparseCholeskyDerivative>())({node.input(0), cotangents[0], node.input(2), node.input(3)});
    return out;
  }

 private:
  Form form() const override { return {"cholesky", "(p),(p),(b),(p)->(p)", {0, 1}, {0, 1}, 0}; }
};

// For a node of which the pattern is inputs 2 and 3.
Variable cholesky_gradient(const Variable& factor, const Variable& cotangent, const Apply& node) {
  return (*make_ref<SparseCholeskyGradient>())({factor, cotangent, node.input(2), node.input(3)});
}

// Inputs: the lower triangle, the pattern, and the number of each row in the user's matrix.
class SparseCholesky final : public sparse_factor::FactorOp {
 public:
  explicit SparseCholesky(bool dense) : dense(dense) {}
  bool dense;  // whether the pattern is a full triangle, which is eliminated as one dense matrix
  static constexpr auto fields = attribute_list(attribute("dense", &SparseCholesky::dense));
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string_view name() const override { return "SparseCholesky"; }
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    const auto columns = sparse_factor::columns_of(node, in, 1, in[0].size());
    const Array triangle = in[0].contiguous();
    out[0] = Array::empty(triangle.dtype(), triangle.shape());
    const std::int64_t failed = with_float(out[0].dtype(), [&]<class T>(T) {
      return runtime::sparse_cholesky(columns.pattern(), triangle.data_as<T>(), out[0].mutable_data_as<T>());
    });
    if (failed == 0) return;
    if (failed < 0) sparse_factor::refuse_open_pattern();
    const std::int64_t position[] = {failed - 1};
    const Array order = in[3].astype(DType::Int64);
    throw LinAlgError(cat("cholesky: the sparse matrix is not positive definite: elimination fails at row ",
                          failed <= order.size() ? std::int64_t(order.at(position)) : failed - 1));
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (!cotangents[0].is_disconnected())
      out[0] = (*make_ref<SparseCholeskyGradient>())({node.output(), cotangents[0], node.input(1), node.input(2)});
    return out;
  }

 private:
  Form form() const override { return {"cholesky", "(p),(b),(p),(n)->(p)", {0}, {0}, 0, true}; }
};

// ---- samples --------------------------------------------------------------------------------------------------------

std::vector<Sample> sparse_cholesky_gradient_samples() {
  return {sparse_factor::sample(make_ref<SparseCholeskyGradient>(), "lgp", false)};
}
BITALE_REGISTER_OP(SparseCholeskyGradient, "The gradient of a sparse Cholesky factor by the lower triangle.",
                   sparse_cholesky_gradient_samples);

std::vector<Sample> sparse_cholesky_derivative_samples() {
  return {sparse_factor::sample(make_ref<SparseCholeskyDerivative>(), "lgp", false)};
}
BITALE_REGISTER_OP(SparseCholeskyDerivative, "The derivative of a sparse Cholesky factor in the direction of a matrix.",
                   sparse_cholesky_derivative_samples);

std::vector<Sample> sparse_cholesky_samples() {
  return {sparse_factor::sample(make_ref<SparseCholesky>(false), "tpo", true)};
}
BITALE_REGISTER_OP(SparseCholesky, "The Cholesky factor of a sparse matrix, in a pattern that is given.",
                   sparse_cholesky_samples);

}  // namespace

Variable sparse_cholesky(const Variable& triangle, const Variable& bounds, const Variable& rows, const Variable& order,
                         bool dense) {
  return (*make_ref<SparseCholesky>(dense))({triangle, bounds, rows, order});
}

}  // namespace bitale
