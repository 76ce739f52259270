// Inplace rewrites: results are written over dead inputs, for linkers that run ops sequentially. Which inputs may be
// overwritten is determined for all nodes at once from one topological order; the destroy handler then checks all
// replacements as a single change.
#include "ops/inplace.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/graph/features.hpp"
#include "bitale/rewriting/passes.hpp"
#include "graph/aliasing.hpp"

namespace bitale::rewriting {

namespace {

// If the graph is inconsistent from the start, no handler is attached, and the linker copies destroyed inputs.
void add_destroy_handler(FunctionGraph& graph) {
  if (graph.feature<DestroyHandler>()) return;
  try {
    graph.attach(std::make_shared<DestroyHandler>());
  } catch (const InconsistencyError&) {
    return;
  }
  if (!graph.feature<Supervisor>()) graph.attach(std::make_shared<Supervisor>(graph.inputs()));
}

// The node's op in a form that overwrites an input, if the order allows one. Scalars are not worth it.
OpRef form_in_order(const Aliasing& aliasing, const Apply& node, std::size_t position) {
  std::vector<int> allowed;
  for (int i = 0; i < int(node.inputs().size()); ++i)
    if (as_tensor(node.input(i).type()) && node.input(i).ndim() > 0 && aliasing.may_destroy(position, i))
      allowed.push_back(i);
  return allowed.empty() ? OpRef() : inplace_form(node, allowed);
}

struct Candidate {
  Apply node;
  OpRef op;
};

std::vector<Candidate> candidates(const FunctionGraph& graph, std::string_view op_name) {
  const std::vector<Apply> order = graph.toposort();
  const Aliasing aliasing(graph, order);
  std::vector<Candidate> out;
  for (std::size_t position = 0; position < order.size(); ++position) {
    if (order[position].op().name() != op_name) continue;
    if (OpRef op = form_in_order(aliasing, order[position], position)) out.push_back({order[position], std::move(op)});
  }
  return out;
}

void add_pairs(Replacements& pairs, const Apply& before, const Apply& after) {
  for (int k = 0; k < int(before.output_count()); ++k) pairs.emplace_back(before.output(k), after.output(k));
}

// The same node with another op and other inputs; the output types are kept, including what rewriting has added to
// them.
Apply remade(const Apply& node, const OpRef& op, const Variables& inputs) {
  std::vector<Type> types;
  for (auto& output : node.outputs()) types.push_back(output.type());
  return Apply(op, inputs, types);
}

// The replacements of all candidates; later nodes read the new outputs of earlier ones.
Replacements replacements(const std::vector<Candidate>& found) {
  Replacements pairs;
  VariableMap now;
  for (auto& [node, op] : found) {
    Variables inputs = node.inputs();
    for (auto& input : inputs)
      if (auto known = now.find(input); known != now.end()) input = known->second;
    const std::size_t first = pairs.size();
    add_pairs(pairs, node, remade(node, op, inputs));
    now.insert(pairs.begin() + std::ptrdiff_t(first), pairs.end());
  }
  return pairs;
}

void make_inplace(FunctionGraph& graph, std::string_view op_name, const char* pass) {
  if (!graph.feature<DestroyHandler>()) return;
  const RuleScope scope(pass);
  const Verbose verbose{config::get_bool("optimizer_verbose")};
  const std::vector<Candidate> found = candidates(graph, op_name);
  if (found.empty()) return;
  try {
    replace_all_validate(graph, replacements(found), pass, verbose);
    return;
  } catch (const InconsistencyError&) {
    // A feature rejects some of the replacements: they are tried separately.
  }
  for (auto& [node, op] : found) {
    Replacements pairs;
    add_pairs(pairs, node, remade(node, op, node.inputs()));
    try {
      replace_all_validate(graph, pairs, pass, verbose);
    } catch (const InconsistencyError&) {
      continue;
    }
  }
}

const RegisterPasses register_inplace({
    {"add_destroy_handler",
     49.5,
     {"inplace"},
     "Allows in-place operations from here on: a DestroyHandler orders them, and a Supervisor protects the inputs.",
     add_destroy_handler},
    {"local_inplace_setsubtensor",
     50.1,
     {"inplace"},
     "Updates a part of a tensor in place.",
     [](FunctionGraph& graph) { make_inplace(graph, "IncSubtensor", "local_inplace_setsubtensor"); }},
    {"inplace_elemwise",
     50.5,
     {"inplace", "inplace_elemwise_opt", "inplace_elemwise_optimizer"},
     "Writes an elementwise result over an operand.",
     [](FunctionGraph& graph) { make_inplace(graph, "Elemwise", "inplace_elemwise"); }},
    {"local_inplace_AdvancedIncSubtensor",
     70.6,
     {"inplace"},
     "Updates elements selected by index tensors in place.",
     [](FunctionGraph& graph) { make_inplace(graph, "AdvancedIncSubtensor", "local_inplace_AdvancedIncSubtensor"); }},
});

}  // namespace

}  // namespace bitale::rewriting
