// The BLAS entry points and the plain loops, compared with the definition for both transpositions, paddings and empty
// dimensions.
#include "runtime/blas.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "bitale/runtime/functions.hpp"
#include "runtime/small_products.hpp"

namespace {

// A matrix of rows x columns with padding after each row, of small integers, so that sums are exact.
template <class T>
std::vector<T> stored(std::int64_t rows, std::int64_t columns, std::int64_t padding, int seed) {
  std::vector<T> out(std::size_t(rows * (columns + padding) + 1), std::numeric_limits<T>::quiet_NaN());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      out[std::size_t(i * (columns + padding) + j)] = T((i * 7 + j * 3 + seed) % 11 - 5);
  return out;
}

template <class T, class Gemm>
void check_gemm(Gemm gemm, std::initializer_list<std::int64_t> ms = {0, 1, 3, 70},
                std::initializer_list<std::int64_t> ns = {0, 1, 2, 3, 4, 5},
                std::initializer_list<std::int64_t> ks = {0, 1, 4, 130}) {
  for (std::int64_t m : ms)
    for (std::int64_t n : ns)
      for (std::int64_t k : ks)
        for (bool transA : {false, true})
          for (bool transB : {false, true}) {
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            const std::int64_t lda = (transA ? m : k) + 2, ldb = (transB ? k : n) + 1;
            const auto a = stored<T>(transA ? k : m, transA ? m : k, 2, 1),
                       b = stored<T>(transB ? n : k, transB ? k : n, 1, 2);
            std::vector<T> c(std::size_t(m * n + 1), std::numeric_limits<T>::quiet_NaN());
            gemm(m, n, k, transA, transB, a.data(), lda, b.data(), ldb, c.data());
            for (std::int64_t i = 0; i < m; ++i)
              for (std::int64_t j = 0; j < n; ++j) {
                T total = 0;
                for (std::int64_t l = 0; l < k; ++l)
                  total += a[std::size_t(transA ? l * lda + i : i * lda + l)] *
                           b[std::size_t(transB ? j * ldb + l : l * ldb + j)];
                REQUIRE(c[std::size_t(i * n + j)] == total);
              }
            CHECK(std::isnan(c.back()));  // nothing is written beyond the result
          }
}

template <class T, class Gemv>
void check_gemv(Gemv gemv) {
  for (std::int64_t m : {0, 1, 6})
    for (std::int64_t k : {0, 1, 9})
      for (bool trans : {false, true}) {
        const std::int64_t lda = (trans ? m : k) + 3;
        const auto a = stored<T>(trans ? k : m, trans ? m : k, 3, 4), x = stored<T>(1, k, 0, 5);
        std::vector<T> y(std::size_t(m + 1), std::numeric_limits<T>::quiet_NaN());
        gemv(m, k, trans, a.data(), lda, x.data(), y.data());
        for (std::int64_t i = 0; i < m; ++i) {
          T total = 0;
          for (std::int64_t l = 0; l < k; ++l)
            total += a[std::size_t(trans ? l * lda + i : i * lda + l)] * x[std::size_t(l)];
          REQUIRE(y[std::size_t(i)] == total);
        }
        CHECK(std::isnan(y.back()));
      }
}

}  // namespace

// Stacks of products, in which one of the operands may be a single matrix.
template <class T, class Gemm>
void check_batched_gemm(Gemm gemm) {
  for (std::int64_t batch : {0, 1, 2, 70})
    for (std::int64_t m : {1, 40})
      for (std::int64_t n : {0, 1, 3, 8, 9})
        for (std::int64_t k : {0, 2, 20})
          for (const auto& [is_left_single, is_right_single] :
               {std::pair(false, false), std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
            CAPTURE(batch);
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            const auto a = stored<T>(is_left_single ? m : batch * m, k, 0, 1),
                       b = stored<T>(is_right_single ? k : batch * k, n, 0, 2);
            std::vector<T> c(std::size_t(batch * m * n + 1), std::numeric_limits<T>::quiet_NaN());
            gemm(batch, m, n, k, a.data(), is_left_single ? 0 : m * k, b.data(), is_right_single ? 0 : k * n, c.data());
            for (std::int64_t i = 0; i < batch * m; ++i)
              for (std::int64_t j = 0; j < n; ++j) {
                T total = 0;
                for (std::int64_t l = 0; l < k; ++l)
                  total += a[std::size_t((is_left_single ? i % m : i) * k + l)] *
                           b[std::size_t(((is_right_single ? 0 : i / m * k) + l) * n + j)];
                REQUIRE(c[std::size_t(i * n + j)] == total);
              }
            CHECK(std::isnan(c.back()));
          }
}

// The product of a matrix and its transpose is correct, and symmetric to the last bit.
template <class T, class Gemm>
void check_own_transpose(Gemm gemm) {
  for (std::int64_t n : {3, 64, 100})
    for (std::int64_t k : {5, 700})
      for (bool transposed : {false, true}) {
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(transposed);
        const std::int64_t rows = transposed ? k : n, columns = transposed ? n : k;
        const auto a = stored<T>(rows, columns, 3, 1);
        std::vector<T> c(std::size_t(n * n + 1), T(-1)), expected(std::size_t(n * n));
        gemm(n, n, k, transposed, !transposed, a.data(), columns + 3, a.data(), columns + 3, c.data());
        bitale::runtime::plain_gemm(n, n, k, transposed, !transposed, a.data(), columns + 3, a.data(), columns + 3,
                                    expected.data());
        for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(c[i] == expected[i]);
        CHECK(c.back() == -1);
      }
}

// The same of a sum over blocks of rows, of numbers whose sums are rounded.
template <class T, class GemmAdd>
void check_sum_of_own_transposes(GemmAdd gemm_add) {
  for (std::int64_t n : {64, 100}) {
    const std::int64_t rows = 300, block = 128;
    std::vector<T> a(std::size_t(rows * n)), c(std::size_t(n * n));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(std::sin(double(i) * 1.7));
    for (std::int64_t first = 0; first < rows; first += block)
      gemm_add(n, n, std::min(block, rows - first), 1, 0, first > 0, a.data() + first * n, n, a.data() + first * n, n,
               c.data());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        REQUIRE(c[std::size_t(i * n + j)] == c[std::size_t(j * n + i)]);
        double expected = 0;
        for (std::int64_t k = 0; k < rows; ++k)
          expected += double(a[std::size_t(k * n + i)]) * double(a[std::size_t(k * n + j)]);
        REQUIRE(std::abs(double(c[std::size_t(i * n + j)]) - expected) <=
                double(rows * rows) * std::numeric_limits<T>::epsilon());
      }
  }
}

TEST_CASE("a matrix times its transpose") {
  check_own_transpose<double>(bt_gemm_f64);
  check_own_transpose<float>(bt_gemm_f32);
  check_sum_of_own_transposes<double>(bt_gemm_add_f64);
  check_sum_of_own_transposes<float>(bt_gemm_add_f32);
}

// A product in parts: the terms up to k / 2, and the others added.
template <class T, class Gemm, class GemmAdd>
void check_gemm_add(Gemm gemm, GemmAdd gemm_add) {
  for (std::int64_t m : {0, 1, 5, 130})
    for (std::int64_t n : {0, 1, 3, 33})
      for (std::int64_t k : {0, 1, 6, 200})
        for (int flags = 0; flags < 4; ++flags) {
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          CAPTURE(flags);
          const bool transA = flags & 1, transB = flags & 2;
          const std::int64_t lda = (transA ? m : k) + 3, ldb = transB ? k + 2 : n, half = k / 2;
          const auto a = stored<T>(transA ? k : m, transA ? m : k, 3, 1),
                     b = stored<T>(transB ? n : k, transB ? k : n, transB ? 2 : 0, 2);
          std::vector<T> c(std::size_t(m * n + 1), std::numeric_limits<T>::quiet_NaN()), expected(std::size_t(m * n));
          gemm(m, n, k, transA, transB, a.data(), lda, b.data(), ldb, expected.data());
          gemm_add(m, n, half, transA, transB, 0, a.data(), lda, b.data(), ldb, c.data());
          gemm_add(m, n, k - half, transA, transB, 1, a.data() + half * (transA ? lda : 1), lda,
                   b.data() + half * (transB ? 1 : ldb), ldb, c.data());
          for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(c[i] == expected[i]);
          CHECK(std::isnan(c.back()));
        }
}

TEST_CASE("a product in parts") {
  check_gemm_add<double>(bt_gemm_f64, bt_gemm_add_f64);
  check_gemm_add<float>(bt_gemm_f32, bt_gemm_add_f32);
}

TEST_CASE("matrix times matrix") {
  check_gemm<double>(bt_gemm_f64);
  check_gemm<float>(bt_gemm_f32);
}

TEST_CASE("small products") {
  check_gemm<double>(bt_gemm_f64, {1, 7, 16, 17}, {1, 9, 16, 17}, {1, 16, 17});
  check_gemm<float>(bt_gemm_f32, {1, 7, 16, 17}, {1, 9, 16, 17}, {1, 16, 17});
}

// Nothing is compiled for vectors without Highway.
#if __has_include(<hwy/contrib/sort/vqsort-inl.h>) && defined(__x86_64__)
constexpr bool has_vector_products = true;
#else
constexpr bool has_vector_products = false;
#endif

template <class T>
void check_small(bitale::runtime::Vectors with) {
  const auto multiply = [with](std::int64_t m, std::int64_t n, std::int64_t k, bool transA, bool transB, const T* a,
                               std::int64_t lda, const T* b, std::int64_t ldb, T* c) {
    const bitale::runtime::SmallProduct<T> product{m, n, k, transA ? 1 : lda, transA ? lda : 1, ldb};
    const bool done = bitale::runtime::multiply_small(product, a, b, transB, c, with);
    REQUIRE(done == (has_vector_products && with != bitale::runtime::Vectors::none));
    if (done) return;
    for (std::int64_t i = 0; i < m * n; ++i) REQUIRE(std::isnan(c[i]));
    bitale::runtime::plain_gemm(m, n, k, transA, transB, a, lda, b, ldb, c);
  };
  check_gemm<T>(multiply, {1, 3, 14, 16}, {1, 3, 4, 5, 8, 9, 12, 16}, {1, 2, 16});
}

TEST_CASE("small products with each of the processor's instruction sets") {
  using bitale::runtime::Vectors;
  for (Vectors with : {Vectors::none, Vectors::avx2, Vectors::avx512}) {
    if (with > bitale::runtime::vectors()) continue;
    CAPTURE(int(with));
    check_small<double>(with);
    check_small<float>(with);
  }
}

TEST_CASE("tall matrix times small matrix, in blocks") {
  check_gemm<double>(bt_gemm_f64, {1000}, {10, 33}, {130});
  check_gemm<float>(bt_gemm_f32, {1001}, {10, 33}, {130});
  check_gemm<double>(bt_gemm_f64, {131}, {9}, {1797});
  check_gemm<double>(bt_gemm_f64, {130}, {256, 257}, {70});
}

TEST_CASE("stacks of matrices, and one matrix with each of a stack") {
  check_batched_gemm<double>(bt_batched_gemm_f64);
  check_batched_gemm<float>(bt_batched_gemm_f32);
}

TEST_CASE("matrix times vector") {
  check_gemv<double>(bt_gemv_f64);
  check_gemv<float>(bt_gemv_f32);
}

TEST_CASE("the plain loops that are used without a library") {
  using Plain64 = void (*)(std::int64_t, std::int64_t, std::int64_t, bool, bool, const double*, std::int64_t,
                           const double*, std::int64_t, double*);
  using Plain32 = void (*)(std::int64_t, std::int64_t, std::int64_t, bool, bool, const float*, std::int64_t,
                           const float*, std::int64_t, float*);
  check_gemm<double>(Plain64(bitale::runtime::plain_gemm));
  check_gemm<float>(Plain32(bitale::runtime::plain_gemm));
}

TEST_CASE("batches, with a matrix shared on either side") {
  const auto a = stored<double>(6, 2, 0, 1), b = stored<double>(6, 4, 0, 2);  // three 2x2 and three 2x4
  auto check = [&](std::int64_t strideA, std::int64_t strideB) {
    std::vector<double> c(24, -1), one(8);
    bt_batched_gemm_f64(3, 2, 4, 2, a.data(), strideA, b.data(), strideB, c.data());
    for (std::int64_t i = 0; i < 3; ++i) {
      bt_gemm_f64(2, 4, 2, 0, 0, a.data() + i * strideA, 2, b.data() + i * strideB, 4, one.data());
      for (std::size_t k = 0; k < 8; ++k) CHECK(c[std::size_t(i) * 8 + k] == one[k]);
    }
  };
  check(4, 8);
  check(4, 0);
  check(0, 8);
  check(0, 0);
}

TEST_CASE("generated code finds the products by name") {
  for (auto name :
       {"bt_gemm_f64", "bt_gemm_f32", "bt_gemv_f64", "bt_gemv_f32", "bt_batched_gemm_f64", "bt_batched_gemm_f32"})
    CHECK(bitale::runtime::find_symbol(name) != nullptr);
}
