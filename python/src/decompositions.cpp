// Decompositions of matrices, and functions based on them, for bitale.tensor.linalg.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/matrix_rank.hpp"
#include "bitale/ops/norms.hpp"
#include "define.hpp"
#include "deprecated.hpp"
#include "flag.hpp"
#include "instance.hpp"
#include "named_options.hpp"
#include "numpy_bridge.hpp"
#include "ops/option_names.hpp"
#include "variable_lists.hpp"

namespace bitale::python {

NormOrder as_order(const Any& ord) {
  if (ord.is_none()) return {};
  if (PyUnicode_Check(ord.ptr()))
    return option_named<MatrixNorm>(nb::cast<std::string>(ord), "norm: expected a number, None, or ord");
  return PyFloat_AsDouble(ord.ptr()) == -1.0 && PyErr_Occurred() ? throw nb::python_error()
                                                                 : PyFloat_AsDouble(ord.ptr());
}

namespace {

Any one_or_tuple(const Variables& variables) {
  if (variables.size() == 1) return wrap(variables[0]);
  return tuple_of(variables);
}

Variables variables_of_arguments(const nb::args& given) {
  Variables out;
  for (nb::handle each : given) out.push_back(as_variable(each));
  return out;
}

int core_dimensions(std::optional<int> b_ndim, const char* who) {
  if (b_ndim && *b_ndim != 1 && *b_ndim != 2) throw ValueError(cat(who, ": expected b_ndim 1 or 2, got ", *b_ndim));
  return b_ndim.value_or(0);
}

}  // namespace

void bind_decompositions(nb::module_& m) {
  add_function(
      m, "qr",
      [](const Like& a, const std::string& mode, Flag, Flag pivoting, const Any&) {
        return one_or_tuple(
            qr(as_variable(a), {.mode = option_named<QrMode>(mode, "qr: expected mode"), .pivoting = pivoting}));
      },
      nb::call_guard<AtCaller>(), "A"_a, "mode"_a = "full", "overwrite_a"_a = false, "pivoting"_a = false,
      "lwork"_a = nb::none());
  add_function(
      m, "svd",
      [](const Like& a, Flag full_matrices, Flag compute_uv) -> Any {
        if (!compute_uv) return wrap(svdvals(as_variable(a)));
        const SingularValues out = svd(as_variable(a), {.full_matrices = full_matrices});
        return nb::make_tuple(wrap(out.u), wrap(out.s), wrap(out.vt));
      },
      nb::call_guard<AtCaller>(), "a"_a, "full_matrices"_a = true, "compute_uv"_a = true);
  add_function(
      m, "eigh",
      [](const Like& a, const Any& b, Flag lower, const std::optional<std::string>& UPLO, const Any&) {
        if (UPLO && *UPLO != "L" && *UPLO != "U")
          throw ValueError(cat("eigh: expected UPLO \"L\" or \"U\", got \"", *UPLO, "\""));
        const EigenPairs out = eigh(as_variable(a), optional_operand(b), {.lower = UPLO ? *UPLO == "L" : bool(lower)});
        return nb::make_tuple(wrap(out.values), wrap(out.vectors));
      },
      nb::call_guard<AtCaller>(), "a"_a, "b"_a = nb::none(), "lower"_a = true, "UPLO"_a = nb::none(),
      "driver"_a = "evr");
  add_function(
      m, "eigvalsh",
      [](const Like& a, const Any& b, Flag lower) {
        return eigvalsh(as_variable(a), optional_operand(b), {.lower = lower});
      },
      nb::call_guard<AtCaller>(), "a"_a, "b"_a = nb::none(), "lower"_a = true);
  add_function(
      m, "eig",
      [](const Like& x) {
        const EigenPairs out = eig(as_variable(x));
        return nb::make_tuple(wrap(out.values), wrap(out.vectors));
      },
      nb::call_guard<AtCaller>(), "x"_a);
  add_function(
      m, "eigvals", [](const Like& a) { return eigvals(as_variable(a)); }, nb::call_guard<AtCaller>(), "a"_a);
  add_function(
      m, "lu",
      [](const Like& a, Flag permute_l, Flag, Flag p_indices, Flag) {
        return one_or_tuple(lu(as_variable(a), {.permute_l = permute_l, .p_indices = p_indices}));
      },
      nb::call_guard<AtCaller>(), "a"_a, "permute_l"_a = false, "check_finite"_a = true, "p_indices"_a = false,
      "overwrite_a"_a = false);
  add_function(
      m, "lu_factor",
      [](const Like& a, Flag, Flag) {
        const LUFactors out = lu_factor(as_variable(a));
        return nb::make_tuple(wrap(out.factors), wrap(out.pivots));
      },
      nb::call_guard<AtCaller>(), "a"_a, nb::kw_only(), "check_finite"_a = true, "overwrite_a"_a = false);
  add_function(
      m, "pivot_to_permutation",
      [](const Like& p, Flag inverse) { return pivot_to_permutation(as_variable(p), {.inverse = inverse}); },
      nb::call_guard<AtCaller>(), "p"_a, "inverse"_a = false);
  add_function(
      m, "lu_solve",
      [](const Any& lu_and_pivots, const Like& b, const Any& trans, std::optional<int> b_ndim, Flag, Flag) {
        const auto [factors, pivots] = as_pair(lu_and_pivots, "lu_solve", "(factors, pivots)");
        const Variable matrix = as_variable(factors);
        const int form = as_trans(trans, "lu_solve");
        return lu_solve(form == 2 && is_complex(matrix.dtype()) ? conj(matrix) : matrix, as_variable(pivots),
                        as_variable(b), {.transposed = form != 0, .b_ndim = core_dimensions(b_ndim, "lu_solve")});
      },
      nb::call_guard<AtCaller>(), "LU_and_pivots"_a.none(), "b"_a, "trans"_a = false, "b_ndim"_a = nb::none(),
      "check_finite"_a = true, "overwrite_b"_a = false);
  add_function(
      m, "schur",
      [](const Like& A, const std::string& output, const std::optional<std::string>& sort) {
        if (output != "real" && output != "complex")
          throw ValueError(cat("schur: expected output \"real\" or \"complex\", got \"", output, "\""));
        Variable x = as_variable(A);
        if (output == "complex") x = cast(x, promote(x.dtype(), DType::Complex64));
        const SchurForm out = schur(x, option_named<EigenvalueOrder>(sort.value_or(""), "schur: expected sort"));
        return nb::make_tuple(wrap(out.upper), wrap(out.z));
      },
      nb::call_guard<AtCaller>(), "A"_a, "output"_a = "real", "sort"_a = nb::none());
  add_function(
      m, "pinv",
      [](const Like& x, Flag, const Any& rtol) {
        return rtol.is_none() ? pinv(as_variable(x)) : pinv(as_variable(x), as_variable(rtol));
      },
      nb::call_guard<AtCaller>(), "x"_a, "hermitian"_a = false, nb::kw_only(), "rtol"_a = nb::none());
  add_function(
      m, "svdvals", [](const Like& x) { return svdvals(as_variable(x)); }, nb::call_guard<AtCaller>(), "x"_a,
      ">>> pt.linalg.svdvals([[0.0, 2.0], [1.0, 0.0]]).eval()\narray([2., 1.])");
  add_function(
      m, "vector_norm",
      [](const Like& x, const AxisLike& axis, Flag keepdims, double ord) {
        return vector_norm(as_variable(x), ord, as_axes(axis, "vector_norm"), keepdims);
      },
      nb::call_guard<AtCaller>(), "x"_a, nb::kw_only(), "axis"_a.none() = nb::none(), "keepdims"_a = false,
      "ord"_a = 2.0, ">>> pt.linalg.vector_norm([3.0, 4.0]).eval()\narray(5.)");
  add_function(
      m, "matrix_norm",
      [](const Like& x, Flag keepdims, const Any& ord) { return matrix_norm(as_variable(x), as_order(ord), keepdims); },
      nb::call_guard<AtCaller>(), "x"_a, nb::kw_only(), "keepdims"_a = false, "ord"_a = "fro",
      ">>> pt.linalg.matrix_norm([[3.0, 0.0], [0.0, 4.0]]).eval()\narray(5.)");
  add_function(
      m, "matrix_rank",
      [](const Like& A, const Any& tol, Flag, const Any& rtol) {
        if (!tol.is_none() && !rtol.is_none()) throw ValueError("matrix_rank: tol and rtol are both given");
        return matrix_rank(as_variable(A), {.tol = optional_operand(tol), .rtol = optional_operand(rtol)});
      },
      nb::call_guard<AtCaller>(), "A"_a, "tol"_a = nb::none(), "hermitian"_a = false, nb::kw_only(),
      "rtol"_a = nb::none(), ">>> pt.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).eval()\narray(1)");
  add_function(
      m, "lstsq",
      [](const Like& x, const Like& y, std::optional<double> rcond) {
        const LeastSquares out = lstsq(as_variable(x), as_variable(y), rcond.value_or(-1));
        return nb::make_tuple(wrap(out.x), wrap(out.residuals), wrap(out.rank), wrap(out.singular_values));
      },
      nb::call_guard<AtCaller>(), "x"_a, "y"_a, "rcond"_a = nb::none());
  add_function(
      m, "tensorinv", [](const Like& a, int ind) { return tensorinv(as_variable(a), ind); }, nb::call_guard<AtCaller>(),
      "a"_a, "ind"_a = 2);
  add_function(
      m, "tensorsolve",
      [](const Like& a, const Like& b, const Any& axes) {
        return tensorsolve(as_variable(a), as_variable(b), as_axes(axes, "tensorsolve").value_or(std::vector<int>{}));
      },
      nb::call_guard<AtCaller>(), "a"_a, "b"_a, "axes"_a = nb::none());
  add_function(
      m, "expm", [](const Like& a) { return expm(as_variable(a)); }, nb::call_guard<AtCaller>(), "a"_a);
  add_function(
      m, "matrix_power", [](const Like& x, std::int64_t n) { return matrix_power(as_variable(x), n); },
      nb::call_guard<AtCaller>(), "M"_a, "n"_a);
  add_function(
      m, "matrix_dot",
      [](const nb::args& args) {
        warn_deprecated("matrix_dot", "the operator @ or matmul");
        return matrix_dot(Operands(variables_of_arguments(args)));
      },
      nb::call_guard<AtCaller>(), "args"_a);
  add_function(
      m, "block_diag", [](const nb::args& matrices) { return block_diag(Operands(variables_of_arguments(matrices))); },
      nb::call_guard<AtCaller>(), "matrices"_a);
  add_function(
      m, "norm",
      [](const Like& x, const Any& ord, const Any& axis, Flag keepdims) {
        return norm(as_variable(x), as_order(ord), as_axes(axis, "norm"), keepdims);
      },
      nb::call_guard<AtCaller>(), "x"_a, "ord"_a = nb::none(), "axis"_a = nb::none(), "keepdims"_a = false);
  add_function(
      m, "solve_sylvester",
      [](const Like& a, const Like& b, const Like& q) {
        return solve_sylvester(as_variable(a), as_variable(b), as_variable(q));
      },
      nb::call_guard<AtCaller>(), "A"_a, "B"_a, "Q"_a);
  add_function(
      m, "solve_continuous_lyapunov",
      [](const Like& a, const Like& q) { return solve_continuous_lyapunov(as_variable(a), as_variable(q)); },
      nb::call_guard<AtCaller>(), "A"_a, "Q"_a);
  add_function(
      m, "solve_discrete_lyapunov",
      [](const Like& a, const Like& q, const std::string& method) {
        return solve_discrete_lyapunov(
            as_variable(a), as_variable(q),
            option_named<LyapunovMethod>(method, "solve_discrete_lyapunov: expected method"));
      },
      nb::call_guard<AtCaller>(), "A"_a, "Q"_a, "method"_a = "bilinear");
  add_function(
      m, "solve_discrete_are",
      [](const Like& a, const Like& b, const Like& q, const Like& r, Flag symmetric) {
        Variable weight = as_variable(q);
        if (symmetric) weight = mul(add(weight, matrix_transpose(weight)), 0.5);
        return solve_discrete_are(as_variable(a), as_variable(b), weight, as_variable(r));
      },
      nb::call_guard<AtCaller>(), "A"_a, "B"_a, "Q"_a, "R"_a, "enforce_Q_symmetric"_a = false);
  add_function(
      m, "solve_continuous_are",
      [](const Like& a, const Like& b, const Like& q, const Like& r) {
        return solve_continuous_are(as_variable(a), as_variable(b), as_variable(q), as_variable(r));
      },
      nb::call_guard<AtCaller>(), "A"_a, "B"_a, "Q"_a, "R"_a);
  add_function(
      m, "solve_banded",
      [](const Any& l_and_u, const Like& ab, const Like& b, std::optional<int> b_ndim, Flag, Flag, Flag) {
        constexpr const char* parts = "(lower, upper), numbers of diagonals below and above the main one";
        const auto [lower, upper] = as_pair(l_and_u, "solve_banded", parts);
        const auto count = [&](const nb::object& given) {
          if (is_integer_object(given)) return nb::cast<std::int64_t>(nb::int_(given));
          throw TypeError(cat("solve_banded: expected the pair ", parts, ", got ", shown(given), " in it"));
        };
        return solve_banded(count(lower), count(upper), as_variable(ab), as_variable(b),
                            core_dimensions(b_ndim, "solve_banded"));
      },
      nb::call_guard<AtCaller>(), "l_and_u"_a.none(), "ab"_a, "b"_a, "b_ndim"_a = nb::none(), "overwrite_ab"_a = false,
      "overwrite_b"_a = false, "check_finite"_a = true);
  add_function(
      m, "tridiagonal_lu_factor", [](const Like& a) { return one_or_tuple(tridiagonal_lu_factor(as_variable(a))); },
      nb::call_guard<AtCaller>(), "a"_a);
  add_function(
      m, "lu_factor_of_diagonals",
      [](const Like& dl, const Like& d, const Like& du) {
        return one_or_tuple(tridiagonal_lu_factor(as_variable(dl), as_variable(d), as_variable(du)));
      },
      nb::call_guard<AtCaller>(), "dl"_a, "d"_a, "du"_a, "tridiagonal_lu_factor of a matrix given by its diagonals.");
  add_function(
      m, "tridiagonal_lu_solve",
      [](const nb::object& a_diagonals, const Like& b, std::optional<int> b_ndim, Flag transposed) {
        const std::string_view parts = "(dl, d, du, du2, pivots)";  // what tridiagonal_lu_factor gives
        if (!is_sequence(a_diagonals) || nb::len(a_diagonals) != 5)
          throw TypeError(cat("tridiagonal_lu_solve: expected the factors ", parts, ", got ",
                              is_sequence(a_diagonals) ? cat(nb::len(a_diagonals), " elements") : shown(a_diagonals)));
        Variables factors;
        for (nb::handle each : a_diagonals) factors.push_back(as_variable(each));
        return tridiagonal_lu_solve(
            factors, as_variable(b),
            {.transposed = transposed, .b_ndim = core_dimensions(b_ndim, "tridiagonal_lu_solve")});
      },
      nb::call_guard<AtCaller>(), "a_diagonals"_a, "b"_a, nb::kw_only(), "b_ndim"_a = nb::none(),
      "transposed"_a = false);
  add_function(
      m, "qz",
      [](const Like& a, const Like& b, const std::string& output, const std::optional<std::string>& sort,
         Flag return_eigenvalues) {
        if (output != "real" && output != "complex")
          throw ValueError(cat("qz: expected output \"real\" or \"complex\", got \"", output, "\""));
        Variable x = as_variable(a);
        if (output == "complex") x = cast(x, promote(x.dtype(), DType::Complex64));
        const GeneralizedSchurForm out =
            qz(x, as_variable(b), option_named<EigenvalueOrder>(sort.value_or(""), "qz: expected sort"));
        Variables all{out.s, out.p, out.q, out.z};
        if (return_eigenvalues) all = {out.s, out.p, out.alpha, out.beta, out.q, out.z};
        return one_or_tuple(all);
      },
      nb::call_guard<AtCaller>(), "A"_a, "B"_a, "output"_a = "real", "sort"_a = nb::none(),
      "return_eigenvalues"_a = false);
  add_function(
      m, "solve_tridiagonal",
      [](const Like& dl, const Like& d, const Like& du, const Like& b, std::optional<int> b_ndim) {
        return solve_tridiagonal(as_variable(dl), as_variable(d), as_variable(du), as_variable(b),
                                 core_dimensions(b_ndim, "solve_tridiagonal"));
      },
      nb::call_guard<AtCaller>(), "dl"_a, "d"_a, "du"_a, "b"_a, "b_ndim"_a = nb::none());
}

}  // namespace bitale::python
