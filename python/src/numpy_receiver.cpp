#include "numpy_receiver.hpp"

#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "jax.hpp"
#include "numpy_api.hpp"
#include "numpy_bridge.hpp"
#include "values.hpp"

namespace bitale::python {

namespace nb = nanobind;

namespace {
constexpr std::int64_t big_result = std::int64_t(1) << 20;      // bytes
constexpr std::int64_t quickly_copied = std::int64_t(1) << 13;  // bytes: a copy takes no longer than a capsule
}  // namespace

NumpyReceiver::~NumpyReceiver() {
  if (released_) PyEval_RestoreThread(released_);
  for (PyObject* result : results_) Py_XDECREF(result);
}

void NumpyReceiver::begin(std::span<const View>, bool is_long) {
  if (is_long) released_ = PyEval_SaveThread();
}

void* NumpyReceiver::allocate(int output, DType dtype, std::span<const std::int64_t> shape) {
  std::int64_t bytes = std::int64_t(itemsize(dtype));
  bool is_big = false;
  for (std::int64_t length : shape) {
    if (length < 0) throw ValueError(cat("negative length in the shape ", tuple_text(shape)));
    is_big |= __builtin_mul_overflow(bytes, length, &bytes);
  }
  is_big |= bytes >= big_result;
  if (released_ || is_big) return keep(output, Array::empty(dtype, Dims(shape)));
  PyObject* array = PyArray_New(&PyArray_Type, int(shape.size()), shape.data(), numpy_type_number(dtype), nullptr,
                                nullptr, 0, 0, nullptr);
  if (!array) nb::raise_python_error();
  results_[std::size_t(output)] = array;
  return PyArray_DATA(reinterpret_cast<PyArrayObject*>(array));
}

void* NumpyReceiver::receive(int output, Array value) {
  if (!released_ && !value.object() && value.nbytes() < quickly_copied)
    return Receiver::receive(output, std::move(value));
  return keep(output, std::move(value));
}

void* NumpyReceiver::keep(int output, Array value) {
  arrays_.emplace_back(output, std::move(value));
  return arrays_.back().second.mutable_data();
}

void NumpyReceiver::finish() {
  if (released_) PyEval_RestoreThread(std::exchange(released_, nullptr));
  for (auto& [output, array] : arrays_) {
    nb::object result = resident_in(array) ? jax_array(array) : nb::object();
    if (!result) result = array.object() ? held_object(array) : to_numpy(std::move(array));
    results_[std::size_t(output)] = result.release().ptr();
  }
  arrays_.clear();
}

}  // namespace bitale::python
