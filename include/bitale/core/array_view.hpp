// ArrayView: elements of N dimensions in memory of another owner, with strides in bytes. Typed
// calls take it as it is, and Arrays give one of their elements.
#pragma once

#include "bitale/core/language.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#if __has_include(<mdspan>)
#include <mdspan>
#endif

namespace bitale {

// Raises a ValueError for a stride that only Arrays can have: a negative one, or not a whole number of elements.
[[noreturn, gnu::cold]] void refuse_stride(std::int64_t stride, std::size_t itemsize);
// Raises an IndexError for a position outside of an axis.
[[noreturn, gnu::cold]] void refuse_position(std::int64_t position, std::size_t axis, std::int64_t length);

// A view of `const T` reads. For a number of dimensions known at run time only, use Array.
template <class T, std::size_t N = 1>
class ArrayView {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;

 public:
  using Lengths = std::array<std::int64_t, N>;
  // C-contiguous.
  ArrayView(T* data, const Lengths& shape) : data_(data), shape_(shape) {
    std::int64_t stride = sizeof(T);
    for (std::size_t axis = N; axis-- > 0; stride *= shape_[axis]) strides_[axis] = stride;
  }
  ArrayView(T* data, const Lengths& shape, const Lengths& strides) : data_(data), shape_(shape), strides_(strides) {}

  T* data() const { return data_; }
  const Lengths& shape() const { return shape_; }
  const Lengths& strides() const { return strides_; }
  std::int64_t size() const {
    std::int64_t count = 1;
    for (std::int64_t length : shape_) count *= length;
    return count;
  }

  // The element at a position, which is not checked: view(i, j).
  template <class... Index>
  requires(sizeof...(Index) == N) T& operator()(Index... index) const {
    std::int64_t offset = 0;
    std::size_t axis = 0;
    ((offset += std::int64_t(index) * strides_[axis++]), ...);
    return *reinterpret_cast<T*>(reinterpret_cast<Byte*>(data_) + offset);
  }
  // The same, with an IndexError for a position outside. Negative positions do not count from the end.
  template <class... Index>
  requires(sizeof...(Index) == N) T& at(Index... index) const {
    std::size_t axis = 0;
    const auto check = [&](std::int64_t i) {
      if (i < 0 || i >= shape_[axis]) [[unlikely]]
        refuse_position(i, axis, shape_[axis]);
      ++axis;
    };
    (check(std::int64_t(index)), ...);
    return (*this)(index...);
  }
  T& operator[](std::int64_t i) const requires(N == 1) { return (*this)(i); }

#if defined(__cpp_lib_mdspan)
  using Mdspan = std::mdspan<T, std::dextents<std::int64_t, N>, std::layout_stride>;
  // ValueError for strides that are negative or not multiples of an element.
  Mdspan mdspan() const {
    Lengths elements;
    for (std::size_t axis = 0; axis < N; ++axis) {
      elements[axis] = strides_[axis] / std::int64_t(sizeof(T));
      if (strides_[axis] % std::int64_t(sizeof(T)) != 0 || strides_[axis] < 0) refuse_stride(strides_[axis], sizeof(T));
    }
    return Mdspan(data_, typename Mdspan::mapping_type(std::dextents<std::int64_t, N>(shape_), elements));
  }
  template <class Extents, class Layout>
  requires(Extents::rank() == N) ArrayView(const std::mdspan<T, Extents, Layout>& span) : data_(span.data_handle()) {
    for (std::size_t axis = 0; axis < N; ++axis) {
      shape_[axis] = std::int64_t(span.extent(axis));
      strides_[axis] = std::int64_t(span.stride(axis)) * std::int64_t(sizeof(T));
    }
  }
#endif

 private:
  T* data_;
  Lengths shape_;
  Lengths strides_;
};

}  // namespace bitale
