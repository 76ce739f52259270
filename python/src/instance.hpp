// The C++ object inside a Python object of a bound class. Python can create objects that were never initialised
// (Class.__new__); those contain none.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace bitale::python {

template <class Object>
Object* instance_of(nanobind::handle object) {
  if (!nanobind::isinstance<Object>(object) || !nanobind::inst_ready(object)) return nullptr;
  return nanobind::inst_ptr<Object>(object);
}

// repr(object), shortened, for messages. Never raises.
std::string shown(nanobind::handle object);

}  // namespace bitale::python
