// Outputs that carry something along an axis: running sums and products, where an extreme element is, and any state.
// Along the last axis it is carried in a variable; along another one, row by row: each row is combined with what the
// row before it left in memory, so that the elements of a row stay independent lanes.
#include <algorithm>

#include "lowering/plan.hpp"

namespace bitale::lowering {

void Plan::accumulate(int output, Combiner combiner, std::vector<Expr> domain, int axis, ElementRule rule) {
  const Variable variable = Variable::of(&node_->outputs[std::size_t(output)]);
  const std::int64_t buffer = values_[variable.node()].buffer = result_buffer(variable);
  values_[variable.node()].reread = true;
  const DType dtype = variable.storage().dtype;
  const Expr var = pool().var(next_var_++, dtype);
  builders_[node_].push_back([=, this, rule = bound(std::move(rule))] {
    const auto along = std::size_t(axis);
    const auto is_one = [](Expr length) { return length.is_constant(1); };
    const std::vector<Expr> lengths = canonical(domain);
    const bool in_variable = std::all_of(lengths.begin() + axis + 1, lengths.end(), is_one);
    Computation root;
    root.buffer = buffer;
    root.domain = domain;
    if (in_variable && !is_one(lengths[along])) {
      root.kind = Computation::Kind::accumulate;
      root.var = var;
      root.combiner = combiner;
    }
    const auto value = [&](Index at) {
      const Expr here = program::cast(rule(at), dtype);
      if (in_variable) return here;
      std::vector<Expr> before(at.begin(), at.end());
      before[along] = max(at[along] - 1, pool().integer(0));
      return select(at[along] > 0, program::combine(combiner, pool().load(buffer, dtype, before), here), here);
    };
    add_computation(std::move(root), value, [](Index at) { return std::vector<Expr>(at.begin(), at.end()); });
  });
}

void Plan::locate(int output, Combiner combiner, std::vector<Expr> domain, std::vector<bool> reduced, DType dtype,
                  ElementRule rule) {
  const Variable variable = Variable::of(&node_->outputs[std::size_t(output)]);
  Value& value = values_[variable.node()];
  const Expr var = pool().var(next_var_++, dtype), place_var = pool().var(next_var_++, DType::Int64);
  if (variable.storage().ndim() == 0)
    value.scalar = place_var;
  else
    value.buffer = result_buffer(variable);
  builders_[node_].push_back([=, this, rule = bound(std::move(rule)), buffer = value.buffer] {
    const std::vector<Expr> lengths = canonical(domain);
    const std::vector<Expr> indices = indices_of(lengths);
    Computation root;
    root.kind = Computation::Kind::locate;
    root.buffer = buffer;
    root.domain = domain;
    root.reduced = reduced;
    root.combiner = combiner;
    root.var = var;
    root.place_var = place_var;
    root.place = pool().integer(0);
    std::vector<Expr> kept_lengths;
    bool seen = false, kept_after = false;
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      if (reduced[k]) root.place = root.place * lengths[k] + indices[k];
      if (!reduced[k]) kept_lengths.push_back(lengths[k]);
      if (lengths[k].is_constant(1)) continue;
      kept_after |= seen && !reduced[k];
      seen |= reduced[k];
    }
    if (root.place.is_constant(0)) {  // there is but one element to choose from
      root.kind = buffer < 0 ? Computation::Kind::scalar : Computation::Kind::store;
      root.combiner.reset();
      root.var = buffer < 0 ? place_var : Expr();
    } else if (kept_after) {
      root.extremes = add_buffer(variable, program::Role::temporary);
      program.buffers.back().dtype = dtype;
      program.buffers.back().shape = kept_lengths;
    }
    const Expr place = root.place;
    const bool chosen = root.kind == Computation::Kind::locate;
    const auto kept = [&](Index at) {
      std::vector<Expr> out;
      for (std::size_t k = 0; k < at.size(); ++k)
        if (!reduced[k]) out.push_back(at[k]);
      return out;
    };
    add_computation(
        std::move(root), [&](Index at) { return chosen ? program::cast(rule(at), dtype) : place; },
        buffer < 0 ? TargetRule() : kept);
  });
}

// The graph is defined once, of variables that stand for the inputs, and each use replaces these.
std::optional<Lowering::GraphRule> Plan::graph_rule(const Variables& inputs, const Variables& outputs) {
  const auto is_scalar = [](const Variable& v) { return as_tensor(v.type()) && v.ndim() == 0; };
  std::vector<Apply> nodes;
  for (auto& node : toposort(outputs)) nodes.push_back(node);
  for (auto& variable : inputs)
    if (!is_scalar(variable)) return {};
  for (auto& node : nodes)
    for (auto& output : node.outputs())
      if (!is_scalar(output)) return {};
  std::vector<Expr> stands;
  for (auto& input : inputs) {
    stands.push_back(new_var(input.dtype()));
    values_[input.node()].scalar = stands.back();
    kept_leaves_.push_back(input);
  }
  const std::size_t defined = definition_order_.size(), buffers = program.buffers.size(), calls = callbacks.size();
  const std::size_t checks = program.checks.size(), entry = entry_checks.size();
  bool is_rule = true;
  for (auto& node : nodes) {
    kept_.push_back(node);
    define(node);
    for (auto& input : node.inputs()) ++value_of(input).uses;
    is_rule &= program.checks.size() == checks && !builders_.find(node.node());
    for (auto& output : node.outputs()) is_rule &= value_of(output).buffer < 0;
    if (!is_rule) break;
  }
  if (!is_rule) {  // as if nobody had asked
    definition_order_.resize(defined);
    program.buffers.resize(buffers);
    callbacks.erase(callbacks.begin() + std::ptrdiff_t(calls), callbacks.end());
    program.callbacks.resize(calls);
    program.checks.resize(checks);
    check_nodes.erase(check_nodes.begin() + std::ptrdiff_t(checks), check_nodes.end());
    check_computations.resize(checks);
    is_expected.resize(checks);
    entry_checks.erase(entry_checks.begin() + std::ptrdiff_t(entry), entry_checks.end());
    return {};
  }
  std::vector<Expr> values;
  for (auto& output : outputs) {
    ++value_of(output).uses;
    values.push_back(read(output, {}));
  }
  return [stands, values](std::span<const Expr> given) {
    Stored replaced;
    for (std::size_t k = 0; k < stands.size(); ++k) replaced[stands[k].id()] = given[k];
    std::vector<Expr> out;
    for (auto& value : values) out.push_back(substitute(value, replaced));
    return out;
  };
}

// The loop is a step of its own at the top: what its inputs compute is computed in it, as far as that is cheap.
void Plan::scan(Expr extent, Scan scan) {
  for (auto& input : node_->inputs)
    if (value_of(input).cost >= materialize_threshold) want(input);  // in lanes, in a loop before
  std::vector<std::int64_t> buffers;
  for (std::uint32_t k = 0; k < node_->output_count; ++k) {
    const Variable variable = Variable::of(&node_->outputs[k]);
    buffers.push_back(values_[variable.node()].buffer = result_buffer(variable));
    values_[variable.node()].reread = true;
  }
  builders_[node_].push_back([this, node = node_, extent, scan = std::move(scan), buffers = std::move(buffers)] {
    NodeScope scope(*this, node);
    const Expr length = canonical(extent), number = new_index("step", length);
    program::Loop loop;
    Computation root;
    // Again where an input turns out to be in parts, and is stored whole.
    do {
      if (unresolved_read_) store_segments(std::exchange(unresolved_read_, {})->variable);
      memo_.clear();
      touched_checks_.clear();
      loop = {number, length, {}, {}};
      std::vector<Expr> states;
      for (auto& init : scan.init()) {
        states.push_back(new_var(init.dtype()));
        loop.carries.push_back({states.back(), Combiner::add, false, with_fixed_lengths(init)});
      }
      const Scan::Step step = scan.step(number, states);
      for (std::size_t k = 0; k < buffers.size(); ++k) {
        const DType dtype = program.buffers[std::size_t(buffers[k])].dtype;
        loop.body.push_back(
            {program::Store{buffers[k], {number}, program::cast(with_fixed_lengths(step.outputs[k]), dtype)}});
      }
      for (std::size_t k = 0; k < states.size(); ++k)
        loop.body.push_back({program::Next{states[k], with_fixed_lengths(step.next[k])}});
    } while (unresolved_read_);
    root.kind = Computation::Kind::step;
    root.writes = buffers;
    root.checks = touched_checks_;
    root.step = program::Step{std::move(loop)};
    computations.push_back(std::move(root));
  });
}

}  // namespace bitale::lowering
