// Densities of vectors and of matrices. They reduce the last dimensions of the broadcast arguments.
#include "bitale/stats/vectors.hpp"

#include <optional>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/special.hpp"
#include "ops/analysis/lengths.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

namespace {

const Axes last{-1};

// Arguments of vectors or matrices, of which each has at least so many dimensions.
void require_ndim(const char* who, const char* name, V x, int ndim) {
  if (x.ndim() >= ndim) return;
  throw ShapeError(cat(who, ": ", name, ": expected at least ", count_text(ndim, "dimension"), ", got ", x.str(),
                       " of type ", x.type()->str()));
}

// a, whose last dimension must be as long as b's. A vector of length 1 would be repeated, and the constants of a
// density would not. Of two unknown lengths none is repeated.
Variable as_long_as(const char* who, V a, V b) {
  const std::int64_t length = static_length(length_of(a, a.ndim() - 1));
  const std::int64_t common = common_length(length, static_length(length_of(b, b.ndim() - 1)), a.ndim() - 1, who);
  if (length == common || common != 1) return a;
  std::vector<std::optional<Operand>> lengths(std::size_t(a.ndim()));
  lengths.back() = Operand(1);
  return specify_shape(a, lengths);
}

// The length of the last dimension as a number of x's dtype.
Variable count_along(V x) { return cast(length_of(x, x.ndim() - 1), x.dtype()); }

Variable log_diagonal_sum(V factor) { return sum(log(diagonal(factor, 0, -2, -1)), last); }

// The solution of factor z = x - mean, and its squared length.
Variable squared_distance(V factor, V residual) {
  return sum(sqr(solve_triangular(factor, residual, {.lower = true, .b_ndim = 1, .on_error = OnError::Nan})), last);
}

Variable normal_by_factor(V residual, V factor) {
  return -0.5 * squared_distance(factor, residual) - log_diagonal_sum(factor) - half_log_two_pi * count_along(residual);
}

}  // namespace

Variable multinomial_logpmf(const Operand& x, const Operand& n, const Operand& p) {
  static constexpr const char* who = "multinomial_logpmf";
  require_ndim(who, "x", x.variable, 1);
  require_ndim(who, "p", p.variable, 1);
  return density(
      who,
      [&given = p](V some_x, V n, V some_p) {
        const Variable x = as_long_as(who, some_x, some_p);
        const Variable p = as_long_as(who, some_p, some_x);
        const Variable valid = and_(all(and_(ge(p, 0), le(p, 1)), last), invert(misses_unit_sum(given, p)));
        const Variable outside = or_(any(is_no_count(x), last), neq(sum(x, last), n));
        const Variable counts = maximum(x, 0);
        const Variable value = gammaln(n + 1) + sum(xlogy(counts, p) - gammaln(counts + 1), last);
        return in_domain(valid, switch_(outside, -infinity, value));
      },
      x, n, p);
}

Variable dirichlet_logpdf(const Operand& x, const Operand& alphas) {
  static constexpr const char* who = "dirichlet_logpdf";
  require_ndim(who, "x", x.variable, 1);
  require_ndim(who, "alphas", alphas.variable, 1);
  return density(
      who,
      [&given = x](V some_x, V some_alphas) {
        const Variable x = as_long_as(who, some_x, some_alphas);
        const Variable alphas = as_long_as(who, some_alphas, some_x);
        const Variable constant = gammaln(sum(alphas, last)) - sum(in_domain(gt(alphas, 0), gammaln(alphas)), last);
        const Variable outside = or_(any(lt(x, 0), last), misses_unit_sum(given, x));
        return switch_(outside, -infinity, constant + sum(xlogy(alphas - 1, maximum(x, 0)), last));
      },
      x, alphas);
}

Variable multivariate_normal_logpdf(const Operand& x, const Operand& mean, const Operand& cov) {
  require_ndim("multivariate_normal_logpdf", "x", x.variable, 1);
  require_ndim("multivariate_normal_logpdf", "mean", mean.variable, 1);
  require_ndim("multivariate_normal_logpdf", "cov", cov.variable, 2);
  return density(
      "multivariate_normal_logpdf",
      [](V x, V mean, V cov) { return normal_by_factor(x - mean, cholesky(cov, {.on_error = OnError::Nan})); }, x, mean,
      cov);
}

Variable multivariate_normal_cholesky_logpdf(const Operand& x, const Operand& mean, const Operand& factor) {
  require_ndim("multivariate_normal_cholesky_logpdf", "x", x.variable, 1);
  require_ndim("multivariate_normal_cholesky_logpdf", "mean", mean.variable, 1);
  require_ndim("multivariate_normal_cholesky_logpdf", "factor", factor.variable, 2);
  return density(
      "multivariate_normal_cholesky_logpdf", [](V x, V mean, V factor) { return normal_by_factor(x - mean, factor); },
      x, mean, factor);
}

// With precision = L L^T, the squared distance is |L^T (x - mean)|^2.
Variable multivariate_normal_precision_logpdf(const Operand& x, const Operand& mean, const Operand& precision) {
  static constexpr const char* who = "multivariate_normal_precision_logpdf";
  require_ndim(who, "x", x.variable, 1);
  require_ndim(who, "mean", mean.variable, 1);
  require_ndim(who, "precision", precision.variable, 2);
  return density(
      who,
      [](V x, V mean, V some_precision) {
        const Variable residual = as_long_as(who, x - mean, some_precision);
        const Variable precision = as_long_as(who, some_precision, residual);
        const Variable factor = cholesky(precision, {.on_error = OnError::Nan});
        const Variable z = sum(expand_dims(residual, -1) * factor, Axes{-2});
        return -0.5 * sum(sqr(z), last) + log_diagonal_sum(factor) - half_log_two_pi * count_along(residual);
      },
      x, mean, precision);
}

// The density of a factor is a product over rows k = 2..K of L[k, k]^(K - k + 2 eta - 2), over its constant: that of
// onion construction (Lewandowski, Kurowicka and Joe 2009, section 3.2).
Variable lkj_cholesky_logpdf(const Operand& factor, const Operand& eta) {
  require_ndim("lkj_cholesky_logpdf", "factor", factor.variable, 2);
  const auto rows = known_integer(length_of(factor.variable, factor.ndim() - 1));
  if (!rows)
    throw NotImplementedError(cat("lkj_cholesky_logpdf: factor: expected a known length, got ", factor.variable.str(),
                                  " of type ", factor.variable.type()->str(), ": state it by specify_shape"));
  return density(
      "lkj_cholesky_logpdf",
      [count = *rows](V factor, V eta) {
        const Variable safe_eta = in_domain(gt(eta, 0), eta), two_eta = 2 * safe_eta;
        Variable value = zeros_like(eta);
        for (std::int64_t k = 1; k < count; ++k) {
          const Variable diagonal_element = subtensor(factor, {Ellipsis(), IndexItem(int(k)), IndexItem(int(k))});
          const double below = double(count - 1 - k);
          // The integral over the ball of the k elements beside the diagonal.
          const Variable shape = safe_eta + below / 2;
          const Variable log_integral = 0.5 * double(k) * log_pi + gammaln(shape) - gammaln(shape + 0.5 * double(k));
          value = value + (two_eta + (below - 2)) * log(diagonal_element) - log_integral;
        }
        return value;
      },
      factor, eta);
}

// The multivariate gamma function is a product of gamma functions over rows.
Variable wishart_logpdf(const Operand& x, const Operand& df, const Operand& scale) {
  require_ndim("wishart_logpdf", "x", x.variable, 2);
  require_ndim("wishart_logpdf", "scale", scale.variable, 2);
  return density(
      "wishart_logpdf",
      [](V x, V df, V scale) {
        const Variable rows = count_along(scale), l = cholesky(scale, {.on_error = OnError::Nan});
        const Variable of_x = cholesky(x, {.on_error = OnError::Nan});
        const Variable half = 0.5 * expand_dims(df, -1);
        const Variable steps = 0.5 * cast(arange(length_of(scale, scale.ndim() - 1)), scale.dtype());
        const Variable log_gamma = 0.25 * rows * (rows - 1) * log_pi + sum(gammaln(half - steps), last);
        const Variable trace =
            sum(sqr(solve_triangular(l, of_x, {.lower = true, .on_error = OnError::Nan})), Axes{-2, -1});
        const Variable value = (df - rows - 1) * log_diagonal_sum(of_x) - 0.5 * trace - 0.5 * df * rows * log_two -
                               df * log_diagonal_sum(l) - log_gamma;
        return in_domain(gt(df, rows - 1), value);
      },
      x, df, scale);
}

// ---- records -------------------------------------------------------------------------------------------------------

static random::Draw draw_by_cholesky(const Operand& rng, const Operand& mean, const Operand& cov,
                                     const random::Size& size) {
  return random::multivariate_normal(rng, mean, cov, size);
}

DISTRIBUTION({
    .name = "multinomial",
    .title = "multinomial distribution",
    .parameters = {{"n", "Number of trials, the sum of the counts."},
                   {"p", "Probabilities, along the last dimension."}},
    .draw = draw_function<random::multinomial>(),
    .log_functions = {LOG_FUNCTION(multinomial_logpmf)},
    .pytensor_class = "MultinomialRV",
    .core = {1, {{}, {0}}, {0}},
    .value = {"x", "Counts, along the last dimension."},
});

DISTRIBUTION({
    .name = "dirichlet",
    .title = "Dirichlet distribution",
    .parameters = {{"alphas", "Concentrations, positive, along the last dimension."}},
    .draw = draw_function<random::dirichlet>(),
    .log_functions = {LOG_FUNCTION(dirichlet_logpdf)},
    .draw_notes = "The draws sum to 1 along the last axis.",
    .pytensor_class = "DirichletRV",
    .core = {1, {{0}}, {0}},
    .value = {"x", "Shares that sum to 1, along the last dimension."},
});

DISTRIBUTION({
    .name = "multivariate_normal",
    .title = "multivariate normal distribution",
    .parameters = {{"mean", "Mean vector."}, {"cov", "Covariance matrix, of which the lower triangle is read."}},
    .draw = draw_function<draw_by_cholesky>(),
    .log_functions = {LOG_FUNCTION(multivariate_normal_logpdf)},
    .draw_notes = "The draws are ``mean + A @ z`` with standard normal z and ``A @ A.T == cov``. "
                  "LinAlgError is raised at run time for matrices without such a factor.",
    .pytensor_class = "MvNormalRV",
    .core = {2, {{0}, {0, 1}}, {0}},
    .value = {"x", "Vector."},
});

DISTRIBUTION({
    .name = "multivariate_normal_cholesky",
    .title = "multivariate normal distribution by a factor of its covariance",
    .parameters = {{"mean", "Mean vector."}, {"factor", "Lower Cholesky factor of the covariance matrix."}},
    .log_functions = {LOG_FUNCTION(multivariate_normal_cholesky_logpdf)},
    .core = {2, {{0}, {0, 1}}, {0}},
    .value = {"x", "Vector."},
});

DISTRIBUTION({
    .name = "multivariate_normal_precision",
    .title = "multivariate normal distribution by the inverse of its covariance",
    .parameters = {{"mean", "Mean vector."},
                   {"precision", "Inverse of the covariance matrix, of which the lower triangle is read."}},
    .log_functions = {LOG_FUNCTION(multivariate_normal_precision_logpdf)},
    .core = {2, {{0}, {0, 1}}, {0}},
    .value = {"x", "Vector."},
});

DISTRIBUTION({
    .name = "lkj_cholesky",
    .title = "LKJ distribution of Cholesky factors of correlation matrices",
    .parameters = {{"eta", "Shape, positive; 1 is uniform over correlation matrices."}},
    .log_functions = {LOG_FUNCTION(lkj_cholesky_logpdf)},
    .core = {2, {{}}, {0, 1}},
    .value = {"factor", "Lower Cholesky factor of a correlation matrix, whose length is known."},
    .density_lines = "! NotImplementedError: if the length of `factor` is not known.\n* The density is that of the "
                     "elements below the diagonal (Lewandowski, Kurowicka and Joe, 2009).",
});

DISTRIBUTION({
    .name = "wishart",
    .title = "Wishart distribution",
    .parameters = {{"df", "Degrees of freedom, more than the number of rows less 1."},
                   {"scale", "Scale matrix, of which the lower triangle is read."}},
    .log_functions = {LOG_FUNCTION(wishart_logpdf)},
    .core = {2, {{}, {0, 1}}, {0, 1}},
    .value = {"x", "Positive definite matrix."},
});

}  // namespace bitale::stats
