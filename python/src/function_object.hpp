// A compiled function as Python calls it: a vectorcall type written against the C APIs of Python and NumPy, since a
// call must cost little more than the computation.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "bitale/compile/function.hpp"
#include "call_arguments.hpp"

namespace bitale::python {

namespace nb = nanobind;

// Where Python finds what to call: at the beginning of the object.
struct Vectorcall {
  vectorcallfunc entry;
};

struct FunctionObject : Vectorcall {
  // How the results are handed over.
  enum class Form { Single, List, Dict, None };

  // What an input takes, beside its type.
  struct Input {
    std::string name;        // "" for one that is given by position only
    Variable default_value;  // the shared variable that holds it, or null
    bool strict = false;
    Downcast downcast = Downcast::FloatLiteral;
  };

  FunctionObject(Function function, Form form, std::vector<nb::object> keys, std::vector<Input> inputs);

  Function function;
  Form form;
  std::vector<nb::object> keys;  // of Form::Dict
  std::vector<std::string> input_names;
  Variables defaults;  // empty when no input has one
  nb::object maker;    // the FunctionMaker; None: unknown
  std::vector<Kind> kinds, output_kinds;
  std::size_t geometry_size = 0;  // lengths and strides of all inputs
  std::size_t output_count;
  bool trust_input = false;
  bool runs_on_device = false;  // linker jax
};

// For messages.
std::string name_of(const FunctionObject& self);
std::string input_label(const FunctionObject& self, std::size_t i);

// The slots of the Python class, and the rest of what makes it callable.
extern const PyType_Slot function_slots[];
void make_callable(nb::handle function_class);

}  // namespace bitale::python
