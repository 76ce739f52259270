#include "function_maker.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/maker.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "debug_mode.hpp"
#include "define.hpp"
#include "function_graph.hpp"
#include "function_object.hpp"
#include "held.hpp"
#include "hooks.hpp"
#include "identity_test.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"
#include "values.hpp"

namespace bitale::python {

namespace {

// The replacement of a variable: another variable, or a value of its type.
Replacements typed_replacements(nb::handle pairs, const char* what) {
  Replacements out;
  for (auto& [before, after] : as_pairs(pairs, what)) {
    const Variable target = require_variable(before, what);
    if (is_variable(after)) {
      out.emplace_back(target, variable_of(after));
      continue;
    }
    if (as_tensor(target.type())) refuse_truth_value(after);
    out.emplace_back(target, constant_of(target.type(), value_from(*target.type(), after)));
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

// From (name, shared variable with the default or None, strict, allow_downcast).
using StoredInput = std::tuple<std::string, nb::object, bool, std::optional<bool>>;
std::vector<FunctionObject::Input> inputs_of(const std::vector<StoredInput>& stored) {
  std::vector<FunctionObject::Input> out;
  for (auto& [name, value, strict, allow_downcast] : stored)
    out.push_back({name, value.is_none() ? Variable() : variable_of(value), strict, downcast_of(allow_downcast)});
  return out;
}

// A mode's maker that is a Python class. The maker that it replaces is kept, because the class uses its steps by
// default.
class PythonMaker final : public MakerFactory {
 public:
  PythonMaker(nb::object kind, std::shared_ptr<const MakerFactory> steps)
      : name_(nb::cast<std::string>(nb::str(nb::getattr(kind, "__name__", nb::str("function_maker"))))),
        kind_(hold(std::move(kind))),
        steps_(std::move(steps)) {}
  std::string name() const override { return name_; }
  std::unique_ptr<FunctionMaker> make(const Variables&, const Variables&, const FunctionOptions&) const override {
    throw NotImplementedError(
        cat("function: the mode's maker ", name_, " is a Python class, which does not compile this function"));
  }
  const nb::object& kind() const { return *kind_; }
  const std::shared_ptr<const MakerFactory>& steps() const { return steps_; }

 private:
  const std::string name_;
  const Held kind_;
  const std::shared_ptr<const MakerFactory> steps_;
};

const PythonMaker* python_maker(const Mode& mode) { return dynamic_cast<const PythonMaker*>(mode.maker().get()); }

// The steps of one function.
class Steps {
 public:
  Steps(const Variables& inputs, const Variables& outputs, const FunctionOptions& options)
      : maker_(make_maker(inputs, outputs, options)) {
    graph_ = nb::cast(FunctionGraphObject{maker_->graph(), maker_->graph().get()});
  }

  FunctionMaker& maker() const { return *maker_; }
  const nb::object& graph() const { return graph_; }
  void rewrite() const {
    nb::gil_scoped_release unlocked;
    maker_->rewrite();
  }
  // Afterwards the graph is read-only.
  void link() const {
    instance_of<FunctionGraphObject>(graph_)->writable = nullptr;
    nb::gil_scoped_release unlocked;
    maker_->link();
  }
  Function create(const Replacements& storage, const std::string& name, const Variables& defaults) const {
    return maker_->create(storage, name, defaults);
  }

 private:
  std::shared_ptr<FunctionMaker> maker_;
  nb::object graph_;
};

// With the policy "warn", an unused input causes a Python warning.
Steps checked_steps(const Variables& inputs, const Variables& outputs, FunctionOptions options) {
  const std::string policy = options.on_unused_input.empty() ? config::get("on_unused_input") : options.on_unused_input;
  if (policy != "warn") return Steps(inputs, outputs, options);
  options.on_unused_input = "raise";
  std::string complaint;
  try {
    return Steps(inputs, outputs, options);
  } catch (const UnusedInputError& error) {
    complaint = error.what();
  }
  options.on_unused_input = "ignore";
  Steps steps(inputs, outputs, options);
  if (PyErr_WarnEx(PyExc_UserWarning, complaint.c_str(), 4) < 0) nb::raise_python_error();
  return steps;
}

Steps make_steps(const Variables& inputs, Any outputs, Any updates, Any givens, const std::optional<Mode>& mode,
                 const std::string& name, const std::string& on_unused_input, std::optional<bool> profile,
                 std::optional<int> threads) {
  FunctionOptions options;
  options.updates = typed_replacements(updates, "updates");
  options.givens = typed_replacements(givens, "givens");
  options.mode = mode;
  if (mode)
    if (auto* python = python_maker(*mode)) options.mode = mode->making(python->steps());
  options.name = name;
  options.on_unused_input = on_unused_input;
  options.profile = profile;
  options.threads = threads;
  options.allow_input_downcast = Downcast::Never;  // a call's arguments have been converted before
  return checked_steps(inputs, as_variables(outputs, "function: outputs"), std::move(options));
}

FunctionObject create(const Steps& steps, Any storage, const std::string& name, const std::string& form, nb::list keys,
                      const std::vector<StoredInput>& input_options) {
  std::vector<nb::object> names;
  for (nb::handle key : keys) names.push_back(nb::borrow(key));
  auto inputs = inputs_of(input_options);
  Variables defaults;
  for (auto& input : inputs) defaults.push_back(input.default_value);
  if (std::all_of(defaults.begin(), defaults.end(), [](const Variable& one) { return !one.defined(); }))
    defaults.clear();
  return FunctionObject(steps.create(typed_replacements(storage, "input_storage"), name, defaults), form_of(form),
                        std::move(names), std::move(inputs));
}

nb::object usual_maker() { return hook("function_maker"); }

nb::object maker_class(const Mode& mode) {
  auto* python = python_maker(mode);
  return python ? python->kind() : usual_maker();
}

Mode with_function_maker(const Mode& mode, nb::object kind) {
  if (!PyCallable_Check(kind.ptr()))
    throw TypeError(cat("Mode: function_maker: expected a class such as FunctionMaker, got ", shown(kind)));
  auto* before = python_maker(mode);
  return mode.making(std::make_shared<const PythonMaker>(std::move(kind), before ? before->steps() : mode.maker()));
}

}  // namespace

nb::object stored_maker(nb::handle object) {
  const Mode& mode = *instance_of<Mode>(object);
  const auto* python = python_maker(mode);
  const nb::object steps = stored_debug_options(python ? mode.making(python->steps()) : mode);
  const nb::object kind = object.attr("function_maker");  // a subclass may override it
  return kind.is(usual_maker()) ? steps : nb::make_tuple(kind, steps);
}

void bind_function_maker(nb::module_& m) {
  nb::class_<Steps>(m, "FunctionSteps", "The steps of function(); see bitale.compile.FunctionMaker.")
      .def_prop_ro(
          "fgraph", [](const Steps& self) { return self.graph(); }, nb::sig("def fgraph(self) -> FunctionGraph"))
      .def_prop_ro("mode", [](const Steps& self) { return self.maker().mode(); })
      .def_prop_ro("shared", [](const Steps& self) { return self.maker().shared_variables(); })
      .def_prop_ro("updates", [](const Steps& self) { return self.maker().updates(); })
      .def_prop_ro("linked", [](const Steps& self) { return self.maker().is_linked(); })
      .def("rewrite", &Steps::rewrite)
      .def("link", &Steps::link)
      .def("create", create, "storage"_a, "name"_a, "form"_a, "keys"_a, "input_options"_a);
  m.def("make_steps", make_steps, "inputs"_a, "outputs"_a, "updates"_a.none(), "givens"_a.none(), "mode"_a.none(),
        "name"_a, "on_unused_input"_a, "profile"_a.none(), "threads"_a.none(), nb::call_guard<AtCaller>());
  nb::borrow<nb::class_<Mode>>(m.attr("Mode"))
      .def_prop_ro("function_maker", maker_class, nb::sig("def function_maker(self) -> typing.Any"),
                   "What makes functions: FunctionMaker, or a class that takes a step in another way.")
      .def("with_function_maker", with_function_maker, "function_maker"_a,
           "The same mode, whose functions are made by that subclass of bitale.compile.FunctionMaker. TypeError for "
           "what can't be called.");
}

}  // namespace bitale::python
