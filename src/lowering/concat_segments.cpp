// Values in parts: the pieces of a concatenation, each with a rule of its own. A computation that reads such a value at
// the index of its own loop gets one loop for each part, in which the part is known; nothing is copied. Where the part
// is not known (a gather, a slice across unknown bounds), the value is stored.
#include <algorithm>
#include <utility>

#include "lowering/definitions.hpp"
#include "program/substitute.hpp"

namespace bitale::lowering {

using program::Code;

namespace {
bool same_bounds(std::span<const ConcatSegment> a, std::span<const ConcatSegment> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](auto& p, auto& q) { return p.start == q.start && p.extent == q.extent; });
}

// Whether the scan is carried in a variable, around the innermost loop.
bool is_in_variable(const Scanned& scanned) {
  for (std::size_t k = scanned.domain.size(); k-- > 0;)
    if (!scanned.domain[k].is_constant(1)) return scanned.along[k];
  return false;
}
}  // namespace

void Definitions::concatenate(int output, int axis, std::vector<Part> parts) {
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

// The loop index with which `position` runs through exactly this part; invalid if it does not.
Expr Definitions::counts_through(const ConcatSegment& part, Expr position) const {
  Expr index = position, offset = position.pool().integer(0);
  if (position.code() == Code::add) {
    const bool first = position.argument(0).code() == Code::index;
    index = position.argument(first ? 0 : 1);
    offset = position.argument(first ? 1 : 0);
  }
  if (index.code() != Code::index || !(offset == part.start)) return {};
  return same_length(declare.extent_of(index), part.extent) ? index : Expr();
}

Expr Definitions::read_segment(const Variable& variable, Index at) {
  const Value& value = values_[variable.node()];
  const auto axis = std::size_t(value.segment_axis);
  const Expr position = at[axis];
  std::vector<Expr> local(at.begin(), at.end());
  if (segment_scope_ && segment_scope_->whole == position && same_bounds(segment_scope_->parts, value.parts)) {
    local[axis] = segment_scope_->local;
    return value.parts[segment_scope_->part].value(local);
  }
  for (auto& part : value.parts)
    if (const Expr index = counts_through(part, position); index.defined()) {
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
    return pool().number(0, variable.storage().dtype);  // never used: the reader is rebuilt
  }
  store_segments(variable);
  return pool().load(values_[variable.node()].buffer, variable.storage().dtype, at);
}

// Splits a computation into one for each part of the value that it reads, if that is possible. Otherwise the value is
// stored, and the computation can be rebuilt.
bool Definitions::split(const Computation& whole, const ElementRule& value, const TargetRule& target) {
  const UnresolvedRead asked = *std::exchange(unresolved_read_, {});
  const Elements& elements = *whole.elements();
  const auto* scanned = whole.as<Scanned>();
  const auto found = std::find(elements.indices.begin(), elements.indices.end(), asked.position);
  const auto axis = std::size_t(found - elements.indices.begin());
  const Value& source = values_[asked.variable.node()];
  const Expr whole_axis = source.shape[std::size_t(source.segment_axis)];
  const bool is_reduce = scanned && scanned->kind == CarryKind::reduce;
  const bool is_row_by_row = scanned && scanned->kind == CarryKind::prefix && !is_in_variable(*scanned);
  const bool combines = is_reduce && axis < scanned->along.size() && scanned->along[axis];
  // Extents that are computed at this index would have to be computed anew for each part.
  const bool has_computed_extents = std::any_of(elements.domain.begin(), elements.domain.end(),
                                                [&](Expr extent) { return program::contains(extent, asked.position); });
  const bool possible = found != elements.indices.end() && !has_computed_extents &&
                        asked.position.code() == Code::index && (whole.as<Stored>() || is_reduce || is_row_by_row) &&
                        !(combines && elements.buffer >= 0) && same_length(elements.domain[axis], whole_axis);
  if (!possible) {
    store_segments(asked.variable);
    return false;
  }
  const std::vector<ConcatSegment> parts = values_[asked.variable.node()].parts;
  std::optional<Expr> total;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].extent.is_constant(0)) continue;
    Computation part = whole;
    Elements& own = *part.elements();
    own.is_segment = true;
    own.domain[axis] = parts[k].extent;
    own.indices = declare.indices_of(own.domain);
    const Expr place = own.indices[axis] + parts[k].start;
    std::vector<Expr> at = own.indices;
    at[axis] = place;
    segment_scope_ = SegmentScope{place, own.indices[axis], parts, k};
    const Expr var = is_reduce ? declare.var(scanned->var.dtype()) : Expr();
    if (is_reduce) std::get<Scanned>(part.what).var = var;
    for (evaluate(part, at, value, target); unresolved_read_; evaluate(part, at, value, target)) {
      const Variable other = std::exchange(unresolved_read_, {})->variable;
      const auto here = std::exchange(segment_scope_, {});
      store_segments(other);
      segment_scope_ = here;
    }
    segment_scope_.reset();
    if (combines) total = total ? program::combine(scanned->combiner, *total, var) : var;
    computations.list.push_back(std::move(part));
  }
  if (combines) {
    Scanned sum;
    sum.var = scanned->var;
    sum.value = total ? *total : program::identity(scanned->combiner, pool(), scanned->var.dtype());
    computations.list.push_back({std::move(sum)});
  }
  return true;
}

void Definitions::store_segments(const Variable& variable) {
  values_[variable.node()].buffer = result_buffer(variable);
  if (building_)
    add_segment_computations(variable);
  else
    builders_[variable.owner().node()].push_back([this, variable] { add_segment_computations(variable); });
}

void Definitions::add_segment_computations(const Variable& variable) {
  const Value value = values_[variable.node()];
  const std::size_t before = computations.list.size();
  const auto axis = std::size_t(value.segment_axis);
  for (auto& part : value.parts) {
    Stored segment{{.domain = value.shape, .buffer = value.buffer}};
    segment.domain[axis] = part.extent;
    add_computation(std::move(segment), part.value, [&](Index at) {
      std::vector<Expr> target = own_index(at);
      target[axis] = target[axis] + part.start;
      return target;
    });
  }
  guard_computations(before, value.checks);
}

// Evaluates outside a computation: repeatedly, as long as it reads a value in parts where the part is not known; that
// value is then stored.
void Definitions::resolve(const std::function<void()>& evaluate) {
  for (;;) {
    memo_.clear();
    touched_checks_.clear();
    evaluate();
    if (!unresolved_read_) return;
    store_segments(std::exchange(unresolved_read_, {})->variable);
  }
}

}  // namespace bitale::lowering
