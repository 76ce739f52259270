// Variables, Apply nodes and Ops as Python sees them, and walks over graphs.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <variant>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/shared.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/graph/traversal.hpp"
#include "define.hpp"
#include "numpy_bridge.hpp"
#include "ops/registry.hpp"

namespace bitale::python {

namespace {

nb::object attribute_object(const AttributeValue& value) {
  if (auto* dtype = std::get_if<DType>(&value)) return nb::cast(std::string(dtype_name(*dtype)));
  if (auto* list = std::get_if<IntList>(&value)) return nb::tuple(nb::cast(*list));
  if (auto* flag = std::get_if<bool>(&value)) return nb::bool_(*flag);
  if (auto* integer = std::get_if<std::int64_t>(&value)) return nb::int_(*integer);
  if (auto* number = std::get_if<double>(&value)) return nb::float_(*number);
  if (auto* opaque = std::get_if<OpaqueAttribute>(&value)) return nb::cast(opaque->object->text());
  return nb::cast(std::get<std::string>(value));
}

nb::dict properties(const Op& op) {
  nb::dict out;
  for (auto& attribute : op.attributes())
    out[nb::str(attribute.name.data(), attribute.name.size())] = attribute_object(attribute.value);
  return out;
}

std::string text_of(const Variable& variable) {
  if (!variable.name().empty()) return variable.name();
  if (variable.is_constant()) return cat("TensorConstant{", variable.str(), "}");
  if (variable.has_owner()) return variable.str();
  auto* tensor = as_tensor(variable.type());
  return cat("<", tensor ? tensor->short_str() : variable.type()->str(), ">");
}

void set_name(VariableObject& self, const std::optional<std::string>& name) {
  self.variable.set_name(name.value_or(""));
}

std::optional<std::string> name_of(const VariableObject& self) {
  if (self.variable.name().empty()) return {};
  return self.variable.name();
}

// An op's name, and its attributes as (name, which kind of AttributeValue, value).
nb::object stored_op(const OpObject& self) {
  nb::list attributes;
  for (auto& [name, value] : self.op->attributes()) {
    if (std::holds_alternative<OpaqueAttribute>(value))
      throw NotImplementedError(
          cat("storing an op with the attribute ", name, " = ", attribute_text(value), ": ", self.op->label()));
    attributes.append(
        nb::make_tuple(nb::str(name.data(), name.size()), std::int64_t(value.index()), attribute_object(value)));
  }
  return nb::make_tuple(std::string(self.op->name()), nb::tuple(attributes));
}

template <std::size_t kind = 0>
AttributeValue attribute_of(std::size_t wanted, nb::handle value) {
  if constexpr (kind < std::variant_size_v<AttributeValue>) {
    if (wanted != kind) return attribute_of<kind + 1>(wanted, value);
    using T = std::variant_alternative_t<kind, AttributeValue>;
    if constexpr (std::is_same_v<T, DType>)
      return dtype_from(value);
    else if constexpr (std::is_same_v<T, OpaqueAttribute>)
      throw ValueError(cat("an opaque attribute is not stored by value: ", shown(value)));
    else
      return nb::cast<T>(value);
  } else {
    throw ValueError(cat("an attribute of an unknown kind: ", shown(value)));
  }
}

OpRef op_of_stored(const std::string& name,
                   const std::vector<std::tuple<std::string, std::size_t, nb::object>>& stored) {
  Attributes attributes;
  for (auto& [attribute, kind, value] : stored) attributes.push_back({attribute, attribute_of(kind, value)});
  return op_from(name, attributes);
}

void bind_op_attributes(nb::module_& m) {
  m.def("stored_op", stored_op, "op"_a);
  m.def("op_of_stored", op_of_stored, "name"_a, "attributes"_a);
  m.def(
      "op_names",
      [] {
        std::vector<std::string> names;
        for (auto& entry : op_registry()) names.push_back(entry.name);
        return names;
      },
      "The names of all ops of the registry, for tests and documentation.");
}

nb::object make_node(const OpObject& self, nb::args inputs) {
  return wrap(self.op->make_node(as_variables(inputs, cat(self.op->name(), ".make_node"))));
}

nb::object call_op(const OpObject& self, nb::args inputs) {
  Apply node = self.op->make_node(as_variables(inputs, self.op->name()));
  if (node.output_count() == 1) return wrap(node.output());
  return nb::cast(node.outputs());
}

// Nodes never change, so a copy is the same node; what goes to another process is made anew there.
template <class Class>
void bind_copies(Class cls, const char* reduce) {
  cls.def("__copy__", [](nb::handle self) { return nb::borrow(self); });
  cls.def(
      "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, "memo"_a);
  cls.def("__reduce__",
          [reduce](nb::handle self) { return nb::module_::import_("bitale.graph.storing").attr(reduce)(self); });
}

void bind_variable(nb::module_& m) {
  nb::class_<VariableObject>(m, "Variable",
                             "A value at one point of a computation: a leaf, or an output of an Apply node.")
      .def_prop_ro("type", [](const VariableObject& self) { return self.variable.type(); })
      .def_prop_ro(
          "owner", [](const VariableObject& self) { return self.variable.owner(); },
          nb::sig("def owner(self) -> Apply | None"), "The Apply node that computes it; None for a leaf.")
      .def_prop_ro(
          "index",
          [](const VariableObject& self) -> std::optional<int> {
            if (!self.variable.has_owner()) return {};
            return self.variable.index();
          },
          "owner.outputs[index] is this variable.")
      .def_prop_rw("name", name_of, set_name, nb::for_setter(nb::arg().none()))
      .def(
          "clone",
          [](const VariableObject& self, const std::optional<std::string>& name) {
            return Variable(self.variable.type(), name.value_or(self.variable.name()));
          },
          "name"_a = nb::none(), "A new leaf of the same type.")
      .def_prop_ro(
          "where", [](const VariableObject& self) { return self.variable.where().str(); }, "The line that built it.")
      .def("__repr__", [](const VariableObject& self) {
        std::string text = text_of(self.variable);
        if (config::get_bool("print_test_value"))
          if (const auto value = test_value(self.variable)) text += cat("\n", value->repr());
        return text;
      });
  nb::class_<TensorVariableObject, VariableObject>(m, "TensorVariable", "A symbolic array.")
      .def_prop_ro("dtype",
                   [](const TensorVariableObject& self) { return std::string(dtype_name(self.variable.dtype())); })
      .def_prop_ro("ndim", [](const TensorVariableObject& self) { return self.variable.ndim(); })
      .def_prop_ro(
          "broadcastable",
          [](const TensorVariableObject& self) { return wrap(self.variable.type()).attr("broadcastable"); },
          nb::sig("def broadcastable(self) -> tuple[bool, ...]"))
      .def_prop_ro_static("__array_priority__", [](nb::handle) { return 1000; });
  nb::class_<TensorConstantObject, TensorVariableObject>(m, "TensorConstant",
                                                         "A variable whose value is known and never changes.")
      .def_prop_ro(
          "data", [](const TensorConstantObject& self) { return to_numpy(self.variable.constant()->read_only()); },
          "The value: a read-only array.");
  m.attr("Constant") = m.attr("TensorConstant");
  for (auto* name : {"Variable", "TensorVariable", "TensorConstant", "Constant"}) export_name(m, name);
}

void bind_apply(nb::module_& m) {
  nb::class_<ApplyObject>(m, "Apply", "The application of an Op to inputs.")
      .def("__init__",
           [](nb::handle, nb::args) {
             throw TypeError("Apply nodes are made by their op: op(*inputs) or op.make_node(*inputs)");
           })
      .def_prop_ro("op", [](const ApplyObject& self) { return self.apply.op_ref(); })
      .def_prop_ro("inputs", [](const ApplyObject& self) { return self.apply.inputs(); })
      .def_prop_ro("outputs", [](const ApplyObject& self) { return self.apply.outputs(); })
      .def_prop_ro("nin", [](const ApplyObject& self) { return self.apply.inputs().size(); })
      .def_prop_ro("nout", [](const ApplyObject& self) { return self.apply.output_count(); })
      .def_prop_ro(
          "out",
          [](const ApplyObject& self) {
            if (self.apply.output_count() != 1)
              throw ValueError(cat(self.apply.op().label(), " has ", self.apply.output_count(), " outputs"));
            return self.apply.output();
          },
          "The only output.")
      .def(
          "default_output", [](const ApplyObject& self) { return self.apply.output(); }, "The first output.")
      .def(
          "clone", [](const ApplyObject& self) { return self.apply.with_inputs(self.apply.inputs()); },
          nb::call_guard<AtCaller>(), "A new node of the same op and inputs.")
      .def(
          "clone_with_new_inputs",
          [](const ApplyObject& self, Any inputs, bool) {
            return self.apply.with_inputs(as_variables(inputs, "clone_with_new_inputs"));
          },
          "inputs"_a, "strict"_a = true, nb::call_guard<AtCaller>(), "The same op on other inputs.")
      .def_prop_ro(
          "where", [](const ApplyObject& self) { return self.apply.provenance().where.str(); },
          "The line that built it.")
      .def_prop_ro(
          "rule",
          [](const ApplyObject& self) -> std::optional<std::string> {
            if (!self.apply.provenance().rule) return {};
            return self.apply.provenance().rule;
          },
          "The rewrite that made it, or None.")
      .def("__repr__", [](const ApplyObject& self) {
        std::vector<std::string> inputs;
        for (auto& input : self.apply.inputs()) inputs.push_back(text_of(input));
        return cat(self.apply.op().label(), "(", join(inputs, ", "), ")");
      });
}

void bind_op(nb::module_& m) {
  nb::class_<OpObject>(m, "Op", "The definition of an operation.")
      .def_prop_ro("name", [](const OpObject& self) { return self.op->label(); })
      .def_prop_ro(
          "__props__", [](const OpObject& self) { return properties(*self.op); }, "The attributes by name.")
      .def("make_node", make_node, nb::call_guard<AtCaller>(),
           nb::sig("def make_node(self, *inputs: TensorVariable | numpy.typing.ArrayLike) -> Apply"),
           "The Apply node of this op on the inputs.")
      .def("__call__", call_op, nb::call_guard<AtCaller>(),
           nb::sig("def __call__(self, *inputs: TensorVariable | numpy.typing.ArrayLike) -> TensorVariable | "
                   "list[TensorVariable]"),
           "The output of the op on the inputs, or a list of several.")
      .def("__getattr__",
           [](const OpObject& self, const std::string& name) {
             for (auto& attribute : self.op->attributes())
               if (attribute.name == name) return attribute_object(attribute.value);
             throw nb::attribute_error(cat("op ", self.op->name(), " has no attribute ", name).c_str());
           })
      .def(
          "__eq__",
          [](const OpObject& self, nb::handle other) {
            auto* op = instance_of<OpObject>(other);
            return op && self.op->equals(*op->op);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const OpObject& self) { return self.op->hash(); })
      .def("__repr__", [](const OpObject& self) { return self.op->label(); });
  export_name(m, "Op");
}

// One variable or several, from Python.
Variables one_or_several(nb::handle object) {
  if (is_variable(object)) return {variable_of(object)};
  return as_variables(object, "graph");
}

Any like_given(nb::handle given, const Variables& results) {
  if (is_variable(given)) return wrap(results[0]);
  return nb::cast(results);
}

VariableSet as_set(nb::handle object) {
  VariableSet out;
  if (!object.is_none())
    for (auto& v : one_or_several(object)) out.insert(v);
  return out;
}

void bind_walks(nb::module_& m) {
  m.def(
      "ancestors", [](Any graphs, Any blockers) { return ancestors(one_or_several(graphs), as_set(blockers)); },
      "graphs"_a, "blockers"_a = nb::none(),
      "Every variable that the graphs depend on, themselves included, inputs first.");
  m.def(
      "graph_inputs", [](Any graphs, Any blockers) { return graph_inputs(one_or_several(graphs), as_set(blockers)); },
      "graphs"_a, "blockers"_a = nb::none(), "The leaves that are not constants.");
  m.def(
      "explicit_graph_inputs", [](Any graphs) { return explicit_graph_inputs(one_or_several(graphs)); }, "graphs"_a,
      "The leaves that are neither constants nor shared variables.");
  m.def(
      "toposort", [](Any graphs, Any blockers) { return toposort(one_or_several(graphs), as_set(blockers)); },
      "graphs"_a, "blockers"_a = nb::none(), "The Apply nodes, each after those it depends on.");
  m.def(
      "variable_depends_on",
      [](Any variable, Any depends_on_any) {
        return depends_on(one_or_several(variable).at(0), one_or_several(depends_on_any));
      },
      "variable"_a, "depends_on"_a, "Whether the variable is computed from any of the others.");
  m.def(
      "node_count", [](Any graphs) { return node_count(one_or_several(graphs)); }, "graphs"_a,
      "The number of Apply nodes.");
  m.def(
      "equal_computations",
      [](Any xs, Any ys, Any in_xs, Any in_ys) {
        return equal_computations(one_or_several(xs), one_or_several(ys),
                                  in_xs.is_none() ? Variables{} : one_or_several(in_xs),
                                  in_ys.is_none() ? Variables{} : one_or_several(in_ys));
      },
      "xs"_a, "ys"_a, "in_xs"_a = nb::none(), "in_ys"_a = nb::none(),
      "Whether the graphs compute the same from corresponding inputs.");
  m.def(
      "clone",
      [](Any outputs, bool copy_leaves) {
        VariableMap memo;
        return like_given(outputs, clone(one_or_several(outputs), memo, copy_leaves));
      },
      "outputs"_a, "copy_leaves"_a = false,
      nb::sig("def clone(outputs: typing.Any, copy_leaves: bool = False) -> typing.Any"),
      "A copy of the graph, on the same leaves unless copy_leaves.");
  m.def(
      "graph_replace",
      [](Any outputs, Any replace, bool strict) {
        return like_given(outputs, graph_replace(one_or_several(outputs), as_replacements(replace, "replace"), strict));
      },
      "outputs"_a, "replace"_a, "strict"_a = true, nb::call_guard<AtCaller>(),
      nb::sig("def graph_replace(outputs: typing.Any, replace: typing.Any, strict: bool = True) -> typing.Any"),
      "The outputs with some variables replaced; each must occur when strict.");
  m.def(
      "clone_replace",
      [](Any outputs, Any replace) {
        return like_given(outputs, clone_replace(one_or_several(outputs), as_replacements(replace, "replace")));
      },
      "outputs"_a, "replace"_a = nb::none(), nb::call_guard<AtCaller>(),
      nb::sig("def clone_replace(outputs: typing.Any, replace: typing.Any = None) -> typing.Any"),
      "A copy of the outputs with some variables replaced.");
}

}  // namespace

void bind_graph(nb::module_& m) {
  bind_op(m);
  bind_apply(m);
  bind_variable(m);
  bind_copies(nb::borrow<nb::class_<VariableObject>>(m.attr("Variable")), "reduce_variable");
  bind_copies(nb::borrow<nb::class_<ApplyObject>>(m.attr("Apply")), "reduce_apply");
  bind_copies(nb::borrow<nb::class_<OpObject>>(m.attr("Op")), "reduce_op");
  bind_op_attributes(m);
  bind_walks(m);
}

}  // namespace bitale::python
