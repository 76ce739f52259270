// A compiled function as Python calls it: a vectorcall type written with the C APIs of Python and NumPy, since a call
// must cost little more than the computation.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <string>
#include <vector>

#include "bitale/compile/function.hpp"
#include "call_arguments.hpp"
#include "function_arguments.hpp"

namespace bitale::python {

namespace nb = nanobind;

// Python finds the function to call here: at the beginning of the object.
struct Vectorcall {
  vectorcallfunc entry;
};

struct FunctionObject : Vectorcall {
  // What an input accepts, in addition to its type.
  struct Input {
    std::string name;        // "" if it is positional only
    Variable default_value;  // the shared variable that holds it, or null
    bool strict = false;
    Downcast downcast = Downcast::FloatLiteral;
  };

  FunctionObject(Function function, Tree form, std::vector<Input> inputs, CallForm call_form);

  Function function;
  Tree form;                                // of the results
  CallForm call_form;                       // of the arguments; paths are those of the inputs
  bool has_trees = false;                   // whether an argument is made of several values
  std::vector<std::string> input_names;     // of the arguments
  std::vector<std::string> argument_paths;  // of arguments with trees, for messages
  Variables defaults;                       // empty when no input has a default
  nb::object maker;                         // the FunctionMaker
  std::vector<Kind> kinds, output_kinds;
  std::size_t geometry_size = 0;  // number of lengths and strides of all inputs
  std::size_t output_count;
  bool trust_input = false;
  bool runs_on_device = false;  // linker jax
};

// For messages.
std::string name_of(const FunctionObject& self);
std::string input_label(const FunctionObject& self, std::size_t i);
// The leaves of the arguments of a call, one for each input; a null argument has its defaults.
Leaves leaves_of(const FunctionObject& self, std::span<PyObject* const> arguments);
bool has_default(const FunctionObject& self, std::size_t argument);

// The slots of the Python class, and the setup that makes it callable.
extern const PyType_Slot function_slots[];
void make_callable(nb::handle function_class);

}  // namespace bitale::python
