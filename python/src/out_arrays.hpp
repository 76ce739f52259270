// The arrays of `out=`, as memory for results. NumPy fills an array that is not aligned or not in native byte order
// from a temporary one.
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
  // `out`: an array for the only output; for several outputs a tuple or list of arrays and None, where None requests a
  // new array. TypeError (not an array, another dtype) or ValueError (count, rank, read-only) naming the output.
  OutArrays(const FunctionObject& function, PyObject* out);
  OutArrays(const OutArrays&) = delete;
  OutArrays& operator=(const OutArrays&) = delete;

  std::span<const View> views() const { return {views_.data(), views_.size()}; }
  Receiver& others() { return others_; }
  void finish();  // to be called after the call
  PyObject* take(std::size_t output);

 private:
  void add(const FunctionObject& function, std::size_t output, PyObject* object);

  SmallVector<View, 8> views_;
  SmallVector<std::int64_t, 32> geometry_;  // lengths and strides: those of an array may be changed during the call
  SmallVector<PyObject*, 8> given_;         // borrowed from the call; null: not given
  NumpyReceiver others_;
  std::vector<std::pair<PyObject*, nanobind::object>> stand_ins_;  // the array to fill, and the one to fill it from
};

}  // namespace bitale::python
