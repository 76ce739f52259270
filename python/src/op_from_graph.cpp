// OpFromGraph, with derivatives that are Python functions; bitale/compile/builders.py defines its Python interface.
#include "bitale/ops/op_from_graph.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "define.hpp"
#include "held.hpp"
#include "opaque.hpp"
#include "variable_lists.hpp"

namespace bitale::python {

namespace {

// A derivative that is a Python function: two are equal when Python compares them as equal.
class PythonOverride final : public DerivativeOverride {
 public:
  explicit PythonOverride(nb::object function) : function(hold(std::move(function))) {}
  const Held function;

  Variables derive(const Variables& inputs, const Variables& outputs, const Variables& given) const override {
    const nb::gil_scoped_acquire locked;
    const nb::object answer = (*function)(list_of(inputs), list_of(outputs), list_of(given));
    if (answer.is_none())
      throw TypeError(cat(text(),
                          ": expected a list of derivatives, got None; None stands in the list for one that is "
                          "not connected"));
    if (is_variable(answer)) return {variable_of(answer)};
    if (!PySequence_Check(answer.ptr()) || nb::isinstance<nb::str>(answer))
      throw TypeError(cat(text(), ": expected a list of derivatives, got ", shown(answer)));
    Variables out;
    for (nb::handle each : nb::borrow<nb::sequence>(answer))
      out.push_back(each.is_none() ? Variable() : as_variable(each));
    return out;
  }
  bool equals(const Opaque& other) const override {
    auto* python = dynamic_cast<const PythonOverride*>(&other);
    if (!python) return false;
    const nb::gil_scoped_acquire locked;
    if (function->is(*python->function)) return true;
    const int same = PyObject_RichCompareBool(function->ptr(), python->function->ptr(), Py_EQ);
    if (same < 0) PyErr_Clear();
    return same > 0;
  }
  std::size_t hash() const override {
    const nb::gil_scoped_acquire locked;
    const Py_hash_t hash = PyObject_Hash(function->ptr());
    if (hash == -1) PyErr_Clear();  // equal objects may differ in identity: all unhashable ones share a hash
    return std::size_t(hash);
  }
  std::string text() const override {
    const nb::gil_scoped_acquire locked;
    const nb::object name = nb::getattr(*function, "__qualname__", nb::none());
    return nb::isinstance<nb::str>(name) ? nb::cast<std::string>(name) : shown(*function);
  }
};

DerivativeOverrideRef override_of(nb::handle function, const char* what) {
  if (function.is_none()) return {};
  if (!PyCallable_Check(function.ptr()))
    throw TypeError(cat("OpFromGraph: ", what, ": expected a function, got ", shown(function)));
  return make_ref<PythonOverride>(nb::borrow(function));
}

Variables variables_in(nb::handle sequence, std::string_view what) {
  if (is_variable(sequence) || nb::isinstance<nb::str>(sequence) || !PySequence_Check(sequence.ptr()))
    throw TypeError(cat("OpFromGraph: expected a list of ", what, ", got ", shown(sequence)));
  Variables out;
  for (nb::handle each : nb::borrow<nb::sequence>(sequence))
    out.push_back(require_variable(each, cat("OpFromGraph: each of the ", what)));
  return out;
}

OpRef make(nb::handle inputs, nb::handle outputs, bool is_inline, const std::string& name, nb::handle pullback,
           nb::handle pushforward) {
  OpFromGraphOptions options{.is_inline = is_inline, .name = name};
  options.pullback = override_of(pullback, "pullback");
  options.pushforward = override_of(pushforward, "pushforward");
  return op_from_graph(variables_in(inputs, "inputs"), variables_in(outputs, "outputs"), options);
}

// The derivatives of a node of the op on those inputs. None for a disconnected result.
nb::list derivatives(const OpRef& op, bool is_pullback, const Variables& inputs, const Variables& given) {
  const Apply node = op->make_node(inputs);
  nb::list out;
  for (auto& each : is_pullback ? op->pullback(node, given) : op->pushforward(node, given))
    out.append(each.is_disconnected() ? nb::none() : wrap(each));
  return out;
}

nb::object inner_graph(const OpRef& op) {
  const InnerGraph* graph = inner_graph_of(*op);
  if (!graph) return nb::none();
  return nb::make_tuple(graph->inputs(), graph->outputs());
}

}  // namespace

nb::object stored_opaque(const Opaque& attribute) {
  if (auto* graph = dynamic_cast<const InnerGraph*>(&attribute))
    return nb::make_tuple("graph",
                          nb::make_tuple(nb::tuple(nb::cast(graph->inputs())), nb::tuple(nb::cast(graph->outputs()))));
  if (auto* derivative = dynamic_cast<const PythonOverride*>(&attribute))
    return nb::make_tuple("derivative", *derivative->function);
  return nb::none();
}

OpaqueAttribute opaque_of_stored(nb::handle stored) {
  const nb::object kind = stored[0], value = stored[1];
  if (nb::cast<std::string>(kind) == "derivative") return {make_ref<PythonOverride>(value)};
  return {make_ref<InnerGraph>(nb::cast<Variables>(value[0]), nb::cast<Variables>(value[1]))};
}

void bind_op_from_graph(nb::module_& m) {
  m.def("make_op_from_graph", make, "inputs"_a, "outputs"_a, "inline"_a, "name"_a, "pullback"_a.none(),
        "pushforward"_a.none(), nb::call_guard<AtCaller>());
  m.def("derivatives_of_op", derivatives, "op"_a, "is_pullback"_a, "inputs"_a, "given"_a);
  m.def("set_class_of_ops", set_class_of_ops, "name"_a, "cls"_a);
  m.def("inner_graph_of", inner_graph, "op"_a, "Inputs and outputs of the op's inner graph; None where it has none.");
}

}  // namespace bitale::python
