// A basic index taken apart: one entry per dimension, with its numbers. Rules about Subtensor and IncSubtensor look at
// indices, change them and put them together again in this form.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bitale/graph/op.hpp"
#include "ops/index_pattern.hpp"

namespace bitale::rewriting {

// One dimension of an index; absent numbers are null.
struct DimBounds {
  bool integer = false;
  Variable index = {}, start = {}, stop = {}, step = {};
  bool is_full() const { return !integer && !start && !stop && !step; }
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
// x[bounds], x itself when all of it is taken.
Variable part_of(const Variable& x, const Bounds& bounds);
// x with y added to x[bounds], or put in its place.
Variable updated(const Variable& x, const Variable& y, const Bounds& bounds, bool set);

// What a slice with known numbers takes of a dimension of known length: start, start + step, ..., `count` of them.
struct KnownRange {
  std::int64_t start, count, step;
};
std::optional<KnownRange> known_range(const DimBounds& slice, std::int64_t length);
// The slice that takes them.
DimBounds slice_of(const KnownRange& range);
// The position that a known, maybe negative index means; none when it is outside or the length is unknown.
std::optional<std::int64_t> known_position(const Variable& index, std::int64_t length);

// Whether the index fails for no tensor of these static lengths: its integers are in range, and no step can be 0.
bool never_fails(const Bounds& bounds, const Dims& lengths);
// Whether an index tensor holds known positions only that a dimension of this length has.
bool are_positions(const Variable& index, std::int64_t length);
// Whether y can be put into a part of these lengths as it is: each of its lengths is the part's, or 1 by its type.
bool fits(const Variable& y, const Shape& part);
// The lengths of x[bounds], and of x where index tensors select from some dimensions.
Shape lengths_of_part(const Variable& x, const Bounds& bounds);
Shape lengths_of_gathered(const Variable& x, const std::vector<int>& axes, std::span<const Variable> indices);
// The lengths of what an IncSubtensor or AdvancedIncSubtensor writes to.
Shape lengths_of_updated(const Apply& update);

// Whether the two surely have no element in common, by their known numbers, of a tensor with these static lengths.
bool are_disjoint(const Bounds& a, const Bounds& b, const Dims& lengths);

}  // namespace bitale::rewriting
