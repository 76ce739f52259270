// A block of rows by one or two vectors of columns is accumulated at once: for each term, a row of B is loaded, and its
// product with each element of A's column is added to a row of C. Excess lanes of a vector are masked.
#include "runtime/small_products.hpp"

#include <utility>

// Masked loads and stores must not touch anything beyond a row.
#if BITALE_HAVE_HIGHWAY && defined(__x86_64__)
#define BITALE_VECTOR_PRODUCTS 1
#else
#define BITALE_VECTOR_PRODUCTS 0
#endif

#if BITALE_VECTOR_PRODUCTS

#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/small_products.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hwy::HWY_NAMESPACE {

using bitale::runtime::SmallProduct;

// Computes rows of the result by one or two vectors of columns, the last of which has `last` columns. Rows are a pack,
// since GCC keeps arrays in registers only if every index is a constant.
template <bool two, class T, std::size_t... row>
HWY_INLINE void multiply_block(std::index_sequence<row...>, const SmallProduct<T>& p, const T* a, const T* b, T* c,
                               std::size_t last) {
  const CappedTag<T, bitale::runtime::max_small> d;
  using Vector = Vec<decltype(d)>;
  const auto mask = FirstN(d, last);
  const std::size_t lanes = Lanes(d);
  Vector left[] = {((void)row, Zero(d))...}, right[] = {((void)row, Zero(d))...};
  for (std::int64_t term = 0; term < p.terms; ++term, a += p.a_column, b += p.b_row) {
    const Vector b_left = two ? LoadU(d, b) : MaskedLoad(mask, d, b);
    const Vector b_right = two ? MaskedLoad(mask, d, b + lanes) : b_left;
    const Vector factor[] = {Set(d, a[std::int64_t(row) * p.a_row])...};
    ((left[row] = MulAdd(factor[row], b_left, left[row])), ...);
    if (two) ((right[row] = MulAdd(factor[row], b_right, right[row])), ...);
  }
  T* const rows[] = {c + std::int64_t(row) * p.columns...};
  if (two) (StoreU(left[row], d, rows[row]), ...);
  (BlendedStore(two ? right[row] : left[row], mask, d, two ? rows[row] + lanes : rows[row]), ...);
}

template <std::size_t rows, class T>
HWY_INLINE void multiply_rows(const SmallProduct<T>& p, const T* a, const T* b, T* c) {
  const auto lanes = std::int64_t(Lanes(CappedTag<T, bitale::runtime::max_small>()));
  const std::make_index_sequence<rows> block;
  std::int64_t columns = p.columns;
  for (; columns > 2 * lanes; columns -= 2 * lanes, b += 2 * lanes, c += 2 * lanes)
    multiply_block<true>(block, p, a, b, c, std::size_t(lanes));
  if (columns > lanes)
    multiply_block<true>(block, p, a, b, c, std::size_t(columns - lanes));
  else
    multiply_block<false>(block, p, a, b, c, std::size_t(columns));
}

// Transformations of points in space come in batches, of which each is a fraction of a call's time: no masks.
template <class T>
HWY_INLINE void multiply_by_4_by_4(const SmallProduct<T>& p, const T* a, const T* b, T* c) {
  const CappedTag<T, 4> d;
  const auto b0 = LoadU(d, b), b1 = LoadU(d, b + p.b_row), b2 = LoadU(d, b + 2 * p.b_row),
             b3 = LoadU(d, b + 3 * p.b_row);
  for (std::int64_t row = 0; row < p.rows; ++row, a += p.a_row, c += 4) {
    auto sum = MulAdd(Set(d, a[0]), b0, Zero(d));
    sum = MulAdd(Set(d, a[p.a_column]), b1, sum);
    sum = MulAdd(Set(d, a[2 * p.a_column]), b2, sum);
    StoreU(MulAdd(Set(d, a[3 * p.a_column]), b3, sum), d, c);
  }
}

template <class T>
HWY_INLINE void multiply_all(const SmallProduct<T>& p, const T* a, const T* b, T* c) {
  if constexpr (MaxLanes(CappedTag<T, 4>()) == 4)
    if (p.columns == 4 && p.terms == 4) return multiply_by_4_by_4(p, a, b, c);
  constexpr std::int64_t most = HWY_TARGET == HWY_AVX3 ? 8 : 4;  // so that two vectors per row fit the registers
  std::int64_t rows = p.rows;
  for (; rows >= most; rows -= most, a += most * p.a_row, c += most * p.columns) multiply_rows<most>(p, a, b, c);
  if (rows & 4) multiply_rows<4>(p, a, b, c), a += 4 * p.a_row, c += 4 * p.columns;
  if (rows & 2) multiply_rows<2>(p, a, b, c), a += 2 * p.a_row, c += 2 * p.columns;
  if (rows & 1) multiply_rows<1>(p, a, b, c);
}

void multiply(const SmallProduct<double>& p, const double* a, const double* b, double* c) { multiply_all(p, a, b, c); }
void multiply(const SmallProduct<float>& p, const float* a, const float* b, float* c) { multiply_all(p, a, b, c); }

}  // namespace hwy::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // BITALE_VECTOR_PRODUCTS

#if !BITALE_VECTOR_PRODUCTS || HWY_ONCE

namespace bitale::runtime {

namespace {

template <class T>
void multiply_by_rows([[maybe_unused]] const SmallProduct<T>& p, [[maybe_unused]] const T* a,
                      [[maybe_unused]] const T* b, [[maybe_unused]] T* c, [[maybe_unused]] Vectors with) {
#if BITALE_VECTOR_PRODUCTS
  if (with == Vectors::avx512)
    hwy::N_AVX3::multiply(p, a, b, c);
  else
    hwy::N_AVX2::multiply(p, a, b, c);
#endif
}

// The columns of B are copied to rows.
template <class T>
[[gnu::noinline]] void multiply_by_columns(SmallProduct<T> p, const T* a, const T* b, T* c, Vectors with) {
  T rows[max_small * max_small];
  for (std::int64_t term = 0; term < p.terms; ++term)
    for (std::int64_t j = 0; j < p.columns; ++j) rows[term * p.columns + j] = b[j * p.b_row + term];
  p.b_row = p.columns;
  multiply_by_rows(p, a, rows, c, with);
}

}  // namespace

template <class T>
bool multiply_small(const SmallProduct<T>& p, const T* a, const T* b, bool transposed, T* c, Vectors with) {
  if (!BITALE_VECTOR_PRODUCTS || with == Vectors::none) return false;
  if (transposed)
    multiply_by_columns(p, a, b, c, with);
  else
    multiply_by_rows(p, a, b, c, with);
  return true;
}

template bool multiply_small(const SmallProduct<double>&, const double*, const double*, bool, double*, Vectors);
template bool multiply_small(const SmallProduct<float>&, const float*, const float*, bool, float*, Vectors);

}  // namespace bitale::runtime

#endif
