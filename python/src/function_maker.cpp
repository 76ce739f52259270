#include "function_maker.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "caller.hpp"
#include "core/compile_stage.hpp"
#include "debug_mode.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "function_graph.hpp"
#include "function_object.hpp"
#include "held.hpp"
#include "hooks.hpp"
#include "instance.hpp"
#include "linker.hpp"

namespace bitale::python {

namespace {

// ---- modes with a maker that is a Python class
// ------------------------------------------------------------------------

// The maker that the class replaces is kept, because the class uses its steps by default.
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

nb::object usual_maker() { return nb::borrow(nb::type<FunctionMakerObject>()); }

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

// ---- steps
// ------------------------------------------------------------------------------------------------------------

std::shared_ptr<FunctionMaker> steps_of(const FunctionArguments& arguments) {
  const Variables inputs = arguments.explicit_inputs(), outputs = arguments.expressions();
  FunctionOptions options = arguments.options();
  if (options.mode)
    if (auto* python = python_maker(*options.mode)) options.mode = options.mode->making(python->steps());
  const OnUnusedInput policy = options.on_unused_input.value_or(on_unused_input_named(config::get("on_unused_input")));
  if (policy != OnUnusedInput::Warn) return make_maker(inputs, outputs, options);
  // The library prints a warning; here it is one of Python's.
  options.on_unused_input = OnUnusedInput::Raise;
  std::string complaint;
  try {
    return make_maker(inputs, outputs, options);
  } catch (const UnusedInputError& error) {
    complaint = error.what();
  }
  options.on_unused_input = OnUnusedInput::Ignore;
  std::shared_ptr<FunctionMaker> steps = make_maker(inputs, outputs, options);
  if (PyErr_WarnEx(PyExc_UserWarning, complaint.c_str(), 1) < 0) nb::raise_python_error();
  return steps;
}

FunctionMakerObject made_of(FunctionArguments arguments) {
  FunctionMakerObject out;
  out.arguments = std::move(arguments);
  out.steps = steps_of(out.arguments);
  out.graph = nb::cast(FunctionGraphObject{out.steps->graph(), out.steps->graph().get()});
  for (auto& input : out.arguments.inputs) out.made_with.push_back(input.container);
  return out;
}

void rewrite(const FunctionMakerObject& self) {
  nb::gil_scoped_release unlocked;
  self.steps->rewrite();
}

// Afterwards the graph is read-only.
void link(const FunctionMakerObject& self) {
  instance_of<FunctionGraphObject>(self.graph)->writable = nullptr;
  nb::gil_scoped_release unlocked;
  self.steps->link();
}

FunctionMakerObject& maker_object(nb::handle maker) {
  if (auto* object = instance_of<FunctionMakerObject>(maker)) return *object;
  throw TypeError(cat("expected a FunctionMaker, got ", shown(maker)));
}

bool may_override_steps(nb::handle maker) { return !maker.type().is(nb::type<FunctionMakerObject>()); }

// The first two steps, as a subclass takes them.
void take_first_steps(nb::handle maker, bool rewrites) {
  FunctionMakerObject& self = maker_object(maker);
  if (!may_override_steps(maker)) {
    if (rewrites) rewrite(self);
    return;
  }
  self.graph = maker.attr("create_fgraph")();
  if (rewrites) maker.attr("prepare_fgraph")(self.graph);
}

// ---- functions
// --------------------------------------------------------------------------------------------------------

// Which shared variables stand in for those that the code knows.
Replacements storage_of(const FunctionMakerObject& self) {
  Replacements out;
  const Variables& known = self.steps->shared_variables();
  for (std::size_t i = 0; i < self.made_with.size(); ++i) {
    const Variable &before = self.made_with[i], &after = self.arguments.inputs[i].container;
    if (!before.defined() || !after.defined() || before.same_as(after)) continue;
    if (std::any_of(known.begin(), known.end(), [&](const Variable& one) { return one.same_as(before); }))
      out.emplace_back(before, after);
  }
  return out;
}

std::vector<FunctionObject::Input> accepted_inputs(const FunctionArguments& arguments) {
  std::vector<FunctionObject::Input> out;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) {
    const InObject& input = arguments.inputs[i];
    if (arguments.is_explicit(i))
      out.push_back({input.name.value_or(""), input.container, input.strict,
                     downcast_of(input.allow_downcast ? input.allow_downcast : arguments.allow_input_downcast)});
  }
  return out;
}

// A maker of the same code, some of whose inputs have other containers.
nb::object maker_holding(nb::handle maker, nb::handle storage) {
  FunctionArguments arguments = maker_object(maker).arguments;
  std::vector<nb::object> values;
  for (nb::handle one : storage) values.push_back(nb::borrow(one));
  if (values.size() != arguments.inputs.size())
    throw ValueError(cat("create: expected storage for ", arguments.inputs.size(), " inputs, got ", values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_none()) continue;
    arguments.inputs[i].hold(values[i]);
    arguments.inputs[i].store();
  }
  return maker_with(maker, std::move(arguments));
}

}  // namespace

nb::object create_function(nb::handle maker) {
  FunctionMakerObject& self = maker_object(maker);
  if (!self.steps->is_linked()) {
    if (may_override_steps(maker)) maker.attr("link")(self.graph);
    link(self);
  }
  auto inputs = accepted_inputs(self.arguments);
  Variables defaults;
  for (auto& input : inputs) defaults.push_back(input.default_value);
  if (std::all_of(defaults.begin(), defaults.end(), [](const Variable& one) { return !one.defined(); }))
    defaults.clear();
  FunctionObject made(self.steps->create(storage_of(self), self.arguments.name.value_or(""), defaults),
                      self.arguments.form, std::move(inputs), self.arguments.call_form());
  made.maker = nb::borrow(maker);
  made.trust_input = self.arguments.trust_input;
  return nb::cast(std::move(made));
}

nb::object maker_with(nb::handle maker, FunctionArguments arguments) {
  FunctionMakerObject changed = maker_object(maker);
  changed.arguments = std::move(arguments);
  const nb::object out = nb::inst_alloc(maker.type());
  new (nb::inst_ptr<FunctionMakerObject>(out)) FunctionMakerObject(std::move(changed));
  nb::inst_mark_ready(out);
  if (may_override_steps(maker)) out.attr("__dict__").attr("update")(maker.attr("__dict__"));
  return out;
}

FunctionMakerObject& maker_of(nb::handle function) {
  auto* object = instance_of<FunctionObject>(function);
  if (!object) throw TypeError(cat("expected a compiled function, got ", shown(function)));
  return maker_object(object->maker);
}

nb::object make_function(const GivenArguments& given) {
  const CompileStageScope whole("compiling");
  const nb::object mode = mode_or_default(given.mode);
  const nb::object kind = mode.is_none() ? maker_class(get_default_mode()) : nb::object(mode.attr("function_maker"));
  if (kind.is(usual_maker())) {
    const nb::object maker = nb::inst_alloc(kind);
    new (nb::inst_ptr<FunctionMakerObject>(maker)) FunctionMakerObject(made_of(parse_arguments(given)));
    nb::inst_mark_ready(maker);
    take_first_steps(maker, true);
    return create_function(maker);
  }
  const nb::object maker =
      kind(given.inputs, given.outputs, mode, nb::arg("updates") = given.updates, nb::arg("givens") = given.givens,
           nb::arg("name") = given.name, nb::arg("allow_input_downcast") = given.allow_input_downcast,
           nb::arg("profile") = given.profile, nb::arg("on_unused_input") = given.on_unused_input,
           nb::arg("trust_input") = given.trust_input, nb::arg("threads") = given.threads,
           nb::arg("no_default_updates") = given.no_default_updates);
  return maker.attr("create")();
}

nb::object stored_maker(nb::handle object) {
  const Mode& mode = *instance_of<Mode>(object);
  const auto* python = python_maker(mode);
  const nb::object steps = stored_debug_options(python ? mode.making(python->steps()) : mode);
  const nb::object kind = object.attr("function_maker");  // a subclass may override it
  return kind.is(usual_maker()) ? steps : nb::make_tuple(kind, steps);
}

void bind_function_maker(nb::module_& m) {
  using Self = FunctionMakerObject;
  nb::class_<Self>(m, "FunctionMaker", nb::dynamic_attr(), "Makes functions, step by step.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<Self> self, Any inputs, Any outputs, Any mode, Any accept_inplace, Any updates,
             Any givens, Any name, Any allow_input_downcast, Any profile, Any on_unused_input, Any trust_input,
             Any threads, Any no_fgraph_prep, Any no_default_updates) {
            optional_flag(accept_inplace, "FunctionMaker: accept_inplace");
            new (self.p)
                Self(made_of(parse_arguments({inputs, outputs, mode, updates, givens, no_default_updates, name,
                                              allow_input_downcast, profile, on_unused_input, trust_input, threads})));
            nb::inst_mark_ready(self.h);  // a subclass's steps call this object
            take_first_steps(self.h, !optional_flag(no_fgraph_prep, "FunctionMaker: no_fgraph_prep").value_or(false));
          },
          "inputs"_a.none(), "outputs"_a = nb::none(), "mode"_a = nb::none(), "accept_inplace"_a = false,
          "updates"_a = nb::none(), "givens"_a = nb::none(), "name"_a = nb::none(),
          "allow_input_downcast"_a = nb::none(), "profile"_a = nb::none(), "on_unused_input"_a = nb::none(),
          "trust_input"_a = false, "threads"_a = nb::none(), "no_fgraph_prep"_a = false, "no_default_updates"_a = false,
          nb::call_guard<AtCaller>(),
          nb::sig("def __init__(self, inputs: collections.abc.Sequence[Variable | In], outputs: typing.Any = None, "
                  "mode: str | Mode | None = None, accept_inplace: bool = False, updates: typing.Any = None, givens: "
                  "typing.Any = None, name: str | None = None, allow_input_downcast: bool | None = None, profile: bool "
                  "| str | None = None, on_unused_input: str | None = None, trust_input: bool = False, threads: int | "
                  "None = None, no_fgraph_prep: bool = False, no_default_updates: bool | "
                  "collections.abc.Sequence[Variable] = False) -> None"))
      .def_prop_ro(
          "inputs", [](const Self& self) { return self.arguments.inputs; },
          "Inputs, with their containers: one for each variable.")
      .def_prop_ro(
          "given_inputs", [](const Self& self) { return self.arguments.given_inputs; },
          "Inputs as they were given: those made of several variables have a tree.")
      .def_prop_ro(
          "outputs", [](const Self& self) { return self.arguments.outputs; },
          "Outputs, without their form: one for each variable.")
      .def_prop_ro(
          "given_outputs", [](const Self& self) { return self.arguments.given_outputs; },
          "Outputs as they were given: those made of several variables have a tree.")
      .def_prop_ro(
          "mode",
          [](const Self& self) {
            return self.arguments.mode.is_none() ? nb::cast(self.steps->mode()) : self.arguments.mode;
          },
          nb::sig("def mode(self) -> Mode"), "How the function is compiled.")
      .def_prop_ro(
          "linker", [](const Self& self) { return linker_object(self.steps->mode().linker()); },
          nb::sig("def linker(self) -> typing.Any"), "The linker, which equals its name.")
      .def_prop_ro(
          "fgraph", [](const Self& self) { return self.graph; }, nb::sig("def fgraph(self) -> FunctionGraph"),
          "The graph, which may be changed until it is linked.")
      .def_prop_ro(
          "shared", [](const Self& self) { return self.steps->shared_variables(); },
          "The shared variables that the graph reads or updates: the last of its inputs.")
      .def_prop_ro(
          "update_mapping",
          [](const Self& self) {
            nb::dict out;
            for (auto& [output, input] : self.steps->updates()) out[nb::int_(output)] = input;
            return out;
          },
          nb::sig("def update_mapping(self) -> dict[int, int]"),
          "Which output of fgraph is the new value of which of its inputs.")
      .def_prop_ro(
          "arguments", [](const Self& self) { return self.arguments.keywords(); },
          nb::sig("def arguments(self) -> dict[str, typing.Any]"),
          "Arguments of function() that make the same: what pickle stores.")
      .def(
          "create_fgraph", [](const Self& self) { return self.graph; },
          nb::sig("def create_fgraph(self) -> FunctionGraph"),
          "The graph: copies of the inputs and the shared variables; the outputs, and the new values of updates.")
      .def(
          "prepare_fgraph", [](const Self& self, nb::handle) { rewrite(self); }, "fgraph"_a,
          nb::sig("def prepare_fgraph(self, fgraph: FunctionGraph) -> None"), "Rewrites the graph as the mode says.")
      .def(
          "link", [](const Self& self, nb::handle) { link(self); }, "fgraph"_a,
          nb::sig("def link(self, fgraph: FunctionGraph) -> None"),
          "Makes what runs the graph, which can't change any more. Happens once, whatever create() makes of it.")
      .def(
          "create",
          [](nb::handle self, Any storage) {
            return create_function(storage.is_none() ? nb::borrow(self) : maker_holding(self, storage));
          },
          "input_storage"_a = nb::none(), nb::call_guard<AtCaller>(),
          nb::sig("def create(self, input_storage: collections.abc.Sequence[typing.Any] | None = None) -> Function"),
          "The callable.\n\ninput_storage: for each input None (its own container, if it has one), a Container or "
          "shared variable to use instead, or a value to start with. TypeError for what does not fit the input, "
          "ValueError for another number of entries. Functions of one maker share code, and the containers that are "
          "not given.")
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(hook("stored_function_maker"),
                                   nb::make_tuple(self.type(), maker_object(self).arguments.keywords()));
           })
      .def("__repr__", [](nb::handle self) {
        const FunctionMakerObject& maker = maker_object(self);
        return cat("<", nb::cast<std::string>(self.type().attr("__name__")), " ", maker.arguments.name.value_or(""),
                   ">");
      });
  nb::borrow<nb::class_<Mode>>(m.attr("Mode"))
      .def_prop_ro("function_maker", maker_class, nb::sig("def function_maker(self) -> typing.Any"),
                   "What makes functions: FunctionMaker, or a class that takes a step in another way.")
      .def("with_function_maker", with_function_maker, "function_maker"_a,
           "The same mode, whose functions are made by that subclass of bitale.compile.FunctionMaker. TypeError for "
           "what can't be called.");
}

}  // namespace bitale::python
