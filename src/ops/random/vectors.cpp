// Compositions whose parameters or draws are vectors: normal vectors, and positions drawn with given probabilities.
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/random/compositions.hpp"

namespace bitale {

namespace {

const std::vector<int> rows_axis{-1};

// A with A A^T = cov.
Variable cholesky_root(const Variable& cov) { return cholesky(cov); }

Variable checked_root(const Variable& root, const Variable& condition) {
  return check_and_raise(root, {condition}, "LinAlgError",
                         "multivariate_normal: the covariance matrix is not positive semidefinite");
}

constexpr double psd_tolerance = 1e-8;  // NumPy's

Variable with_scaled_columns(const Variable& columns, const Variable& factors) {
  return columns * expand_dims(sqrt(maximum(factors, 0.0)), -2);
}

Variable eigh_root(const Variable& cov) {
  const EigenPairs pairs = eigh(cov);
  return checked_root(with_scaled_columns(pairs.vectors, pairs.values),
                      all(ge(pairs.values, -psd_tolerance * max(abs(pairs.values)))));
}

Variable svd_root(const Variable& cov) {
  const SingularValues parts = svd(cov);
  const Variable v = matrix_transpose(parts.vt), again = matmul(v * expand_dims(parts.s, -2), parts.vt);
  return checked_root(with_scaled_columns(parts.u, parts.s),
                      all(le(abs(again - cov), psd_tolerance * (1.0 + abs(cov)))));
}

Composition normal_vector(std::string_view name, Variable (*root)(const Variable& cov)) {
  Composition out{name, {{"mean", DType::Float64, 1}, {"cov", DType::Float64, 2}}, DType::Float64, {}, {}, {}, {}};
  out.formula = [root](DrawSource& from, const Variables& p) {
    const Variable a = root(p[1]), length = length_of(p[1], p[1].ndim() - 1);
    const Variable z = from.draw("standard_normal", {}, {length});
    Shape mean_lengths = lengths_of(p[0]);
    mean_lengths.back() = length;
    const Variable at = matrix_transpose(a), mean = broadcast_to(p[0], mean_lengths);
    if (a.ndim() > 2) return sum(a * expand_dims(z, -2), rows_axis) + mean;
    return (z.ndim() > 2 ? matmul(z, at) : dot(z, at)) + mean;
  };
  out.core_lengths = [](std::span<const Shape> shapes) {
    const Shape &mean = shapes[0], &cov = shapes[1];
    common_length(static_length(cov.back()), static_length(cov[cov.size() - 2]), 0, "multivariate_normal: cov");
    common_length(static_length(cov.back()), static_length(mean.back()), 0, "multivariate_normal: mean and cov");
    return Shape{cov.back()};
  };
  return out;
}

// The draw is the number of cumulative probabilities that are below a uniform number. tolerance: of the sum of the
// probabilities, as in NumPy's `choice`.
Composition index_by_probabilities(std::string_view name, double tolerance) {
  Composition out{name, {{"p", DType::Float64, 1}}, DType::Int64, {}, {}, {}, {}};
  out.formula = [](DrawSource& from, const Variables& p) {
    const Variable u = from.unit(), last = length_of(p[0], p[0].ndim() - 1) - 1;
    // The sum of all probabilities may be rounded to less than 1.
    return minimum(cast(sum(lt(cumsum(p[0], -1), expand_dims(u, -1)), rows_axis), DType::Int64), last);
  };
  out.domain = {"categorical", {"p"}, {DType::Float64}, {}, true};
  out.domain.refuse = [tolerance](auto columns, std::int64_t length) -> const char* {
    const auto* p = static_cast<const double*>(columns[0].data);
    double sum = 0;
    for (std::int64_t k = 0; k < length; ++k) {
      if (!(p[k] >= 0)) return "p < 0 or p contains NaNs";
      sum += p[k];
    }
    return std::fabs(sum - 1) <= tolerance ? nullptr : "probabilities do not sum to 1";
  };
  out.holds = [tolerance](const Variables& p) {
    return logical_and(all(ge(p[0], 0)), all(le(abs(sum(p[0], rows_axis) - 1.0), tolerance)));
  };
  return out;
}

}  // namespace

std::vector<Composition> compositions_of_vectors() {
  return {normal_vector("multivariate_normal", cholesky_root), normal_vector("multivariate_normal_svd", svd_root),
          normal_vector("multivariate_normal_eigh", eigh_root),
          index_by_probabilities("categorical", 1.4901161193847656e-08),
          index_by_probabilities("categorical_float32", 3.4526698300124393e-04)};
}

namespace random {

Draw multivariate_normal(const Operand& rng, const Operand& mean, const Operand& cov, const Size& size,
                         std::string_view method) {
  if (method != "cholesky" && method != "svd" && method != "eigh")
    throw ValueError(cat("multivariate_normal: unknown method `", method, "`, expected cholesky, svd or eigh"));
  const std::string name =
      cat("multivariate_normal", method == "cholesky" ? "" : "_", method == "cholesky" ? "" : method);
  return composed(name, rng, {mean, cov}, size);
}

Draw categorical(const Operand& rng, const Operand& p, const Size& size) {
  return composed(p.dtype() == DType::Float32 ? "categorical_float32" : "categorical", rng, {p}, size);
}

}  // namespace random

}  // namespace bitale
