// FunctionGraph in Python: clients, order, transactional replacement.
#include "function_graph.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"

namespace bitale::python {

namespace {

FunctionGraphObject own(FunctionGraph graph) {
  auto held = std::make_shared<FunctionGraph>(std::move(graph));
  FunctionGraph* writable = held.get();
  return {std::move(held), writable};
}

nb::list client_list(const FunctionGraphObject& self, const Variable& variable) {
  nb::list out;
  for (const Client& client : self.graph->clients(variable)) {
    nb::object node = client.node ? wrap(Apply::of(client.node)) : nb::str("output");
    out.append(nb::make_tuple(node, client.index));
  }
  return out;
}

Variables all_variables(const FunctionGraph& graph) {
  Variables roots = graph.outputs();
  for (auto& input : graph.inputs()) roots.push_back(input);
  return ancestors(roots);
}

// A feature written in Python may refer to the graph that it is attached to, so the garbage collector must traverse the
// graph while this object is its only owner.
int visit_features(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  auto* self = instance_of<FunctionGraphObject>(object);
  if (!self || !self->graph || self->graph.use_count() != 1) return 0;
  for (auto& feature : self->graph->features()) Py_VISIT(nb::find(feature.get()).ptr());
  return 0;
}

int forget_graph(PyObject* object) {
  auto* self = instance_of<FunctionGraphObject>(object);
  if (!self || !self->graph || self->graph.use_count() != 1) return 0;
  *self = own(FunctionGraph(Variables(), Variables(), false));
  return 0;
}

PyType_Slot garbage_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_features)},
                               {Py_tp_clear, reinterpret_cast<void*>(forget_graph)},
                               {0, nullptr}};

}  // namespace

FunctionGraph& writable_graph(const FunctionGraphObject& object) {
  if (!object.writable)
    throw TypeError("this FunctionGraph belongs to a compiled function and can't change; clone() gives one that can");
  return *object.writable;
}

void bind_function_graph(nb::module_& m) {
  using Self = FunctionGraphObject;
  nb::class_<Self>(m, "FunctionGraph", nb::is_weak_referenceable(), nb::type_slots(garbage_slots),
                   "A private copy of a graph that may be changed. Equal nodes are merged as they come in. `features` "
                   "are attached.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<Self> self, Any inputs, Any outputs, Any features, bool clone) {
            if (outputs.is_none()) throw TypeError("FunctionGraph: outputs are needed");
            Variables roots = as_variables(outputs, "FunctionGraph: outputs");
            Variables leaves = inputs.is_none() ? graph_inputs(roots) : as_variables(inputs, "FunctionGraph: inputs");
            new (self.p) Self(own(FunctionGraph(std::move(leaves), std::move(roots), clone)));
            if (features.is_none()) return;
            nb::inst_mark_ready(self.h);
            for (nb::handle feature : features) self.h.attr("attach_feature")(feature);
          },
          "inputs"_a = nb::none(), "outputs"_a = nb::none(), "features"_a = nb::none(), "clone"_a = true)
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
          "variable"_a, "The uses of a variable: pairs of a node (or \"output\") and the index of the use.")
      .def(
          "toposort", [](const Self& self) { return self.graph->toposort(); },
          "The nodes, each after those it depends on.")
      .def(
          "replace",
          [](const Self& self, const Variable& before, const Like& after, const std::string& reason) {
            writable_graph(self).replace(before, as_variable(after), reason);
          },
          "var"_a, "new_var"_a, nb::kw_only(), "reason"_a = "user", nb::call_guard<AtCaller>(),
          "Replaces every use of a variable; on any error the graph stays as it was.")
      .def(
          "replace_all",
          [](const Self& self, Any pairs, const std::string& reason) {
            writable_graph(self).replace_all(as_replacements(pairs, "replace_all"), reason);
          },
          "pairs"_a, "reason"_a = "user", nb::call_guard<AtCaller>(), "Several replacements, all or none.")
      .def(
          "change_node_input",
          [](const Self& self, Any node, int index, const Like& after, const std::string& reason) {
            Client client{nullptr, index};
            if (auto* apply = instance_of<ApplyObject>(node))
              client.node = apply->apply.node();
            else if (!PyUnicode_Check(node.ptr()))
              throw TypeError("change_node_input: expected an Apply node or \"output\"");
            writable_graph(self).change_node_input(client, as_variable(after), reason);
          },
          "node"_a, "i"_a, "new_var"_a, "reason"_a = "user", nb::call_guard<AtCaller>(),
          "Replaces one use of a variable.")
      .def(
          "add_output", [](const Self& self, const Variable& output) { writable_graph(self).add_output(output); },
          "var"_a)
      .def(
          "check_integrity", [](const Self& self) { self.graph->check_integrity(); },
          "Raises when the graph is not as it should be.")
      .def(
          "clone", [](const Self& self) { return own(self.graph->clone()); }, "A copy that may be changed.")
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
}

}  // namespace bitale::python
