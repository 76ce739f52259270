// The fields of an input, checked: numbers, and lists of numbers with one, two or three levels, row by row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol.hpp"

namespace gradbench {

// Numbers in row-major order, and the lengths of the levels of lists.
template <class T>
struct Numbers {
  std::vector<std::int64_t> shape;
  std::vector<T> values;
};

// InputError naming the field: missing, no number, not that many levels, rows of different lengths.
double number_field(const Json& input, const char* name);
std::int64_t count_field(const Json& input, const char* name);  // an integer from 1
bool bool_field(const Json& input, const char* name);
const Json& object_field(const Json& input, const char* name);
Numbers<double> numbers_field(const Json& input, const char* name, std::size_t levels);
// Integers from 0, below `end`; `least` is another lower bound.
Numbers<std::int64_t> positions_field(const Json& input, const char* name, std::size_t levels, std::int64_t end,
                                      std::int64_t least = 0);

// InputError unless the numbers have these lengths.
void require_shape(const char* name, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& expected);

// Lists of `values`, in row-major order.
Json nested(const double* values, std::span<const std::int64_t> shape);

}  // namespace gradbench
