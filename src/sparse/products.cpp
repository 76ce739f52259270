// Products and sums: of the stored elements, each with what it meets. Along the compressed axis these are sums over
// consecutive elements; along the other axis every element is added at its index.
#include <algorithm>
#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/segments.hpp"
#include "bitale/sparse/functions.hpp"
#include "ops/analysis/lengths.hpp"
#include "sparse/merge.hpp"

namespace bitale::sparse {

namespace {

// The sums of values, one (or one row) for each stored element, over the elements at each position of an axis.
Variable sums_by(const Pattern& pattern, int axis, const Variable& values) {
  if (axis == pattern.major_axis()) return segment_sum(values, pattern.indptr());
  Operands lengths({pattern.length(axis)});
  for (int k = 1; k < values.ndim(); ++k) lengths.variables.push_back(length_of(values, k));
  return cast(inc_subtensor(zeros(lengths, values.dtype()), {IndexItem(pattern.position(axis))}, values),
              values.dtype());
}

Variable as_column(const Variable& x, int ndim) { return ndim == 1 ? x : expand_dims(x, 1); }

// x, whose first dimension is checked to be as long as the matrix along an axis: now, or when a function is called.
Variable fitted(const Matrix& a, int axis, const Variable& x, int x_axis, const char* who) {
  const auto expected = known_integer(a.length(axis)), given = known_integer(length_of(x, x_axis));
  if (expected && given && *expected != *given)
    throw ShapeError(cat("sparse: ", who, ": dimension ", axis, " of ", a.str(), " has length ", *expected,
                         ", but dimension ", x_axis, " of ", x.str(), " has length ", *given));
  std::vector<std::optional<Operand>> lengths(std::size_t(x.ndim()));
  lengths[std::size_t(x_axis)] = a.length(axis);
  return specify_shape(x, lengths);
}

const Variable& vector_or_matrix(const Operand& x, const char* who) {
  if (x.ndim() == 1 || x.ndim() == 2) return x.variable;
  throw TypeError(cat("sparse: ", who, ": expected a vector or a matrix, got ", x.variable.str(), " of type ",
                      x.variable.type()->str()));
}

// Whether every element is known to be stored. Products of fewer elements are faster as loops over these, and leave out
// what would be a 0 times an infinite number.
bool stores_all(const Matrix& a) {
  const auto height = known_integer(a.length(0)), width = known_integer(a.length(1));
  if (!height || !width || !a.pattern().is_static() || !(is_float(a.dtype()) || is_complex(a.dtype()))) return false;
  return known_integer(a.pattern().count()) == *height * *width && *height > 0 && *width > 0;
}

Variable dense_of_all(const Matrix& a) {
  const bool by_rows = a.format() == Format::csr;
  const Variable rows = reshape(a.data(), Operands({a.length(by_rows ? 0 : 1), a.length(by_rows ? 1 : 0)}));
  return by_rows ? rows : transpose(rows);
}

}  // namespace

Variable dot(const Matrix& a, const Operand& x) {
  const LocationScope here(x.where);
  const Variable dense = fitted(a, 1, vector_or_matrix(x, "dot"), 0, "dot");
  if (stores_all(a)) return bitale::dot(dense_of_all(a), dense);
  const Pattern& at = a.pattern();
  return sums_by(at, 0, as_column(a.data(), x.ndim()) * subtensor(dense, {IndexItem(at.position(1))}));
}

Variable dot(const Operand& x, const Matrix& a) {
  const LocationScope here(x.where);
  const Variable dense = vector_or_matrix(x, "dot");
  if (x.ndim() == 1) return dot(a.transpose(), dense);
  return transpose(dot(a.transpose(), transpose(dense)));
}

namespace {

// The product where the pairs of elements that meet are found in a call: each element of a meets a row of b.
Matrix dot_in_call(const Matrix& a, const Matrix& b) {
  const Matrix by_rows = b.to(Format::csr);
  const Positions of_a = positions_of(a);
  const Variable inner = with_equal_lengths(of_a.columns, b.length(0), a.length(1), "dot");
  const auto taken = [](const Variable& x, const Variable& index) { return subtensor(x, {IndexItem(index)}); };
  const Variable bounds = by_rows.pattern().indptr();
  const Variable begin = taken(bounds, inner), end = taken(bounds, inner + 1);
  const Ranges pairs = ranges(begin, cast(end - begin, DType::Int64));
  return added(
      {taken(of_a.rows, pairs.part), taken(by_rows.pattern().indices(), pairs.element), {a.length(0), b.length(1)}},
      taken(a.data(), pairs.part) * taken(by_rows.data(), pairs.element), a.format());
}

}  // namespace

// Row i of the product is the sum of rows k of b, times a[i, k]. The pairs of elements that meet are found now, where
// both patterns are static.
Matrix dot(const Matrix& a, const Matrix& b) {
  const auto inner_a = known_integer(a.length(1)), inner_b = known_integer(b.length(0));
  if (inner_a && inner_b && *inner_a != *inner_b)
    throw ShapeError(cat("sparse: dot: ", a.str(), " times ", b.str(), ": lengths ", *inner_a, " and ", *inner_b));
  if (!a.pattern().is_static() || !b.pattern().is_static()) return dot_in_call(a, b);
  const Elements of_a = elements_of(a.pattern(), "dot of two sparse matrices"),
                 of_b = elements_of(b.pattern(), "dot of two sparse matrices");
  std::vector<std::vector<std::int64_t>> row_of_b(std::size_t(of_b.lengths[0]));
  for (std::size_t k = 0; k < of_b.rows.size(); ++k) row_of_b[std::size_t(of_b.rows[k])].push_back(std::int64_t(k));
  Elements product(of_a.lengths[0], of_b.lengths[1]);
  std::vector<std::int64_t> from_a, from_b;
  for (std::size_t k = 0; k < of_a.rows.size(); ++k)
    for (const std::int64_t other : row_of_b[std::size_t(of_a.columns[k])]) {
      product.add(of_a.rows[k], of_b.columns[std::size_t(other)]);
      from_a.push_back(std::int64_t(k));
      from_b.push_back(other);
    }
  const Compressed compressed = compress(product, a.format());
  const auto taken = [](const Variable& data, const std::vector<std::int64_t>& which) {
    return subtensor(data, {IndexItem(constant(Array(which)))});
  };
  const Variable terms = taken(a.data(), from_a) * taken(b.data(), from_b);
  const Variable start = zeros({compressed.pattern.count()}, terms.dtype());
  return Matrix(compressed.pattern,
                cast(inc_subtensor(start, {IndexItem(constant(Array(compressed.stored)))}, terms), terms.dtype()));
}

Matrix sampling_dot(const Operand& x, const Operand& y, const Matrix& p) {
  const LocationScope here(x.where);
  if (x.ndim() != 2 || y.ndim() != 2)
    throw TypeError(
        cat("sparse: sampling_dot: expected two matrices, got ", x.variable.str(), " and ", y.variable.str()));
  const Variable left = fitted(p, 0, x.variable, 0, "sampling_dot"),
                 right = fitted(p, 1, y.variable, 0, "sampling_dot");
  const Pattern& at = p.pattern();
  const Variable terms = subtensor(left, {IndexItem(at.position(0))}) * subtensor(right, {IndexItem(at.position(1))});
  return p.with_data(p.data() * cast(sum(terms, {1}), terms.dtype()));
}

Variable sum(const Matrix& a, std::optional<int> axis) {
  if (!axis) return sum(a.data());
  const int of = normal_axis(*axis, 2, "sparse: sum");
  // Small integers are added as int64, as by a dense sum.
  return sums_by(a.pattern(), 1 - of, cast(a.data(), sum(a.data()).dtype()));
}

Variable diag(const Matrix& a) {
  const Pattern& at = a.pattern();
  const Variable is_on = eq(at.position(0), at.position(1));
  const Variable kept = switch_(is_on, a.data(), zeros_like(a.data()));
  const Variable all_rows = sums_by(at, 0, kept);
  return subtensor(all_rows, {IndexItem(Slice{{}, lengths::min(at.length(0), at.length(1)), {}})});
}

}  // namespace bitale::sparse
