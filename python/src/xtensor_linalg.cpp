// Linear algebra and convolutions of labelled tensors. The package's Python files have their names and describe them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/xtensor/align.hpp"
#include "bitale/xtensor/functions.hpp"
#include "bitale/xtensor/linalg.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "labelled.hpp"
#include "named_options.hpp"
#include "ops/option_names.hpp"

namespace bitale::python {

namespace {

using namespace xtensor;
using Caller = nb::call_guard<AtCaller>;

// The matrices as complex numbers where output="complex" asks for a triangular form.
XVariable for_output(nb::handle x, const std::string& output, const char* who) {
  if (output != "real" && output != "complex")
    throw ValueError(cat(who, ": expected output \"real\" or \"complex\", got \"", output, "\""));
  XVariable out = as_labelled(x);
  return output == "complex" ? xtensor::cast(out, promote(out.dtype(), DType::Complex64)) : out;
}

// Functions of matrices alone, and those whose results have a new dimension.
struct OfMatrices {
  const char* name;
  XVariable (*function)(const XOperand& x, const CoreDims& dims);
};
constexpr OfMatrices of_matrices[] = {
    {"inv", xtensor::inv}, {"expm", xtensor::expm}, {"det", xtensor::det}, {"matrix_rank", xtensor::matrix_rank}};
struct WithMode {
  const char* name;
  XVariable (*function)(const XOperand& x, const CoreDims& dims, const Dim& mode);
};
constexpr WithMode with_mode[] = {{"eigvals", xtensor::eigvals}, {"svdvals", xtensor::svdvals}};

void bind_of_matrices(nb::module_& m) {
  for (const auto& [name, function] : of_matrices)
    m.def(
        cat("xtensor_", name).c_str(),
        [name, function](nb::handle x, Any dims) { return function(as_labelled(x), as_core_names(dims, name)); },
        "x"_a.none(), "dims"_a.none(), Caller());
  for (const auto& [name, function] : with_mode)
    m.def(
        cat("xtensor_", name).c_str(),
        [name, function](nb::handle x, Any dims, Any mode) {
          return function(as_labelled(x), as_core_names(dims, name), as_dim(mode));
        },
        "x"_a.none(), "dims"_a.none(), "mode"_a, Caller());
}

void bind_functions_of_matrices(nb::module_& m) {
  m.def(
      "xtensor_cholesky",
      [](nb::handle x, Any dims, Flag lower) {
        return xtensor::cholesky(as_labelled(x), as_core_names(dims, "cholesky"), lower);
      },
      "x"_a.none(), "dims"_a.none(), "lower"_a, Caller());
  m.def(
      "xtensor_pinv",
      [](nb::handle x, Any dims, std::optional<double> rcond) {
        return xtensor::pinv(as_labelled(x), as_core_names(dims, "pinv"), rcond.value_or(-1));
      },
      "x"_a.none(), "dims"_a.none(), "rcond"_a.none(), Caller());
  m.def(
      "xtensor_matrix_power",
      [](nb::handle x, std::int64_t n, Any dims) {
        return xtensor::matrix_power(as_labelled(x), n, as_core_names(dims, "matrix_power"));
      },
      "x"_a.none(), "n"_a, "dims"_a.none(), Caller());
  m.def(
      "xtensor_slogdet",
      [](nb::handle x, Any dims) {
        const auto out = xtensor::slogdet(as_labelled(x), as_core_names(dims, "slogdet"));
        return nb::make_tuple(out.sign, out.logabsdet);
      },
      "x"_a.none(), "dims"_a.none(), Caller());
  m.def(
      "xtensor_trace",
      [](nb::handle x, Any dims, int offset) {
        return xtensor::trace(as_labelled(x), as_core_names(dims, "trace"), offset);
      },
      "x"_a.none(), "dims"_a.none(), "offset"_a, Caller());
  m.def(
      "xtensor_diagonal",
      [](nb::handle x, Any dims, int offset, Any mode) {
        return xtensor::diagonal(as_labelled(x), as_core_names(dims, "diagonal"), offset, as_dim(mode));
      },
      "x"_a.none(), "dims"_a.none(), "offset"_a, "mode"_a, Caller());
  m.def(
      "xtensor_norm",
      [](nb::handle x, Any dims, const Any& ord) {
        return xtensor::norm(as_labelled(x), as_core_names(dims, "norm"), as_order(ord));
      },
      "x"_a.none(), "dims"_a.none(), "ord"_a.none(), Caller());
  m.def(
      "xtensor_convolve1d",
      [](nb::handle x, nb::handle y, Any dims, const std::string& mode) {
        return xtensor::convolve1d(as_labelled(x), as_labelled(y), as_core_names(dims, "convolve1d"),
                                   as_convolution_mode(mode, "convolve1d"));
      },
      "x"_a.none(), "y"_a.none(), "dims"_a.none(), "mode"_a, Caller());
}

void bind_labelled_decompositions(nb::module_& m) {
  m.def(
      "xtensor_eigh",
      [](nb::handle x, Any dims, Flag lower, Any mode) {
        const auto out = xtensor::eigh(as_labelled(x), as_core_names(dims, "eigh"), lower, as_dim(mode));
        return nb::make_tuple(out.values, out.vectors);
      },
      "x"_a.none(), "dims"_a.none(), "lower"_a, "mode"_a, Caller());
  m.def(
      "xtensor_eigvalsh",
      [](nb::handle x, Any dims, Flag lower, Any mode) {
        return xtensor::eigvalsh(as_labelled(x), as_core_names(dims, "eigvalsh"), lower, as_dim(mode));
      },
      "x"_a.none(), "dims"_a.none(), "lower"_a, "mode"_a, Caller());
  m.def(
      "xtensor_eig",
      [](nb::handle x, Any dims, Any mode) {
        const auto out = xtensor::eig(as_labelled(x), as_core_names(dims, "eig"), as_dim(mode));
        return nb::make_tuple(out.values, out.vectors);
      },
      "x"_a.none(), "dims"_a.none(), "mode"_a, Caller());
  m.def(
      "xtensor_svd",
      [](nb::handle x, Any dims, Any mode) {
        const auto out = xtensor::svd(as_labelled(x), as_core_names(dims, "svd"), as_dim(mode));
        return nb::make_tuple(out.u, out.s, out.vt);
      },
      "x"_a.none(), "dims"_a.none(), "mode"_a, Caller());
  m.def(
      "xtensor_qr",
      [](nb::handle x, Any dims, Any mode) {
        const auto out = xtensor::qr(as_labelled(x), as_core_names(dims, "qr"), as_dim(mode));
        return nb::make_tuple(out.q, out.r);
      },
      "x"_a.none(), "dims"_a.none(), "mode"_a, Caller());
  m.def(
      "xtensor_lu",
      [](nb::handle x, Any dims, Flag permute_l, Flag p_indices, Any pivot, Any mode) {
        return nb::tuple(nb::cast(
            xtensor::lu(as_labelled(x), as_core_names(dims, "lu"), permute_l, p_indices, as_dim(pivot), as_dim(mode))));
      },
      "x"_a.none(), "dims"_a.none(), "permute_l"_a, "p_indices"_a, "pivot"_a, "mode"_a, Caller());
  m.def(
      "xtensor_lu_factor",
      [](nb::handle x, Any dims) {
        const auto out = xtensor::lu_factor(as_labelled(x), as_core_names(dims, "lu_factor"));
        return nb::make_tuple(out.factors, out.pivots);
      },
      "x"_a.none(), "dims"_a.none(), Caller());
  m.def(
      "xtensor_pivot_to_permutation",
      [](nb::handle pivots, Any dims, Flag inverse) {
        return xtensor::pivot_to_permutation(as_labelled(pivots), as_core_names(dims, "pivot_to_permutation"), inverse);
      },
      "pivots"_a.none(), "dims"_a.none(), "inverse"_a, Caller());
  m.def(
      "xtensor_schur",
      [](nb::handle x, Any dims, const std::string& output, const std::optional<std::string>& sort, Any mode,
         Any mode2) {
        const auto out = xtensor::schur(for_output(x, output, "schur"), as_core_names(dims, "schur"),
                                        option_named<EigenvalueOrder>(sort.value_or(""), "expected sort"), as_dim(mode),
                                        as_dim(mode2));
        return nb::make_tuple(out.upper, out.z);
      },
      "x"_a.none(), "dims"_a.none(), "output"_a, "sort"_a.none(), "mode"_a, "mode2"_a, Caller());
  m.def(
      "xtensor_qz",
      [](nb::handle a, nb::handle b, Any dims, const std::string& output, const std::optional<std::string>& sort,
         Any mode, Any mode2) {
        const auto out =
            xtensor::qz(for_output(a, output, "qz"), as_labelled(b), as_core_names(dims, "qz"),
                        option_named<EigenvalueOrder>(sort.value_or(""), "expected sort"), as_dim(mode), as_dim(mode2));
        return nb::make_tuple(out.s, out.p, out.q, out.z, out.alpha, out.beta);
      },
      "a"_a.none(), "b"_a.none(), "dims"_a.none(), "output"_a, "sort"_a.none(), "mode"_a, "mode2"_a, Caller());
}

void bind_systems_of_matrices(nb::module_& m) {
  m.def(
      "xtensor_solve",
      [](nb::handle a, nb::handle b, Any dims, const std::string& assume_a, Flag lower) {
        return xtensor::solve(as_labelled(a), as_labelled(b), as_core_names(dims, "solve"),
                              option_named<Assume>(assume_a, "solve: expected assume_a"), lower);
      },
      "a"_a.none(), "b"_a.none(), "dims"_a.none(), "assume_a"_a, "lower"_a, Caller());
  m.def(
      "xtensor_solve_triangular",
      [](nb::handle a, nb::handle b, Any dims, Flag lower, Flag unit_diagonal) {
        return xtensor::solve_triangular(as_labelled(a), as_labelled(b), as_core_names(dims, "solve_triangular"), lower,
                                         unit_diagonal);
      },
      "a"_a.none(), "b"_a.none(), "dims"_a.none(), "lower"_a, "unit_diagonal"_a, Caller());
  m.def(
      "xtensor_cho_solve",
      [](nb::handle c_and_lower, nb::handle b, Any dims) {
        const auto [factor, lower] = as_pair(c_and_lower, "cho_solve", "(factor, lower)");
        return xtensor::cho_solve(as_labelled(factor), as_flag(lower, "cho_solve", "lower"), as_labelled(b),
                                  as_core_names(dims, "cho_solve"));
      },
      "c_and_lower"_a.none(), "b"_a.none(), "dims"_a.none(), Caller());
  m.def(
      "xtensor_lu_solve",
      [](nb::handle lu_and_pivots, nb::handle b, Any dims, Any trans) {
        const auto [given, pivots] = as_pair(lu_and_pivots, "lu_solve", "(factors, pivots)");
        const XVariable factors = as_labelled(given);
        const int form = as_trans(trans, "lu_solve");
        return xtensor::lu_solve(
            form == 2 && is_complex(factors.dtype()) ? factors.with_values(conj(factors.values())) : factors,
            as_labelled(pivots), as_labelled(b), as_core_names(dims, "lu_solve"), form != 0);
      },
      "lu_and_pivots"_a.none(), "b"_a.none(), "dims"_a.none(), "trans"_a, Caller());
  m.def(
      "xtensor_lstsq",
      [](nb::handle a, nb::handle b, Any dims, std::optional<double> rcond, Any mode) {
        const auto out = xtensor::lstsq(as_labelled(a), as_labelled(b), as_core_names(dims, "lstsq"),
                                        rcond.value_or(-1), as_dim(mode));
        return nb::make_tuple(out.x, out.residuals, out.rank, out.singular_values);
      },
      "a"_a.none(), "b"_a.none(), "dims"_a.none(), "rcond"_a.none(), "mode"_a, Caller());
}

}  // namespace

void bind_xtensor_linalg(nb::module_& m) {
  m.def(
      "xtensor_core_names",
      [](Any dims, int count, const std::string& who) {
        return xtensor::core_names(who, as_core_names(dims, who), {count});
      },
      "dims"_a.none(), "count"_a, "who"_a, Caller(), "The names of so many core dimensions, which differ.");
  bind_of_matrices(m);
  bind_functions_of_matrices(m);
  bind_labelled_decompositions(m);
  bind_systems_of_matrices(m);
}

}  // namespace bitale::python
