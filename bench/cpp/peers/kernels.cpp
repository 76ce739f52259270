// The workloads of bench/python/kernels.py, handwritten in C++: fused loops over plain arrays. Built twice: strict, and
// with -ffast-math, for which GCC provides vector versions of exp, log, sin and others.
#include <cblas.h>

#include <cmath>
#include <cstdint>
#include <vector>

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
// Each multiplication depends on the previous one: three cycles.
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
extern "C" void mean_all(Size n, In x, Out out) {
  sum_all(n, x, out);
  out[0] /= double(n);
}
extern "C" void min_all(Size n, In x, Out out) {
  double least = x[0];
  EACH(i, n) least = x[i] < least ? x[i] : least;
  out[0] = least;
}
extern "C" void max_all(Size n, In x, Out out) {
  double most = x[0];
  EACH(i, n) most = x[i] > most ? x[i] : most;
  out[0] = most;
}
extern "C" void sum_rows(Size n, In x, Out out) { EACH(i, n) sum_all(n, x + i * n, out + i); }
extern "C" void max_rows(Size n, In x, Out out) { EACH(i, n) max_all(n, x + i * n, out + i); }
extern "C" void sum_columns(Size n, In x, Out out) {
  EACH(j, n) out[j] = 0;
  EACH(i, n) EACH(j, n) out[j] += x[i * n + j];
}
extern "C" void max_columns(Size n, In x, Out out) {
  EACH(j, n) out[j] = x[j];
  EACH(i, n) EACH(j, n) out[j] = x[i * n + j] > out[j] ? x[i * n + j] : out[j];
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

// ---- products: the BLAS that Bitale uses as well --------------------------------------------------------------------
namespace {
struct Factor {
  const double* data;
  Size columns;
  bool transposed = false;
};
// out (m x n) = a (m x k) b (k x n)
void product(Size m, Size n, Size k, Factor a, Factor b, Out out) {
  const auto order = [](Factor f) { return f.transposed ? CblasTrans : CblasNoTrans; };
  cblas_dgemm(CblasRowMajor, order(a), order(b), int(m), int(n), int(k), 1, a.data, int(a.columns), b.data,
              int(b.columns), 0, out, int(n));
}
}  // namespace

extern "C" void matmul(Size n, In a, In b, Out out) { product(n, n, n, {a, n}, {b, n}, out); }
extern "C" void relu_product(Size n, In a, In b, In c, Out out) {
  product(n, n, n, {a, n}, {b, n}, out);
  EACH(i, n) EACH(j, n) {
    const double sum = out[i * n + j] + c[j];
    out[i * n + j] = sum > 0 ? sum : 0;
  }
}

namespace {
void tanh_of_sum(Size rows, Size columns, Out x, In bias) {
  EACH(i, rows) EACH(j, columns) x[i * columns + j] = std::tanh(x[i * columns + j] + bias[j]);
}
// Turns the gradient after tanh into that before it, and sums it over rows.
void before_tanh(Size rows, Size columns, Out gradient, In value, Out sum) {
  EACH(j, columns) sum[j] = 0;
  EACH(i, rows) EACH(j, columns) {
    const Size at = i * columns + j;
    sum[j] += gradient[at] *= 1 - value[at] * value[at];
  }
}
}  // namespace

// Three layers (tanh, tanh, none), the mean squared error, and its gradients.
extern "C" void network(Size n, Size in, Size first, Size second, Size last, In x, In y, In w1, In b1, In w2, In b2,
                        In w3, In b3, Out value, Out dw1, Out db1, Out dw2, Out db2, Out dw3, Out db3) {
  static thread_local std::vector<double> memory;
  memory.resize(std::size_t(n * (2 * first + 2 * second + last)));
  double *h1 = memory.data(), *g1 = h1 + n * first, *h2 = g1 + n * first, *g2 = h2 + n * second, *o = g2 + n * second;
  product(n, first, in, {x, in}, {w1, first}, h1);
  tanh_of_sum(n, first, h1, b1);
  product(n, second, first, {h1, first}, {w2, second}, h2);
  tanh_of_sum(n, second, h2, b2);
  product(n, last, second, {h2, second}, {w3, last}, o);
  double squares = 0;
  const double scale = 2 / double(n * last);
  EACH(j, last) db3[j] = 0;
  EACH(i, n) EACH(j, last) {
    const double missed = o[i * last + j] + b3[j] - y[i * last + j];
    squares += missed * missed;
    db3[j] += o[i * last + j] = scale * missed;
  }
  *value = squares / double(n * last);
  product(second, last, n, {h2, second, true}, {o, last}, dw3);
  product(n, second, last, {o, last}, {w3, last, true}, g2);
  before_tanh(n, second, g2, h2, db2);
  product(first, second, n, {h1, first, true}, {g2, second}, dw2);
  product(n, first, second, {g2, second}, {w2, second, true}, g1);
  before_tanh(n, first, g1, h1, db1);
  product(in, first, n, {x, in, true}, {g1, first}, dw1);
}

// ---- a group model: value and gradients -----------------------------------------------------------------------------
extern "C" void group_value(Size n, In y, In x, const Size* __restrict group, In mu, double b, double log_sigma,
                            Out value) {
  const double sigma = std::exp(log_sigma);
  double logp = 0;
  EACH(i, n) {
    const double r = (y[i] - mu[group[i]] - x[i] * b) / sigma;
    logp += -0.5 * r * r - log_sigma;
  }
  *value = logp;
}
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
