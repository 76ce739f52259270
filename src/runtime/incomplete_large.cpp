// Uniform expansions: half the complementary error function of a distance eta from the mean, plus the density there
// times a coefficient that is regular at eta = 0.
#include "runtime/incomplete_large.hpp"

#include <boost/math/special_functions/log1p.hpp>
#include <cmath>

#include "runtime/boost_math.hpp"

namespace bitale::runtime {

namespace {

using Real = long double;
using ExpansionPolicy = QuietPolicy<policies::evaluation_error<policies::ignore_error>>;

// Closer to the mean than this, relative to the scale of the expansion, the coefficient is replaced by its limit.
constexpr Real near_mean = 1e-9L;

struct Expansion {
  Real below;       // the leading term of the probability
  Real above;       // that of its complement
  Real correction;  // is added to the first and subtracted from the second
};

// half_square is eta^2 / 2; n is the parameter that eta is scaled by.
Expansion expansion(Real half_square, bool above_mean, Real n, Real coefficient) {
  const Real distance = std::sqrt(half_square * n), sign = above_mean ? -1 : 1;
  // The coefficient is only infinite or nan where the density is 0.
  const Real density = std::exp(-half_square * n) / std::sqrt(2 * pi * n);
  return {std::erfc(sign * distance) / 2, std::erfc(-sign * distance) / 2, density == 0 ? 0 : density * coefficient};
}

Expansion gamma_expansion(Real k, Real x) {
  const Real mu = (x - k) / k, half_square = -log1p_minus(mu);
  const Real eta = std::copysign(std::sqrt(2 * half_square), mu);
  return expansion(half_square, mu > 0, k, std::fabs(mu) < near_mean ? Real(1) / 3 : 1 / eta - 1 / mu);
}

Real clipped(Real probability) { return probability < 0 ? 0 : probability > 1 ? 1 : probability; }

}  // namespace

Real log1p_minus(Real x) { return boost::math::log1pmx(x, ExpansionPolicy()); }

double gammainc_of_large(double k, double x) {
  const Expansion e = gamma_expansion(k, x);
  return double(clipped(e.below + e.correction));
}

double gammaincc_of_large(double k, double x) {
  const Expansion e = gamma_expansion(k, x);
  return double(clipped(e.above - e.correction));
}

double betainc_of_large(double a, double b, double x) {
  const Real n = Real(a) + b, p = a / n, q = b / n, variance = p * q;
  const Real delta = std::fma(Real(x), n, -Real(a)) / n;  // from the mean, rounded once
  const Real half_square = -(p * log1p_minus(delta / p) + q * log1p_minus(-delta / q));
  const Real deviation = std::sqrt(variance), eta = std::copysign(std::sqrt(2 * half_square), delta);
  const Real coefficient =
      std::fabs(delta) < near_mean * variance ? (q - p) / (3 * deviation) : 1 / eta - deviation / delta;
  const Expansion e = expansion(half_square, delta > 0, n, coefficient);
  return double(clipped(e.below + e.correction));
}

}  // namespace bitale::runtime
