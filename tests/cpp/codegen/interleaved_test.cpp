// Lanes along the rows of arrays with short rows: vectors are interleaved in registers, whatever the number of rows.
#include <doctest/doctest.h>

#include "bitale/compile/function.hpp"
#include "bitale/ops/ops.hpp"

using namespace bitale;

TEST_CASE("stacks along the last axis have the elements of stacks along the first") {
  for (const DType dtype : {DType::Float64, DType::Float32, DType::Int64, DType::Int32, DType::Int8, DType::Bool})
    for (const int length : {2, 3, 5, 6, 8, 9}) {
      CAPTURE(dtype_name(dtype));
      CAPTURE(length);
      const Variable x = tensor("x", dtype, {unknown_length}), y = tensor("y", dtype, {unknown_length});
      Variables columns;
      for (int k = 0; k < length; ++k) {
        const Variable column = k % 3 == 0 ? x : k % 3 == 1 ? y : maximum(x, y);
        columns.push_back(dtype == DType::Bool ? column : cast(column + k, dtype));
      }
      const auto middle = columns.begin() + length / 2;
      const Variable flat = stack(columns, 1);
      const Variable first = stack(Variables(columns.begin(), middle), 1),
                     second = stack(Variables(middle, columns.end()), 1);
      const Variable halves = length % 2 ? flat : stack({first, second}, 1);
      auto f = function({x, y}, {flat, halves, stack(columns, 0)});
      for (const std::int64_t rows : {0, 1, 3, 4, 8, 15, 16, 64, 77}) {
        CAPTURE(rows);
        Array a = Array::empty(DType::Float64, {rows}), b = Array::empty(DType::Float64, {rows});
        for (std::int64_t i = 0; i < rows; ++i) {
          a.mutable_data_as<double>()[i] = double((i * 7) % 23);
          b.mutable_data_as<double>()[i] = double((i * 5) % 19);
        }
        const auto out = f({a.astype(dtype), b.astype(dtype)});
        const Array columnwise = Array(out[2]).astype(DType::Float64).contiguous();
        for (int k : {0, 1}) {
          const Array rowwise = Array(out[std::size_t(k)]).astype(DType::Float64).contiguous();
          bool equal = true;
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < length; ++j)
              equal &= rowwise.data_as<double>()[i * length + j] == columnwise.data_as<double>()[j * rows + i];
          CHECK(equal);
        }
      }
    }
}
