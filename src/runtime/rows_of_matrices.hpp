// Rows of the table of runtime functions for functions that exist for float64 and float32 with the same text in C.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bitale/runtime/functions.hpp"
#include "runtime/numbers.hpp"

namespace bitale::runtime {

// $S and $T in the text are the suffix and the type. `needs`: other rows that the text calls.
template <class T>
RuntimeFunction matrix_row(RuntimeFunction out, std::string_view failure, Flops flops, std::string_view text = {},
                           std::vector<std::string_view> needs = {}) {
  constexpr bool is_float32 = std::is_same_v<T, float>;
  out.failure = failure;
  out.flops = std::move(flops);
  out.of_float32 = is_float32;
  out.c_text = text;
  if (!text.empty()) out.with = {{"$S", is_float32 ? "f32" : "f64"}, {"$T", is_float32 ? "float" : "double"}};
  out.needs = std::move(needs);
  return out;
}

// The rows of a function template of numbers, for real numbers T and for pairs of them. A product of complex numbers is
// four real ones.
#define BITALE_NUMBER_ROWS(T, suffix, name, parameters, failure, factor, ...)                                         \
  matrix_row<T>(runtime_function("bt_" #name "_" #suffix, name<T>, parameters), failure, Flops{factor, __VA_ARGS__}), \
      matrix_row<T>(runtime_function("bt_complex_" #name "_" #suffix, over_pairs<name<std::complex<T>>>, parameters), \
                    failure, Flops{4 * factor, __VA_ARGS__})

}  // namespace bitale::runtime
