// Products of small matrices: a library of products would spend its time on the call. Rows of the result stay in
// registers, as wide as the processor has them (Highway, compiled for each instruction set).
#pragma once

#include <cstdint>

#include "runtime/vectors.hpp"

namespace bitale::runtime {

// What is small, and not empty: lengths up to this one.
inline constexpr std::int64_t most_small = 16;

inline bool is_small_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto is_small = [](std::int64_t length) { return length > 0 && length <= most_small; };
  return is_small(m) && is_small(n) && is_small(k);
}

// C[rows, columns] = A[rows, terms] · B[terms, columns], in elements of T. C is contiguous.
template <class T>
struct SmallProduct {
  std::int64_t rows, columns, terms;  // small
  std::int64_t a_row, a_column;       // how far apart the elements of A are
  std::int64_t b_row;                 // and the rows of B, which are contiguous; or its columns, when it is transposed
};

// With vectors that the processor has. False where there are none, or nothing was compiled for them: then nothing has
// been done.
template <class T>
bool multiply_small(const SmallProduct<T>& product, const T* a, const T* b, bool transposed, T* c,
                    Vectors with = vectors());

}  // namespace bitale::runtime
