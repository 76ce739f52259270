// Definitions in the module: each tensor function is listed for `from bitale.tensor import *`, records the caller's
// line, and may be a method of variables as well.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <type_traits>

#include "caller.hpp"
#include "examples.hpp"
#include "hooks.hpp"
#include "variable_object.hpp"

namespace bitale::python {

using namespace nanobind::literals;

// The names that bitale.tensor re-exports.
inline void export_name(nb::module_& m, const char* name) { nb::cast<nb::list>(m.attr("__all__")).append(name); }

// The documentation among a definition's extra arguments gets the example of that name appended.
template <class Extra>
decltype(auto) documented(const char* name, const Extra& extra) {
  if constexpr (std::is_convertible_v<const Extra&, const char*>)
    return with_example(name, static_cast<const char*>(extra));
  else
    return (extra);
}
template <class Extra>
const Extra& as_extra(const Extra& extra) {
  return extra;
}
inline const char* as_extra(const std::string& documentation) { return documentation.c_str(); }

// A function of the module that bitale.tensor does not re-export automatically.
template <class F, class... Extra>
void add_function(nb::module_& m, const char* name, F&& function, const Extra&... extra) {
  m.def(name, function, as_extra(documented(name, extra))...);
}

template <class F, class... Extra>
void define(nb::module_& m, const char* name, F&& function, const Extra&... extra) {
  add_function(m, name, function, nb::call_guard<AtCaller>(), extra...);
  export_name(m, name);
}

inline nb::class_<TensorVariableObject, VariableObject> variable_class(nb::module_& m) {
  return nb::borrow<nb::class_<TensorVariableObject, VariableObject>>(m.attr("TensorVariable"));
}

template <class F, class... Extra>
void define_method(nb::module_& m, const char* name, F&& function, const Extra&... extra) {
  variable_class(m).def(name, function, nb::call_guard<AtCaller>(), extra...);
}

// A method that is implemented by a function in the package's Python files; the object is its first argument.
template <class Class>
void define_in_python(Class& cls, const char* name, Hook function, const char* signature, const char* doc) {
  cls.def(
      name,
      [function](nb::handle self, nb::args arguments, nb::kwargs keywords) {
        return hook(function)(self, *arguments, **keywords);
      },
      nb::sig(signature), doc);
}

// A function whose first argument is the tensor, and the method of the same name.
template <class F, class... Extra>
void define_both_of(nb::module_& m, const char* name, nb::arg first, F&& function, const Extra&... extra) {
  define(m, name, function, first, extra...);
  define_method(m, name, function, extra...);
}

// The same for functions whose tensor is called `x`.
template <class F, class... Extra>
void define_both(nb::module_& m, const char* name, F&& function, const Extra&... extra) {
  define_both_of(m, name, "x"_a, function, extra...);
}

}  // namespace bitale::python
