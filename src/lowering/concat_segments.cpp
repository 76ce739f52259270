// Values in parts: the pieces of a concatenation, each with a rule of its own. What reads them at the index of its own
// loop gets one loop for each part, in which the part is known; nothing is copied. Where a part is not known (a gather,
// a slice across unknown bounds), the value is stored.
#include <algorithm>
#include <utility>

#include "lowering/plan.hpp"

namespace bitale::lowering {

using program::Code;

namespace {
bool same_bounds(std::span<const ConcatSegment> a, std::span<const ConcatSegment> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](auto& p, auto& q) { return p.start == q.start && p.extent == q.extent; });
}
}  // namespace

void Plan::concatenate(int output, int axis, std::vector<Part> parts) {
  const Variable variable = Variable::of(&node_->outputs[std::size_t(output)]);
  Value& value = values_[variable.node()];
  value.segment_axis = axis;
  Expr start = pool().integer(0);
  for (auto& part : parts) {
    const Expr extent = equal_lengths.canonical(part.extent);
    value.parts.push_back({start, extent, bound(std::move(part.value))});
    start = start + extent;
  }
  value.rule = [this, node = node_, output](Index at) {
    return read_segment(Variable::of(&node->outputs[std::size_t(output)]), at);
  };
}

// The loop index with which `position` goes through exactly this part; none if it does not.
Expr Plan::counts_through(const ConcatSegment& part, Expr position) const {
  Expr index = position, offset = position.pool().integer(0);
  if (position.code() == Code::add) {
    const bool first = position.argument(0).code() == Code::index;
    index = position.argument(first ? 0 : 1);
    offset = position.argument(first ? 1 : 0);
  }
  if (index.code() != Code::index || !(offset == part.start)) return {};
  return same_length(declare.extent_of(index), part.extent) ? index : Expr();
}

Expr Plan::read_segment(const Variable& variable, Index at) {
  const Value& value = values_[variable.node()];
  const auto axis = std::size_t(value.segment_axis);
  const Expr position = at[axis];
  std::vector<Expr> local(at.begin(), at.end());
  if (segment_scope_ && segment_scope_->whole == position && same_bounds(segment_scope_->parts, value.parts)) {
    local[axis] = segment_scope_->local;
    return value.parts[segment_scope_->part].value(local);
  }
  for (auto& part : value.parts)
    if (const Expr index = counts_through(part, position)) {
      local[axis] = index;
      return part.value(local);
    }
  if (const auto range = declare.range_of(position))
    for (auto& part : value.parts) {
      if (!part.start.is_constant() || !part.extent.is_constant()) continue;
      const std::int64_t first = part.start.payload(), end = first + part.extent.payload();
      if (range->first < first || range->second >= end) continue;
      local[axis] = position - part.start;
      return part.value(local);
    }
  if (building_) {
    if (!unresolved_read_) unresolved_read_ = UnresolvedRead{variable, position};
    return pool().number(0, variable.storage().dtype);  // never used: the reader is built anew
  }
  store_segments(variable);
  return pool().load(values_[variable.node()].buffer, variable.storage().dtype, at);
}

// The computations that `root` becomes, one for each part of what it reads, if that can be done. Else what it reads is
// stored, and it can be built anew.
bool Plan::split(const Computation& root, const ElementRule& value, const TargetRule& target) {
  const UnresolvedRead asked = *std::exchange(unresolved_read_, {});
  const auto found = std::find(root.indices.begin(), root.indices.end(), asked.position);
  const auto axis = std::size_t(found - root.indices.begin());
  const Value& source = values_[asked.variable.node()];
  const Expr whole_axis = source.shape[std::size_t(source.segment_axis)];
  const bool is_reduce = root.kind == Computation::Kind::reduce;
  const bool combines = is_reduce && axis < root.reduced.size() && root.reduced[axis];
  const bool possible = found != root.indices.end() && asked.position.code() == Code::index &&
                        (root.kind == Computation::Kind::store || is_reduce) && !(combines && root.buffer >= 0) &&
                        same_length(root.domain[axis], whole_axis);
  if (!possible) {
    store_segments(asked.variable);
    return false;
  }
  const std::vector<ConcatSegment> parts = values_[asked.variable.node()].parts;
  std::optional<Expr> total;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].extent.is_constant(0)) continue;
    Computation part = root;
    part.is_segment = true;
    part.domain[axis] = parts[k].extent;
    part.indices = declare.indices_of(part.domain);
    const Expr whole = part.indices[axis] + parts[k].start;
    std::vector<Expr> at = part.indices;
    at[axis] = whole;
    segment_scope_ = SegmentScope{whole, part.indices[axis], parts, k};
    if (is_reduce) part.var = declare.var(root.var.dtype());
    for (evaluate(part, at, value, target); unresolved_read_; evaluate(part, at, value, target)) {
      const Variable other = std::exchange(unresolved_read_, {})->variable;
      const auto here = std::exchange(segment_scope_, {});
      store_segments(other);
      segment_scope_ = here;
    }
    segment_scope_.reset();
    if (combines) total = total ? program::combine(*root.combiner, *total, part.var) : part.var;
    computations.push_back(std::move(part));
  }
  if (combines) {
    Computation sum;
    sum.kind = Computation::Kind::scalar;
    sum.var = root.var;
    sum.value = total ? *total : program::identity(*root.combiner, pool(), root.var.dtype());
    computations.push_back(std::move(sum));
  }
  return true;
}

void Plan::store_segments(const Variable& variable) {
  values_[variable.node()].buffer = result_buffer(variable);
  if (building_)
    add_segment_computations(variable);
  else
    builders_[variable.owner().node()].push_back([this, variable] { add_segment_computations(variable); });
}

void Plan::add_segment_computations(const Variable& variable) {
  const Value value = values_[variable.node()];
  const std::size_t before = computations.size();
  for (auto& part : value.parts) {
    Computation root;
    root.buffer = value.buffer;
    root.domain = value.shape;
    root.domain[std::size_t(value.segment_axis)] = part.extent;
    add_computation(std::move(root), part.value, [&](Index at) {
      std::vector<Expr> target(at.begin(), at.end());
      target[std::size_t(value.segment_axis)] = target[std::size_t(value.segment_axis)] + part.start;
      return target;
    });
  }
  guard_computations(before, value.checks);
}

// Outside a root.
Expr Plan::resolved_read(const Variable& variable, Index at) {
  for (;;) {
    memo_.clear();
    const Expr result = read(variable, at);
    if (!unresolved_read_) return result;
    store_segments(std::exchange(unresolved_read_, {})->variable);
  }
}

}  // namespace bitale::lowering
