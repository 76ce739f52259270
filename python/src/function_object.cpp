// Calls of compiled functions: Python objects to Arrays, the call without the GIL, Arrays to NumPy.
#include "function_object.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "errors.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

constexpr std::size_t max_scalars = 8;  // of the path without arrays

bool is_float_scalar(const Variable& v) { return v.ndim() == 0 && v.dtype() == DType::Float64; }

bool takes_scalars_only(const Function& function, FunctionObject::Form form) {
  if (form != FunctionObject::Form::Single || function.inputs().size() > max_scalars) return false;
  if (!function.shared_variables().empty() || !is_float_scalar(function.graph().outputs().at(0))) return false;
  for (auto& input : function.inputs())
    if (!is_float_scalar(input)) return false;
  return true;
}

std::string who(const FunctionObject& self) { return self.function.name().empty() ? "function" : self.function.name(); }

std::string input_label(const FunctionObject& self, std::size_t i) {
  const Variable& input = self.function.inputs()[i];
  return input.name().empty() ? cat("input ", i) : cat("input ", i, " (", input.name(), ")");
}

// Without arrays; null when an argument is not plainly a float64 scalar.
PyObject* call_with_scalars(const FunctionObject& self, std::span<PyObject* const> arguments) {
  std::array<double, max_scalars> values;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!plain_double(arguments[i], values[i])) return nullptr;
  double result = 0;
  {
    nb::gil_scoped_release unlocked;
    result = self.function.call_scalars({values.data(), arguments.size()});
  }
  return to_numpy(result).release().ptr();
}

Array input_value(const FunctionObject& self, std::size_t i, nb::handle argument) {
  const TensorType& type = self.function.inputs()[i].tensor();
  try {
    return value_for(type, argument, self.downcast);
  } catch (Error& error) {
    error.add("where", cat(who(self), ", ", input_label(self, i)));
    throw;
  }
}

// Positional arguments, then keywords by the names of inputs, in the order of the inputs.
std::vector<PyObject*> place_arguments(const FunctionObject& self, std::span<PyObject* const> positional,
                                       nb::handle keywords) {
  const std::size_t count = self.input_names.size();
  std::vector<PyObject*> placed(positional.begin(), positional.end());
  if (placed.size() > count) throw TypeError(cat(who(self), ": expected ", count, " inputs, got ", placed.size()));
  placed.resize(count, nullptr);
  for (auto [key, value] : nb::borrow<nb::dict>(keywords)) {
    const char* name = PyUnicode_AsUTF8(key.ptr());
    if (!name) nb::raise_python_error();
    std::size_t i = 0;
    while (i < count && self.input_names[i] != name) ++i;
    if (i == count) {
      std::string near = closest(name, self.input_names);
      throw TypeError(
          cat(who(self), ": no input is called ", name, near.empty() ? "" : cat("; did you mean ", near, "?")));
    }
    if (placed[i]) throw TypeError(cat(who(self), ": ", input_label(self, i), " is given twice"));
    placed[i] = value.ptr();
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!placed[i]) throw TypeError(cat(who(self), ": ", input_label(self, i), " is missing"));
  return placed;
}

nb::object hand_over(const FunctionObject& self, std::vector<Array> results) {
  switch (self.form) {
    case FunctionObject::Form::Single: return to_numpy(std::move(results[0]));
    case FunctionObject::Form::None: return nb::none();
    case FunctionObject::Form::Dict: {
      nb::dict out;
      for (std::size_t i = 0; i < self.keys.size(); ++i) out[self.keys[i]] = to_numpy(std::move(results[i]));
      return out;
    }
    case FunctionObject::Form::List: break;
  }
  nb::list out;
  for (auto& result : results) out.append(to_numpy(std::move(result)));
  return out;
}

PyObject* call_with_arrays(const FunctionObject& self, std::span<PyObject* const> arguments) {
  if (arguments.size() != self.input_names.size()) {
    for (std::size_t i = arguments.size(); i < self.input_names.size(); ++i)
      throw TypeError(cat(who(self), ": ", input_label(self, i), " is missing (", self.input_names.size(), " inputs, ",
                          arguments.size(), " given)"));
    throw TypeError(cat(who(self), ": expected ", self.input_names.size(), " inputs, got ", arguments.size()));
  }
  std::vector<Array> inputs;
  inputs.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) inputs.push_back(input_value(self, i, arguments[i]));
  std::vector<Array> results;
  {
    nb::gil_scoped_release unlocked;
    results = self.function.call(inputs).take();
  }
  return hand_over(self, std::move(results)).release().ptr();
}

PyObject* call_placed(const FunctionObject& self, std::span<PyObject* const> arguments) {
  if (self.scalars_only && arguments.size() == self.input_names.size())
    if (PyObject* result = call_with_scalars(self, arguments)) return result;
  return call_with_arrays(self, arguments);
}

// tp_call
PyObject* call(PyObject* object, PyObject* positional, PyObject* keywords) {
  try {
    const FunctionObject* ready = instance_of<FunctionObject>(object);
    if (!ready) throw TypeError("this Function was never initialised");
    const FunctionObject& self = *ready;
    std::span<PyObject* const> arguments(&PyTuple_GET_ITEM(positional, 0), std::size_t(PyTuple_GET_SIZE(positional)));
    if (!keywords || PyDict_Size(keywords) == 0) return call_placed(self, arguments);
    return call_placed(self, place_arguments(self, arguments, keywords));
  } catch (...) {
    set_python_error(std::current_exception());
    return nullptr;
  }
}

}  // namespace

const PyType_Slot function_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call)}, {0, nullptr}};

FunctionObject::FunctionObject(Function function_, Form form_, std::vector<nb::object> keys_,
                               std::vector<std::string> input_names_, Downcast downcast_)
    : function(std::move(function_)),
      form(form_),
      keys(std::move(keys_)),
      input_names(std::move(input_names_)),
      downcast(downcast_),
      scalars_only(takes_scalars_only(function, form)) {}

}  // namespace bitale::python
