// Matrix products: transposes are moved to the operands, where they cost nothing, and products with what is zero
// except at the extremes of rows or columns become sums of selected terms.
#include "ops/linalg/dot.hpp"

#include <algorithm>
#include <numeric>

#include "ops/analysis/lengths.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/shapes/alloc.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// (x y).T is y.T x.T for two matrices.
std::optional<Variables> transpose_of_dot(FunctionGraph& graph, const Apply& node) {
  const Variable& product = node.input(0);
  if (!op_as<Dot>(product) || graph.clients(product).size() != 1) return std::nullopt;
  if (op_as<DimShuffle>(node.output())->new_order != std::vector<int>{1, 0}) return std::nullopt;
  const Apply dot = product.owner();
  if (dot.input(0).ndim() != 2 || dot.input(1).ndim() != 2) return std::nullopt;
  return one(fit(dot.op()({transpose(dot.input(1)), transpose(dot.input(0))}), node.output()));
}

// A sum of one product is that product: an outer product then fuses with the surrounding operations.
std::optional<Variables> dot_to_mul(FunctionGraph&, const Apply& node) {
  const Variable &x = node.input(0), &y = node.input(1);
  const Variable output = node.output();
  if (!is_float(output.dtype()) || x.dtype() != y.dtype()) return std::nullopt;
  if (!is_one(x, x.ndim() - 1) || !is_one(y, 0)) return std::nullopt;
  const Variable product = x * y;
  if (x.ndim() == 2 && y.ndim() == 2) return one(fit(product, output));
  if (x.ndim() == 2) return one(fit(dimshuffle(product, {0}), output));
  if (y.ndim() == 2) return one(fit(dimshuffle(product, {1}), output));
  return one(fit(dimshuffle(product, {}), output));
}

// Products with a constant matrix of few columns become loops with everything around them if each column is a row in
// memory: y = X b, and X.T r behind it, then take one pass over the matrix.
std::optional<Variables> columns_as_rows(FunctionGraph&, const Apply& node) {
  const Variable &x = node.input(0), &y = node.input(1);
  const bool is_left = y.ndim() == 1;
  const Variable &matrix = is_left ? x : y, &vector = is_left ? y : x;
  if (!matrix.is_constant() || matrix.ndim() != 2 || vector.ndim() != 1 || matrix.dtype() != vector.dtype())
    return std::nullopt;
  if (has_few_long_rows(matrix)) return std::nullopt;
  const Variable rows = constant(matrix.constant()->transpose());  // a view, so that the gradient has the same constant
  if (!has_few_long_rows(rows)) return std::nullopt;
  return one(fit(is_left ? dot(vector, rows) : dot(rows, vector), node.output()));
}

// A batch of vectors as the rows of a matrix; `removed`: the axis of length 1.
Variable flat_batch(const Variable& x, int removed) {
  const int batch = x.ndim() - 2;
  const Variable rows = squeeze(x, Axes{{removed}});
  if (batch == 1) return rows;
  Variable count = length_of(x, 0);
  for (int axis = 1; axis < batch; ++axis) count = count * length_of(x, axis);
  return reshape(rows, Operands{count, length_of(rows, batch)});
}

// W y, or x W, for one matrix W and a batch of vectors is one product of matrices.
std::optional<Variables> batch_of_vectors(FunctionGraph&, const Apply& node) {
  const Variable &x = node.input(0), &y = node.input(1);
  const int ndim = x.ndim();
  const auto is_one_matrix = [](const Variable& v) {
    for (int axis = 0; axis + 2 < v.ndim(); ++axis)
      if (!is_one(v, axis)) return false;
    return true;
  };
  const bool is_left = is_one_matrix(x) && is_one(y, ndim - 1);
  if (is_one_matrix(is_left ? y : x) || (!is_left && !(is_one_matrix(y) && is_one(x, ndim - 2)))) return std::nullopt;
  const int removed = is_left ? ndim - 1 : ndim - 2;
  const Variable &vectors = is_left ? y : x, &batched_matrix = is_left ? x : y;
  std::vector<int> batch_axes(std::size_t(ndim - 2));
  std::iota(batch_axes.begin(), batch_axes.end(), 0);
  const Variable matrix = squeeze(batched_matrix, Axes{batch_axes});
  Variable product = dot(flat_batch(vectors, removed), is_left ? transpose(matrix) : matrix);
  if (ndim > 3) {
    Variables lengths;
    for (int axis : batch_axes) lengths.push_back(length_of(vectors, axis));
    lengths.push_back(length_of(product, 1));
    product = reshape(product, Operands(lengths));
  }
  return one(fit(expand_dims(product, removed), node.output()));
}

bool is_zero_operand(const Variable& v) {
  if (op_as<Alloc>(v)) return scalar_constant(v.owner().input(0)) == 0.0;
  if (is_elemwise(v, "second")) return scalar_constant(v.owner().input(1)) == 0.0;
  return scalar_constant(v) == 0.0;
}

std::optional<Variables> dot_of_zeros(FunctionGraph&, const Apply& node) {
  if (!is_zero_operand(node.input(0)) && !is_zero_operand(node.input(1))) return std::nullopt;
  return one(fit(constant_like(0, node.output().dtype()), node.output()));
}

Variable input_of(const Variable& v, int i) { return v.owner().input(i); }

// Whether the mask compares a tensor with its own maxima or minima, so that it holds for few elements.
bool selects_extremes(const Variable& mask) {
  constexpr std::int64_t fewest = 16;  // elements of which one is the extreme
  if (!is_elemwise(mask, "eq")) return false;
  for (int side = 0; side < 2; ++side) {
    const Variable whole = input_of(mask, 1 - side), repeated = input_of(mask, side);
    const Variable extreme = op_as<DimShuffle>(repeated) ? input_of(repeated, 0) : repeated;
    const auto* op = op_as<CAReduce>(extreme);
    if (!op || (op->kind.name != "max" && op->kind.name != "min") || !input_of(extreme, 0).same_as(whole)) continue;
    std::int64_t reduced = 1;
    for (int axis = 0; axis < whole.ndim(); ++axis) {
      if (!op->reduces(axis)) continue;
      const std::int64_t length = whole.static_shape()[std::size_t(axis)];
      reduced = length == any_length ? fewest : std::max(reduced, length);
    }
    return reduced >= fewest;
  }
  return false;
}

// A matrix that is `value` where the mask holds, and 0 elsewhere.
struct Selected {
  Variable mask, value;
};

std::optional<Selected> selected_extremes(const Variable& v, int levels = 2) {
  if (is_elemwise(v, "switch")) {
    const Variable otherwise = input_of(v, 2);
    if (scalar_constant(op_as<DimShuffle>(otherwise) ? input_of(otherwise, 0) : otherwise) != 0.0 ||
        !selects_extremes(input_of(v, 0)))
      return std::nullopt;
    return Selected{input_of(v, 0), input_of(v, 1)};
  }
  if (levels == 0 || !(is_elemwise(v, "neg") || is_elemwise(v, "mul"))) return std::nullopt;
  Variables factors = v.owner().inputs();
  for (auto& factor : factors)
    if (auto selected = selected_extremes(factor, levels - 1)) {
      factor = selected->value;
      selected->value = v.owner().op()(factors);
      return selected;
    }
  return std::nullopt;
}

// The gradient of a minimum is zero except where an element equals the least one. A product with it is the sum of the
// terms of those elements: native code finds them by comparing, and adds a row for each.
std::optional<Variables> product_with_extremes(FunctionGraph&, const Apply& node) {
  if (node.input(0).ndim() != 2 || node.input(1).ndim() != 2 || !is_float(node.output().dtype())) return std::nullopt;
  for (int side = 0; side < 2; ++side) {
    const Variable &factor = node.input(side), &other = node.input(1 - side);
    const auto* shuffle = op_as<DimShuffle>(factor);
    const bool is_transposed = shuffle && shuffle->new_order == std::vector<int>{1, 0};
    const auto selected = selected_extremes(is_transposed ? input_of(factor, 0) : factor);
    if (!selected || selected->mask.ndim() != 2) continue;
    // The terms are [rows and columns of the selected matrix, columns or rows of the other].
    const int summed = (side == 0) == is_transposed ? 0 : 1;
    const Variable rows = side == 0 ? other : transpose(other);
    const Variable terms = expand_dims(selected->value, 2) * expand_dims(rows, 1 - summed);
    const Variable product = sum(switch_(expand_dims(selected->mask, 2), terms, 0), Axes{{summed}});
    return one(fit(side == 0 ? product : transpose(product), node.output()));
  }
  return std::nullopt;
}

void declare_dot(Rules& rules) {
  rules.function("dot_to_mul", Root::op({"Dot"}), dot_to_mul)
      .doc("Rewrites a dot product that sums over a dimension of length 1 as an elementwise product.")
      .tags(canonicalize, specialize, "local_dot_to_mul")
      .no_signed_zeros()
      .sample([] {
        return dot(sample_leaf(DType::Float64, {any_length, 1}), sample_leaf(DType::Float64, {1, 4}));
      })
      .sample([] {
        return dot(sample_leaf(DType::Float32, {any_length, 1}), sample_leaf(DType::Float32, {1}));
      })
      .sample([] {
        return dot(sample_leaf(DType::Float64, {1}), sample_leaf(DType::Float64, {1, any_length}));
      })
      .sample([] { return dot(sample_leaf(DType::Float64, {1}), sample_leaf(DType::Float64, {1})); });
  rules.function("batch_of_vectors", Root::op({"BatchedDot"}), batch_of_vectors)
      .doc("Rewrites products of one matrix by a batch of vectors as one product of two matrices.")
      .tags(canonicalize, specialize, "local_batched_matmul_to_core_matmul",
            "local_batched_matmul_to_core_matmul_with_reshape")
      .sample([] {
        return matmul(sample_leaf(DType::Float64, {1, any_length, 3}), sample_leaf(DType::Float64, {4, 3, 1}));
      })
      .sample([] {
        return matmul(sample_leaf(DType::Float64, {any_length, 1, 3}), sample_leaf(DType::Float64, {1, 3, 2}));
      })
      .sample([] {
        return matmul(sample_leaf(DType::Float32, {1, 1, 2, 3}), sample_leaf(DType::Float32, {any_length, 4, 3, 1}));
      });
  rules.function("dot_of_zeros", Root::op({"Dot"}), dot_of_zeros)
      .doc("Rewrites a dot product with a zero operand as zeros; nan and infinity in the other operand are lost.")
      .tags(canonicalize, unsafe_nan, "local_0_dot_x")
      .wider_domain()
      .sample([] { return dot(sample_matrix(), zeros_like(sample_vector())); })
      .sample([] { return dot(zeros_like(sample_matrix()), sample_matrix()); });
  const auto at_largest = [](const Variable& x) {
    return switch_(eq(x, max(x, Axes{{1}}, KeepDims::Yes)), constant_like(1, x.dtype()), 0);
  };
  rules.function("product_with_extremes", Root::op({"Dot"}), product_with_extremes)
      .doc(
          "Rewrites a product with a matrix that is zero except at the maxima or minima of a tensor's rows or columns, "
          "such as the gradient of `max`, as a sum of the terms of those elements.")
      .tags(specialize)
      .depth(8)
      .wider_domain()
      .sample([=] { return dot(at_largest(sample_matrix()), sample_matrix()); })
      .sample([=] { return dot(transpose(-at_largest(sample_matrix())), sample_matrix()); })
      .sample([=] { return dot(sample_matrix(), at_largest(sample_matrix())); })
      .sample([=] {
        const Variable x = sample_matrix();
        return dot(x, transpose(at_largest(x) * x));
      });
  rules.function("columns_as_rows", Root::op({"Dot"}), columns_as_rows)
      .doc("Rewrites X @ b as b @ X.T for a constant matrix of few columns, each of which then is a row in memory.")
      .tags(specialize)
      .sample([] {
        return dot(constant(Array::full(DType::Float64, {20, 3}, 1.5)), sample_leaf(DType::Float64, {3}));
      });
  rules.function("transpose_of_dot", Root::op({"DimShuffle"}), transpose_of_dot)
      .doc("Rewrites (x @ y).T as y.T @ x.T.")
      .tags(canonicalize, "local_lift_transpose_through_dot")
      .sample([] { return transpose(dot(sample_matrix(), sample_matrix())); });
}

const RegisterRules register_dot("dot", declare_dot);

}  // namespace

}  // namespace bitale::rewriting
