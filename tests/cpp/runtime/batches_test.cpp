// Batches of matrices, in vector lanes or without vectors, compared with the functions of one matrix.
#include "runtime/batches.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "runtime/lapack.hpp"
#include "runtime/lu.hpp"

using namespace bitale::runtime;

namespace {

// Nothing is computed in lanes without Highway.
#if __has_include(<hwy/contrib/sort/vqsort-inl.h>) && defined(__x86_64__)
constexpr bool has_lanes = true;
#else
constexpr bool has_lanes = false;
#endif

std::vector<Vectors> kinds_of_vectors() {
  std::vector<Vectors> out{Vectors::none};
  if (vectors() != Vectors::none) out.push_back(Vectors::avx2);
  if (vectors() == Vectors::avx512) out.push_back(Vectors::avx512);
  return out;
}

template <class T>
struct Case {
  std::int64_t n, k, count;
  std::mt19937 bits{7};
  std::vector<T> numbers(std::int64_t size) {
    std::normal_distribution<T> normal;
    std::vector<T> out;
    for (std::int64_t i = 0; i < size; ++i) out.push_back(normal(bits));
    return out;
  }
  std::vector<T> general() {
    std::vector<T> out = numbers(count * n * n);  // pivots are not on the diagonal
    for (std::int64_t m = 0; m < count; ++m)
      for (std::int64_t i = 0; i < n; ++i) out[std::size_t((m * n + i) * n + (i + 1) % n)] += T(3 * n);
    return out;
  }
  std::vector<T> definite() {
    const std::vector<T> x = numbers(count * n * n);
    std::vector<T> out(x.size());
    for (std::int64_t m = 0; m < count; ++m)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          T sum = i == j;
          for (std::int64_t l = 0; l < n; ++l)
            sum += x[std::size_t((m * n + i) * n + l)] * x[std::size_t((m * n + j) * n + l)];
          out[std::size_t((m * n + i) * n + j)] = sum;
        }
    return out;
  }
};

template <class T>
bool are_close(const std::vector<T>& x, const std::vector<T>& y) {
  const double within = sizeof(T) == sizeof(double) ? 1e-12 : 2e-4;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;
    if (x[i] == y[i]) continue;
    if (!(std::abs(double(x[i]) - double(y[i])) <= within * (1 + std::abs(double(y[i]))))) return false;
  }
  return x.size() == y.size();
}

// Calls function(m) for each matrix m. Returns 0, or the last status that is not 0.
template <class F>
std::int64_t one_by_one(std::int64_t count, F function) {
  std::int64_t status = 0;
  for (std::int64_t m = 0; m < count; ++m)
    if (const std::int64_t found = function(m)) status = found;
  return status;
}

template <class T>
void compare(Vectors with, Case<T> of) {
  const auto [n, k, count] = std::tuple(of.n, of.k, of.count);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(count);
  const MatrixBatch<T> batch{count, n, with};
  std::vector<T> factor(std::size_t(n * n));
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
  const auto definite = of.definite(), general = of.general(), right = of.numbers(count * n * k);
  for (const bool lower : {true, false}) {
    auto x = definite, y = definite;
    CHECK(batch.cholesky(n * n, lower, 0, x.data()) == 0);
    CHECK(one_by_one(count, [&](std::int64_t m) { return cholesky(n, lower, 0, y.data() + m * n * n); }) == 0);
    CHECK(are_close(x, y));
    for (const int kind : {0, 1, 2, 3}) {
      const bool trans = kind & 1, unit = kind & 2;
      for (const std::int64_t step : {n * n, std::int64_t(0)}) {  // also the same matrix for all
        auto triangle = y, a = right, b = right;
        for (auto& each : triangle) each *= unit ? T(0.1) : T(1);
        CHECK(batch.solve_triangular(step, n * k, k, lower, trans, unit, false, triangle.data(), a.data()) == 0);
        const auto solve_one = [&](std::int64_t m) {
          return solve_triangular(n, k, lower, trans, unit, false, triangle.data() + m * step, b.data() + m * n * k);
        };
        CHECK(one_by_one(count, solve_one) == 0);
        CHECK(are_close(a, b));
      }
    }
  }
  for (const bool trans : {true, false}) {
    auto a = right, b = right;
    CHECK(batch.solve(n * n, n * k, k, trans, false, general.data(), a.data(), factor.data(), pivots.data()) == 0);
    const auto solve_one = [&](std::int64_t m) {
      return solve(n, k, trans, false, general.data() + m * n * n, b.data() + m * n * k, factor.data(), pivots.data());
    };
    CHECK(one_by_one(count, solve_one) == 0);
    CHECK(are_close(a, b));
  }
  std::vector<T> signs(static_cast<std::size_t>(count)), logarithms = signs, other_signs = signs, others = signs;
  batch.det(n * n, 1, general.data(), signs.data(), factor.data(), pivots.data());
  for (std::int64_t m = 0; m < count; ++m)
    det(n, general.data() + m * n * n, other_signs.data() + m, factor.data(), pivots.data());
  CHECK(are_close(signs, other_signs));
  batch.slogdet(n * n, 1, 1, general.data(), signs.data(), logarithms.data(), factor.data(), pivots.data());
  for (std::int64_t m = 0; m < count; ++m)
    slogdet(n, general.data() + m * n * n, other_signs.data() + m, others.data() + m, factor.data(), pivots.data());
  CHECK(signs == other_signs);
  CHECK(are_close(logarithms, others));
}

}  // namespace

TEST_CASE("batches of small matrices have the same results as matrices one by one") {
  for (const Vectors with : kinds_of_vectors())
    for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 11, 16, 17})
      for (const std::int64_t k : {0, 1, 3, 20})
        for (const std::int64_t count : {0, 1, 3, 8, 21}) {
          compare<double>(with, {n, k, count});
          compare<float>(with, {n, k, count});
        }
}

TEST_CASE("the columns of a right-hand side are solved in lanes") {
  for (const Vectors with : kinds_of_vectors())
    for (const std::int64_t n : {1, 2, 7, 16})
      for (const std::int64_t k : {1, 4, 8, 19, 100})
        for (const int kind : {0, 1, 2, 3, 4, 5, 6, 7}) {
          const bool lower = kind & 1, trans = kind & 2, unit = kind & 4;
          Case<double> of{n, k, 1};
          auto a = of.definite();
          for (auto& each : a) each *= unit ? 0.1 : 1;
          const auto b = of.numbers(n * k);
          auto x = b;
          const bool done = solve_columns_in_lanes(n, k, lower, trans, unit, a.data(), x.data(), with);
          CHECK(done == (has_lanes && with != Vectors::none));
          if (!done) {
            CHECK(x == b);
            continue;
          }
          for (std::int64_t c = 0; c < k; ++c) {
            std::vector<double> one;
            for (std::int64_t i = 0; i < n; ++i) one.push_back(b[std::size_t(i * k + c)]);
            CHECK(solve_triangular(n, 1, lower, trans, unit, false, a.data(), one.data()) == 0);
            for (std::int64_t i = 0; i < n; ++i)
              CHECK(x[std::size_t(i * k + c)] == doctest::Approx(one[std::size_t(i)]).epsilon(1e-9));
          }
        }
}

TEST_CASE("a triangle becomes the transpose of the other one") {
  for (const Vectors with : kinds_of_vectors())
    for (const std::int64_t n : {0, 1, 7, 8, 16, 33, 50})
      for (const bool to_upper : {true, false}) {
        Case<float> of{n, 1, 1};
        const auto a = of.numbers(n * n);
        auto x = a;
        const bool done = mirror_triangle(n, to_upper, x.data(), with);
        CHECK(done == (has_lanes && with != Vectors::none));
        if (!done) {
          CHECK(x == a);
          continue;
        }
        bool good = true;
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            good &= x[std::size_t(i * n + j)] == a[std::size_t((to_upper ? j > i : j < i) ? j * n + i : i * n + j)];
        CHECK(good);
      }
}

TEST_CASE("failing matrices of a batch in lanes are reported or become nan, and others are not affected") {
  for (const Vectors with : kinds_of_vectors()) {
    const std::int64_t n = 3, count = 11, bad = 6;
    const MatrixBatch<double> lanes{count, n, with};
    Case<double> of{n, 1, count};
    std::vector<double> factor(9);
    std::vector<std::int32_t> pivots(3);
    auto definite = of.definite();
    auto fine = definite;
    CHECK(lanes.cholesky(9, true, 0, fine.data()) == 0);
    definite[bad * 9 + 4] = -1;
    auto x = definite;
    CHECK(lanes.cholesky(9, true, 0, x.data()) == 2);
    x = definite;
    CHECK(lanes.cholesky(9, true, 2, x.data()) == 2);
    x = definite;
    CHECK(lanes.cholesky(9, true, 1, x.data()) == 0);
    for (std::int64_t m = 0; m < count; ++m)
      for (std::int64_t e = 0; e < 9; ++e) {
        const std::size_t at = std::size_t(m * 9 + e);
        CHECK((m == bad ? std::isnan(x[at]) : x[at] == fine[at]));
      }
    auto singular = of.general();
    for (std::int64_t j = 0; j < 3; ++j) singular[std::size_t(bad * 9 + j)] = 0;
    auto b = of.numbers(count * n);
    const auto before = b;
    CHECK(lanes.solve(9, 3, 1, false, false, singular.data(), b.data(), factor.data(), pivots.data()) != 0);
    b = before;
    CHECK(lanes.solve(9, 3, 1, false, true, singular.data(), b.data(), factor.data(), pivots.data()) == 0);
    for (std::int64_t e = 0; e < count * n; ++e) CHECK(std::isnan(b[std::size_t(e)]) == (e / n == bad));
    std::vector<double> det(count), logarithm(count);
    lanes.det(9, 1, singular.data(), det.data(), factor.data(), pivots.data());
    CHECK(det[bad] == 0);
    CHECK(det[bad - 1] != 0);
    singular[(bad - 2) * 9] = NAN;
    lanes.slogdet(9, 1, 1, singular.data(), det.data(), logarithm.data(), factor.data(), pivots.data());
    CHECK(det[bad] == 0);
    CHECK(logarithm[bad] == -INFINITY);
    CHECK(std::isnan(det[bad - 2]));
    CHECK(std::isnan(logarithm[bad - 2]));
    b = before;
    CHECK(lanes.solve_triangular(9, 3, 1, true, false, false, false, definite.data(), b.data()) == 0);
    definite[bad * 9 + 4] = 0;
    b = before;
    CHECK(lanes.solve_triangular(9, 3, 1, true, false, false, false, definite.data(), b.data()) == 2);
  }
}
