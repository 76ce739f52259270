// The default update of a generator is its state after a draw. A graph in which something was replaced (clone_replace,
// vectorize_graph, givens) has another draw from the same generator in place of that one: then the state after that
// draw is the update, since the original may need inputs that the function does not have.
#include "default_updates.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/shared.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "bitale/graph/traversal.hpp"
#include "define.hpp"
#include "notes.hpp"

namespace bitale::python {

namespace {

constexpr const char* note_name = "_default_update";
using Nodes = std::unordered_set<VariableNode*>;

Variable default_update(const Variable& variable) {
  const nb::object found = note(variable, note_name);
  return found.is_valid() && is_variable(found) ? variable_of(found) : Variable();
}

bool is_state(const Variable& variable) { return as_random(variable.type()); }

// The state from which the node draws that makes this one. A node with several (a loop) has as many new ones, in order.
Variable state_before(const Variable& state) {
  if (!state.has_owner()) return {};
  const Apply node = state.owner();
  Variables before;
  for (auto& input : node.inputs())
    if (is_state(input)) before.push_back(input);
  std::size_t rank = 0, count = 0;
  for (int k = 0; k < int(node.output_count()); ++k) {
    if (!is_state(node.output(k))) continue;
    if (node.output(k).same_as(state)) rank = count;
    ++count;
  }
  return before.size() == count ? before[rank] : Variable();
}

// The states that draws make of a generator, one after another, up to `after`; none if there is no such chain.
Variables states_between(const Variable& leaf, Variable after) {
  Variables states;
  while (after.defined() && is_state(after) && !after.same_as(leaf)) {
    states.push_back(after);
    after = state_before(after);
  }
  if (!after.defined() || !after.same_as(leaf)) return {};
  std::reverse(states.begin(), states.end());
  return states;
}

// The output of the node that is what the state is of its own one, if the nodes are alike.
Variable counterpart(const Variable& state, const Apply& node) {
  if (!state.has_owner()) return {};
  const Apply own = state.owner();
  if (own.op().name() != node.op().name() || own.output_count() != node.output_count()) return {};
  return node.output(int(state.index()));
}

// The default update of the leaf in a function that computes the roots; null if it has none.
Variable default_update_in(const Variables& roots, const Variable& leaf) {
  Variable after = default_update(leaf);
  const Variables states = after.defined() ? states_between(leaf, after) : Variables();
  if (states.empty()) return after;
  const std::vector<Apply> nodes = toposort(roots);
  if (std::any_of(nodes.begin(), nodes.end(), [&](const Apply& node) { return node.same_as(after.owner()); }))
    return after;
  Nodes known{leaf.node()};
  for (auto& state : states) {
    Variables copies;
    for (auto& node : nodes)
      if (const Variable found = counterpart(state, node); found.defined())
        if (const Variable before = state_before(found); before.defined() && known.count(before.node()))
          copies.push_back(found);
    if (copies.empty()) break;
    known.clear();
    for (auto& copy : copies) known.insert(copy.node());
    after = copies.front();
  }
  return after;
}

// The members of `no_default_updates`; nullopt for True.
std::optional<Nodes> left_out_of(nb::handle left_out) {
  if (left_out.ptr() == Py_True) return {};
  Nodes out;
  if (left_out.is_none() || left_out.ptr() == Py_False) return out;
  const char* expected = "function: no_default_updates: expected True, False or a list of shared variables, got ";
  if (is_variable(left_out) || !PyObject_HasAttrString(left_out.ptr(), "__iter__"))
    throw TypeError(cat(expected, shown(left_out)));
  for (nb::handle one : left_out) {
    if (!is_variable(one) || !is_shared(variable_of(one)))
      throw TypeError(cat("function: no_default_updates: expected shared variables, got ", shown(one)));
    out.insert(variable_of(one).node());
  }
  return out;
}

void note_default_update(const Variable& variable, nb::handle expression) {
  if (!is_shared(variable)) throw TypeError(cat("default_update: ", variable.str(), " is not a shared variable"));
  if (!expression.is_none() && !(is_variable(expression) && variable.type()->is_super(*variable_of(expression).type())))
    throw TypeError(
        cat("default_update: expected an expression of ", variable.type()->str(), ", got ", shown(expression)));
  notes_of(variable)[note_name] = expression;
}

}  // namespace

Replacements with_default_updates(const Variables& outputs, Replacements updates, nb::handle left_out) {
  const std::optional<Nodes> skipped = left_out_of(left_out);
  if (!skipped) return updates;
  Nodes done = *skipped;
  Variables roots = outputs;
  for (auto& [target, expression] : updates) {
    done.insert(target.node());
    roots.push_back(expression);
  }
  Variables waiting = roots;
  while (!waiting.empty()) {
    const Variables leaves = graph_inputs(waiting);
    waiting.clear();
    for (auto& leaf : leaves) {
      if (!is_shared(leaf) || !done.insert(leaf.node()).second) continue;
      const Variable after = default_update_in(roots, leaf);
      if (!after.defined()) continue;
      updates.emplace_back(leaf, after);
      waiting.push_back(after);
    }
    roots.insert(roots.end(), waiting.begin(), waiting.end());
  }
  return updates;
}

void bind_default_updates(nb::module_& m) {
  m.def(
      "with_default_updates",
      [](const Variables& outputs, Any updates, Any left_out) {
        return with_default_updates(outputs, as_replacements(updates, "updates"), left_out);
      },
      "outputs"_a, "updates"_a.none(), "left_out"_a.none(),
      nb::sig("def with_default_updates(outputs: collections.abc.Sequence[Variable], updates: typing.Any, left_out: "
              "typing.Any) -> list[tuple[Variable, Variable]]"),
      "The updates, with the default updates of the shared variables that anything depends on and that have none.");
  m.def("default_update_in", default_update_in, "roots"_a, "leaf"_a,
        nb::sig("def default_update_in(roots: collections.abc.Sequence[Variable], leaf: Variable) -> Variable | None"),
        "The default update of the leaf in a function that computes the roots.");
  nb::borrow<nb::class_<VariableObject>>(m.attr("Variable"))
      .def_prop_rw(
          "default_update", [](const Variable& self) { return default_update(self); },
          [](const Variable& self, Any expression) { note_default_update(self, expression); },
          nb::for_getter(nb::sig("def default_update(self) -> Variable | None")),
          nb::for_setter(nb::sig("def default_update(self, expression: Variable | None, /) -> None")),
          nb::for_setter(nb::arg().none()),
          "Of a shared variable: the expression that functions update it with, unless they are told otherwise.");
}

}  // namespace bitale::python
