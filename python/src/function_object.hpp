// A compiled function as Python calls it. Written against Python's C API, since a call must cost little more than the
// computation: arguments are looked at once, scalars never become arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "bitale/compile/function.hpp"

namespace bitale::python {

namespace nb = nanobind;

struct FunctionObject {
  // How the results are handed over.
  enum class Form { Single, List, Dict, None };

  FunctionObject(Function function, Form form, std::vector<nb::object> keys, std::vector<std::string> input_names,
                 Downcast downcast);

  Function function;
  Form form;
  std::vector<nb::object> keys;          // of Form::Dict
  std::vector<std::string> input_names;  // "" for inputs that are given by position only
  Downcast downcast;
  bool scalars_only = false;  // float64 scalars in, one out: no arrays are needed
};

// The slots of the Python class: tp_call.
extern const PyType_Slot function_slots[];

}  // namespace bitale::python
