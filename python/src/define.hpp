// Definitions in the module: each tensor function is listed for `from bitale.tensor import *`, carries the caller's
// line, and may be a method of variables as well.
#pragma once

#include <nanobind/nanobind.h>

#include "caller.hpp"
#include "variable_object.hpp"

namespace bitale::python {

using namespace nanobind::literals;

// What bitale.tensor re-exports.
inline void export_name(nb::module_& m, const char* name) { nb::cast<nb::list>(m.attr("__all__")).append(name); }

template <class F, class... Extra>
void define(nb::module_& m, const char* name, F&& function, const Extra&... extra) {
  m.def(name, function, nb::call_guard<AtCaller>(), extra...);
  export_name(m, name);
}

inline nb::class_<TensorVariableObject, VariableObject> variable_class(nb::module_& m) {
  return nb::borrow<nb::class_<TensorVariableObject, VariableObject>>(m.attr("TensorVariable"));
}

template <class F, class... Extra>
void define_method(nb::module_& m, const char* name, F&& function, const Extra&... extra) {
  variable_class(m).def(name, function, nb::call_guard<AtCaller>(), extra...);
}

// A method that a function of the package's Python files does; the object is its first argument.
template <class Class>
void define_in_python(Class& cls, const char* name, const char* module, const char* function, const char* signature,
                      const char* doc) {
  cls.def(
      name,
      [module, function](nb::handle self, nb::args arguments, nb::kwargs keywords) {
        return nb::module_::import_(module).attr(function)(self, *arguments, **keywords);
      },
      nb::sig(signature), doc);
}

// A function whose first argument is the tensor, and the method of the same name.
template <class F, class... Extra>
void define_both_of(nb::module_& m, const char* name, nb::arg first, F&& function, const Extra&... extra) {
  define(m, name, function, first, extra...);
  define_method(m, name, function, extra...);
}

// The same where the tensor is called `x`.
template <class F, class... Extra>
void define_both(nb::module_& m, const char* name, F&& function, const Extra&... extra) {
  define_both_of(m, name, "x"_a, function, extra...);
}

}  // namespace bitale::python
