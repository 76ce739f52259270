// Makers of functions: the class FunctionMaker, whose steps a subclass in Python may replace, and modes that name one.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "bitale/compile/maker.hpp"
#include "bitale/compile/mode.hpp"
#include "function_arguments.hpp"

namespace bitale::python {

namespace nb = nanobind;

// The library's maker with the arguments that it was made from. Copies share its code.
struct FunctionMakerObject {
  FunctionArguments arguments;
  std::shared_ptr<FunctionMaker> steps;
  nb::object graph;     // the FunctionGraph, read-only once it is linked
  Variables made_with;  // of each input the container that the code knows, or null
};

// Compiles by the maker of the mode. It is what function() calls.
nb::object make_function(const GivenArguments& given);
// The callable of a maker, in Python's object for it; the code is linked if that has not happened.
nb::object create_function(nb::handle maker);
// A maker of the same class and code, with other arguments: other containers, another name.
nb::object maker_with(nb::handle maker, FunctionArguments arguments);
// What made a function.
FunctionMakerObject& maker_of(nb::handle function);

// How a mode (a Python object) makes functions, in a form that can be pickled: None, DebugMode's options as a dict, or
// a Python class with one of these.
nb::object stored_maker(nb::handle mode);

// To be called after the class Function is bound.
void bind_function_maker(nb::module_& m);

}  // namespace bitale::python
