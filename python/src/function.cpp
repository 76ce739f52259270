// function(), shared(), Mode. bitale/compile sorts out the arguments that function() takes in many forms.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/address.hpp"
#include "bitale/compile/export.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "function_graph.hpp"
#include "function_object.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

// What replaces a variable: another, or a value of its type.
Replacements typed_replacements(nb::handle pairs, const char* what) {
  Replacements out;
  for (auto& [before, after] : as_pairs(pairs, what)) {
    const Variable target = require_variable(before, what);
    const TensorType& type = target.tensor();
    if (is_variable(after))
      out.emplace_back(target, variable_of(after));
    else
      out.emplace_back(target, constant(filter(type, value_for(type, after, Downcast::FloatLiteral))));
  }
  return out;
}

Downcast downcast_of(std::optional<bool> allow) {
  if (!allow) return Downcast::FloatLiteral;
  return *allow ? Downcast::Always : Downcast::Never;
}

FunctionObject::Form form_of(const std::string& form) {
  if (form == "single") return FunctionObject::Form::Single;
  if (form == "dict") return FunctionObject::Form::Dict;
  if (form == "none") return FunctionObject::Form::None;
  return FunctionObject::Form::List;
}

Function compile_unlocked(const Variables& inputs, const Variables& outputs, const FunctionOptions& options) {
  nb::gil_scoped_release unlocked;
  return function(inputs, outputs, options);
}

// An unused input that only deserves a warning gets a Python warning.
Function compile(const Variables& inputs, const Variables& outputs, FunctionOptions options) {
  const std::string policy = options.on_unused_input.empty() ? config::get("on_unused_input") : options.on_unused_input;
  if (policy != "warn") return compile_unlocked(inputs, outputs, options);
  options.on_unused_input = "raise";
  std::string complaint;
  try {
    return compile_unlocked(inputs, outputs, options);
  } catch (const UnusedInputError& error) {
    complaint = error.what();
  }
  options.on_unused_input = "ignore";
  Function compiled = compile_unlocked(inputs, outputs, options);
  if (PyErr_WarnEx(PyExc_UserWarning, complaint.c_str(), 2) < 0) nb::raise_python_error();
  return compiled;
}

FunctionObject make_function(const Variables& inputs, const std::vector<std::string>& input_names, Any outputs,
                             const std::string& form, nb::list keys, Any updates, Any givens,
                             const std::optional<Mode>& mode, const std::string& name,
                             const std::string& on_unused_input, std::optional<bool> allow_input_downcast, bool profile,
                             std::optional<int> threads) {
  const Downcast downcast = downcast_of(allow_input_downcast);
  FunctionOptions options;
  options.updates = typed_replacements(updates, "updates");
  options.givens = typed_replacements(givens, "givens");
  options.mode = mode;
  options.name = name;
  options.on_unused_input = on_unused_input;
  options.profile = profile;
  options.threads = threads;
  // Float literals have been converted by the time a call is made.
  options.allow_input_downcast = downcast == Downcast::Always ? Downcast::Always : Downcast::Never;
  Variables results = as_variables(outputs, "function: outputs");
  std::vector<nb::object> names;
  for (nb::handle key : keys) names.push_back(nb::borrow(key));
  Function compiled = compile(inputs, results, options);
  return FunctionObject(std::move(compiled), form_of(form), std::move(names), input_names, downcast);
}

FunctionGraphObject graph_of(const FunctionObject& self) {
  auto held = std::make_shared<Function>(self.function);
  const FunctionGraph* graph = &held->graph();
  return {std::shared_ptr<const FunctionGraph>(std::move(held), graph), nullptr};
}

// Compiles once per set of given variables.
Any eval(nb::handle object, Any given, nb::kwargs options) {
  VariableObject& self = variable_object_of(object);
  Variables inputs;
  nb::list values;
  if (!given.is_none()) {
    if (!nb::isinstance<nb::dict>(given))
      throw TypeError(cat("eval: expected a dict from variables to values, got ", shown(given)));
    Variables leaves;
    for (auto [key, value] : nb::borrow<nb::dict>(given)) {
      if (PyUnicode_Check(key.ptr())) {
        if (leaves.empty()) leaves = explicit_graph_inputs(Variables{self.variable});
        const std::string name = nb::cast<std::string>(key);
        Variables found;
        for (auto& leaf : leaves)
          if (leaf.name() == name) found.push_back(leaf);
        if (found.size() != 1)
          throw KeyError(cat("eval: ", found.empty() ? "no input is" : "several inputs are", " called ", name));
        inputs.push_back(found[0]);
      } else if (is_variable(key)) {
        inputs.push_back(variable_of(key));
      } else {
        throw TypeError(cat("eval: expected variables or their names as keys, got ", shown(key)));
      }
      values.append(value);
    }
  }
  nb::object compiled;
  auto same = [&](const Variables& others) {
    return std::equal(inputs.begin(), inputs.end(), others.begin(), others.end(),
                      [](const Variable& a, const Variable& b) { return a.same_as(b); });
  };
  if (options.size() == 0)
    for (auto& [others, function] : self.functions)
      if (same(others)) compiled = function;
  if (!compiled) {
    compiled = nb::module_::import_("bitale.compile.function").attr("function")(nb::cast(inputs), object, **options);
    if (options.size() == 0) self.functions.emplace_back(inputs, compiled);
  }
  return compiled(*values);
}

void bind_function_class(nb::module_& m) {
  using Self = FunctionObject;
  nb::class_<Self> cls(m, "Function", nb::type_slots(function_slots),
                       "A compiled function: f(*inputs), with inputs also by name. Calls may come from many threads.");
  make_callable(cls);
  cls.def_prop_ro("name",
                  [](const Self& self) -> std::optional<std::string> {
                    if (self.function.name().empty()) return {};
                    return self.function.name();
                  })
      .def_prop_ro(
          "inputs", [](const Self& self) { return self.function.inputs(); }, "The input variables.")
      .def_prop_ro("fgraph", graph_of, "The graph after rewriting; the expressions of updates follow the outputs.")
      .def_prop_ro(
          "maker", [](nb::handle self) { return nb::module_::import_("bitale.compile.function").attr("Maker")(self); },
          "What it was made from: maker.fgraph, maker.mode.")
      .def_prop_ro("mode", [](const Self& self) { return self.function.mode(); })
      .def_prop_ro(
          "times",
          [](const Self& self) {
            nb::dict out;
            out["rewrite"] = self.function.times().rewrite;
            out["lower"] = self.function.times().lower;
            out["codegen"] = self.function.times().codegen;
            out["total"] = self.function.times().total;
            return out;
          },
          nb::sig("def times(self) -> dict[str, float]"), "Milliseconds spent compiling, by phase.")
      .def(
          "explain", [](const Self& self) { return self.function.explain(); },
          "For every node of the final graph, the rewrite rules that made it and the line it came from.")
      .def(
          "export_c",
          [](const Self& self, nb::handle folder, const std::optional<std::string>& name) {
            const nb::object path = nb::steal(PyOS_FSPath(folder.ptr()));
            if (!path.is_valid()) nb::raise_python_error();
            return export_c(self.function, nb::cast<std::string>(path), {.name = name.value_or("")});
          },
          "folder"_a, "name"_a = nb::none(),
          nb::sig("def export_c(self, folder: str | os.PathLike[str], name: str | None = None) -> list[str]"),
          "Writes NAME.c, NAME.h and CMakeLists.txt into the folder, and returns their paths: C99 that needs the C "
          "library "
          "alone, allocates nothing and may be called from many threads. NotImplementedError names what can't be "
          "exported.")
      .def(
          "address",
          [](const Self& self, const std::string& form) {
            return reinterpret_cast<std::uintptr_t>(address(self.function, form));
          },
          "form"_a,
          "The address of a C function that calls this one, valid until the process ends. Forms: value_and_grad, "
          "int f(size_t n, const double *x, double *grad, double *value, const void *user), of a function of one "
          "vector "
          "with a scalar and a vector output; and SciPy's double (double), double (double, void *), double (int, "
          "double "
          "*), double (int, double *, void *). After an error the first returns 1 and the others nan. Calls may come "
          "from "
          "many threads at once. TypeError when the function's inputs or outputs don't fit.")
      .def(
          "get_shared", [](const Self& self) { return self.function.shared_variables(); },
          "The shared variables it reads or updates.")
      .def_prop_ro(
          "_output_labels", [](const Self& self) { return self.function.output_labels(); },
          "What to say of each expression of fgraph: \"update of W\".")
      .def(
          "_text", [](const Self& self, const std::string& stage) { return self.function.dprint(stage); },
          "stage"_a = "graph")
      .def("__repr__", [](const Self& self) { return cat("<Function ", self.function.name(), ">"); });
  m.def("make_function", make_function, "inputs"_a, "input_names"_a, "outputs"_a, "form"_a, "keys"_a,
        "updates"_a.none(), "givens"_a.none(), "mode"_a.none(), "name"_a, "on_unused_input"_a,
        "allow_input_downcast"_a.none(), "profile"_a = false, "threads"_a = nb::none(), nb::call_guard<AtCaller>());
  variable_class(m).def(
      "eval", eval, "inputs_to_values"_a = nb::none(), "options"_a,
      nb::sig("def eval(self, inputs_to_values: dict[typing.Any, typing.Any] | None = None, **options: typing.Any) -> "
              "numpy.typing.NDArray[typing.Any]"),
      "The value, given those of the inputs: {x: 1.0} or {\"x\": 1.0}. Options are those of function().");
}

void bind_shared(nb::module_& m) {
  nb::class_<TensorSharedVariableObject, TensorVariableObject>(m, "TensorSharedVariable",
                                                               "A variable with a value that lives between calls.")
      .def(
          "get_value",
          [](const TensorSharedVariableObject& self, bool borrow, bool) {
            return to_numpy(get_value(self.variable, borrow));
          },
          "borrow"_a = false, "return_internal_type"_a = false,
          nb::sig("def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> "
                  "numpy.typing.NDArray[typing.Any]"),
          "The value: a copy, unless borrow.")
      .def(
          "set_value",
          [](const TensorSharedVariableObject& self, Any value, bool borrow) {
            const TensorType& type = self.variable.tensor();
            set_value(self.variable, value_for(type, value, Downcast::FloatLiteral), borrow);
          },
          "new_value"_a, "borrow"_a = false, "Stores a copy of the value (the array itself, if borrow).")
      .def(
          "zero",
          [](const TensorSharedVariableObject& self, bool) {
            Array value = get_value(self.variable, true);
            set_value(self.variable, Array::zeros(value.dtype(), value.shape()), true);
          },
          "borrow"_a = false, "Sets all elements to zero.");
  m.attr("SharedVariable") = m.attr("TensorSharedVariable");
  m.def(
      "make_shared",
      [](Any value, const std::optional<std::string>& name, bool borrow, Any shape) {
        if (is_variable(value))
          throw TypeError(cat("shared: expected a value, got the symbolic variable ", variable_of(value).str()));
        std::optional<Dims> static_shape;
        if (!shape.is_none()) static_shape = as_static_shape(shape);
        return shared(array_from(value, Share::Borrow), name.value_or(""), borrow, static_shape);
      },
      "value"_a, "name"_a.none(), "borrow"_a, "shape"_a.none(), nb::call_guard<AtCaller>(),
      nb::sig("def make_shared(value: typing.Any, name: str | None, borrow: bool, shape: typing.Any | None) -> "
              "TensorSharedVariable"));
}

void bind_mode(nb::module_& m) {
  nb::class_<Mode>(m, "Mode", "How to compile: a linker, and which rewrites.")
      .def(nb::init<std::string, std::string>(), "linker"_a = "jit", "optimizer"_a = "fast_run")
      .def_prop_ro("linker", &Mode::linker)
      .def_prop_ro("optimizer", &Mode::optimizer)
      .def(
          "including",
          [](const Mode& self, nb::args tags) { return self.including(nb::cast<std::vector<std::string>>(tags)); },
          "tags"_a, "With the rewrites of these tags or names too.")
      .def(
          "excluding",
          [](const Mode& self, nb::args tags) { return self.excluding(nb::cast<std::vector<std::string>>(tags)); },
          "tags"_a, "Without the rewrites of these tags or names.")
      .def(
          "requiring",
          [](const Mode& self, nb::args tags) { return self.requiring(nb::cast<std::vector<std::string>>(tags)); },
          "tags"_a, "Only those rewrites that have these tags.")
      .def("__repr__", &Mode::str);
  m.def(
      "get_mode",
      [](Any mode) {
        if (mode.is_none()) return get_default_mode();
        if (auto* given = instance_of<Mode>(mode)) return *given;
        if (!PyUnicode_Check(mode.ptr())) throw TypeError(cat("mode: expected a name or a Mode, got ", shown(mode)));
        return get_mode(nb::cast<std::string>(mode));
      },
      "mode"_a = nb::none(), "The mode of that name; config.mode for None.");
  m.def(
      "get_default_mode", [] { return get_default_mode(); }, "config.mode.");
  m.def(
      "mode_names", [] { return mode_names(); }, "What get_mode accepts.");
}

}  // namespace

void bind_function(nb::module_& m) {
  bind_shared(m);
  bind_mode(m);
  bind_function_class(m);
}

}  // namespace bitale::python
