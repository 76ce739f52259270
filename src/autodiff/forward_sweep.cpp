// Forward accumulation: tangents are propagated along with the computation. For an op without a pushforward its
// pullback is used, which is linear in the cotangents: the pullback of the pullback is the pushforward.
#include <algorithm>

#include "autodiff/sweep.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"
#include "graph/support.hpp"

namespace bitale {

namespace {

// The tangent of a variable: no entry if disconnected, no value if zero.
struct Tangent {
  Variable value, null;
};

class ForwardSweep {
 public:
  ForwardSweep(std::span<const Seed> seeds, const PointerSet& blocked, const DifferentiationOrder& order)
      : blocked_(blocked), order_(order) {
    const SupportScope scope;
    for (const Seed& seed : seeds)
      if (!seed.gradient.is_disconnected()) add(seed.variable, seed.gradient);
    for (const DifferentiationOrder::Step& step : order.steps())
      if (step.form)
        pass_from_form(*step.form);
      else
        pass_through(step.node);
  }

  Variable of(const Variable& v) const {
    const Tangent* tangent = known_.find(v.node());
    if (!tangent) return disconnected();
    if (tangent->null.defined()) return tangent->null;
    return tangent->value.defined() ? tangent->value : zero_gradient(v);
  }

 private:
  void pass_from_form(const StableForm& form) {
    const Tangent* found = known_.find(form.form.node());
    if (!found) return;
    const Tangent tangent = *found;
    add(form.variable, tangent.null.defined()    ? tangent.null
                       : tangent.value.defined() ? tangent.value
                                                 : disconnected());
  }

  void pass_through(const Apply& node) {
    auto pattern = node.op().connection_pattern(node);
    Variables in;
    std::vector<bool> connected(node.output_count(), false);
    bool any_value = false;
    Variable null;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const Tangent* tangent = known_.find(node.inputs()[i].node());
      bool has_value = tangent && tangent->value.defined() && !tangent->null.defined();
      in.push_back(has_value ? tangent->value : disconnected());
      if (!tangent) continue;
      any_value |= has_value;
      for (std::size_t o = 0; o < connected.size(); ++o)
        if (pattern[i][o]) {
          connected[o] = true;
          if (tangent->null.defined()) null = tangent->null;
        }
    }
    if (std::ranges::none_of(connected, [](bool c) { return c; })) return;
    Variables out;
    if (!null.defined() && any_value) out = call_pushforward(node, in);
    for (std::size_t o = 0; o < connected.size(); ++o) {
      Variable output = node.output(int(o));
      if (!connected[o] || blocked_.contains(output.node()) || order_.has_form(output.node())) continue;
      if (null.defined())
        add(output, null);
      else
        add(output, out.empty() ? disconnected() : out[o]);
    }
  }

  // Marks the variable as connected and adds the tangent; a disconnected tangent adds nothing.
  void add(const Variable& v, const Variable& tangent) {
    Tangent& at = *known_.insert(v.node()).first;
    if (tangent.is_disconnected()) return;
    if (tangent.is_null()) {
      at.null = tangent;
    } else if (Variable fitting = as_gradient_of(v, tangent, "tangent"); !is_discrete(v.dtype())) {
      at.value = at.value.defined() ? bitale::add(at.value, fitting) : fitting;
    }
  }

  static Variables call_pushforward(const Apply& node, const Variables& tangents) {
    const Variables out = with_node_context(node, [&] {
      return node.op().has_pushforward() ? node.op().pushforward(node, tangents) : transpose_pullback(node, tangents);
    });
    if (out.size() != node.output_count())
      throw InternalError(cat(node.op().label(), ": pushforward returned ", out.size(), " tangents for ",
                              node.output_count(), " outputs"));
    return out;
  }

  static Variables transpose_pullback(const Apply& node, const Variables& tangents) {
    // The pullback is linear in the cotangents, so their values do not matter. But derivatives pass through them, so
    // they must not be left out as zeros are.
    SupportScope scope;
    Variables cotangents, blockers = node.inputs();
    for (const Variable& output : node.outputs()) {
      const bool has_one = as_tensor(output.type()) && !is_discrete(output.dtype());
      cotangents.push_back(has_one ? zeros_like(output) : disconnected());
      if (has_one) scope.state(cotangents.back(), Support());
      blockers.push_back(output);
    }
    blockers.insert(blockers.end(), cotangents.begin(), cotangents.end());
    Variables back = node.op().pullback(node, cotangents);
    std::vector<Seed> seeds;
    for (std::size_t i = 0; i < back.size(); ++i) {
      if (tangents[i].is_disconnected() || back[i].is_disconnected()) continue;
      if (back[i].is_null()) return Variables(node.output_count(), back[i]);
      seeds.push_back({back[i], tangents[i]});
    }
    ReverseSweep sweep(seeds, cotangents, blockers);
    sweep.run();
    Variables out;
    for (const Variable& cotangent : cotangents) out.push_back(sweep.gradient(cotangent));
    return out;
  }

  PointerMap<Tangent> known_;
  const PointerSet& blocked_;
  const DifferentiationOrder& order_;
};

// For each node, whether it depends on one of these variables.
std::vector<char> which_depend(std::span<const Apply> nodes, const Variables& variables) {
  PointerSet reached;
  for (const Variable& v : variables) reached.insert(v.node());
  std::vector<char> out;
  for (const Apply& node : nodes) {
    const auto is_reached = [&](const Variable& input) { return reached.contains(input.node()); };
    out.push_back(std::ranges::any_of(node.inputs(), is_reached));
    if (out.back())
      for (const Variable& output : node.outputs()) reached.insert(output.node());
  }
  return out;
}

}  // namespace

Variables forward_sweep(std::span<const Variable> outputs, std::span<const Seed> tangents, const Variables& blockers) {
  PointerSet blocked;
  for (const Variable& v : blockers) blocked.insert(v.node());
  const auto run = [&](const DifferentiationOrder& order) {
    ForwardSweep sweep(tangents, blocked, order);
    Variables out;
    for (const Variable& output : outputs) out.push_back(sweep.of(output));
    return out;
  };
  const DifferentiationOrder plain(outputs, blocked, {});
  Variables borders;
  for (const Seed& seed : tangents) borders.push_back(seed.variable);
  const std::vector<Apply> nodes = plain.nodes();
  const std::vector<char> depend = which_depend(nodes, borders);
  const std::vector<StableForm> forms =
      find_stable_forms({nodes, depend, Variables(outputs.begin(), outputs.end()), std::move(borders)});
  if (forms.empty()) return run(plain);
  Variables out = run(DifferentiationOrder(outputs, blocked, forms));
  const auto is_disconnected = [](const Variable& v) { return v.is_disconnected(); };
  if (std::ranges::none_of(out, is_disconnected)) return out;
  const Variables as_written = run(plain);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i].is_disconnected() && !as_written[i].is_disconnected())
      out[i] = as_written[i].is_null() ? as_written[i] : zero_gradient(outputs[i]);
  return out;
}

}  // namespace bitale
