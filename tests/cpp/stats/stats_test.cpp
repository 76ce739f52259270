// Log densities and transforms as functions of C++: values, derivatives, and what an error names. The Python tests have
// the rest.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "bitale/bitale.hpp"
#include "bitale/stats/densities.hpp"
#include "bitale/stats/transforms.hpp"
#include "bitale/stats/vectors.hpp"

using namespace bitale;

namespace {

double value_of(const Variable& x) { return function({}, x)().item(); }

}  // namespace

TEST_CASE("stats: a log density on the unconstrained space, and its gradient") {
  const Variable y = dscalar("y");
  const auto [scale, log_jacobian] = stats::lower(y, 0.0);
  const Variable density = stats::halfnormal_logpdf(scale, 0.0, 1.0) + log_jacobian;
  auto f = function({y}, {density, grad(density, y)});
  const auto results = f({Array(0.5)});
  const double x = std::exp(0.5);
  CHECK(results[0].item() == doctest::Approx(0.5 * std::log(2 / 3.14159265358979) - x * x / 2 + 0.5));
  CHECK(results[1].item() == doctest::Approx(1 - x * x));
}

TEST_CASE("stats: -inf outside the support, nan for parameters outside their domain") {
  CHECK(value_of(stats::poisson_logpmf(0.5, 2.0)) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(value_of(stats::gamma_logpdf(1.0, -1.0, 1.0))));
  CHECK(value_of(stats::gamma_rate_logpdf(2.0, 3.0, 4.0)) ==
        doctest::Approx(value_of(stats::gamma_logpdf(2.0, 3.0, 0.25))));
}

TEST_CASE("stats: an error names the function and what was given") {
  CHECK_THROWS_WITH_AS(stats::dirichlet_logpdf(dscalar("x"), dvector("a")), doctest::Contains("dirichlet_logpdf: x"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(stats::cov_matrix(constant(Array{1.0, 2.0}), 2), doctest::Contains("cov_matrix: for 2 rows"),
                       ShapeError);
  CHECK_THROWS_AS(stats::categorical_logpmf(dscalar("x"), dvector("p")), TypeError);
}
