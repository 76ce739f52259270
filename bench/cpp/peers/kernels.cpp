// The workloads of bench/python/kernels.py as one would write them by hand in C++: fused loops over plain arrays. Built
// twice: strict, and with -ffast-math, for which GCC brings vector versions of exp, log, sin and others.
#include <cmath>
#include <cstdint>

using Size = std::int64_t;
using In = const double* __restrict;
using Out = double* __restrict;

#define EACH(i, n) for (Size i = 0; i < (n); ++i)
#define MAP_OF(type, name, value)                                                \
  extern "C" void name(Size n, const type* __restrict a, type* __restrict out) { \
    EACH(i, n) {                                                                 \
      const type x = a[i];                                                       \
      out[i] = value;                                                            \
    }                                                                            \
  }
#define MAP(name, value) MAP_OF(double, name, value)
MAP(map_exp, std::exp(x))
MAP(map_log, std::log(x))
MAP(map_tanh, std::tanh(x))
MAP(map_sin, std::sin(x))
MAP(map_cos, std::cos(x))
MAP(map_tan, std::tan(x))
MAP(map_erf, std::erf(x))
MAP(map_log1p, std::log1p(x))
MAP(map_expm1, std::expm1(x))
MAP(map_sigmoid, 1 / (1 + std::exp(-x)))
MAP(map_softplus, std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))))
MAP(map_gammaln, std::lgamma(x))
MAP(map_square, x* x)
MAP(map_power_10, std::pow(x, 10.0))
MAP(map_power_half, std::pow(x, 0.5))
MAP(map_power_minus_1, 1 / x)
MAP_OF(float, single_exp, std::exp(x))
MAP_OF(float, single_log, std::log(x))
MAP_OF(float, single_tanh, std::tanh(x))
MAP_OF(float, single_sin, std::sin(x))

extern "C" void fused(Size n, In x, In y, In z, double mu, double s, Out out) {
  EACH(i, n) {
    const double u = (x[i] - mu) / s;
    out[i] = std::exp(-0.5 * u * u) * std::tanh(y[i]) + std::log1p(z[i]);
  }
}
extern "C" void fused_single(Size n, const float* __restrict x, const float* __restrict y, const float* __restrict z,
                             double mu_, double s_, float* __restrict out) {
  const float mu = float(mu_), s = float(s_);
  EACH(i, n) {
    const float u = (x[i] - mu) / s;
    out[i] = std::exp(-0.5f * u * u) * std::tanh(y[i]) + std::log1p(z[i]);
  }
}
extern "C" void axpy(Size n, In x, In y, Out out) { EACH(i, n) out[i] = 2 * x[i] + y[i]; }
extern "C" void choose(Size n, In x, In y, Out out) { EACH(i, n) out[i] = x[i] > 0 ? x[i] : y[i]; }
extern "C" void count(Size n, In x, In y, Out out) {
  Size found = 0;
  EACH(i, n) found += x[i] > y[i];
  out[0] = double(found);
}
extern "C" void cumsum(Size n, In x, Out out) {
  double sum = 0;
  EACH(i, n) out[i] = sum += x[i];
}
extern "C" void every_other(Size n, In x, Out out) { EACH(i, n / 2) out[i] = x[2 * i] + 1; }
extern "C" void reversed(Size n, In x, Out out) { EACH(i, n) out[i] = x[n - 1 - i] + 1; }
extern "C" void squared_differences(Size n, In x, Out out) {
  double sum = 0;
  EACH(i, n - 1) sum += (x[i + 1] - x[i]) * (x[i + 1] - x[i]);
  out[0] = sum;
}
extern "C" void stencil(Size n, In x, Out out) {
  for (Size i = 1; i < n - 1; ++i)
    for (Size j = 1; j < n - 1; ++j)
      out[(i - 1) * (n - 2) + j - 1] =
          x[(i - 1) * n + j] + x[(i + 1) * n + j] + x[i * n + j - 1] + x[i * n + j + 1] - 4 * x[i * n + j];
}
extern "C" void transposed_sum(Size n, In x, In y, Out out) {
  EACH(i, n) EACH(j, n) out[i * n + j] = x[j * n + i] + y[i * n + j];
}

// ---- reductions -----------------------------------------------------------------------------------------------------
// Each waits for the one before: three cycles.
extern "C" std::uint64_t multiplications(Size n) {
  std::uint64_t x = 3;
  EACH(i, n) x *= x;
  return x;
}
extern "C" void sum_all(Size n, In x, Out out) {
  double sum = 0;
  EACH(i, n) sum += x[i];
  out[0] = sum;
}
extern "C" void max_all(Size n, In x, Out out) {
  double most = x[0];
  EACH(i, n) most = x[i] > most ? x[i] : most;
  out[0] = most;
}
extern "C" void sum_rows(Size n, In x, Out out) { EACH(i, n) sum_all(n, x + i * n, out + i); }
extern "C" void sum_columns(Size n, In x, Out out) {
  EACH(j, n) out[j] = 0;
  EACH(i, n) EACH(j, n) out[j] += x[i * n + j];
}
extern "C" void var_rows(Size n, In x, Out out) {
  EACH(i, n) {
    double sum = 0, squares = 0;
    EACH(j, n) sum += x[i * n + j];
    const double mean = sum / double(n);
    EACH(j, n) squares += (x[i * n + j] - mean) * (x[i * n + j] - mean);
    out[i] = squares / double(n);
  }
}
extern "C" void layer_norm(Size n, In x, Out out) {
  EACH(i, n) {
    double sum = 0, squares = 0;
    EACH(j, n) sum += x[i * n + j];
    const double mean = sum / double(n);
    EACH(j, n) squares += (x[i * n + j] - mean) * (x[i * n + j] - mean);
    const double scale = 1 / std::sqrt(squares / double(n) + 1e-5);
    EACH(j, n) out[i * n + j] = (x[i * n + j] - mean) * scale;
  }
}
extern "C" void softmax(Size n, In x, Out out) {
  EACH(i, n) {
    double most = x[i * n], sum = 0;
    EACH(j, n) most = x[i * n + j] > most ? x[i * n + j] : most;
    EACH(j, n) sum += out[i * n + j] = std::exp(x[i * n + j] - most);
    EACH(j, n) out[i * n + j] /= sum;
  }
}
extern "C" void logsumexp(Size n, In x, Out out) {
  EACH(i, n) {
    double most = x[i * n], sum = 0;
    EACH(j, n) most = x[i * n + j] > most ? x[i * n + j] : most;
    EACH(j, n) sum += std::exp(x[i * n + j] - most);
    out[i] = most + std::log(sum);
  }
}
extern "C" void kernel_times_vector(Size n, In x, In w, Out out) {
  EACH(i, n) {
    double sum = 0;
    EACH(j, n) sum += std::exp(-(x[i] - x[j]) * (x[i] - x[j])) * w[j];
    out[i] = sum;
  }
}

// ---- a group model: value and gradients -----------------------------------------------------------------------------
extern "C" void group_model(Size n, In y, In x, const Size* __restrict group, Size groups, In mu, double b,
                            double log_sigma, Out value, Out by_mu, Out by_b, Out by_log_sigma) {
  const double sigma = std::exp(log_sigma);
  EACH(g, groups) by_mu[g] = 0;
  double logp = 0, db = 0, squares = 0;
  EACH(i, n) {
    const double r = (y[i] - mu[group[i]] - x[i] * b) / sigma;
    logp += -0.5 * r * r - log_sigma;
    by_mu[group[i]] += r / sigma;
    db += r * x[i] / sigma;
    squares += r * r;
  }
  *value = logp;
  *by_b = db;
  *by_log_sigma = squares - double(n);
}
