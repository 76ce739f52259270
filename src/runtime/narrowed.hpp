// Rows of the table of runtime functions for functions of float64 that float32 uses by conversion. The name of
// float32's function has an f appended.
#pragma once

#include "bitale/runtime/functions.hpp"

namespace bitale::runtime {

template <auto function>
struct Narrowed;
template <class... Args, double (*function)(Args...)>
struct Narrowed<function> {
  static float call(std::conditional_t<true, float, Args>... x) { return float(function(x...)); }
};

#define BITALE_NARROWED_ROW(name, parameters) \
  runtime_function(#name "f", ::bitale::runtime::Narrowed<name>::call, parameters)
#define BITALE_FLOAT_ROWS(name, parameters) \
  runtime_function(#name, name, parameters), BITALE_NARROWED_ROW(name, parameters)

}  // namespace bitale::runtime
