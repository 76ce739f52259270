// Features in Python: those of the library under their names, and a base class for users' own features, whose methods
// are called when the graph changes. bitale/graph/features.py re-exports them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <string>
#include <typeinfo>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"
#include "bitale/ops/shape_feature.hpp"
#include "define.hpp"
#include "function_graph.hpp"
#include "instance.hpp"

namespace bitale::python {

namespace {

using Self = FunctionGraphObject;

// ---- features written in Python ------------------------------------------------------------------------------------

enum Callback : std::size_t { Attach, Detach, Import, Prune, ChangeInput, Validate, Order };
constexpr std::array callback_names = {"on_attach",       "on_detach",   "on_import", "on_prune",
                                       "on_change_input", "on_validate", "orderings"};

bool is_bitale_error(const nb::python_error& error, const char* name) {
  return error.matches(nb::module_::import_("bitale._core").attr(name));
}

// Rethrows the exception of a Python callback, with the feature's name. Refusals become the library's own errors, so
// that the library adds which change it was and where; other exceptions keep their class.
[[noreturn]] void pass_on(nb::python_error& error, const std::string& feature, const char* callback) {
  const std::string text = nb::cast<std::string>(nb::str(error.value()));
  if (is_bitale_error(error, "InconsistencyError")) throw InconsistencyError(text);
  if (is_bitale_error(error, "AlreadyThere")) throw AlreadyThere(text);
  const std::string note = cat("raised in ", callback, " of the feature `", feature, "`; the change was undone");
  if (nb::hasattr(error.value(), "add_note")) error.value().attr("add_note")(note);  // from Python 3.11 on
  throw error;
}

class PythonFeature : public Feature {
 public:
  std::string name() const override {
    nb::gil_scoped_acquire locked;
    const nb::object self = object();
    const nb::object given = nb::getattr(self, "name", nb::none());
    return nb::isinstance<nb::str>(given) ? nb::cast<std::string>(given)
                                          : cat(nb::type_name(self.type()).c_str(), "#", number_);
  }
  void on_attach(FunctionGraph& graph) override {
    nb::gil_scoped_acquire locked;
    const nb::object base = nb::module_::import_("bitale._core").attr("Feature"), own = nb::borrow(object().type());
    for (std::size_t i = 0; i < callback_names.size(); ++i)
      listens_[i] = !nb::object(own.attr(callback_names[i])).is(nb::object(base.attr(callback_names[i])));
    call(Attach, graph);
  }
  void on_detach(FunctionGraph& graph) override { notify(Detach, graph); }
  void on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) override {
    notify(Import, graph, node, std::string(reason));
  }
  void on_prune(FunctionGraph& graph, const Apply& node, std::string_view reason) override {
    notify(Prune, graph, node, std::string(reason));
  }
  void on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable& after,
                       std::string_view reason) override {
    if (!listens_[ChangeInput]) return;
    nb::gil_scoped_acquire locked;
    const nb::tuple user = client_object(graph, client);
    call(ChangeInput, graph, nb::object(user[0]), nb::object(user[1]), before, after, std::string(reason));
  }
  void on_validate(FunctionGraph& graph) override { notify(Validate, graph); }
  std::vector<std::pair<ApplyNode*, ApplyNode*>> orderings(FunctionGraph& graph) override {
    std::vector<std::pair<ApplyNode*, ApplyNode*>> out;
    if (!listens_[Order]) return out;
    nb::gil_scoped_acquire locked;
    const nb::object given = call(Order, graph);
    if (given.is_none()) return out;
    for (auto& [later, earlier] : as_pairs(given, "orderings"))
      for (nb::handle node : earlier) out.emplace_back(node_of(later), node_of(node));
    return out;
  }

  // The Python object of a graph that the feature is being attached to.
  void add_graph(nb::object reference) {
    std::erase_if(graphs_, [](nb::object& known) { return known().is_none(); });
    graphs_.push_back(std::move(reference));
  }

 private:
  static ApplyNode* node_of(nb::handle object) {
    if (auto* apply = instance_of<ApplyObject>(object)) return apply->apply.node();
    throw TypeError(cat("orderings: expected a dict from Apply nodes to those that come before, got ", shown(object)));
  }

  nb::object object() const { return nb::find(static_cast<const Feature*>(this)); }

  nb::object graph_object(FunctionGraph& graph) const {
    for (auto& reference : graphs_)
      if (nb::object known = reference(); !known.is_none() && nb::cast<const Self&>(known).graph.get() == &graph)
        return known;
    return nb::cast(Self{std::shared_ptr<const FunctionGraph>(std::shared_ptr<void>(), &graph), nullptr});
  }

  template <class... Args>
  void notify(Callback which, FunctionGraph& graph, Args&&... args) {
    if (!listens_[which]) return;
    nb::gil_scoped_acquire locked;
    call(which, graph, std::forward<Args>(args)...);
  }

  // The caller holds the global lock, which the result needs, too, when it is dropped.
  template <class... Args>
  nb::object call(Callback which, FunctionGraph& graph, Args&&... args) {
    if (!listens_[which]) return nb::object();
    try {
      return object().attr(callback_names[which])(graph_object(graph), std::forward<Args>(args)...);
    } catch (nb::python_error& error) {
      pass_on(error, name(), callback_names[which]);
    }
  }

  static inline int next_number_ = 0;
  const int number_ = ++next_number_;  // several features of one class may be attached
  std::array<bool, callback_names.size()> listens_ = {};
  std::vector<nb::object> graphs_;  // weak references
};

// Every object is usable after __new__: a user's class need not call __init__ of this one.
nb::object new_feature(nb::handle cls, nb::args, nb::kwargs) {
  if (!PyType_Check(cls.ptr()) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls.ptr()),
                                                    reinterpret_cast<PyTypeObject*>(nb::type<Feature>().ptr())))
    throw TypeError(cat("Feature.__new__: expected a subclass of Feature, got ", shown(cls)));
  nb::object object = nb::inst_alloc(cls);
  if (nb::type_info(cls) == typeid(Feature)) {  // classes of the library have constructors of their own
    new (nb::inst_ptr<Feature>(object)) PythonFeature();
    nb::inst_mark_ready(object);
  }
  return object;
}

void bind_base(nb::module_& m) {
  nb::class_<Feature, PythonFeature>(
      m, "Feature",
      "Base of what can be attached to a FunctionGraph. A subclass overrides the callbacks it wants; what one raises "
      "undoes the change. `provides` lists names of methods that the graph then has too, called with the graph as "
      "their first argument.")
      .def_static("__new__", new_feature, "cls"_a, "args"_a, "kwargs"_a,
                  nb::sig("def __new__(cls, *args: typing.Any, **kwargs: typing.Any) -> typing.Self"))
      .def(
          "__init__", [](nb::handle, nb::args, nb::kwargs) {}, "args"_a, "kwargs"_a,
          nb::sig("def __init__(self) -> None"))
      .def_prop_ro_static("provides", [](nb::handle) { return nb::tuple(); })
      .def(
          "clone", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def clone(self) -> typing.Self"),
          "What a copy of the graph gets. A subclass with a state that is about one graph makes a new feature.")
      .def(
          "on_attach", [](Feature&, nb::handle) {}, "fgraph"_a, "Raises AlreadyThere to refuse.")
      .def(
          "on_detach", [](Feature&, nb::handle) {}, "fgraph"_a, "The graph is let go.")
      .def(
          "on_import", [](Feature&, nb::handle, nb::handle, nb::handle) {}, "fgraph"_a, "node"_a, "reason"_a,
          "A node came in.")
      .def(
          "on_prune", [](Feature&, nb::handle, nb::handle, nb::handle) {}, "fgraph"_a, "node"_a, "reason"_a,
          "A node left.")
      .def(
          "on_change_input", [](Feature&, nb::handle, nb::handle, int, nb::handle, nb::handle, nb::handle) {},
          "fgraph"_a, "node"_a, "i"_a, "var"_a, "new_var"_a, "reason"_a,
          "Input i of a node (output i of the graph when node is \"output\") was var and is new_var now.")
      .def(
          "on_validate", [](Feature&, nb::handle) {}, "fgraph"_a, "Raises InconsistencyError to refuse a change.")
      .def(
          "orderings",
          [](Feature& self, nb::handle fgraph) {
            nb::dict out;
            if (dynamic_cast<PythonFeature*>(&self)) return out;
            const Self& graph = nb::cast<const Self&>(fgraph);
            for (auto& [later, earlier] : self.orderings(const_cast<FunctionGraph&>(*graph.graph))) {
              const nb::object node = wrap(Apply::of(later));
              if (!out.contains(node)) out[node] = nb::list();
              out[node].attr("append")(wrap(Apply::of(earlier)));
            }
            return out;
          },
          "fgraph"_a, "From nodes to those that must come before them in the graph's order.");
}

// ---- the library's features ----------------------------------------------------------------------------------------

// The copy of a feature that learns what it knows when it is attached.
nb::object made_anew(nb::handle self) { return nb::object(nb::borrow(self.type()))(); }

nb::tuple names(std::initializer_list<const char*> list) {
  nb::list out;
  for (auto* each : list) out.append(nb::str(each));
  return nb::tuple(out);
}

void bind_histories(nb::module_& m) {
  nb::class_<History, Feature>(m, "History", "Goes back to earlier states of the graph.")
      .def(nb::init<>())
      .def("clone", made_anew, nb::sig("def clone(self) -> typing.Self"), "A new one.")
      .def_prop_ro_static("provides",
                          [](nb::handle) {
                            return names({"checkpoint", "revert"});
                          })
      .def(
          "checkpoint", [](const History& self, nb::handle) { return self.checkpoint(); }, "fgraph"_a = nb::none(),
          "A number for the present state.")
      .def(
          "revert",
          [](History& self, const Self& graph, std::size_t checkpoint) {
            self.revert(writable_graph(graph), checkpoint);
          },
          "fgraph"_a, "checkpoint"_a, "Takes back all changes since the checkpoint.");

  using Me = nb::pointer_and_handle<FullHistory>;
  const auto go_to = [](Me self, std::size_t state) {
    const nb::object known = nb::getattr(self.h, "_fgraph", nb::none());
    const nb::object fgraph = known.is_none() ? nb::none() : known();
    if (fgraph.is_none()) throw ValueError("FullHistory: it is attached to no graph");
    FunctionGraph& graph = writable_graph(*nb::inst_ptr<Self>(fgraph));
    FullHistory& history = *self.p;
    const bool is_verbose = config::get_bool("optimizer_verbose") && state <= history.last();
    while (is_verbose && history.position() != state) {
      const bool is_forwards = history.position() < state;
      nb::print(history.reason(history.position() + (is_forwards ? 1 : 0)).c_str());
      history.go_to(graph, is_forwards ? history.position() + 1 : history.position() - 1);
    }
    history.go_to(graph, state);
    return fgraph;
  };
  nb::class_<FullHistory, Feature>(
      m, "FullHistory", nb::dynamic_attr(),
      "Goes to any state since it was attached: state 0 is the one at attachment, each change leads to the next.")
      .def(
          "__init__",
          [](FullHistory* self, nb::object callback) {
            if (callback.is_none())
              new (self) FullHistory();
            else
              new (self) FullHistory([held = std::move(callback)](FunctionGraph&) {
                nb::gil_scoped_acquire locked;
                held();
              });
          },
          "callback"_a = nb::none())
      .def_prop_ro(
          "position", [](const FullHistory& self) { return self.position(); }, "The state that the graph is in.")
      .def(
          "__len__", [](const FullHistory& self) { return self.last() + 1; }, "How many states there are.")
      .def(
          "reason", [](const FullHistory& self, std::size_t state) { return self.reason(state); }, "state"_a,
          "The name of the rule, or the reason given, that led to a state.")
      .def(
          "goto", [go_to](Me self, std::size_t state) { return go_to(self, state); }, "checkpoint"_a,
          "Makes the graph what it was in a state, and returns it. With the flag optimizer_verbose, the reasons of the "
          "changes on the way are printed.")
      .def(
          "start", [go_to](Me self) { return go_to(self, 0); }, "Goes to the first state.")
      .def(
          "end", [go_to](Me self) { return go_to(self, self.p->last()); }, "Goes to the last state.")
      .def(
          "next", [go_to](Me self) { return go_to(self, std::min(self.p->position() + 1, self.p->last())); },
          "One state forwards, if there is one.")
      .def(
          "prev", [go_to](Me self) { return go_to(self, std::max(self.p->position(), std::size_t(1)) - 1); },
          "One state back, if there is one.")
      .def("clone", made_anew, nb::sig("def clone(self) -> typing.Self"), "A new one.");
}

void bind_checks(nb::module_& m) {
  nb::class_<Validator, Feature>(m, "Validator", "Checks of the user's own, run before every change is accepted.")
      .def(nb::init<>())
      .def("clone", made_anew, nb::sig("def clone(self) -> typing.Self"), "A new one.")
      .def(
          "add",
          [](Validator& self, std::string name, nb::object check) {
            if (!nb::isinstance<nb::callable>(check)) throw TypeError("Validator.add: the check is not a function");
            self.add(name, [name, held = std::move(check)](FunctionGraph& graph) {
              nb::gil_scoped_acquire locked;
              try {
                held(Self{std::shared_ptr<const FunctionGraph>(std::shared_ptr<void>(), &graph), nullptr});
              } catch (nb::python_error& error) {
                pass_on(error, "validator", name.c_str());
              }
            });
          },
          "name"_a, "check"_a,
          "check(fgraph) raises InconsistencyError to refuse the graph as it is; it may only read.")
      .def(
          "validate", [](Validator&, const Self& graph) { validate(writable_graph(graph)); }, "fgraph"_a,
          "Asks all features; the first refusal is raised.");
  nb::class_<CheckStackTrace, Feature>(m, "CheckStackTraceFeature",
                                       "Every node that comes in must know the user's line that it goes back to.")
      .def(
          "__init__",
          [](CheckStackTrace* self, const std::string& policy) {
            if (policy != "raise" && policy != "warn")
              throw ValueError(cat("CheckStackTraceFeature: policy must be raise or warn, not `", policy, "`"));
            new (self)
                CheckStackTrace(policy == "raise" ? CheckStackTrace::Policy::Raise : CheckStackTrace::Policy::Warn);
          },
          "policy"_a = "raise")
      .def(
          "clone", [](const CheckStackTrace& self) { return std::make_shared<CheckStackTrace>(self.policy()); },
          nb::sig("def clone(self) -> typing.Self"), "A new one.")
      .def_prop_ro(
          "missing", [](const CheckStackTrace& self) { return self.missing(); }, "How many nodes came without a line.");
}

void bind_watchers(nb::module_& m) {
  auto query = [](const NodeFinder& self, nb::handle graph, nb::handle op) {
    if (auto* known = instance_of<OpObject>(op)) return self.query(*op_of(op, *known));
    if (nb::isinstance<nb::str>(op)) return self.query(nb::cast<std::string>(op));
    if (PyCallable_Check(op.ptr())) {  // pt.exp, which is an op in PyTensor
      std::vector<Apply> out;
      for (nb::handle node : graph.attr("toposort")())
        if (node.attr("op").equal(op)) out.push_back(nb::cast<Apply>(node));
      return out;
    }
    throw TypeError(cat("NodeFinder: expected an Op or the name of one, got ", shown(op)));
  };
  nb::class_<NodeFinder, Feature>(m, "NodeFinder", "Finds the nodes of an op.")
      .def(nb::init<>())
      .def("clone", made_anew, nb::sig("def clone(self) -> typing.Self"), "A new one.")
      .def_prop_ro_static("provides", [](nb::handle) { return names({"get_nodes"}); })
      .def("query", query, "fgraph"_a, "op"_a, "The nodes of an op, or of all ops of a name.")
      .def("get_nodes", query, "fgraph"_a, "op"_a, "The nodes of an op, or of all ops of a name.");
  nb::class_<PrintListener, Feature>(m, "PrintListener", "Prints, or gives to `write`, a line for all that happens.")
      .def(
          "__init__",
          [](PrintListener* self, nb::object write) {
            nb::object to = write.is_none() ? nb::module_::import_("builtins").attr("print") : std::move(write);
            new (self) PrintListener([to](const std::string& line) {
              nb::gil_scoped_acquire locked;
              to(line);
            });
          },
          "write"_a = nb::none());
  nb::class_<ChangeTracker, Feature>(m, "ChangeTracker", "Whether anything changed since it was attached or reset.")
      .def(nb::init<>())
      .def("clone", made_anew, nb::sig("def clone(self) -> typing.Self"), "A new one.")
      .def_prop_ro(
          "changed", [](const ChangeTracker& self) { return self.changed(); }, "Whether anything changed.")
      .def_prop_ro(
          "nb_imported", [](const ChangeTracker& self) { return self.imported(); }, "How many nodes came in.")
      .def(
          "reset", [](ChangeTracker& self) { self.reset(); }, "Starts anew.");
}

void bind_memory(nb::module_& m) {
  nb::class_<DestroyHandler, Feature>(m, "DestroyHandler",
                                      "Lets nodes destroy what they read as long as some order keeps the result; the "
                                      "graph's toposort is such an order.")
      .def(nb::init<>())
      .def("clone", made_anew, nb::sig("def clone(self) -> typing.Self"), "A new one.")
      .def_prop_ro_static("provides",
                          [](nb::handle) {
                            return names({"destroyers", "has_destroyers"});
                          })
      .def(
          "destroyers", [](const DestroyHandler& self, nb::handle, const Variable& v) { return self.destroyers(v); },
          "fgraph"_a, "var"_a, "The nodes that destroy the variable's memory.")
      .def(
          "has_destroyers",
          [](const DestroyHandler& self, nb::handle, Any variables) {
            if (variables.is_none()) return self.has_destroyers();
            for (auto& v : as_variables(variables, "has_destroyers"))
              if (!self.destroyers(v).empty()) return true;
            return false;
          },
          "fgraph"_a, "protected"_a = nb::none(), "Whether anything (any of these variables) is destroyed.");
  nb::class_<Supervisor, Feature>(m, "Supervisor", "Refuses changes that would destroy one of these variables.")
      .def(
          "__init__",
          [](Supervisor* self, Any is_protected) {
            new (self) Supervisor(as_variables(is_protected, "Supervisor: protected"));
          },
          "protected"_a)
      .def(
          "clone", [](const Supervisor& self) { return std::make_shared<Supervisor>(self.protected_variables()); },
          nb::sig("def clone(self) -> typing.Self"), "A new one.");
  nb::class_<NoOutputFromInplace, Feature>(
      m, "NoOutputFromInplace", "Refuses changes after which one of these outputs is written over another's memory.")
      .def(nb::init<std::vector<std::size_t>>(), "protected_out_ids"_a);
  nb::class_<NoOutputInplaceOnInput, Feature>(
      m, "NoOutputInplaceOnInput", "Refuses changes after which an output is written over one of these inputs.")
      .def(nb::init<std::vector<std::size_t>>(), "protected_input_idxs"_a);
}

void bind_shapes_of_graph(nb::module_& m) {
  nb::class_<ShapeFeature, Feature>(
      m, "ShapeFeature", "The lengths of all variables, as constants or as expressions of the inputs' lengths.")
      .def(nb::init<>())
      .def("clone", made_anew, nb::sig("def clone(self) -> typing.Self"), "A new one.")
      .def_prop_ro_static("provides",
                          [](nb::handle) {
                            return names({"get_shape", "shape_tuple", "same_shape"});
                          })
      .def(
          "shape_tuple",
          [](ShapeFeature& self, const Self& graph, const Variable& v) {
            return nb::tuple(nb::cast(self.shape_of(*graph.graph, v)));
          },
          "fgraph"_a, "var"_a, nb::call_guard<AtCaller>(), "One int64 scalar per dimension.")
      .def(
          "get_shape",
          [](ShapeFeature& self, const Self& graph, const Variable& v, int axis) {
            return self.get_shape(*graph.graph, v, axis);
          },
          "fgraph"_a, "var"_a, "idx"_a, nb::call_guard<AtCaller>(), "The length of one dimension.")
      .def(
          "same_shape",
          [](ShapeFeature& self, const Self& graph, const Variable& x, const Variable& y, std::optional<int> dim_x,
             std::optional<int> dim_y) { return self.same_shape(*graph.graph, x, y, dim_x, dim_y); },
          "fgraph"_a, "x"_a, "y"_a, "dim_x"_a = nb::none(), "dim_y"_a = nb::none(), nb::call_guard<AtCaller>(),
          "Whether the lengths (of one dimension each) are certainly equal.");
}

// ---- the features of a graph ---------------------------------------------------------------------------------------

bool is_attached(const FunctionGraph& graph, const Feature& feature) {
  for (auto& each : graph.features())
    if (each.get() == &feature) return true;
  return false;
}

void attach(nb::pointer_and_handle<Self> self, const std::shared_ptr<Feature>& feature) {
  if (!feature) throw TypeError("attach_feature: expected a Feature, got None");
  FunctionGraph& graph = writable_graph(*self.p);
  if (is_attached(graph, *feature)) return;
  const nb::object reference = nb::steal(PyWeakref_NewRef(self.h.ptr(), nullptr));
  if (auto* own = dynamic_cast<PythonFeature*>(feature.get())) own->add_graph(reference);
  try {
    graph.attach(feature);
  } catch (const AlreadyThere&) {
    return;
  }
  if (dynamic_cast<FullHistory*>(feature.get())) nb::setattr(nb::find(feature.get()), "_fgraph", reference);
}

// A method that an attached feature provides.
nb::object provided(nb::pointer_and_handle<Self> self, nb::str name) {
  for (auto& feature : self.p->graph->features()) {
    const nb::object object = nb::cast(feature);
    if (nb::cast<bool>(nb::object(object.attr("provides")).attr("__contains__")(name)))
      return nb::module_::import_("functools").attr("partial")(object.attr(name), self.h);
  }
  PyErr_SetString(PyExc_AttributeError, cat("'FunctionGraph' object has no attribute '", name.c_str(),
                                            "', and no feature that is attached provides it")
                                            .c_str());
  nb::raise_python_error();
}

void bind_graph_methods(nb::module_& m) {
  auto graph = nb::borrow<nb::class_<Self>>(m.attr("FunctionGraph"));
  graph
      .def("attach_feature", attach, "feature"_a,
           "Attaches a feature. Nothing happens when it, or one like it (AlreadyThere), is attached.")
      .def(
          "remove_feature",
          [](const Self& self, const std::shared_ptr<Feature>& feature) {
            if (feature && is_attached(*self.graph, *feature)) writable_graph(self).detach(*feature);
          },
          "feature"_a, "Detaches a feature; nothing happens when it isn't attached.")
      .def_prop_ro(
          "features",
          [](const Self& self) {
            nb::list out;
            for (auto& feature : self.graph->features()) out.append(nb::cast(feature));
            return out;
          },
          "What is attached.")
      .def(
          "validate", [](const Self& self) { validate(writable_graph(self)); },
          "Asks every feature whether it agrees with the graph; the first refusal is raised.")
      .def(
          "consistent", [](const Self& self) { return is_consistent(writable_graph(self)); },
          "Whether every feature agrees with the graph.")
      .def("__getattr__", provided, nb::sig("def __getattr__(self, name: str, /) -> typing.Any"));
}

}  // namespace

void bind_features(nb::module_& m) {
  bind_base(m);
  bind_histories(m);
  bind_checks(m);
  bind_watchers(m);
  bind_memory(m);
  bind_shapes_of_graph(m);
  bind_graph_methods(m);
}

}  // namespace bitale::python
