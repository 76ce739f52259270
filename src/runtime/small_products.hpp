// Products of small matrices, for which a library would spend its time on the call. Rows of the result are kept in
// registers, as wide as the processor has them (Highway, compiled for each instruction set).
#pragma once

#include <cstdint>

#include "runtime/vectors.hpp"

namespace bitale::runtime {

// Products are small if their lengths are at most this, and not 0.
inline constexpr std::int64_t max_small = 16;

inline bool is_small_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto is_small = [](std::int64_t length) { return length > 0 && length <= max_small; };
  return is_small(m) && is_small(n) && is_small(k);
}

// C[rows, columns] = A[rows, terms] · B[terms, columns], in elements of T. C is contiguous.
template <class T>
struct SmallProduct {
  std::int64_t rows, columns, terms;  // small
  std::int64_t a_row, a_column;       // the distances of the elements of A
  std::int64_t b_row;                 // of the rows of B, which are contiguous; or its columns, when it is transposed
};

// Uses the vectors that the processor has. Returns false, with nothing done, if there are none, or if nothing was
// compiled for them.
template <class T>
bool multiply_small(const SmallProduct<T>& product, const T* a, const T* b, bool transposed, T* c,
                    Vectors with = vectors());

}  // namespace bitale::runtime
