#include "runtime/random/from_uniform.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/limits.hpp"
#include "runtime/functions.hpp"
#include "runtime/random/samplers.hpp"
#include "runtime/special.hpp"

namespace bitale::runtime::random {

namespace {

std::uint64_t key_of(double u) { return std::bit_cast<std::uint64_t>(u); }
double uniform_of(double u, std::uint64_t counter) { return threefry::open_unit(threefry::block(key_of(u), counter)); }

KeyedWords rest_of(double u) { return KeyedWords(key_of(u), first_rest_word); }

// Samplers take u first, then what follows from it.
class WithFirst {
 public:
  explicit WithFirst(double u) : WithFirst(u, uniform_of(u, attempt_word)) {}
  WithFirst(double u, double second) : first_{second, u}, left_(2), rest_(rest_of(u)) {}
  double next_double() { return left_ ? first_[--left_] : rest_.next_double(); }
  std::uint64_t next64() { return rest_.next64(); }
  std::uint32_t next32() { return rest_.next32(); }

 private:
  double first_[2];
  int left_;
  KeyedWords rest_;
};

// Where a sampler would never come to an end.
bool is_not_finite(double x) { return !std::isfinite(x); }

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

double gamma_of_one_or_more(double u, double shape) {
  const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  const double x = normal_from_uniform(u);
  const double root = 1.0 + c * x, v = root * root * root;
  const bool accepted = v > 0 && std::log(uniform_of(u, attempt_word)) < 0.5 * x * x + d * (1.0 - v + std::log(v));
  return accepted ? d * v : bt_random_gamma_again(u, shape);
}

}  // namespace

double normal_from_uniform(double u) { return std::numbers::sqrt2 * bt_erfinv(2.0 * u - 1.0); }

double gamma_from_uniform(double u, double shape) {
  return shape < 1 ? gamma_of_one_or_more(u, shape + 1) * bt_random_power(u, shape) : gamma_of_one_or_more(u, shape);
}

double log_gamma_from_uniform(double u, double shape) {
  return shape < 1 ? std::log(gamma_of_one_or_more(u, shape + 1)) + bt_random_log_power(u, shape)
                   : std::log(gamma_of_one_or_more(u, shape));
}

// As the expression, so that a reference evaluation accepts what it accepts.
double poisson_from_uniform(double u, double rate) {
  if (!(rate >= least_rate_for_rejection) || std::isnan(u)) return bt_random_poisson_again(u, rate);
  const double b = 2.53 * std::sqrt(rate) + 0.931, a = 0.02483 * b - 0.059, inverse_alpha = 1.1328 / (b - 3.4) + 1.1239;
  double k = 0;
  const auto attempt = [&](double first, double second) {
    const double centred = first - 0.5, us = 0.5 - std::fabs(centred);
    k = std::floor((2.0 * a / us + b) * centred + rate + 0.43);
    const double weight = k * std::log(rate) - rate - bt_lgamma(k + 1.0);
    return k >= 0 && !(us < 0.013 && second > us) && std::log(second * inverse_alpha / (a / (us * us) + b)) <= weight;
  };
  const bool accepted = attempt(u, uniform_of(u, attempt_word)) ||
                        attempt(uniform_of(u, second_attempt_word), uniform_of(u, second_attempt_word + 1));
  return accepted ? k : bt_random_poisson_again(u, rate);
}

}  // namespace bitale::runtime::random

extern "C" {

double bt_random_gamma_again(double u, double shape) {
  using namespace bitale::runtime::random;
  if (std::isnan(u)) return no_number;  // not a draw by the bits of a nan, which differ from machine to machine
  if (is_not_finite(shape)) return shape;
  KeyedWords words = rest_of(u);
  return standard_gamma(words, shape);
}

double bt_random_power(double u, double shape) {
  using namespace bitale::runtime::random;
  return shape > 0 ? std::pow(uniform_of(u, power_word), 1.0 / shape) : 0.0;
}

double bt_random_log_power(double u, double shape) {
  using namespace bitale::runtime::random;
  return std::log(uniform_of(u, power_word)) / shape;
}

double bt_random_poisson_again(double u, double rate) {
  using namespace bitale::runtime::random;
  if (std::isnan(u) || !(rate >= 0) || rate > 9.2e18) return no_number;
  if (rate >= least_rate_for_rejection) {
    KeyedWords words = rest_of(u);
    return double(poisson(words, rate));
  }
  constexpr int most = 100;
  double probability = std::exp(-rate), sum = probability;
  int k = 0;
  while (u > sum && k < most) {
    ++k;
    probability *= rate * (1.0 / k);
    sum += probability;
  }
  return k;
}

double bt_random_binomial(double u, double n, double p) {
  using namespace bitale::runtime::random;
  if (std::isnan(u) || !(n >= 0) || is_not_finite(n) || !(p >= 0 && p <= 1)) return no_number;
  thread_local Binomial sampler;  // which remembers what it has computed of n and p
  WithFirst numbers(u);
  return double(sampler(numbers, std::int64_t(n), p));
}

double bt_random_vonmises(double u, double mu, double kappa) {
  using namespace bitale::runtime::random;
  if (std::isnan(u) || is_not_finite(mu) || !(kappa >= 0)) return no_number;
  WithFirst numbers(u);
  return vonmises(numbers, mu, kappa);
}

}  // extern "C"

namespace bitale::runtime::random {

namespace {

// For code that is given away, by Newton's method on erfc.
constexpr std::string_view erfinv_c = R"(static double bt_erfinv(double x) {
  const double rest = 1 - fabs(x);
  if (!(rest >= 0)) return NAN;
  if (rest == 0) return copysign(INFINITY, x);
  double y = sqrt(-log(rest * (1 + fabs(x))));
  for (int k = 0; k < 60; ++k) {
    const double step = (erfc(y) - rest) * 0.886226925452758014 * exp(y * y);
    y += step;
    if (fabs(step) <= 1e-16 * y) break;
  }
  return copysign(y, x);
}
)";

RuntimeFunction erfinv_row() {
  RuntimeFunction row = runtime_function("bt_erfinv", bt_erfinv, "x");
  row.c_text = erfinv_c;
  return row;
}

const RegisterFunctions from_uniform_functions{
    erfinv_row(),
    runtime_function("bt_random_gamma_again", bt_random_gamma_again, "u shape"),
    runtime_function("bt_random_power", bt_random_power, "u shape"),
    runtime_function("bt_random_log_power", bt_random_log_power, "u shape"),
    runtime_function("bt_random_poisson_again", bt_random_poisson_again, "u rate"),
    runtime_function("bt_random_binomial", bt_random_binomial, "u n p"),
    runtime_function("bt_random_vonmises", bt_random_vonmises, "u mu kappa"),
};

}  // namespace

}  // namespace bitale::runtime::random
