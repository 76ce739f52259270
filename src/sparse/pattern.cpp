#include "bitale/sparse/pattern.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/segments.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::sparse {

namespace {

// Computed when it is first asked for, for a pattern and its transpose.
struct MajorPositions {
  std::once_flag once;
  Variable variable;
};

Variable integer_vector(const Variable& x, std::string_view what) {
  if (x.ndim() != 1 || !is_integer(x.dtype()))
    throw TypeError(
        cat("sparse: ", what, ": expected a vector of integers, got ", x.str(), " of type ", x.type()->str()));
  return x;
}

std::vector<std::int64_t> values_of(const Array& array) {
  const Array values = array.astype(DType::Int64).contiguous();
  const std::int64_t* v = values.data_as<std::int64_t>();
  return {v, v + values.size()};
}

bool is_equal(const Variable& a, const Variable& b) {
  if (a.same_as(b)) return true;
  const Array *x = a.constant(), *y = b.constant();
  return x && y && x->shape() == y->shape() && values_of(*x) == values_of(*y);
}

// An index constant in the smaller of SciPy's two dtypes that holds every number up to `largest`.
Variable index_constant(const std::vector<std::int64_t>& values, std::int64_t largest) {
  const Array wide(values);
  return constant(largest <= std::numeric_limits<std::int32_t>::max() ? wide.astype(DType::Int32) : wide);
}

}  // namespace

std::string_view format_name(Format format) { return format == Format::csr ? "csr" : "csc"; }

Format format_of(std::string_view name) {
  if (name == "csr") return Format::csr;
  if (name == "csc") return Format::csc;
  throw ValueError(cat("sparse: expected the format \"csr\" or \"csc\", got \"", name, "\""));
}

namespace {

template <class Index>
bool check_positions(const Index* at, const std::int64_t* bounds, std::int64_t major, std::int64_t minor) {
  bool ascends = true;
  for (std::int64_t i = 0; i < major; ++i)
    for (std::int64_t k = bounds[i]; k < bounds[i + 1]; ++k) {
      if (at[k] < 0 || std::int64_t(at[k]) >= minor) [[unlikely]]
        throw ValueError(
            cat("sparse: indices: expected positions from 0 to ", minor - 1, ", got ", at[k], " at position ", k));
      ascends &= k == bounds[i] || at[k] > at[k - 1];
    }
  return ascends;
}

}  // namespace

bool has_sorted_indices(const Array& indices, const Array& indptr, std::int64_t major, std::int64_t minor) {
  if (indices.ndim() != 1 || !is_integer(indices.dtype()) || indptr.ndim() != 1 || !is_integer(indptr.dtype()))
    throw TypeError("sparse: indices and indptr: expected vectors of integers");
  if (major < 0 || minor < 0) throw ValueError("sparse: shape: expected lengths that are not negative");
  const Array held_bounds = indptr.astype(DType::Int64).contiguous();
  const std::int64_t* bounds = held_bounds.data_as<std::int64_t>();
  if (held_bounds.size() != major + 1)
    throw ValueError(cat("sparse: indptr: expected ", major + 1, " bounds for ", major,
                         " compressed rows or columns, got ", held_bounds.size()));
  if (bounds[0] != 0) throw ValueError(cat("sparse: indptr: expected 0 first, got ", bounds[0]));
  for (std::int64_t i = 0; i < major; ++i)
    if (bounds[i + 1] < bounds[i])
      throw ValueError(cat("sparse: indptr: expected bounds that don't decrease, got ", bounds[i + 1], " at position ",
                           i + 1, " behind ", bounds[i]));
  if (bounds[major] != indices.size())
    throw ValueError(
        cat("sparse: indptr: expected bounds up to the number of indices, ", indices.size(), ", got ", bounds[major]));
  const bool is_narrow = indices.dtype() == DType::Int32;
  const Array positions = (is_narrow ? indices : indices.astype(DType::Int64)).contiguous();
  return is_narrow ? check_positions(positions.data_as<std::int32_t>(), bounds, major, minor)
                   : check_positions(positions.data_as<std::int64_t>(), bounds, major, minor);
}

struct Pattern::Record {
  Format format;
  Variable indices, indptr;
  std::array<Variable, 2> lengths;
  std::shared_ptr<MajorPositions> major = std::make_shared<MajorPositions>();
};

Pattern Pattern::unchecked(Format format, const Operand& indices, const Operand& indptr, const Operand& rows,
                           const Operand& columns) {
  const LocationScope here(indices.where);
  auto record = std::make_shared<Record>();
  record->format = format;
  record->indices = integer_vector(indices.variable, "indices");
  record->indptr = integer_vector(indptr.variable, "indptr");
  record->lengths = {as_length(rows.variable, "sparse: rows"), as_length(columns.variable, "sparse: columns")};
  return Pattern(std::move(record));
}

Pattern::Pattern(Format format, const Operand& indices, const Operand& indptr, const Operand& rows,
                 const Operand& columns)
    : Pattern(unchecked(format, indices, indptr, rows, columns)) {
  const LocationScope here(indices.where);
  Variable &own_indices = record_->indices, &own_bounds = record_->indptr;
  const Variable &major = length(major_axis()), &minor = length(1 - major_axis());
  const auto known_major = known_integer(major), known_minor = known_integer(minor);
  if (own_indices.is_constant() && own_bounds.is_constant() && known_major && known_minor) {
    if (has_sorted_indices(*own_indices.constant(), *own_bounds.constant(), *known_major, *known_minor)) return;
    throw ValueError(
        "sparse: indices: expected positions that ascend, without duplicates, in each compressed row or column; "
        "SciPy's "
        "sum_duplicates() sorts them and adds up duplicates");
  }
  const auto part_of = [](const Variable& x, std::optional<Operand> start, std::optional<Operand> stop) {
    return subtensor(x, {IndexItem(Slice{std::move(start), std::move(stop), {}})});
  };
  const Variable count = length_of(own_indices, 0);
  own_bounds = check_and_raise(own_bounds, {eq(length_of(own_bounds, 0), major + 1)}, "ValueError",
                               "sparse: indptr: expected one bound more than there are compressed rows or columns");
  own_bounds = check_and_raise(
      own_bounds,
      {all(eq(part_of(own_bounds, {}, 1), 0)), all(ge(part_of(own_bounds, 1, {}), part_of(own_bounds, {}, -1))),
       all(eq(part_of(own_bounds, -1, {}), count))},
      "ValueError",
      "sparse: indptr: expected bounds that begin at 0, don't decrease, and end at the number of indices");
  const Variable part = segment_ids(own_bounds, count);
  const auto ascends = [&](const Variable& x) { return gt(part_of(x, 1, {}), part_of(x, {}, -1)); };
  const std::vector<Operand> conditions = {all(ascends(part) || ascends(own_indices)), all(ge(own_indices, 0)),
                                           all(lt(own_indices, minor))};
  const char* expected =
      "sparse: indices: expected positions in range that ascend, without duplicates, in each compressed row or column";
  // Each vector has the checks of both, since an output may need one alone.
  own_indices = check_and_raise(own_indices, conditions, "ValueError", expected);
  own_bounds = check_and_raise(own_bounds, conditions, "ValueError", expected);
}

Format Pattern::format() const { return record_->format; }
const Variable& Pattern::indices() const { return record_->indices; }
const Variable& Pattern::indptr() const { return record_->indptr; }
const Variable& Pattern::length(int axis) const { return record_->lengths[std::size_t(axis)]; }
Dims Pattern::static_shape() const { return Dims{static_length(length(0)), static_length(length(1))}; }
Variable Pattern::count() const { return length_of(indices(), 0); }

bool Pattern::is_static() const {
  return indices().is_constant() && indptr().is_constant() && known_integer(length(0)) && known_integer(length(1));
}

const Variable& Pattern::position(int axis) const {
  if (axis != major_axis()) return indices();
  MajorPositions& major = *record_->major;
  std::call_once(major.once, [&] { major.variable = segment_ids(indptr(), count()); });
  return major.variable;
}

Pattern Pattern::transposed() const {
  auto record = std::make_shared<Record>(*record_);
  record->format = format() == Format::csr ? Format::csc : Format::csr;
  std::swap(record->lengths[0], record->lengths[1]);
  return Pattern(std::move(record));
}

bool Pattern::same_as(const Pattern& other) const {
  if (record_ == other.record_) return true;
  return format() == other.format() && is_equal(indices(), other.indices()) && is_equal(indptr(), other.indptr()) &&
         is_same_length(length(0), other.length(0)) && is_same_length(length(1), other.length(1));
}

Elements elements_of(const Pattern& pattern, std::string_view who) {
  if (!pattern.is_static())
    throw NotImplementedError(
        cat("sparse: ", who,
            ": what is found by positions is found while expressions are built, so the pattern has to be static (of a "
            "constant, or of an input or shared variable made with pattern=); a pattern that only a call knows is not "
            "implemented here"));
  Elements out(*known_integer(pattern.length(0)), *known_integer(pattern.length(1)));
  out.rows = values_of(*pattern.position(0).constant());
  out.columns = values_of(*pattern.position(1).constant());
  return out;
}

// The elements are sorted by counting: first by the position along the other axis, then by that along the compressed.
Compressed compress(const Elements& elements, Format format) {
  const bool by_rows = format == Format::csr;
  const auto& major = by_rows ? elements.rows : elements.columns;
  const auto& minor = by_rows ? elements.columns : elements.rows;
  const std::int64_t majors = elements.lengths[by_rows ? 0 : 1], minors = elements.lengths[by_rows ? 1 : 0];
  std::vector<std::int64_t> order(major.size()), sorted(major.size());
  std::iota(order.begin(), order.end(), 0);
  const auto sort_by = [&](const std::vector<std::int64_t>& key, std::int64_t length) {
    std::vector<std::int64_t> next(std::size_t(length) + 1);
    for (const std::int64_t k : key) ++next[std::size_t(k) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const std::int64_t e : order) sorted[std::size_t(next[std::size_t(key[std::size_t(e)])]++)] = e;
    std::swap(order, sorted);
  };
  sort_by(minor, minors);
  sort_by(major, majors);
  std::vector<std::int64_t> indices, indptr(std::size_t(majors) + 1), stored(major.size());
  std::int64_t last_major = -1;
  for (const std::int64_t e : order) {
    const std::int64_t i = major[std::size_t(e)], j = minor[std::size_t(e)];
    if (i != last_major || j != indices.back()) {
      indices.push_back(j);
      ++indptr[std::size_t(i) + 1];
      last_major = i;
    }
    stored[std::size_t(e)] = std::int64_t(indices.size()) - 1;
  }
  std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
  const std::int64_t largest = std::max({majors, minors, std::int64_t(indices.size())});
  return {Pattern::unchecked(format, index_constant(indices, largest), index_constant(indptr, largest),
                             elements.lengths[0], elements.lengths[1]),
          std::move(stored)};
}

}  // namespace bitale::sparse
