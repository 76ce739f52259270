// Arguments that are true or false: a bool, or an integer that stands for one, as in keepdims=1.
#pragma once

#include <nanobind/nanobind.h>

#include <concepts>
#include <optional>
#include <type_traits>

#include "arguments.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

struct Flag {
  bool value = false;
  operator bool() const { return value; }
  // The C++ form of a flag, such as KeepDims: an enumeration of No and Yes.
  template <class Named>
  requires std::same_as < std::underlying_type_t<Named>,
  bool > operator Named() const { return Named(value); }
};

// Of a bool of Python or NumPy, or an integer; std::nullopt for other objects.
inline std::optional<bool> as_truth_value(nb::handle object) noexcept {
  if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
  if (is_variable(object) || !(is_numpy_scalar(object) || is_integer_object(object))) return {};
  const int truth = PyObject_IsTrue(object.ptr());
  if (truth < 0) PyErr_Clear();
  return truth < 0 ? std::nullopt : std::optional<bool>(truth == 1);
}

}  // namespace bitale::python

namespace nanobind::detail {

template <>
struct type_caster<bitale::python::Flag> {
  NB_TYPE_CASTER(bitale::python::Flag, const_name("bool"))
  template <class Flags>
  bool from_python(handle source, Flags, cleanup_list*) noexcept {
    const std::optional<bool> truth = bitale::python::as_truth_value(source);
    value.value = truth.value_or(false);
    return truth.has_value();
  }
  static handle from_cpp(const Value& v, rv_policy, cleanup_list*) noexcept {
    return handle(v.value ? Py_True : Py_False).inc_ref();
  }
};

}  // namespace nanobind::detail
