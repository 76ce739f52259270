// Distributions of numbers, as a table: the parameters of each distribution, their domain in NumPy's words, and the
// function that fills memory with draws. Generated code calls the functions through the rows of the table of runtime
// functions, one row for each list of parameter types; `perform` calls them by the same entries.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bitale/core/dtype.hpp"
#include "runtime/random/bit_generators.hpp"

namespace bitale::runtime::random {

// A parameter's values: one for all draws (step 0), or one for each (step 1).
struct Column {
  const void* data;
  std::int64_t step;
};

struct Distribution {
  std::string_view name;  // NumPy's
  std::vector<std::string_view> parameters;
  std::vector<DType> dtypes;  // of the parameters: float64 or int64
  DType result;               // float64 or int64
  std::string_view function;  // the row of the table of runtime functions
  // Fills `out` with `count` draws and returns 0; not 0 if parameters are outside the domain, and then nothing was
  // drawn.
  std::int64_t (*draw)(const Distribution& self, BitGenerator kind, std::uint64_t* state, std::int64_t count,
                       std::span<const Column> columns, void* out);
  // The error in the parameters, in NumPy's words, or null if there is none. Columns have one value each.
  const char* (*refuse)(const Distribution& self, std::span<const Column> columns);
  const void* entry;  // the Entry of draws.cpp
  int number = 0;     // its number in generated code
};

// In the order of their numbers.
const std::vector<Distribution>& distributions();
// nullptr for an unknown name.
const Distribution* find_distribution(std::string_view name);

}  // namespace bitale::runtime::random
