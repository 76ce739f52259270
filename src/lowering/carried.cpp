// Outputs that carry something along an axis: running sums and products, and where an extreme element is.
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
  const Expr var = declare.var(dtype);
  builders_[node_].push_back([=, this, rule = bound(std::move(rule))] {
    const auto along = std::size_t(axis);
    const auto is_one = [](Expr length) { return length.is_constant(1); };
    const std::vector<Expr> lengths = equal_lengths.canonical(domain);
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
  const Expr var = declare.var(dtype), place_var = declare.var(DType::Int64);
  if (variable.storage().ndim() == 0)
    value.scalar = place_var;
  else
    value.buffer = result_buffer(variable);
  builders_[node_].push_back([=, this, rule = bound(std::move(rule)), buffer = value.buffer] {
    const std::vector<Expr> lengths = equal_lengths.canonical(domain);
    const std::vector<Expr> indices = declare.indices_of(lengths);
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

}  // namespace bitale::lowering
