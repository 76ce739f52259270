// A determinant by minors of the last rows, each computed once: by their set of columns, a bit for each.
#pragma once

#include <bit>

#include "tapes.hpp"

namespace gradbench {

template <class Scalar>
Scalar determinant(std::int64_t size, const std::vector<Scalar>& a) {
  const std::uint32_t all = (1u << size) - 1;
  std::vector<Scalar> minors(all + 1);
  minors[0] = 1.;
  for (std::uint32_t columns = 1; columns <= all; ++columns) {
    const Scalar* row = &a[std::size_t((size - std::popcount(columns)) * size)];
    Scalar total = 0.;
    bool is_even = true;
    for (std::uint32_t left = columns; left; left &= left - 1, is_even = !is_even) {
      const Scalar term = row[std::countr_zero(left)] * minors[columns & ~(left & -left)];
      if (is_even)
        total += term;
      else
        total -= term;
    }
    minors[columns] = total;
  }
  return minors[all];
}

template <class Tape>
Prepared det(const Json& input) {
  const std::int64_t size = count_field(input, "ell");
  if (size > 20) throw InputError("`ell` is at most 20 here: there are 2^ell minors");
  const auto a = numbers_field(input, "A", 1);
  require_shape("A", a.shape, {size * size});
  return gradient_of<Tape>([=](const auto& x) { return determinant(size, x); }, a.values, a.shape);
}

}  // namespace gradbench
