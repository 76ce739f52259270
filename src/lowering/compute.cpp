// Computing: builds the expressions of stored values. Rules are evaluated at the indices of loops, which inlines
// everything that is not stored.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "lowering/definitions.hpp"

namespace bitale::lowering {

Expr Definitions::read(const Variable& variable, Index at) {
  Value& value = value_of(variable);
  if (value.scalar.defined()) return value.scalar;
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

// Values read before computations are built become part of lengths and indices, whose readers do not know the checks
// that guard them.
void Definitions::guard_loads(Expr value, const std::vector<int>& checks) {
  if (checks.empty()) return;
  program::ExprWalk()(value, [&](Expr expr) {
    if (expr.code() == program::Code::load) guarded_loads_.emplace_back(expr, checks);
  });
}

// Makes the computations from `first` on come after these checks.
void Definitions::guard_computations(std::size_t first, const std::vector<int>& checks) {
  for (std::size_t k = first; k < computations.list.size(); ++k) {
    auto& own = computations.list[k].checks;
    own.insert(own.end(), checks.begin(), checks.end());
  }
}

void Definitions::evaluate(Computation& computation, std::span<const Expr> at, const ElementRule& value,
                           const TargetRule& target) {
  memo_.clear();
  touched_checks_.clear();
  Elements& elements = *computation.elements();
  elements.value = equal_lengths.fixed(value(at));
  if (target) elements.at = target(at);
  for (auto& index : elements.at) index = equal_lengths.fixed(index);
  std::sort(touched_checks_.begin(), touched_checks_.end());
  touched_checks_.erase(std::unique(touched_checks_.begin(), touched_checks_.end()), touched_checks_.end());
  computation.checks = touched_checks_;
}

void Definitions::add_computation(Computation computation, const ElementRule& value, const TargetRule& target) {
  Elements& elements = *computation.elements();
  elements.domain = equal_lengths.canonical(elements.domain);
  elements.indices = declare.indices_of(elements.domain);
  for (;;) {
    evaluate(computation, elements.indices, value, target);
    if (!unresolved_read_) break;
    if (split(computation, value, target)) return;
  }
  computations.list.push_back(std::move(computation));
}

void Definitions::add_copy(const Variable& source, std::int64_t buffer) {
  Computation copy{Stored{{.domain = value_of(source).shape, .buffer = buffer}}};
  if (!value_of(source).scalar.defined()) copy.node = source.node()->owner;
  add_computation(
      std::move(copy), [&](Index at) { return read(source, at); }, own_index);
}

std::int64_t Definitions::in_memory(const Variable& variable) {
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

void Definitions::build_computations() {
  building_ = true;
  for (ApplyNode* node : definition_order_) {
    throw_if_interrupted();
    NodeScope scope(*this, node);
    const std::size_t before = computations.list.size();
    if (auto* builders = builders_.find(node))
      for (auto& action : *builders) action();
    for (std::size_t k = before; k < computations.list.size(); ++k)
      if (!computations.list[k].node) computations.list[k].node = node;
    guard_computations(before, values_[&node->outputs[0]].checks);  // the checks of all outputs
  }
  // Outputs without a buffer of their own: scalars, views, inputs, constants, and repeated ones.
  for (auto& output : graph_.outputs()) {
    auto& slots = output_slots_[output.node()];
    value_of(output);  // defines a constant that is first used here
    while (!slots.empty()) add_copy(output, result_buffer(output));
  }
  for (auto b = std::size_t(before_.buffers); b < program.buffers.size(); ++b)
    if (program.buffers[b].role != program::Role::input)
      for (auto& length : program.buffers[b].shape) length = equal_lengths.fixed(length);
  for (auto& [load, checks] : guarded_loads_)
    for (Expr form : {load, equal_lengths.fixed(load)}) {
      auto& guards = computations.load_guards[form.id()];
      guards.insert(guards.end(), checks.begin(), checks.end());
    }
}

}  // namespace bitale::lowering
