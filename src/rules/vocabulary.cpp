#include "rules/vocabulary.hpp"

#include <algorithm>
#include <cmath>

#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/indexing/check_mask.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/shapes/alloc.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "ops/shapes/reshape.hpp"
#include "ops/shapes/shape.hpp"
#include "ops/shapes/specify_shape.hpp"

namespace bitale::rewriting {

bool is_elemwise(const Variable& v, std::string_view scalar_name) {
  const ScalarOp* scalar = scalar_op_of(v);
  return scalar && scalar->name == scalar_name;
}

bool is_view(const Variable& v) {
  if (op_as<DimShuffle>(v) || op_as<Subtensor>(v) || op_as<AdvancedSubtensor>(v) || op_as<Reshape>(v) ||
      op_as<SpecifyShape>(v) || op_as<CheckMask>(v))
    return true;
  const ScalarOp* op = scalar_op_of(v);
  return op && op->name.starts_with("cast_float") && is_float(v.owner().input(0).dtype());
}

Viewed::Viewed(const Variable& v) : base(v) {
  for (; is_view(base); base = base.owner().input(0)) views.push_back(base);
}

Variable Viewed::of(Variable other) const {
  for (std::size_t i = views.size(); i-- > 0;) {
    Variables inputs = views[i].owner().inputs();
    inputs[0] = other;
    other = views[i].owner().op()(inputs);
  }
  return other;
}

Variable subtracted_maximum(const Variable& v) {
  if (!is_elemwise(v, "sub")) return {};
  const Variable base = v.owner().input(0);
  std::vector<std::pair<Variable, int>> open{{v.owner().input(1), 0}};
  constexpr int deepest = 10;
  for (int budget = 100; !open.empty() && budget > 0; --budget) {
    const auto [at, depth] = open.back();
    open.pop_back();
    if (!at.has_owner()) continue;
    const auto* op = op_as<CAReduce>(at);
    const bool is_maximum = is_elemwise(at, "maximum") || (op && op->kind.combiner == program::Combiner::max);
    for (auto& input : at.owner().inputs()) {
      if (is_maximum && input.same_as(base)) return at;
      if (is_maximum && is_elemwise(input, "switch") && input.owner().input(1).same_as(base)) return at;
      if (depth < deepest) open.emplace_back(input, depth + 1);
    }
  }
  return {};
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
