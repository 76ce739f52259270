// Traverses one or two arrays of the same shape in runs as long as their strides allow: dimensions of length 1 are
// dropped, dimensions are ordered as in memory, and neighbouring dimensions that are evenly spaced are merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "bitale/core/small_vector.hpp"

namespace bitale {

class StridedWalk {
 public:
  // Strides are in bytes; `a` (the destination) determines the order.
  StridedWalk(const Dims& shape, const Dims& a, const Dims& b) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 0) empty_ = true;
      if (shape[axis] == 1) continue;
      lengths_.push_back(shape[axis]);
      a_.push_back(a[axis]);
      b_.push_back(b[axis]);
    }
    sort();
    merge();
  }

  // Calls run(count, a_offset, a_stride, b_offset, b_stride) for each innermost run.
  template <class Run>
  void for_each_run(Run&& run) const {
    if (empty_) return;
    const std::size_t outer = lengths_.empty() ? 0 : lengths_.size() - 1;
    const std::int64_t count = lengths_.empty() ? 1 : lengths_.back();
    const std::int64_t a_stride = lengths_.empty() ? 0 : a_.back(), b_stride = lengths_.empty() ? 0 : b_.back();
    Dims position(outer, 0);
    std::int64_t a_offset = 0, b_offset = 0;
    while (true) {
      run(count, a_offset, a_stride, b_offset, b_stride);
      std::size_t axis = outer;
      while (axis > 0) {
        --axis;
        a_offset += a_[axis];
        b_offset += b_[axis];
        if (++position[axis] < lengths_[axis]) break;
        a_offset -= a_[axis] * lengths_[axis];
        b_offset -= b_[axis] * lengths_[axis];
        position[axis] = 0;
        if (axis == 0) return;
      }
      if (outer == 0) return;
    }
  }

 private:
  void sort() {
    for (std::size_t i = 1; i < lengths_.size(); ++i)
      for (std::size_t j = i; j > 0 && std::abs(a_[j - 1]) < std::abs(a_[j]); --j) {
        std::swap(lengths_[j - 1], lengths_[j]);
        std::swap(a_[j - 1], a_[j]);
        std::swap(b_[j - 1], b_[j]);
      }
  }
  void merge() {
    for (std::size_t i = lengths_.size(); i-- > 1;) {
      if (a_[i - 1] != a_[i] * lengths_[i] || b_[i - 1] != b_[i] * lengths_[i]) continue;
      lengths_[i - 1] *= lengths_[i];
      a_[i - 1] = a_[i];
      b_[i - 1] = b_[i];
      lengths_.erase(i);
      a_.erase(i);
      b_.erase(i);
    }
  }

  Dims lengths_, a_, b_;
  bool empty_ = false;
};

}  // namespace bitale
