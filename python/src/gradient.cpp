// Derivatives: grad and related functions. Their options have the same names and meanings in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/gradient_control.hpp"
#include "define.hpp"
#include "deprecated.hpp"
#include "hooks.hpp"
#include "numpy_bridge.hpp"
#include "ops/control/batched_graph.hpp"
#include "sparse_derivatives.hpp"
#include "tree.hpp"

namespace bitale::python {

namespace {

// What derivatives are taken of or by: variables, alone or in a tree. Integers in an object of a registered class, such
// as the positions of a sparse matrix, have no derivatives: results have them as they are.
struct Given {
  Given(nb::handle object, const char* what) {
    Leaves leaves;
    form = Tree::of(object, leaves);
    const std::vector<bool> in_registered = form.are_in_registered();
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (!is_variable(leaves[i]))
        throw TypeError(
            cat(what, form.is_leaf() ? "" : form.paths()[i], ": expected a variable, got ", shown(leaves[i])));
      all.push_back(variable_of(leaves[i]));
      const Type& type = all.back().type();
      are_fixed.push_back(in_registered[i] && as_tensor(type) && is_discrete(all.back().dtype()));
      if (!are_fixed.back()) variables.push_back(all.back());
    }
  }

  // With results in place of the variables.
  nb::object build(const Variables& results) const {
    std::size_t next = 0;
    return form.build([&](std::size_t i) { return wrap(are_fixed[i] ? all[i] : results[next++]); });
  }

  // Cotangents and tangents; they may be arrays and numbers.
  Variables directions(nb::handle object, const char* what) const {
    Leaves leaves;
    if (form.is_leaf() && tree_class_of(object))
      throw TypeError(
          cat(what, ": expected a direction of ", all[0].str(), ", which is a tensor, got ", shown(object)));
    // A single one may be in a list, as in PyTensor.
    nb::object given = nb::borrow(object);
    const bool is_list = form.kind() == Tree::Kind::List || form.kind() == Tree::Kind::Tuple;
    if (form.is_leaf() && is_sequence(object) && nb::len(object) == 1) given = object[0];
    if (is_list && form.leaf_count() == 1 && !is_sequence(object)) given = nb::make_tuple(object);
    form.leaves_of(given, leaves, what);
    Variables out;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      Variable direction = as_variable(leaves[i]);
      if (!are_fixed[i])
        out.push_back(std::move(direction));
      else if (!direction.same_as(all[i]))
        throw TypeError(cat(what, form.paths()[i], ": expected ", all[i].str(),
                            " of the variable, as a direction has the same positions, got ", direction.str()));
    }
    return out;
  }

  Tree form;
  Variables all, variables;  // `variables`: those that have derivatives
  std::vector<bool> are_fixed;
};

Variable tensor_of(nb::handle object, const char* what) {
  if (is_variable(object)) return variable_of(object);
  const Given given(object, what);
  if (given.variables.size() != 1)
    throw TypeError(cat(what, ": expected a variable, got ", shown(object), " with ", given.variables.size()));
  return given.variables[0];
}

Variables require_variables(nb::handle object, const char* what) { return Given(object, what).variables; }

void warn(const std::string& message) {
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 2) < 0) nb::raise_python_error();
}

GradOptions options_of(nb::handle consider_constant, const std::string& disconnected_inputs,
                       const std::string& return_disconnected) {
  GradOptions options;
  if (!consider_constant.is_none())
    options.consider_constant = require_variables(consider_constant, "consider_constant");
  options.disconnected_inputs = parse_on_disconnected(disconnected_inputs);
  std::string returned = return_disconnected;
  for (char& c : returned)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  options.return_disconnected = parse_return_disconnected(returned);
  options.warn = warn;
  return options;
}

// Jacobians of an expression, or of the gradients by the same variables if there is none: objects of a registered class
// add to them what they know.
Any jacobians_in_form_of(nb::handle given, nb::handle expression, const Variables& results) {
  Leaves items;
  const Tree outer = Tree::of(given, items, {}, Tree::Stop::AtRegistered);
  std::size_t next = 0;
  return outer.build([&](std::size_t i) -> nb::object {
    const nb::object item = items[i];
    const TreeClass* cls = tree_class_of(item);
    const nb::object of = expression ? nb::borrow(expression) : item;
    const std::size_t count = cls ? Given(item, "jacobian: wrt").variables.size() : 1;
    if (count == 1) {
      const nb::object found = wrap(results[next++]);
      return cls && !cls->jacobian.is_none() ? nb::object(cls->jacobian(of, item, found)) : found;
    }
    nb::list out;
    for (std::size_t k = 0; k < count; ++k) out.append(wrap(results[next++]));
    return out;
  });
}

// The derivative of a function of Python's, if `function` is one rather than an expression: positions of arguments may
// be in the place of variables. Null otherwise.
nb::object of_function(const char* who, nb::handle function, nb::handle wrt, nb::handle argnums, bool has_aux) {
  if (!PyCallable_Check(function.ptr()) || is_variable(function) || is_tree(function)) {
    if (wrt.is_none()) throw TypeError(cat(who, ": wrt: expected variables, got None"));
    return {};
  }
  return hook("derivative_of_function")(who, function, wrt.is_none() ? argnums : wrt, has_aux);
}

Any bound_grad(Any cost, Any wrt, Any consider_constant, const std::string& disconnected_inputs, bool add_names,
               Any known_grads, const std::string& return_disconnected, const std::string& null_gradients, Any argnums,
               bool has_aux) {
  if (const nb::object made = of_function("grad", cost, wrt, argnums, has_aux)) return made;
  GradOptions options = options_of(consider_constant, disconnected_inputs, return_disconnected);
  options.add_names = add_names;
  for (auto& [before, after] : as_pairs(known_grads, "known_grads")) {
    const Given known(before, "known_grads");
    const Variables directions = known.directions(after, "known_grads");
    for (std::size_t i = 0; i < directions.size(); ++i)
      options.known_grads.emplace_back(known.variables[i], directions[i]);
  }
  options.null_gradients = parse_on_null_gradient(null_gradients);
  const Given by(wrt, "grad: wrt");
  if (!cost.is_none()) return by.build(grad(tensor_of(cost, "grad: cost"), by.variables, options));
  if (options.known_grads.empty()) throw ValueError("grad: a cost or known_grads is needed");
  return by.build(grad(by.variables, options));
}

Any bound_pullback(Any f, Any wrt, Any cotangents, Any consider_constant, const std::string& disconnected_inputs,
                   const std::string& return_disconnected) {
  const Given of(f, "pullback: f"), by(wrt, "pullback: wrt");
  return by.build(pullback(of.variables, by.variables, of.directions(cotangents, "pullback: cotangents"),
                           options_of(consider_constant, disconnected_inputs, return_disconnected)));
}

Any bound_pushforward(Any f, Any wrt, Any tangents, const std::string& disconnected_outputs,
                      const std::string& return_disconnected, bool) {
  const Given of(f, "pushforward: f"), by(wrt, "pushforward: wrt");
  return of.build(pushforward(of.variables, by.variables, by.directions(tangents, "pushforward: tangents"),
                              options_of(nb::none(), disconnected_outputs, return_disconnected)));
}

Any bound_jacobian(Any expression, Any wrt, Any consider_constant, const std::string& disconnected_inputs, bool,
                   Any sparsity, bool sparse, Any argnums, bool has_aux) {
  if (const nb::object made = of_function("jacobian", expression, wrt, argnums, has_aux)) return made;
  const GradOptions options = options_of(consider_constant, disconnected_inputs, "zero");
  const Variable differentiated = tensor_of(expression, "jacobian: expression");
  if (sparse || !sparsity.is_none())
    return jacobian_by_sparsity(differentiated, require_variable(wrt, "jacobian with a sparsity: wrt"), sparsity,
                                sparse, options);
  return jacobians_in_form_of(wrt, expression,
                              jacobian(differentiated, require_variables(wrt, "jacobian: wrt"), options));
}

Any bound_jacfwd(Any expression, Any wrt, const std::string& disconnected_inputs, Any argnums, bool has_aux) {
  if (const nb::object made = of_function("jacfwd", expression, wrt, argnums, has_aux)) return made;
  const GradOptions options = options_of(nb::none(), disconnected_inputs, "zero");
  return jacobians_in_form_of(
      wrt, expression,
      jacfwd(tensor_of(expression, "jacfwd: expression"), require_variables(wrt, "jacfwd: wrt"), options));
}

Any bound_hessian(Any cost, Any wrt, Any consider_constant, const std::string& disconnected_inputs, Any sparsity,
                  bool sparse, Any argnums, bool has_aux) {
  if (const nb::object made = of_function("hessian", cost, wrt, argnums, has_aux)) return made;
  const GradOptions options = options_of(consider_constant, disconnected_inputs, "zero");
  const Variable differentiated = tensor_of(cost, "hessian: cost");
  if (sparse || !sparsity.is_none())
    return hessian_by_sparsity(differentiated, require_variable(wrt, "hessian with a sparsity: wrt"), sparsity, sparse,
                               options);
  if (differentiated.ndim() != 0)
    throw TypeError(cat("hessian: the cost must be a scalar (0 dimensions), got ", differentiated.str(), " with ",
                        differentiated.ndim(), "; x.sum() is one, and jacobian differentiates each element"));
  const Given by(wrt, "hessian: wrt");
  const auto is_plain = [](const Variable& variable) { return variable.ndim() <= 1; };
  if (std::ranges::all_of(by.variables, is_plain) || !std::ranges::any_of(by.form.are_in_registered(), std::identity()))
    return jacobians_in_form_of(wrt, {}, hessian(differentiated, by.variables, options));
  Variables found;
  for (const Variable& variable : by.variables)
    found.push_back(is_plain(variable) ? hessian(differentiated, variable, options)
                                       : jacobian(grad(differentiated, variable, options), variable, options));
  return jacobians_in_form_of(wrt, {}, found);
}

Any bound_gauss_newton(Any cost, Any outputs, Any wrt, Any p, Any consider_constant,
                       const std::string& disconnected_inputs) {
  const Given by(wrt, "gauss_newton_vector_product: wrt");
  return by.build(gauss_newton_vector_product(tensor_of(cost, "gauss_newton_vector_product: cost"),
                                              require_variables(outputs, "gauss_newton_vector_product: outputs"),
                                              by.variables, by.directions(p, "gauss_newton_vector_product: p"),
                                              options_of(consider_constant, disconnected_inputs, "zero")));
}

Any bound_hessian_vector_product(Any cost, Any wrt, Any p, Any consider_constant,
                                 const std::string& disconnected_inputs) {
  const Given by(wrt, "hessian_vector_product: wrt");
  return by.build(hessian_vector_product(tensor_of(cost, "hessian_vector_product: cost"), by.variables,
                                         by.directions(p, "hessian_vector_product: p"),
                                         options_of(consider_constant, disconnected_inputs, "zero")));
}

Any bound_subgraph_grad(Any wrt, Any end, Any start, Any cost) {
  auto [to_wrt, to_end] =
      subgraph_grad(require_variables(wrt, "subgraph_grad: wrt"), require_variables(end, "subgraph_grad: end"),
                    as_replacements(start, "subgraph_grad: start"),
                    cost.is_none() ? Variable() : require_variable(cost, "subgraph_grad: cost"));
  return nb::make_tuple(nb::cast(to_wrt), nb::cast(to_end));
}

Any bound_vectorize(Any outputs, Any replace, int batch_axis) {
  if (batch_axis != 0 && batch_axis != -1)
    throw ValueError(cat("vectorize_graph: batch_axis must be 0 or -1, got ", batch_axis));
  Leaves leaves;
  const Tree form = Tree::of(outputs, leaves);
  Variables of;
  for (std::size_t i = 0; i < leaves.size(); ++i) of.push_back(require_variable(leaves[i], "vectorize_graph: outputs"));
  const Replacements by = as_replacements(replace, "vectorize_graph");
  const Variables found = vectorize_graph(of, by, batch_axis == 0 ? BatchAxis::first : BatchAxis::last);
  return form.build([&](std::size_t i) { return wrap(found[i]); });
}

void bound_verify_grad(nb::callable fun, Any pt, int n_tests, std::uint64_t seed, double eps, double abs_tol,
                       double rel_tol, const std::optional<Mode>& mode) {
  std::vector<Array> point;
  for (nb::handle value : pt) point.push_back(array_from(value, Share::Copy));
  VerifyGradOptions options;
  options.tests = n_tests;
  options.seed = seed;
  options.eps = eps;
  options.absolute = abs_tol;
  options.relative = rel_tol;
  if (mode)
    options.evaluate = [&mode](const Variables& outputs, const Variables& inputs, const std::vector<Array>& values) {
      Function compiled = function(inputs, outputs, {.mode = *mode, .on_unused_input = OnUnusedInput::Ignore});
      return compiled.call(values).take();
    };
  verify_grad(
      [&fun](const Variables& inputs) {
        nb::list arguments;
        for (auto& input : inputs) arguments.append(input);
        return require_variable(fun(*arguments), "verify_grad: the function's result");
      },
      point, options);
}

}  // namespace

void bind_gradient(nb::module_& m) {
  m.def("disconnected", disconnected, "A variable of DisconnectedType.");
  m.def("undefined_gradient", undefined_gradient, "why"_a, "A variable of NullType.");
  m.def(
      "is_disconnected", [](const Variable& variable) { return variable.is_disconnected(); }, "variable"_a);
  const auto at_caller = nb::call_guard<AtCaller>();
  define(m, "grad", bound_grad, "cost"_a.none(), "wrt"_a = nb::none(), "consider_constant"_a = nb::none(),
         "disconnected_inputs"_a = "raise", "add_names"_a = true, "known_grads"_a = nb::none(),
         "return_disconnected"_a = "zero", "null_gradients"_a = "raise", nb::kw_only(), "argnums"_a = 0,
         "has_aux"_a = false, R"(>>> x = pt.dvector("x")
>>> bt.function([x], bt.grad((x**3).sum(), x))([1.0, 2.0])
array([ 3., 12.]))");
  m.def(
      "Lop",
      [](Any f, Any wrt, Any eval_points, Any consider_constant, const std::string& disconnected_inputs,
         const std::string& return_disconnected) {
        warn_deprecated("Lop", "pullback");
        return bound_pullback(f, wrt, eval_points, consider_constant, disconnected_inputs, return_disconnected);
      },
      "f"_a, "wrt"_a, "eval_points"_a, "consider_constant"_a = nb::none(), "disconnected_inputs"_a = "raise",
      "return_disconnected"_a = "zero", at_caller, R"(>>> x = pt.dvector("x")
>>> bt.Lop(x**2, x, pt.ones_like(x)).eval({x: [1.0, 2.0]})
array([2., 4.]))");
  m.def(
      "Rop",
      [](Any f, Any wrt, Any eval_points, const std::string& disconnected_outputs,
         const std::string& return_disconnected, bool use_op_rop_implementation) {
        warn_deprecated("Rop", "pushforward");
        return bound_pushforward(f, wrt, eval_points, disconnected_outputs, return_disconnected,
                                 use_op_rop_implementation);
      },
      "f"_a, "wrt"_a, "eval_points"_a, "disconnected_outputs"_a = "raise", "return_disconnected"_a = "zero",
      "use_op_rop_implementation"_a = true, at_caller, R"(>>> x = pt.dvector("x")
>>> bt.Rop(x**2, x, pt.ones_like(x)).eval({x: [1.0, 2.0]})
array([2., 4.]))");
  m.def(
      "pushforward_through_pullback",
      [](Any outputs, Any inputs, Any tangents, const std::string& disconnected_outputs,
         const std::string& return_disconnected) {
        return bound_pushforward(outputs, inputs, tangents, disconnected_outputs, return_disconnected, false);
      },
      "outputs"_a, "inputs"_a, "tangents"_a, "disconnected_outputs"_a = "raise", "return_disconnected"_a = "zero",
      at_caller, R"(>>> x = pt.dvector("x")
>>> bt.gradient.pushforward_through_pullback(x**2, x, pt.ones_like(x)).eval({x: [1.0, 2.0]})
array([2., 4.]))");
  m.def("pullback", bound_pullback, "f"_a, "wrt"_a, "cotangents"_a, "consider_constant"_a = nb::none(),
        "disconnected_inputs"_a = "raise", "return_disconnected"_a = "zero", at_caller, R"(>>> x = pt.dvector("x")
>>> bt.function([x], bt.pullback(x**2, x, pt.ones_like(x)))([1.0, 2.0])
array([2., 4.]))");
  m.def("pushforward", bound_pushforward, "f"_a, "wrt"_a, "tangents"_a, "disconnected_outputs"_a = "raise",
        "return_disconnected"_a = "zero", "use_op_pushforward"_a = false, at_caller, R"(>>> x = pt.dvector("x")
>>> bt.function([x], bt.pushforward(x**2, x, pt.ones_like(x)))([1.0, 2.0])
array([2., 4.]))");
  define(m, "jacfwd", bound_jacfwd, "expression"_a, "wrt"_a = nb::none(), "disconnected_inputs"_a = "raise",
         nb::kw_only(), "argnums"_a = 0, "has_aux"_a = false,
         R"(
>>> x = pt.dscalar("x")
>>> bt.function([x], bt.jacfwd(pt.stack([x, x**2, x**3]), x))(2.0)
array([ 1.,  4., 12.]))");
  define(m, "jacobian", bound_jacobian, "expression"_a, "wrt"_a = nb::none(), "consider_constant"_a = nb::none(),
         "disconnected_inputs"_a = "raise", "vectorize"_a = true, nb::kw_only(), "sparsity"_a = nb::none(),
         "sparse"_a = false, "argnums"_a = 0, "has_aux"_a = false,
         R"(>>> x = pt.dvector("x")
>>> bt.function([x], bt.jacobian(x[:-1] * x[1:], x))([1.0, 2.0, 3.0])
array([[2., 1., 0.],
       [0., 3., 2.]]))");
  define(m, "hessian", bound_hessian, "cost"_a, "wrt"_a = nb::none(), "consider_constant"_a = nb::none(),
         "disconnected_inputs"_a = "raise", nb::kw_only(), "sparsity"_a = nb::none(), "sparse"_a = false,
         "argnums"_a = 0, "has_aux"_a = false,
         R"(>>> x = pt.dvector("x")
>>> bt.function([x], bt.hessian(pt.prod(x), x))([2.0, 3.0])
array([[0., 1.],
       [1., 0.]]))");
  m.def("hessian_vector_product", bound_hessian_vector_product, "cost"_a, "wrt"_a, "p"_a,
        "consider_constant"_a = nb::none(), "disconnected_inputs"_a = "raise", at_caller,
        R"(>>> x, p = pt.dvectors("x", "p")
>>> bt.function([x, p], bt.hessian_vector_product((x**3).sum(), x, p))([1.0, 2.0], [1.0, 1.0])
array([ 6., 12.]))");
  m.def("gauss_newton_vector_product", bound_gauss_newton, "cost"_a, "outputs"_a, "wrt"_a, "p"_a,
        "consider_constant"_a = nb::none(), "disconnected_inputs"_a = "raise", at_caller,
        R"(>>> w, p = pt.dvectors("w", "p")
>>> residuals = pt.exp(w) - 1
>>> product = bt.gauss_newton_vector_product((residuals**2).sum(), residuals, w, p)
>>> bt.function([w, p], product)([0.0, 0.0], [1.0, 2.0])
array([2., 4.]))");
  m.def("subgraph_grad", bound_subgraph_grad, "wrt"_a, "end"_a, "start"_a = nb::none(), "cost"_a = nb::none(),
        at_caller, "Gradients through a part of a graph: of wrt, and of `end`, where the next part begins.");
  m.def("vectorize_graph", bound_vectorize, "outputs"_a, "replace"_a, nb::kw_only(), "batch_axis"_a = 0, at_caller,
        R"(>>> x, rows = pt.dvector("x"), pt.dmatrix("rows")
>>> sums = bt.vectorize_graph((x**2).sum(), {x: rows})
>>> bt.function([rows], sums)([[1.0, 2.0], [3.0, 4.0]])
array([ 5., 25.]))");
  m.def("verify_grad", bound_verify_grad, "fun"_a, "pt"_a, "n_tests"_a = 2, "seed"_a = 42, "eps"_a = 0.0,
        "abs_tol"_a = 0.0, "rel_tol"_a = 0.0, "mode"_a = nb::none(), at_caller,
        "Compares the gradient of fun with finite differences at a point; GradientError when they differ.");
  m.def(
      "zero_grad", [](const Like& x) { return zero_grad(as_variable(x)); }, "x"_a, at_caller, R"(>>> x = pt.dscalar("x")
>>> bt.grad(x * bt.gradient.zero_grad(x), x).eval({x: 3.0})
array(3.))");
  m.def(
      "disconnected_grad", [](const Like& x) { return disconnected_grad(as_variable(x)); }, "x"_a, at_caller,
      R"(>>> x = pt.dscalar("x")
>>> bt.grad(x * bt.gradient.disconnected_grad(x), x).eval({x: 3.0})
array(3.))");
  m.def(
      "undefined_grad", [](const Like& x) { return undefined_grad(as_variable(x)); }, "x"_a, at_caller,
      R"(>>> bt.gradient.undefined_grad(pt.constant(3.0)).eval()
array(3., dtype=float32))");
  m.def(
      "grad_scale", [](const Like& x, double multiplier) { return grad_scale(as_variable(x), multiplier); }, "x"_a,
      "multiplier"_a, at_caller, R"(>>> x = pt.dscalar("x")
>>> bt.grad(bt.gradient.grad_scale(x, 0.5) ** 2, x).eval({x: 3.0})
array(3.))");
  m.def(
      "grad_clip", [](const Like& x, double lower, double upper) { return grad_clip(as_variable(x), lower, upper); },
      "x"_a, "lower_bound"_a, "upper_bound"_a, at_caller, R"(>>> x = pt.dscalar("x")
>>> bt.grad(bt.gradient.grad_clip(x, -1, 1) ** 2, x).eval({x: 3.0})
array(1.))");
}

}  // namespace bitale::python
