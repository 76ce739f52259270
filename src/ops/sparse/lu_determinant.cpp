// SparseLuDeterminant: sign and logarithm of a determinant; SparseLuSelectedInverse, which is its gradient, and
// SparseLuInverseDerivative, that of the latter.
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sparse/lu.hpp"

namespace bitale {

namespace {

constexpr std::string_view signature = "(p),(b),(p),(n),(f),(g),(f),(n)->";

Variables checked_inputs(const Op& op, std::string_view who, std::span<const Variable> inputs) {
  require_inputs(op, inputs, sparse_lu_inputs::count);
  const int values[] = {0, 4};
  return sparse_lu_inputs::checked(who, inputs, values);
}

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
class SparseLuInverseDerivative final : public Op {
 public:
  std::string_view name() const override { return "SparseLuInverseDerivative"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, sparse_lu_inputs::count + 1);
    const int values[] = {0, 4, sparse_lu_inputs::count};
    const Variables own = sparse_lu_inputs::checked("lu: slogdet", inputs, values);
    return Apply(OpRef(this), own, {own[0].type()});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
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
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override {
    return blockwise(OpRef(this), cat(signature.substr(0, signature.size() - 2), ",(p)->(p)"), batched);
  }
  // With Z the inverse, the map from D to -(Z D Z)^T is its own transpose.
  bool has_linear_pullback() const override { return true; }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected()) return out;
    out[0] = undefined_gradient("third derivatives of slogdet are not implemented for sparse LU factors");
    out[sparse_lu_inputs::count] =
        sparse_lu_inverse_derivative(sparse_lu_inputs::matrix(node), sparse_lu_inputs::factors(node), cotangents[0]);
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override {
    auto out = connect_first(node, 1);
    out[sparse_lu_inputs::count] = {true};
    return out;
  }
};

// For each stored element (i, j) of the matrix the element (j, i) of its inverse.
class SparseLuSelectedInverse final : public Op {
 public:
  std::string_view name() const override { return "SparseLuSelectedInverse"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    const Variables own = checked_inputs(*this, "lu: slogdet", inputs);
    return Apply(OpRef(this), own, {own[0].type()});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
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
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override {
    return blockwise(OpRef(this), cat(signature, "(p)"), batched);
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
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override { return connect_first(node, 1); }

 private:
  static Variable derivative(const Apply& node, const Variable& direction) {
    return sparse_lu_inverse_derivative(sparse_lu_inputs::matrix(node), sparse_lu_inputs::factors(node), direction);
  }
};

class SparseLuDeterminant final : public Op {
 public:
  std::string_view name() const override { return "SparseLuDeterminant"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    const Variables own = checked_inputs(*this, "lu: slogdet", inputs);
    const auto scalar = tensor_type(own[0].dtype(), {});
    return Apply(OpRef(this), own, {scalar, scalar});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape>) const override { return {{}, {}}; }
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
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override {
    return blockwise(OpRef(this), cat(signature, "(),()"), batched);
  }
  // The transposed inverse; the sign is constant.
  bool has_linear_pullback() const override { return true; }
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
