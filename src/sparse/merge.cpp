#include "sparse/merge.hpp"

#include "bitale/core/text.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/reductions.hpp"
#include "bitale/ops/segments.hpp"
#include "bitale/ops/sorting.hpp"
#include "bitale/sparse/functions.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::sparse {

namespace {

Variable at(const Variable& x, const Variable& index) { return subtensor(x, {IndexItem(index)}); }

// Where each of `count` compressed rows begins, by the row of each element.
Variable bounds_of(const Variable& rows, const Variable& count) {
  const Variable counts = inc_subtensor(zeros({count}, DType::Int64), {IndexItem(rows)}, int64_constant(1));
  return cumulative_sum(counts, {.axis = 0, .include_initial = true});
}

Variable lengths_of_parts(const Variable& bounds) { return cast(diff(bounds), DType::Int64); }

}  // namespace

Positions positions_of(const Matrix& a) {
  const Pattern& pattern = a.pattern();
  return {pattern.position(0), pattern.position(1), {pattern.length(0), pattern.length(1)}};
}

Merged merge(const Positions& elements, Format format) {
  const bool by_rows = format == Format::csr;
  const Variable &major = by_rows ? elements.rows : elements.columns,
                 &minor = by_rows ? elements.columns : elements.rows;
  const Variable order = lexsort({minor, major});
  const Variable i = at(major, order), j = at(minor, order), place = arange(length_of(major, 0));
  const Variable before = maximum(place - 1, int64_constant(0));
  const Variable is_first = eq(place, 0) || neq(i, at(i, before)) || neq(j, at(j, before));
  const Variable rank = cumsum(cast(is_first, DType::Int64), 0) - 1, first = flatnonzero(is_first);
  const Variable stored = set_subtensor(zeros({length_of(major, 0)}, DType::Int64), {IndexItem(order)}, rank);
  return {Pattern::unchecked(format, at(j, first), bounds_of(at(i, first), elements.lengths[by_rows ? 0 : 1]),
                             elements.lengths[0], elements.lengths[1]),
          stored};
}

Matrix added(const Positions& elements, const Variable& data, Format format) {
  const Merged merged = merge(elements, format);
  const Variable start = zeros({merged.pattern.count()}, data.dtype());
  return Matrix(merged.pattern, cast(inc_subtensor(start, {IndexItem(merged.stored)}, data), data.dtype()));
}

// Elements are in the order of the compressed axis already, and sorting keeps that of equal ones.
Matrix recompressed(const Matrix& a) {
  const Pattern& pattern = a.pattern();
  const int axis = 1 - pattern.major_axis();
  const Variable order = argsort(pattern.position(axis), 0);
  const Format format = pattern.format() == Format::csr ? Format::csc : Format::csr;
  return Matrix(
      Pattern::unchecked(format, at(pattern.position(1 - axis), order),
                         bounds_of(pattern.position(axis), pattern.length(axis)), pattern.length(0), pattern.length(1)),
      at(a.data(), order), a.name());
}

Ranges ranges(const Variable& starts, const Variable& lengths) {
  const Variable bounds = cumulative_sum(lengths, {.axis = 0, .include_initial = true}), total = sum(lengths);
  const Variable part = segment_ids(bounds, total);
  return {part, at(starts - subtensor(bounds, {IndexItem(Slice{{}, -1, {}})}), part) + arange(total)};
}

Matrix take_major(const Matrix& a, const Variable& which) {
  const Pattern& pattern = a.pattern();
  const int axis = pattern.major_axis();
  const Variable& bounds = pattern.indptr();
  const Variable lengths = at(lengths_of_parts(bounds), which);
  const Variable from = ranges(at(bounds, which), lengths).element, count = length_of(which, 0);
  return Matrix(Pattern::unchecked(pattern.format(), at(pattern.indices(), from),
                                   cumulative_sum(lengths, {.axis = 0, .include_initial = true}),
                                   axis == 0 ? count : pattern.length(0), axis == 1 ? count : pattern.length(1)),
                at(a.data(), from));
}

Matrix kept(const Matrix& a, const Variable& is_kept) {
  const Pattern& pattern = a.pattern();
  const Variable which = flatnonzero(is_kept);
  const Variable before = cumulative_sum(cast(is_kept, DType::Int64), {.axis = 0, .include_initial = true});
  return Matrix(Pattern::unchecked(a.format(), at(pattern.indices(), which), at(before, pattern.indptr()),
                                   pattern.length(0), pattern.length(1)),
                at(a.data(), which));
}

Variable with_equal_lengths(const Variable& x, const Variable& length, const Variable& expected, std::string_view who) {
  const auto given = known_integer(length), known = known_integer(expected);
  if (given && known && *given != *known)
    throw ShapeError(cat("sparse: ", who, ": expected equal lengths, got ", *given, " and ", *known));
  if ((given && known) || is_same_length(length, expected)) return x;
  return check_and_raise(x, {eq(length, expected)}, "ShapeError", cat("sparse: ", who, ": expected equal lengths"));
}

}  // namespace bitale::sparse
