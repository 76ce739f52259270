// Calls of compiled functions: arguments are converted to views, the function is called, and results are returned in
// the requested form.
#include "function_object.hpp"

#include <nanobind/stl/string.h>

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
  if (self.has_trees) return self.call_form.paths[i];
  const Variable& input = self.function.inputs()[i];
  return input.name().empty() ? cat("input ", i) : cat("input ", i, " (", input.name(), ")");
}

bool has_default(const FunctionObject& self, std::size_t argument) {
  if (self.defaults.empty()) return false;
  if (!self.has_trees) return self.defaults[argument].defined();
  const auto& [name, form, first] = self.call_form.arguments[argument];
  for (std::size_t leaf = first; leaf < first + form.leaf_count(); ++leaf)
    if (leaf >= self.defaults.size() || !self.defaults[leaf].defined()) return false;
  return true;
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

std::string argument_label(const FunctionObject& self, std::size_t i) {
  if (!self.has_trees) return input_label(self, i);
  const std::string& name = self.input_names[i];
  return name.empty() ? cat("input ", i) : cat("input ", i, " (", name, ")");
}

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
    if (bound[i]) throw TypeError(cat(name_of(self), ": ", argument_label(self, i), " is given twice"));
    bound[i] = arguments[positional + std::size_t(k)];
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!bound[i] && !has_default(self, i))
      throw TypeError(cat(name_of(self), ": ", argument_label(self, i), " is missing"));
  return bound;
}

void require_count(const FunctionObject& self, std::size_t given) {
  const std::size_t count = self.kinds.size();
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
  return self.form.build([&](std::size_t i) { return nb::steal(take(self, results, i, i)); }).release().ptr();
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
  nb::object by_leaf = nb::borrow(out);
  if (self.form.node_count() > self.form.leaf_count() + 1) {  // not flat
    Leaves leaves;
    self.form.leaves_of(out, leaves, cat(name_of(self), ": out"));
    by_leaf = nb::steal(PyTuple_New(Py_ssize_t(leaves.size())));
    for (std::size_t i = 0; i < leaves.size(); ++i)
      PyTuple_SET_ITEM(by_leaf.ptr(), Py_ssize_t(i), leaves[i].release().ptr());
  }
  OutArrays targets(self, by_leaf.ptr());
  self.function.run_into(arguments.views(), targets.views(), &targets.others());
  targets.finish();
  return wrap_results(self, targets);
}

// What the outermost container of the results has: forms, and the outputs that each is made of.
struct Part {
  Tree form;
  std::vector<int> outputs;
};
std::vector<Part> parts_of(const FunctionObject& self) {
  std::vector<Part> out;
  int next = 0;
  const bool is_one = self.form.is_leaf() || self.form.registered();
  for (Tree& form : is_one ? std::vector<Tree>{self.form} : self.form.children()) {
    Part part{std::move(form), {}};
    for (std::size_t i = 0; i < part.form.leaf_count(); ++i) part.outputs.push_back(next++);
    out.push_back(std::move(part));
  }
  return out;
}

// Parts of the results by position or, for a function that returns a dict, by key.
std::vector<std::size_t> requested_parts(const FunctionObject& self, nb::handle given, const std::vector<Part>& parts) {
  std::vector<std::size_t> out;
  if (!PyList_Check(given.ptr()) && !PyTuple_Check(given.ptr()))
    throw TypeError(cat(name_of(self), ": output_subset: expected a list of positions or keys, got ", shown(given)));
  const nb::object keys = self.form.keys();
  for (nb::handle item : given) {
    const Py_ssize_t key = keys.is_none() ? -1 : PySequence_Index(keys.ptr(), item.ptr());
    PyErr_Clear();
    if (key >= 0) {
      out.push_back(std::size_t(key));
    } else if (PyLong_Check(item.ptr()) && !PyBool_Check(item.ptr())) {
      const Py_ssize_t position = PyNumber_AsSsize_t(item.ptr(), nullptr);  // clamped
      if (position == -1 && PyErr_Occurred()) nb::raise_python_error();
      out.push_back(position < 0 || position > Py_ssize_t(parts.size()) ? parts.size() : std::size_t(position));
    } else {
      throw TypeError(cat(name_of(self), ": output_subset: there is no output ", shown(item)));
    }
  }
  return out;
}

// A single result is returned alone, several as a list or a dict.
PyObject* call_some(const FunctionObject& self, std::span<PyObject* const> given, nb::handle output_subset) {
  require_count(self, given.size());
  const std::vector<Part> parts = parts_of(self);
  const std::vector<std::size_t> wanted = requested_parts(self, output_subset, parts);
  std::vector<int> outputs;
  for (std::size_t part : wanted) {
    const std::vector<int> own = part < parts.size() ? parts[part].outputs : std::vector<int>{int(self.output_count)};
    outputs.insert(outputs.end(), own.begin(), own.end());  // the library refuses one that there is not
  }
  const CallArguments arguments(self, given);
  NumpyReceiver results(outputs.size());
  self.function.run_some(arguments.views(), outputs, results);
  results.finish();
  nb::list values;
  std::size_t next = 0;
  for (std::size_t part : wanted)
    values.append(parts[part].form.build([&](std::size_t) {
      const std::size_t k = next++;
      return nb::steal(take(self, results, k, std::size_t(outputs[k])));
    }));
  const bool is_one = self.form.is_leaf() || self.form.registered();
  if (is_one && wanted.size() == 1) return nb::object(values[0]).release().ptr();
  if (self.form.kind() != Tree::Kind::Dict) return values.release().ptr();
  nb::dict out;
  for (std::size_t k = 0; k < wanted.size(); ++k) out[self.form.keys()[wanted[k]]] = values[k];
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

PyObject* call_with(const FunctionObject& self, std::span<PyObject* const> given, const Options& options) {
  const auto is_given = [](PyObject* option) { return option && option != Py_None; };
  if (is_given(options.device)) {
    const int stays = PyObject_IsTrue(options.device);
    if (stays < 0) nb::raise_python_error();
    if (stays && !self.runs_on_device)
      throw ValueError(cat(name_of(self),
                           ": device=True returns JAX arrays, which only functions of mode \"JAX\" have; the mode is ",
                           self.function.mode().linker().name));
    if (stays && (is_given(options.out) || is_given(options.output_subset)))
      throw TypeError(cat(name_of(self), ": device=True can't be combined with out or output_subset"));
    if (stays) return call_bound(self, given, true);
  }
  if (is_given(options.output_subset)) {
    if (is_given(options.out)) throw TypeError(cat(name_of(self), ": out and output_subset can't be combined"));
    return call_some(self, given, options.output_subset);
  }
  return is_given(options.out) ? call_into(self, given, options.out) : call_bound(self, given);
}

// Leaves that stand for one variable have one value.
void merge_same(const FunctionObject& self, Leaves& leaves) {
  for (std::size_t i = self.call_form.same.size(); i-- > 0;) {
    const auto [leaf, first] = self.call_form.same[i];
    const nb::object own = leaves[leaf], other = leaves[first];
    if (!own.is(other) && !nb::cast<bool>(nb::module_::import_("numpy").attr("array_equal")(own, other))) {
      const auto paths = [&](std::size_t which) {
        std::vector<std::string> all;
        for (std::size_t k = 0; k < self.call_form.arguments.size(); ++k)
          for (auto& path : self.call_form.arguments[k].form.paths(cat("inputs[", k, "]"))) all.push_back(path);
        return all[which];
      };
      throw ValueError(cat(name_of(self), ": ", paths(leaf), ": expected the values of ", paths(first),
                           ", of the same variable, got others"));
    }
    leaves.remove(leaf);
  }
}

// What classes say of the arguments, as a note to an error of the values.
void add_notes(const FunctionObject& self, std::span<PyObject* const> given) {
  if (!PyErr_ExceptionMatches(PyExc_ValueError)) return;
  nb::python_error error;
  try {
    std::vector<std::string> notes;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Tree& form = self.call_form.arguments[i].form;
      if (!given[i] || !form.registered() || form.registered()->described.is_none()) continue;
      notes.push_back(nb::cast<std::string>(form.registered()->described(form.aux(), nb::handle(given[i]))));
    }
    if (!notes.empty() && nb::hasattr(error.value(), "add_note"))
      error.value().attr("add_note")(cat("  lengths  ", join(notes, ", ")));
  } catch (const std::exception&) {  // the first error counts
  }
  error.restore();
}

PyObject* call_with_trees(const FunctionObject& self, PyObject* const* arguments, std::size_t positional,
                          PyObject* names) {
  std::vector<PyObject*> bound;
  try {
    if (!names && positional == self.input_names.size()) {
      bound.assign(arguments, arguments + positional);
      return call_bound(self, leaves_of(self, bound).span());
    }
    const Options options = names ? options_among(self, arguments + positional, names) : Options();
    bound = bind_arguments(self, arguments, positional, names, options);
    const Leaves leaves = leaves_of(self, bound);
    return call_with(self, leaves.span(), options);
  } catch (...) {
    set_python_error(std::current_exception());
    add_notes(self, bound);
    return nullptr;
  }
}

// The vectorcall entry.
PyObject* call(PyObject* object, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  const FunctionObject& self = *nb::inst_ptr<FunctionObject>(object);
  const auto positional = std::size_t(PyVectorcall_NARGS(flags));
  if (self.has_trees) return call_with_trees(self, arguments, positional, names);
  try {
    if (!names && (self.defaults.empty() || positional >= self.input_names.size()))
      return call_bound(self, {arguments, positional});
    const Options options = names ? options_among(self, arguments + positional, names) : Options();
    return call_with(self, bind_arguments(self, arguments, positional, names, options), options);
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

Leaves leaves_of(const FunctionObject& self, std::span<PyObject* const> arguments) {
  Leaves out;
  out.reserve(self.kinds.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!self.has_trees) {
      out.add(arguments[i]);
      continue;
    }
    const Tree& form = self.call_form.arguments[i].form;
    if (arguments[i])
      form.leaves_of(arguments[i], out, self.argument_paths[i]);
    else
      for (std::size_t k = 0; k < form.leaf_count(); ++k) out.add_missing();
  }
  merge_same(self, out);
  return out;
}

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

FunctionObject::FunctionObject(Function function_, Tree form_, std::vector<Input> inputs, CallForm call_form_)
    : Vectorcall{call},
      function(std::move(function_)),
      form(std::move(form_)),
      call_form(std::move(call_form_)),
      has_trees(!call_form.arguments.empty()),
      maker(nb::none()),
      output_count(function.output_count()) {
  bool any_default = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Kind& kind = kinds.emplace_back(kind_of(function.inputs()[i]));
    kind.strict = inputs[i].strict;
    kind.downcast = inputs[i].downcast;
    any_default |= inputs[i].default_value.defined();
    if (!has_trees) input_names.push_back(std::move(inputs[i].name));
    defaults.push_back(std::move(inputs[i].default_value));
  }
  if (!any_default) defaults.clear();
  for (std::size_t i = call_form.same.size(); i-- > 0;)
    call_form.paths.erase(call_form.paths.begin() + std::ptrdiff_t(call_form.same[i].first));
  for (std::size_t i = 0; i < call_form.arguments.size(); ++i) {
    input_names.push_back(call_form.arguments[i].name);
    argument_paths.push_back(cat(name_of(*this), ": inputs[", i, "]"));
  }
  runs_on_device = function.mode().linker().name == "jax";
  for (std::size_t i = 0; i < output_count; ++i) output_kinds.push_back(kind_of(function.graph().outputs()[i]));
  for (auto& kind : kinds) geometry_size += 2 * std::size_t(kind.ndim);
}

}  // namespace bitale::python
