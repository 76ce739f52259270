// The arrays of `out=`, as memory for results. An array that is not aligned or not in native byte order is filled by
// NumPy from another one.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bitale/core/small_vector.hpp"
#include "numpy_receiver.hpp"

namespace bitale::python {

struct FunctionObject;

class OutArrays {
 public:
  // `out`: an array for the only output; for several a tuple or list of arrays and None, for which a fresh one is made.
  // TypeError (no array, another dtype) or ValueError (count, rank, read-only) saying which output.
  OutArrays(const FunctionObject& function, PyObject* out);
  OutArrays(const OutArrays&) = delete;
  OutArrays& operator=(const OutArrays&) = delete;

  std::span<const View> views() const { return {views_.data(), views_.size()}; }
  Receiver& others() { return others_; }
  void finish();  // after the call
  PyObject* take(std::size_t output);

 private:
  void add(const FunctionObject& function, std::size_t output, PyObject* object);

  SmallVector<View, 8> views_;
  SmallVector<std::int64_t, 32> geometry_;  // lengths and strides: an array may get others during the call
  SmallVector<PyObject*, 8> given_;         // borrowed from the call; null: none
  NumpyReceiver others_;
  std::vector<std::pair<PyObject*, nanobind::object>> stand_ins_;  // the array that is to be filled, and from which
};

}  // namespace bitale::python
