// Shared factorizations: systems and determinants of the same general matrix, determinants next to decompositions,
// tridiagonal systems, and batches of right sides with one matrix.
#include "bitale/ops/from_attributes.hpp"
#include "bitale/ops/search.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/matrices.hpp"
#include "rules/matrices.hpp"

namespace bitale::rewriting {

namespace {

// Symmetric systems do not count: they read only one triangle.
bool factors_a_general_matrix(const Variable& v) {
  return is_matrix_op(v, "Solve") || is_matrix_op(v, "Det") || is_matrix_op(v, "SLogDet") ||
         is_matrix_op(v, "LUFactor");
}

// Whether another node factors the same matrix, too.
bool is_shared(FunctionGraph& graph, const Apply& node) {
  for (auto& client : graph.clients(node.input(0)))
    if (client.node && client.node != node.node() && client.index == 0 &&
        factors_a_general_matrix(Apply::of(client.node).output(0)))
      return true;
  return false;
}

std::optional<Variables> shared_system(FunctionGraph& graph, const Apply& node) {
  const auto system = as_system(node.output());
  if (!system || !is_shared(graph, node)) return std::nullopt;
  const int batch = system->a.ndim() - 2;
  if (batch > 0 && system->b.ndim() != batch + system->b_ndim) return std::nullopt;
  if (batch == 0 && system->b.ndim() != system->b_ndim) return std::nullopt;
  return one(fit(solution_by_lu(*system), node.output()));
}

// Results that are computed from a factorization: those of matrices that are not square exist, too, and a determinant
// does not.
std::optional<Variables> of_square(const Apply& node, Variables results) {
  const Variable& a = node.input(0);
  for (auto& each : results)
    each = required_equal(each, length_of(a, a.ndim() - 2), length_of(a, a.ndim() - 1),
                          cat(is_logarithmic(node) ? "slogdet" : "det", ": expected square matrices"));
  return fitted(node, std::move(results));
}

std::optional<Variables> shared_determinant(FunctionGraph& graph, const Apply& node) {
  if (!is_shared(graph, node)) return std::nullopt;
  const auto [factors, pivots] = lu_factor(node.input(0));
  const Variable d = diagonal_of(factors);
  const Axes last{{d.ndim() - 1}};
  const Variable is_exchanged = neq(pivots, arange(length_of(pivots, pivots.ndim() - 1)));
  const Variable parity = prod(switch_(is_exchanged, constant_like(-1, d.dtype()), constant_like(1, d.dtype())), last);
  if (!is_logarithmic(node)) return of_square(node, {parity * prod(d, last)});
  return of_square(node, {parity * prod(sign(d), last), sum(log(abs(d)), last)});
}

// ---- determinants beside decompositions -----------------------------------------------------------------------------

// Numbers from a decomposition of the matrix whose product is the determinant, or has its absolute value.
struct Numbers {
  Variable values;
  bool with_sign = true;
};
std::optional<Numbers> numbers_of_decomposition(const Apply& other, bool is_symmetric) {
  const Variable first = other.output(0);
  if (is_symmetric) {  // these read one triangle
    if (is_matrix_op(first, "Eigh") && other.inputs().size() == 1) return Numbers{.values = first};
    if (is_matrix_op(first, "Eigvalsh") && other.inputs().size() == 1) return Numbers{.values = first};
  }
  if (is_matrix_op(first, "SVD"))
    return Numbers{.values = other.output(other.output_count() == 1 ? 0 : 1), .with_sign = false};
  if (is_matrix_op(first, "QR")) {
    const auto mode = required_attribute<std::string>(core_op(first)->attributes(), "mode");
    const int of_r = mode == "r" ? 0 : mode == "raw" ? 2 : 1;
    return Numbers{.values = diagonal_of(other.output(of_r)), .with_sign = false};
  }
  return std::nullopt;
}

std::optional<Variables> determinant_of_decomposed(FunctionGraph& graph, const Apply& node) {
  const Variable& a = node.input(0);
  const bool is_symmetric = structure_of_square(graph, a).is(Fact::Symmetric);
  const bool needs_sign = !is_logarithmic(node) || !graph.clients(node.output(0)).empty();
  for (auto& client : graph.clients(a)) {
    if (!client.node || client.node == node.node() || client.index != 0) continue;
    const auto numbers = numbers_of_decomposition(Apply::of(client.node), is_symmetric);
    if (!numbers || (needs_sign && !numbers->with_sign)) continue;
    const Variable& d = numbers->values;
    if (numbers->with_sign) return determinant_of_numbers(node, d);
    const Variable logarithm = sum(log(abs(d)), Axes{{d.ndim() - 1}});
    // the sign is unused
    return of_square(node, {logarithm + constant_like(std::numeric_limits<double>::quiet_NaN(), d.dtype()), logarithm});
  }
  return std::nullopt;
}

// ---- tridiagonal systems --------------------------------------------------------------------------------------------

// Whether both nodes read the same three diagonals; with `turned`, whether `other` reads those of the transposed
// matrix.
bool is_of_diagonals(const Apply& node, const Apply& other, bool turned) {
  return node.input(0).same_as(other.input(turned ? 2 : 0)) && node.input(1).same_as(other.input(1)) &&
         node.input(2).same_as(other.input(turned ? 0 : 2));
}

std::optional<Variables> shared_tridiagonal_system(FunctionGraph& graph, const Apply& node) {
  std::optional<Apply> other;
  for (auto& client : graph.clients(node.input(1))) {
    if (!client.node || client.node == node.node() || client.index != 1) continue;
    const Apply each = Apply::of(client.node);
    const bool is_factor = is_matrix_op(each.output(0), "LUFactorTridiagonal");
    if (!is_factor && !is_matrix_op(each.output(0), "SolveTridiagonal")) continue;
    if (!is_of_diagonals(each, node, false) && !is_of_diagonals(each, node, true)) continue;
    if (!other || is_factor) other = each;
    if (is_factor) break;
  }
  if (!other) return std::nullopt;
  const int batch = node.input(1).ndim() - 1;
  if (node.input(3).ndim() != batch + 2) return std::nullopt;
  // The orientation is that of existing factors, or else that of this system.
  const bool is_factor = is_matrix_op(other->output(0), "LUFactorTridiagonal");
  const bool turned = is_factor && !is_of_diagonals(*other, node, false);
  const auto factors = tridiagonal_lu_factor(node.input(turned ? 2 : 0), node.input(1), node.input(turned ? 0 : 2));
  return one(fit(tridiagonal_lu_solve(factors, node.input(3), {.transposed = turned, .b_ndim = 2}), node.output()));
}

// ---- batches of right sides -----------------------------------------------------------------------------------------

// A matrix that is the same for the whole batch is factored once: the right sides become columns of one matrix.
std::optional<Variables> one_matrix_for_batch(FunctionGraph&, const Apply& node) {
  auto system = as_system(node.output());
  const bool is_general = system.has_value();
  if (!system) system = as_triangular_system(node.output());
  if (!system) return std::nullopt;
  const int batch = system->a.ndim() - 2;
  if (batch < 1 || system->b.ndim() != batch + system->b_ndim) return std::nullopt;
  std::vector<int> leading, order{batch}, back, all{batch};
  bool has_many = false;
  for (int axis = 0; axis < batch; ++axis) {
    if (!system->a.tensor().broadcasts(axis)) return std::nullopt;
    has_many |= !system->b.tensor().broadcasts(axis);
    leading.push_back(axis);
    order.push_back(axis);
  }
  if (!has_many) return std::nullopt;
  if (system->b_ndim == 2) order.push_back(batch + 1);
  for (int axis = 0; axis < batch; ++axis) back.push_back(axis + 1);
  back.push_back(0);
  if (system->b_ndim == 2) back.push_back(batch + 1);
  const Variable rows_first = dimshuffle(system->b, order);
  Variables lengths;
  Variable columns = int64_constant(1);
  for (int axis = 0; axis < rows_first.ndim(); ++axis) {
    lengths.push_back(length_of(rows_first, axis));
    if (axis > 0) columns = lengths::mul(columns, lengths.back());
  }
  System whole = *system;
  whole.a = squeeze(system->a, Axes{leading});
  whole.b = reshape(rows_first, Operands{lengths[0], columns});
  whole.b_ndim = 2;
  const Variable solved = is_general ? solution(whole) : triangular_solution(whole);
  return one(fit(dimshuffle(reshape(solved, Operands(lengths)), back), node.output()));
}

void declare_sharing(Rules& rules) {
  matrix_rule(rules, "determinant_of_decomposed", {"Det", "SLogDet"}, determinant_of_decomposed)
      .doc(
          "Computes a determinant from a decomposition of the matrix in the graph: the eigenvalues of a symmetric "
          "matrix; where only its logarithm is read, also the singular values or the R factor of QR.")
      .tags(specialize, structural, "det_of_matrix_factorized_elsewhere")
      .differs_at(not_finite)
      .sample([] {
        const Variable a = sample_definite(sample_matrix());
        return slogdet(a).logabsdet + eigvalsh(a);
      })
      .sample([] {
        const Variable x = sample_leaf(DType::Float64, {3, 3}),
                       a = assume(x + transpose(x), Structure{Fact::Symmetric});
        return det(a) + eigh(a).values;
      })
      .sample([] {
        const Variable a = sample_regular(sample_leaf(DType::Float64, {3, 3}));
        return slogdet(a).logabsdet + svdvals(a);
      })
      .sample([] {
        const Variable a = sample_regular(sample_leaf(DType::Float64, {2, 3, 3}));
        return slogdet(a).logabsdet + sum(abs(qr(a)[1]), Axes{{1, 2}});
      });
  matrix_rule(rules, "shared_tridiagonal_system", {"SolveTridiagonal"}, shared_tridiagonal_system)
      .doc("Shares one factorization among systems with the same tridiagonal matrix or its transpose.")
      .tags(specialize, structural, "reuse_decomposition_multiple_solves")
      .differs_at(not_finite)
      .sample([] {
        const Variable a = sample_regular(sample_leaf(DType::Float64, {4, 4}));
        const SolveOptions tridiagonal{.assume_a = Assume::Tridiagonal};
        return solve(a, sample_leaf(DType::Float64, {4}), tridiagonal) +
               solve(a, sample_leaf(DType::Float64, {4}), tridiagonal);
      })
      .sample([] {
        const Variable d = sample_leaf(DType::Float64, {4}) + 5.0, lower = sample_leaf(DType::Float64, {3}),
                       upper = sample_leaf(DType::Float64, {3}), b = sample_leaf(DType::Float64, {4, 2});
        return solve_tridiagonal(lower, d, upper, b) + solve_tridiagonal(upper, d, lower, b);
      });
  matrix_rule(rules, "one_matrix_for_batch", {"Solve", "SolveTriangular"}, one_matrix_for_batch)
      .doc("Rewrites a batch of systems with the same matrix as one system with many right-hand sides.")
      .tags(specialize, structural, "batched_vector_b_solve_to_matrix_b_solve")
      .differs_at(not_finite)
      .sample([] {
        const Variable a = expand_dims(sample_regular(sample_leaf(DType::Float64, {3, 3})), 0);
        return solve(a, sample_leaf(DType::Float64, {any_length, 3}), {.b_ndim = 1});
      })
      .sample([] {
        const Variable a = expand_dims(expand_dims(sample_regular(sample_leaf(DType::Float64, {3, 3})), 0), 0);
        return solve(a, sample_leaf(DType::Float64, {2, any_length, 3, 2}), {.transposed = true, .b_ndim = 2});
      })
      .sample([] {
        const Variable a = sample_lower(sample_leaf(DType::Float64, {3, 3}));
        return solve_triangular(a, sample_leaf(DType::Float64, {any_length, 3}), {.lower = true, .b_ndim = 1});
      });
  matrix_rule(rules, "shared_system", {"Solve"}, shared_system)
      .doc("Shares one LU factorization among systems with the same matrix and its determinant.")
      .tags(specialize, structural, "reuse_decomposition_multiple_solves")
      .priority(-1)
      .differs_at(not_finite)
      .sample([] {
        const Variable a = sample_regular(sample_matrix());
        return solve(a, sample_vector()) + solve(a, sample_vector(), {.transposed = true});
      })
      .sample([] {
        const Variable a = sample_regular(sample_batch());
        return solve(a, sample_batch(), {.transposed = true}) + expand_dims(expand_dims(det(a), 1), 2);
      })
      .sample([] {
        const Variable a = sample_regular(sample_batch());
        return inv(a) + solve(a, sample_batch());
      });
  matrix_rule(rules, "shared_determinant", {"Det", "SLogDet"}, shared_determinant)
      .doc("Computes a determinant from LU factors that a system with the same matrix also needs.")
      .tags(specialize, structural)
      .priority(-1)
      .differs_at(not_finite)
      .sample([] {
        const Variable a = sample_regular(sample_matrix()) - 4.0;
        return solve(a, sample_vector()) * det(a);
      })
      .sample([] {
        const Variable a = sample_regular(sample_matrix()) - 4.0;
        return inv(a) * slogdet(a).logabsdet;
      })
      .sample([] {
        const Variable a = sample_regular(sample_batch()) - 4.0;
        return inv(a) * expand_dims(expand_dims(slogdet(a).sign, 1), 2);
      });
}

const RegisterRules register_sharing("matrix sharing", declare_sharing);

}  // namespace

}  // namespace bitale::rewriting
