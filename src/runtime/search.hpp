// Binary search, for generated code and for `perform`.
#pragma once

#include "runtime/sort.hpp"

extern "C" {
// bt_searchsorted_f64(length, count, right, x, v, to): for each of `count` elements of v, how many of the `length`
// elements of x, which are ascending, come before it, or, if `right`, do not come after it. nan comes last.
#define X(id, name, suffix, T, ...)                                                                                  \
  void bt_searchsorted_##suffix(std::int64_t length, std::int64_t count, std::int64_t right, const T* x, const T* v, \
                                std::int64_t* to) noexcept;
BITALE_SORTED_DTYPES(X)
#undef X
}
