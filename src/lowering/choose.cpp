// Choice: which values are stored. All others are inlined into their readers, which is fusion. A value is stored when
// somebody needs it in memory, or when it is materialize_threshold and would be computed more often than once; values
// that end up stored and read in one loop cost nothing (forward.cpp), so the choice may be generous.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "lowering/plan.hpp"

namespace bitale::lowering {

namespace {
constexpr int deepest = 60;  // inlining deeper than this makes loops too big
constexpr int named = 256;   // a scalar that costs this much and has several readers is a variable
constexpr int cost_limit = 1 << 20;
}  // namespace

void Plan::choose_stores() {
  // Readers, seen through permutations: from the outputs back.
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    for (auto& output : node->outputs()) {
      Value& value = values_[output.node()];
      for (auto& client : graph_.clients(output)) {
        if (!client.node) {
          value.wanted = true;
          continue;
        }
        const Value& reader = values_[&client.node->outputs[0]];
        if (!reader.permuted_from) {
          ++value.uses;
          continue;
        }
        value.uses += reader.uses;
        const bool adds_axis = std::find(reader.order.begin(), reader.order.end(), -1) != reader.order.end();
        value.expanded |= reader.expanded || adds_axis;
      }
    }
  }
  for (auto& node : nodes_)
    for (auto& output : node.outputs()) choose(output);
}

void Plan::choose(const Variable& variable) {
  Value& value = values_[variable.node()];
  if (!value.rule || value.buffer >= 0) return;
  value.cost = value.own_cost;
  for (auto& input : variable.owner().inputs()) {
    const Value& source = value_of(input);
    const bool inlined = source.rule && source.buffer < 0 && !source.scalar;
    if (!inlined) continue;
    value.cost = std::min(cost_limit, value.cost + source.cost);
    value.depth = std::max(value.depth, source.depth + 1);
  }
  if (variable.storage().ndim() == 0) {
    // Scalars are computed once by construction. A variable names those that are long chains, so that none is too deep,
    // and those that are large and have several readers, so that what walks over the readers doesn't walk over them.
    if (value.depth < deepest && (value.uses <= 1 || value.cost < named)) return;
    const Expr var = declare.var(variable.storage().dtype);
    builders_[variable.owner().node()].push_back([this, var, rule = value.rule] {
      Computation root;
      root.kind = Computation::Kind::scalar;
      root.var = var;
      add_computation(std::move(root), rule, nullptr);
    });
    value.scalar = var;
    return;
  }
  const bool recomputed = value.uses > 1 || value.expanded;
  const bool is_view = bool(value.permuted_from);
  if (!value.wanted && value.depth < deepest && (is_view || value.cost < materialize_threshold || !recomputed)) return;
  if (!value.parts.empty()) return store_segments(variable);
  value.buffer = result_buffer(variable);
  builders_[variable.owner().node()].push_back([this, buffer = value.buffer, rule = value.rule, shape = value.shape] {
    Computation root;
    root.buffer = buffer;
    root.domain = shape;
    add_computation(std::move(root), rule, [](Index at) { return std::vector<Expr>(at.begin(), at.end()); });
  });
}

// ---- reading and building -------------------------------------------------------------------------------------------

Expr Plan::read(const Variable& variable, Index at) {
  Value& value = value_of(variable);
  if (value.scalar) return value.scalar;
  if (value.buffer >= 0 && !(value.rule && variable.storage().ndim() == 0))
    return pool().load(value.buffer, component_dtype(variable.storage().dtype), at);
  MemoKey key{variable.node(), {}};
  for (auto& index : at) key.at.push_back(index.id());
  if (auto found = memo_.find(key); found != memo_.end()) return found->second;
  if (!value.rule) throw InternalError(cat("lowering: ", variable.str(), " has no value yet"));
  touched_checks_.insert(touched_checks_.end(), value.checks.begin(), value.checks.end());
  const Expr result = is_called(variable, value) ? called(variable, value, at) : value.rule(at);
  if (!building_) guard_loads(result, value.checks);
  if (result.dtype() != variable.storage().dtype)
    throw InternalError(cat("lowering: the rule of ", variable.str(), " gives ", dtype_name(result.dtype()), ", not ",
                            dtype_name(variable.storage().dtype)));
  if (value.uses > 1 && result.code() == program::Code::mul) pool().forbid_contraction(result);
  memo_[std::move(key)] = result;
  return result;
}

// What is read at once becomes part of lengths and places, whose readers don't know of the checks behind it.
void Plan::guard_loads(Expr value, const std::vector<int>& checks) {
  if (checks.empty()) return;
  program::ExprWalk()(value, [&](Expr expr) {
    if (expr.code() == program::Code::load) guarded_loads_.emplace_back(expr, checks);
  });
}

// The computations from `first` on come behind these checks.
void Plan::guard_computations(std::size_t first, const std::vector<int>& checks) {
  for (std::size_t k = first; k < computations.size(); ++k)
    computations[k].checks.insert(computations[k].checks.end(), checks.begin(), checks.end());
}

void Plan::evaluate(Computation& root, std::span<const Expr> at, const ElementRule& value, const TargetRule& target) {
  memo_.clear();
  touched_checks_.clear();
  root.value = equal_lengths.fixed(value(at));
  if (target) root.at = target(at);
  for (auto& place : root.at) place = equal_lengths.fixed(place);
  std::sort(touched_checks_.begin(), touched_checks_.end());
  touched_checks_.erase(std::unique(touched_checks_.begin(), touched_checks_.end()), touched_checks_.end());
  root.checks = touched_checks_;
}

void Plan::add_computation(Computation root, const ElementRule& value, const TargetRule& target) {
  root.domain = equal_lengths.canonical(root.domain);
  root.indices = declare.indices_of(root.domain);
  for (evaluate(root, root.indices, value, target); unresolved_read_; evaluate(root, root.indices, value, target))
    if (split(root, value, target)) return;
  computations.push_back(std::move(root));
}

void Plan::add_copy(const Variable& source, std::int64_t buffer) {
  Computation root;
  root.buffer = buffer;
  if (!value_of(source).scalar) root.node = source.node()->owner;
  root.domain = value_of(source).shape;
  add_computation(
      std::move(root), [&](Index at) { return read(source, at); },
      [](Index at) { return std::vector<Expr>(at.begin(), at.end()); });
}

std::int64_t Plan::in_memory(const Variable& variable) {
  Value& value = value_of(variable);
  if (value.buffer >= 0) return value.buffer;
  if (variable.is_constant()) {
    value.buffer = add_buffer(variable, program::Role::constant);
    const Array& array = *variable.constant();
    program.buffers.back().value = (is_complex(variable) ? array.as_pairs() : array).contiguous();
    return value.buffer;
  }
  const auto buffer = result_buffer(variable);
  add_copy(variable, buffer);
  return values_[variable.node()].buffer = buffer;
}

void Plan::build_computations() {
  building_ = true;
  for (ApplyNode* node : definition_order_) {
    NodeScope scope(*this, node);
    const std::size_t before = computations.size();
    if (auto* builders = builders_.find(node))
      for (auto& action : *builders) action();
    for (std::size_t k = before; k < computations.size(); ++k)
      if (!computations[k].node) computations[k].node = node;
    guard_computations(before, values_[&node->outputs[0]].checks);  // the checks of all outputs
  }
  // Outputs without a buffer of their own: scalars, views, inputs, constants, and repeated ones.
  for (auto& output : graph_.outputs()) {
    auto& slots = output_slots_[output.node()];
    value_of(output);  // a constant is met here for the first time
    while (!slots.empty()) add_copy(output, result_buffer(output));
  }
  for (auto& buffer : program.buffers)
    if (buffer.role != program::Role::input)
      for (auto& length : buffer.shape) length = equal_lengths.fixed(length);
  for (auto& [load, checks] : guarded_loads_)
    for (Expr form : {load, equal_lengths.fixed(load)}) {
      auto& guards = load_guards[form.id()];
      guards.insert(guards.end(), checks.begin(), checks.end());
    }
}

}  // namespace bitale::lowering
