// Linear algebra of labelled tensors: each function is one of tensors, with names for its core dimensions.
#include "bitale/xtensor/linalg.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/matrix_rank.hpp"
#include "bitale/xtensor/align.hpp"
#include "bitale/xtensor/functions.hpp"

namespace bitale::xtensor {

namespace {

// A function of matrices. `results` are the core dimensions of each result.
template <class Function>
XVariables of_matrices(const char* who, const XOperand& x, const CoreDims& dims, const std::vector<DimList>& results,
                       Function function) {
  const LocationScope here(x.where);
  const CoreDims core[] = {core_names(who, dims, {2})};
  return blockwise(who, std::span(&x.variable, 1), core, results,
                   [&](const Variables& values) { return Variables(function(values[0])); });
}

Variables one(Variable variable) { return {std::move(variable)}; }

// The dimension of rows or columns; none where dims have another number of names, which of_matrices refuses.
DimList rows(const CoreDims& dims) { return dims.empty() ? DimList() : DimList{dims[0]}; }
DimList columns(const CoreDims& dims) { return dims.size() < 2 ? DimList() : DimList{dims[1]}; }

DimList followed_by(DimList dims, const Dim& last) {
  dims.push_back(last);
  return dims;
}
DimList preceded_by(const Dim& first, const DimList& dims) {
  DimList out{first};
  out.insert(out.end(), dims.begin(), dims.end());
  return out;
}
DimList same(const CoreDims& dims) { return {dims.begin(), dims.end()}; }
DimList transposed(const CoreDims& dims) { return {dims.rbegin(), dims.rend()}; }

// How the dimensions of a system of equations are divided.
struct System {
  std::vector<CoreDims> core;  // of the matrices and of the right-hand side
  DimList solution;
  int rank = 1;  // of a right-hand side
};

// The names of columns that a right-hand side has of its own, and of the two of a matrix.
struct MatrixAndColumns {
  CoreDims matrix, own;
};
MatrixAndColumns divided(const char* who, const XVariable& a, const XVariable& b, const CoreDims& dims) {
  const CoreDims names = core_names(who, dims, {2, 3});
  MatrixAndColumns out;
  for (const auto& name : names) (names.size() == 3 && a.find(name) < 0 ? out.own : out.matrix).push_back(name);
  if (out.matrix.size() != 2)
    throw ValueError(cat(who,
                         ": expected dims to name the two dimensions of the matrices and, with three names, the "
                         "columns of the right-hand side, which the matrices lack; got ",
                         names_text(names), " for ", a.str(), " and ", b.str()));
  return out;
}

// The name of both that `b` has, as an index.
std::size_t shared_with(const char* who, const XVariable& a, const XVariable& b, const CoreDims& matrix) {
  const bool has[] = {b.find(matrix[0]) >= 0, b.find(matrix[1]) >= 0};
  if (has[0] == has[1])
    throw ValueError(cat(who,
                         ": expected dims to name the two dimensions of the matrices, of which the right-hand side "
                         "has one, and with three also its columns, which the matrices lack; got ",
                         names_text(matrix), " for ", a.str(), " and ", b.str()));
  return has[0] ? 0 : 1;
}

DimList with_columns(std::string first, const CoreDims& own) {
  DimList out{Dim(std::move(first))};
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

CoreDims and_columns(std::string first, const CoreDims& own) {
  CoreDims out{std::move(first)};
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

// PyTensor's rule: the rows are the dimension that the right-hand side lacks.
System system_of(const char* who, const XVariable& a, const XVariable& b, const CoreDims& dims) {
  const auto [matrix, own] = divided(who, a, b, dims);
  const std::size_t at = shared_with(who, a, b, matrix);
  const std::string &shared = matrix[at], &lacking = matrix[1 - at];
  return {{{lacking, shared}, and_columns(shared, own)}, with_columns(lacking, own), 1 + int(own.size())};
}

// Of factors: their rows and columns are the names in their order.
System system_of_factors(const char* who, const XVariable& factors, const XVariable& b, const CoreDims& dims) {
  const auto [matrix, own] = divided(who, factors, b, dims);
  const std::size_t at = shared_with(who, factors, b, matrix);
  return {{matrix, and_columns(matrix[at], own)}, with_columns(matrix[1 - at], own), 1 + int(own.size())};
}

}  // namespace

XVariable cholesky(const XOperand& x, const CoreDims& dims, bool lower) {
  return of_matrices("cholesky", x, dims, {same(dims)},
                     [&](const Variable& v) { return one(bitale::cholesky(v, lower)); })[0];
}
XVariable inv(const XOperand& x, const CoreDims& dims) {
  return of_matrices("inv", x, dims, {transposed(dims)}, [](const Variable& v) { return one(bitale::inv(v)); })[0];
}
XVariable pinv(const XOperand& x, const CoreDims& dims, double rcond) {
  return of_matrices("pinv", x, dims, {transposed(dims)},
                     [&](const Variable& v) { return one(bitale::pinv(v, rcond)); })[0];
}
XVariable expm(const XOperand& x, const CoreDims& dims) {
  return of_matrices("expm", x, dims, {same(dims)}, [](const Variable& v) { return one(bitale::expm(v)); })[0];
}
XVariable matrix_power(const XOperand& x, std::int64_t n, const CoreDims& dims) {
  return of_matrices("matrix_power", x, dims, {same(dims)},
                     [&](const Variable& v) { return one(bitale::matrix_power(v, n)); })[0];
}
XVariable det(const XOperand& x, const CoreDims& dims) {
  return of_matrices("det", x, dims, {DimList()}, [](const Variable& v) { return one(bitale::det(v)); })[0];
}
SignAndLogarithm slogdet(const XOperand& x, const CoreDims& dims) {
  const XVariables found = of_matrices("slogdet", x, dims, {DimList(), DimList()}, [](const Variable& v) {
    const auto out = bitale::slogdet(v);
    return Variables{out.sign, out.logabsdet};
  });
  return {found[0], found[1]};
}
XVariable trace(const XOperand& x, const CoreDims& dims, int offset) {
  return of_matrices("trace", x, dims, {DimList()},
                     [&](const Variable& v) { return one(bitale::trace(v, offset, -2, -1)); })[0];
}
XVariable diagonal(const XOperand& x, const CoreDims& dims, int offset, const Dim& mode) {
  return of_matrices("diagonal", x, dims, {{mode}},
                     [&](const Variable& v) { return one(bitale::diagonal(v, offset, -2, -1)); })[0];
}
XVariable matrix_rank(const XOperand& x, const CoreDims& dims) {
  return of_matrices("matrix_rank", x, dims, {DimList()},
                     [](const Variable& v) { return one(bitale::matrix_rank(v)); })[0];
}
XVariable norm(const XOperand& x, const CoreDims& dims, const NormOrder& ord) {
  const LocationScope here(x.where);
  const CoreDims core[] = {core_names("norm", dims, {1, 2})};
  Axes axes = std::vector<int>{-1};
  if (core[0].size() == 2) axes = std::vector<int>{-2, -1};
  return blockwise("norm", std::span(&x.variable, 1), core, {DimList()},
                   [&](const Variables& v) { return one(bitale::norm(v[0], ord, axes)); })[0];
}

EigenPairs eigh(const XOperand& x, const CoreDims& dims, bool lower, const Dim& mode) {
  const XVariables found =
      of_matrices("eigh", x, dims, {{mode}, followed_by(rows(dims), mode)}, [&](const Variable& v) {
        const auto out = bitale::eigh(v, {}, lower);
        return Variables{out.values, out.vectors};
      });
  return {found[0], found[1]};
}
XVariable eigvalsh(const XOperand& x, const CoreDims& dims, bool lower, const Dim& mode) {
  return of_matrices("eigvalsh", x, dims, {{mode}},
                     [&](const Variable& v) { return one(bitale::eigvalsh(v, {}, lower)); })[0];
}
EigenPairs eig(const XOperand& x, const CoreDims& dims, const Dim& mode) {
  const XVariables found = of_matrices("eig", x, dims, {{mode}, followed_by(rows(dims), mode)}, [](const Variable& v) {
    const auto out = bitale::eig(v);
    return Variables{out.values, out.vectors};
  });
  return {found[0], found[1]};
}
XVariable eigvals(const XOperand& x, const CoreDims& dims, const Dim& mode) {
  return of_matrices("eigvals", x, dims, {{mode}}, [](const Variable& v) { return one(bitale::eigvals(v)); })[0];
}
SingularValues svd(const XOperand& x, const CoreDims& dims, const Dim& mode) {
  const XVariables found = of_matrices(
      "svd", x, dims, {followed_by(rows(dims), mode), {mode}, preceded_by(mode, columns(dims))}, [](const Variable& v) {
        const auto out = bitale::svd(v, false);
        return Variables{out.u, out.s, out.vt};
      });
  return {found[0], found[1], found[2]};
}
XVariable svdvals(const XOperand& x, const CoreDims& dims, const Dim& mode) {
  return of_matrices("svdvals", x, dims, {{mode}}, [](const Variable& v) { return one(bitale::svdvals(v)); })[0];
}
OrthogonalFactors qr(const XOperand& x, const CoreDims& dims, const Dim& mode) {
  const XVariables found = of_matrices("qr", x, dims, {followed_by(rows(dims), mode), preceded_by(mode, columns(dims))},
                                       [](const Variable& v) { return bitale::qr(v, QrMode::Reduced); });
  return {found[0], found[1]};
}
XVariables lu(const XOperand& x, const CoreDims& dims, bool permute_l, bool p_indices, const Dim& pivot,
              const Dim& mode) {
  std::vector<DimList> results{{pivot, mode}, preceded_by(mode, columns(dims))};
  if (permute_l)
    results[0] = followed_by(rows(dims), mode);
  else
    results.insert(results.begin(), p_indices ? rows(dims) : followed_by(rows(dims), pivot));
  return of_matrices("lu", x, dims, results, [&](const Variable& v) { return bitale::lu(v, permute_l, p_indices); });
}
LUFactors lu_factor(const XOperand& x, const CoreDims& dims) {
  const XVariables found = of_matrices("lu_factor", x, dims, {same(dims), rows(dims)}, [](const Variable& v) {
    const auto out = bitale::lu_factor(v);
    return Variables{out.factors, out.pivots};
  });
  return {found[0], found[1]};
}
XVariable pivot_to_permutation(const XOperand& pivots, const CoreDims& dims, bool inverse) {
  const LocationScope here(pivots.where);
  const CoreDims core[] = {core_names("pivot_to_permutation", dims, {1})};
  return blockwise("pivot_to_permutation", std::span(&pivots.variable, 1), core, {same(dims)},
                   [&](const Variables& v) { return one(bitale::pivot_to_permutation(v[0], inverse)); })[0];
}
SchurForm schur(const XOperand& x, const CoreDims& dims, EigenvalueOrder sort, const Dim& mode, const Dim& mode2) {
  const XVariables found =
      of_matrices("schur", x, dims, {{mode, mode2}, followed_by(rows(dims), mode)}, [&](const Variable& v) {
        const auto out = bitale::schur(v, sort);
        return Variables{out.upper, out.z};
      });
  return {found[0], found[1]};
}
GeneralizedSchurForm qz(const XOperand& a, const XOperand& b, const CoreDims& dims, EigenvalueOrder sort,
                        const Dim& mode, const Dim& mode2) {
  const LocationScope here(a.where);
  const CoreDims names = core_names("qz", dims, {2}), core[] = {names, names};
  const XVariable both[] = {a.variable, b.variable};
  const DimList square{mode, mode2};
  const XVariables found =
      blockwise("qz", both, core, {square, square, {Dim(names[0]), mode}, {Dim(names[1]), mode2}, {mode}, {mode}},
                [&](const Variables& v) {
                  const auto out = bitale::qz(v[0], v[1], sort);
                  return Variables{out.s, out.p, out.q, out.z, out.alpha, out.beta};
                });
  return {found[0], found[1], found[2], found[3], found[4], found[5]};
}

XVariable solve(const XOperand& a, const XOperand& b, const CoreDims& dims, Assume assume_a, bool lower) {
  const LocationScope here(a.where);
  const System system = system_of("solve", a.variable, b.variable, dims);
  const XVariable both[] = {a.variable, b.variable};
  return blockwise("solve", both, system.core, {system.solution}, [&](const Variables& v) {
    return one(bitale::solve(v[0], v[1], {.assume_a = assume_a, .lower = lower, .b_ndim = system.rank}));
  })[0];
}
XVariable solve_triangular(const XOperand& a, const XOperand& b, const CoreDims& dims, bool lower, bool unit_diagonal) {
  const LocationScope here(a.where);
  const System system = system_of("solve_triangular", a.variable, b.variable, dims);
  const XVariable both[] = {a.variable, b.variable};
  return blockwise("solve_triangular", both, system.core, {system.solution}, [&](const Variables& v) {
    return one(
        bitale::solve_triangular(v[0], v[1], {.lower = lower, .unit_diagonal = unit_diagonal, .b_ndim = system.rank}));
  })[0];
}
XVariable cho_solve(const XOperand& factor, bool lower, const XOperand& b, const CoreDims& dims) {
  const LocationScope here(factor.where);
  const System system = system_of_factors("cho_solve", factor.variable, b.variable, dims);
  const XVariable both[] = {factor.variable, b.variable};
  return blockwise("cho_solve", both, system.core, {system.solution},
                   [&](const Variables& v) { return one(bitale::cho_solve(v[0], lower, v[1], system.rank)); })[0];
}
XVariable lu_solve(const XOperand& factors, const XOperand& pivots, const XOperand& b, const CoreDims& dims,
                   bool trans) {
  const LocationScope here(factors.where);
  System system = system_of_factors("lu_solve", factors.variable, b.variable, dims);
  const CoreDims core[] = {system.core[0], {system.core[0][0]}, system.core[1]};
  const XVariable all[] = {factors.variable, pivots.variable, b.variable};
  return blockwise("lu_solve", all, core, {system.solution},
                   [&](const Variables& v) { return one(bitale::lu_solve(v[0], v[1], v[2], trans, system.rank)); })[0];
}
LeastSquares lstsq(const XOperand& a, const XOperand& b, const CoreDims& dims, double rcond, const Dim& mode) {
  const LocationScope here(a.where);
  const auto [matrix, own] = divided("lstsq", a.variable, b.variable, dims);
  if (b.variable.find(matrix[0]) < 0 || b.variable.find(matrix[1]) >= 0)
    throw ValueError(cat("lstsq: expected right-hand sides along the rows \"", matrix[0], "\" without the columns \"",
                         matrix[1], "\", got ", b.variable.str()));
  const CoreDims core[] = {matrix, and_columns(matrix[0], own)};
  const XVariable both[] = {a.variable, b.variable};
  const DimList rhs(own.begin(), own.end());
  const XVariables found =
      blockwise("lstsq", both, core, {with_columns(matrix[1], own), rhs, DimList(), {mode}}, [&](const Variables& v) {
        const auto out = bitale::lstsq(v[0], v[1], rcond, 1 + int(own.size()));
        // Those of lstsq are left out where the rank is not full, which is a length that a dimension can't have.
        const Variable x = own.empty() ? bitale::expand_dims(out.x, -1) : out.x;
        const Variable y = own.empty() ? bitale::expand_dims(v[1], -1) : v[1];
        const Variable squares =
            bitale::sum(bitale::sqr(bitale::abs(bitale::sub(bitale::matmul(v[0], x), y))), Axes{{x.ndim() - 2}});
        return Variables{out.x, own.empty() ? bitale::squeeze(squares, Axes{{squares.ndim() - 1}}) : squares, out.rank,
                         out.singular_values};
      });
  return {found[0], found[1], found[2], found[3]};
}

XVariable convolve1d(const XOperand& x, const XOperand& y, const CoreDims& dims, ConvolutionMode mode) {
  const LocationScope here(x.where);
  if (dims.size() != 2)
    throw ValueError(cat("convolve1d: expected dims to be a dimension of in1 and one of in2, got ", names_text(dims)));
  const CoreDims core[] = {{dims[0]}, {dims[1]}};
  const XVariable both[] = {x.variable, y.variable};
  const XVariable found = blockwise("convolve1d", both, core, {{Dim("_convolved")}},
                                    [&](const Variables& v) { return one(bitale::convolve1d(v[0], v[1], mode)); })[0];
  return rename(found, {{"_convolved", Dim(dims[0])}});
}

}  // namespace bitale::xtensor
