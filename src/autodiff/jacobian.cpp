// Matrices of derivatives. A dense matrix takes one pullback, with the rows of the identity matrix as a batch of
// cotangents, or one pushforward with a batch of tangents, whichever batch is smaller. Also products with
// such matrices, which are never materialized. Where there is no batch of products, they are taken in a loop. Sparse
// ones: sparse.cpp.
#include <algorithm>
#include <array>
#include <optional>

#include "autodiff/agreement.hpp"
#include "autodiff/sweep.hpp"
#include "bitale/autodiff/gradient.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ifelse.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/vectorize.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/batched_graph.hpp"

namespace bitale {

namespace {

Variables symbolic_lengths(const Variable& v) {
  Variables out;
  for (int axis = 0; axis < v.ndim(); ++axis) {
    std::int64_t known = v.static_shape()[std::size_t(axis)];
    out.push_back(known == unknown_length ? shape_i(v, axis) : constant(Array(known)));
  }
  return out;
}

// One unit vector per element of `v`; the shape is (size of v, lengths of v).
Variable unit_vectors(const Variable& v) {
  Variable positions = arange(size(v));
  Variable units = cast(eq(expand_dims(positions, 1), expand_dims(positions, 0)), v.dtype());
  Variables lengths = symbolic_lengths(v);
  lengths.insert(lengths.begin(), size(v));
  if (v.ndim() != 1) units = reshape(units, lengths);
  // The static lengths of v determine which dimensions broadcast.
  std::vector<std::optional<Operand>> known = {std::nullopt};
  bool any = false;
  for (std::int64_t length : v.static_shape()) {
    known.push_back(length == unknown_length ? std::nullopt : std::optional<Operand>(length));
    any |= length != unknown_length;
  }
  return any ? specify_shape(units, known) : units;
}

Variable shaped_as_jacobian(const Variable& rows, const Variable& expression, const Variable& wrt) {
  Variables lengths = {size(expression)}, own = symbolic_lengths(wrt);
  lengths.insert(lengths.end(), own.begin(), own.end());
  // If the gradient does not depend on the cotangent, all rows are the same.
  Variable out = rows.ndim() == wrt.ndim() ? broadcast_to(rows, lengths) : rows;
  if (expression.ndim() == 1) return out;
  Variables all = symbolic_lengths(expression);
  all.insert(all.end(), own.begin(), own.end());
  return reshape(out, all);
}

void require_differentiable(const char* who, const Variable& expression) {
  if (!expression.defined() || !as_tensor(expression.type()))
    throw TypeError(cat(who, ": expected an expression that is a tensor"));
  if (is_discrete(expression.dtype()))
    throw TypeError(cat(who, ": the expression must be of a float dtype, got `", expression.str(), "` of type ",
                        expression.type()->str()));
}

// From products with the unit vectors of `wrt`, in the first dimension: the dimensions of wrt come last.
Variable columns_last(const Variable& columns, const Variable& expression, const Variable& wrt) {
  Variables own = symbolic_lengths(expression), lengths = {size(wrt)};
  lengths.insert(lengths.end(), own.begin(), own.end());
  // If the product does not depend on the tangent, all columns are the same.
  const Variable all = columns.ndim() == expression.ndim() ? broadcast_to(columns, lengths) : columns;
  std::vector<int> order;
  for (int axis = 1; axis < all.ndim(); ++axis) order.push_back(axis);
  order.push_back(0);
  const Variable last = dimshuffle(all, order);
  if (wrt.ndim() == 1) return last;
  for (const Variable& length : symbolic_lengths(wrt)) own.push_back(length);
  return reshape(last, own);
}

using Batch = Variables (*)(const Variables& outputs, const Replacements& replacements);

// One pushforward, with the unit vectors of `wrt` as a batch of tangents.
Variable by_columns(const Variable& expression, const Variable& wrt, const GradOptions& options, Batch batch) {
  const Variable tangent(wrt.type(), "tangent");
  const Variable product = pushforward({expression}, {wrt}, {tangent}, options)[0];
  if (!as_tensor(product.type())) return product;  // as the options require
  return columns_last(batch({product}, {{tangent, unit_vectors(wrt)}})[0], expression, wrt);
}

// The number of elements, or nothing where a length is not known.
std::optional<std::int64_t> known_size(const Variable& v) {
  std::int64_t size = 1;
  for (std::int64_t length : v.static_shape()) {
    if (length == unknown_length) return {};
    size *= length;
  }
  return size;
}

// Whether `x` has as many elements as `y`, whatever their lengths are.
bool is_same_size(const Variable& x, const Variable& y) {
  bool same = x.ndim() == y.ndim();
  for (int axis = 0; same && axis < x.ndim(); ++axis) same = is_same_length(length_of(x, axis), length_of(y, axis));
  return same;
}

enum class Sweep { Reverse, Forward, DecidedByCalls };

// Forward mode takes as many products as the variables have elements, and a sweep over the graph for each variable;
// reverse mode takes as many products as the expression has elements, and one sweep. Reverse mode is kept unless it
// takes more than twice as many products. Where that depends on lengths that only calls know, they decide, except for
// few parameters of a known number: forward mode with 32 of them took at most twice as long as reverse mode even for a
// single row (sums of waves: 0.9 and 0.5 us, a small network: 2.8 and 1.6 us; with 64 of them up to 4 times, with 256
// up to 50 times as long), and a graph of one mode compiles in half the time.
Sweep better_sweep(const Variable& expression, const Variables& wrt, const GradOptions& options) {
  constexpr std::size_t max_sweeps = 4;
  constexpr std::int64_t few_elements = 32;
  const auto rows = known_size(expression);
  if (wrt.size() > max_sweeps || !options.known_grads.empty()) return Sweep::Reverse;
  std::optional<std::int64_t> columns = 0;
  for (const Variable& v : wrt) {
    const auto size = known_size(v);
    if (size == 0 || v.dtype() != expression.dtype() || is_same_size(v, expression)) return Sweep::Reverse;
    columns = columns && size ? std::optional(*columns + *size) : std::nullopt;
  }
  const bool may_be_forward = columns && rows ? *rows / 2 > *columns : !rows || *rows > 2;
  if (!may_be_forward || !derivatives_agree(expression, wrt, options.consider_constant)) return Sweep::Reverse;
  return columns && (rows || *columns <= few_elements) ? Sweep::Forward : Sweep::DecidedByCalls;
}

// By forward mode. Nothing where it has no batch of products.
Variables forward_products(const Variable& expression, const Variables& wrt, const GradOptions& options) {
  try {
    Variables out;
    for (const Variable& v : wrt) out.push_back(by_columns(expression, v, options, batched_graph));
    return out;
  } catch (const NotImplementedError&) {  // an op that can't take a batch of tangents may take one of cotangents
    return {};
  }
}

// Whether forward mode takes less than half as many products as reverse mode: a scalar of the lengths.
Variable takes_fewer_products(const Variable& expression, const Variables& wrt) {
  Variable columns = size(wrt[0]);
  for (std::size_t i = 1; i < wrt.size(); ++i) columns = add(columns, size(wrt[i]));
  return gt(int_div(size(expression), 2), columns);
}

}  // namespace

Variables jacobian(const Variable& expression, const Variables& wrt, const GradOptions& options, Source where) {
  LocationScope here(where);
  require_differentiable("jacobian", expression);
  if (expression.ndim() == 0) return grad(expression, wrt, options);
  Variable cotangent(expression.type(), "cotangent");
  Variables rows = pullback({expression}, wrt, {cotangent}, options);
  Variables tensors, variables;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].defined() && as_tensor(rows[i].type())) {
      tensors.push_back(rows[i]);
      variables.push_back(wrt[i]);
      indices.push_back(i);
    }
  if (tensors.empty()) return rows;
  const Sweep sweep = better_sweep(expression, variables, options);
  Variables matrices;
  if (sweep != Sweep::Reverse) matrices = forward_products(expression, variables, options);
  if (matrices.empty() || sweep == Sweep::DecidedByCalls) {
    Variables by_rows = vectorize_graph(tensors, {{cotangent, unit_vectors(expression)}});
    for (std::size_t t = 0; t < by_rows.size(); ++t)
      by_rows[t] = shaped_as_jacobian(by_rows[t], expression, variables[t]);
    matrices = matrices.empty() ? by_rows : ifelse(takes_fewer_products(expression, variables), matrices, by_rows);
  }
  for (std::size_t t = 0; t < indices.size(); ++t) rows[indices[t]] = matrices[t];
  return rows;
}

Variable jacobian(const Variable& expression, const Variable& wrt, const GradOptions& options, Source where) {
  return jacobian(expression, Variables{wrt}, options, where)[0];
}

Variables jacfwd(const Variable& expression, const Variables& wrt, const GradOptions& options, Source where) {
  LocationScope here(where);
  require_differentiable("jacfwd", expression);
  Variables out;
  for (const Variable& v : wrt) {
    require_differentiable("jacfwd", v);
    out.push_back(by_columns(expression, v, options, vectorize_graph));
  }
  return out;
}

Variable jacfwd(const Variable& expression, const Variable& wrt, const GradOptions& options, Source where) {
  return jacfwd(expression, Variables{wrt}, options, where)[0];
}

Variables hessian(const Variable& cost, const Variables& wrt, const GradOptions& options, Source where) {
  LocationScope here(where);
  require_cost(cost, "hessian");
  Variables out;
  for (const Variable& v : wrt) {
    if (v.defined() && as_tensor(v.type()) && v.ndim() > 1)
      throw ValueError(
          cat("hessian: expected vectors or scalars as variables, got `", v.str(), "` of type ", v.type()->str()));
    Variable gradient = grad(cost, v, options);
    if (!gradient.defined() || !as_tensor(gradient.type())) {  // as the options require
      out.push_back(gradient);
      continue;
    }
    // A gradient that does not depend on v (a linear cost) means a zero matrix, not an error.
    GradOptions second = options;
    second.disconnected_inputs = OnDisconnected::Ignore;
    second.known_grads.clear();
    out.push_back(jacobian(gradient, v, second));
  }
  return out;
}

Variable hessian(const Variable& cost, const Variable& wrt, const GradOptions& options, Source where) {
  return hessian(cost, Variables{wrt}, options, where)[0];
}

Variables hessian_vector_product(const Variable& cost, const Variables& wrt, const Variables& vectors,
                                 const GradOptions& options, Source where) {
  LocationScope here(where);
  if (wrt.size() != vectors.size())
    throw ValueError(
        cat("hessian_vector_product: expected one vector per variable: ", wrt.size(), ", got ", vectors.size()));
  require_cost(cost, "hessian_vector_product");
  GradOptions first = options;
  first.return_disconnected = ReturnDisconnected::Zero;
  Variables gradients = grad(cost, wrt, first);
  GradOptions second = options;
  second.disconnected_inputs = OnDisconnected::Ignore;
  second.known_grads.clear();
  return pushforward(gradients, wrt, vectors, second);
}

Variables gauss_newton_vector_product(const Variable& cost, const Variables& outputs, const Variables& wrt,
                                      const Variables& vectors, const GradOptions& options, Source where) {
  LocationScope here(where);
  if (wrt.size() != vectors.size())
    throw ValueError(
        cat("gauss_newton_vector_product: expected one vector per variable: ", wrt.size(), ", got ", vectors.size()));
  for (const Variable& output : outputs)
    if (!output.defined() || !as_tensor(output.type()) || is_discrete(output.dtype()))
      throw TypeError("gauss_newton_vector_product: expected outputs that are tensors of a float dtype");
  GradOptions model = options;
  model.return_disconnected = ReturnDisconnected::Zero;
  model.known_grads.clear();
  const Variables tangents = pushforward(outputs, wrt, vectors, model);
  // The cost as a function of leaves in place of the outputs, so that an output that another is computed from is
  // independent of it.
  Variables leaves;
  Replacements to_leaves, to_outputs;
  for (const Variable& output : outputs) {
    leaves.push_back(Variable(output.type(), output.name()));
    to_leaves.push_back({output, leaves.back()});
    to_outputs.push_back({leaves.back(), output});
  }
  GradOptions loss = model;
  loss.disconnected_inputs = OnDisconnected::Raise;
  const Variables of_leaves =
      hessian_vector_product(clone_replace(Variables{cost}, to_leaves)[0], leaves, tangents, loss);
  return pullback(outputs, wrt, clone_replace(of_leaves, to_outputs), model);
}

}  // namespace bitale
