#include "rules/vocabulary.hpp"

#include <algorithm>
#include <cmath>

#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/shapes/alloc.hpp"
#include "ops/shapes/shape.hpp"

namespace bitale::rewriting {

bool is_elemwise(const Variable& v, std::string_view scalar_name) {
  const ScalarOp* scalar = scalar_op_of(v);
  return scalar && scalar->name == scalar_name;
}

ApplyNode* only_user(const FunctionGraph& graph, const Variable& v) {
  const std::span<const Client> clients = graph.clients(v);
  return clients.size() == 1 ? clients[0].node : nullptr;
}

bool is_length_of(const Variable& scalar, const Variable& x, int axis) {
  const std::int64_t known = x.static_shape()[std::size_t(axis)];
  if (known != unknown_length) return known_integer(scalar) == known;
  const auto* op = op_as<ShapeI>(scalar);
  return op && op->i == axis && scalar.owner().input(0).same_as(x);
}

bool is_single(const Variable& v) {
  const Dims& shape = v.static_shape();
  return std::all_of(shape.begin(), shape.end(), [](std::int64_t length) { return length == 1; });
}

bool depends_on_inputs(const Variable& v) {
  Variables open{v};
  for (int budget = 32; !open.empty(); --budget) {
    const Variable at = open.back();
    open.pop_back();
    if (at.is_constant()) continue;
    if (budget <= 0 || !at.has_owner()) return true;
    if (op_as<Alloc>(at)) {
      open.push_back(at.owner().input(0));
    } else if (!op_as<ShapeI>(at)) {
      const Apply owner = at.owner();
      open.insert(open.end(), owner.inputs().begin(), owner.inputs().end());
    }
  }
  return false;
}

bool same_broadcast(const Variable& a, const Variable& b) {
  if (a.ndim() != b.ndim()) return false;
  for (int axis = 0; axis < a.ndim(); ++axis)
    if (is_one(a, axis) != is_one(b, axis)) return false;
  return true;
}

Variable padded(const Variable& v, int rank) {
  std::vector<int> order(std::size_t(rank - v.ndim()), new_axis);
  for (int axis = 0; axis < v.ndim(); ++axis) order.push_back(axis);
  return v.ndim() == rank ? v : dimshuffle(v, order);
}

bool is_exact_sum(double a, double b, DType dtype) {
  if (!is_float(dtype)) return true;
  const double sum = a + b, of_b = sum - a, of_a = sum - of_b;
  if (!std::isfinite(sum) || (a - of_a) + (b - of_b) != 0) return false;
  return visit_dtype(dtype, [&]<class T>() { return double(T(sum)) == sum; });
}

Variable sample_leaf(DType dtype, const Dims& shape) { return Variable(tensor_type(dtype, shape), "x"); }
Variable sample_vector() { return sample_leaf(DType::Float64, {any_length}); }
Variable sample_matrix() { return sample_leaf(DType::Float64, {any_length, any_length}); }

}  // namespace bitale::rewriting
