// View: elements of another owner, without a handle. Dtype and rank are known from elsewhere. Calls below the level of
// Arrays take and return Views.
#pragma once

#include "bitale/core/language.hpp"

#include <cstdint>
#include <span>

#include "bitale/core/array.hpp"

namespace bitale {

struct View {
  void* data;
  const std::int64_t* shape;    // as long as the rank
  const std::int64_t* strides;  // the same, in bytes
};

inline View view_of(const Array& array) { return {array.mutable_data(), array.shape().data(), array.strides().data()}; }

// Whether the view is C-contiguous.
inline bool is_contiguous(const View& view, int ndim, std::int64_t itemsize) {
  bool contiguous = true;
  for (int axis = ndim; axis-- > 0;) {
    const std::int64_t length = view.shape[axis];
    if (length == 0) return true;
    if (length == 1) continue;
    contiguous = contiguous && view.strides[axis] == itemsize;
    itemsize *= length;
  }
  return contiguous;
}

// An Array of borrowed elements, valid as long as the view's memory.
inline Array borrow(const View& view, DType dtype, int ndim) {
  const auto rank = std::size_t(ndim);
  return Array::borrow(view.data, dtype, Dims(std::span(view.shape, rank)), Dims(std::span(view.strides, rank)),
                       nullptr, Array::Writeable::No);
}

}  // namespace bitale
