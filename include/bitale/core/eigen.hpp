// Arrays as Eigen's matrices and vectors, without a copy, and Eigen's expressions as Arrays. Needs Eigen 3.4.
#pragma once

#include "bitale/core/language.hpp"

#if !__has_include(<Eigen/Core>)
#error "bitale/core/eigen.hpp needs Eigen's headers: find_package(Eigen3), and link the target with Eigen3::Eigen"
#endif
#include <Eigen/Core>
#include <array>
#include <cstdint>

#include "bitale/core/array.hpp"

namespace bitale {

using EigenStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
template <Element T>
using EigenMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <Element T>
using EigenVector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

namespace eigen {

// Lengths and strides in elements. ValueError for strides that are negative or not multiples of an element.
template <class T, std::size_t N>
std::array<std::int64_t, N> strides_of(const ArrayView<T, N>& view) {
  std::array<std::int64_t, N> out = view.strides();
  for (auto& stride : out) {
    if (stride < 0 || stride % std::int64_t(sizeof(T)) != 0) refuse_stride(stride, sizeof(T));
    stride /= std::int64_t(sizeof(T));
  }
  return out;
}
template <class Map, class T>
Map matrix_of(const ArrayView<T, 2>& view) {
  const auto strides = strides_of(view);
  return Map(view.data(), view.shape()[0], view.shape()[1], EigenStride(strides[0], strides[1]));
}
template <class Map, class T>
Map vector_of(const ArrayView<T, 1>& view) {
  const auto strides = strides_of(view);
  return Map(view.data(), view.shape()[0], Eigen::InnerStride<Eigen::Dynamic>(strides[0]));
}

}  // namespace eigen

// The memory of an array of two dimensions (or one). The map does not keep it alive. TypeError for another dtype,
// ValueError for another rank; the mutable ones: ValueError for a read-only array.
template <Element T>
auto matrix_as(const Array& array) {
  return eigen::matrix_of<Eigen::Map<const EigenMatrix<T>, Eigen::Unaligned, EigenStride>>(array.view_as<T, 2>());
}
template <Element T>
auto mutable_matrix_as(const Array& array) {
  return eigen::matrix_of<Eigen::Map<EigenMatrix<T>, Eigen::Unaligned, EigenStride>>(array.mutable_view_as<T, 2>());
}
template <Element T>
auto vector_as(const Array& array) {
  using Map = Eigen::Map<const EigenVector<T>, Eigen::Unaligned, Eigen::InnerStride<Eigen::Dynamic>>;
  return eigen::vector_of<Map>(array.view_as<T, 1>());
}
template <Element T>
auto mutable_vector_as(const Array& array) {
  using Map = Eigen::Map<EigenVector<T>, Eigen::Unaligned, Eigen::InnerStride<Eigen::Dynamic>>;
  return eigen::vector_of<Map>(array.mutable_view_as<T, 1>());
}

// The same of temporary Arrays: ValueError for one that is the only owner of its memory.
template <Element T>
auto matrix_as(const Array&& array) {
  return matrix_as<T>(array.not_temporary());
}
template <Element T>
auto mutable_matrix_as(const Array&& array) {
  return mutable_matrix_as<T>(array.not_temporary());
}
template <Element T>
auto vector_as(const Array&& array) {
  return vector_as<T>(array.not_temporary());
}
template <Element T>
auto mutable_vector_as(const Array&& array) {
  return mutable_vector_as<T>(array.not_temporary());
}

// A copy of an expression: of one dimension for a vector at compile time, else of two.
template <class Derived>
Array array_of(const Eigen::DenseBase<Derived>& expression) {
  using T = typename Derived::Scalar;
  if constexpr (Derived::IsVectorAtCompileTime) {
    Array out = Array::empty(dtype_of<T>::value, {std::int64_t(expression.size())});
    mutable_vector_as<T>(out) = expression.derived().reshaped();
    return out;
  } else {
    Array out = Array::empty(dtype_of<T>::value, {std::int64_t(expression.rows()), std::int64_t(expression.cols())});
    mutable_matrix_as<T>(out) = expression.derived();
    return out;
  }
}

}  // namespace bitale
