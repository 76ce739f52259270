// Calls of compiled functions: arguments are converted to views, the function is called, and results are returned in
// the requested form.
#include "function_object.hpp"

#include <cstring>
#include <span>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "errors.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"
#include "numpy_receiver.hpp"
#include "out_arrays.hpp"
#include "values.hpp"

namespace bitale::python {

std::string name_of(const FunctionObject& self) {
  return self.function.name().empty() ? "function" : self.function.name();
}

std::string input_label(const FunctionObject& self, std::size_t i) {
  const Variable& input = self.function.inputs()[i];
  return input.name().empty() ? cat("input ", i) : cat("input ", i, " (", input.name(), ")");
}

namespace {

bool is_called(PyObject* name, const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; }

// Keyword arguments that are not inputs: where results are written, and which are requested. Null: not given.
struct Options {
  PyObject* out = nullptr;
  PyObject* output_subset = nullptr;
  PyObject* device = nullptr;

  PyObject** find(PyObject* name) {
    return is_called(name, "out")             ? &out
           : is_called(name, "output_subset") ? &output_subset
           : is_called(name, "device")        ? &device
                                              : nullptr;
  }
};

// Positional arguments, then keyword arguments (`names`, and the values after the positional ones), in the order of the
// inputs. Null: the input's default is used.
std::vector<PyObject*> bind_arguments(const FunctionObject& self, PyObject* const* arguments, std::size_t positional,
                                      PyObject* names, Options options) {
  const std::size_t count = self.input_names.size();
  if (positional > count) throw TypeError(cat(name_of(self), ": expected ", count, " inputs, got ", positional));
  std::vector<PyObject*> bound(arguments, arguments + positional);
  bound.resize(count, nullptr);
  for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); ++k) {
    if (PyObject** option = options.find(PyTuple_GET_ITEM(names, k)); option && *option) continue;
    const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, k));
    if (!name) nb::raise_python_error();
    std::size_t i = 0;
    while (i < count && self.input_names[i] != name) ++i;
    if (i == count) {
      std::string near = closest(name, self.input_names);
      throw TypeError(
          cat(name_of(self), ": no input is called ", name, near.empty() ? "" : cat("; did you mean ", near, "?")));
    }
    if (bound[i]) throw TypeError(cat(name_of(self), ": ", input_label(self, i), " is given twice"));
    bound[i] = arguments[positional + std::size_t(k)];
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!bound[i] && (self.defaults.empty() || !self.defaults[i].defined()))
      throw TypeError(cat(name_of(self), ": ", input_label(self, i), " is missing"));
  return bound;
}

void require_count(const FunctionObject& self, std::size_t given) {
  const std::size_t count = self.input_names.size();
  if (given == count) return;
  if (given > count) throw TypeError(cat(name_of(self), ": expected ", count, " inputs, got ", given));
  throw TypeError(
      cat(name_of(self), ": ", input_label(self, given), " is missing (", count, " inputs, ", given, " given)"));
}

// Result k, which is the value of the given output.
template <class Results>
PyObject* take(const FunctionObject& self, Results& results, std::size_t k, std::size_t output) {
  const Kind& kind = self.output_kinds[output];
  if (!kind.other || kind.other->is_host_only()) return results.take(k);
  const nb::object words = nb::steal(results.take(k));
  return value_object(*kind.other, array_from(words, Share::Borrow)).release().ptr();
}

template <class Results>
PyObject* wrap_results(const FunctionObject& self, Results& results) {
  switch (self.form.kind) {
    case OutputForm::Kind::Single: return take(self, results, 0, 0);
    case OutputForm::Kind::None: return Py_NewRef(Py_None);
    case OutputForm::Kind::Dict: {
      nb::dict out;
      for (std::size_t i = 0; i < self.form.keys.size(); ++i)
        out[self.form.keys[i]] = nb::steal(take(self, results, i, i));
      return out.release().ptr();
    }
    case OutputForm::Kind::List: break;
  }
  PyObject* out = PyList_New(Py_ssize_t(self.output_count));
  if (!out) nb::raise_python_error();
  for (std::size_t i = 0; i < self.output_count; ++i) PyList_SET_ITEM(out, Py_ssize_t(i), take(self, results, i, i));
  return out;
}

// `stays`: results are arrays of JAX, kept on the device.
PyObject* call_bound(const FunctionObject& self, std::span<PyObject* const> given, bool stays = false) {
  require_count(self, given.size());
  const CallArguments arguments(self, given, true);
  NumpyReceiver results(self.output_count, arguments, stays);
  self.function.run(arguments.views(), results);
  results.finish();
  return wrap_results(self, results);
}

PyObject* call_into(const FunctionObject& self, std::span<PyObject* const> given, PyObject* out) {
  require_count(self, given.size());
  const CallArguments arguments(self, given);
  OutArrays targets(self, out);
  self.function.run_into(arguments.views(), targets.views(), &targets.others());
  targets.finish();
  return wrap_results(self, targets);
}

// Outputs by position or, for a function that returns a dict, by key.
std::vector<int> requested_outputs(const FunctionObject& self, nb::handle given) {
  std::vector<int> out;
  if (!PyList_Check(given.ptr()) && !PyTuple_Check(given.ptr()))
    throw TypeError(cat(name_of(self), ": output_subset: expected a list of positions or keys, got ", shown(given)));
  for (nb::handle item : given) {
    std::size_t key = 0;
    while (key < self.form.keys.size() && !self.form.keys[key].equal(item)) ++key;
    if (key < self.form.keys.size()) {
      out.push_back(int(key));
    } else if (PyLong_Check(item.ptr()) && !PyBool_Check(item.ptr())) {
      const Py_ssize_t position = PyNumber_AsSsize_t(item.ptr(), nullptr);  // clamped
      if (position == -1 && PyErr_Occurred()) nb::raise_python_error();
      out.push_back(position < 0 || position > Py_ssize_t(self.output_count) ? int(self.output_count) : int(position));
    } else {
      throw TypeError(cat(name_of(self), ": output_subset: there is no output ", shown(item)));
    }
  }
  return out;
}

// A single result is returned alone, several as a list or a dict.
PyObject* call_some(const FunctionObject& self, std::span<PyObject* const> given, nb::handle output_subset) {
  require_count(self, given.size());
  const std::vector<int> wanted = requested_outputs(self, output_subset);
  const CallArguments arguments(self, given);
  NumpyReceiver results(wanted.size());
  self.function.run_some(arguments.views(), wanted, results);
  results.finish();
  const auto taken = [&](std::size_t k) { return take(self, results, k, std::size_t(wanted[k])); };
  if (self.form.kind == OutputForm::Kind::Single && wanted.size() == 1) return taken(0);
  if (self.form.kind == OutputForm::Kind::Dict) {
    nb::dict out;
    for (std::size_t k = 0; k < wanted.size(); ++k) out[self.form.keys[std::size_t(wanted[k])]] = nb::steal(taken(k));
    return out.release().ptr();
  }
  nb::list out;
  for (std::size_t k = 0; k < wanted.size(); ++k) out.append(nb::steal(taken(k)));
  return out.release().ptr();
}

// The options among the keyword arguments; an input of the same name takes precedence.
Options options_among(const FunctionObject& self, PyObject* const* by_name, PyObject* names) {
  Options found;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(names); ++k)
    if (PyObject** option = found.find(PyTuple_GET_ITEM(names, k))) *option = by_name[k];
  for (auto& name : self.input_names) {
    if (name == "out") found.out = nullptr;
    if (name == "output_subset") found.output_subset = nullptr;
    if (name == "device") found.device = nullptr;
  }
  return found;
}

// The vectorcall entry.
PyObject* call(PyObject* object, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  const FunctionObject& self = *nb::inst_ptr<FunctionObject>(object);
  const auto positional = std::size_t(PyVectorcall_NARGS(flags));
  try {
    if (!names && (self.defaults.empty() || positional >= self.input_names.size()))
      return call_bound(self, {arguments, positional});
    const Options options = names ? options_among(self, arguments + positional, names) : Options();
    const auto is_given = [](PyObject* option) { return option && option != Py_None; };
    const auto bound = bind_arguments(self, arguments, positional, names, options);
    if (is_given(options.device)) {
      const int stays = PyObject_IsTrue(options.device);
      if (stays < 0) nb::raise_python_error();
      if (stays && !self.runs_on_device)
        throw ValueError(cat(
            name_of(self), ": device=True returns JAX arrays, which only functions of mode \"JAX\" have; the mode is ",
            self.function.mode().linker().name));
      if (stays && (is_given(options.out) || is_given(options.output_subset)))
        throw TypeError(cat(name_of(self), ": device=True can't be combined with out or output_subset"));
      if (stays) return call_bound(self, bound, true);
    }
    if (is_given(options.output_subset)) {
      if (is_given(options.out)) throw TypeError(cat(name_of(self), ": out and output_subset can't be combined"));
      return call_some(self, bound, options.output_subset);
    }
    return is_given(options.out) ? call_into(self, bound, options.out) : call_bound(self, bound);
  } catch (...) {
    set_python_error(std::current_exception());
    return nullptr;
  }
}

// Python reads the entry of any instance, so there must be no instance without one.
PyObject* refuse_to_make(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "Function: cannot be constructed directly; bitale.function() compiles one");
  return nullptr;
}

}  // namespace

const PyType_Slot function_slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                      {Py_tp_new, reinterpret_cast<void*>(refuse_to_make)},
                                      {0, nullptr}};

// nanobind stores a C++ object inside the Python object, at an offset that only an instance reveals.
void make_callable(nb::handle function_class) {
  const nb::object instance = nb::inst_alloc(function_class);
  auto* object = nb::inst_ptr<FunctionObject>(instance);
  auto* type = reinterpret_cast<PyTypeObject*>(function_class.ptr());
  type->tp_vectorcall_offset = reinterpret_cast<char*>(static_cast<Vectorcall*>(object)) -
                               reinterpret_cast<char*>(instance.ptr()) + Py_ssize_t(offsetof(Vectorcall, entry));
  type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  PyType_Modified(type);
}

FunctionObject::FunctionObject(Function function_, OutputForm form_, std::vector<Input> inputs)
    : Vectorcall{call},
      function(std::move(function_)),
      form(std::move(form_)),
      maker(nb::none()),
      output_count(function.output_count()) {
  bool any_default = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Kind& kind = kinds.emplace_back(kind_of(function.inputs()[i]));
    kind.strict = inputs[i].strict;
    kind.downcast = inputs[i].downcast;
    any_default |= inputs[i].default_value.defined();
    input_names.push_back(std::move(inputs[i].name));
    defaults.push_back(std::move(inputs[i].default_value));
  }
  if (!any_default) defaults.clear();
  runs_on_device = function.mode().linker().name == "jax";
  for (std::size_t i = 0; i < output_count; ++i) output_kinds.push_back(kind_of(function.graph().outputs()[i]));
  for (auto& kind : kinds) geometry_size += 2 * std::size_t(kind.ndim);
}

}  // namespace bitale::python
