// The first product that needs the CBLAS library opens it. Its integers are 32 bits wide, so larger matrices are
// multiplied by plain loops.
#include "runtime/blas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/core/warning.hpp"
#include "bitale/runtime/functions.hpp"
#include "core/address_space.hpp"
#include "core/library_folder.hpp"
#include "runtime/added_variable.hpp"
#include "runtime/blocks.hpp"
#include "runtime/cblas.hpp"
#include "runtime/small_products.hpp"
#include "runtime/threads.hpp"

namespace bitale::runtime {
namespace {

template <class T>
using Gemm = void (*)(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, T alpha, const T* a, int lda,
                      const T* b, int ldb, T beta, T* c, int ldc);
template <class T>
using Gemv = void (*)(CblasOrder, CblasTranspose, int rows, int columns, T alpha, const T* a, int lda, const T* x,
                      int incx, T beta, T* y, int incy);

template <class T>
using Syrk = void (*)(CblasOrder, CblasTriangle, CblasTranspose, int n, int k, T alpha, const T* a, int lda, T beta,
                      T* c, int ldc);

template <class T>
struct Functions {
  Gemm<T> gemm = nullptr;
  Gemv<T> gemv = nullptr;
  Syrk<T> syrk = nullptr;
};

struct Blas {
  std::string file;
  void* library = nullptr;
  Functions<double> f64;
  Functions<float> f32;
  bool in_place = false;  // small products are computed without packing

  template <class T>
  const Functions<T>& of() const {
    if constexpr (std::is_same_v<T, double>)
      return f64;
    else
      return f32;
  }
};

// The copy of OpenBLAS that packages contain, beside this library. All of its names have a prefix, so that no other
// library of the process is taken for it.
constexpr std::string_view own_copy = "libscipy_openblas.so", prefix_of_copy = "scipy_";

void* symbol(void* library, const char* name) {
  if (void* found = dlsym(library, name)) return found;
  return dlsym(library, cat(prefix_of_copy, name).c_str());
}

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(symbol(library, name));
  return function != nullptr;
}

// OpenBLAS's kernels for AVX-512 read small matrices in place, instead of packing them first.
bool reads_in_place(void* library) {
  const char* (*core_name)() = nullptr;
  if (!find(library, "openblas_get_corename", core_name)) return false;
  constexpr std::string_view able[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
  return std::find(std::begin(able), std::end(able), core_name()) != std::end(able);
}

// OpenBLAS chooses its kernels by the processor's name, and uses those of 2004 for a name that it does not know: 0.3.21
// on a processor of 2024 was 4 times slower than it can be. In that case the processor's features determine which
// kernels fit. Its kernels for SME (AArch64) give wrong products, silently: 0.3.34 as PyPI has it was compiled without
// some of them and calls them all the same. Null if OpenBLAS's own choice is good, or if the user has made one.
const char* better_kernels(void* library) {
  const char* (*core_name)() = nullptr;
  if (std::getenv("OPENBLAS_CORETYPE") || !find(library, "openblas_get_corename", core_name)) return nullptr;
  const std::string name = core_name();
  if (name == "armv9sme") return "OPENBLAS_CORETYPE=NEOVERSEN1";
  constexpr std::string_view old[] = {"Generic", "Katmai", "Coppermine", "Northwood", "Prescott",
                                      "Banias",  "Atom",   "Core2",      "Penryn",    "Dunnington"};
  if (std::find(std::begin(old), std::end(old), name) == std::end(old)) return nullptr;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq"))
    return "OPENBLAS_CORETYPE=SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "OPENBLAS_CORETYPE=Haswell";
#endif
  return nullptr;
}

// OpenBLAS has no function to choose kernels with, and reads its environment only when it is loaded. If the process has
// loaded the same library before, that choice is kept.
void* load(const char* file) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  const char* kernels = library ? better_kernels(library) : nullptr;
  if (!kernels) return library;
  dlclose(library);
  const AddedVariable variable(kernels);
  return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

template <class T>
const char* find_all(void* library, Functions<T>& functions) {
  constexpr bool wide = sizeof(T) == sizeof(double);
  const char* const names[] = {wide ? "cblas_dgemm" : "cblas_sgemm", wide ? "cblas_dgemv" : "cblas_sgemv",
                               wide ? "cblas_dsyrk" : "cblas_ssyrk"};
  if (!find(library, names[0], functions.gemm)) return names[0];
  if (!find(library, names[1], functions.gemv)) return names[1];
  return find(library, names[2], functions.syrk) ? nullptr : names[2];
}

// Opens the file. Returns the reason why it cannot be used, or an empty text.
std::string open(const std::string& file, Blas& blas) {
  void* library = load(file.c_str());
  if (!library) {
    const char* why = dlerror();
    return why ? why : "it can't be opened";
  }
  Blas found;
  const char* lacking = find_all(library, found.f64);
  if (!lacking) lacking = find_all(library, found.f32);
  if (lacking) {
    dlclose(library);
    return cat("it has no function ", lacking);
  }
  void (*set_threads)(int) = nullptr;
  if (find(library, "openblas_set_num_threads", set_threads)) set_threads(1);
  found.in_place = reads_in_place(library);
  found.file = file;
  found.library = library;
  blas = std::move(found);
  return "";
}

// OpenBLAS has 37 MiB, and takes 128 MiB for each thread that it starts when it is loaded. Where the system refuses
// them, it tries again for ever.
bool has_room() {
  const char* given = std::getenv("OPENBLAS_NUM_THREADS");
  const int threads = given ? std::max(1, std::atoi(given)) : processor_count();
  return has_address_space((std::size_t(64) << 20) + std::size_t(threads) * address_space_of_thread);
}

Blas choose() {
  Blas blas;
  const std::string wanted = config::get("blas__library");
  if (wanted == "none") return blas;
  if (!has_room()) {
    warn(
        "products of matrices are computed by plain loops: a BLAS library may take 144 MiB of address space for each "
        "processor, and the process has less left (ulimit -v). Raise the limit, set OPENBLAS_NUM_THREADS=1, or set the "
        "flag blas__library=none for no such message");
    return blas;
  }
  if (!wanted.empty()) {
    if (const std::string why = open(wanted, blas); !why.empty())
      throw ValueError(cat("blas__library: expected the file of a library with cblas_dgemm and its like, got ", wanted,
                           ": ", why,
                           "; without the flag libopenblas, libcblas and libblas are tried, and with "
                           "blas__library=none plain loops do the work"));
    return blas;
  }
  for (const std::string& file :
       {cat(library_folder(), own_copy), std::string("libopenblas.so.0"), std::string("libopenblas.so"),
        std::string("libcblas.so.3"), std::string("libblas.so.3"), std::string("libblas.so")})
    if (open(file, blas).empty()) break;
  return blas;
}

// Never destroyed: threads may still multiply while the process ends.
const Blas& blas() {
  static const Blas& instance = *new Blas(choose());
  return instance;
}

template <class... Lengths>
bool fit_int(Lengths... lengths) {
  return ((lengths <= std::numeric_limits<int>::max()) && ...);
}

// Row-major C = op(A) op(B), or C += op(A) op(B), row by row, in blocks of k that keep B's rows in cache; op(A) and
// op(B) are read through strides.
template <class T>
void plain_product(std::int64_t m, std::int64_t n, std::int64_t k, bool transA, bool transB, const T* A,
                   std::int64_t lda, const T* B, std::int64_t ldb, T* C, bool add = false) {
  constexpr std::int64_t block = 64;
  const std::int64_t a_row = transA ? 1 : lda, a_column = transA ? lda : 1;
  if (!add) std::fill(C, C + m * n, T(0));
  for (std::int64_t start = 0; start < k; start += block) {
    const std::int64_t end = std::min(k, start + block);
    for (std::int64_t i = 0; i < m; ++i) {
      T* c = C + i * n;
      if (transB) {  // rows of the stored B are the columns of op(B): dot products
        for (std::int64_t j = 0; j < n; ++j) {
          T total = c[j];
          for (std::int64_t l = start; l < end; ++l) total += A[i * a_row + l * a_column] * B[j * ldb + l];
          c[j] = total;
        }
      } else {
        for (std::int64_t l = start; l < end; ++l) {
          const T a = A[i * a_row + l * a_column];
          const T* b = B + l * ldb;
          for (std::int64_t j = 0; j < n; ++j) c[j] += a * b[j];
        }
      }
    }
  }
}

CblasTranspose flag(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

// CBLAS rejects a leading dimension of 0, even if no row is read.
int leading(std::int64_t distance, std::int64_t row_length) {
  return int(std::max<std::int64_t>({distance, row_length, 1}));
}

// C = op(A) op(A)^T, [n, n], or C += it where C is symmetric: one half is computed, and copied to the other half in
// blocks that fit into the cache.
template <class T>
void times_own_transpose(std::int64_t n, std::int64_t k, bool trans, const T* A, std::int64_t lda, T* C, bool add) {
  blas().of<T>().syrk(CblasRowMajor, CblasUpper, flag(trans), int(n), int(k), T(1), A, leading(lda, trans ? n : k),
                      T(add), C, int(n));
  constexpr std::int64_t block = 16;
  for (std::int64_t p = 0; p < n; p += block)
    for (std::int64_t q = p; q < n; q += block)
      for (std::int64_t i = p; i < std::min(n, p + block); ++i)
        for (std::int64_t j = std::max(q, i + 1); j < std::min(n, q + block); ++j) C[j * n + i] = C[i * n + j];
}

// From these sizes on, and up to those that threads share, computing half a product and copying it takes 0.65 to 0.85
// of the time of a whole product.
constexpr std::int64_t min_own_rows = 64, min_own_work = std::int64_t(1) << 21;

// A library that reads small matrices in place does so for up to a million multiplications, and if op(B) is stored
// untransposed. Pieces of so many rows then take 0.3 to 0.9 of the time of a whole product if op(B) is small, and are
// not slower otherwise.
constexpr std::int64_t max_in_place = 1'000'000, widest_in_place = 256, max_of_b_in_place = 20'000;

bool splits_into_pieces(std::int64_t m, std::int64_t n, std::int64_t k) {
  return blas().in_place && n <= widest_in_place && k <= max_of_b_in_place / n && m > max_in_place / (n * k);
}

// The rows of equal pieces, in whole vectors of rows.
std::int64_t rows_of_piece(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t vector = 8;
  const std::int64_t most = max_in_place / (n * k), pieces = (m + most - 1) / most;
  return std::min(most / vector * vector, (m / pieces + vector) / vector * vector);
}

// B^T, [rows, columns].
template <class T>
std::vector<T> transposed(std::int64_t rows, std::int64_t columns, const T* B, std::int64_t ldb) {
  std::vector<T> out(std::size_t(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) out[std::size_t(i * columns + j)] = B[j * ldb + i];
  return out;
}

template <class T>
[[gnu::noinline]] void any_gemm(std::int64_t m, std::int64_t n, std::int64_t k, bool transA, bool transB, const T* A,
                                std::int64_t lda, const T* B, std::int64_t ldb, T* C, bool add = false) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) {
    if (!add) std::fill(C, C + m * n, T(0));
    return;
  }
  const auto function = blas().of<T>().gemm;
  if (!function || !fit_int(m, n, k, lda, ldb)) return plain_product(m, n, k, transA, transB, A, lda, B, ldb, C, add);
  const bool own_transpose = A == B && m == n && lda == ldb && transA != transB;
  if (own_transpose && n >= min_own_rows && n < rows_per_block &&
      (add || double(n) * double(n) * double(k) >= double(min_own_work)))
    return times_own_transpose(n, k, transA, A, lda, C, add);
  const bool in_pieces = splits_into_pieces(m, n, k);
  if (in_pieces && transB) return any_gemm(m, n, k, transA, false, A, lda, transposed(k, n, B, ldb).data(), n, C, add);
  const auto multiply = [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
    function(CblasRowMajor, flag(transA), flag(transB), int(rows), int(columns), int(k), T(1),
             A + row * (transA ? 1 : lda), leading(lda, transA ? m : k), B + column * (transB ? ldb : 1),
             leading(ldb, transB ? k : n), T(add), C + row * n + column, int(n));
  };
  for_each_block(m, n, k, [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
    const std::int64_t step = in_pieces ? rows_of_piece(rows, n, k) : rows;
    for (std::int64_t end = row + rows; row < end; row += step)
      multiply(row, std::min(step, end - row), column, columns);
  });
}

// The smallest products are tried first, before registers are saved that only larger ones need.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, bool transA, bool transB, const T* A, std::int64_t lda,
          const T* B, std::int64_t ldb, T* C) {
  if (is_small_product(m, n, k) &&
      multiply_small(SmallProduct<T>{m, n, k, transA ? 1 : lda, transA ? lda : 1, ldb}, A, B, transB, C))
    return;
  any_gemm(m, n, k, transA, transB, A, lda, B, ldb, C);
}

template <class T>
void gemv(std::int64_t m, std::int64_t k, bool transA, const T* A, std::int64_t lda, const T* x, T* y,
          bool add = false) {
  if (m <= 0) return;
  if (k <= 0) {
    if (!add) std::fill(y, y + m, T(0));
    return;
  }
  const auto function = blas().of<T>().gemv;
  if (!function || !fit_int(m, k, lda))
    return plain_product(m, std::int64_t(1), k, transA, false, A, lda, x, 1, y, add);
  const std::int64_t rows = transA ? k : m, columns = transA ? m : k;  // as stored
  function(CblasRowMajor, flag(transA), int(rows), int(columns), T(1), A, leading(lda, columns), x, 1, T(add), y, 1);
}

// A part of the terms of a product: C = op(A) op(B), or C += op(A) op(B).
template <class T>
void gemm_add(std::int64_t m, std::int64_t n, std::int64_t k, bool transA, bool transB, bool add, const T* A,
              std::int64_t lda, const T* B, std::int64_t ldb, T* C) {
  if (n == 1 && (transB || ldb == 1)) return gemv(m, k, transA, A, lda, B, C, add);
  if (!add) return gemm(m, n, k, transA, transB, A, lda, B, ldb, C);
  any_gemm(m, n, k, transA, transB, A, lda, B, ldb, C, true);
}

// Products of one left matrix with thin right ones are computed side by side, a block of columns at a time: BLAS
// prepares the left matrix again for each product, which takes longer than the product. Whether it was done.
template <class T>
bool side_by_side(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const T* A, const T* B, T* C) {
  constexpr std::int64_t widest = 8, block = 128, fewest_rows = 32, fewest_terms = 8;
  if (batch < 2 || n < 1 || n > widest || m < fewest_rows || k < fewest_terms) return false;
  const std::int64_t most = std::min(batch, block / n);
  const std::unique_ptr<T[]> memory(new (std::nothrow) T[std::size_t((k + m) * most * n)]);
  if (!memory) return false;
  T *wide = memory.get(), *product = wide + k * most * n;
  for (std::int64_t first = 0; first < batch; first += most) {
    const std::int64_t count = std::min(most, batch - first), columns = count * n;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t l = 0; l < k; ++l) std::copy_n(B + ((first + i) * k + l) * n, n, wide + l * columns + i * n);
    gemm(m, columns, k, false, false, A, k, wide, columns, product);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t row = 0; row < m; ++row)
        std::copy_n(product + row * columns + i * n, n, C + ((first + i) * m + row) * n);
  }
  return true;
}

template <class T>
void batched_gemm(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const T* A, std::int64_t strideA,
                  const T* B, std::int64_t strideB, T* C) {
  // With a single matrix on the right, the left ones, stacked, are one tall matrix.
  if (strideB == 0 && strideA == m * k) return gemm(batch * m, n, k, false, false, A, k, B, n, C);
  if (strideA == 0 && strideB == k * n && side_by_side(batch, m, n, k, A, B, C)) return;
  for (std::int64_t i = 0; i < batch; ++i)
    gemm(m, n, k, false, false, A + i * strideA, k, B + i * strideB, n, C + i * m * n);
}

}  // namespace

const std::string& blas_library() { return blas().file; }

void* blas_symbol(const char* name) { return blas().library ? symbol(blas().library, name) : nullptr; }

void require_blas() {
  if (!config::get("blas__library").empty()) blas();
}

void plain_gemm(std::int64_t m, std::int64_t n, std::int64_t k, bool transA, bool transB, const double* A,
                std::int64_t lda, const double* B, std::int64_t ldb, double* C) {
  plain_product(m, n, k, transA, transB, A, lda, B, ldb, C);
}
void plain_gemm(std::int64_t m, std::int64_t n, std::int64_t k, bool transA, bool transB, const float* A,
                std::int64_t lda, const float* B, std::int64_t ldb, float* C) {
  plain_product(m, n, k, transA, transB, A, lda, B, ldb, C);
}

}  // namespace bitale::runtime

#define BITALE_BLAS(suffix, T)                                                                                         \
  void bt_gemm_##suffix(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t transA, std::int64_t transB,      \
                        const T* A, std::int64_t lda, const T* B, std::int64_t ldb, T* C) {                            \
    bitale::runtime::gemm(m, n, k, transA != 0, transB != 0, A, lda, B, ldb, C);                                       \
  }                                                                                                                    \
  void bt_gemm_add_##suffix(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t transA, std::int64_t transB,  \
                            std::int64_t add, const T* A, std::int64_t lda, const T* B, std::int64_t ldb, T* C) {      \
    bitale::runtime::gemm_add(m, n, k, transA != 0, transB != 0, add != 0, A, lda, B, ldb, C);                         \
  }                                                                                                                    \
  void bt_gemv_##suffix(std::int64_t m, std::int64_t k, std::int64_t transA, const T* A, std::int64_t lda, const T* x, \
                        T* y) {                                                                                        \
    bitale::runtime::gemv(m, k, transA != 0, A, lda, x, y);                                                            \
  }                                                                                                                    \
  void bt_batched_gemm_##suffix(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const T* A,        \
                                std::int64_t strideA, const T* B, std::int64_t strideB, T* C) {                        \
    bitale::runtime::batched_gemm(batch, m, n, k, A, strideA, B, strideB, C);                                          \
  }

extern "C" {
BITALE_BLAS(f64, double)
BITALE_BLAS(f32, float)
}

namespace bitale::runtime {
namespace {

// $T, $S: type and suffix; $C: the letter of BLAS.
constexpr std::string_view gemm_c =
    R"(// C[m, n] = op(A)[m, k] op(B)[k, n]; lda and ldb are the distances of stored rows.
static void bt_gemm_$S(int64_t m, int64_t n, int64_t k, int64_t ta, int64_t tb, const $T *A, int64_t lda,
                        const $T *B, int64_t ldb, $T *restrict C) {
  if (m <= 0 || n <= 0) return;
  for (int64_t i = 0; i < m * n; ++i) C[i] = 0;
  if (k <= 0) return;
#ifdef BITALE_CBLAS
  cblas_$Cgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, 1,
              A, (int)(lda > (ta ? m : k) ? lda : (ta ? m : k)), B, (int)(ldb > (tb ? k : n) ? ldb : (tb ? k : n)), 0,
              C, (int)n);
#else
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l) {
      const $T a = ta ? A[l * lda + i] : A[i * lda + l];
      for (int64_t j = 0; j < n; ++j) C[i * n + j] += a * (tb ? B[j * ldb + l] : B[l * ldb + j]);
    }
#endif
}
)";

constexpr std::string_view gemm_add_c = R"(// C[m, n] = op(A)[m, k] op(B)[k, n], plus C if `add` is not 0.
static void bt_gemm_add_$S(int64_t m, int64_t n, int64_t k, int64_t ta, int64_t tb, int64_t add, const $T *A,
                            int64_t lda, const $T *B, int64_t ldb, $T *restrict C) {
  if (m <= 0 || n <= 0) return;
  if (!add)
    for (int64_t i = 0; i < m * n; ++i) C[i] = 0;
  if (k <= 0) return;
#ifdef BITALE_CBLAS
  cblas_$Cgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, 1,
              A, (int)(lda > (ta ? m : k) ? lda : (ta ? m : k)), B, (int)(ldb > (tb ? k : n) ? ldb : (tb ? k : n)), 1,
              C, (int)n);
#else
  for (int64_t l = 0; l < k; ++l)
    for (int64_t i = 0; i < m; ++i) {
      const $T a = ta ? A[l * lda + i] : A[i * lda + l];
      for (int64_t j = 0; j < n; ++j) C[i * n + j] += a * (tb ? B[j * ldb + l] : B[l * ldb + j]);
    }
#endif
}
)";

constexpr std::string_view gemv_c = R"(// y[m] = op(A)[m, k] x[k]
static void bt_gemv_$S(int64_t m, int64_t k, int64_t ta, const $T *A, int64_t lda, const $T *x, $T *restrict y) {
  if (m <= 0) return;
  for (int64_t i = 0; i < m; ++i) y[i] = 0;
  if (k <= 0) return;
#ifdef BITALE_CBLAS
  cblas_$Cgemv(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, (int)(ta ? k : m), (int)(ta ? m : k), 1, A,
              (int)(lda > (ta ? m : k) ? lda : (ta ? m : k)), x, 1, 0, y, 1);
#else
  if (ta) {
    for (int64_t l = 0; l < k; ++l)
      for (int64_t i = 0; i < m; ++i) y[i] += A[l * lda + i] * x[l];
    return;
  }
  for (int64_t i = 0; i < m; ++i) {
    $T lane[8] = {0};
    int64_t l = 0;
    for (; l + 8 <= k; l += 8)
      for (int s = 0; s < 8; ++s) lane[s] += A[i * lda + l + s] * x[l + s];
    for (int s = 0; l < k; ++l, ++s) lane[s] += A[i * lda + l] * x[l];
    y[i] = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }
#endif
}
)";

constexpr std::string_view batched_gemm_c =
    R"(// Products of matrices that follow one another, or of one (a stride of 0).
static void bt_batched_gemm_$S(int64_t batch, int64_t m, int64_t n, int64_t k, const $T *A, int64_t strideA,
                                const $T *B, int64_t strideB, $T *C) {
  for (int64_t i = 0; i < batch; ++i)
    bt_gemm_$S(m, n, k, 0, 0, A + i * strideA, k, B + i * strideB, n, C + i * m * n);
}
)";

template <class T, class F>
RuntimeFunction product_row(std::string_view name, F* function, std::string_view parameters, ProductKind product,
                            Flops flops, std::string_view text, std::vector<std::string_view> needs = {}) {
  constexpr bool is_float32 = std::is_same_v<T, float>;
  RuntimeFunction row = runtime_function(name, function, parameters);
  row.product = product;
  row.flops = std::move(flops);
  row.of_float32 = is_float32;
  row.c_text = text;
  row.with = {
      {"$S", is_float32 ? "f32" : "f64"}, {"$T", is_float32 ? "float" : "double"}, {"$C", is_float32 ? "s" : "d"}};
  row.c_uses_blas = true;
  row.needs = std::move(needs);
  return row;
}

#define ROWS(suffix, T)                                                                                           \
  product_row<T>("bt_gemm_" #suffix, bt_gemm_##suffix, "m n k transA transB A lda B ldb C", ProductKind::matrix,  \
                 {2, {"m", "n", "k"}}, gemm_c),                                                                   \
      product_row<T>("bt_gemm_add_" #suffix, bt_gemm_add_##suffix, "m n k transA transB add A lda B ldb inout:C", \
                     ProductKind::matrix, {2, {"m", "n", "k"}}, gemm_add_c),                                      \
      product_row<T>("bt_gemv_" #suffix, bt_gemv_##suffix, "m k transA A lda x y", ProductKind::matrix_vector,    \
                     {2, {"m", "k"}}, gemv_c),                                                                    \
      product_row<T>("bt_batched_gemm_" #suffix, bt_batched_gemm_##suffix, "batch m n k A strideA B strideB C",   \
                     ProductKind::batched_matrix, {2, {"batch", "m", "n", "k"}}, batched_gemm_c, {"bt_gemm_" #suffix})

const RegisterFunctions blas_functions{ROWS(f64, double), ROWS(f32, float)};

#undef ROWS

}  // namespace
}  // namespace bitale::runtime
