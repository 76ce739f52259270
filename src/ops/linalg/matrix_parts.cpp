// Triangles and diagonals of matrices, as expressions over elementwise operations and indexing: these fuse and have
// derivatives without further code.
#include <algorithm>
#include <numeric>

#include "bitale/core/config.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/check_and_raise.hpp"

namespace bitale {

namespace {

// Indices of an [n, m] matrix: row indices as [n, 1], column indices as [m].
struct MatrixIndices {
  Variable row, column;
};
MatrixIndices matrix_indices(const Variable& rows, const Variable& columns) {
  return {expand_dims(arange(rows), 1), arange(columns)};
}
MatrixIndices indices_of(const Variable& x) {
  return matrix_indices(length_of(x, x.ndim() - 2), length_of(x, x.ndim() - 1));
}

Variable zero_of(DType dtype) { return cast(Operand(0), dtype); }
Variable offset_constant(int k) { return int64_constant(k); }

Variable as_matrix(const Operand& x, const char* who) {
  if (x.ndim() == 0)
    throw ValueError(cat(who, ": expected at least one dimension, got ", x.variable.str(), " with none"));
  if (x.ndim() > 1) return x.variable;
  const Variable n = length_of(x.variable, 0);
  return alloc(x, {n, n});
}

}  // namespace

Variable tril(const Operand& x, int k) {
  const LocationScope here(x.where);
  const Variable m = as_matrix(x, "tril");
  const auto [row, column] = indices_of(m);
  return with_static_shape_of(m, switch_(le(column, add(row, offset_constant(k))), m, zero_of(m.dtype())));
}

Variable triu(const Operand& x, int k) {
  const LocationScope here(x.where);
  const Variable m = as_matrix(x, "triu");
  const auto [row, column] = indices_of(m);
  return with_static_shape_of(m, switch_(ge(column, add(row, offset_constant(k))), m, zero_of(m.dtype())));
}

Variable diagonal(const Operand& x, int offset, int axis1, int axis2) {
  const LocationScope here(x.where);
  if (x.ndim() < 2)
    throw ValueError(cat("diagonal: expected at least two dimensions, got ", x.variable.str(), " with ", x.ndim()));
  const int first = normal_axis(axis1, x.ndim(), "diagonal"), second = normal_axis(axis2, x.ndim(), "diagonal");
  if (first == second) throw ValueError(cat("diagonal: axis1 and axis2 are both ", first));
  std::vector<int> order;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (axis != first && axis != second) order.push_back(axis);
  order.push_back(first);
  order.push_back(second);
  const Variable m = dimshuffle(x, order);
  const int down = std::max(-offset, 0), across = std::max(offset, 0);
  const Variable rows = lengths::sub(length_of(m, m.ndim() - 2), offset_constant(down));
  const Variable columns = lengths::sub(length_of(m, m.ndim() - 1), offset_constant(across));
  const Variable index = arange(lengths::max(lengths::min(rows, columns), offset_constant(0)));
  std::vector<IndexItem> items(std::size_t(m.ndim() - 2), IndexItem(Slice{}));
  items.push_back(IndexItem(down ? add(index, offset_constant(down)) : index));
  items.push_back(IndexItem(across ? add(index, offset_constant(across)) : index));
  return subtensor(m, items);
}

Variable diag(const Operand& x, int k) {
  const LocationScope here(x.where);
  if (x.ndim() == 2) return diagonal(x, k);
  if (x.ndim() != 1)
    throw ValueError(
        cat("diag: expected a vector or a matrix, got ", x.variable.str(), " with ", x.ndim(), " dimensions"));
  const int down = std::max(-k, 0), across = std::max(k, 0);
  const Variable length = length_of(x.variable, 0), n = lengths::add(length, offset_constant(down + across));
  const Variable index = arange(length);
  const std::vector<IndexItem> items{IndexItem(down ? add(index, offset_constant(down)) : index),
                                     IndexItem(across ? add(index, offset_constant(across)) : index)};
  return set_subtensor(alloc(zero_of(x.dtype()), {n, n}), items, x);
}

Variable eye(const Operand& n, const std::optional<Operand>& m, int k, std::optional<DType> dtype) {
  const LocationScope here(n.where);
  const Variable rows = checked_length(n.variable, "eye"), columns = m ? checked_length(m->variable, "eye") : rows;
  const auto [row, column] = matrix_indices(rows, columns);
  return cast(eq(add(row, offset_constant(k)), column), dtype.value_or(config::float_x()));
}

Variable trace(const Operand& x, int offset, int axis1, int axis2) {
  const LocationScope here(x.where);
  return sum(diagonal(x, offset, axis1, axis2), std::vector<int>{-1});
}

Variable matrix_transpose(const Operand& x) {
  const LocationScope here(x.where);
  if (x.ndim() < 2)
    throw ValueError(
        cat("matrix_transpose: expected at least two dimensions, got ", x.variable.str(), " with ", x.ndim()));
  std::vector<int> order(std::size_t(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return dimshuffle(x, order);
}

}  // namespace bitale
