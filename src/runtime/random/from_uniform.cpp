#include "runtime/random/from_uniform.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "bitale/runtime/functions.hpp"
#include "core/limits.hpp"
#include "runtime/random/samplers.hpp"
#include "runtime/special.hpp"

namespace bitale::runtime::random {

namespace {

std::uint64_t key_of(double u) { return std::bit_cast<std::uint64_t>(u); }
double uniform_of(double u, std::uint64_t counter) { return threefry::open_unit(threefry::block(key_of(u), counter)); }

KeyedWords rest_of(double u) { return KeyedWords(key_of(u), first_rest_word); }

// For such parameters, a sampler would never terminate.
bool is_not_finite(double x) { return !std::isfinite(x); }

// log k! - ((k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2)
double stirling_rest_of_any(double k) {
  static const auto first = [] {
    std::array<double, 10> out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double x = double(i) + 1, half_log_two_pi = 0.91893853320467274178;
      out[i] = bt_lgamma(x) - ((x - 0.5) * std::log(x) - x + half_log_two_pi);
    }
    return out;
  }();
  return k < double(first.size()) ? first[std::size_t(k)] : stirling_rest(k + 1);
}

// BTRS (Hormann, 1993) for a mean of at least 10 and r of at most 1/2.
class BinomialAttempts {
 public:
  void prepare(double n, double r) {
    if (n == n_ && r == r_) return;
    n_ = n, r_ = r;
    const double deviation = std::sqrt(n * r * (1.0 - r));
    b_ = 1.15 + 2.53 * deviation;
    a_ = -0.0873 + 0.0248 * b_ + 0.01 * r;
    scale_ = (2.83 + 5.1 / b_) * deviation;
    odds_ = r / (1.0 - r);
    m_ = std::floor((n + 1) * r);
    at_mode_ = (m_ + 0.5) * std::log((m_ + 1) / (odds_ * (n - m_ + 1))) + stirling_rest_of_any(m_) +
               stirling_rest_of_any(n - m_);
  }
  std::optional<double> attempt(double u, double second) const {
    const double centred = u - 0.5, us = 0.5 - std::fabs(centred);
    const double k = std::floor((2 * a_ / us + b_) * centred + (n_ * r_ + 0.5)), rest = n_ - k;
    if (us >= 0.07 && second <= 0.92 - 4.2 / b_) return k;
    if (!(k >= 0 && rest >= 0)) return std::nullopt;
    const double weight = at_mode_ + (n_ + 1) * std::log((n_ - m_ + 1) / (rest + 1)) +
                          (k + 0.5) * std::log(odds_ * (rest + 1) / (k + 1)) - stirling_rest_of_any(k) -
                          stirling_rest_of_any(rest);
    if (std::log(second * scale_ / (a_ / (us * us) + b_)) <= weight) return k;
    return std::nullopt;
  }

 private:
  double n_ = 0, r_ = 0, a_ = 0, b_ = 0, scale_ = 0, odds_ = 0, m_ = 0, at_mode_ = 0;
};

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

// The functions from here on compute the same as the expressions, so that a reference evaluation accepts the same
// draws.
double poisson_from_uniform(double u, double rate) { return bt_random_poisson_again(u, rate); }

double vonmises_from_uniform(double u, double mu, double kappa) {
  const auto wrapped = [&](double angle) {
    const double x = angle + mu, turned = std::fabs(x) + pi;
    const double within = turned - 2 * pi * std::floor(turned * (1 / (2 * pi))) - pi;
    const double bounded = within > pi ? pi : within < -pi ? -pi : within;
    return x < 0 ? -bounded : bounded;
  };
  if (std::isnan(u) || !(kappa >= min_concentration && kappa <= max_concentration))
    return wrapped(bt_random_vonmises_again(u, kappa));
  const double r = 1 + std::sqrt(1 + 4 * (kappa * kappa)), rho = (r - std::sqrt(2 * r)) / (2 * kappa);
  const double s = (1 + rho * rho) / (2 * rho);
  const auto attempt = [&](double unit, double second) -> std::optional<double> {
    const double t = 2 * unit - 1, z = std::cos(pi * t), w = (1 + s * z) / (s + z), y = kappa * (s - w);
    if (!(std::log(y / second) + (1 - y) >= 0)) return std::nullopt;
    return std::copysign(std::acos(std::min(w, 1.0)), t);
  };
  if (const auto angle = attempt(u, uniform_of(u, attempt_word))) return wrapped(*angle);
  if (const auto angle = attempt(uniform_of(u, second_attempt_word), uniform_of(u, second_attempt_word + 1)))
    return wrapped(*angle);
  return wrapped(bt_random_vonmises_again(u, kappa));
}

std::uint64_t below_from_word(std::uint64_t x, std::uint64_t count, std::uint64_t limit) {
  return x * count < limit ? bt_random_below_again(x, count) : std::uint64_t(Word128(x) * count >> 64);
}

}  // namespace bitale::runtime::random

extern "C" {

double bt_random_gamma_again(double u, double shape) {
  using namespace bitale::runtime::random;
  if (std::isnan(u)) return no_number;  // not a draw keyed by the bits of a nan, which depend on the machine
  if (is_not_finite(shape)) return shape;
  if (shape < 0) return no_number;  // rejection would almost never terminate
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
  if (rate >= min_rate_for_rejection) {  // PTRS (Hormann, 1993)
    const double b = 2.53 * std::sqrt(rate) + 0.931, a = 0.02483 * b - 0.059;
    const double inverse_alpha = 1.1328 / (b - 3.4) + 1.1239, log_rate = std::log(rate);
    constexpr double half_log_two_pi = 0.91893853320467274178;
    const auto attempt = [&](double first, double second) -> std::optional<double> {
      const double centred = first - 0.5, us = 0.5 - std::fabs(centred);
      const double k = std::floor((2.0 * a / us + b) * centred + rate + 0.43);
      if (!(k >= 0) || (us < 0.013 && second > us)) return std::nullopt;
      const double log_factorial = (k + 0.5) * std::log(k + 1) - (k + 1) + (stirling_rest_of_any(k) + half_log_two_pi);
      if (std::log(second * inverse_alpha / (a / (us * us) + b)) <= k * log_rate - rate - log_factorial) return k;
      return std::nullopt;
    };
    if (const auto k = attempt(u, uniform_of(u, attempt_word))) return *k;
    if (const auto k = attempt(uniform_of(u, second_attempt_word), uniform_of(u, second_attempt_word + 1))) return *k;
    return bt_random_poisson_rest(u, rate);
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

double bt_random_poisson_rest(double u, double rate) {
  using namespace bitale::runtime::random;
  KeyedWords words = rest_of(u);
  return double(poisson(words, rate));
}

double bt_random_binomial(double u, double n, double p) {
  using namespace bitale::runtime::random;
  n = std::floor(n);
  if (std::isnan(u) || !(n >= 0 && n < largest_count) || !(p >= 0 && p <= 1)) return no_number;
  const double r = p <= 0.5 ? p : 1.0 - p;
  const auto count = [&](double k) { return p <= 0.5 ? k : n - k; };
  if (n * r < min_rate_for_rejection) {
    constexpr double most = 100;
    double probability = std::exp(n * std::log1p(-r)), sum = probability, k = 0;
    while (u > sum && k < std::min(n, most)) {
      probability *= (n - k) * (r / (1.0 - r)) / (k + 1);
      sum += probability;
      ++k;
    }
    return count(k);
  }
  thread_local BinomialAttempts attempts;  // caches what depends on n and r
  attempts.prepare(n, r);
  auto drawn = attempts.attempt(u, uniform_of(u, attempt_word));
  if (!drawn) drawn = attempts.attempt(uniform_of(u, second_attempt_word), uniform_of(u, second_attempt_word + 1));
  for (std::uint64_t word = first_rest_word; !drawn; word += 2)
    drawn = attempts.attempt(uniform_of(u, word), uniform_of(u, word + 1));
  return count(*drawn);
}

double bt_random_vonmises_again(double u, double kappa) {
  using namespace bitale::runtime::random;
  if (std::isnan(u) || !(kappa >= 0)) return no_number;
  KeyedWords words = rest_of(u);
  return vonmises(words, 0, kappa);
}

std::uint64_t bt_random_below_again(std::uint64_t x, std::uint64_t count) {
  using namespace bitale::runtime::random;
  if (count == 0) return 0;
  const std::uint64_t biased = (0 - count) % count;
  KeyedWords words(x, first_rest_word);
  while (x * count < biased) x = words.next64();
  return std::uint64_t(Word128(x) * count >> 64);
}

}  // extern "C"

namespace bitale::runtime::random {

namespace {

// For exported code, by Newton's method on erfc.
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
    runtime_function("bt_random_poisson_rest", bt_random_poisson_rest, "u rate"),
    runtime_function("bt_random_binomial", bt_random_binomial, "u n p"),
    runtime_function("bt_random_vonmises_again", bt_random_vonmises_again, "u kappa"),
    runtime_function("bt_random_below_again", bt_random_below_again, "x count"),
};

}  // namespace

}  // namespace bitale::runtime::random
