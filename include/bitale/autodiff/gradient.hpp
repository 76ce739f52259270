// Derivatives of expressions, as more expressions. The drivers here traverse the graph and call each op's own pullback
// or pushforward. Three results are explicit and different: zero (for an integer, say), disconnected (no differentiable
// path at all), and undefined (a derivative that does not exist or is not implemented, with the reason).
#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/graph/traversal.hpp"
#include "bitale/ops/vectorize.hpp"

namespace bitale {

enum class OnDisconnected { Raise, Warn, Ignore };                    // disconnected_inputs
enum class ReturnDisconnected { Zero, None, Disconnected };           // None: a null handle
enum class OnNullGradient { Raise, Return };                          // null_gradients
OnDisconnected parse_on_disconnected(std::string_view text);          // "raise", "warn", "ignore"; ValueError
ReturnDisconnected parse_return_disconnected(std::string_view text);  // "zero", "none", "disconnected"
OnNullGradient parse_on_null_gradient(std::string_view text);         // "raise", "return"

struct GradOptions {
  Variables consider_constant = {};  // the gradient is not propagated through these
  OnDisconnected disconnected_inputs = OnDisconnected::Raise;
  ReturnDisconnected return_disconnected = ReturnDisconnected::Zero;
  OnNullGradient null_gradients = OnNullGradient::Raise;
  bool add_names = true;  // "(dcost/dx)"
  // Gradients of variables that are known already: they replace those that would follow from the cost.
  Replacements known_grads = {};
  // Called with each warning; by default warnings go to standard error.
  std::function<void(const std::string&)> warn = {};
};

using Source = std::source_location;

// Gradient of a float scalar. TypeError for another cost; DisconnectedInputError when the cost does not depend on a
// variable; NullTypeGradError when a derivative is undefined. Integers and bools have no derivative: they count as
// disconnected, and where that is ignored their gradient is zero, in floatX. Derivatives are taken of the expression
// after the rewrites tagged `stabilize`, so that they are as stable as the compiled value.
Variable grad(const Variable& cost, const Variable& wrt, const GradOptions& options = {},
              Source where = Source::current());
Variables grad(const Variable& cost, const Variables& wrt, const GradOptions& options = {},
               Source where = Source::current());
// Without a cost: all cotangents come from options.known_grads.
Variables grad(const Variables& wrt, const GradOptions& options, Source where = Source::current());

// Cotangents times the Jacobian of the outputs.
Variables pullback(const Variables& outputs, const Variables& wrt, const Variables& cotangents,
                   const GradOptions& options = {}, Source where = Source::current());
inline Variables Lop(const Variables& outputs, const Variables& wrt, const Variables& cotangents,
                     const GradOptions& options = {}, Source where = Source::current()) {
  return pullback(outputs, wrt, cotangents, options, where);
}
// The Jacobian of the outputs times tangents: by each op's pushforward, and by two pullbacks for ops that have none.
Variables pushforward(const Variables& outputs, const Variables& wrt, const Variables& tangents,
                      const GradOptions& options = {}, Source where = Source::current());
inline Variables Rop(const Variables& outputs, const Variables& wrt, const Variables& tangents,
                     const GradOptions& options = {}, Source where = Source::current()) {
  return pushforward(outputs, wrt, tangents, options, where);
}

// d expression / d wrt: the dimensions of the expression, then those of wrt. Computed by one batched pullback, or by
// one batched pushforward where that takes far fewer products; where lengths are unknown, each call decides.
// NotImplementedError when an op can't take batches.
Variables jacobian(const Variable& expression, const Variables& wrt, const GradOptions& options = {},
                   Source where = Source::current());
Variable jacobian(const Variable& expression, const Variable& wrt, const GradOptions& options = {},
                  Source where = Source::current());
// The same by one batched pushforward for each variable (forward mode), which takes as many products as the variable
// has elements, where `jacobian` takes as many as the expression has.
Variables jacfwd(const Variable& expression, const Variables& wrt, const GradOptions& options = {},
                 Source where = Source::current());
Variable jacfwd(const Variable& expression, const Variable& wrt, const GradOptions& options = {},
                Source where = Source::current());
// The Jacobian of a vector with respect to another, where its sparsity is known. `sparsity` is a matrix of bool, with a
// row per element of the expression, that is true where an element may be nonzero. Rows and columns that share no
// nonzero are computed by one product together (Curtis, Powell and Reid 1974): a band of width w takes w products,
// whatever its length, an arrow 3. The result is dense, and zero where the sparsity is false. A nonzero that the
// sparsity leaves out is not detected, and may be added to others. ShapeError where the lengths differ from those of
// the sparsity.
Variable sparse_jacobian(const Variable& expression, const Variable& wrt, const Array& sparsity,
                         const GradOptions& options = {}, Source where = Source::current());
Variable sparse_hessian(const Variable& cost, const Variable& wrt, const Array& sparsity,
                        const GradOptions& options = {}, Source where = Source::current());
// Second derivatives of a scalar with respect to vectors (or scalars), for each of them separately.
Variables hessian(const Variable& cost, const Variables& wrt, const GradOptions& options = {},
                  Source where = Source::current());
Variable hessian(const Variable& cost, const Variable& wrt, const GradOptions& options = {},
                 Source where = Source::current());
// The Hessian over all wrt together, times vectors of their shapes.
Variables hessian_vector_product(const Variable& cost, const Variables& wrt, const Variables& vectors,
                                 const GradOptions& options = {}, Source where = Source::current());
// J' H J times vectors, where J is the Jacobian of `outputs` with respect to `wrt`, and H the Hessian of the cost as a
// function of the outputs: positive semidefinite for a convex cost. Schraudolph (2002), "Fast curvature matrix-vector
// products". Everything else that the cost depends on is held constant.
Variables gauss_newton_vector_product(const Variable& cost, const Variables& outputs, const Variables& wrt,
                                      const Variables& vectors, const GradOptions& options = {},
                                      Source where = Source::current());

// Reverse differentiation of one part of a graph: from `start` (gradients of variables at its end) and `cost` to the
// gradients of `wrt` and of `end`, the variables where the next part begins.
std::pair<Variables, Variables> subgraph_grad(const Variables& wrt, const Variables& end,
                                              const Replacements& start = {}, const Variable& cost = {},
                                              Source where = Source::current());

struct VerifyGradOptions {
  int tests = 2;                      // random projections of the outputs
  double eps = 0;                     // step of the differences; 0: by dtype
  double absolute = 0, relative = 0;  // tolerances: one of them must hold; 0: by dtype
  std::uint64_t seed = 42;
  // Values of outputs for values of inputs; by default the reference interpreter.
  std::function<std::vector<Array>(const Variables& outputs, const Variables& inputs, const std::vector<Array>&)>
      evaluate = {};
};
// Compares the gradient of `fun` (one output) at a point with central differences. GradientError reports where they
// differ.
void verify_grad(const std::function<Variable(const Variables&)>& fun, const std::vector<Array>& point,
                 const VerifyGradOptions& options = {});

}  // namespace bitale
