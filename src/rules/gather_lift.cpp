// Gathers of few rows are moved below products of matrices, through what lies between, so that only the gathered rows
// are multiplied: the vertices of a mesh that were measured, the rows of a design matrix that were observed.
#include <algorithm>

#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/linalg/dot.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "ops/shapes/reshape.hpp"
#include "rules/subtensor_bounds.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// The axis of x, of which a reshape has the same length at `axis`, and as many elements before it.
std::optional<int> axis_before_reshape(const Variable& reshaped, int axis) {
  const Dims from = reshaped.owner().input(0).static_shape(), to = reshaped.static_shape();
  const auto is_known = [](std::int64_t length) { return length > 0; };
  if (!std::all_of(from.begin(), from.end(), is_known) || !std::all_of(to.begin(), to.end(), is_known)) return {};
  std::int64_t before = 1, own = 1;
  for (int k = 0; k < axis; ++k) before *= to[std::size_t(k)];
  for (std::size_t k = 0; k < from.size() && own <= before; own *= from[k++])
    if (own == before && from[k] == to[std::size_t(axis)]) return int(k);
  return {};
}

// The axis of the result of a node whose rows are computed from those along `axis` of its input; none for operations
// that gathers are not moved through.
std::optional<int> axis_of_result(const Apply& node, int input, int axis) {
  const Variable out = node.output();
  if (scalar_op_of(out)) return axis;
  if (const auto* view = op_as<DimShuffle>(out)) {
    const auto at = std::find(view->new_order.begin(), view->new_order.end(), axis);
    return at == view->new_order.end() ? std::nullopt : std::optional(int(at - view->new_order.begin()));
  }
  if (op_as<Reshape>(out)) {
    for (int k = 0; k < out.ndim(); ++k)
      if (input == 0 && axis_before_reshape(out, k) == axis) return k;
    return {};
  }
  const bool is_inner = axis == node.input(input).ndim() - (input == 0 ? 1 : 2);
  if (op_as<BatchedDot>(out)) return is_inner ? std::nullopt : std::optional(axis);
  if (op_as<Dot>(out)) {
    if (is_inner || node.input(input).ndim() == 1) return {};
    return input == 0 ? 0 : out.ndim() - 1;
  }
  return {};
}

constexpr int most_visited = 200;

// How many rows of x along an axis of known length are read by gathers at constant positions, directly or of what is
// computed row by row; all where anything else reads x.
std::int64_t rows_read(const FunctionGraph& graph, const Variable& x, int axis, int& visited) {
  const std::int64_t all = x.static_shape()[std::size_t(axis)];
  std::int64_t total = 0;
  if (++visited > most_visited) return all;
  for (auto& client : graph.clients(x)) {
    if (!client.node) return all;
    const Apply node = Apply::of(client.node);
    if (const auto* gather = op_as<AdvancedSubtensor>(node.output())) {
      const Variable& index = node.input(1);
      if (client.index != 0 || gather->axes != std::vector<int>{axis} || index.ndim() != 1 ||
          !are_positions(index, all))
        return all;
      total += index.constant()->size();
    } else {
      const auto next = node.outputs().size() == 1 ? axis_of_result(node, client.index, axis) : std::nullopt;
      if (!next || node.output().static_shape()[std::size_t(*next)] != all) return all;
      total += rows_read(graph, node.output(), *next, visited);
    }
    if (total >= all) return all;
  }
  return total;
}

// Whether x, of which fewer rows are read than there are, is computed by a product.
bool reaches_product(const FunctionGraph& graph, const Variable& x, int axis, int& visited) {
  if (!x.has_owner() || is_one(x, axis)) return false;
  if (rows_read(graph, x, axis, visited) >= x.static_shape()[std::size_t(axis)]) return false;
  const Apply node = x.owner();
  if (op_as<Dot>(x) || op_as<BatchedDot>(x)) return true;
  if (scalar_op_of(x))
    return std::any_of(node.inputs().begin(), node.inputs().end(),
                       [&](const Variable& operand) { return reaches_product(graph, operand, axis, visited); });
  if (const auto* view = op_as<DimShuffle>(x)) {
    const int from = view->new_order[std::size_t(axis)];
    return from != new_axis && reaches_product(graph, node.input(0), from, visited);
  }
  if (op_as<Reshape>(x)) {
    const auto from = axis_before_reshape(x, axis);
    return from && reaches_product(graph, node.input(0), *from, visited);
  }
  return false;
}

// A factor of a batch of products, or an operand of an elementwise operation, may repeat its only row.
Variable rows_of(const Variable& x, const Variable& index, int axis) {
  return is_one(x, axis) ? x : take(x, index, axis);
}

std::optional<Variables> gather_below_product(FunctionGraph& graph, const Apply& node) {
  const Variable& x = node.input(0);
  const std::vector<int>& axes = op_as<AdvancedSubtensor>(node.output())->axes;
  if (axes.size() != 1 || !x.has_owner()) return std::nullopt;
  const int axis = axes[0];
  int visited = 0;
  if (!reaches_product(graph, x, axis, visited)) return std::nullopt;
  const Variable& index = node.input(1);
  const Apply below = x.owner();
  Variable out;
  if (op_as<Dot>(x)) {
    Variable a = below.input(0), b = below.input(1);
    if (axis == 0 && a.ndim() == 2)
      a = take(a, index, 0);
    else
      b = take(b, index, b.ndim() - 1);
    out = dot(a, b);
  } else if (op_as<BatchedDot>(x)) {
    const int batch = x.ndim() - 2;
    Variable a = below.input(0), b = below.input(1);
    if (axis <= batch) a = rows_of(a, index, axis);
    if (axis != batch) b = rows_of(b, index, axis);
    out = matmul(a, b);
  } else if (scalar_op_of(x)) {
    Variables operands;
    for (auto& operand : below.inputs()) operands.push_back(rows_of(operand, index, axis));
    out = below.op()(operands);
  } else if (const auto* view = op_as<DimShuffle>(x)) {
    out = dimshuffle(take(below.input(0), index, view->new_order[std::size_t(axis)]), view->new_order);
  } else {
    const Dims& shape = node.output().static_shape();
    const Variable lengths = constant(Array(std::vector<std::int64_t>(shape.begin(), shape.end())));
    out = reshape(take(below.input(0), index, *axis_before_reshape(x, axis)), lengths, x.ndim());
  }
  return one(fit(out, node.output()));
}

void declare_gather_lift(Rules& rules) {
  auto leaf = [](const Dims& shape) { return sample_leaf(DType::Float64, shape); };
  const auto taken = [](const Variable& x, int axis) { return take(x, constant(Array{2L, 0L, 2L}), axis); };
  rules.function("gather_below_product", Root::op({"AdvancedSubtensor"}), gather_below_product)
      .doc(
          "Moves a gather of fewer rows than there are to the factors of a product, through elementwise operations, "
          "transpositions and reshapes.")
      .tags(canonicalize, specialize, shape_unsafe)
      .sample([=] {
        return taken(dot(leaf({5, any_length}), sample_matrix()), 0);
      })
      .sample([=] {
        return taken(dot(sample_matrix(), leaf({any_length, 4})), 1);
      })
      .sample([=] {
        return taken(exp(dot(leaf({5, any_length}), sample_vector())) + leaf({1}), 0);
      })
      .sample([=] {
        return taken(matmul(leaf({3, 5, 2}), leaf({1, 2, 4})), 1);
      })
      .sample([=] {
        return taken(matmul(leaf({5, 2, 3}), leaf({1, 3, 2})), 0);
      })
      .sample([=] {
        return taken(matmul(leaf({3, 2, 3}), leaf({3, 3, 5})), 2);
      })
      .sample([=] {
        return taken(transpose(dot(leaf({5, any_length}), sample_matrix())) * leaf({5}), 1);
      })
      .sample([=] {
        return taken(reshape(dot(leaf({5, 3}), leaf({3, 6})), {5, 2, 3}), 0);
      })
      .sample([=] {
        return taken(reshape(matmul(leaf({2, 5, 3}), leaf({1, 3, 6})), {2, 1, 5, 2, 3}), 2);
      });
}

const RegisterRules register_gather_lift("gather_lift", declare_gather_lift);

}  // namespace

}  // namespace bitale::rewriting
