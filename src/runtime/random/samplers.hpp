// Samplers: from a bit generator to one draw of a distribution, by the methods that NumPy's Generator documents and in
// its order of arithmetic, so that draws equal NumPy's to the last bit. G is a bit generator (bit_generators.hpp).
// Parameters are assumed to be in their domain.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "runtime/random/bit_generators.hpp"
#include "runtime/random/ziggurat.hpp"

namespace bitale::runtime::random {

using std::numbers::pi;

// ---- the samplers that others are built from ------------------------------------------------------------------------

template <class G>
double standard_normal(G& g) {
  for (;;) {
    const std::uint64_t bits = g.next64();
    const unsigned strip = bits & 0xff;
    const bool negative = bits >> 8 & 1;
    const std::uint64_t abscissa = bits >> 9 & 0x000fffffffffffff;
    double x = double(std::int64_t(abscissa)) * normal_ziggurat.width[strip];
    if (negative) x = -x;
    if (abscissa < normal_ziggurat.inside[strip]) [[likely]]
      return x;
    if (strip == 0) {
      for (;;) {
        const double beyond = -normal_tail_inverse * std::log1p(-g.next_double());
        const double y = -std::log1p(-g.next_double());
        if (y + y > beyond * beyond) return abscissa >> 8 & 1 ? -(normal_tail + beyond) : normal_tail + beyond;
      }
    }
    const double* height = normal_ziggurat.height + strip;
    if ((height[-1] - height[0]) * g.next_double() + height[0] < std::exp(-0.5 * x * x)) return x;
  }
}

template <class G>
double standard_exponential(G& g) {
  for (;;) {
    const std::uint64_t bits = g.next64() >> 3;
    const unsigned strip = bits & 0xff;
    const std::uint64_t abscissa = bits >> 8;
    const double x = double(std::int64_t(abscissa)) * exponential_ziggurat.width[strip];
    if (abscissa < exponential_ziggurat.inside[strip]) [[likely]]
      return x;
    if (strip == 0) return exponential_tail - std::log1p(-g.next_double());
    const double* height = exponential_ziggurat.height + strip;
    if ((height[-1] - height[0]) * g.next_double() + height[0] < std::exp(-x)) return x;
  }
}

// Marsaglia and Tsang (2000); below 1, rejection from a mixture of a power and an exponential distribution.
template <class G>
double standard_gamma(G& g, double shape) {
  if (shape == 1.0) return standard_exponential(g);
  if (shape == 0.0) return 0.0;
  if (shape < 1.0) {
    for (;;) {
      const double u = g.next_double(), v = standard_exponential(g);
      if (u <= 1.0 - shape) {
        const double x = std::pow(u, 1. / shape);
        if (x <= v) return x;
      } else {
        const double y = -std::log((1 - u) / shape);
        const double x = std::pow(1.0 - shape + shape * y, 1. / shape);
        if (x <= v + y) return x;
      }
    }
  }
  const double b = shape - 1. / 3., c = 1. / std::sqrt(9 * b);
  for (;;) {
    double x, v;
    do {
      x = standard_normal(g);
      v = 1.0 + c * x;
    } while (v <= 0.0);
    v = v * v * v;
    const double u = g.next_double();
    if (u < 1.0 - 0.0331 * (x * x) * (x * x)) return b * v;
    if (std::log(u) < 0.5 * x * x + b * (1. - v + std::log(v))) return b * v;
  }
}

// ---- continuous -----------------------------------------------------------------------------------------------------

// Johnk's method if both are at most 1, in logarithms if a power underflows; else two gammas.
template <class G>
double beta(G& g, double a, double b) {
  a += 0.0, b += 0.0;  // the reciprocal of -0 is -inf, with which no pair would ever be accepted
  if (a > 1.0 || b > 1.0) {
    const double x = standard_gamma(g, a), y = standard_gamma(g, b);
    return x / (x + y);
  }
  constexpr double tiny = 3e-103;
  if (a < tiny && b < tiny) {
    const double u = g.next_double();
    return (a + b) * u < a ? 1.0 : 0.0;
  }
  for (;;) {
    const double u = g.next_double(), v = g.next_double();
    const double x = std::pow(u, 1.0 / a), y = std::pow(v, 1.0 / b), sum = x + y;
    if (!(sum <= 1.0 && u + v > 0.0)) continue;
    if (x > 0 && y > 0) return x / sum;
    const double difference = std::log(u) / a - std::log(v) / b;
    if (difference > 0) return std::exp(-std::log1p(std::exp(-difference)));
    return std::exp(difference - std::log1p(std::exp(difference)));
  }
}

template <class G>
double standard_t(G& g, double df) {
  const double numerator = standard_normal(g), denominator = standard_gamma(g, df / 2);
  return std::sqrt(df / 2) * numerator / std::sqrt(denominator);
}

template <class G>
double laplace(G& g, double loc, double scale) {
  for (;;) {
    const double u = g.next_double();
    if (u >= 0.5) return loc - scale * std::log(2.0 - u - u);
    if (u > 0.0) return loc + scale * std::log(u + u);
  }
}

template <class G>
double gumbel(G& g, double loc, double scale) {
  for (;;) {
    const double u = 1.0 - g.next_double();
    if (u < 1.0) return loc - scale * std::log(-std::log(u));
  }
}

template <class G>
double logistic(G& g, double loc, double scale) {
  for (;;) {
    const double u = g.next_double();
    if (u > 0.0) return loc + scale * std::log(u / (1.0 - u));
  }
}

template <class G>
double weibull(G& g, double a) {
  return a == 0.0 ? 0.0 : std::pow(standard_exponential(g), 1. / a);
}

// Michael, Schucany and Haas (1976), with the smaller root in a form without cancellation.
template <class G>
double wald(G& g, double mean, double scale) {
  const double z = standard_normal(g);
  const double divisor = 1.0 + std::sqrt(1.0 + 4.0 * scale / (z * mean * z));
  const double x = mean * (1.0 - 2.0 / divisor);
  const double u = g.next_double();
  return u <= mean / (mean + x) ? x : mean * mean / x;
}

// Best and Fisher (1979).
template <class G>
double vonmises(G& g, double mu, double kappa) {
  if (std::isnan(kappa)) return std::numeric_limits<double>::quiet_NaN();
  if (kappa < 1e-8) return pi * (2 * g.next_double() - 1);
  double s;
  if (kappa < 1e-5) {
    s = 1. / kappa + kappa;
  } else if (kappa <= 1e6) {
    const double r = 1 + std::sqrt(1 + 4 * kappa * kappa);
    const double rho = (r - std::sqrt(2 * r)) / (2 * kappa);
    s = (1 + rho * rho) / (2 * rho);
  } else {  // a wrapped normal
    double x = mu + std::sqrt(1. / kappa) * standard_normal(g);
    if (x < -pi) x += 2 * pi;
    if (x > pi) x -= 2 * pi;
    return x;
  }
  double w;
  for (;;) {
    const double u = g.next_double(), z = std::cos(pi * u);
    w = (1 + s * z) / (s + z);
    const double y = kappa * (s - w), v = g.next_double();
    if (y * (2 - y) - v >= 0 || std::log(y / v) + 1 - y >= 0) break;
  }
  const double u = g.next_double();
  double x = std::acos(w);
  if (u < 0.5) x = -x;
  x += mu;
  const double wrapped = std::fmod(std::fabs(x) + pi, 2 * pi) - pi;
  return x < 0 ? -wrapped : wrapped;
}

template <class G>
double triangular(G& g, double left, double mode, double right) {
  const double base = right - left, left_base = mode - left;
  const double ratio = left_base / base, left_product = left_base * base, right_product = (right - mode) * base;
  const double u = g.next_double();
  return u <= ratio ? left + std::sqrt(u * left_product) : right - std::sqrt((1.0 - u) * right_product);
}

// ---- whole numbers --------------------------------------------------------------------------------------------------

// The logarithm of the gamma function, by Stirling's series (Zhang and Jin).
inline double log_gamma(double x) {
  constexpr double terms[] = {8.333333333333333e-02,  -2.777777777777778e-03, 7.936507936507937e-04,
                              -5.952380952380952e-04, 8.417508417508418e-04,  -1.917526917526918e-03,
                              6.410256410256410e-03,  -2.955065359477124e-02, 1.796443723688307e-01,
                              -1.39243221690590e+00};
  if (x == 1.0 || x == 2.0) return 0.0;
  const std::int64_t up = x < 7.0 ? std::int64_t(7 - x) : 0;
  double x0 = x + double(up);
  const double x2 = (1.0 / x0) * (1.0 / x0);
  double sum = terms[9];
  for (int k = 8; k >= 0; --k) sum = sum * x2 + terms[k];
  double out = sum / x0 + 0.5 * 1.8378770664093453e+00 + (x0 - 0.5) * std::log(x0) - x0;
  for (std::int64_t k = 1; k <= up; ++k) {
    out -= std::log(x0 - 1.0);
    x0 -= 1.0;
  }
  return out;
}

// Hormann's PTRS (1993) for rates from 10 on, multiplication below.
template <class G>
std::int64_t poisson(G& g, double lam) {
  if (lam >= 10) {
    const double root = std::sqrt(lam);
    const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), accepted = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
      const double u = g.next_double() - 0.5, v = g.next_double();
      const double us = 0.5 - std::fabs(u);
      const auto k = std::int64_t(std::floor((2 * a / us + b) * u + lam + 0.43));
      if (us >= 0.07 && v <= accepted) return k;
      if (k < 0 || (us < 0.013 && v > us)) continue;
      if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
          -lam + double(k) * std::log(lam) - log_gamma(double(k) + 1))
        return k;
    }
  }
  if (lam == 0) return 0;
  const double least = std::exp(-lam);
  double product = 1.0;
  for (std::int64_t k = 0;; ++k) {
    product *= g.next_double();
    if (!(product > least)) return k;
  }
}

// The terms of Stirling's series after the first ones.
inline double stirling_rest(double x) {
  const double x2 = x * x;
  return (13860. - (462. - (132. - (99. - 140. / x2) / x2) / x2) / x2) / x / 166320.;
}

// A sampler that caches what it has computed from the last n and p.
class Binomial {
 public:
  template <class G>
  std::int64_t operator()(G& g, std::int64_t n, double p) {
    if (n == 0 || p == 0.0) return 0;
    if (n != n_ || p != p_) {
      n_ = n, p_ = p;
      r_ = p <= 0.5 ? p : 1.0 - p;
      is_few_ = r_ * double(n) <= 30.0;
      is_few_ ? prepare_inversion() : prepare_btpe();
    }
    const std::int64_t x = is_few_ ? by_inversion(g) : by_btpe(g);
    return p <= 0.5 ? x : n - x;
  }

 private:
  void prepare_inversion() {
    const double mean = double(n_) * r_;
    q_ = 1.0 - r_;
    none_ = std::exp(double(n_) * std::log1p(-r_));
    bound_ = std::int64_t(std::min(double(n_), mean + 10.0 * std::sqrt(mean * q_ + 1)));
  }

  template <class G>
  std::int64_t by_inversion(G& g) const {
    std::int64_t x = 0;
    double density = none_, u = g.next_double();
    while (u > density) {
      ++x;
      if (x > bound_) {
        x = 0;
        density = none_;
        u = g.next_double();
      } else {
        u -= density;
        density = (double(n_ - x + 1) * r_ * density) / (double(x) * q_);
      }
    }
    return x;
  }

  void prepare_btpe() {
    const double n = double(n_);
    q_ = 1.0 - r_;
    const double mode = n * r_ + r_;
    m_ = std::int64_t(std::floor(mode));
    const double m = double(m_);
    p1_ = std::floor(2.195 * std::sqrt(n * r_ * q_) - 4.6 * q_) + 0.5;
    xm_ = m + 0.5, xl_ = xm_ - p1_, xr_ = xm_ + p1_;
    c_ = 0.134 + 20.5 / (15.3 + m);
    double a = (mode - xl_) / (mode - xl_ * r_);
    left_ = a * (1.0 + a / 2.0);
    a = (xr_ - mode) / (xr_ * q_);
    right_ = a * (1.0 + a / 2.0);
    p2_ = p1_ * (1.0 + 2.0 * c_), p3_ = p2_ + c_ / left_, p4_ = p3_ + c_ / right_;
    nrq_ = n * r_ * q_;
  }

  // BTPE (Kachitvichyanukul and Schmeiser, 1988): a triangle, two parallelograms and two exponential tails above the
  // density; points in them are accepted by a squeeze, or by the density itself.
  template <class G>
  std::int64_t by_btpe(G& g) const {
    const double n = double(n_), m = double(m_);
    for (;;) {
      const double u = g.next_double() * p4_;
      double v = g.next_double();
      if (u <= p1_) return std::int64_t(std::floor(xm_ - p1_ * v + u));
      std::int64_t y;
      if (u <= p2_) {
        const double x = xl_ + (u - p1_) / c_;
        v = v * c_ + 1.0 - std::fabs(m - x + 0.5) / p1_;
        if (v > 1.0) continue;
        y = std::int64_t(std::floor(x));
      } else if (u <= p3_) {
        y = std::int64_t(std::floor(xl_ + std::log(v) / left_));
        if (y < 0 || v == 0.0) continue;
        v = v * (u - p2_) * left_;
      } else {
        y = std::int64_t(std::floor(xr_ - std::log(v) / right_));
        if (y > n_ || v == 0.0) continue;
        v = v * (u - p3_) * right_;
      }
      const std::int64_t distance = y < m_ ? m_ - y : y - m_;
      const double k = double(distance);
      if (distance <= 20 || k >= nrq_ / 2.0 - 1) {
        const double s = r_ / q_, step = s * (n + 1);
        double f = 1.0;
        for (std::int64_t i = m_ + 1; i <= y; ++i) f *= step / double(i) - s;
        for (std::int64_t i = y + 1; i <= m_; ++i) f /= step / double(i) - s;
        if (v > f) continue;
        return y;
      }
      const double rho = (k / nrq_) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / nrq_ + 0.5);
      const double t = double(-distance * distance) / (2 * nrq_), log_v = std::log(v);
      if (log_v < t - rho) return y;
      if (log_v > t + rho) continue;
      const double x1 = double(y + 1), f1 = double(m_ + 1), z = n + 1 - m, w = double(n_ - y + 1);
      if (log_v > xm_ * std::log(f1 / x1) + (n - m + 0.5) * std::log(z / w) +
                      double(y - m_) * std::log(w * r_ / (x1 * q_)) + stirling_rest(f1) + stirling_rest(z) -
                      stirling_rest(x1) - stirling_rest(w))
        continue;
      return y;
    }
  }

  std::int64_t n_ = 0, bound_ = 0, m_ = 0;
  double p_ = 0, r_ = 0, q_ = 0, none_ = 0;
  double p1_ = 0, p2_ = 0, p3_ = 0, p4_ = 0, xm_ = 0, xl_ = 0, xr_ = 0, c_ = 0, left_ = 0, right_ = 0, nrq_ = 0;
  bool is_few_ = false;
};

template <class G>
std::int64_t negative_binomial(G& g, double n, double p) {
  const double rate = (1 - p) / p * standard_gamma(g, n);
  return poisson(g, rate);
}

template <class G>
std::int64_t geometric(G& g, double p) {
  if (p >= 0.333333333333333333333333) {
    std::int64_t x = 1;
    double sum = p, term = p;
    const double q = 1.0 - p, u = g.next_double();
    while (u > sum) {
      term *= q;
      sum += term;
      ++x;
    }
    return x;
  }
  const double z = std::ceil(-standard_exponential(g) / std::log1p(-p));
  return z >= 9.223372036854776e+18 ? std::numeric_limits<std::int64_t>::max() : std::int64_t(z);
}

// From 0 to `most`, both included, by Lemire's multiplication (2019) with as few bits as suffice.
template <class G>
std::uint64_t bounded(G& g, std::uint64_t most) {
  if (most == 0) return 0;
  if (most <= 0xffffffffu) {
    if (most == 0xffffffffu) return g.next32();
    const auto count = std::uint32_t(most) + 1;
    std::uint64_t product = std::uint64_t(g.next32()) * count;
    if (std::uint32_t(product) < count) {
      const std::uint32_t biased = (0xffffffffu - std::uint32_t(most)) % count;
      while (std::uint32_t(product) < biased) product = std::uint64_t(g.next32()) * count;
    }
    return product >> 32;
  }
  if (most == ~std::uint64_t(0)) return g.next64();
  const std::uint64_t count = most + 1;
  Word128 product = Word128(g.next64()) * count;
  if (std::uint64_t(product) < count) {
    const std::uint64_t biased = (~std::uint64_t(0) - most) % count;
    while (std::uint64_t(product) < biased) product = Word128(g.next64()) * count;
  }
  return std::uint64_t(product >> 64);
}

// Whole numbers from `low` to `high`, which is excluded.
class Integers {
 public:
  template <class G>
  std::int64_t operator()(G& g, std::int64_t low, std::int64_t high) {
    return std::int64_t(std::uint64_t(low) + bounded(g, max_offset_of(low, high)));
  }
  // The same for draws that all have one range: what depends on it is computed once.
  template <class G>
  void fill(G& g, std::int64_t count, std::int64_t* out, std::int64_t low, std::int64_t high) {
    const std::uint64_t max_offset = max_offset_of(low, high), length = max_offset + 1;
    if (max_offset == 0 || max_offset == 0xffffffffu || length == 0) {
      for (std::int64_t i = 0; i < count; ++i) out[i] = (*this)(g, low, high);
    } else if (max_offset > 0xffffffffu) {
      const std::uint64_t biased = (0 - length) % length;
      for (std::int64_t i = 0; i < count; ++i) {
        Word128 product = Word128(g.next64()) * length;
        while (std::uint64_t(product) < biased) product = Word128(g.next64()) * length;
        out[i] = std::int64_t(std::uint64_t(low) + std::uint64_t(product >> 64));
      }
    } else {
      fill_from_halves(g, count, out, std::uint64_t(low), length);
    }
  }

 private:
  static std::uint64_t max_offset_of(std::int64_t low, std::int64_t high) {
    return std::uint64_t(high) - 1 - std::uint64_t(low);
  }

  // For a length below 2^32. A generator of 64 bits gives two numbers at a time, unless a half is left from before.
  template <class G>
  static void fill_from_halves(G& g, std::int64_t count, std::int64_t* out, std::uint64_t low, std::uint64_t length) {
    const auto biased = (0u - std::uint32_t(length)) % std::uint32_t(length);
    const auto is_unbiased = [&](std::uint64_t product) { return std::uint32_t(product) >= biased; };
    const auto finished = [&](std::uint64_t product) {
      while (!is_unbiased(product)) product = g.next32() * length;
      return std::int64_t(low + (product >> 32));
    };
    for (std::int64_t i = 0; i < count;) {
      if constexpr (requires { g.halves(); })
        if (i + 2 <= count && g.halves().is_empty()) {
          const std::uint64_t word = g.next64(), first = std::uint32_t(word) * length, second = (word >> 32) * length;
          if (is_unbiased(first) && is_unbiased(second)) [[likely]] {
            out[i] = std::int64_t(low + (first >> 32));
            out[i + 1] = std::int64_t(low + (second >> 32));
            i += 2;
            g.halves().used(std::uint32_t(word >> 32));
          } else {
            g.halves().keep(std::uint32_t(word >> 32));
            out[i++] = finished(first);
          }
          continue;
        }
      out[i++] = finished(g.next32() * length);
    }
  }
};

// From 0 to `most`: masked bits are drawn until they are in the range.
template <class G>
std::uint64_t masked(G& g, std::uint64_t most) {
  if (most == 0) return 0;
  std::uint64_t mask = most;
  for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
  std::uint64_t value;
  do value = (most <= 0xffffffffu ? g.next32() : g.next64()) & mask;
  while (value > most);
  return value;
}

// ---- hypergeometric -------------------------------------------------------------------------------------------------

double log_factorial(std::int64_t k);  // draws.cpp

// Draws one at a time, of at most half of the population.
template <class G>
std::int64_t hypergeometric_by_sampling(G& g, std::int64_t good, std::int64_t bad, std::int64_t sample) {
  const std::int64_t total = good + bad;
  std::int64_t left = sample > total / 2 ? total - sample : sample, remaining = total, good_left = good;
  while (left > 0 && good_left > 0 && remaining > good_left) {
    --remaining;
    if (std::int64_t(masked(g, std::uint64_t(remaining))) < good_left) --good_left;
    --left;
  }
  if (remaining == good_left) good_left -= left;  // only good ones are left
  return sample > total / 2 ? good_left : good - good_left;
}

// The ratio of uniforms (HRUA, Stadlober 1990).
template <class G>
std::int64_t hypergeometric_by_ratio(G& g, std::int64_t good, std::int64_t bad, std::int64_t sample) {
  const std::int64_t population = good + bad, taken = std::min(sample, population - sample);
  const std::int64_t fewer = std::min(good, bad), more = std::max(good, bad);
  const double p = double(fewer) / double(population), q = double(more) / double(population);
  const double mean = double(taken) * p, a = mean + 0.5;
  const double variance = double(population - taken) * double(taken) * p * q / double(population - 1);
  const double c = std::sqrt(variance + 0.5), h = 1.7155277699214135 * c + 0.8989161620588988;
  const auto mode = std::int64_t(std::floor(double(taken + 1) * double(fewer + 1) / double(population + 2)));
  const auto log_weight = [&](std::int64_t k) {
    return log_factorial(k) + log_factorial(fewer - k) + log_factorial(taken - k) + log_factorial(more - taken + k);
  };
  const double at_mode = log_weight(mode);
  const double end = std::min(double(std::min(taken, fewer) + 1), std::floor(a + 16 * c));
  std::int64_t k;
  for (;;) {
    const double u = g.next_double(), v = g.next_double();
    const double x = a + h * (v - 0.5) / u;
    if (x < 0.0 || x >= end) continue;
    k = std::int64_t(std::floor(x));
    const double t = at_mode - log_weight(k);
    if (u * (4.0 - u) - 3.0 <= t) break;
    if (u * (u - t) >= 1) continue;
    if (2.0 * std::log(u) <= t) break;
  }
  if (good > bad) k = taken - k;
  return taken < sample ? good - k : k;
}

template <class G>
std::int64_t hypergeometric(G& g, std::int64_t good, std::int64_t bad, std::int64_t sample) {
  const bool many = sample >= 10 && sample <= good + bad - 10;
  return many ? hypergeometric_by_ratio(g, good, bad, sample) : hypergeometric_by_sampling(g, good, bad, sample);
}

}  // namespace bitale::runtime::random
