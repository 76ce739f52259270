// Linkers for Python, with users' functions around each node, and linkers that are written in Python. bitale.link
// derives its classes from them.
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
#include "link/linker.hpp"
#include "numpy_bridge.hpp"
#include "values.hpp"

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

// The code of a graph by a linker that is written in Python. `call` takes the inputs' values as a list, and returns the
// outputs' as another.
struct PythonGraphCode {
  std::shared_ptr<const FunctionGraph> graph;
  Held call;

  std::vector<Array> operator()(std::span<const Array> inputs) const {
    nb::gil_scoped_acquire locked;
    nb::list given;
    for (std::size_t i = 0; i < inputs.size(); ++i)  // copies: a buffer has no owner that Python could keep alive
      given.append(value_object(*graph->inputs()[i].type(), inputs[i].copy()));
    nb::object results = (*call)(std::move(given));
    const Variables& outputs = graph->outputs();
    if (!PyList_Check(results.ptr()) || nb::len(results) != outputs.size())
      throw TypeError(cat("linker: expected a list of ", outputs.size(), " results, got ", shown(results)));
    std::vector<Array> out;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      nb::object result = nb::borrow(PyList_GET_ITEM(results.ptr(), Py_ssize_t(k)));
      PyList_SetItem(results.ptr(), Py_ssize_t(k), nb::none().release().ptr());
      try {
        const bool is_ours = !is_ndarray(result) || is_only_holder(result);
        Array value = value_from(*outputs[k].type(), result);
        out.push_back(is_ours ? std::move(value) : value.copy());
      } catch (Error& error) {
        error.add("in", cat("output ", k, " (`", outputs[k].str(), "`)"));
        throw;
      }
    }
    return out;
  }
};

struct PythonGraphLinker {
  Held linker;

  GraphCode operator()(const std::shared_ptr<const FunctionGraph>& graph,
                       std::span<const std::pair<std::size_t, std::size_t>> updates) const {
    nb::gil_scoped_acquire locked;
    const nb::object seen = nb::cast(FunctionGraphObject{graph, nullptr});
    nb::dict mapping;
    for (auto& [output, input] : updates) mapping[nb::int_(output)] = input;
    seen.attr("update_mapping") = mapping;
    return PythonGraphCode{graph, hold(hook("graph_code")(*linker, seen))};
  }
};

std::vector<std::string> texts_of(nb::handle object, const char* name) {
  return nb::cast<std::vector<std::string>>(nb::list(nb::object(object.attr(name))));
}

// A linker whose class makes thunks by methods of its own.
Linker python_linker(nb::handle object) {
  Linker linker =
      graph_linker(nb::cast<std::string>(object.type().attr("__name__")), PythonGraphLinker{hold(nb::borrow(object))});
  linker.required_rewrites = texts_of(object, "required_rewrites");
  linker.excluded_rewrites = texts_of(object, "incompatible_rewrites");
  return linker;
}

nb::object required_callable(nb::handle object, const char* what) {
  if (!PyCallable_Check(object.ptr())) throw TypeError(cat(what, ": expected a function, got ", shown(object)));
  return nb::borrow(object);
}

Linker make_linker(nb::handle name, const std::vector<std::string>& node_linkers, nb::handle wrapper,
                   nb::handle on_input, std::optional<bool> allow_gc) {
  Linker linker = linker_of(name);
  linker.origin = {};  // this is another object
  if (!node_linkers.empty()) linker.node_linkers = wrap_linker(node_linkers, {}).node_linkers;
  if (allow_gc) linker.allow_gc = allow_gc;
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
  if (!python) throw NotImplementedError("pickling: a linker with a wrapper that is not a Python function");
  return *python->function;
}

Linker make_nan_guard(std::optional<bool> nan, std::optional<bool> inf, std::optional<bool> big,
                      const std::string& action, nb::handle report) {
  NanGuardOptions options{nan, inf, big, action, {}};
  if (!report.is_none()) options.report = PythonReport{hold(required_callable(report, "report"))};
  return nan_guard_linker(options);
}

// The attributes of the object, as users and classes of Python have set them.
nb::object members_of(nb::handle object) { return nb::getattr(object, "__dict__", nb::none()); }

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

nb::object linker_object(const Linker& linker) {
  if (linker.origin) return *static_cast<nb::object*>(linker.origin.get());
  return hook("linker_object")(nb::cast(linker));
}

Linker linker_of(nb::handle object) {
  if (nb::isinstance<Linker>(object)) {
    if (!nb::inst_ready(object))
      throw TypeError(
          cat(nb::type_name(object.type()).c_str(), ": its __init__ must call super().__init__() to make a linker"));
    const bool is_plain = object.type().is(nb::type<Linker>());
    if (is_plain) return nb::cast<const Linker&>(object);
    Linker linker = nb::cast<bool>(hook("links_graphs")(nb::borrow(object))) ? python_linker(object)
                                                                             : nb::cast<const Linker&>(object);
    linker.origin = hold(nb::borrow(object));
    return linker;
  }
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
          [](Linker* self, nb::handle name, const std::vector<std::string>& node_linkers, nb::handle wrapper,
             nb::handle on_input, std::optional<bool> allow_gc) {
            new (self) Linker(make_linker(name, node_linkers, wrapper, on_input, allow_gc));
          },
          "name"_a = "jit", "node_linkers"_a = std::vector<std::string>(), "wrapper"_a.none() = nb::none(),
          "on_input"_a.none() = nb::none(), "allow_gc"_a = nb::none(),
          nb::sig("def __init__(self, name: str | Linker = 'jit', node_linkers: typing.Sequence[str] = (), "
                  "wrapper: typing.Callable[..., typing.Any] | None = None, "
                  "on_input: typing.Callable[..., typing.Any] | None = None, allow_gc: bool | None = None) -> None"),
          "name: a name, or a linker to copy. node_linkers: the linkers that run the nodes, of a linker that goes node "
          "by "
          "node. allow_gc: whether values "
          "are let "
          "go of "
          "as soon as no node needs them; default: config.allow_gc. ValueError for an unknown name.")
      .def_ro("name", &Linker::name)
      .def_ro("node_linkers", &Linker::node_linkers)
      .def_ro("allow_gc", &Linker::allow_gc,
              "Whether values are let go of as soon as no node needs them; None: by config.")
      .def("__reduce__", stored, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__eq__",
          [](nb::handle self, nb::handle other) {
            if (self.is(other)) return true;
            const Linker& linker = nb::cast<const Linker&>(self);
            if (PyUnicode_Check(other.ptr())) return linker.name == nb::cast<std::string>(other);
            const auto* second = instance_of<Linker>(other);
            const auto is_plain = [](const Linker& each) {
              return !each.wrapper && !each.on_input && !each.link_graph;
            };
            return second && is_plain(linker) && is_plain(*second) && self.type().is(other.type()) &&
                   linker.name == second->name && linker.node_linkers == second->node_linkers &&
                   linker.allow_gc == second->allow_gc && members_of(self).equal(members_of(other));
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"), "A linker equals its name.")
      .def("__hash__", [](const Linker& self) { return nb::hash(nb::cast(self.name)); })
      .def("__repr__", [](nb::handle self) {
        return cat(nb::type_name(self.type()).c_str(), "(", nb::cast<const Linker&>(self).name, ")");
      });
  m.def(
      "link_graph",
      [](const Linker& linker, const FunctionGraphObject& fgraph) {
        const auto graph = std::make_shared<const FunctionGraph>(fgraph.graph->clone());
        const std::shared_ptr<const link::Thunk> thunk = link::link(linker, graph);
        return nb::cpp_function([graph, thunk](nb::list given) {
          const Variables &inputs = graph->inputs(), &outputs = graph->outputs();
          if (nb::len(given) != inputs.size())
            throw ValueError(cat("expected ", inputs.size(), " values, got ", nb::len(given)));
          std::vector<Array> values;
          for (std::size_t i = 0; i < inputs.size(); ++i)
            values.push_back(value_from(*inputs[i].type(), nb::object(given[i])));
          std::vector<Array> results;
          {
            nb::gil_scoped_release unlocked;
            results = thunk->run(values);
          }
          nb::list out;
          for (std::size_t k = 0; k < outputs.size(); ++k) out.append(value_object(*outputs[k].type(), results[k]));
          return out;
        });
      },
      "linker"_a, "fgraph"_a,
      "A function from a list of the inputs' values to one of the outputs', for the graph as it is.");
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
      [](const std::string& name, nb::handle linker) {
        registered_linkers().insert_or_assign(name, linker_of(linker));
      },
      "name"_a, "linker"_a);
  m.def("registered_linkers", [] {
    nb::dict out;
    for (auto& [name, linker] : registered_linkers()) out[name.c_str()] = linker_object(linker);
    return out;
  });
  m.def("linker_names", [] { return linker_names(); });
  m.def("other_linker_names", other_linker_names);
}

}  // namespace bitale::python
