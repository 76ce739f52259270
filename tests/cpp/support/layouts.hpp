// Arrays with the same values in other memory layouts.
#pragma once

#include <string_view>

#include "bitale/core/array.hpp"

namespace bitale::test {

// The same values in another memory layout.
struct Layout {
  std::string_view name;
  Array (*apply)(const Array& array);
};

inline Array transposed(const Array& array) { return array.transpose().copy().transpose(); }
inline Array reversed(const Array& array) {
  Array out = array;
  for (int axis = 0; axis < out.ndim(); ++axis)
    if (out.shape(axis)) out = out.slice(axis, out.shape(axis) - 1, out.shape(axis), -1);
  out = out.copy();
  for (int axis = 0; axis < out.ndim(); ++axis)
    if (out.shape(axis)) out = out.slice(axis, out.shape(axis) - 1, out.shape(axis), -1);
  return out;
}
// Every second or third element of a larger array along each axis: strides of no contiguous layout.
inline Array sparse(const Array& array) {
  Dims shape = array.shape();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) shape[axis] *= axis % 2 ? 3 : 2;
  Array out = Array::zeros(array.dtype(), shape);
  for (int axis = 0; axis < out.ndim(); ++axis)
    if (array.shape(axis)) out = out.slice(axis, 0, array.shape(axis), axis % 2 ? 3 : 2);
  if (array.size()) out.assign(array);
  return out.size() == array.size() ? out : array;
}
// Columns of a wider matrix.
inline Array columns(const Array& array) {
  if (array.ndim() == 0 || array.size() == 0) return array;
  Dims shape = array.shape();
  shape.back() += 5;
  const Array out = Array::zeros(array.dtype(), shape).slice(array.ndim() - 1, 2, array.shape().back(), 1);
  out.assign(array);
  return out;
}
inline Array unchanged(const Array& array) { return array; }
inline constexpr Layout layouts[] = {{"contiguous", unchanged},
                                     {"transposed", transposed},
                                     {"reversed", reversed},
                                     {"sparse", sparse},
                                     {"columns", columns}};

}  // namespace bitale::test
