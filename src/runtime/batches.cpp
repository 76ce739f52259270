// Each vector holds the same element of the matrices of all lanes; blocks of elements are transposed when they are read
// and written. Decisions (a pivot, a diagonal that is not positive) are masks: pivots are found by exchanging rows
// where a lower one is larger, and a matrix that fails is passed to the function for one matrix, which determines its
// status.
#include "runtime/batches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "runtime/lapack.hpp"
#include "runtime/lapack_calls.hpp"
#include "runtime/lu.hpp"
#include "runtime/rows_of_matrices.hpp"
#include "runtime/threads.hpp"

#if BITALE_HAVE_HIGHWAY && defined(__x86_64__)
#define BITALE_LANES_OF_MATRICES 1
#else
#define BITALE_LANES_OF_MATRICES 0
#endif

#if BITALE_LANES_OF_MATRICES

#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/batches.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hwy::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

using bitale::runtime::max_lane_elements;

// Interleaves a0 b0 a1 b1 ..., of the first halves of both, and of the second halves.
template <class D, class V>
HWY_INLINE void interleave(D d, V a, V b, V& first, V& second) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(TFromD<D>) == 8) {
    first = V{_mm512_permutex2var_pd(a.raw, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b.raw)};
    second = V{_mm512_permutex2var_pd(a.raw, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b.raw)};
  } else {
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    first = V{_mm512_permutex2var_ps(a.raw, low, b.raw)};
    second = V{_mm512_permutex2var_ps(a.raw, _mm512_add_epi32(low, _mm512_set1_epi32(8)), b.raw)};
  }
#else
  const V low = InterleaveLower(d, a, b), high = InterleaveUpper(d, a, b);
  first = ConcatLowerLower(d, high, low);
  second = ConcatUpperUpper(d, high, low);
#endif
}

// Transposes a block: rows become columns.
template <class D, class V>
HWY_INLINE void transpose_block(D d, V* rows) {
  constexpr int count = int(MaxLanes(d));
  V other[MaxLanes(d)];
  V *from = rows, *to = other;
  for (int done = 1; done < count; done *= 2) {
    for (int i = 0; i < count / 2; ++i) interleave(d, from[i], from[i + count / 2], to[2 * i], to[2 * i + 1]);
    V* const kept = from;
    from = to;
    to = kept;
  }
  if (from != rows)
    for (int i = 0; i < count; ++i) rows[i] = from[i];
}

// The matrices of the lanes: as many as a vector has lanes. Lanes after the last matrix repeat it.
template <class T>
class InLanes {
 public:
  using D = ScalableTag<T>;
  using V = Vec<D>;
  using M = Mask<D>;
  using Number = T;
  static constexpr std::int64_t width = std::int64_t(MaxLanes(D()));

  // Memory for `max_lane_elements` vectors.
  struct Elements {
    HWY_ALIGN T data[max_lane_elements * width];
    HWY_INLINE V operator[](std::int64_t e) const { return Load(D(), data + e * width); }
    HWY_INLINE void set(std::int64_t e, V value) { Store(value, D(), data + e * width); }

    void read(const T* from, std::int64_t step, std::int64_t valid, std::int64_t size) {
      const T* of[width];
      for (std::int64_t lane = 0; lane < width; ++lane) of[lane] = from + (lane < valid ? lane : valid - 1) * step;
      if (size < width) {
        for (std::int64_t e = 0; e < size; ++e)
          for (std::int64_t lane = 0; lane < width; ++lane) data[e * width + lane] = of[lane][e];
        return;
      }
      const auto block = [&](std::int64_t e) {
        V rows[width];
        for (std::int64_t lane = 0; lane < width; ++lane) rows[lane] = LoadU(D(), of[lane] + e);
        transpose_block(D(), rows);
        for (std::int64_t i = 0; i < width; ++i) set(e + i, rows[i]);
      };
      std::int64_t e = 0;
      for (; e + width <= size; e += width) block(e);
      if (e < size) block(size - width);
    }

    // Writes the lanes below `valid` that are not among `left_out`.
    void write(T* to, std::int64_t step, std::int64_t valid, std::int64_t size, std::uint32_t left_out) const {
      if (size < width) {
        for (std::int64_t lane = 0; lane < valid; ++lane)
          for (std::int64_t e = 0; e < size && !(left_out >> lane & 1); ++e)
            to[lane * step + e] = data[e * width + lane];
        return;
      }
      const auto block = [&](std::int64_t e) {
        V rows[width];
        for (std::int64_t i = 0; i < width; ++i) rows[i] = (*this)[e + i];
        transpose_block(D(), rows);
        for (std::int64_t lane = 0; lane < valid; ++lane)
          if (!(left_out >> lane & 1)) StoreU(rows[lane], D(), to + lane * step + e);
      };
      std::int64_t e = 0;
      for (; e + width <= size; e += width) block(e);
      if (e < size) block(size - width);
    }
  };

  static std::uint32_t bits(M mask) {
    std::uint8_t bytes[8] = {};
    StoreMaskBits(D(), mask, bytes);
    return std::uint32_t(bytes[0]) | std::uint32_t(bytes[1]) << 8;
  }
};

// Each of these functions computes up to as many matrices as there are lanes, and returns which of them failed.

template <class T>
std::uint32_t cholesky_lanes(std::int64_t valid, std::int64_t n, std::int64_t step, bool lower, T* A) {
  using L = InLanes<T>;
  using V = typename L::V;
  const typename L::D d;
  typename L::Elements a;
  a.read(A, step, valid, n * n);
  const std::int64_t down = lower ? n : 1, across = lower ? 1 : n;
  auto failed = MaskFromVec(Zero(d));
  for (std::int64_t j = 0; j < n; ++j) {
    V sum = a[j * (n + 1)];
    for (std::int64_t l = 0; l < j; ++l) {
      const V x = a[j * down + l * across];
      sum = NegMulAdd(x, x, sum);
    }
    failed = Or(failed, Not(Gt(sum, Zero(d))));
    const V root = Sqrt(sum), inverse = Div(Set(d, T(1)), root);
    a.set(j * (n + 1), root);
    for (std::int64_t i = j + 1; i < n; ++i) {
      V x = a[i * down + j * across];
      for (std::int64_t l = 0; l < j; ++l) x = NegMulAdd(a[i * down + l * across], a[j * down + l * across], x);
      a.set(i * down + j * across, Mul(x, inverse));
      a.set(j * down + i * across, Zero(d));
    }
  }
  const std::uint32_t left_out = L::bits(failed);
  a.write(A, step, valid, n * n, left_out);
  return left_out;
}

template <class T>
std::uint32_t triangular_lanes(std::int64_t valid, std::int64_t n, std::int64_t k, std::int64_t step_A,
                               std::int64_t step_B, bool lower, bool trans, bool unit, const T* A, T* B) {
  using L = InLanes<T>;
  using V = typename L::V;
  const typename L::D d;
  typename L::Elements a, b;
  a.read(A, step_A, valid, n * n);
  b.read(B, step_B, valid, n * k);
  const std::int64_t down = trans ? 1 : n, across = trans ? n : 1;
  const bool forward = lower != trans;
  auto failed = MaskFromVec(Zero(d));
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = forward ? step : n - 1 - step;
    const std::int64_t begin = forward ? 0 : i + 1, end = forward ? i : n;
    const V diagonal = unit ? Set(d, T(1)) : a[i * (n + 1)], inverse = Div(Set(d, T(1)), diagonal);
    failed = Or(failed, Eq(diagonal, Zero(d)));
    for (std::int64_t c = 0; c < k; ++c) {
      V x = b[i * k + c];
      for (std::int64_t j = begin; j < end; ++j) x = NegMulAdd(a[i * down + j * across], b[j * k + c], x);
      b.set(i * k + c, Mul(x, inverse));
    }
  }
  const std::uint32_t left_out = L::bits(failed);
  b.write(B, step_B, valid, n * k, left_out);
  return left_out;
}

// A triangle of one matrix, in the order in which it is solved, and the inverses of its diagonal.
template <class T>
struct Triangle {
  Triangle(std::int64_t size, bool lower, bool trans, bool unit, const T* elements)
      : n(size), down(trans ? 1 : n), across(trans ? n : 1), forward(lower != trans), A(elements) {
    for (std::int64_t i = 0; i < n; ++i) inverse[i] = unit ? T(1) : T(1) / A[i * (n + 1)];
  }
  std::int64_t n, down, across;
  bool forward;
  const T* A;
  T inverse[bitale::runtime::max_lane_rows];
};

// `count` vectors of columns of B[n, k], whose sums are independent of each other. A mask prevents the forwarding of
// what was just stored, so only the last, incomplete vector has one.
template <int count, class T, class Load, class Store>
HWY_INLINE void columns_block(const Triangle<T>& triangle, std::int64_t k, T* b, Load load, Store store) {
  const ScalableTag<T> d;
  constexpr auto width = std::int64_t(MaxLanes(d));
  const std::int64_t n = triangle.n;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = triangle.forward ? step : n - 1 - step;
    const std::int64_t begin = triangle.forward ? 0 : i + 1, end = triangle.forward ? i : n;
    Vec<decltype(d)> x[count];
    for (int v = 0; v < count; ++v) x[v] = load(b + i * k + v * width);
    for (std::int64_t j = begin; j < end; ++j) {
      const auto factor = Set(d, triangle.A[i * triangle.down + j * triangle.across]);
      for (int v = 0; v < count; ++v) x[v] = NegMulAdd(factor, load(b + j * k + v * width), x[v]);
    }
    const auto inverse = Set(d, triangle.inverse[i]);
    for (int v = 0; v < count; ++v) store(Mul(x[v], inverse), b + i * k + v * width);
  }
}

// For one matrix: the columns of b are the lanes.
template <class T>
void columns_lanes(std::int64_t n, std::int64_t k, bool lower, bool trans, bool unit, const T* A, T* B) {
  const ScalableTag<T> d;
  constexpr auto width = std::int64_t(MaxLanes(d));
  const Triangle<T> triangle(n, lower, trans, unit, A);
  const auto load = [d](const T* from) HWY_ATTR { return LoadU(d, from); };
  const auto store = [d](auto value, T* to) HWY_ATTR { StoreU(value, d, to); };
  std::int64_t column = 0;
  for (; column + 8 * width <= k; column += 8 * width) columns_block<8>(triangle, k, B + column, load, store);
  for (; column + width <= k; column += width) columns_block<1>(triangle, k, B + column, load, store);
  if (column == k) return;
  const auto mask = FirstN(d, std::size_t(k - column));
  columns_block<1>(
      triangle, k, B + column, [d, mask](const T* from) HWY_ATTR { return MaskedLoad(mask, d, from); },
      [d, mask](auto value, T* to) HWY_ATTR { BlendedStore(value, mask, d, to); });
}

// Copies one triangle of a matrix, transposed, to the other.
template <class T>
void mirror_lanes(std::int64_t n, bool to_upper, T* A) {
  const ScalableTag<T> d;
  constexpr auto width = std::int64_t(MaxLanes(d));
  const std::int64_t whole = n / width * width;
  for (std::int64_t row = 0; row < whole; row += width)
    for (std::int64_t column = 0; column < row; column += width) {
      T *const below = A + row * n + column, *const above = A + column * n + row;
      const T* const from = to_upper ? below : above;
      T* const to = to_upper ? above : below;
      Vec<decltype(d)> rows[width];
      for (std::int64_t i = 0; i < width; ++i) rows[i] = LoadU(d, from + i * n);
      transpose_block(d, rows);
      for (std::int64_t i = 0; i < width; ++i) StoreU(rows[i], d, to + i * n);
    }
  for (std::int64_t i = 0; i < n; ++i)  // blocks on the diagonal, and what follows the last block
    for (std::int64_t j = i < whole ? i / width * width : 0; j < i; ++j)
      if (to_upper)
        A[j * n + i] = A[i * n + j];
      else
        A[i * n + j] = A[j * n + i];
}

template <class Elements, class M>
HWY_INLINE void exchange(Elements& x, std::int64_t i, std::int64_t j, M where) {
  const auto a = x[i], b = x[j];
  x.set(i, IfThenElse(where, b, a));
  x.set(j, IfThenElse(where, a, b));
}

// Exchanges rows until the pivot is the largest of its column; then eliminates what is below it, also in the columns of
// b. Returns the pivot.
template <class L, class M>
HWY_INLINE typename L::V eliminate(typename L::Elements& a, typename L::Elements* b, std::int64_t p, std::int64_t n,
                                   std::int64_t k, bool trans, M& is_odd) {
  const typename L::D d;
  const std::int64_t down = trans ? 1 : n, across = trans ? n : 1;
  for (std::int64_t i = p + 1; i < n; ++i) {
    const M is_larger = Gt(Abs(a[i * down + p * across]), Abs(a[p * (n + 1)]));
    if (AllFalse(d, is_larger)) continue;
    is_odd = Xor(is_odd, is_larger);
    for (std::int64_t j = p; j < n; ++j) exchange(a, p * down + j * across, i * down + j * across, is_larger);
    for (std::int64_t c = 0; c < k; ++c) exchange(*b, p * k + c, i * k + c, is_larger);
  }
  const auto pivot = a[p * (n + 1)], inverse = Div(Set(d, typename L::Number(1)), pivot);
  for (std::int64_t i = p + 1; i < n; ++i) {
    const auto factor = Mul(a[i * down + p * across], inverse);
    for (std::int64_t j = p + 1; j < n; ++j)
      a.set(i * down + j * across, NegMulAdd(factor, a[p * down + j * across], a[i * down + j * across]));
    for (std::int64_t c = 0; c < k; ++c) b->set(i * k + c, NegMulAdd(factor, (*b)[p * k + c], (*b)[i * k + c]));
  }
  a.set(p * (n + 1), inverse);
  return pivot;
}

template <class T>
std::uint32_t solve_lanes(std::int64_t valid, std::int64_t n, std::int64_t k, std::int64_t step_A, std::int64_t step_B,
                          bool trans, const T* A, T* B) {
  using L = InLanes<T>;
  using V = typename L::V;
  const typename L::D d;
  typename L::Elements a, b;
  a.read(A, step_A, valid, n * n);
  b.read(B, step_B, valid, n * k);
  const std::int64_t down = trans ? 1 : n, across = trans ? n : 1;
  auto failed = MaskFromVec(Zero(d)), is_odd = MaskFromVec(Zero(d));
  for (std::int64_t p = 0; p < n; ++p) failed = Or(failed, Eq(eliminate<L>(a, &b, p, n, k, trans, is_odd), Zero(d)));
  for (std::int64_t i = n; i-- > 0;)
    for (std::int64_t c = 0; c < k; ++c) {
      V x = b[i * k + c];
      for (std::int64_t j = i + 1; j < n; ++j) x = NegMulAdd(a[i * down + j * across], b[j * k + c], x);
      b.set(i * k + c, Mul(x, a[i * (n + 1)]));
    }
  const std::uint32_t left_out = L::bits(failed);
  b.write(B, step_B, valid, n * k, left_out);
  return left_out;
}

// Without `logarithm`: the determinants, which are 0 where a pivot is 0. With it: their signs, and the sums of the
// logarithms of the pivots' absolute values. Returns the lanes in which a product of pivots left the range of numbers.
template <class T>
std::uint32_t determinant_lanes(std::int64_t valid, std::int64_t n, std::int64_t step_A, std::int64_t step_det,
                                std::int64_t step_log, const T* A, T* det, T* logarithm) {
  using L = InLanes<T>;
  using V = typename L::V;
  const typename L::D d;
  typename L::Elements a;
  a.read(A, step_A, valid, n * n);
  auto is_singular = MaskFromVec(Zero(d)), is_odd = MaskFromVec(Zero(d));
  V product = Set(d, T(1));
  HWY_ALIGN T numbers[L::width], logarithms[L::width] = {};
  for (std::int64_t p = 0; p < n; ++p) {
    const V pivot = eliminate<L>(a, nullptr, p, n, 0, false, is_odd);
    is_singular = Or(is_singular, Eq(pivot, Zero(d)));
    if (logarithm) {
      Store(pivot, d, numbers);
      for (std::int64_t lane = 0; lane < valid; ++lane) logarithms[lane] += std::log(std::abs(numbers[lane]));
      // nan must be kept
      product = Mul(product, IfThenElse(Eq(pivot, pivot), CopySign(Set(d, T(1)), pivot), pivot));
    } else {
      product = Mul(product, pivot);
    }
  }
  product = IfThenZeroElse(is_singular, IfThenElse(is_odd, Neg(product), product));
  Store(product, d, numbers);
  const std::uint32_t singular = L::bits(is_singular);
  std::uint32_t left_out = 0;
  for (std::int64_t lane = 0; lane < valid; ++lane) {
    if (singular >> lane & 1) {
      const bool is_finite = bitale::runtime::all_finite(A + lane * step_A, n * n);  // else zero pivots mean nothing
      numbers[lane] = is_finite ? T(0) : std::numeric_limits<T>::quiet_NaN();
      logarithms[lane] = is_finite ? -std::numeric_limits<T>::infinity() : numbers[lane];
    } else if (!logarithm && !std::isnormal(numbers[lane])) {
      left_out |= std::uint32_t(1) << lane;
    }
    det[lane * step_det] = numbers[lane];
    if (logarithm) logarithm[lane * step_log] = logarithms[lane];
  }
  return left_out;
}

template <class T>
struct LaneFunctions {
  static constexpr std::int64_t width = InLanes<T>::width;
  static std::uint32_t cholesky(std::int64_t valid, std::int64_t n, std::int64_t step, bool lower, T* A) {
    return cholesky_lanes(valid, n, step, lower, A);
  }
  static std::uint32_t solve_triangular(std::int64_t valid, std::int64_t n, std::int64_t k, std::int64_t step_A,
                                        std::int64_t step_B, bool lower, bool trans, bool unit, const T* A, T* B) {
    return triangular_lanes(valid, n, k, step_A, step_B, lower, trans, unit, A, B);
  }
  static void mirror(std::int64_t n, bool to_upper, T* A) { mirror_lanes(n, to_upper, A); }
  static void solve_columns(std::int64_t n, std::int64_t k, bool lower, bool trans, bool unit, const T* A, T* B) {
    columns_lanes(n, k, lower, trans, unit, A, B);
  }
  static std::uint32_t solve(std::int64_t valid, std::int64_t n, std::int64_t k, std::int64_t step_A,
                             std::int64_t step_B, bool trans, const T* A, T* B) {
    return solve_lanes(valid, n, k, step_A, step_B, trans, A, B);
  }
  static std::uint32_t determinant(std::int64_t valid, std::int64_t n, std::int64_t step_A, std::int64_t step_det,
                                   std::int64_t step_log, const T* A, T* det, T* logarithm) {
    return determinant_lanes(valid, n, step_A, step_det, step_log, A, det, logarithm);
  }
};
template struct LaneFunctions<double>;
template struct LaneFunctions<float>;

#endif

}  // namespace hwy::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // BITALE_LANES_OF_MATRICES

#if !BITALE_LANES_OF_MATRICES || HWY_ONCE

namespace bitale::runtime {

namespace {

#if BITALE_LANES_OF_MATRICES
// Calls `function` with the functions of the instruction set.
template <class T, class F>
auto with_lanes(Vectors with, F function) {
  return with == Vectors::avx512 ? function(hwy::N_AVX3::LaneFunctions<T>())
                                 : function(hwy::N_AVX2::LaneFunctions<T>());
}
#endif

constexpr double min_part_work = 2e5;  // operations: some tens of microseconds
constexpr std::int64_t max_parts = 64;

// Calls part(begin, end) for parts of a batch of `count` matrices of `work` operations each, which the threads of the
// call share; parts begin at multiples of `granule`. Returns 0, or the status of the last part that failed, which is
// that of its last failed matrix.
template <class Part>
std::int64_t in_parts(std::int64_t count, std::int64_t granule, double work, const Part& part) {
  const auto by_work = std::int64_t(std::min(double(count) * work / min_part_work, double(max_parts)));
  if (by_work < 2 || thread_budget() < 2) return part(std::int64_t(0), count);
  const std::int64_t length = ((count + by_work - 1) / by_work + granule - 1) / granule * granule;
  struct Context {
    const Part& part;
    std::int64_t count, length;
    std::int64_t status[max_parts] = {};
  } context{part, count, length};
  const auto task = [](const void* what, std::int64_t i) {
    auto& c = *const_cast<Context*>(static_cast<const Context*>(what));
    c.status[i] = c.part(i * c.length, std::min(c.count, (i + 1) * c.length));
  };
  const std::int64_t parts = (count + length - 1) / length;
  for_each_task(thread_budget(), parts, task, &context);
  for (std::int64_t i = parts; i-- > 0;)
    if (context.status[i]) return context.status[i];
  return 0;
}

// `run` computes a number of matrices from one on in lanes and returns which failed; `repair` computes one matrix, in
// memory that the matrices share, and returns its status.
template <class T, class Run, class Repair>
std::int64_t by_lanes([[maybe_unused]] const MatrixBatch<T>& batch, [[maybe_unused]] double work,
                      [[maybe_unused]] Run run, [[maybe_unused]] Repair repair) {
#if BITALE_LANES_OF_MATRICES
  std::mutex repairing;
  return with_lanes<T>(batch.with, [&]<class Lanes>(Lanes lanes) {
    return in_parts(batch.count, Lanes::width, work, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t status = 0;
      for (std::int64_t m = begin; m < end; m += Lanes::width) {
        const std::int64_t valid = std::min(Lanes::width, end - m);
        const std::uint32_t failed = run(lanes, m, valid);
        if (!failed) continue;
        const std::lock_guard lock(repairing);
        for (std::int64_t lane = 0; lane < valid; ++lane)
          if (failed >> lane & 1)
            if (const std::int64_t found = repair(m + lane)) status = found;
      }
      return status;
    });
  });
#else
  return 0;
#endif
}

// For functions in which matrices share no memory.
template <class Repair>
std::int64_t one_by_one(std::int64_t count, double work, Repair repair) {
  return in_parts(count, 1, work, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t status = 0;
    for (std::int64_t m = begin; m < end; ++m)
      if (const std::int64_t found = repair(m)) status = found;
    return status;
  });
}

// For functions in which matrices share the memory that each is factored in: a part of the batch allocates its own or,
// if that fails, waits for the given memory.
template <class T, class One>
std::int64_t one_by_one_in_room(std::int64_t count, std::int64_t n, double work, T* factor, std::int32_t* pivots,
                                One one) {
  std::mutex sharing;
  return in_parts(count, 1, work, [&](std::int64_t begin, std::int64_t end) {
    const bool is_all = begin == 0 && end == count;
    const CallMemory<T> own_factor(is_all ? 0 : n * n);
    const CallMemory<std::int32_t> own_pivots(is_all ? 0 : n);
    const bool has_own = !is_all && own_factor && own_pivots;
    std::unique_lock lock(sharing, std::defer_lock);
    if (!has_own) lock.lock();
    T* const its_factor = has_own ? own_factor.get() : factor;
    std::int32_t* const its_pivots = has_own ? own_pivots.get() : pivots;
    std::int64_t status = 0;
    for (std::int64_t m = begin; m < end; ++m)
      if (const std::int64_t found = one(m, its_factor, its_pivots)) status = found;
    return status;
  });
}

}  // namespace

// A few matrices are not worth it, since most lanes would compute nothing.
template <class T>
bool MatrixBatch<T>::fits_lanes(std::int64_t k) const {
  return BITALE_LANES_OF_MATRICES && with != Vectors::none && count > 2 && n > 0 && n <= max_lane_rows &&
         n * k <= max_lane_elements;
}

template <class T>
std::int64_t MatrixBatch<T>::cholesky(std::int64_t step_A, bool lower, std::int64_t to_nan, T* A) const {
  const auto one = [&](std::int64_t m) { return runtime::cholesky(n, lower, to_nan, A + m * step_A); };
  const double work = double(n) * double(n) * double(n) / 3;
  if (!fits_lanes()) return one_by_one(count, work, one);
  return by_lanes(
      *this, work,
      [&](auto lanes, std::int64_t m, std::int64_t valid) {
        return lanes.cholesky(valid, n, step_A, lower, A + m * step_A);
      },
      one);
}

template <class T>
std::int64_t MatrixBatch<T>::solve_triangular(std::int64_t step_A, std::int64_t step_B, std::int64_t k, bool lower,
                                              bool trans, bool unit, bool to_nan, const T* A, T* B) const {
  const auto one = [&](std::int64_t m) {
    return runtime::solve_triangular(n, k, lower, trans, unit, to_nan, A + m * step_A, B + m * step_B);
  };
  const double work = double(n) * double(n) * double(k);
  if (!fits_lanes(k)) return one_by_one(count, work, one);
  return by_lanes(
      *this, work,
      [&](auto lanes, std::int64_t m, std::int64_t valid) {
        return lanes.solve_triangular(valid, n, k, step_A, step_B, lower, trans, unit, A + m * step_A, B + m * step_B);
      },
      one);
}

template <class T>
std::int64_t MatrixBatch<T>::solve(std::int64_t step_A, std::int64_t step_B, std::int64_t k, bool trans, bool to_nan,
                                   const T* A, T* B, T* factor, std::int32_t* pivots) const {
  const auto one = [&](std::int64_t m, T* its_factor, std::int32_t* its_pivots) {
    return runtime::solve(n, k, trans, to_nan, A + m * step_A, B + m * step_B, its_factor, its_pivots);
  };
  const double work = double(n) * double(n) * (double(n) + 2 * double(k));
  if (!fits_lanes(k)) return one_by_one_in_room(count, n, work, factor, pivots, one);
  return by_lanes(
      *this, work,
      [&](auto lanes, std::int64_t m, std::int64_t valid) {
        return lanes.solve(valid, n, k, step_A, step_B, trans, A + m * step_A, B + m * step_B);
      },
      [&](std::int64_t m) { return one(m, factor, pivots); });
}

template <class T>
void MatrixBatch<T>::det(std::int64_t step_A, std::int64_t step_det, const T* A, T* det, T* factor,
                         std::int32_t* pivots) const {
  const double work = double(n) * double(n) * double(n);
  if (!fits_lanes()) {
    one_by_one_in_room(count, n, work, factor, pivots, [&](std::int64_t m, T* its_factor, std::int32_t* its_pivots) {
      runtime::det(n, A + m * step_A, det + m * step_det, its_factor, its_pivots);
      return std::int64_t(0);
    });
    return;
  }
  by_lanes(
      *this, work,
      [&](auto lanes, std::int64_t m, std::int64_t valid) {
        return lanes.determinant(valid, n, step_A, step_det, 0, A + m * step_A, det + m * step_det,
                                 static_cast<T*>(nullptr));
      },
      [&](std::int64_t m) {
        runtime::det(n, A + m * step_A, det + m * step_det, factor, pivots);
        return std::int64_t(0);
      });
}

template <class T>
void MatrixBatch<T>::slogdet(std::int64_t step_A, std::int64_t step_sign, std::int64_t step_log, const T* A, T* sign,
                             T* logabsdet, T* factor, std::int32_t* pivots) const {
  const double work = double(n) * double(n) * double(n);
  if (!fits_lanes()) {
    one_by_one_in_room(count, n, work, factor, pivots, [&](std::int64_t m, T* its_factor, std::int32_t* its_pivots) {
      runtime::slogdet(n, A + m * step_A, sign + m * step_sign, logabsdet + m * step_log, its_factor, its_pivots);
      return std::int64_t(0);
    });
    return;
  }
  by_lanes(
      *this, work,
      [&](auto lanes, std::int64_t m, std::int64_t valid) {
        lanes.determinant(valid, n, step_A, step_sign, step_log, A + m * step_A, sign + m * step_sign,
                          logabsdet + m * step_log);
        return 0u;
      },
      [](std::int64_t) { return std::int64_t(0); });
}

template struct MatrixBatch<double>;
template struct MatrixBatch<float>;

template <class T>
bool solve_columns_in_lanes([[maybe_unused]] std::int64_t n, [[maybe_unused]] std::int64_t k,
                            [[maybe_unused]] bool lower, [[maybe_unused]] bool trans, [[maybe_unused]] bool unit,
                            [[maybe_unused]] const T* A, [[maybe_unused]] T* B, [[maybe_unused]] Vectors with) {
#if BITALE_LANES_OF_MATRICES
  if (with == Vectors::none) return false;
  with_lanes<T>(with, [&](auto lanes) { lanes.solve_columns(n, k, lower, trans, unit, A, B); });
  return true;
#else
  return false;
#endif
}

template <class T>
bool mirror_triangle([[maybe_unused]] std::int64_t n, [[maybe_unused]] bool to_upper, [[maybe_unused]] T* A,
                     [[maybe_unused]] Vectors with) {
#if BITALE_LANES_OF_MATRICES
  if (with == Vectors::none) return false;
  with_lanes<T>(with, [&](auto lanes) { lanes.mirror(n, to_upper, A); });
  return true;
#else
  return false;
#endif
}
template bool mirror_triangle(std::int64_t, bool, double*, Vectors);
template bool mirror_triangle(std::int64_t, bool, float*, Vectors);
template bool solve_columns_in_lanes(std::int64_t, std::int64_t, bool, bool, bool, const double*, double*, Vectors);
template bool solve_columns_in_lanes(std::int64_t, std::int64_t, bool, bool, bool, const float*, float*, Vectors);

namespace {

// The texts for exported code, which computes one matrix at a time.
constexpr std::string_view cholesky_each_c =
    R"(static int64_t bt_cholesky_each_$S(int64_t count, int64_t step_A, int64_t n, int64_t lower, int64_t to_nan, $T *A) {
  int64_t status = 0;
  for (int64_t m = 0; m < count; ++m) {
    const int64_t found = bt_cholesky_$S(n, lower, to_nan, A + m * step_A);
    if (found) status = found;
  }
  return status;
}
)";
constexpr std::string_view solve_triangular_each_c =
    R"(static int64_t bt_solve_triangular_each_$S(int64_t count, int64_t step_A, int64_t step_B, int64_t n, int64_t k,
                                           int64_t lower, int64_t trans, int64_t unit, int64_t to_nan, const $T *A,
                                           $T *B) {
  int64_t status = 0;
  for (int64_t m = 0; m < count; ++m) {
    const int64_t found = bt_solve_triangular_$S(n, k, lower, trans, unit, to_nan, A + m * step_A, B + m * step_B);
    if (found) status = found;
  }
  return status;
}
)";
constexpr std::string_view solve_each_c =
    R"(static int64_t bt_solve_each_$S(int64_t count, int64_t step_A, int64_t step_B, int64_t n, int64_t k, int64_t trans,
                                int64_t to_nan, const $T *A, $T *B, $T *factor, int32_t *pivots) {
  int64_t status = 0;
  for (int64_t m = 0; m < count; ++m) {
    const int64_t found = bt_solve_$S(n, k, trans, to_nan, A + m * step_A, B + m * step_B, factor, pivots);
    if (found) status = found;
  }
  return status;
}
)";
constexpr std::string_view det_each_c =
    R"(static void bt_det_each_$S(int64_t count, int64_t step_A, int64_t step_det, int64_t n, const $T *A, $T *det,
                           $T *factor, int32_t *pivots) {
  for (int64_t m = 0; m < count; ++m) bt_det_$S(n, A + m * step_A, det + m * step_det, factor, pivots);
}
)";
constexpr std::string_view slogdet_each_c =
    R"(static void bt_slogdet_each_$S(int64_t count, int64_t step_A, int64_t step_sign, int64_t step_log, int64_t n,
                               const $T *A, $T *sign, $T *logabsdet, $T *factor, int32_t *pivots) {
  for (int64_t m = 0; m < count; ++m)
    bt_slogdet_$S(n, A + m * step_A, sign + m * step_sign, logabsdet + m * step_log, factor, pivots);
}
)";

}  // namespace
}  // namespace bitale::runtime

#define BITALE_BATCHES(suffix, T)                                                                                     \
  std::int64_t bt_cholesky_each_##suffix(std::int64_t count, std::int64_t step_A, std::int64_t n, std::int64_t lower, \
                                         std::int64_t to_nan, T* A) noexcept {                                        \
    return bitale::runtime::MatrixBatch<T>{count, n}.cholesky(step_A, lower != 0, to_nan, A);                         \
  }                                                                                                                   \
  std::int64_t bt_solve_triangular_each_##suffix(                                                                     \
      std::int64_t count, std::int64_t step_A, std::int64_t step_B, std::int64_t n, std::int64_t k,                   \
      std::int64_t lower, std::int64_t trans, std::int64_t unit, std::int64_t to_nan, const T* A, T* B) noexcept {    \
    return bitale::runtime::MatrixBatch<T>{count, n}.solve_triangular(step_A, step_B, k, lower != 0, trans != 0,      \
                                                                      unit != 0, to_nan != 0, A, B);                  \
  }                                                                                                                   \
  std::int64_t bt_solve_each_##suffix(std::int64_t count, std::int64_t step_A, std::int64_t step_B, std::int64_t n,   \
                                      std::int64_t k, std::int64_t trans, std::int64_t to_nan, const T* A, T* B,      \
                                      T* factor, std::int32_t* pivots) noexcept {                                     \
    return bitale::runtime::MatrixBatch<T>{count, n}.solve(step_A, step_B, k, trans != 0, to_nan != 0, A, B, factor,  \
                                                           pivots);                                                   \
  }                                                                                                                   \
  void bt_det_each_##suffix(std::int64_t count, std::int64_t step_A, std::int64_t step_det, std::int64_t n,           \
                            const T* A, T* det, T* factor, std::int32_t* pivots) noexcept {                           \
    bitale::runtime::MatrixBatch<T>{count, n}.det(step_A, step_det, A, det, factor, pivots);                          \
  }                                                                                                                   \
  void bt_slogdet_each_##suffix(std::int64_t count, std::int64_t step_A, std::int64_t step_sign,                      \
                                std::int64_t step_log, std::int64_t n, const T* A, T* sign, T* logabsdet, T* factor,  \
                                std::int32_t* pivots) noexcept {                                                      \
    bitale::runtime::MatrixBatch<T>{count, n}.slogdet(step_A, step_sign, step_log, A, sign, logabsdet, factor,        \
                                                      pivots);                                                        \
  }

extern "C" {
BITALE_BATCHES(f64, double)
BITALE_BATCHES(f32, float)
}

namespace bitale::runtime {
namespace {

const Flops cubed{1, {"count", "n", "n", "n"}, 3}, two_cubed{2, {"count", "n", "n", "n"}, 3};

#define ROWS(suffix, T)                                                                                                \
  matrix_row<T>(                                                                                                       \
      runtime_function("bt_cholesky_each_" #suffix, bt_cholesky_each_##suffix, "count step_A n lower to_nan inout:A"), \
      "cholesky: a matrix is not positive definite", cubed, cholesky_each_c, {"bt_cholesky_" #suffix}),                \
      matrix_row<T>(runtime_function("bt_solve_triangular_each_" #suffix, bt_solve_triangular_each_##suffix,           \
                                     "count step_A step_B n k lower trans unit to_nan A inout:B"),                     \
                    "solve_triangular: a matrix is singular: its diagonal has a 0", {1, {"count", "n", "n", "k"}},     \
                    solve_triangular_each_c, {"bt_solve_triangular_" #suffix}),                                        \
      matrix_row<T>(runtime_function("bt_solve_each_" #suffix, bt_solve_each_##suffix,                                 \
                                     "count step_A step_B n k trans to_nan A inout:B scratch:factor scratch:pivots"),  \
                    "solve: a matrix is singular", two_cubed, solve_each_c, {"bt_solve_" #suffix}),                    \
      matrix_row<T>(runtime_function("bt_det_each_" #suffix, bt_det_each_##suffix,                                     \
                                     "count step_A step_det n A det scratch:factor scratch:pivots"),                   \
                    "", two_cubed, det_each_c, {"bt_det_" #suffix}),                                                   \
      matrix_row<T>(                                                                                                   \
          runtime_function("bt_slogdet_each_" #suffix, bt_slogdet_each_##suffix,                                       \
                           "count step_A step_sign step_logabsdet n A sign logabsdet scratch:factor scratch:pivots"),  \
          "", two_cubed, slogdet_each_c, {"bt_slogdet_" #suffix})

const RegisterFunctions batch_functions{ROWS(f64, double), ROWS(f32, float)};

#undef ROWS

}  // namespace
}  // namespace bitale::runtime

#endif
