// Systems of equations and inverses, specialized by what is known of their matrices.
#include "bitale/ops/debugging.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/cholesky_gradient.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "rules/matrices.hpp"
#include "runtime/batches.hpp"

namespace bitale::rewriting {

namespace {

// b with the rows of its matrices divided by d.
Variable divided_by_rows(const System& s, const Variable& d) {
  return s.b_ndim == 1 ? s.b / d : s.b / expand_dims(d, d.ndim());
}

// The diagonal of a system's matrix. A 0 in it makes the matrix singular: an error, or nan in the solution.
Variable regular_diagonal(FunctionGraph& graph, const System& s) {
  const Variable d = diagonal_of(s.a);
  if (structure_of_square(graph, s.a).is(Fact::PositiveDiagonal)) return d;
  const Variable is_regular = all(neq(d, 0), Axes{{d.ndim() - 1}});
  if (s.on_error == OnError::Nan)
    return switch_(expand_dims(is_regular, d.ndim() - 1), d,
                   constant_like(std::numeric_limits<double>::quiet_NaN(), d.dtype()));
  return check_and_raise(d, {all(is_regular)}, "LinAlgError",
                         "solve: the matrix is singular: its diagonal has a 0; on_error=\"nan\" gives nan instead");
}

// ---- inverses -------------------------------------------------------------------------------------------------------

// inv(A) b is the solution of A x = b, and b inv(A) is that of x A = b.
std::optional<Variables> product_with_inverse(FunctionGraph& graph, const Apply& node) {
  const Variable &x = node.input(0), &y = node.input(1);
  if (const auto a = as_inverse(graph, x))
    return one(fit(solve(*a, y, {.b_ndim = y.ndim() == 1 ? 1 : 2, .on_error = as_system(x)->on_error}), node.output()));
  const auto a = as_inverse(graph, y);
  if (!a) return std::nullopt;
  const OnError on_error = as_system(y)->on_error;
  if (x.ndim() == 1)
    return one(fit(solve(*a, x, {.transposed = true, .b_ndim = 1, .on_error = on_error}), node.output()));
  const Variable transposed =
      solve(*a, matrices_transposed(x), {.transposed = true, .b_ndim = 2, .on_error = on_error});
  return one(fit(matrices_transposed(transposed), node.output()));
}

std::optional<Variables> transpose_of_inverse(FunctionGraph& graph, const Apply& node) {
  const auto inverse = transposed_matrix(node.output());
  if (!inverse || !as_inverse(graph, *inverse)) return std::nullopt;
  System system = *as_system(*inverse);
  system.trans = !system.trans;
  return one(fit(solution(system), node.output()));
}

std::optional<Variables> system_of_transposed(FunctionGraph&, const Apply& node) {
  auto system = as_system(node.output());
  if (!system) return std::nullopt;
  const auto a = transposed_matrix(system->a);
  if (!a) return std::nullopt;
  system->a = *a;
  system->trans = !system->trans;
  return one(fit(solution(*system), node.output()));
}

// The solution of inv(A) x = b is x = A b.
std::optional<Variables> system_of_inverse(FunctionGraph& graph, const Apply& node) {
  const auto system = as_system(node.output());
  if (!system) return std::nullopt;
  const auto a = as_inverse(graph, system->a);
  if (!a) return std::nullopt;
  const Variable matrix = system->trans ? matrices_transposed(*a) : *a;
  if (system->b_ndim == 2 && structure_of(graph, system->b).is_identity()) return one(fit(matrix, node.output()));
  return one(fit(as_right_side(*system, matmul(matrix, right_columns(*system))), node.output()));
}

// The solution of A x = A y is x = y.
std::optional<Variables> system_of_own_product(FunctionGraph&, const Apply& node) {
  const auto system = as_system(node.output());
  if (!system || !is_product(system->b)) return std::nullopt;
  const Apply product = system->b.owner();
  if (product.input(0).ndim() < 2 || (product.input(1).ndim() == 1) != (system->b_ndim == 1)) return std::nullopt;
  const bool same = system->trans ? are_transposes(product.input(0), system->a) : product.input(0).same_as(system->a);
  return same ? one(fit(product.input(1), node.output())) : std::nullopt;
}

// ---- by structure ---------------------------------------------------------------------------------------------------

std::optional<Variables> system_of_orthogonal(FunctionGraph& graph, const Apply& node) {
  const auto system = as_system(node.output());
  if (!system) return std::nullopt;
  const Structure known = structure_of_square(graph, system->a);
  if (known.is_identity()) return one(fit(system->b, node.output()));
  if (!known.is(Fact::Orthogonal)) return std::nullopt;
  const Variable matrix = system->trans ? system->a : matrices_transposed(system->a);
  if (system->b_ndim == 2 && structure_of(graph, system->b).is_identity()) return one(fit(matrix, node.output()));
  return one(fit(as_right_side(*system, matmul(matrix, right_columns(*system))), node.output()));
}

std::optional<Variables> system_of_diagonal(FunctionGraph& graph, const Apply& node) {
  auto system = as_system(node.output());
  if (!system) system = as_triangular_system(node.output());
  if (!system || !structure_of_square(graph, system->a).is(Fact::Diagonal)) return std::nullopt;
  if (system->unit_diagonal) return one(fit(system->b, node.output()));
  return one(fit(divided_by_rows(*system, regular_diagonal(graph, *system)), node.output()));
}

std::optional<Variables> system_of_triangular(FunctionGraph& graph, const Apply& node) {
  auto system = as_system(node.output());
  if (!system) return std::nullopt;
  const Structure known = structure_of_square(graph, system->a);
  if (!known.is_triangular() || known.is(Fact::Diagonal)) return std::nullopt;
  system->lower = known.is(Fact::LowerTriangular);
  system->unit_diagonal = known.is(Fact::UnitDiagonal);
  return one(fit(triangular_solution(*system), node.output()));
}

// A system whose matrix is a product of two factors, both of a kind whose systems are solved in quadratic time.
std::optional<Variables> system_of_product(FunctionGraph& graph, const Apply& node) {
  const auto system = as_system(node.output());
  if (!system || !is_product(system->a)) return std::nullopt;
  const Apply product = system->a.owner();
  if (product.input(0).ndim() < 2 || product.input(1).ndim() < 2) return std::nullopt;
  // If one is square, so is the other, since their product is.
  if (!is_square(graph, product.input(0)) && !is_square(graph, product.input(1))) return std::nullopt;
  for (auto& factor : product.inputs()) {
    const Structure known = structure_of_square(graph, factor);
    if (!known.is_triangular() && !known.is(Fact::Orthogonal)) return std::nullopt;
  }
  System first = *system;
  first.a = product.input(system->trans ? 1 : 0);
  System second = *system;
  second.a = product.input(system->trans ? 0 : 1);
  second.b = solution(first);
  return one(fit(solution(second), node.output()));
}

std::optional<Variables> system_of_tridiagonal(FunctionGraph& graph, const Apply& node) {
  const auto system = as_system(node.output());
  if (!system) return std::nullopt;
  const Structure known = structure_of_square(graph, system->a);
  if (!known.is(Fact::Tridiagonal) || known.is_triangular()) return std::nullopt;
  const SolveOptions options{.assume_a = Assume::Tridiagonal,
                             .transposed = system->trans,
                             .b_ndim = system->b_ndim,
                             .on_error = system->on_error};
  return one(fit(solve(system->a, system->b, options), node.output()));
}

// Whether inverse_by_factor is faster than two triangular systems, which are ahead where matrices are computed in
// vector lanes: in batches, and up to 16 rows (at 20 they take 1.07 times as long, at 40 1.18 times, at 1000 twice as
// long).
bool is_faster_by_gradient(const Variable& factor) {
  const std::int64_t n = factor.static_shape().back();
  return factor.ndim() == 2 && (n == unknown_length || n > runtime::max_lane_rows);
}

// The inverse of L L^T is the gradient of the logarithm of its determinant, whose gradient by L is 2 / diag(L). The
// gradient of the lower triangle counts elements beside the diagonal twice.
Variable inverse_by_factor(const Variable& factor) {
  const Variable d = diagonal_of(factor);
  const Variable twice = cholesky_gradient(factor, diagonal_matrices(constant_like(2, d.dtype()) / d));
  return constant_like(0.5, d.dtype()) * (twice + matrices_transposed(twice));
}

std::optional<Variables> system_of_definite(FunctionGraph& graph, const Apply& node) {
  const auto system = as_system(node.output());
  if (!system) return std::nullopt;
  const Structure known = structure_of_square(graph, system->a);
  if (known.is(Fact::Diagonal) || known.is(Fact::Tridiagonal) || !is_definite(graph, system->a)) return std::nullopt;
  const Variable factor = lower_factor(graph, system->a, system->on_error);
  const bool is_inverse = system->b_ndim == 2 && structure_of(graph, system->b).is_identity();
  return one(fit(is_inverse && is_faster_by_gradient(factor) ? inverse_by_factor(factor)
                                                             : cho_solve(factor, system->b, {.b_ndim = system->b_ndim}),
                 node.output()));
}

// x^T A^-1 x of a positive definite A = L L^T is the square of the norm of L^-1 x.
std::optional<Variables> quadratic_form(FunctionGraph& graph, const Apply& node) {
  for (const int other : {0, 1}) {
    const Variable &x = node.input(other), &y = node.input(1 - other);
    if (x.ndim() != 1 || y.ndim() != 1) return std::nullopt;
    System half;
    if (const auto system = as_system(y); system && system->b.same_as(x)) {
      if (structure_of(graph, system->a).is(Fact::Diagonal) || !is_definite(graph, system->a)) continue;
      half = *system;
      half.a = lower_factor(graph, system->a, system->on_error);
      half.lower = true;
      half.trans = false;
    } else if (const auto second = as_triangular_system(y)) {
      const auto first = as_triangular_system(second->b);
      if (!first || !first->b.same_as(x) || !first->a.same_as(second->a) || first->lower != second->lower ||
          first->trans == second->trans || first->unit_diagonal != second->unit_diagonal)
        continue;
      half = *first;
    } else {
      continue;
    }
    return one(fit(sum(sqr(triangular_solution(half))), node.output()));
  }
  return std::nullopt;
}

// ---- declarations ---------------------------------------------------------------------------------------------------

void declare_systems(Rules& rules) {
  const auto inverse = [](const Variable& a) { return inv(a); };
  rules.function("product_with_inverse", Root::op({"Dot", "BatchedDot"}), product_with_inverse)
      .doc("Rewrites inv(A) @ b as the solution of A x = b, and b @ inv(A) as the solution of x A = b.")
      .tags(canonicalize, specialize, structural, "inv_to_solve")
      .differs_at(not_finite)
      .sample([=] { return dot(inverse(sample_regular(sample_matrix())), sample_vector()); })
      .sample([=] { return dot(inverse(sample_regular(sample_matrix())), sample_matrix()); })
      .sample([=] { return dot(sample_vector(), inverse(sample_regular(sample_matrix()))); })
      .sample([=] { return matmul(sample_batch(), inverse(sample_regular(sample_batch()))); });
  rules.function("transpose_of_inverse", Root::op({"DimShuffle"}), transpose_of_inverse)
      .doc("Rewrites the transpose of an inverse as a solve with the transposed matrix.")
      .tags(canonicalize, structural, "transpose_of_inv")
      .differs_at(not_finite)
      .sample([=] { return transpose(inverse(sample_regular(sample_matrix()))); })
      .sample([=] { return matrix_transpose(inverse(sample_regular(sample_batch()))); });
  matrix_rule(rules, "system_of_transposed", {"Solve"}, system_of_transposed)
      .doc("Rewrites a solve with a transposed matrix as a transposed solve with the matrix, which shares its factors.")
      .tags(canonicalize, structural)
      .differs_at(not_finite)
      .sample([] { return solve(transpose(sample_regular(sample_matrix())), sample_vector()); })
      .sample([] { return solve(matrix_transpose(sample_regular(sample_batch())), sample_batch()); });
  matrix_rule(rules, "system_of_inverse", {"Solve"}, system_of_inverse)
      .doc("Rewrites inv(inv(A)) as A, and the solution of inv(A) x = b as A b. A singular A then raises no error.")
      .tags(canonicalize, structural, "inv_of_inv", "solve_of_inv_to_matmul")
      .wider_domain()
      .differs_at(not_finite)
      .sample([=] { return inverse(inverse(sample_regular(sample_matrix()))); })
      .sample([=] { return solve(inverse(sample_regular(sample_matrix())), sample_vector()); })
      .sample([=] { return solve(inverse(sample_regular(sample_batch())), sample_batch()); });
  matrix_rule(rules, "system_of_own_product", {"Solve"}, system_of_own_product)
      .doc("Rewrites the solution of A x = A y as y. A singular A then raises no error.")
      .tags(canonicalize, structural)
      .wider_domain()
      .differs_at(not_finite)
      .sample([] {
        const Variable a = sample_regular(sample_matrix());
        return solve(a, dot(a, sample_vector()));
      })
      .sample([] {
        const Variable a = sample_regular(sample_matrix());
        return solve(a, dot(transpose(a), sample_matrix()), {.transposed = true});
      });
  matrix_rule(rules, "system_of_orthogonal", {"Solve"}, system_of_orthogonal)
      .doc(
          "Rewrites a solve with an orthogonal matrix as a product with its transpose, and its inverse as the "
          "transpose.")
      .tags(canonicalize, specialize, structural, "inv_of_orthogonal_to_transpose",
            "orthogonal_solve_to_transpose_matmul")
      .wider_domain()
      .differs_at(not_finite)
      .sample([] { return solve(qr(sample_regular(sample_matrix()))[0], sample_vector()); })
      .sample([] { return solve(qr(sample_regular(sample_batch()))[0], sample_batch(), {.transposed = true}); })
      .sample([=] { return inverse(qr(sample_regular(sample_matrix()))[0]); });
  matrix_rule(rules, "system_of_diagonal", {"Solve", "SolveTriangular"}, system_of_diagonal)
      .doc("Rewrites a solve with a diagonal matrix as a division.")
      .tags(specialize, structural, "diagonal_solve_to_division", "scalar_solve_to_division",
            "inv_of_diag_to_diag_reciprocal")
      .differs_at(not_finite)
      .sample([] { return solve(diag(sample_vector() + 3.0), sample_vector()); })
      .sample([] { return solve(diag(sample_vector() - 0.3), sample_vector(), {.on_error = OnError::Nan}); })
      .sample([=] { return inverse(diag(sample_vector() + 3.0)); })
      .sample([] {
        const Variable a = sample_regular(sample_batch());
        return solve(tril(triu(a)), sample_batch());
      })
      .sample([] { return solve_triangular(diag(sample_vector() + 3.0), sample_matrix()); });
  matrix_rule(rules, "system_of_triangular", {"Solve"}, system_of_triangular)
      .doc("Rewrites a solve with a triangular matrix as a triangular solve (substitution).")
      .tags(specialize, structural, "generic_solve_to_solve_triangular", "generic_solve_to_structured_form")
      .differs_at(not_finite)
      .sample([] { return solve(sample_lower(sample_matrix()), sample_vector()); })
      .sample([] { return solve(triu(sample_regular(sample_matrix())), sample_matrix(), {.transposed = true}); })
      .sample([] { return solve(sample_lower(sample_batch()), sample_batch()); })
      .sample([=] { return inverse(cholesky(sample_definite(sample_matrix()))); });
  matrix_rule(rules, "system_of_product", {"Solve"}, system_of_product)
      .doc("Solves a system with a product of triangular and orthogonal matrices factor by factor.")
      .tags(specialize, structural)
      .differs_at(not_finite)
      .sample([] {
        const Variables factors = qr(sample_regular(sample_leaf(DType::Float64, {3, 3})));
        return solve(dot(factors[0], factors[1]), sample_vector());
      })
      .sample([] {
        const Variable a = sample_leaf(DType::Float64, {2, 2});
        return inv(dot(sample_lower(a), triu(sample_regular(a))));
      });
  matrix_rule(rules, "system_of_tridiagonal", {"Solve"}, system_of_tridiagonal)
      .doc("Solves a system with a matrix that is known to be tridiagonal by elimination along its three diagonals.")
      .tags(specialize, structural, "generic_solve_to_structured_form")
      .differs_at(not_finite)
      .sample([] {
        const Variable a = sample_regular(sample_leaf(DType::Float64, {4, 4}));
        return solve(assume(triu(tril(a, 1), -1), Structure{Fact::Tridiagonal}), sample_leaf(DType::Float64, {4}));
      })
      .sample([] {
        const Variable a = sample_regular(sample_leaf(DType::Float64, {4, 4}));
        const Variable banded = assume(triu(tril(a, 1), -1), Structure{Fact::Tridiagonal});
        return solve(banded, sample_leaf(DType::Float64, {4, 2}), {.transposed = true});
      });
  matrix_rule(rules, "system_of_definite", {"Solve"}, system_of_definite)
      .doc(
          "Solves a system with a positive definite matrix by its Cholesky factor. A matrix wrongly assumed to be "
          "positive definite fails as on_error specifies.")
      .tags(specialize, structural, "psd_solve_to_chol_solve", "reuse_decomposition_multiple_solves")
      .differs_at(not_finite)
      .sample([] { return solve(sample_definite(sample_matrix()), sample_vector()); })
      .sample([] { return solve(sample_definite(sample_batch()), sample_batch()); })
      .sample([=] { return inverse(sample_definite(sample_matrix())); });
  rules.function("quadratic_form", Root::op({"Dot"}), quadratic_form)
      .doc(
          "Rewrites x @ inv(A) @ x as the squared norm of inv(L) @ x, for a positive definite A with Cholesky factor "
          "L.")
      .tags(canonicalize, specialize, structural)
      .differs_at(not_finite)
      .sample([] {
        const Variable x = sample_vector();
        return dot(x, solve(sample_definite(sample_matrix()), x));
      })
      .sample([] {
        const Variable x = sample_vector();
        return dot(cho_solve(sample_lower(sample_matrix()), x), x);
      });
}

const RegisterRules register_systems("matrix systems", declare_systems);

}  // namespace

}  // namespace bitale::rewriting
