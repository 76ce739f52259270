// Values in segments: the pieces of a concatenation, each with a rule of its own. A computation that reads such a value
// at the index of its own loop gets one loop for each segment, in which the segment is known; nothing is copied. Where
// the segment is not known (a gather, a slice across unknown bounds), the value is stored.
#include <algorithm>
#include <utility>

#include "lowering/definitions.hpp"
#include "program/substitute.hpp"

namespace bitale::lowering {

using program::Code;

namespace {
bool same_bounds(std::span<const Segment> a, std::span<const Segment> b) {
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

void Definitions::concatenate(int output, int axis, std::vector<ConcatSegment> segments) {
  const Variable variable = Variable::of(&node_->outputs[std::size_t(output)]);
  Value& value = values_[variable.node()];
  value.segment_axis = axis;
  Expr start = pool().integer(0);
  for (auto& segment : segments) {
    const Expr extent = equal_lengths.canonical(segment.extent);
    value.segments.push_back({start, extent, bound(std::move(segment.value))});
    start = start + extent;
  }
  value.rule = [this, node = node_, output](Index at) {
    return read_segment(Variable::of(&node->outputs[std::size_t(output)]), at);
  };
}

// The loop index with which `position` runs through exactly this segment; invalid if it does not.
Expr Definitions::counts_through(const Segment& segment, Expr position) const {
  Expr index = position, offset = position.pool().integer(0);
  if (position.code() == Code::add) {
    const bool first = position.argument(0).code() == Code::index;
    index = position.argument(first ? 0 : 1);
    offset = position.argument(first ? 1 : 0);
  }
  if (index.code() != Code::index || !(offset == segment.start)) return {};
  return same_length(declare.extent_of(index), segment.extent) ? index : Expr();
}

Expr Definitions::read_segment(const Variable& variable, Index at) {
  const Value& value = values_[variable.node()];
  const auto axis = std::size_t(value.segment_axis);
  const Expr position = at[axis];
  std::vector<Expr> local(at.begin(), at.end());
  if (segment_scope_ && segment_scope_->whole == position && same_bounds(segment_scope_->segments, value.segments)) {
    local[axis] = segment_scope_->local;
    return value.segments[segment_scope_->segment].value(local);
  }
  for (auto& segment : value.segments)
    if (const Expr index = counts_through(segment, position); index.defined()) {
      local[axis] = index;
      return segment.value(local);
    }
  if (const auto range = declare.range_of(position))
    for (auto& segment : value.segments) {
      if (!segment.start.is_constant() || !segment.extent.is_constant()) continue;
      const std::int64_t first = segment.start.payload(), end = first + segment.extent.payload();
      if (range->first < first || range->second >= end) continue;
      local[axis] = position - segment.start;
      return segment.value(local);
    }
  if (building_) {
    if (!unresolved_read_) unresolved_read_ = UnresolvedRead{variable, position};
    return pool().number(0, variable.storage().dtype);  // never used: the reader is rebuilt
  }
  store_segments(variable);
  return pool().load(values_[variable.node()].buffer, variable.storage().dtype, at);
}

// Splits a computation into one for each segment of the value that it reads, if that is possible. Otherwise the value
// is stored, and the computation can be rebuilt.
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
  // Extents that are computed at this index would have to be computed anew for each segment.
  const bool has_computed_extents = std::any_of(elements.domain.begin(), elements.domain.end(),
                                                [&](Expr extent) { return program::contains(extent, asked.position); });
  const bool possible = found != elements.indices.end() && !has_computed_extents &&
                        asked.position.code() == Code::index && (whole.as<Stored>() || is_reduce || is_row_by_row) &&
                        !(combines && elements.buffer >= 0) && same_length(elements.domain[axis], whole_axis);
  if (!possible) {
    store_segments(asked.variable);
    return false;
  }
  const std::vector<Segment> segments = values_[asked.variable.node()].segments;
  std::optional<Expr> total;
  for (std::size_t k = 0; k < segments.size(); ++k) {
    if (segments[k].extent.is_constant(0)) continue;
    Computation segment = whole;
    Elements& own = *segment.elements();
    own.is_segment = true;
    own.domain[axis] = segments[k].extent;
    own.indices = declare.indices_of(own.domain);
    const Expr position = own.indices[axis] + segments[k].start;
    std::vector<Expr> at = own.indices;
    at[axis] = position;
    segment_scope_ = SegmentScope{position, own.indices[axis], segments, k};
    const Expr var = is_reduce ? declare.var(scanned->var.dtype()) : Expr();
    if (is_reduce) std::get<Scanned>(segment.what).var = var;
    for (evaluate(segment, at, value, target); unresolved_read_; evaluate(segment, at, value, target)) {
      const Variable other = std::exchange(unresolved_read_, {})->variable;
      const auto here = std::exchange(segment_scope_, {});
      store_segments(other);
      segment_scope_ = here;
    }
    segment_scope_.reset();
    if (combines) total = total ? program::combine(scanned->combiner, *total, var) : var;
    computations.list.push_back(std::move(segment));
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
  for (auto& segment : value.segments) {
    Stored stored{{.domain = value.shape, .buffer = value.buffer}};
    stored.domain[axis] = segment.extent;
    add_computation(std::move(stored), segment.value, [&](Index at) {
      std::vector<Expr> target = own_index(at);
      target[axis] = target[axis] + segment.start;
      return target;
    });
  }
  guard_computations(before, value.checks);
}

// Evaluates outside a computation: repeatedly, as long as it reads a value in segments where the segment is not known;
// that value is then stored.
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
