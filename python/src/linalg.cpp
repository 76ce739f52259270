// Linear algebra, for bitale.tensor.linalg and bitale.tensor.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/assume.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/creation.hpp"
#include "bitale/ops/linalg.hpp"
#include "define.hpp"
#include "deprecated.hpp"
#include "device.hpp"
#include "diagonal_number.hpp"
#include "flag.hpp"
#include "instance.hpp"
#include "named_options.hpp"
#include "numpy_bridge.hpp"
#include "ops/option_names.hpp"

namespace bitale::python {

namespace {

OnError as_on_error(const std::string& text, const char* who = "cholesky") {
  if (text == "raise") return OnError::Raise;
  if (text == "nan") return OnError::Nan;
  throw ValueError(cat(who, ": expected on_error \"raise\" or \"nan\", got \"", text, "\""));
}

int as_b_ndim(std::optional<int> b_ndim, const char* who) {
  if (b_ndim && *b_ndim != 1 && *b_ndim != 2) throw ValueError(cat(who, ": expected b_ndim 1 or 2, got ", *b_ndim));
  return b_ndim.value_or(0);
}

constexpr const char* cholesky_doc =
    "The Cholesky factor of x, or of each matrix of a batch: L with L @ L.T == x, lower triangular, or U with U.T @ U "
    "== "
    "x. Only that triangle of x is read. A matrix that is not positive definite, or that has a nan, raises "
    "numpy.linalg.LinAlgError, which says which one it is, or with on_error=\"nan\" gives a factor that is all nan. "
    "ValueError for a matrix that is not square. check_finite and overwrite_a are there for SciPy's sake: memory is "
    "written over where nobody else reads it. Gradients: Murray 2016, arXiv:1602.07527.";
constexpr const char* solve_triangular_doc =
    "x with a @ x == b, or a.T @ x == b with trans=1, a.conj().T @ x == b with trans=2, for a triangular a, of which "
    "only that triangle is read; "
    "unit_diagonal: its diagonal is taken as ones. b_ndim says whether b is of vectors or of matrices (by default: of "
    "matrices, if it has two dimensions or more); what comes before are batches, which broadcast with those of a. "
    "numpy.linalg.LinAlgError where the diagonal has a 0, or with on_error=\"nan\" a solution that is all nan. "
    "ValueError "
    "for lengths that don't fit.";

}  // namespace

std::pair<nb::object, nb::object> as_pair(nb::handle given, std::string_view who, std::string_view parts) {
  if (!is_sequence(given) || nb::len(given) != 2)
    throw TypeError(cat(who, ": expected the pair ", parts, ", got ",
                        is_sequence(given) ? cat(nb::len(given), " elements") : shown(given)));
  return {given[0], given[1]};
}

bool as_flag(nb::handle given, std::string_view who, std::string_view option) {
  if (const auto truth = as_truth_value(given)) return *truth;
  throw TypeError(cat(who, ": ", option, ": expected a bool, got ", shown(given)));
}

int as_trans(nb::handle trans, std::string_view who) {
  if (PyUnicode_Check(trans.ptr())) {
    const auto text = nb::cast<std::string>(trans);
    if (text == "N") return 0;
    if (text == "T") return 1;
    if (text == "C") return 2;
  } else if (is_integer_object(trans)) {
    const int number = nb::cast<int>(nb::int_(trans));
    if (number >= 0 && number <= 2) return number;
  } else if (const auto truth = as_truth_value(trans)) {
    return int(*truth);
  }
  throw ValueError(cat(who, ": expected trans 0, 1, 2, \"N\", \"T\" or \"C\", or a bool, got ", shown(trans)));
}

void bind_linalg(nb::module_& m) {
  add_function(
      m, "cholesky",
      [](const Like& x, Flag lower, Flag, Flag, const std::string& on_error, Flag upper) {
        return cholesky(as_variable(x), {.lower = lower && !upper, .on_error = as_on_error(on_error)});
      },
      nb::call_guard<AtCaller>(), "x"_a, "lower"_a = true, nb::kw_only(), "check_finite"_a = true,
      "overwrite_a"_a = false, "on_error"_a = "raise", "upper"_a = false, cholesky_doc);
  add_function(
      m, "solve_triangular",
      [](const Like& a, const Like& b, const Any& trans, Flag lower, Flag unit_diagonal, Flag,
         std::optional<int> b_ndim, const std::string& on_error) {
        const Variable matrix = as_variable(a);
        const int form = as_trans(trans, "solve_triangular");
        return solve_triangular(form == 2 && is_complex(matrix.dtype()) ? conj(matrix) : matrix, as_variable(b),
                                {.lower = lower,
                                 .trans = form != 0,
                                 .unit_diagonal = unit_diagonal,
                                 .b_ndim = as_b_ndim(b_ndim, "solve_triangular"),
                                 .on_error = as_on_error(on_error, "solve_triangular")});
      },
      nb::call_guard<AtCaller>(), "a"_a, "b"_a, nb::kw_only(), "trans"_a = 0, "lower"_a = false,
      "unit_diagonal"_a = false, "check_finite"_a = true, "b_ndim"_a = nb::none(), "on_error"_a = "raise",
      solve_triangular_doc);
  add_function(
      m, "cho_solve",
      [](const Any& c_and_lower, const Like& b, Flag, Flag, std::optional<int> b_ndim) {
        const auto [factor, lower] = as_pair(c_and_lower, "cho_solve", "(factor, lower)");
        return cho_solve(as_variable(factor), as_variable(b),
                         {.lower = as_flag(lower, "cho_solve", "lower"), .b_ndim = as_b_ndim(b_ndim, "cho_solve")});
      },
      nb::call_guard<AtCaller>(), "c_and_lower"_a.none(), "b"_a, nb::kw_only(), "overwrite_b"_a = false,
      "check_finite"_a = true, "b_ndim"_a = nb::none());
  add_function(
      m, "solve",
      [](const Like& a, const Like& b, Flag lower, Flag, Flag, Flag, const std::string& assume_a, Flag transposed,
         std::optional<int> b_ndim, const std::string& on_error) {
        return solve(as_variable(a), as_variable(b),
                     {.assume_a = option_named<Assume>(assume_a, "solve: expected assume_a"),
                      .lower = lower,
                      .transposed = transposed,
                      .b_ndim = as_b_ndim(b_ndim, "solve"),
                      .on_error = as_on_error(on_error, "solve")});
      },
      nb::call_guard<AtCaller>(), "a"_a, "b"_a, nb::kw_only(), "lower"_a = false, "overwrite_a"_a = false,
      "overwrite_b"_a = false, "check_finite"_a = true, "assume_a"_a = "gen", "transposed"_a = false,
      "b_ndim"_a = nb::none(), "on_error"_a = "raise");
  add_function(
      m, "inv", [](const Like& x) { return inv(as_variable(x)); }, nb::call_guard<AtCaller>(), "x"_a);
  add_function(
      m, "det", [](const Like& x) { return det(as_variable(x)); }, nb::call_guard<AtCaller>(), "x"_a);
  add_function(
      m, "slogdet",
      [](const Like& x) {
        const auto out = slogdet(as_variable(x));
        return nb::make_tuple(wrap(out.sign), wrap(out.logabsdet));
      },
      nb::call_guard<AtCaller>(), "x"_a);
  define(
      m, "assume",
      [](const Like& x, std::optional<Flag> diagonal, std::optional<Flag> lower_triangular,
         std::optional<Flag> upper_triangular, std::optional<Flag> symmetric, std::optional<Flag> positive_definite,
         std::optional<Flag> orthogonal, std::optional<Flag> selection, std::optional<Flag> permutation,
         std::optional<Flag> unique_indices, std::optional<Flag> tridiagonal, std::optional<Flag> unit_magnitude) {
        const std::pair<Fact, std::optional<Flag>> given[] = {
            {Fact::Diagonal, diagonal},
            {Fact::LowerTriangular, lower_triangular},
            {Fact::UpperTriangular, upper_triangular},
            {Fact::Symmetric, symmetric},
            {Fact::PositiveDefinite, positive_definite},
            {Fact::Orthogonal, orthogonal},
            {Fact::Selection, selection},
            {Fact::Permutation, permutation},
            {Fact::UniqueIndices, unique_indices},
            {Fact::Tridiagonal, tridiagonal},
            {Fact::UnitMagnitude, unit_magnitude},
        };
        Structure facts;
        for (auto& [fact, holding] : given)
          if (holding) *holding ? facts.add(fact) : facts.exclude(fact);
        return assume(as_variable(x), facts);
      },
      "x"_a, "diagonal"_a = nb::none(), "lower_triangular"_a = nb::none(), "upper_triangular"_a = nb::none(),
      "symmetric"_a = nb::none(), "positive_definite"_a = nb::none(), "orthogonal"_a = nb::none(),
      "selection"_a = nb::none(), "permutation"_a = nb::none(), "unique_indices"_a = nb::none(),
      "tridiagonal"_a = nb::none(), "unit_magnitude"_a = nb::none());
  m.def(
      "_known_structure", [](const Like& x) { return structure_of(as_variable(x)).str(); }, "x"_a,
      "The short names of the facts that are known of a matrix.");
  define(
      m, "tril", [](const Like& a, DiagonalNumber k) { return tril(as_variable(a), k); }, "m"_a, "k"_a = 0);
  define(
      m, "triu", [](const Like& a, DiagonalNumber k) { return triu(as_variable(a), k); }, "m"_a, "k"_a = 0);
  define(
      m, "diagonal",
      [](const Like& a, DiagonalNumber offset, int axis1, int axis2) {
        return diagonal(as_variable(a), offset, axis1, axis2);
      },
      "a"_a, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1);
  define_method(
      m, "diagonal",
      [](const Like& a, DiagonalNumber offset, int axis1, int axis2) {
        return diagonal(as_variable(a), offset, axis1, axis2);
      },
      "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "A diagonal of the matrices of two axes, as the last dimension.");
  define(
      m, "extract_diag",
      [](const Like& a, DiagonalNumber offset, int axis1, int axis2, Flag) {
        warn_deprecated("extract_diag", "diagonal");
        return diagonal(as_variable(a), offset, axis1, axis2);
      },
      "x"_a, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "view"_a = false);
  define(
      m, "diag", [](const Like& v, DiagonalNumber k) { return diag(as_variable(v), k); }, "v"_a, "k"_a = 0);
  define(
      m, "eye",
      [](const Like& n, const Any& columns, const Any& k, const DTypeLike& dtype, const Any& device) {
        check_device(device, "eye");
        const std::optional<Operand> m_columns = optional_operand(columns);
        if (is_variable(k)) return eye(as_variable(n), m_columns, variable_of(k), optional_dtype(dtype));
        DiagonalNumber number;
        if (!nb::try_cast(k, number))
          throw TypeError(cat("eye: expected an integer as k, got ", nb::cast<std::string>(nb::repr(k))));
        return eye(as_variable(n), m_columns, number, optional_dtype(dtype));
      },
      "n"_a, "m"_a = nb::none(), "k"_a = 0, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none());
  const auto trace_of = [](const Like& a, DiagonalNumber offset, int axis1, int axis2, const DTypeLike& dtype) {
    const Variable x = as_variable(a);
    return trace(cast(x, optional_dtype(dtype).value_or(x.dtype())), offset, axis1, axis2);
  };
  define(m, "trace", trace_of, "a"_a, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "dtype"_a = nb::none());
  define_method(m, "trace", trace_of, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "dtype"_a = nb::none(),
                "The sum of a diagonal of the matrices of two axes.");
}

}  // namespace bitale::python
