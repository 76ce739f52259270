// The name of an element type in C, for texts of runtime functions that exist for several types.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace bitale::runtime {

template <class T>
constexpr std::string_view c_type() {
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? "float" : "double";
  constexpr std::string_view whole[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
  constexpr std::string_view positive[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  constexpr std::size_t width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return std::is_signed_v<T> ? whole[width] : positive[width];
}

}  // namespace bitale::runtime
