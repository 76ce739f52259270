// Vectorised quicksort (Wassenberg et al., 2022, arXiv:2205.05982) from Highway's headers, compiled for each
// instruction set that is worth it; the processor determines which one runs.
#include "runtime/sort.hpp"
#include "runtime/vectors.hpp"

#if BITALE_VECTOR_SORTS

#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3 | (HWY_AVX3 - 1))  // the last ones are extensions of AVX-512
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/sort_vectors.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.
#include <hwy/contrib/sort/traits-inl.h>
#include <hwy/contrib/sort/traits128-inl.h>
#include <hwy/contrib/sort/vqsort-inl.h>

HWY_BEFORE_NAMESPACE();
namespace hwy::HWY_NAMESPACE {
#if VQSORT_ENABLED

// In a part where nearly all keys are equal, elements are compared with the number before that key. Highway 1.0 takes
// key - epsilon for floats, which loses smaller numbers between the two.
template <class T>
struct Ascending : detail::OrderAscending<T> {
  template <class D>
  HWY_INLINE Vec<D> PrevValue(D d, Vec<D> v) const {
    if constexpr (IsFloat<T>()) {
      const RebindToSigned<D> bits;
      const auto one = Set(bits, 1), after_sign = Or(SignBit(bits), one);
      const auto is_negative = RebindMask(bits, Lt(v, Zero(d))), is_zero = RebindMask(bits, Eq(v, Zero(d)));
      const auto next = IfThenElse(is_negative, Add(BitCast(bits, v), one), Sub(BitCast(bits, v), one));
      return BitCast(d, IfThenElse(is_zero, after_sign, next));
    } else {
      return detail::OrderAscending<T>::PrevValue(d, v);
    }
  }
};

// Highway 1.0 ignores memory from its caller where vectors have a fixed size; later releases need it, or take their
// own.
template <class Order, class T>
void sort_by(const Order& order, T* x, std::size_t count) {
  const SortTag<T> tag;
  if constexpr (requires { Sort(tag, order, x, count); })
    Sort(tag, order, x, count);
  else
    Sort(tag, order, x, count, static_cast<T*>(nullptr));
}
template <class T>
void sort_numbers(T* x, std::size_t count) {
  sort_by(detail::SharedTraits<detail::TraitsLane<Ascending<T>>>(), x, count);
}
void sort(std::uint16_t* x, std::size_t count) { sort_numbers(x, count); }
void sort(std::int16_t* x, std::size_t count) { sort_numbers(x, count); }
void sort(std::uint32_t* x, std::size_t count) { sort_numbers(x, count); }
void sort(std::int32_t* x, std::size_t count) { sort_numbers(x, count); }
void sort(std::uint64_t* x, std::size_t count) { sort_numbers(x, count); }
void sort(std::int64_t* x, std::size_t count) { sort_numbers(x, count); }
void sort(float* x, std::size_t count) { sort_numbers(x, count); }
void sort(double* x, std::size_t count) { sort_numbers(x, count); }
void sort(bitale::runtime::Pair* x, std::size_t count) {
  sort_by(detail::SharedTraits<detail::Traits128<detail::OrderAscending128>>(), reinterpret_cast<std::uint64_t*>(x),
          2 * count);
}

#endif
}  // namespace hwy::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

// The seed for the choice of pivots, which Highway's own library takes from the clock and the heap's address. A fixed
// seed makes runs repeat exactly; a bad case ends in a heap sort, not in quadratic time.
void hwy::Sorter::Fill24Bytes(const void*, std::size_t count, void* bytes) {
  const std::uint64_t seeds[] = {0x9e3779b97f4a7c15 + count, 0xd1b54a32d192ed03, 0x8cb92ba72f3d8dd7};
  __builtin_memcpy(bytes, seeds, sizeof(seeds));
}
// Releases from 1.0.7 on ask for it here; earlier ones have no such function.
namespace hwy {
bool Fill16BytesSecure(void* bytes) {
  const std::uint64_t seeds[] = {0x9e3779b97f4a7c15, 0xd1b54a32d192ed03};
  __builtin_memcpy(bytes, seeds, sizeof(seeds));
  return true;
}
}  // namespace hwy

namespace bitale::runtime {

namespace {

template <class T>
bool sort_any(T* x, std::size_t count) {
  switch (vectors()) {
    case Vectors::avx512: return hwy::N_AVX3::sort(x, count), true;
    case Vectors::avx2: return hwy::N_AVX2::sort(x, count), true;
    case Vectors::none: return false;
  }
  return false;
}

}  // namespace

#define X(T) \
  bool sort_by_vectors(T* x, std::size_t count) { return sort_any(x, count); }
BITALE_VECTOR_SORTED_TYPES(X)
#undef X

}  // namespace bitale::runtime

#endif  // HWY_ONCE
#endif  // BITALE_VECTOR_SORTS
