// Matrices of derivatives: one pullback, with the rows of the identity matrix as a batch of cotangents.
#include "autodiff/sweep.hpp"
#include "bitale/autodiff/gradient.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"

namespace bitale {

namespace {

Variables lengths_of(const Variable& v) {
  Variables out;
  for (int axis = 0; axis < v.ndim(); ++axis) {
    std::int64_t known = v.static_shape()[std::size_t(axis)];
    out.push_back(known == unknown_length ? shape_i(v, axis) : constant(Array(known)));
  }
  return out;
}

// One cotangent per element of `v`, each with a one at its element: lengths (size of v, lengths of v).
Variable unit_cotangents(const Variable& v) {
  Variable positions = arange(size(v));
  Variable units = cast(eq(expand_dims(positions, 1), expand_dims(positions, 0)), v.dtype());
  Variables lengths = lengths_of(v);
  lengths.insert(lengths.begin(), size(v));
  if (v.ndim() != 1) units = reshape(units, lengths);
  // What is known of the lengths of v decides what broadcasts.
  std::vector<std::optional<Operand>> known = {std::nullopt};
  bool any = false;
  for (std::int64_t length : v.static_shape()) {
    known.push_back(length == unknown_length ? std::nullopt : std::optional<Operand>(length));
    any |= length != unknown_length;
  }
  return any ? specify_shape(units, known) : units;
}

Variable shaped_as_jacobian(const Variable& rows, const Variable& expression, const Variable& wrt) {
  Variables lengths = {size(expression)}, own = lengths_of(wrt);
  lengths.insert(lengths.end(), own.begin(), own.end());
  // The gradient may not depend on the cotangent: then every row is the same.
  Variable out = rows.ndim() == wrt.ndim() ? broadcast_to(rows, lengths) : rows;
  if (expression.ndim() == 1) return out;
  Variables all = lengths_of(expression);
  all.insert(all.end(), own.begin(), own.end());
  return reshape(out, all);
}

}  // namespace

Variables jacobian(const Variable& expression, const Variables& wrt, const GradOptions& options, Source where) {
  LocationScope here(where);
  if (!expression || !as_tensor(expression.type()))
    throw TypeError("jacobian: expected an expression that is a tensor");
  if (is_discrete(expression.dtype()))
    throw TypeError(cat("jacobian: the expression must be of a float dtype, got `", expression.str(), "` of type ",
                        expression.type()->str()));
  if (expression.ndim() == 0) return grad(expression, wrt, options);
  Variable cotangent(expression.type(), "cotangent");
  Variables rows = pullback({expression}, wrt, {cotangent}, options);
  Variables tensors;
  for (const Variable& row : rows)
    if (row && as_tensor(row.type())) tensors.push_back(row);
  Variables batched = vectorize_graph(tensors, {{cotangent, unit_cotangents(expression)}});
  for (std::size_t i = 0, next = 0; i < rows.size(); ++i)
    if (rows[i] && as_tensor(rows[i].type())) rows[i] = shaped_as_jacobian(batched[next++], expression, wrt[i]);
  return rows;
}

Variable jacobian(const Variable& expression, const Variable& wrt, const GradOptions& options, Source where) {
  return jacobian(expression, Variables{wrt}, options, where)[0];
}

Variables hessian(const Variable& cost, const Variables& wrt, const GradOptions& options, Source where) {
  LocationScope here(where);
  Variables out;
  for (const Variable& v : wrt) {
    if (v && as_tensor(v.type()) && v.ndim() > 1)
      throw TypeError(cat("hessian: expected vectors or scalars to differentiate by, got `", v.str(), "` of type ",
                          v.type()->str()));
    Variable gradient = grad(cost, v, options);
    if (!gradient || !as_tensor(gradient.type())) {  // as the options want it
      out.push_back(gradient);
      continue;
    }
    // A gradient that does not depend on v (a linear cost) means zero, not a mistake.
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
  GradOptions first = options;
  first.return_disconnected = ReturnDisconnected::Zero;
  Variables gradients = grad(cost, wrt, first);
  GradOptions second = options;
  second.disconnected_inputs = OnDisconnected::Ignore;
  second.known_grads.clear();
  return pushforward(gradients, wrt, vectors, second);
}

}  // namespace bitale
