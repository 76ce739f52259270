// Linkers for Python, with users' functions around each node. bitale.link re-exports them.
#include "linker.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/monitor.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "function_graph.hpp"
#include "held.hpp"
#include "hooks.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

// A node linker of a step. The step is borrowed while the wrapper runs.
struct NodeThunk {
  std::shared_ptr<NodeStep*> lent;
  std::size_t linker;

  NodeStep& step() const {
    if (!*lent) throw ValueError("a node's thunk can be used only until the wrapper it was given to has returned");
    return **lent;
  }
};

// PyTensor's form of storage: a list of one value each. The values are copies, because the call may overwrite its own.
nb::list storage_of(std::span<const Array> values) {
  nb::list out;
  for (auto& value : values) {
    nb::list cell;
    cell.append(to_numpy(value.copy()));
    out.append(cell);
  }
  return out;
}

struct PythonWrapper {
  Held function;

  void operator()(NodeStep& step) const {
    nb::gil_scoped_acquire locked;
    struct StepScope {
      std::shared_ptr<NodeStep*> step;
      ~StepScope() { *step = nullptr; }
    } lent{std::make_shared<NodeStep*>(&step)};
    nb::list arguments;
    arguments.append(FunctionGraphObject{step.graph, nullptr});
    arguments.append(step.index);
    arguments.append(wrap(step.node));
    for (std::size_t linker = 0; linker < step.linker_count; ++linker) arguments.append(NodeThunk{lent.step, linker});
    (*function)(*nb::tuple(arguments));
  }
};

struct PythonInputCallback {
  Held function;
  void operator()(const Variable& variable, const Array& value) const {
    nb::gil_scoped_acquire locked;
    (*function)(variable, to_numpy(value.copy()));
  }
};

struct PythonAgreement {
  Held function;
  bool operator()(const Array& first, const Array& second) const {
    nb::gil_scoped_acquire locked;
    const nb::object answer = (*function)(to_numpy(first.copy()), to_numpy(second.copy()));
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) nb::raise_python_error();
    return truth != 0;
  }
};

nb::object required_callable(nb::handle object, const char* what) {
  if (!PyCallable_Check(object.ptr())) throw TypeError(cat(what, ": expected a function, got ", shown(object)));
  return nb::borrow(object);
}

Linker make_linker(const std::string& name, const std::vector<std::string>& node_linkers, nb::handle wrapper,
                   nb::handle on_input, std::optional<bool> allow_gc) {
  Linker linker(name);
  if (!node_linkers.empty()) linker.node_linkers = wrap_linker(node_linkers, {}).node_linkers;
  linker.allow_gc = allow_gc;
  if (!wrapper.is_none()) linker.wrapper = PythonWrapper{hold(required_callable(wrapper, "wrapper"))};
  if (!on_input.is_none()) linker.on_input = PythonInputCallback{hold(required_callable(on_input, "callback_input"))};
  return linker;
}

struct PythonReport {
  Held function;
  void operator()(const std::string& message) const {
    nb::gil_scoped_acquire locked;
    (*function)(message);
  }
};

// The Python function inside, or None. NotImplementedError for a wrapper that was set from C++.
template <class Python, class Function>
nb::object python_function(const Function& function) {
  if (!function) return nb::none();
  auto* python = function.template target<Python>();
  if (!python) throw NotImplementedError("pickling: a linker with a wrapper that is no Python function");
  return *python->function;
}

Linker make_nan_guard(std::optional<bool> nan, std::optional<bool> inf, std::optional<bool> big,
                      const std::string& action, nb::handle report) {
  NanGuardOptions options{nan, inf, big, action, {}};
  if (!report.is_none()) options.report = PythonReport{hold(required_callable(report, "report"))};
  return nan_guard_linker(options);
}

// What pickle stores: the function that recreates the linker, and its arguments.
nb::object stored(const Linker& self) {
  if (const auto options = nan_guard_options(self))
    return nb::make_tuple(hook("stored_nan_guard"),
                          nb::make_tuple(options->nan_is_error, options->inf_is_error, options->big_is_error,
                                         options->action, python_function<PythonReport>(options->report)));
  if (const ValuesAgree* agree = agreement_of(self))
    return nb::make_tuple(hook("dual_linker"), nb::make_tuple(self.node_linkers.at(0), self.node_linkers.at(1),
                                                              python_function<PythonAgreement>(*agree)));
  return nb::make_tuple(nb::type<Linker>(),
                        nb::make_tuple(self.name, self.node_linkers, python_function<PythonWrapper>(self.wrapper),
                                       python_function<PythonInputCallback>(self.on_input), self.allow_gc));
}

// By the names that users registered; accessed only with the GIL held.
std::map<std::string, Linker>& registered_linkers() {
  static auto& table = *new std::map<std::string, Linker>;
  return table;
}

}  // namespace

Linker linker_of(nb::handle object) {
  if (auto* linker = instance_of<Linker>(object)) return *linker;
  if (PyUnicode_Check(object.ptr())) {
    const auto name = nb::cast<std::string>(object);
    if (auto found = registered_linkers().find(name); found != registered_linkers().end()) return found->second;
    return Linker(name);
  }
  throw TypeError(cat("linker: expected a name or a Linker, got ", shown(object)));
}

void bind_linker(nb::module_& m) {
  nb::class_<NodeThunk>(m, "NodeThunk",
                        "One node of a running call, and one of its node linkers: thunk(). Only for as long as the "
                        "function lasts that it is given to (ValueError afterwards).")
      .def(
          "__call__",
          [](const NodeThunk& self) {
            NodeStep& step = self.step();
            nb::gil_scoped_release unlocked;
            step.run(self.linker);
          },
          "Computes the node's outputs.")
      .def_prop_ro(
          "inputs", [](const NodeThunk& self) { return storage_of(self.step().inputs); },
          nb::sig("def inputs(self) -> list[list[numpy.typing.NDArray[typing.Any]]]"),
          "Copies of the values of the node's inputs, each in a list of its own, as in PyTensor.")
      .def_prop_ro(
          "outputs", [](const NodeThunk& self) { return storage_of(self.step().outputs(self.linker)); },
          nb::sig("def outputs(self) -> list[list[numpy.typing.NDArray[typing.Any]]]"),
          "The same of the outputs; an empty list before the node has run.");

  nb::class_<Linker>(m, "Linker", "How a compiled graph is run: a name, and what is called around each node.")
      .def(
          "__init__",
          [](Linker* self, const std::string& name, const std::vector<std::string>& node_linkers, nb::handle wrapper,
             nb::handle on_input, std::optional<bool> allow_gc) {
            new (self) Linker(make_linker(name, node_linkers, wrapper, on_input, allow_gc));
          },
          "name"_a, "node_linkers"_a = std::vector<std::string>(), "wrapper"_a.none() = nb::none(),
          "on_input"_a.none() = nb::none(), "allow_gc"_a = nb::none(),
          nb::sig("def __init__(self, name: str, node_linkers: typing.Sequence[str] = (), "
                  "wrapper: typing.Callable[..., typing.Any] | None = None, "
                  "on_input: typing.Callable[..., typing.Any] | None = None, allow_gc: bool | None = None) -> None"),
          "node_linkers: the linkers that run the nodes, of a linker that goes node by node. allow_gc: whether values "
          "are let "
          "go of "
          "as soon as no node needs them; default: config.allow_gc. ValueError for an unknown name.")
      .def_ro("name", &Linker::name)
      .def_ro("node_linkers", &Linker::node_linkers)
      .def("__reduce__", stored, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .def("__repr__", [](const Linker& self) { return cat("Linker(", self.name, ")"); });
  m.def(
      "make_dual_linker",
      [](const std::string& first, const std::string& second, nb::handle checker) {
        if (checker.is_none()) return dual_linker(first, second);
        return dual_linker(first, second, PythonAgreement{hold(required_callable(checker, "checker"))});
      },
      "first"_a, "second"_a, "checker"_a.none());
  m.def("make_nan_guard_linker", make_nan_guard, "nan_is_error"_a.none(), "inf_is_error"_a.none(),
        "big_is_error"_a.none(), "action"_a, "report"_a.none());
  m.def(
      "register_linker",
      [](const std::string& name, const Linker& linker) { registered_linkers().insert_or_assign(name, linker); },
      "name"_a, "linker"_a);
  m.def("registered_linkers", [] { return registered_linkers(); });
  m.def("linker_names", [] { return linker_names(); });
}

}  // namespace bitale::python
