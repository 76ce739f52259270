// Factors and eigenvalues that follow from a matrix's structure: of diagonal matrices, and of products of factors.
#include "bitale/ops/complex.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/from_attributes.hpp"
#include "bitale/ops/search.hpp"
#include "bitale/ops/sorting.hpp"
#include "ops/analysis/lengths.hpp"
#include "rules/matrices.hpp"

namespace bitale::rewriting {

namespace {

// Each matrix a with its columns multiplied by d.
Variable times_columns(const Variable& a, const Variable& d) { return a * expand_dims(d, d.ndim() - 1); }

// The identity, but nan where d is.
Variable unit_of(const Variable& d) {
  return diagonal_matrices(d * constant_like(0, d.dtype()) + constant_like(1, d.dtype()));
}

// ---- Cholesky factors -----------------------------------------------------------------------------------------------

// The Cholesky factor of L L^T, or of U^T U with L = U^T, is L if L is lower triangular with a positive diagonal.
std::optional<Variables> cholesky_of_product(FunctionGraph& graph, const Apply& node) {
  const auto factor = as_cholesky(node.output());
  if (!factor || !is_product(factor->of)) return std::nullopt;
  const Variable left = factor->of.owner().input(0), right = factor->of.owner().input(1);
  if (left.ndim() < 2 || !are_transposes(left, right) || !is_square(graph, left)) return std::nullopt;
  const Structure known = structure_of(graph, left);
  if (!known.is(Fact::LowerTriangular) || !known.is(Fact::PositiveDiagonal)) return std::nullopt;
  return one(fit(factor->lower ? left : right, node.output()));
}

std::optional<Variables> cholesky_of_diagonal(FunctionGraph& graph, const Apply& node) {
  const auto factor = as_cholesky(node.output());
  if (!factor) return std::nullopt;
  const Structure known = structure_of_square(graph, factor->of);
  if (known.is_identity()) return one(fit(factor->of, node.output()));
  if (!known.is(Fact::Diagonal) || !known.is(Fact::PositiveDiagonal)) return std::nullopt;
  return one(fit(diagonal_matrices(sqrt(diagonal_of(factor->of))), node.output()));
}

// The upper factor is the transpose of the lower one, so that a is factored only once.
std::optional<Variables> upper_factor_of_lower(FunctionGraph& graph, const Apply& node) {
  const auto factor = as_cholesky(node.output());
  if (!factor || factor->lower || !structure_of_square(graph, factor->of).is(Fact::Symmetric)) return std::nullopt;
  return one(fit(matrices_transposed(cholesky(factor->of, {.on_error = factor->on_error})), node.output()));
}

// ---- decompositions of diagonal matrices ----------------------------------------------------------------------------

// The diagonal of the node's matrix. Some decompositions take matrices that are not square.
std::optional<Variable> diagonal_input(FunctionGraph& graph, const Apply& node, bool always_square = true) {
  const Variable& a = node.input(0);
  const Structure known = always_square ? structure_of_square(graph, a) : structure_of(graph, a);
  return known.is(Fact::Diagonal) ? std::optional(diagonal_of(a)) : std::nullopt;
}

// A symmetric matrix has real eigenvalues and eigenvectors.
std::optional<Variables> eigenvalues_of_symmetric(FunctionGraph& graph, const Apply& node) {
  const Variable& a = node.input(0);
  const Attributes attributes = core_op(node.output(0))->attributes();
  if (!required_attribute<bool>(attributes, "of_real") || !structure_of_square(graph, a).is(Fact::Symmetric))
    return std::nullopt;
  const auto as_pairs = [](const Variable& x) { return stack({x, zeros_like(x)}, x.ndim()); };
  if (node.output_count() == 1) return fitted(node, {as_pairs(eigvalsh(a))});
  const EigenPairs pairs = eigh(a);
  return fitted(node, {as_pairs(pairs.values), as_pairs(pairs.vectors)});
}

Variable vectors_along(const Variable& order, const Variable& like) {
  // column j is the unit vector of order[j]
  const Variable rows = expand_dims(arange(length_of(order, order.ndim() - 1)), 1);
  return cast(eq(rows, expand_dims(order, order.ndim() - 1)), like.dtype());
}

std::optional<Variables> eigenvalues_of_diagonal(FunctionGraph& graph, const Apply& node) {
  const auto d = diagonal_input(graph, node);
  if (!d || node.inputs().size() != 1) return std::nullopt;
  const bool has_vectors = node.output_count() == 2;
  if (!has_vectors) return one(fit(sort(*d, d->ndim() - 1), node.output()));
  const Variable order = argsort(*d, d->ndim() - 1);
  const auto values = fit(take_along_axis(*d, order, d->ndim() - 1), node.output(0));
  const auto vectors = fit(vectors_along(order, node.output(1)), node.output(1));
  if (!values || !vectors) return std::nullopt;
  return Variables{*values, *vectors};
}

std::optional<Variables> singular_values_of_diagonal(FunctionGraph& graph, const Apply& node) {
  const auto d = diagonal_input(graph, node, false);
  if (!d) return std::nullopt;
  const int last = d->ndim() - 1;
  if (node.output_count() == 1) return one(fit(neg(sort(neg(abs(*d)), last)), node.output()));
  const Variable order = argsort(neg(abs(*d)), last);
  const Variable sorted = take_along_axis(*d, order, last);
  // LAPACK changes the signs of the right vectors. It gets the transpose, whose right vectors are the left ones here.
  const Variable vectors = vectors_along(order, node.output(0));
  const Variable signs = switch_(lt(sorted, 0), constant_like(-1, d->dtype()), constant_like(1, d->dtype()));
  const auto u = fit(times_columns(vectors, signs), node.output(0));
  const auto s = fit(abs(sorted), node.output(1));
  const auto vt = fit(matrix_transpose(vectors), node.output(2));
  if (!u || !s || !vt) return std::nullopt;
  return Variables{*u, *s, *vt};
}

std::optional<Variables> exponential_of_diagonal(FunctionGraph& graph, const Apply& node) {
  const auto d = diagonal_input(graph, node);
  return d ? one(fit(diagonal_matrices(exp(*d)), node.output())) : std::nullopt;
}

std::optional<Variables> schur_of_diagonal(FunctionGraph& graph, const Apply& node) {
  const auto d = diagonal_input(graph, node);
  if (!d || !required_attribute<std::string>(core_op(node.output(0))->attributes(), "sort").empty())
    return std::nullopt;
  const auto z = fit(unit_of(*d), node.output(1));
  if (!z) return std::nullopt;
  return Variables{node.input(0), *z};
}

// The diagonal of the second triangle is made nonnegative, as LAPACK does.
std::optional<Variables> qz_of_diagonal(FunctionGraph& graph, const Apply& node) {
  const Variable &a = node.input(0), &b = node.input(1);
  if (!structure_of_square(graph, a).is(Fact::Diagonal) || !structure_of_square(graph, b).is(Fact::Diagonal) ||
      !required_attribute<std::string>(core_op(node.output(0))->attributes(), "sort").empty())
    return std::nullopt;
  const Variable second = diagonal_of(b);
  const Variable signs = switch_(lt(second, 0), constant_like(-1, b.dtype()), constant_like(1, b.dtype()));
  const Variable first = diagonal_of(a) * signs, beta = abs(second);
  const Variable alpha = expand_dims(first, first.ndim());
  return fitted(node, {diagonal_matrices(first), diagonal_matrices(beta), unit_of(first + second),
                       diagonal_matrices(signs + (first + second) * constant_like(0, b.dtype())),
                       concatenate({alpha, zeros_like(alpha)}, alpha.ndim() - 1), beta});
}

std::optional<Variables> qr_of_diagonal(FunctionGraph& graph, const Apply& node) {
  const auto d = diagonal_input(graph, node, false);
  if (!d) return std::nullopt;
  const Attributes attributes = core_op(node.output(0))->attributes();
  const auto mode = required_attribute<std::string>(attributes, "mode");
  if (required_attribute<bool>(attributes, "pivoting") || mode == "raw") return std::nullopt;
  if (mode == "r") return one(fit(node.input(0), node.output()));
  const auto q = fit(unit_of(*d), node.output(0)), r = fit(node.input(0), node.output(1));
  if (!q || !r) return std::nullopt;
  return Variables{*q, *r};
}

std::optional<Variables> lu_of_diagonal(FunctionGraph& graph, const Apply& node) {
  const auto d = diagonal_input(graph, node, false);
  if (!d) return std::nullopt;
  const auto factors = fit(node.input(0), node.output(0));
  const auto pivots = fit(cast(arange(length_of(*d, d->ndim() - 1)), DType::Int32), node.output(1));
  if (!factors || !pivots) return std::nullopt;
  return Variables{*factors, *pivots};
}

// Sylvester's equation with diagonal matrices is solved element by element.
std::optional<Variables> sylvester_of_diagonal(FunctionGraph& graph, const Apply& node) {
  const Variable &a = node.input(0), &b = node.input(1), &q = node.input(2);
  if (!structure_of_square(graph, a).is(Fact::Diagonal) || !structure_of_square(graph, b).is(Fact::Diagonal))
    return std::nullopt;
  const Variable rows = diagonal_of(a), columns = diagonal_of(b);
  const Variable sums = expand_dims(rows, rows.ndim()) + expand_dims(columns, columns.ndim() - 1);
  const Variable checked =
      check_and_raise(sums, {all(neq(sums, 0))}, "LinAlgError", "solve_sylvester: A and -B share an eigenvalue");
  return one(fit(q / checked, node.output()));
}

// ---- shared decompositions ------------------------------------------------------------------------------------------

// Values alone are taken from a decomposition of the same matrix that computes them along with vectors.
std::optional<Variables> values_of_decomposition(FunctionGraph& graph, const Apply& node) {
  if (node.output_count() != 1) return std::nullopt;
  const bool singular = is_matrix_op(node.output(), "SVD");
  const std::string_view whole = singular ? "SVD" : "Eigh";
  for (auto& client : graph.clients(node.input(0))) {
    if (!client.node || client.node == node.node()) continue;
    const Apply other = Apply::of(client.node);
    if (other.output_count() == 1 || !is_matrix_op(other.output(0), whole)) continue;
    if (singular) return one(fit(other.output(1), node.output()));
    const auto lower = [](const Apply& of) {
      return required_attribute<bool>(core_op(of.output(0))->attributes(), "lower");
    };
    if (lower(other) == lower(node)) return one(fit(other.output(0), node.output()));
  }
  return std::nullopt;
}

// ---- declarations ---------------------------------------------------------------------------------------------------

Variable sample_diagonal() { return diag(exp(sample_vector())); }
// Entries of both signs, unsorted.
Variable sample_indefinite_diagonal() { return diag(sin(exp(sample_vector() * 3.0))); }
Variable sample_batch_of_diagonals() {
  const Variable x = sample_batch();
  return tril(triu(matmul(x, matrix_transpose(x))));
}

void declare_factors(Rules& rules) {
  matrix_rule(rules, "cholesky_of_product", {"Cholesky"}, cholesky_of_product)
      .doc("Rewrites the Cholesky factor of L @ L.T as L, for a triangular L whose diagonal is known to be positive.")
      .tags(canonicalize, stabilize, structural, "cholesky_ldotlt")
      .differs_at(not_finite)
      .sample([] {
        const Variable x = sample_matrix();
        const Variable l = switch_(eye(length_of(x, 0), {}, 0, DType::Bool), exp(x), tril(x));
        return cholesky(dot(l, transpose(l)));
      })
      .sample([] {
        const Variable l = cholesky(sample_definite(sample_matrix()));
        return cholesky(dot(l, transpose(l)), {.lower = false});
      })
      .sample([] {
        const Variable u = cholesky(sample_definite(sample_batch()), {.lower = false});
        return cholesky(matmul(matrix_transpose(u), u));
      });
  matrix_rule(rules, "cholesky_of_diagonal", {"Cholesky"}, cholesky_of_diagonal)
      .doc(
          "Rewrites the Cholesky factor of a diagonal matrix known to be positive definite as the diagonal matrix of "
          "square roots.")
      .tags(canonicalize, stabilize, structural, "cholesky_of_diag")
      .differs_at(not_finite)
      .sample([] { return cholesky(sample_diagonal()); })
      .sample([] { return cholesky(sample_diagonal(), {.lower = false}); });
  matrix_rule(rules, "upper_factor_of_lower", {"Cholesky"}, upper_factor_of_lower)
      .doc(
          "Rewrites the upper Cholesky factor of a symmetric matrix as the transpose of the lower one, so that both "
          "share one factorization.")
      .tags(canonicalize, structural)
      .differs_at(not_finite)
      .sample([] { return cholesky(sample_definite(sample_matrix()), {.lower = false}); })
      .sample([] { return cholesky(sample_definite(sample_batch()), {.lower = false}); });
  matrix_rule(rules, "eigenvalues_of_diagonal", {"Eigh", "Eigvalsh"}, eigenvalues_of_diagonal)
      .doc(
          "Rewrites the eigenvalues of a diagonal matrix as its sorted diagonal, and the eigenvectors as unit vectors.")
      .tags(canonicalize, stabilize, structural, "eigh_of_diag", "eigvalsh_of_diag")
      .differs_at(not_finite)
      .sample([] { return eigvalsh(sample_indefinite_diagonal()); })
      .sample([] { return eigh(sample_indefinite_diagonal()).values; })
      .sample([] { return abs(eigh(sample_indefinite_diagonal()).vectors); })
      .sample([] { return eigvalsh(sample_batch_of_diagonals()); });
  matrix_rule(rules, "singular_values_of_diagonal", {"SVD"}, singular_values_of_diagonal)
      .doc("Rewrites the singular values of a diagonal matrix as the sorted absolute values of its diagonal.")
      .tags(canonicalize, stabilize, structural, "svd_of_diag")
      .differs_at(not_finite)
      .sample([] { return svdvals(sample_indefinite_diagonal()); })
      .sample([] {
        const auto [u, s, vt] = svd(sample_indefinite_diagonal());
        return dot(u * s, vt);
      })
      .sample([] {
        const auto [u, s, vt] = svd(sample_batch_of_diagonals(), {.full_matrices = false});
        return matmul(u * expand_dims(s, 1), vt);
      });
  matrix_rule(rules, "exponential_of_diagonal", {"Expm"}, exponential_of_diagonal)
      .doc("Rewrites the exponential of a diagonal matrix as the exponential of its diagonal.")
      .tags(canonicalize, stabilize, structural, "expm_of_diag")
      .differs_at(not_finite)
      .sample([] { return expm(sample_indefinite_diagonal()); })
      .sample([] { return expm(sample_batch_of_diagonals()); });
  matrix_rule(rules, "schur_of_diagonal", {"Schur"}, schur_of_diagonal)
      .doc("Rewrites the Schur form of a diagonal matrix as the matrix itself.")
      .tags(canonicalize, stabilize, structural, "schur_of_diag")
      .differs_at(not_finite)
      .sample([] { return schur(sample_indefinite_diagonal()).upper; })
      .sample([] { return schur(sample_batch_of_diagonals()).z; });
  matrix_rule(rules, "qz_of_diagonal", {"QZ"}, qz_of_diagonal)
      .doc("Rewrites the generalized Schur form of two diagonal matrices as the matrices themselves, up to signs.")
      .tags(canonicalize, stabilize, structural, "qz_of_diag")
      .differs_at(not_finite)
      .sample([] {
        const auto f = qz(diag(sample_leaf(DType::Float64, {3})), diag(sin(sample_leaf(DType::Float64, {3}) * 3.0)));
        return matmul(f.q, matmul(f.s, transpose(f.z)));
      })
      .sample([] {
        const auto f = qz(diag(sample_leaf(DType::Float64, {3})), diag(sin(sample_leaf(DType::Float64, {3}) * 3.0)));
        return matmul(f.q, matmul(f.p, transpose(f.z)));
      });
  matrix_rule(rules, "eigenvalues_of_symmetric", {"Eig"}, eigenvalues_of_symmetric)
      .doc(
          "Computes the eigenvalues and eigenvectors of a symmetric matrix, which are real, with eigh. Opt-in, since "
          "eigh sorts the eigenvalues in ascending order and eig does not.")
      .tags(canonicalize, structural, opt_in, "eig_to_eigh")
      .differs_at(not_finite)
      .sample([] {
        const Variable x = sample_leaf(DType::Float64, {3, 3});
        const EigenPairs pairs = eig(x + transpose(x));
        return real(dot(pairs.vectors * expand_dims(pairs.values, 0), inv(pairs.vectors)));
      })
      .sample([] {
        const Variable x = sample_batch();
        return sum(real(eigvals(x + matrix_transpose(x))), Axes{{1}});
      });
  matrix_rule(rules, "qr_of_diagonal", {"QR"}, qr_of_diagonal)
      .doc("Rewrites the QR decomposition of a diagonal matrix: R is the matrix itself, and Q the identity.")
      .tags(canonicalize, stabilize, structural, "qr_of_diag")
      .differs_at(not_finite)
      .sample([] { return qr(sample_indefinite_diagonal())[0]; })
      .sample([] { return qr(sample_indefinite_diagonal())[1]; })
      .sample([] { return qr(sample_batch_of_diagonals(), {.mode = QrMode::R})[0]; });
  matrix_rule(rules, "lu_of_diagonal", {"LUFactor"}, lu_of_diagonal)
      .doc("Rewrites the LU factors of a diagonal matrix as the matrix itself, without row exchanges.")
      .tags(canonicalize, stabilize, structural, "lu_of_diag", "lu_factor_of_diag")
      .differs_at(not_finite)
      .sample([] { return lu_factor(sample_indefinite_diagonal()).factors; })
      .sample([] { return lu_factor(sample_indefinite_diagonal()).pivots; })
      .sample([] { return lu_factor(sample_batch_of_diagonals()).factors; });
  matrix_rule(rules, "sylvester_of_diagonal", {"SolveSylvester"}, sylvester_of_diagonal)
      .doc("Rewrites Sylvester's equation with diagonal matrices as a division.")
      .tags(canonicalize, stabilize, structural, "solve_sylvester_of_diag")
      .differs_at(not_finite)
      .sample([] { return solve_sylvester(sample_diagonal(), sample_diagonal(), sample_matrix()); });
  matrix_rule(rules, "values_of_decomposition", {"SVD", "Eigvalsh"}, values_of_decomposition)
      .doc("Takes singular values or eigenvalues from a decomposition of the same matrix that also computes vectors.")
      .tags(canonicalize, stabilize, specialize, structural, "svd_uv_merge")
      .differs_at(not_finite)
      .sample([] {
        const Variable x = sample_matrix();
        return svdvals(x) + abs(svd(x, {.full_matrices = false}).u);
      })
      .sample([] {
        const Variable x = sample_batch();
        return eigvalsh(x) + abs(eigh(x).values);
      });
}

const RegisterRules register_factors("matrix factors", declare_factors);

}  // namespace

}  // namespace bitale::rewriting
