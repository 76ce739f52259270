// The number of a diagonal: any integer of Python. All beyond the corners of a matrix mean the same, so that one which
// an int does not hold is the outermost that it does.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <limits>

#include "arguments.hpp"

namespace bitale::python {

struct DiagonalNumber {
  int value = 0;
  operator int() const { return value; }
};

}  // namespace bitale::python

namespace nanobind::detail {

template <>
struct type_caster<bitale::python::DiagonalNumber> {
  NB_TYPE_CASTER(bitale::python::DiagonalNumber, const_name("int"))
  template <class Flags>
  bool from_python(handle source, Flags, cleanup_list*) noexcept {
    if (!PyBool_Check(source.ptr()) && !bitale::python::is_integer_object(source)) return false;
    const object integer = steal(PyNumber_Index(source.ptr()));
    int overflow = 0;
    const long long number = integer.is_valid() ? PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow) : -1;
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    constexpr long long last = std::numeric_limits<int>::max() - 1;  // its neighbours are ints as well
    value.value = overflow ? int(overflow * last) : int(std::clamp(number, -last, last));
    return true;
  }
  static handle from_cpp(const Value& v, rv_policy, cleanup_list*) noexcept { return PyLong_FromLong(v.value); }
};

}  // namespace nanobind::detail
