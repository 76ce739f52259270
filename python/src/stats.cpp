// Log densities and constraint transforms, for bitale.stats: a table of names, functions and parameters.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <limits>
#include <utility>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/stats/densities.hpp"
#include "bitale/stats/transforms.hpp"
#include "bitale/stats/vectors.hpp"
#include "define.hpp"
#include "stats.hpp"

namespace bitale::python {

namespace {

using namespace stats;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class>
using AsLike = Like;

template <class... Parameters, class... Names>
void bind(nb::module_& m, const char* name, Variable (*function)(Parameters...), const Names&... names) {
  add_function(
      m, name, [function](const AsLike<Parameters>&... values) { return function(as_variable(values)...); },
      nb::call_guard<AtCaller>(), names...);
}

std::pair<Variable, Variable> as_pair(const Constrained& x) { return {x.value, x.log_jacobian}; }

template <class... Parameters, class... Names>
void bind_transform(nb::module_& m, const char* name, Constrained (*function)(const Operand&, Parameters...),
                    const Names&... names) {
  add_function(
      m, name,
      [function](const Like& y, const AsLike<Parameters>&... values) {
        return as_pair(function(as_variable(y), as_variable(values)...));
      },
      nb::call_guard<AtCaller>(), "y"_a, names...);
}
template <class Name>
void bind_transform(nb::module_& m, const char* name, Constrained (*function)(const Operand&, int), const Name& rows) {
  add_function(
      m, name, [function](const Like& y, int count) { return as_pair(function(as_variable(y), count)); },
      nb::call_guard<AtCaller>(), "y"_a, rows);
}

// Like the draws, by a rate or by a scale.
Variable gamma_of(const Like& x, const Like& shape, const Any& rate, const Any& scale) {
  if (!rate.is_none() && !scale.is_none()) throw ValueError("gamma_logpdf: expected a rate or a scale, got both");
  if (!rate.is_none()) return gamma_rate_logpdf(as_variable(x), as_variable(shape), as_variable(rate));
  return gamma_logpdf(as_variable(x), as_variable(shape), scale.is_none() ? Operand(1.0) : Operand(as_variable(scale)));
}

// clang-format off
void bind_densities(nb::module_& m) {
  bind(m, "uniform_logpdf", uniform_logpdf, "x"_a, "low"_a = 0.0, "high"_a = 1.0);
  bind(m, "normal_logpdf", normal_logpdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "halfnormal_logpdf", halfnormal_logpdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "truncated_normal_logpdf", truncated_normal_logpdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0, "lower"_a = -infinity, "upper"_a = infinity);
  bind(m, "lognormal_logpdf", lognormal_logpdf, "x"_a, "mean"_a = 0.0, "sigma"_a = 1.0);
  bind(m, "t_logpdf", t_logpdf, "x"_a, "df"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "cauchy_logpdf", cauchy_logpdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "halfcauchy_logpdf", halfcauchy_logpdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "laplace_logpdf", laplace_logpdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "logistic_logpdf", logistic_logpdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "gumbel_logpdf", gumbel_logpdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "vonmises_logpdf", vonmises_logpdf, "x"_a, "mu"_a, "kappa"_a);
  bind(m, "exponential_logpdf", exponential_logpdf, "x"_a, "scale"_a = 1.0);
  bind(m, "truncexpon_logpdf", truncexpon_logpdf, "x"_a, "b"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "gengamma_logpdf", gengamma_logpdf, "x"_a, "alpha"_a = 1.0, "p"_a = 1.0, "lambd"_a = 1.0);
  bind(m, "invgamma_logpdf", invgamma_logpdf, "x"_a, "shape"_a, "scale"_a = 1.0);
  bind(m, "chisquare_logpdf", chisquare_logpdf, "x"_a, "df"_a);
  bind(m, "beta_logpdf", beta_logpdf, "x"_a, "alpha"_a, "beta"_a);
  bind(m, "weibull_logpdf", weibull_logpdf, "x"_a, "shape"_a, "scale"_a = 1.0);
  bind(m, "pareto_logpdf", pareto_logpdf, "x"_a, "b"_a, "scale"_a = 1.0);
  bind(m, "rayleigh_logpdf", rayleigh_logpdf, "x"_a, "scale"_a = 1.0);
  bind(m, "wald_logpdf", wald_logpdf, "x"_a, "mean"_a = 1.0, "scale"_a = 1.0);
  bind(m, "triangular_logpdf", triangular_logpdf, "x"_a, "left"_a, "mode"_a, "right"_a);
  bind(m, "bernoulli_logpmf", bernoulli_logpmf, "x"_a, "p"_a);
  bind(m, "binomial_logpmf", binomial_logpmf, "x"_a, "n"_a, "p"_a);
  bind(m, "negative_binomial_logpmf", negative_binomial_logpmf, "x"_a, "n"_a, "p"_a);
  bind(m, "betabinom_logpmf", betabinom_logpmf, "x"_a, "n"_a, "a"_a, "b"_a);
  bind(m, "poisson_logpmf", poisson_logpmf, "x"_a, "lam"_a = 1.0);
  bind(m, "geometric_logpmf", geometric_logpmf, "x"_a, "p"_a);
  bind(m, "hypergeometric_logpmf", hypergeometric_logpmf, "x"_a, "ngood"_a, "nbad"_a, "nsample"_a);
  bind(m, "integers_logpmf", integers_logpmf, "x"_a, "low"_a, "high"_a);
  bind(m, "bernoulli_logit_logpmf", bernoulli_logit_logpmf, "x"_a, "logit"_a);
  bind(m, "binomial_logit_logpmf", binomial_logit_logpmf, "x"_a, "n"_a, "logit"_a);
  bind(m, "poisson_log_logpmf", poisson_log_logpmf, "x"_a, "log_lam"_a);
  bind(m, "negative_binomial_2_logpmf", negative_binomial_2_logpmf, "x"_a, "mu"_a, "phi"_a);
  bind(m, "negative_binomial_2_log_logpmf", negative_binomial_2_log_logpmf, "x"_a, "log_mu"_a, "phi"_a);
  add_function(m, "gamma_logpdf", gamma_of, nb::call_guard<AtCaller>(), "x"_a, "shape"_a, "rate"_a = nb::none(), "scale"_a = nb::none());
}

void bind_tails(nb::module_& m) {
  bind(m, "uniform_logcdf", uniform_logcdf, "x"_a, "low"_a = 0.0, "high"_a = 1.0);
  bind(m, "uniform_logsf", uniform_logsf, "x"_a, "low"_a = 0.0, "high"_a = 1.0);
  bind(m, "normal_logcdf", normal_logcdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "normal_logsf", normal_logsf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "halfnormal_logcdf", halfnormal_logcdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "halfnormal_logsf", halfnormal_logsf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "lognormal_logcdf", lognormal_logcdf, "x"_a, "mean"_a = 0.0, "sigma"_a = 1.0);
  bind(m, "lognormal_logsf", lognormal_logsf, "x"_a, "mean"_a = 0.0, "sigma"_a = 1.0);
  bind(m, "cauchy_logcdf", cauchy_logcdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "cauchy_logsf", cauchy_logsf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "laplace_logcdf", laplace_logcdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "laplace_logsf", laplace_logsf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "logistic_logcdf", logistic_logcdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "logistic_logsf", logistic_logsf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "gumbel_logcdf", gumbel_logcdf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "gumbel_logsf", gumbel_logsf, "x"_a, "loc"_a = 0.0, "scale"_a = 1.0);
  bind(m, "exponential_logcdf", exponential_logcdf, "x"_a, "scale"_a = 1.0);
  bind(m, "exponential_logsf", exponential_logsf, "x"_a, "scale"_a = 1.0);
  bind(m, "rayleigh_logcdf", rayleigh_logcdf, "x"_a, "scale"_a = 1.0);
  bind(m, "rayleigh_logsf", rayleigh_logsf, "x"_a, "scale"_a = 1.0);
  bind(m, "weibull_logcdf", weibull_logcdf, "x"_a, "shape"_a, "scale"_a = 1.0);
  bind(m, "weibull_logsf", weibull_logsf, "x"_a, "shape"_a, "scale"_a = 1.0);
  bind(m, "pareto_logcdf", pareto_logcdf, "x"_a, "b"_a, "scale"_a = 1.0);
  bind(m, "pareto_logsf", pareto_logsf, "x"_a, "b"_a, "scale"_a = 1.0);
}

void bind_vectors(nb::module_& m) {
  bind(m, "categorical_logpmf", categorical_logpmf, "x"_a, "p"_a);
  bind(m, "categorical_logit_logpmf", categorical_logit_logpmf, "x"_a, "logits"_a);
  bind(m, "ordered_logistic_logpmf", ordered_logistic_logpmf, "x"_a, "eta"_a, "cutpoints"_a);
  bind(m, "multinomial_logpmf", multinomial_logpmf, "x"_a, "n"_a, "p"_a);
  bind(m, "dirichlet_logpdf", dirichlet_logpdf, "x"_a, "alphas"_a);
  bind(m, "multivariate_normal_logpdf", multivariate_normal_logpdf, "x"_a, "mean"_a, "cov"_a);
  bind(m, "multivariate_normal_cholesky_logpdf", multivariate_normal_cholesky_logpdf, "x"_a, "mean"_a, "factor"_a);
  bind(m, "multivariate_normal_precision_logpdf", multivariate_normal_precision_logpdf, "x"_a, "mean"_a, "precision"_a);
  bind(m, "lkj_cholesky_logpdf", lkj_cholesky_logpdf, "factor"_a, "eta"_a);
  bind(m, "wishart_logpdf", wishart_logpdf, "x"_a, "df"_a, "scale"_a);
}

void bind_transforms(nb::module_& m) {
  bind_transform(m, "lower", lower, "bound"_a);
  bind(m, "lower_inverse", lower_inverse, "x"_a, "bound"_a);
  bind_transform(m, "upper", upper, "bound"_a);
  bind(m, "upper_inverse", upper_inverse, "x"_a, "bound"_a);
  bind_transform(m, "interval", interval, "low"_a, "high"_a);
  bind(m, "interval_inverse", interval_inverse, "x"_a, "low"_a, "high"_a);
  bind_transform(m, "offset_multiplier", offset_multiplier, "offset"_a, "multiplier"_a);
  bind(m, "offset_multiplier_inverse", offset_multiplier_inverse, "x"_a, "offset"_a, "multiplier"_a);
  bind_transform(m, "ordered", ordered);
  bind(m, "ordered_inverse", ordered_inverse, "x"_a);
  bind_transform(m, "positive_ordered", positive_ordered);
  bind(m, "positive_ordered_inverse", positive_ordered_inverse, "x"_a);
  bind_transform(m, "simplex", simplex);
  bind(m, "simplex_inverse", simplex_inverse, "x"_a);
  bind_transform(m, "simplex_stick", simplex_stick);
  bind(m, "simplex_stick_inverse", simplex_stick_inverse, "x"_a);
  bind_transform(m, "sum_to_zero", sum_to_zero);
  bind(m, "sum_to_zero_inverse", sum_to_zero_inverse, "x"_a);
  bind_transform(m, "unit_vector", unit_vector);
  bind(m, "unit_vector_inverse", unit_vector_inverse, "x"_a);
  bind_transform(m, "cholesky_corr", cholesky_corr, "rows"_a);
  bind(m, "cholesky_corr_inverse", cholesky_corr_inverse, "x"_a);
  bind_transform(m, "corr_matrix", corr_matrix, "rows"_a);
  bind(m, "corr_matrix_inverse", corr_matrix_inverse, "x"_a);
  bind_transform(m, "cholesky_cov", cholesky_cov, "rows"_a);
  bind(m, "cholesky_cov_inverse", cholesky_cov_inverse, "x"_a);
  bind_transform(m, "cov_matrix", cov_matrix, "rows"_a);
  bind(m, "cov_matrix_inverse", cov_matrix_inverse, "x"_a);
}
// clang-format on

}  // namespace

void bind_stats(nb::module_& m) {
  bind_densities(m);
  bind_tails(m);
  bind_vectors(m);
  bind_transforms(m);
}

}  // namespace bitale::python
