// A row of the table of runtime functions for a sampler, whose status reports that a parameter is outside its domain.
#pragma once

#include <string_view>

#include "bitale/runtime/functions.hpp"

namespace bitale::runtime::random {

template <class Function>
RuntimeFunction sampler_function(std::string_view name, Function* address, std::string_view names) {
  RuntimeFunction out = runtime_function(name, address, names);
  out.failure = "random: a parameter of a distribution is outside its domain";
  return out;
}

}  // namespace bitale::runtime::random
