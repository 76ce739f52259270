// Linear algebra and convolutions of labelled tensors: each function is one of tensors, with names for its core
// dimensions.
#include "bitale/xtensor/linalg.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/matrix_rank.hpp"
#include "bitale/xtensor/align.hpp"
#include "bitale/xtensor/functions.hpp"
#include "xtensor/labelled_function.hpp"

namespace bitale {

enum class Transposed { No, Yes, Conjugate };
template <>
inline constexpr OptionName<Transposed> option_names<Transposed>[] = {
    {Transposed::No, "N", "0"}, {Transposed::Yes, "T", "1"}, {Transposed::Conjugate, "C", "2"}};

}  // namespace bitale

namespace bitale::xtensor {

// ---- functions of matrices, and numbers of them ---------------------------------------------------------------------

static XVariable cholesky_form(const XOperand& x, const CoreDims& dims, bool lower) {
  return cholesky(x, dims, {.lower = lower});
}
LABELLED("cholesky", cholesky_form, "x, lower=True, *, -check_finite=True, dims", "(row,column)->(row,column)");
XVariable cholesky(const XOperand& x, const CoreDims& dims, const CholeskyOptions& options) {
  return lift<XVariable>("cholesky", dims, {x}, [&](const Variable& v) { return bitale::cholesky(v, options); });
}

LABELLED("inv", inv, "x, *, dims", "(row,column)->(column,row)");
XVariable inv(const XOperand& x, const CoreDims& dims) {
  return lift<XVariable>("inv", dims, {x}, [](const Variable& v) { return bitale::inv(v); });
}

LABELLED("pinv", pinv, "x, *, dims, rcond=None", "(row,column)->(column,row)",
         "rcond (float): Singular values up to this times the largest count as 0.");
XVariable pinv(const XOperand& x, const CoreDims& dims, std::optional<double> rcond) {
  return lift<XVariable>("pinv", dims, {x}, [&](const Variable& v) { return bitale::pinv(v, rcond.value_or(-1)); });
}

LABELLED("expm", expm, "x, *, dims", "(row,column)->(row,column)");
XVariable expm(const XOperand& x, const CoreDims& dims) {
  return lift<XVariable>("expm", dims, {x}, [](const Variable& v) { return bitale::expm(v); });
}

LABELLED("matrix_power", matrix_power, "x, n, *, dims", "(row,column)->(row,column)");
XVariable matrix_power(const XOperand& x, std::int64_t n, const CoreDims& dims) {
  return lift<XVariable>("matrix_power", dims, {x}, [&](const Variable& v) { return bitale::matrix_power(v, n); });
}

LABELLED("det", det, "x, *, dims", "(row,column)->()");
XVariable det(const XOperand& x, const CoreDims& dims) {
  return lift<XVariable>("det", dims, {x}, [](const Variable& v) { return bitale::det(v); });
}

LABELLED("slogdet", slogdet, "x, *, dims", "(row,column)->sign(),logabsdet()");
SignAndLogarithm slogdet(const XOperand& x, const CoreDims& dims) {
  return lift<SignAndLogarithm>("slogdet", dims, {x}, [](const Variable& v) { return bitale::slogdet(v); });
}

LABELLED("trace", trace, "x, offset=0, *, dims", "(row,column)->()");
XVariable trace(const XOperand& x, const CoreDims& dims, int offset) {
  return lift<XVariable>("trace", dims, {x}, [&](const Variable& v) { return bitale::trace(v, offset, -2, -1); });
}

LABELLED("diagonal", diagonal, "x, offset=0, *, dims, mode='mode'", "(row,column)->(mode)");
XVariable diagonal(const XOperand& x, const CoreDims& dims, int offset, const Dim& mode) {
  const auto of_tensors = [&](const Variable& v) { return bitale::diagonal(v, offset, -2, -1); };
  return lift<XVariable>("diagonal", dims, {x}, of_tensors, {mode});
}

LABELLED("matrix_rank", matrix_rank, "x, *, dims", "(row,column)->()");
XVariable matrix_rank(const XOperand& x, const CoreDims& dims) {
  return lift<XVariable>("matrix_rank", dims, {x}, [](const Variable& v) { return bitale::matrix_rank(v); });
}

XVariable norm(const XOperand& x, const CoreDims& dims, const NormOrder& ord) {
  const Axes axes = dims.size() == 2 ? std::vector<int>{-2, -1} : std::vector<int>{-1};
  return lift<XVariable>("norm", dims, {x}, [&](const Variable& v) { return bitale::norm(v, ord, axes); });
}
static XVariable norm_by_name(const XOperand& x, const CoreDims& dims, const Argument& ord) {
  if (const auto* text = std::get_if<std::string>(&ord))
    return norm(x, dims, option_named<MatrixNorm>(*text, "norm: expected a number, None, or ord"));
  if (const auto* number = std::get_if<double>(&ord)) return norm(x, dims, *number);
  if (const auto* number = std::get_if<std::int64_t>(&ord)) return norm(x, dims, double(*number));
  return norm(x, dims);
}
LABELLED("norm", norm_by_name, "x, ord=None, *, dims", "(row,column?)->()",
         "dims (sequence of str): The dimension of vectors, or the rows and the columns of matrices.");

// ---- decompositions -------------------------------------------------------------------------------------------------

static EigenPairs eigh_form(const XOperand& x, const CoreDims& dims, bool lower, const Dim& mode) {
  return eigh(x, dims, {.lower = lower}, mode);
}
LABELLED("eigh", eigh_form, "x, *, dims, lower=True, mode='mode'", "(row,column)->w(mode),v(row,mode)");
EigenPairs eigh(const XOperand& x, const CoreDims& dims, const EighOptions& options, const Dim& mode) {
  return lift<EigenPairs>("eigh", dims, {x}, [&](const Variable& v) { return bitale::eigh(v, {}, options); }, {mode});
}

static XVariable eigvalsh_form(const XOperand& x, const CoreDims& dims, bool lower, const Dim& mode) {
  return eigvalsh(x, dims, {.lower = lower}, mode);
}
LABELLED("eigvalsh", eigvalsh_form, "x, *, dims, lower=True, mode='mode'", "(row,column)->(mode)");
XVariable eigvalsh(const XOperand& x, const CoreDims& dims, const EighOptions& options, const Dim& mode) {
  const auto of_tensors = [&](const Variable& v) { return bitale::eigvalsh(v, {}, options); };
  return lift<XVariable>("eigvalsh", dims, {x}, of_tensors, {mode});
}

LABELLED("eig", eig, "x, *, dims, mode='mode'", "(row,column)->w(mode),v(row,mode)");
EigenPairs eig(const XOperand& x, const CoreDims& dims, const Dim& mode) {
  return lift<EigenPairs>("eig", dims, {x}, [](const Variable& v) { return bitale::eig(v); }, {mode});
}

LABELLED("eigvals", eigvals, "x, *, dims, mode='mode'", "(row,column)->(mode)");
XVariable eigvals(const XOperand& x, const CoreDims& dims, const Dim& mode) {
  return lift<XVariable>("eigvals", dims, {x}, [](const Variable& v) { return bitale::eigvals(v); }, {mode});
}

LABELLED("svd", svd, "x, *, dims, mode='mode'", "(row,column)->u(row,mode),s(mode),vt(mode,column)");
SingularValues svd(const XOperand& x, const CoreDims& dims, const Dim& mode) {
  return lift<SingularValues>("svd", dims, {x},
                              [](const Variable& v) { return bitale::svd(v, {.full_matrices = false}); }, {mode});
}

LABELLED("svdvals", svdvals, "x, *, dims, mode='mode'", "(row,column)->(mode)");
XVariable svdvals(const XOperand& x, const CoreDims& dims, const Dim& mode) {
  return lift<XVariable>("svdvals", dims, {x}, [](const Variable& v) { return bitale::svdvals(v); }, {mode});
}

LABELLED("qr", qr, "x, *, dims, mode='mode'", "(row,column)->q(row,mode),r(mode,column)",
         "mode (str or Dim): The new dimension in which the factors meet.");
OrthogonalFactors qr(const XOperand& x, const CoreDims& dims, const Dim& mode) {
  const auto of_tensors = [](const Variable& v) { return bitale::qr(v, {.mode = QrMode::Reduced}); };
  return lift<OrthogonalFactors>("qr", dims, {x}, of_tensors, {mode});
}

static XVariables lu_form(const XOperand& x, const CoreDims& dims, bool permute_l, bool p_indices, const Dim& pivot,
                          const Dim& mode) {
  return lu(x, dims, {.permute_l = permute_l, .p_indices = p_indices}, pivot, mode);
}
LABELLED("lu", lu_form, "x, *, dims, permute_l=False, p_indices=False, pivot='pivot', mode='mode'",
         "(row,column)->p(row,pivot),l(pivot,mode),u(mode,column)",
         "p_indices (bool): Return permutations p(row) as positions along `pivot`: ``l.isel(pivot=p)`` is p l.\n"
         "permute_l (bool): Return the product p l(row, mode), and u.");
XVariables lu(const XOperand& x, const CoreDims& dims, const LUOptions& options, const Dim& pivot, const Dim& mode) {
  const auto of_tensors = [&](const Variable& v) { return bitale::lu(v, options); };
  if (options.permute_l) {
    const CoreSignature product("(row,column)->(row,mode),(mode,column)");
    return lift<XVariables>("lu", product, dims, {x}, of_tensors, {mode});
  }
  if (!options.p_indices) return lift<XVariables>("lu", dims, {x}, of_tensors, {pivot, mode});
  const CoreSignature positions("(row,column)->(row),(pivot,mode),(mode,column)");
  return lift<XVariables>("lu", positions, dims, {x}, of_tensors, {pivot, mode});
}

LABELLED("lu_factor", lu_factor, "x, *, dims", "(row,column)->LU(row,column),pivots(row)");
LUFactors lu_factor(const XOperand& x, const CoreDims& dims) {
  return lift<LUFactors>("lu_factor", dims, {x}, [](const Variable& v) { return bitale::lu_factor(v); });
}

static XVariable permutation_form(const XOperand& pivots, const CoreDims& dims, bool inverse) {
  return pivot_to_permutation(pivots, dims, {.inverse = inverse});
}
LABELLED("pivot_to_permutation", permutation_form, "p, inverse=False, *, dims", "(row)->(row)");
XVariable pivot_to_permutation(const XOperand& pivots, const CoreDims& dims, const PermutationOptions& options) {
  const auto of_tensors = [&](const Variable& v) { return bitale::pivot_to_permutation(v, options); };
  return lift<XVariable>("pivot_to_permutation", dims, {pivots}, of_tensors);
}

SchurForm schur(const XOperand& x, const CoreDims& dims, EigenvalueOrder sort, const Dim& mode, const Dim& mode2) {
  const auto of_tensors = [&](const Variable& v) { return bitale::schur(v, sort); };
  return lift<SchurForm>("schur", dims, {x}, of_tensors, {mode, mode2});
}

GeneralizedSchurForm qz(const XOperand& a, const XOperand& b, const CoreDims& dims, EigenvalueOrder sort,
                        const Dim& mode, const Dim& mode2) {
  const auto of_tensors = [&](const Variable& v, const Variable& w) { return bitale::qz(v, w, sort); };
  return lift<GeneralizedSchurForm>("qz", dims, {a, b}, of_tensors, {mode, mode2});
}

// The matrices as complex numbers where a triangular form is asked for.
static XOperand for_output(const char* who, const XOperand& x, const std::string& output) {
  if (output != "real" && output != "complex")
    throw ValueError(cat(who, ": expected output \"real\" or \"complex\", got \"", output, "\""));
  return output == "complex" ? XOperand(cast(x, promote(x.variable.dtype(), DType::Complex64))) : x;
}
static SchurForm schur_for(const XOperand& x, const CoreDims& dims, const std::string& output, EigenvalueOrder sort,
                           const Dim& mode, const Dim& mode2) {
  return schur(for_output("schur", x, output), dims, sort, mode, mode2);
}
LABELLED("schur", schur_for, "x, *, dims, output='real', sort=None, mode='mode', mode2='mode2'",
         "(row,column)->T(mode,mode2),Z(row,mode)");
static XVariables qz_for(const XOperand& a, const XOperand& b, const CoreDims& dims, const std::string& output,
                         EigenvalueOrder sort, bool return_eigenvalues, const Dim& mode, const Dim& mode2) {
  const auto [s, p, q, z, alpha, beta] = qz(for_output("qz", a, output), b, dims, sort, mode, mode2);
  return return_eigenvalues ? XVariables{s, p, alpha, beta, q, z} : XVariables{s, p, q, z};
}
LABELLED(
    "qz", qz_for, "a, b, *, dims, output='real', sort=None, return_eigenvalues=False, mode='mode', mode2='mode2'",
    "(row,column),(row,column)->s(mode,mode2),p(mode,mode2),q(row,mode),z(column,mode2),alpha(mode),beta(mode)",
    "-> tuple of XTensorVariable: s and p(mode, mode2), q(row, mode) and z(column, mode2), where a is q s z^T and b "
    "is q p z^T. With the eigenvalues, alpha / beta: s, p, alpha and beta(mode), q and z.");

// ---- systems of equations -------------------------------------------------------------------------------------------

// The names of rows and columns, and then of the columns that right-hand sides have of their own.
static CoreDims system_dims(const char* who, const XVariable& a, const XVariable& b, const CoreDims& dims) {
  CoreDims names = core_names(who, dims, {2, 3});
  const auto own = std::ranges::stable_partition(
      names, [&](const std::string& name) { return names.size() == 2 || a.find(name) >= 0; });
  if (own.size() != names.size() - 2)
    throw ValueError(cat(who,
                         ": expected dims to name the two dimensions of the matrices and, with three names, the "
                         "columns of the right-hand side, which the matrices lack; got ",
                         names_text(names), " for ", a.str(), " and ", b.str()));
  return names;
}

// Whether right-hand sides have the first of both names; they have one.
static bool shares_rows(const char* who, const XVariable& a, const XVariable& b, const CoreDims& names) {
  const bool has_rows = b.find(names[0]) >= 0, has_columns = b.find(names[1]) >= 0;
  if (has_rows == has_columns)
    throw ValueError(cat(who,
                         ": expected dims to name the two dimensions of the matrices, of which the right-hand side "
                         "has one, and with three also its columns, which the matrices lack; got ",
                         names_text(CoreDims{names[0], names[1]}), " for ", a.str(), " and ", b.str()));
  return has_rows;
}

// PyTensor's rule: the rows are the dimension that the right-hand side lacks.
static CoreDims solved_dims(const char* who, const XVariable& a, const XVariable& b, const CoreDims& dims) {
  CoreDims names = system_dims(who, a, b, dims);
  if (shares_rows(who, a, b, names)) std::swap(names[0], names[1]);
  return names;
}

static constexpr std::string_view of_systems =
    "a (XTensorVariable): The matrices. Their rows are the dimension that `b` lacks, their columns the one that it "
    "shares.\n"
    "dims (sequence of str): The two dimensions of the matrices, and the columns of `b` if its right-hand sides are "
    "matrices.";
static XVariable solve_form(const XOperand& a, const XOperand& b, const CoreDims& dims, Assume assume_a, bool lower) {
  return solve(a, b, dims, {.assume_a = assume_a, .lower = lower});
}
LABELLED("solve", solve_form, "a, b, dims, assume_a='gen', lower=False, -check_finite=True",
         "(row,column),(column,k?)->(row,k?)", of_systems);
XVariable solve(const XOperand& a, const XOperand& b, const CoreDims& dims, const SolveOptions& options) {
  const LocationScope here(a.where);
  const CoreDims names = solved_dims("solve", a.variable, b.variable, dims);
  return lift<XVariable>("solve", names, {a, b}, [&](const Variable& v, const Variable& w) {
    return bitale::solve(v, w, {.assume_a = options.assume_a, .lower = options.lower, .b_ndim = int(names.size()) - 1});
  });
}

static XVariable solve_triangular_form(const XOperand& a, const XOperand& b, const CoreDims& dims, bool lower,
                                       bool unit_diagonal) {
  return solve_triangular(a, b, dims, {.lower = lower, .unit_diagonal = unit_diagonal});
}
LABELLED("solve_triangular", solve_triangular_form, "a, b, dims, lower=False, unit_diagonal=False",
         "(row,column),(column,k?)->(row,k?)", of_systems);
XVariable solve_triangular(const XOperand& a, const XOperand& b, const CoreDims& dims,
                           const SolveTriangularOptions& options) {
  const LocationScope here(a.where);
  const CoreDims names = solved_dims("solve_triangular", a.variable, b.variable, dims);
  return lift<XVariable>("solve_triangular", names, {a, b}, [&](const Variable& v, const Variable& w) {
    return bitale::solve_triangular(
        v, w, {.lower = options.lower, .unit_diagonal = options.unit_diagonal, .b_ndim = int(names.size()) - 1});
  });
}

// The rows and columns of factors are the names in their order: the solution has the one that the right-hand side
// lacks.
static constexpr std::string_view of_factors =
    "c_and_lower (tuple): The factors, and whether they are lower triangular.\n"
    "lu_and_pivots (tuple): What `lu_factor` returns.\n"
    "dims (sequence of str): The rows and the columns of the factors, in this order, and the columns of `b` if its "
    "right-hand sides are matrices.\n"
    "-> The solutions. Of rows and columns they have the one that `b` lacks.";
static XVariable cho_solve_form(const XOperand& factor, bool lower, const XOperand& b, const CoreDims& dims) {
  return cho_solve(factor, b, dims, {.lower = lower});
}
LABELLED("cho_solve", cho_solve_form, "c_and_lower[factor lower], b, dims", "(row,column),(row,k?)->(column,k?)",
         of_factors);
XVariable cho_solve(const XOperand& factor, const XOperand& b, const CoreDims& dims,
                    const CholeskySolveOptions& options) {
  const LocationScope here(factor.where);
  const CoreDims names = system_dims("cho_solve", factor.variable, b.variable, dims);
  const bool by_rows = shares_rows("cho_solve", factor.variable, b.variable, names);
  const CoreSignature signature(by_rows ? "(row,column),(row,k?)->(column,k?)" : "(row,column),(column,k?)->(row,k?)");
  return lift<XVariable>("cho_solve", signature, names, {factor, b}, [&](const Variable& v, const Variable& w) {
    return bitale::cho_solve(v, w, {.lower = options.lower, .b_ndim = int(names.size()) - 1});
  });
}

XVariable lu_solve(const XOperand& factors, const XOperand& pivots, const XOperand& b, const CoreDims& dims,
                   const LUSolveOptions& options) {
  const LocationScope here(factors.where);
  const CoreDims names = system_dims("lu_solve", factors.variable, b.variable, dims);
  const bool by_rows = shares_rows("lu_solve", factors.variable, b.variable, names);
  const CoreSignature signature(by_rows ? "(row,column),(row),(row,k?)->(column,k?)"
                                        : "(row,column),(row),(column,k?)->(row,k?)");
  return lift<XVariable>(
      "lu_solve", signature, names, {factors, pivots, b}, [&](const Variable& v, const Variable& p, const Variable& w) {
        return bitale::lu_solve(v, p, w, {.transposed = options.trans, .b_ndim = int(names.size()) - 1});
      });
}
static XVariable lu_solve_form(const XOperand& factors, const XOperand& pivots, const XOperand& b, const CoreDims& dims,
                               Transposed trans) {
  const XVariable& v = factors.variable;
  const bool is_conjugate = trans == Transposed::Conjugate && is_complex(v.dtype());
  return lu_solve(is_conjugate ? XOperand(v.with_values(conj(v.values()))) : factors, pivots, b, dims,
                  {.trans = trans != Transposed::No});
}
LABELLED("lu_solve", lu_solve_form, "lu_and_pivots[factors pivots], b, dims, trans=False",
         "(row,column),(row),(row,k?)->(column,k?)", of_factors);

LABELLED("lstsq", lstsq, "a, b, dims, rcond=None, *, mode='mode'",
         "(row,column),(row,k?)->x(column,k?),residuals(k?),rank(),singular_values(mode)",
         "dims (sequence of str): The rows and the columns of the matrices, and the columns of `b` if its right-hand "
         "sides are matrices.");
LeastSquares lstsq(const XOperand& a, const XOperand& b, const CoreDims& dims, std::optional<double> rcond,
                   const Dim& mode) {
  const LocationScope here(a.where);
  const CoreDims names = system_dims("lstsq", a.variable, b.variable, dims);
  if (b.variable.find(names[0]) < 0 || b.variable.find(names[1]) >= 0)
    throw ValueError(cat("lstsq: expected right-hand sides along the rows \"", names[0], "\" without the columns \"",
                         names[1], "\", got ", b.variable.str()));
  const bool are_vectors = names.size() == 2;
  const auto of_tensors = [&](const Variable& v, const Variable& w) {
    auto out = bitale::lstsq(v, w, rcond.value_or(-1), int(names.size()) - 1);
    // Those of lstsq are left out where the rank is not full, which is a length that a dimension can't have.
    const Variable x = are_vectors ? bitale::expand_dims(out.x, -1) : out.x;
    const Variable y = are_vectors ? bitale::expand_dims(w, -1) : w;
    const Variable squares =
        bitale::sum(bitale::sqr(bitale::abs(bitale::sub(bitale::matmul(v, x), y))), Axes{{x.ndim() - 2}});
    out.residuals = are_vectors ? bitale::squeeze(squares, Axes{{squares.ndim() - 1}}) : squares;
    return out;
  };
  return lift<LeastSquares>("lstsq", names, {a, b}, of_tensors, {mode});
}

// ---- signals --------------------------------------------------------------------------------------------------------

LABELLED("convolve1d", convolve1d, "in1, in2, mode='full', *, dims", "(n),(k)->(n)",
         "dims (sequence of str): The dimension of `in1`, and that of `in2`.\n"
         "-> The convolution, along the dimension of `in1`, which has no coordinates.");
XVariable convolve1d(const XOperand& x, const XOperand& y, const CoreDims& dims, ConvolutionMode mode) {
  const LocationScope here(x.where);
  if (dims.size() != 2)
    throw ValueError(cat("convolve1d: expected dims to be a dimension of in1 and one of in2, got ", names_text(dims)));
  const CoreDims core[] = {{dims[0]}, {dims[1]}};
  const XVariable both[] = {x.variable, y.variable};
  const auto of_tensors = [&](const Variables& v) { return Variables{bitale::convolve1d(v[0], v[1], mode)}; };
  const XVariable found = blockwise("convolve1d", both, core, {{Dim("_convolved")}}, of_tensors)[0];
  return rename(found, {{"_convolved", Dim(dims[0])}});
}

}  // namespace bitale::xtensor
