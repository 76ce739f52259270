#include "rules/scan_loop.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/ops/known.hpp"
#include "bitale/ops/ops.hpp"

namespace bitale::rewriting {

Loop loop_of(const Apply& node) {
  const ScanOp& op = *scan_op(node);
  const ScanLayout& layout = op.layout();
  Loop out;
  ScanParts& parts = out.parts;
  parts.n_steps = node.input(0);
  for (int k = 0; k < layout.sequences; ++k) {
    parts.sequences.push_back(node.input(op.sequence_input(k)));
    parts.elements.push_back(op.element(k));
  }
  for (int k = 0; k < layout.states; ++k) {
    parts.initial.push_back(node.input(op.initial_input(k)));
    parts.states.push_back(op.state(k));
    parts.next.push_back(op.next(k));
    out.finals.push_back({node.output(k)});
  }
  for (int k = 0; k < op.trace_count(); ++k) {
    parts.traced.push_back(op.traced(k));
    out.traces.push_back({node.output(op.trace_output(k))});
  }
  for (int k = 0; k < op.constant_count(); ++k)
    parts.constants.emplace_back(op.inner_constant(k), node.input(op.constant_input(k)));
  if (layout.has_until) {
    parts.until = op.until();
    out.steps = {node.outputs().back()};
  }
  parts.truncate_gradient = layout.truncate_gradient;
  parts.name = layout.name;
  parts.transposed = Transposed::by_its_source;
  return out;
}

Variables results_of(const ScanParts& parts) {
  Variables out = parts.next;
  out.insert(out.end(), parts.traced.begin(), parts.traced.end());
  if (parts.until.defined()) out.push_back(parts.until);
  return out;
}

void set_results(ScanParts& parts, const Variables& from) {
  auto at = from.begin();
  for (auto& each : parts.next) each = *at++;
  for (auto& each : parts.traced) each = *at++;
  if (parts.until.defined()) parts.until = *at;
}

void replace_in_step(ScanParts& parts, const Replacements& replacements) {
  if (!replacements.empty()) set_results(parts, clone_replace(results_of(parts), replacements));
}

bool same_value(const Variable& a, const Variable& b) {
  if (a.same_as(b)) return true;
  return a.is_constant() && b.is_constant() && a.type()->equals(*b.type()) && identical(*a.constant(), *b.constant());
}

void share_inputs(ScanParts& parts) {
  Replacements same;
  const auto merge = [&](Variables& outer, Variables& inner) {
    Variables kept_outer, kept_inner;
    for (std::size_t k = 0; k < outer.size(); ++k) {
      std::size_t found = 0;
      while (found < kept_outer.size() &&
             !(same_value(kept_outer[found], outer[k]) && kept_inner[found].type()->equals(*inner[k].type())))
        ++found;
      if (found < kept_outer.size()) {
        same.emplace_back(inner[k], kept_inner[found]);
        continue;
      }
      kept_outer.push_back(outer[k]);
      kept_inner.push_back(inner[k]);
    }
    outer = kept_outer, inner = kept_inner;
  };
  merge(parts.sequences, parts.elements);
  Variables inner, outer;
  for (auto& [leaf, value] : parts.constants) inner.push_back(leaf), outer.push_back(value);
  merge(outer, inner);
  parts.constants.clear();
  for (std::size_t k = 0; k < inner.size(); ++k) parts.constants.emplace_back(inner[k], outer[k]);
  replace_in_step(parts, same);
}

Apply replace_loop(FunctionGraph& graph, const Loop& loop, Replacements pairs, const char* rule) {
  Apply scan;
  if (!loop.parts.states.empty() || !loop.parts.traced.empty() || loop.parts.until.defined())
    scan = make_scan(loop.parts);
  const Variables outputs = scan.defined() ? scan.outputs() : Variables();
  const auto stands = [&](const Variables& olds, const Variable& value) {
    for (auto& old : olds)
      if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(value, old).value_or(value));
  };
  for (std::size_t k = 0; k < loop.finals.size(); ++k) stands(loop.finals[k], outputs[k]);
  for (std::size_t k = 0; k < loop.traces.size(); ++k) stands(loop.traces[k], outputs[loop.finals.size() + k]);
  if (loop.parts.until.defined()) stands(loop.steps, outputs.back());
  graph.replace_all(pairs, rule);
  return scan;
}

bool reads(const Apply& node, const Apply& other) {
  for (auto& each : toposort(node.inputs()))
    if (each.same_as(other)) return true;
  return false;
}

PointerSet readers_of(const FunctionGraph& graph, const Apply& node) {
  PointerSet out;
  std::vector<Apply> open{node};
  while (!open.empty()) {
    const Apply each = open.back();
    open.pop_back();
    for (auto& output : each.outputs())
      for (auto& client : graph.clients(output))
        if (client.node && out.insert(client.node)) open.push_back(Apply::of(client.node));
  }
  return out;
}

std::vector<Apply> scans_of(const FunctionGraph& graph) {
  std::vector<Apply> out;
  bool any = false;
  for (std::size_t slot = 0; slot < graph.slot_count() && !any; ++slot) any = scan_op(graph.at_slot(slot));
  if (!any) return out;
  for (auto& node : graph.toposort())
    if (scan_op(node)) out.push_back(node);
  return out;
}

std::optional<Variable> uniform_number(const Variable& v) {
  if (!(v.has_owner() || v.is_constant()) || !as_tensor(v.type())) return std::nullopt;
  try {
    return cast(constant(get_underlying_scalar_constant_value(v)), v.dtype());
  } catch (const NotScalarConstantError&) {
    return std::nullopt;
  }
}

bool is_expensive(const Apply& node) {
  if (const ScalarOp* scalar = node.op().elementwise()) return !(scalar->traits & cheap);
  return node.op().view_of(node, 0).empty();
}

PointerSet dependents(const ScanParts& parts, const Variables& leaves) {
  PointerSet out;
  for (auto& leaf : leaves) out.insert(leaf.node());
  for (const Apply& each : toposort(results_of(parts)))
    if (std::ranges::any_of(each.inputs(), [&](auto& v) { return out.contains(v.node()); }))
      for (auto& output : each.outputs()) out.insert(output.node());
  return out;
}

PointerSet changing_values(const ScanParts& parts) {
  Variables leaves = parts.states;
  leaves.insert(leaves.end(), parts.elements.begin(), parts.elements.end());
  return dependents(parts, leaves);
}

std::size_t trace_of(Loop& loop, const Variable& v) {
  Variables& traced = loop.parts.traced;
  const auto at = std::ranges::find_if(traced, [&](auto& other) { return other.same_as(v); });
  if (at != traced.end()) return std::size_t(at - traced.begin());
  traced.push_back(v);
  loop.traces.emplace_back();
  return traced.size() - 1;
}

void append_results(const FunctionGraph& graph, const Loop& loop, const Variables& outputs, Replacements& pairs) {
  for (std::size_t k = 0; k < loop.finals.size() + loop.traces.size(); ++k)
    for (auto& old : k < loop.finals.size() ? loop.finals[k] : loop.traces[k - loop.finals.size()])
      if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(outputs[k], old).value_or(outputs[k]));
}

}  // namespace bitale::rewriting
