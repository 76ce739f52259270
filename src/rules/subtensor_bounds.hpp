// A basic index in decomposed form: one entry per dimension, with its numbers. Rules on Subtensor and IncSubtensor
// inspect, change and rebuild indices in this form.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bitale/graph/op.hpp"
#include "ops/indexing/index_pattern.hpp"

namespace bitale::rewriting {

// One dimension of an index; absent numbers are null.
struct DimBounds {
  bool integer = false;
  Variable index = {}, start = {}, stop = {}, step = {};
  bool is_full() const { return !integer && !start.defined() && !stop.defined() && !step.defined(); }
  bool is_same(const DimBounds& other) const;
};
using Bounds = std::vector<DimBounds>;

inline DimBounds at_index(const Variable& index) { return {.integer = true, .index = index}; }
inline DimBounds range(const Variable& start, const Variable& stop, const Variable& step = {}) {
  return {.integer = false, .index = {}, .start = start, .stop = stop, .step = step};
}

// The index of a Subtensor or an IncSubtensor, one entry per dimension of x.
Bounds bounds_of(const Apply& node);
IndexPattern pattern_of(const Bounds& bounds);
Variables numbers_of(const Bounds& bounds);
bool all_full(const Bounds& bounds);
bool is_same(const Bounds& a, const Bounds& b);
// x[bounds], or x itself if all of it is taken.
Variable part_of(const Variable& x, const Bounds& bounds);
// x with y added to x[bounds], or, with `set`, written there.
Variable updated(const Variable& x, const Variable& y, const Bounds& bounds, bool set);

// The positions that a slice with known numbers takes from a dimension of known length: start, start + step, ...,
// `count` of them.
struct KnownRange {
  std::int64_t start, count, step;
};
std::optional<KnownRange> known_range(const DimBounds& slice, std::int64_t length);
// The slice that takes these positions.
DimBounds slice_of(const KnownRange& range);
// The position of a known, possibly negative index; none if it is out of range or the length is unknown.
std::optional<std::int64_t> known_position(const Variable& index, std::int64_t length);

// Whether the index is valid for all tensors of these static lengths: its integers are in range, and no step can be 0.
bool never_fails(const Bounds& bounds, const Dims& lengths);
// Whether all elements of an index tensor are known and in range for a dimension of this length.
bool are_positions(const Variable& index, std::int64_t length);
// Whether y can be written to a part of these lengths as it is: each of its lengths is the part's, or statically 1.
bool fits(const Variable& y, const Shape& part);
// The lengths of x[bounds], and of x where index tensors select from some dimensions.
Shape lengths_of_part(const Variable& x, const Bounds& bounds);
Shape lengths_of_gathered(const Variable& x, const std::vector<int>& axes, std::span<const Variable> indices);
// The lengths of the part that an IncSubtensor or AdvancedIncSubtensor writes.
Shape lengths_of_updated(const Apply& update);

// Whether the two parts of a tensor with these static lengths are certainly disjoint, by their known numbers.
bool are_disjoint(const Bounds& a, const Bounds& b, const Dims& lengths);

}  // namespace bitale::rewriting
