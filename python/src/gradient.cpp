// Derivatives: grad and related functions. Their options have the same names and meanings in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/autodiff/sparse.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/gradient_control.hpp"
#include "bitale/sparse/functions.hpp"
#include "bitale/xtensor/calculus.hpp"
#include "define.hpp"
#include "hooks.hpp"
#include "labelled.hpp"
#include "numpy_bridge.hpp"
#include "ops/control/batched_graph.hpp"
#include "sparse.hpp"

namespace bitale::python {

namespace {

bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

// A tensor, or that of a labelled one, whose derivatives get its dimensions in the end, or the elements of a sparse
// matrix, whose derivatives get its positions.
Variable tensor_of(nb::handle object, const char* what) {
  if (const auto* labelled = labelled_in(object)) return labelled->values();
  if (const auto* matrix = matrix_in(object)) return matrix->data();
  return require_variable(object, what);
}

Variables require_variables(nb::handle object, const char* what) {
  if (!is_list(object)) return {tensor_of(object, what)};
  Variables out;
  for (nb::handle item : object) out.push_back(tensor_of(item, what));
  return out;
}

// The items of a list, or the object itself as the only one.
std::vector<nb::object> items_of(nb::handle object) {
  std::vector<nb::object> out;
  if (!is_list(object)) return {nb::borrow(object)};
  for (nb::handle item : object) out.push_back(nb::borrow(item));
  return out;
}

// Cotangents and tangents of what is given; they may be arrays and numbers. Labelled ones are aligned by names.
Variables operands_like(nb::handle object, nb::handle given, const char* what) {
  const auto items = items_of(object), like = items_of(given);
  Variables out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const auto* matrix = matrix_in(items[i])) {
      const auto* target = i < like.size() ? matrix_in(like[i]) : nullptr;
      if (!target || !matrix->pattern().same_as(target->pattern()))
        throw TypeError(cat(what, ": ", matrix->str(), " does not have the positions of the variable"));
      out.push_back(matrix->data());
      continue;
    }
    const auto *labelled = labelled_in(items[i]), *target = i < like.size() ? labelled_in(like[i]) : nullptr;
    if (labelled && !target)
      throw TypeError(cat(what, ": ", labelled->str(), " is labelled, but the variable is not; .values is the tensor"));
    out.push_back(labelled ? xtensor::values_in_order(*labelled, target->dims(), what) : as_variable(items[i]));
  }
  return out;
}

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

// A derivative with the dimensions of a labelled tensor; others, and explicit absences, as they are.
nb::object with_dims(const Variable& result, const xtensor::DimList* dims) {
  if (!dims || !as_tensor(result.type())) return wrap(result);
  return nb::cast(xtensor::XVariable(result, *dims));
}

nb::object like(nb::handle given, const Variable& result) {
  if (const auto* matrix = matrix_in(given); matrix && as_tensor(result.type()) && result.ndim() == 1)
    return nb::cast(matrix->with_data(result));
  const auto* labelled = labelled_in(given);
  return with_dims(result, labelled ? &labelled->dims() : nullptr);
}

// A single result for a single variable, a list for a list; each labelled as the variable is.
Any in_form_of(nb::handle given, const Variables& results) {
  if (!is_list(given)) return like(given, results[0]);
  nb::list out;
  for (std::size_t i = 0; i < results.size(); ++i) out.append(like(items_of(given)[i], results[i]));
  return out;
}

// The same for Jacobians of an expression, or of the gradients by the same variables if there is none.
Any jacobians_in_form_of(nb::handle given, nb::handle expression, const Variables& results) {
  const auto variables = items_of(given);
  nb::list out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto *by = labelled_in(variables[i]), *of = expression ? labelled_in(expression) : by;
    const int of_ndim = of ? of->ndim() : expression ? variable_of(expression).ndim() : 0;
    if (!by || (!of && of_ndim > 0)) {
      out.append(wrap(results[i]));
      continue;
    }
    const xtensor::DimList dims = xtensor::jacobian_dims(of ? of->dims() : xtensor::DimList(), by->dims());
    out.append(with_dims(results[i], &dims));
  }
  if (is_list(given)) return out;
  return nb::object(out[0]);
}

Any bound_grad(Any cost, Any wrt, Any consider_constant, const std::string& disconnected_inputs, bool add_names,
               Any known_grads, const std::string& return_disconnected, const std::string& null_gradients) {
  GradOptions options = options_of(consider_constant, disconnected_inputs, return_disconnected);
  options.add_names = add_names;
  for (auto& [before, after] : as_pairs(known_grads, "known_grads"))
    options.known_grads.emplace_back(tensor_of(before, "known_grads"), operands_like(after, before, "known_grads")[0]);
  options.null_gradients = parse_on_null_gradient(null_gradients);
  Variables variables = require_variables(wrt, "grad: wrt");
  if (cost.is_none()) {
    if (options.known_grads.empty()) throw ValueError("grad: a cost or known_grads is needed");
    return in_form_of(wrt, grad(variables, options));
  }
  return in_form_of(wrt, grad(tensor_of(cost, "grad: cost"), variables, options));
}

Any bound_pullback(Any f, Any wrt, Any cotangents, Any consider_constant, const std::string& disconnected_inputs,
                   const std::string& return_disconnected) {
  return in_form_of(wrt, pullback(require_variables(f, "pullback: f"), require_variables(wrt, "pullback: wrt"),
                                  operands_like(cotangents, f, "pullback: cotangents"),
                                  options_of(consider_constant, disconnected_inputs, return_disconnected)));
}

Any bound_pushforward(Any f, Any wrt, Any tangents, const std::string& disconnected_outputs,
                      const std::string& return_disconnected, bool) {
  return in_form_of(f, pushforward(require_variables(f, "pushforward: f"), require_variables(wrt, "pushforward: wrt"),
                                   operands_like(tangents, wrt, "pushforward: tangents"),
                                   options_of(nb::none(), disconnected_outputs, return_disconnected)));
}

// How a derivative's sparsity is given: a bool matrix, one of scipy.sparse, or "auto" for the pattern that is found.
struct Sparsity {
  Sparsity(nb::handle given, bool sparse) : sparse(sparse) {
    if (nb::isinstance<nb::str>(given)) {
      if (nb::cast<std::string>(given) != "auto")
        throw ValueError(cat("sparsity: expected \"auto\" or a matrix, got \"", nb::cast<std::string>(given), "\""));
      return;
    }
    if (given.is_none()) return;
    nb::object matrix = nb::borrow(given);
    if (!nb::hasattr(matrix, "tocsr"))
      matrix = nb::module_::import_("numpy").attr("asarray")(matrix, "dtype"_a = "bool");
    const nb::object shape = matrix.attr("shape");
    if (nb::len(shape) != 2)
      throw TypeError(cat("expected a matrix of bool as sparsity, got one with ", nb::len(shape), " dimensions"));
    sparse::Elements elements(nb::cast<std::int64_t>(shape[0]), nb::cast<std::int64_t>(shape[1]));
    const nb::object positions = matrix.attr("nonzero")();
    const auto list = [](const nb::object& axis) {
      const Array all = array_from(axis, Share::Copy).astype(DType::Int64).contiguous();
      return std::vector<std::int64_t>(all.data_as<std::int64_t>(), all.data_as<std::int64_t>() + all.size());
    };
    elements.rows = list(positions[0]);
    elements.columns = list(positions[1]);
    pattern = compress(elements, sparse::Format::csr).pattern;
  }

  static bool is_asked_for(nb::handle given, bool sparse) { return sparse || !given.is_none(); }
  Any result(const sparse::Matrix& matrix) const {
    if (!sparse) return wrap(to_dense(matrix));
    hook("sparse_variable");  // before the first instance, so that it has all methods
    return nb::cast(matrix);
  }

  bool sparse;
  std::optional<sparse::Pattern> pattern;
};

Any bound_jacobian(Any expression, Any wrt, Any consider_constant, const std::string& disconnected_inputs, bool,
                   Any sparsity, bool sparse) {
  const GradOptions options = options_of(consider_constant, disconnected_inputs, "zero");
  const Variable differentiated = tensor_of(expression, "jacobian: expression");
  if (Sparsity::is_asked_for(sparsity, sparse)) {
    const Variable variable = require_variable(wrt, "jacobian with a sparsity: wrt");
    const Sparsity given(sparsity, sparse);
    return given.result(given.pattern ? sparse_jacobian(differentiated, variable, *given.pattern, options)
                                      : sparse_jacobian(differentiated, variable, options));
  }
  return jacobians_in_form_of(wrt, expression,
                              jacobian(differentiated, require_variables(wrt, "jacobian: wrt"), options));
}

Any bound_jacfwd(Any expression, Any wrt, const std::string& disconnected_inputs) {
  const GradOptions options = options_of(nb::none(), disconnected_inputs, "zero");
  return jacobians_in_form_of(
      wrt, expression,
      jacfwd(tensor_of(expression, "jacfwd: expression"), require_variables(wrt, "jacfwd: wrt"), options));
}

Any bound_hessian(Any cost, Any wrt, Any consider_constant, const std::string& disconnected_inputs, Any sparsity,
                  bool sparse) {
  const GradOptions options = options_of(consider_constant, disconnected_inputs, "zero");
  const Variable differentiated = tensor_of(cost, "hessian: cost");
  if (Sparsity::is_asked_for(sparsity, sparse)) {
    const Variable variable = require_variable(wrt, "hessian with a sparsity: wrt");
    const Sparsity given(sparsity, sparse);
    return given.result(given.pattern ? sparse_hessian(differentiated, variable, *given.pattern, options)
                                      : sparse_hessian(differentiated, variable, options));
  }
  const auto variables = items_of(wrt);
  if (std::ranges::none_of(variables, [](nb::handle each) { return labelled_in(each) != nullptr; }))
    return in_form_of(wrt, hessian(differentiated, require_variables(wrt, "hessian: wrt"), options));
  if (differentiated.ndim() != 0)
    throw TypeError(cat("hessian: the cost must be a scalar (0 dimensions), got ", differentiated.str(), " with ",
                        differentiated.ndim(), "; x.sum() is one, and jacobian differentiates each element"));
  Variables found;
  for (nb::handle each : variables) {
    const auto* labelled = labelled_in(each);
    found.push_back(labelled ? xtensor::hessian(differentiated, *labelled, options).values()
                             : hessian(differentiated, require_variable(each, "hessian: wrt"), options));
  }
  return jacobians_in_form_of(wrt, {}, found);
}

Any bound_gauss_newton(Any cost, Any outputs, Any wrt, Any p, Any consider_constant,
                       const std::string& disconnected_inputs) {
  return in_form_of(wrt, gauss_newton_vector_product(tensor_of(cost, "gauss_newton_vector_product: cost"),
                                                     require_variables(outputs, "gauss_newton_vector_product: outputs"),
                                                     require_variables(wrt, "gauss_newton_vector_product: wrt"),
                                                     operands_like(p, wrt, "gauss_newton_vector_product: p"),
                                                     options_of(consider_constant, disconnected_inputs, "zero")));
}

Any bound_hessian_vector_product(Any cost, Any wrt, Any p, Any consider_constant,
                                 const std::string& disconnected_inputs) {
  return in_form_of(wrt, hessian_vector_product(tensor_of(cost, "hessian_vector_product: cost"),
                                                require_variables(wrt, "hessian_vector_product: wrt"),
                                                operands_like(p, wrt, "hessian_vector_product: p"),
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
  const Variables of = require_variables(outputs, "vectorize_graph: outputs");
  const Replacements by = as_replacements(replace, "vectorize_graph");
  return in_form_of(outputs, batch_axis == 0 ? vectorize_graph(of, by) : batched_graph(of, by, BatchAxis::last));
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
  define(m, "grad", bound_grad, "cost"_a.none(), "wrt"_a, "consider_constant"_a = nb::none(),
         "disconnected_inputs"_a = "raise", "add_names"_a = true, "known_grads"_a = nb::none(),
         "return_disconnected"_a = "zero", "null_gradients"_a = "raise", R"(>>> x = pt.dvector("x")
>>> bt.function([x], bt.grad((x**3).sum(), x))([1.0, 2.0])
array([ 3., 12.]))");
  m.def("pullback", bound_pullback, "f"_a, "wrt"_a, "cotangents"_a, "consider_constant"_a = nb::none(),
        "disconnected_inputs"_a = "raise", "return_disconnected"_a = "zero", at_caller, R"(>>> x = pt.dvector("x")
>>> bt.function([x], bt.pullback(x**2, x, pt.ones_like(x)))([1.0, 2.0])
array([2., 4.]))");
  m.def("pushforward", bound_pushforward, "f"_a, "wrt"_a, "tangents"_a, "disconnected_outputs"_a = "raise",
        "return_disconnected"_a = "zero", "use_op_pushforward"_a = false, at_caller, R"(>>> x = pt.dvector("x")
>>> bt.function([x], bt.pushforward(x**2, x, pt.ones_like(x)))([1.0, 2.0])
array([2., 4.]))");
  define(m, "jacfwd", bound_jacfwd, "expression"_a, "wrt"_a, "disconnected_inputs"_a = "raise",
         R"(
>>> x = pt.dscalar("x")
>>> bt.function([x], bt.jacfwd(pt.stack([x, x**2, x**3]), x))(2.0)
array([ 1.,  4., 12.]))");
  define(m, "jacobian", bound_jacobian, "expression"_a, "wrt"_a, "consider_constant"_a = nb::none(),
         "disconnected_inputs"_a = "raise", "vectorize"_a = true, nb::kw_only(), "sparsity"_a = nb::none(),
         "sparse"_a = false,
         R"(>>> x = pt.dvector("x")
>>> bt.function([x], bt.jacobian(x[:-1] * x[1:], x))([1.0, 2.0, 3.0])
array([[2., 1., 0.],
       [0., 3., 2.]]))");
  define(m, "hessian", bound_hessian, "cost"_a, "wrt"_a, "consider_constant"_a = nb::none(),
         "disconnected_inputs"_a = "raise", nb::kw_only(), "sparsity"_a = nb::none(), "sparse"_a = false,
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
