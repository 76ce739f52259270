// SparseLuDeterminant: sign and logarithm of a determinant; SparseLuSelectedInverse, which is its gradient, and
// SparseLuInverseDerivative, that of the latter.
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sparse/factor.hpp"
#include "ops/sparse/lu.hpp"

namespace bitale {

namespace {

// Visits the matrix's stored elements: visit(position in the matrix, position in the factors).
template <class Visit>
void for_stored_elements(const sparse_lu_inputs::Matrix& a, const sparse_lu_inputs::Factors& factors, Visit&& visit) {
  const auto [size, bounds, rows] = a.columns();
  const runtime::LuPattern pattern = factors.pattern();
  std::vector<std::int64_t> position(std::size_t(size), 0), where(std::size_t(size), -1);
  for (std::int64_t k = 0; k < size; ++k) position[std::size_t(factors.order()[k])] = k;
  for (std::int64_t k = 0; k < size; ++k) {
    const std::int64_t j = a.column_order()[k], begin = pattern.bounds[2 * k], end = pattern.bounds[2 * k + 2];
    for (std::int64_t p = begin; p < end; ++p) where[std::size_t(pattern.rows[p])] = p;
    for (std::int64_t p = bounds[j]; p < bounds[j + 1]; ++p) {
      const std::int64_t at = where[std::size_t(position[std::size_t(rows[p])])];
      if (at < begin || at >= end) throw ValueError("sparse lu: expected the factors of the matrix, got others");
      visit(p, at);
    }
  }
}

// Inputs: those of other ops on factors, and the direction.
class SparseLuInverseDerivative final : public sparse_factor::FactorOp {
 public:
  std::string_view name() const override { return "SparseLuInverseDerivative"; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_lu_inputs::Matrix a(in);
    const sparse_lu_inputs::Factors factors(in, a.columns().size);
    const Array given = in[sparse_lu_inputs::count].contiguous();
    if (given.size() != a.values.size()) throw ShapeError("lu: the direction and the matrix have different lengths");
    const Array direction = Array::zeros(factors.values.dtype(), factors.values.shape());
    out[0] = Array::zeros(a.values.dtype(), a.values.shape());
    with_float(a.values.dtype(), [&]<class T>(T) {
      for_stored_elements(a, factors, [&](std::int64_t p, std::int64_t at) {
        direction.mutable_data_as<T>()[at] += given.data_as<T>()[p];
      });
      runtime::sparse_lu_inverse_derivative(factors.pattern(), factors.values.data_as<T>(),
                                            direction.mutable_data_as<T>());
      for_stored_elements(a, factors, [&](std::int64_t p, std::int64_t at) {
        out[0].mutable_data_as<T>()[p] = direction.data_as<T>()[at];
      });
    });
  }
  // With Z the inverse, the map from D to -(Z D Z)^T is its own transpose.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    out[0] = undefined_gradient("third derivatives of slogdet are not implemented for sparse LU factors");
    out[sparse_lu_inputs::count] =
        sparse_lu_inverse_derivative(sparse_lu_inputs::matrix(node), sparse_lu_inputs::factors(node), cotangents[0]);
    return out;
  }

 private:
  Form form() const override {
    return {"lu: slogdet", "(p),(b),(p),(n),(f),(g),(f),(n),(p)->(p)", {0, 4, 8}, {0, 8}, 0};
  }
};

// For each stored element (i, j) of the matrix the element (j, i) of its inverse.
class SparseLuSelectedInverse final : public sparse_factor::FactorOp {
 public:
  std::string_view name() const override { return "SparseLuSelectedInverse"; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_lu_inputs::Matrix a(in);
    const sparse_lu_inputs::Factors factors(in, a.columns().size);
    const Array inverse = Array::zeros(factors.values.dtype(), factors.values.shape());
    out[0] = Array::zeros(a.values.dtype(), a.values.shape());
    with_float(a.values.dtype(), [&]<class T>(T) {
      runtime::sparse_lu_selected_inverse(factors.pattern(), factors.values.data_as<T>(), inverse.mutable_data_as<T>());
      for_stored_elements(a, factors, [&](std::int64_t p, std::int64_t at) {
        out[0].mutable_data_as<T>()[p] = inverse.data_as<T>()[at];
      });
    });
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (!cotangents[0].is_disconnected()) out[0] = derivative(node, cotangents[0]);
    return out;
  }
  bool has_pushforward() const override { return true; }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    return {tangents[0].is_disconnected() ? disconnected() : derivative(node, tangents[0])};
  }

 private:
  Form form() const override { return {"lu: slogdet", "(p),(b),(p),(n),(f),(g),(f),(n)->(p)", {0, 4}, {0}, 0}; }
  static Variable derivative(const Apply& node, const Variable& direction) {
    return sparse_lu_inverse_derivative(sparse_lu_inputs::matrix(node), sparse_lu_inputs::factors(node), direction);
  }
};

class SparseLuDeterminant final : public sparse_factor::FactorOp {
 public:
  std::string_view name() const override { return "SparseLuDeterminant"; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const sparse_lu_inputs::Matrix a(in);
    const sparse_lu_inputs::Factors factors(in, a.columns().size);
    const auto [size, bounds, rows] = factors.pattern();
    bool negative = sparse_lu_inputs::is_odd(factors.order(), size) != sparse_lu_inputs::is_odd(a.column_order(), size);
    double total = 0;
    bool nan = false;
    with_float(factors.values.dtype(), [&, bounds = bounds, size = size]<class T>(T) {
      for (std::int64_t k = 0; k < size; ++k) {
        const auto pivot = double(factors.values.data_as<T>()[bounds[2 * k + 1]]);
        negative ^= pivot < 0;
        nan |= std::isnan(pivot);
        total += std::log(std::abs(pivot));
      }
    });
    out[0] = Array(nan ? total : negative ? -1.0 : 1.0).astype(factors.values.dtype());
    out[1] = Array(total).astype(factors.values.dtype());
  }
  // The transposed inverse; the sign is constant.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (!cotangents[1].is_disconnected())
      out[0] =
          cotangents[1] * sparse_lu_selected_inverse(sparse_lu_inputs::matrix(node), sparse_lu_inputs::factors(node));
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    std::vector<std::vector<bool>> out(std::size_t(sparse_lu_inputs::count), {false, false});
    out[0] = {false, true};
    return out;
  }

 private:
  Form form() const override { return {"lu: slogdet", "(p),(b),(p),(n),(f),(g),(f),(n)->(),()", {0, 4}, {0}}; }
};

// ---- samples --------------------------------------------------------------------------------------------------------

std::vector<Sample> sparse_lu_inverse_derivative_samples() {
  Sample out = sparse_lu_inputs::sample(make_ref<SparseLuSelectedInverse>(), true, 0);
  Variables inputs = out.node.inputs();
  inputs.push_back(Variable(inputs[0].type()));
  out.values.push_back(Array{1.0, -2.0, 0.5, 3.0, -1.0, 0.25});
  out.node = make_ref<SparseLuInverseDerivative>()->make_node(inputs);
  return {out};
}
BITALE_REGISTER_OP(SparseLuInverseDerivative,
                   "The derivative of elements of the inverse of a sparse matrix whose LU factors are given.",
                   sparse_lu_inverse_derivative_samples);

std::vector<Sample> sparse_lu_selected_inverse_samples() {
  return {sparse_lu_inputs::sample(make_ref<SparseLuSelectedInverse>(), true, 0)};
}
BITALE_REGISTER_OP(SparseLuSelectedInverse, "Elements of the inverse of a sparse matrix whose LU factors are given.",
                   sparse_lu_selected_inverse_samples);

std::vector<Sample> sparse_lu_determinant_samples() {
  return {sparse_lu_inputs::sample(make_ref<SparseLuDeterminant>(), true, 0)};
}
BITALE_REGISTER_OP(SparseLuDeterminant, "Sign and log determinant of a sparse matrix whose LU factors are given.",
                   sparse_lu_determinant_samples);

}  // namespace

Variable sparse_lu_inverse_derivative(const SparseLuMatrix& a, const SparseLuFactors& factors,
                                      const Variable& direction) {
  Variables inputs = sparse_lu_inputs::of(a, factors);
  inputs.push_back(direction);
  return (*make_ref<SparseLuInverseDerivative>())(inputs);
}

Variable sparse_lu_selected_inverse(const SparseLuMatrix& a, const SparseLuFactors& factors) {
  return (*make_ref<SparseLuSelectedInverse>())(sparse_lu_inputs::of(a, factors));
}

Variables sparse_lu_slogdet(const SparseLuMatrix& a, const SparseLuFactors& factors) {
  const Apply node = make_ref<SparseLuDeterminant>()->make_node(sparse_lu_inputs::of(a, factors));
  return {node.output(0), node.output(1)};
}

}  // namespace bitale
