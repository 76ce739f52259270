#include "call_arguments.hpp"

#include <cstring>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "function_object.hpp"
#include "instance.hpp"
#include "jax.hpp"
#include "numpy_api.hpp"
#include "numpy_bridge.hpp"
#include "values.hpp"

namespace bitale::python {

namespace {

constexpr int not_an_array = -1;  // replaces NumPy's number of a dtype

// The value of a Python int, if the object is one (a bool isn't) and the value fits.
bool small_int(PyObject* object, std::int64_t& value) {
  if (!PyLong_CheckExact(object)) return false;
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0;
}

}  // namespace

Kind kind_of(const Variable& variable) {
  const TensorType& type = variable.storage();
  if (!as_tensor(variable.type()))
    return {type.dtype, not_an_array, type.ndim(), &type, variable.type().get(), nullptr};
  const int number = numpy_type_number(type.dtype);
  auto* scalar = reinterpret_cast<PyTypeObject*>(PyArray_TypeObjectFromType(number));
  Py_XDECREF(scalar);  // NumPy keeps it
  return {type.dtype, number, type.ndim(), &type, nullptr, scalar};
}

Array input_value(const Kind& kind, PyObject* object) {
  return value_from(kind.other ? *kind.other : *kind.type, object, kind.downcast, kind.strict);
}

CallArguments::CallArguments(const FunctionObject& function, std::span<PyObject* const> arguments, bool may_stay) {
  may_stay = may_stay && function.runs_on_device;
  views_.resize(arguments.size());
  numbers_.resize(arguments.size());
  geometry_.resize(function.geometry_size);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Kind& kind = function.kinds[i];
    if (!arguments[i]) continue;  // the default, which the call itself reads
    if (PyArray_CheckExact(arguments[i]) ? take_array(arguments[i], kind, views_[i])
                                         : take_number(arguments[i], kind, i))
      continue;
    if (converted_.empty()) converted_.reserve(arguments.size());  // views point into it
    if (may_stay && take_from_device(arguments[i], kind, i)) continue;
    convert(function, i, arguments[i]);
  }
}

bool CallArguments::take_array(PyObject* object, const Kind& kind, View& view) {
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  if (PyArray_TYPE(array) != kind.type_number || PyArray_NDIM(array) != kind.ndim || !PyArray_ISBEHAVED_RO(array))
    return false;
  std::int64_t* shape = geometry_.data() + geometry_end_;
  std::int64_t* strides = shape + kind.ndim;
  for (int axis = 0; axis < kind.ndim; ++axis) {
    shape[axis] = PyArray_DIM(array, axis);
    strides[axis] = PyArray_STRIDE(array, axis);
    const std::int64_t known = kind.type->shape[std::size_t(axis)];
    if (known != unknown_length && known != shape[axis]) return false;
  }
  geometry_end_ += 2 * std::size_t(kind.ndim);
  view = {PyArray_DATA(array), shape, strides};
  return true;
}

bool CallArguments::take_number(PyObject* object, const Kind& kind, std::size_t i) {
  if (kind.ndim != 0 || kind.strict || kind.other) return false;
  std::int64_t integer = 0;
  double real = 0;
  static_assert(sizeof numbers_[0] == sizeof real);
  if (kind.dtype == DType::Float64 && PyFloat_Check(object)) {  // numpy.float64 too
    real = PyFloat_AS_DOUBLE(object);
    std::memcpy(&numbers_[i], &real, sizeof real);
  } else if (kind.dtype == DType::Float64 && small_int(object, integer)) {
    real = double(integer);
    std::memcpy(&numbers_[i], &real, sizeof real);
  } else if (kind.dtype == DType::Int64 && small_int(object, integer)) {
    numbers_[i] = integer;
  } else if (Py_TYPE(object) == kind.scalar_type && itemsize(kind.dtype) <= sizeof numbers_[i]) {
    PyArray_ScalarAsCtype(object, &numbers_[i]);
  } else {
    return false;
  }
  views_[i] = {&numbers_[i], nullptr, nullptr};
  return true;
}

bool CallArguments::take_from_device(PyObject* object, const Kind& kind, std::size_t i) {
  Array held;
  if (kind.other || PyArray_Check(object) || !hold_jax_array(object, kind.dtype, held)) return false;
  const Resident& resident = *resident_in(held);
  if (resident.shape().size() != std::size_t(kind.ndim)) return false;
  for (std::size_t axis = 0; axis < resident.shape().size(); ++axis)
    if (kind.type->shape[axis] != unknown_length && kind.type->shape[axis] != resident.shape()[axis]) return false;
  converted_.push_back(std::move(held));
  views_[i] = {const_cast<Resident*>(&resident), resident.shape().data(), resident.strides().data()};
  return true;
}

const Array* CallArguments::behind(int i) const {
  for (auto& array : converted_)
    if (const Resident* resident = resident_in(array); resident && resident == views_[std::size_t(i)].data)
      return &array;
  return nullptr;
}

void CallArguments::convert(const FunctionObject& self, std::size_t i, PyObject* object) {
  try {
    converted_.push_back(input_value(self.kinds[i], object));
  } catch (Error& error) {
    error.add("where", cat(name_of(self), ", ", input_label(self, i)));
    throw;
  }
  views_[i] = view_of(converted_.back());
}

}  // namespace bitale::python
