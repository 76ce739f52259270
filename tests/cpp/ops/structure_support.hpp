// Helpers of the tests of shape, indexing and product ops.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

namespace bitale::testing {

// The message of the error of class E that a call raises; fails the test otherwise.
template <class E, class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    FAIL_CHECK("another error: " << error.what());
    return {};
  }
  FAIL_CHECK("no error");
  return {};
}

inline bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline Array longs(std::initializer_list<std::int64_t> values) { return Array(values); }
inline Array count(std::int64_t value) { return Array(value); }

// 0, 1, 2, ... in row-major order.
inline Array numbers(const Dims& shape) {
  Array flat = Array::empty(DType::Float64, Dims{product(shape)});
  for (std::int64_t i = 0; i < flat.size(); ++i) flat.mutable_data_as<double>()[i] = double(i);
  return flat.reshape(shape);
}

inline Array value_of(const Variable& output, Variables inputs = {}, std::vector<Array> values = {}) {
  return evaluate(output, inputs, values);
}

inline std::string label_of(const Variable& output) { return output.owner_op()->label(); }

inline constexpr std::int64_t unknown = unknown_length;

}  // namespace bitale::testing
