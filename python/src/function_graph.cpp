// FunctionGraph in Python: clients, order, transactional replacement.
#include "function_graph.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"
#include "define.hpp"
#include "hooks.hpp"
#include "instance.hpp"
#include "variable_lists.hpp"

namespace bitale::python {

namespace {

FunctionGraphObject own(FunctionGraph graph) {
  auto held = std::make_shared<FunctionGraph>(std::move(graph));
  FunctionGraph* writable = held.get();
  return {std::move(held), writable};
}

nb::list client_list(const FunctionGraphObject& self, const Variable& variable) {
  nb::list out;
  for (const Client& client : self.graph->clients(variable)) out.append(client_object(*self.graph, client));
  return out;
}

UnknownLeaves unknown_leaves(bool import_missing) {
  return import_missing ? UnknownLeaves::add : UnknownLeaves::refuse;
}

std::string reason_of(nb::handle reason) { return reason.is_none() ? "user" : nb::cast<std::string>(nb::str(reason)); }

// What PyTensor prints of a replacement, if the caller or the flag optimizer_verbose asks for it. Composed before the
// nodes change.
std::string report_of(nb::handle verbose, const std::string& reason, const Variable& before, const Variable& after) {
  if (!(verbose.is_none() ? config::get_bool("optimizer_verbose") : nb::cast<bool>(nb::bool_(verbose)))) return {};
  if (cat(",", config::get("optimizer_verbose_ignore"), ",").find(cat(",", reason, ",")) != std::string::npos)
    return {};
  const auto text = [](const Variable& v) {
    return cat(nb::cast<std::string>(nb::str(wrap(v))), " of ", nb::cast<std::string>(nb::str(wrap(v.owner()))));
  };
  return cat("rewriting: rewrite ", reason, " replaces ", text(before), " with ", text(after));
}

// The replacement as a variable that can take the place of the other one.
Variable fitted(const Variable& before, nb::handle after) {
  const Variable given = as_variable(after);
  if (before.type()->is_super(*given.type())) return given;
  return variable_of(nb::object(wrap(before).attr("type").attr("filter_variable")(wrap(given))));
}

Replacements fitted_pairs(nb::handle pairs, const char* what) {
  Replacements replacements = as_replacements(pairs, what);
  for (auto& [before, after] : replacements) after = fitted(before, wrap(after));
  return replacements;
}

// Makes the replacements, and reports them or why they were refused.
template <class Change>
void reported(const Replacements& replacements, nb::handle reason, nb::handle verbose, Change change) {
  const std::string why = reason_of(reason);
  std::vector<std::string> reports;
  for (auto& [before, after] : replacements) reports.push_back(report_of(verbose, why, before, after));
  try {
    change(why);
  } catch (std::exception& error) {
    if (!reports.empty() && !reports[0].empty())
      nb::print(cat("rewriting: validate failed on node ", replacements[0].first.str(), ".\n Reason: ", why, ", ",
                    error.what())
                    .c_str());
    throw;
  }
  for (auto& report : reports)
    if (!report.empty()) nb::print(report.c_str());
}

void replace(const FunctionGraphObject& self, const Variable& before, const Like& after, Any reason, Any verbose,
             bool import_missing) {
  const Replacements pair = {{before, fitted(before, after)}};
  reported(pair, reason, verbose, [&](const std::string& why) {
    writable_graph(self).replace_all(pair, why, unknown_leaves(import_missing));
  });
}

void replace_all(const FunctionGraphObject& self, Any pairs, Any reason, Any verbose, bool import_missing) {
  const Replacements replacements = fitted_pairs(pairs, "replace_all");
  reported(replacements, reason, verbose, [&](const std::string& why) {
    writable_graph(self).replace_all(replacements, why, unknown_leaves(import_missing));
  });
}

Variables all_variables(const FunctionGraph& graph) {
  Variables roots = graph.outputs();
  for (auto& input : graph.inputs()) roots.push_back(input);
  return ancestors(roots);
}

// The attributes that users set.
PyObject** members_of(PyObject* object) {
  return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + Py_TYPE(object)->tp_dictoffset);
}

// A feature written in Python may refer to the graph that it is attached to, so the garbage collector must traverse the
// graph while this object is its only owner.
int visit_features(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(*members_of(object));
  auto* self = instance_of<FunctionGraphObject>(object);
  if (!self || !self->graph || self->graph.use_count() != 1) return 0;
  for (auto& feature : self->graph->features()) Py_VISIT(nb::find(feature.get()).ptr());
  return 0;
}

int forget_graph(PyObject* object) {
  Py_CLEAR(*members_of(object));
  auto* self = instance_of<FunctionGraphObject>(object);
  if (!self || !self->graph || self->graph.use_count() != 1) return 0;
  *self = own(FunctionGraph(Variables(), Variables(), Clone::No));
  return 0;
}

PyType_Slot garbage_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_features)},
                               {Py_tp_clear, reinterpret_cast<void*>(forget_graph)},
                               {0, nullptr}};

// Features that `clone` gives back as they are have no state of their own, and are attached to both graphs.
void copy_features(nb::handle from, const nb::object& to) {
  for (nb::handle feature : nb::list(nb::object(from.attr("features"))))
    to.attr("attach_feature")(nb::object(feature.attr("clone")()));
  const nb::object mapping = from.attr("update_mapping");
  if (!mapping.is_none()) to.attr("update_mapping") = mapping;
}

}  // namespace

FunctionGraph& writable_graph(const FunctionGraphObject& object) {
  if (!object.writable)
    throw TypeError("this FunctionGraph belongs to a compiled function and can't change; clone() gives one that can");
  return *object.writable;
}

nb::tuple client_object(const FunctionGraph& graph, const Client& client) {
  if (client.node) return nb::make_tuple(wrap(Apply::of(client.node)), client.index);
  return nb::make_tuple(hook("output_node")(client.index, wrap(graph.outputs()[std::size_t(client.index)])), 0);
}

Client client_of(nb::handle node, int index) {
  auto* apply = instance_of<ApplyObject>(node);
  if (!apply) throw TypeError(cat("expected an Apply node, got ", shown(node)));
  if (apply->apply.output_count()) return {apply->apply.node(), index};
  return {nullptr, nb::cast<int>(nb::object(nb::object(node.attr("op")).attr("idx")))};
}

void bind_function_graph(nb::module_& m) {
  using Self = FunctionGraphObject;
  nb::class_<Self>(m, "FunctionGraph", nb::is_weak_referenceable(), nb::dynamic_attr(), nb::type_slots(garbage_slots),
                   "A private copy of a graph that may be changed. Equal nodes are merged as they come in. `features` "
                   "are attached.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<Self> self, Any inputs, Any outputs, Any features, bool clone, Any update_mapping,
             nb::kwargs clone_kwds) {
            if (outputs.is_none()) throw ValueError("FunctionGraph: No outputs specified");
            Variables roots = as_variables(outputs, "FunctionGraph: outputs");
            Variables leaves = inputs.is_none() ? graph_inputs(roots) : as_variables(inputs, "FunctionGraph: inputs");
            if (clone && nb::len(clone_kwds)) {
              const nb::object copies = hook("clone_get_equiv")(list_of(leaves), list_of(roots), **clone_kwds);
              for (auto* list : {&leaves, &roots})
                for (Variable& each : *list) each = variable_of(nb::object(copies[wrap(each)]));
              clone = false;
            }
            new (self.p) Self(own(FunctionGraph(std::move(leaves), std::move(roots), Clone(clone))));
            nb::inst_mark_ready(self.h);
            if (!features.is_none())
              for (nb::handle feature : features) self.h.attr("attach_feature")(feature);
            if (!update_mapping.is_none()) self.h.attr("update_mapping") = update_mapping;
          },
          "inputs"_a = nb::none(), "outputs"_a = nb::none(), "features"_a = nb::none(), "clone"_a = true,
          "update_mapping"_a = nb::none(), "clone_kwds"_a,
          nb::sig("def __init__(self, inputs: collections.abc.Sequence[Variable] | None = None, outputs: "
                  "collections.abc.Sequence[Variable] | None = None, features: collections.abc.Sequence[Feature] | "
                  "None = None, clone: bool = True, update_mapping: dict[int, int] | None = None, **clone_kwds: "
                  "typing.Any) -> None"))
      .def_prop_ro("inputs", [](const Self& self) { return self.graph->inputs(); })
      .def_prop_ro("outputs", [](const Self& self) { return self.graph->outputs(); })
      .def_prop_ro(
          "apply_nodes", [](const Self& self) { return nb::steal(PySet_New(nb::cast(self.graph->toposort()).ptr())); },
          nb::sig("def apply_nodes(self) -> set[Apply]"))
      .def_prop_ro(
          "variables",
          [](const Self& self) { return nb::steal(PySet_New(nb::cast(all_variables(*self.graph)).ptr())); },
          nb::sig("def variables(self) -> set[Variable]"))
      .def_prop_ro(
          "clients",
          [](const Self& self) {
            nb::dict out;
            for (auto& variable : all_variables(*self.graph)) out[wrap(variable)] = client_list(self, variable);
            return out;
          },
          "From each variable to its clients.")
      .def(
          "get_clients", [](const Self& self, const Variable& variable) { return client_list(self, variable); },
          "variable"_a,
          "The uses of a variable: pairs of a node and the index of the use. The node of an output of the graph has "
          "the "
          "op Output.")
      .def(
          "toposort", [](const Self& self) { return self.graph->toposort(); },
          "The nodes, each after those it depends on.")
      .def("replace", replace, "var"_a, "new_var"_a, "reason"_a = nb::none(), "verbose"_a = nb::none(),
           "import_missing"_a = false, nb::call_guard<AtCaller>(),
           nb::sig("def replace(self, var: Variable, new_var: Variable | numpy.typing.ArrayLike, reason: str | None = "
                   "None, verbose: bool | None = None, import_missing: bool = False) -> None"),
           "Replaces every use of a variable; on any error the graph stays as it was. import_missing: leaves that are "
           "not in the graph become inputs.")
      .def(
          "replace_validate", replace, "var"_a, "new_var"_a, "reason"_a = nb::none(), "verbose"_a = nb::none(),
          "import_missing"_a = false, nb::call_guard<AtCaller>(),
          nb::sig("def replace_validate(self, var: Variable, new_var: Variable | numpy.typing.ArrayLike, reason: str | "
                  "None = None, verbose: bool | None = None, import_missing: bool = False) -> None"),
          "The same as replace: every change is made if all features agree.")
      .def("replace_all", replace_all, "pairs"_a, "reason"_a = nb::none(), "verbose"_a = nb::none(),
           "import_missing"_a = false, nb::call_guard<AtCaller>(),
           nb::sig("def replace_all(self, pairs: typing.Any, reason: str | None = None, verbose: bool | None = None, "
                   "import_missing: bool = False) -> None"),
           "Several replacements, all or none.")
      .def(
          "replace_all_validate", replace_all, "replacements"_a, "reason"_a = nb::none(), "verbose"_a = nb::none(),
          "import_missing"_a = false, nb::call_guard<AtCaller>(),
          nb::sig("def replace_all_validate(self, replacements: typing.Any, reason: str | None = None, verbose: bool | "
                  "None = None, import_missing: bool = False) -> None"),
          "The same as replace_all.")
      .def(
          "replace_all_validate_remove",
          [](const Self& self, Any pairs, Any remove, Any reason, bool warn, Any verbose) {
            std::vector<Apply> nodes;
            for (nb::handle node : remove) {
              auto* known = instance_of<ApplyObject>(node);
              if (!known) throw TypeError(cat("replace_all_validate_remove: expected Apply nodes, got ", shown(node)));
              nodes.push_back(known->apply);
            }
            const Replacements replacements = fitted_pairs(pairs, "replace_all_validate_remove");
            try {
              reported(replacements, reason, verbose, [&](const std::string& why) {
                replace_all_validate_remove(writable_graph(self), replacements, nodes, why);
              });
            } catch (ReplacementDidNotRemoveError& error) {
              if (warn && PyErr_WarnEx(PyExc_UserWarning, cat(error.what(), ", so it was not made").c_str(), 1) < 0)
                nb::raise_python_error();
              throw;
            }
          },
          "replacements"_a, "remove"_a, "reason"_a = nb::none(), "warn"_a = true, "verbose"_a = nb::none(),
          nb::call_guard<AtCaller>(),
          nb::sig(
              "def replace_all_validate_remove(self, replacements: typing.Any, remove: "
              "collections.abc.Iterable[Apply], reason: str | None = None, warn: bool = True, verbose: bool | None = "
              "None) -> None"),
          "Several replacements, all or none; none as well when one of the nodes would still be there.")
      .def(
          "change_node_input",
          [](const Self& self, Any node, int index, const Like& after, Any reason, bool import_missing, bool) {
            writable_graph(self).change_node_input(client_of(node, index), as_variable(after), reason_of(reason),
                                                   unknown_leaves(import_missing));
          },
          "node"_a, "i"_a, "new_var"_a, "reason"_a = nb::none(), "import_missing"_a = false, "check"_a = true,
          nb::call_guard<AtCaller>(),
          nb::sig(
              "def change_node_input(self, node: Apply, i: int, new_var: Variable | numpy.typing.ArrayLike, reason: "
              "str | None = None, import_missing: bool = False, check: bool = True) -> None"),
          "Replaces one use of a variable. The types are checked, whatever `check` says.")
      .def(
          "add_output",
          [](const Self& self, const Variable& output, Any reason, bool import_missing) {
            writable_graph(self).add_output(output, reason.is_none() ? "new output" : reason_of(reason),
                                            unknown_leaves(import_missing));
          },
          "var"_a, "reason"_a = nb::none(), "import_missing"_a = false,
          nb::sig("def add_output(self, var: Variable, reason: str | None = None, import_missing: bool = False) -> "
                  "None"),
          "Adds an output, with the nodes that it needs.")
      .def(
          "add_input",
          [](const Self& self, const Variable& leaf, bool check) {
            if (check && std::ranges::any_of(self.graph->inputs(), [&](auto& each) { return each.same_as(leaf); }))
              return;
            writable_graph(self).add_input(leaf);
          },
          "var"_a, "check"_a = true, "Adds an input; with `check`, nothing happens where it is one already.")
      .def(
          "remove_output",
          [](const Self& self, std::size_t at, Any reason, bool) {
            writable_graph(self).remove_output(at, reason.is_none() ? "remove output" : reason_of(reason));
          },
          "output_idx"_a, "reason"_a = nb::none(), "remove_client"_a = true,
          nb::sig("def remove_output(self, output_idx: int, reason: str | None = None, remove_client: bool = True) -> "
                  "None"),
          "Removes an output, and the nodes that only it needs.")
      .def(
          "remove_input",
          [](const Self& self, std::size_t at, Any reason) {
            writable_graph(self).remove_input(at, reason.is_none() ? "remove input" : reason_of(reason));
          },
          "input_idx"_a, "reason"_a = nb::none(),
          nb::sig("def remove_input(self, input_idx: int, reason: str | None = None) -> None"),
          "Removes an input, with everything that needs it.")
      .def(
          "remove_node",
          [](const Self& self, const ApplyObject& node, Any reason) {
            if (self.graph->contains(node.apply))
              writable_graph(self).remove_node(node.apply, reason.is_none() ? "remove node" : reason_of(reason));
          },
          "node"_a, "reason"_a = nb::none(),
          nb::sig("def remove_node(self, node: Apply, reason: str | None = None) -> None"),
          "Removes a node, with everything that needs it.")
      .def(
          "check_integrity", [](const Self& self) { self.graph->check_integrity(); },
          "Raises when the graph is not as it should be.")
      .def(
          "clone",
          [](nb::handle self, bool) {
            const nb::object copy = nb::cast(own(nb::cast<const Self&>(self).graph->clone()));
            copy_features(self, copy);
            return copy;
          },
          "check_integrity"_a = true, nb::sig("def clone(self, check_integrity: bool = True) -> FunctionGraph"),
          "A copy that may be changed, with copies of the features.")
      .def(
          "clone_get_equiv",
          [](nb::handle self, bool, bool attach_feature, nb::kwargs) {
            FunctionGraph graph = nb::cast<const Self&>(self).graph->clone();
            nb::dict memo;
            for (auto& [original, own_variable] : graph.originals()) {
              memo[wrap(original)] = wrap(own_variable);
              if (original.has_owner()) memo[wrap(original.owner())] = wrap(own_variable.owner());
            }
            const nb::object copy = nb::cast(own(std::move(graph)));
            if (attach_feature) copy_features(self, copy);
            return nb::make_tuple(copy, memo);
          },
          "check_integrity"_a = true, "attach_feature"_a = true, "kwargs"_a,
          nb::sig("def clone_get_equiv(self, check_integrity: bool = True, attach_feature: bool = True, **kwargs: "
                  "typing.Any) -> tuple[FunctionGraph, dict[typing.Any, typing.Any]]"),
          "A copy, and a dict from the graph's variables and nodes to their copies.")
      .def(
          "__contains__",
          [](const Self& self, Any item) {
            if (auto* node = instance_of<ApplyObject>(item)) return self.graph->contains(node->apply);
            return is_variable(item) && self.graph->contains(variable_of(item));
          },
          nb::sig("def __contains__(self, item: object, /) -> bool"))
      .def(
          "__reduce__",
          [](const Self& self) {
            return nb::make_tuple(nb::type<Self>(), nb::make_tuple(self.graph->inputs(), self.graph->outputs()));
          },
          "Inputs and outputs; features stay here.")
      .def("__len__", [](const Self& self) { return self.graph->node_count(); })
      .def("__bool__", [](const Self&) { return true; })
      .def("__repr__", [](const Self& self) {
        auto text = [](const Variables& variables) {
          std::vector<std::string> names;
          for (auto& v : variables) names.push_back(v.str());
          return join(names, ", ");
        };
        return cat("FunctionGraph(", text(self.graph->inputs()), ") -> ", text(self.graph->outputs()));
      });
  m.attr("FunctionGraph").attr("update_mapping") = nb::none();
}

}  // namespace bitale::python
