// Elementwise functions of two arguments. Zeros stay zeros: both are sparse and combined at the elements that either
// stores, or a sparse one is multiplied by elements of a dense one.
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/sparse/functions.hpp"
#include "ops/analysis/lengths.hpp"
#include "sparse/merge.hpp"

namespace bitale::sparse {

namespace {

void require_same_shape(const Matrix& a, const Matrix& b, std::string_view who) {
  for (const int axis : {0, 1}) {
    const auto x = known_integer(a.length(axis)), y = known_integer(b.length(axis));
    if (x && y && *x != *y)
      throw ShapeError(cat("sparse: ", who, ": expected matrices of one shape, got ", a.str(), " and ", b.str()));
  }
}

Variable spread(const Variable& data, const Variable& stored, const Variable& count) {
  return set_subtensor(zeros({count}, data.dtype()), {IndexItem(stored)}, data);
}

// The elements of both, those of a first.
Positions joined(const Matrix& a, const Matrix& b, std::string_view who) {
  Positions first = positions_of(a);
  const Positions second = positions_of(b);
  Variable rows = concatenate({first.rows, second.rows}, 0);
  for (const std::size_t axis : {0, 1}) rows = with_equal_lengths(rows, second.lengths[axis], first.lengths[axis], who);
  return {std::move(rows), concatenate({first.columns, second.columns}, 0), std::move(first.lengths)};
}

}  // namespace

Aligned aligned(const Matrix& a, const Matrix& b, std::string_view who) {
  require_same_shape(a, b, who);
  if (a.pattern().same_as(b.pattern())) return {a.pattern(), a.data(), b.data()};
  if (!a.pattern().is_static() || !b.pattern().is_static()) {
    const Merged merged = merge(joined(a, b, who), a.format());
    const Variable count = merged.pattern.count(), middle = a.pattern().count();
    return {merged.pattern, spread(a.data(), subtensor(merged.stored, {IndexItem(Slice{{}, middle, {}})}), count),
            spread(b.data(), subtensor(merged.stored, {IndexItem(Slice{middle, {}, {}})}), count)};
  }
  Elements both = elements_of(a.pattern(), who);
  const std::size_t first = both.rows.size();
  const Elements other = elements_of(b.pattern(), who);
  both.rows.insert(both.rows.end(), other.rows.begin(), other.rows.end());
  both.columns.insert(both.columns.end(), other.columns.begin(), other.columns.end());
  const Compressed compressed = compress(both, a.format());
  const auto middle = compressed.stored.begin() + std::ptrdiff_t(first);
  const auto part = [](auto begin, auto end) { return constant(Array(std::vector<std::int64_t>(begin, end))); };
  const Variable count = compressed.pattern.count();
  return {compressed.pattern, spread(a.data(), part(compressed.stored.begin(), middle), count),
          spread(b.data(), part(middle, compressed.stored.end()), count)};
}

Matrix add(const Matrix& a, const Matrix& b) {
  const Aligned both = aligned(a, b, "add");
  return Matrix(both.pattern, both.a + both.b);
}

Matrix sub(const Matrix& a, const Matrix& b) {
  const Aligned both = aligned(a, b, "sub");
  return Matrix(both.pattern, both.a - both.b);
}

Matrix mul(const Matrix& a, const Matrix& b) {
  const Aligned both = aligned(a, b, "multiply");
  return Matrix(both.pattern, both.a * both.b);
}

namespace {

// A dense operand that broadcasts to the matrix, never the other way: lengths are its lengths, or known to be 1.
Variable fitted(const Pattern& pattern, const Variable& dense) {
  if (dense.ndim() > 2)
    throw TypeError(cat("sparse: expected a scalar, a vector or a matrix next to a sparse matrix, got ", dense.str(),
                        " with ", dense.ndim(), " dimensions"));
  std::vector<std::optional<Operand>> lengths(std::size_t(dense.ndim()));
  for (int k = 0; k < dense.ndim(); ++k) {
    const int axis = k + 2 - dense.ndim();
    const auto given = known_integer(length_of(dense, k)), expected = known_integer(pattern.length(axis));
    if (given == 1 && expected != 1) continue;
    if (given && expected && *given != *expected)
      throw ShapeError(cat("sparse: dimension ", k, " of ", dense.str(), " has length ", *given,
                           ", but the sparse matrix has length ", *expected, " there"));
    lengths[std::size_t(k)] = pattern.length(axis);
  }
  return specify_shape(dense, lengths);
}

Variable zeros_of(const Matrix& a) { return zeros({a.length(0), a.length(1)}, a.dtype()); }

Variable added_to(const Variable& dense, const Matrix& a, const Variable& data) {
  const Pattern& at = a.pattern();
  return inc_subtensor(dense, {IndexItem(at.position(0)), IndexItem(at.position(1))}, data);
}

}  // namespace

Variable values_at(const Pattern& pattern, const Operand& x) {
  const LocationScope here(x.where);
  const Variable& dense = x.variable;
  if (dense.ndim() == 0) return dense;
  const Variable own = fitted(pattern, dense);
  std::vector<IndexItem> items;
  for (int k = 0; k < dense.ndim(); ++k) {
    const int axis = k + 2 - dense.ndim();
    if (known_integer(length_of(dense, k)) == 1 && known_integer(pattern.length(axis)) != 1)
      items.emplace_back(0);
    else
      items.emplace_back(pattern.position(axis));
  }
  return subtensor(own, items);
}

Matrix mul(const Matrix& a, const Operand& x) { return a.with_data(a.data() * values_at(a.pattern(), x)); }
Matrix true_div(const Matrix& a, const Operand& x) {
  return a.with_data(bitale::true_div(a.data(), values_at(a.pattern(), x)));
}

Variable add(const Matrix& a, const Operand& x) {
  const LocationScope here(x.where);
  return added_to(fitted(a.pattern(), x.variable) + zeros_of(a), a, a.data());
}

Variable sub(const Matrix& a, const Operand& x) {
  const LocationScope here(x.where);
  return added_to(zeros_of(a) - fitted(a.pattern(), x.variable), a, a.data());
}

// Elements are negated in the dtype of the result: unsigned and narrow ones have no negative in theirs.
Variable sub(const Operand& x, const Matrix& a) {
  const LocationScope here(x.where);
  const Variable dense = fitted(a.pattern(), x.variable) - zeros_of(a);
  return added_to(dense, a, -bitale::cast(a.data(), dense.dtype()));
}

}  // namespace bitale::sparse
