#include "rules/matrices.hpp"

#include <algorithm>

#include "bitale/ops/from_attributes.hpp"
#include "bitale/ops/search.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/matrices.hpp"
#include "ops/control/guarded.hpp"
#include "ops/linalg/blockwise.hpp"
#include "ops/linalg/dot.hpp"
#include "ops/shapes/dimshuffle.hpp"

namespace bitale::rewriting {

const Op* core_op(const Variable& v) {
  const Op* op = v.owner_op();
  const auto* batch = op_as<Blockwise>(v);
  return batch ? batch->core.get() : op;
}

bool is_matrix_op(const Variable& v, std::string_view name) {
  const Op* op = core_op(v);
  return op && op->name() == name;
}

Rule& matrix_rule(Rules& rules, std::string name, std::vector<std::string> ops, NodeFunction function) {
  std::vector<std::string> roots = ops;
  roots.emplace_back("Blockwise");
  const auto of_these = [ops = std::move(ops), function = std::move(function)](FunctionGraph& graph,
                                                                               const Apply& node) {
    const std::string_view name = core_op(node.output(0))->name();
    return std::ranges::find(ops, name) == ops.end() ? std::nullopt : function(graph, node);
  };
  return rules.function(std::move(name), Root::names(std::move(roots)), of_these);
}

namespace {

OnError on_error_of(const Attributes& attributes) {
  const auto name = required_attribute<std::string>(attributes, "on_error");
  return name == "raise" ? OnError::Raise : name == "nan" ? OnError::Nan : OnError::RaiseIfFinite;
}

std::optional<System> system_of(const Variable& v, std::string_view name) {
  if (!is_matrix_op(v, name)) return std::nullopt;
  const Attributes attributes = core_op(v)->attributes();
  const Apply node = v.owner();
  return System{.a = node.input(0),
                .b = node.input(1),
                .trans = required_attribute<bool>(attributes, "trans"),
                .lower = optional_attribute<bool>(attributes, "lower").value_or(false),
                .unit_diagonal = optional_attribute<bool>(attributes, "unit_diagonal").value_or(false),
                .b_ndim = required_attribute<int>(attributes, "b_ndim"),
                .on_error = on_error_of(attributes)};
}

}  // namespace

std::optional<System> as_system(const Variable& v) { return system_of(v, "Solve"); }
std::optional<System> as_triangular_system(const Variable& v) { return system_of(v, "SolveTriangular"); }
Variable solution(const System& s) {
  return solve(s.a, s.b, {.transposed = s.trans, .b_ndim = s.b_ndim, .on_error = s.on_error});
}
Variable triangular_solution(const System& s) {
  return solve_triangular(s.a, s.b,
                          {.lower = s.lower,
                           .trans = s.trans,
                           .unit_diagonal = s.unit_diagonal,
                           .b_ndim = s.b_ndim,
                           .on_error = s.on_error});
}

Variable right_columns(const System& s) { return s.b_ndim == 1 ? expand_dims(s.b, s.b.ndim()) : s.b; }
Variable as_right_side(const System& s, const Variable& columns) {
  return s.b_ndim == 1 ? squeeze(columns, Axes{{columns.ndim() - 1}}) : columns;
}

namespace {

// The rows of b in the order of `order`, for each matrix.
Variable rows_of(const Variable& b, const Variable& order) {
  if (order.ndim() == 1) return take(b, order, b.ndim() - 2);
  return take_along_axis(b, expand_dims(order, order.ndim()), b.ndim() - 2);
}

}  // namespace

Variable solution_by_lu(const System& system) {
  const auto [factors, pivots] = lu_factor(system.a);
  System lower = system;
  lower.a = factors;
  lower.b_ndim = 2;
  System upper = lower;
  lower.lower = lower.unit_diagonal = true;
  Variable columns = right_columns(system);
  Variable out;
  if (system.trans) {
    upper.b = columns;
    lower.b = triangular_solution(upper);
    out = rows_of(triangular_solution(lower), pivot_to_permutation(pivots));
  } else {
    // Rows in another order may be fewer than there were.
    columns = required_equal(columns, length_of(system.a, system.a.ndim() - 2), length_of(columns, columns.ndim() - 2),
                             "solve: expected the right side to have as many rows as the matrix");
    lower.b = rows_of(columns, pivot_to_permutation(pivots, {.inverse = true}));
    upper.b = triangular_solution(lower);
    out = triangular_solution(upper);
  }
  return as_right_side(system, out);
}

std::optional<Variable> as_inverse(FunctionGraph& graph, const Variable& v) {
  const auto system = as_system(v);
  if (!system || system->b_ndim != 2 || !structure_of(graph, system->b).is_identity()) return std::nullopt;
  return system->trans ? matrices_transposed(system->a) : system->a;
}

std::optional<CholeskyFactor> as_cholesky(const Variable& v) {
  if (!is_matrix_op(v, "Cholesky")) return std::nullopt;
  const Attributes attributes = core_op(v)->attributes();
  return CholeskyFactor{v.owner().input(0), required_attribute<bool>(attributes, "lower"), on_error_of(attributes)};
}

Variable lower_factor(FunctionGraph& graph, const Variable& a, OnError otherwise) {
  if (graph.contains(a))
    for (auto& client : graph.clients(a)) {
      const auto factor = client.node ? as_cholesky(Apply::of(client.node).output(0)) : std::nullopt;
      if (factor) return cholesky(a, {.on_error = factor->on_error});
    }
  return cholesky(a, {.on_error = otherwise == OnError::Nan ? OnError::Nan : OnError::RaiseIfFinite});
}

bool is_definite(FunctionGraph& graph, const Variable& a) {
  const Structure known = structure_of_square(graph, a);
  if (known.is(Fact::PositiveDefinite)) return true;
  if (!known.is(Fact::Symmetric) || !graph.contains(a)) return false;
  for (auto& client : graph.clients(a)) {
    if (!client.node) continue;
    const Variable factor = Apply::of(client.node).output(0);
    const auto found = as_cholesky(factor);
    if (found && found->on_error == OnError::Raise && is_always_needed(graph, factor)) return true;
  }
  return false;
}

std::optional<Variable> transposed_matrix(const Variable& v) {
  const auto* shuffle = op_as<DimShuffle>(v);
  const int rank = v.ndim();
  if (!shuffle || rank < 2 || shuffle->input_ndim != rank) return std::nullopt;
  for (int axis = 0; axis < rank; ++axis) {
    const int from = axis == rank - 2 ? rank - 1 : axis == rank - 1 ? rank - 2 : axis;
    if (shuffle->new_order[std::size_t(axis)] != from) return std::nullopt;
  }
  return v.owner().input(0);
}

Variable matrices_transposed(const Variable& v) {
  if (const auto before = transposed_matrix(v)) return *before;
  return matrix_transpose(v);
}

bool are_transposes(const Variable& x, const Variable& y) {
  const auto of_x = transposed_matrix(x), of_y = transposed_matrix(y);
  return (of_x && of_x->same_as(y)) || (of_y && of_y->same_as(x));
}

bool is_product(const Variable& v) { return op_as<Dot>(v) || op_as<BatchedDot>(v); }

Variable diagonal_of(const Variable& a) { return diagonal(a, 0, -2, -1); }

Variable diagonal_matrices(const Variable& d) {
  const Variable unit = eye(length_of(d, d.ndim() - 1), {}, 0, DType::Bool);
  return switch_(unit, expand_dims(d, d.ndim()), constant_like(0, d.dtype()));
}

std::optional<Variables> fitted(const Apply& node, const Variables& values) {
  Variables out;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto value = fit(values[k], node.output(int(k)));
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

std::optional<Variables> determinant_of_numbers(const Apply& node, const Variable& numbers) {
  const Axes last{{numbers.ndim() - 1}};
  if (!is_logarithmic(node)) return fitted(node, {prod(numbers, last)});
  return fitted(node, {prod(sign(numbers), last), sum(log(abs(numbers)), last)});
}

std::optional<Structure> stated_facts(const Variable& v) {
  const Op* op = v.owner_op();
  if (!op || op->name() != "SpecifyAssumptions") return std::nullopt;
  return Structure::parse(required_attribute<std::string>(op->attributes(), "facts"));
}
Variable without_statements(Variable v) {
  while (v.owner_op() && v.owner_op()->name() == "SpecifyAssumptions") v = v.owner().input(0);
  return v;
}

Structure structure_of_square(FunctionGraph& graph, const Variable& a) {
  Structure known = structure_of(graph, a);
  known.add(Fact::Square);
  return known;
}

bool is_square(FunctionGraph& graph, const Variable& v) {
  const Dims& shape = v.static_shape();
  if (shape.size() < 2) return false;
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (rows != unknown_length && columns != unknown_length) return rows == columns;
  if (structure_of(graph, v).is(Fact::Square)) return true;
  return is_same_length(length_of(v, v.ndim() - 2), length_of(v, v.ndim() - 1));
}

Variable sample_batch() { return sample_leaf(DType::Float64, {2, any_length, any_length}); }
Variable sample_regular(const Variable& x) { return x + 5.0 * eye(length_of(x, x.ndim() - 1), {}, 0, DType::Float64); }
Variable sample_definite(const Variable& x) {
  const Variable product = matmul(x, matrix_transpose(x));
  return assume(product + eye(length_of(x, x.ndim() - 1), {}, 0, DType::Float64), Structure{Fact::PositiveDefinite});
}
Variable sample_lower(const Variable& x) { return tril(sample_regular(x)); }

}  // namespace bitale::rewriting
