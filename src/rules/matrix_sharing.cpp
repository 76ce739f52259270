// One LU factorization for all systems and determinants of a matrix of which nothing is known.
#include "bitale/ops/search.hpp"
#include "ops/lengths.hpp"
#include "rules/matrices.hpp"

namespace bitale::rewriting {

namespace {

bool factors_a_general_matrix(const Variable& v) {
  return is_matrix_op(v, "Solve") || is_matrix_op(v, "Det") || is_matrix_op(v, "SLogDet") ||
         is_matrix_op(v, "LUFactor");
}

// Whether the matrix is factored for somebody else, too.
bool is_shared(FunctionGraph& graph, const Apply& node) {
  for (auto& client : graph.clients(node.input(0)))
    if (client.node && client.node != node.node() && client.index == 0 &&
        factors_a_general_matrix(Apply::of(client.node).output(0)))
      return true;
  return false;
}

// Rows of b in the order of `places`, per matrix.
Variable rows_of(const Variable& b, const Variable& places) {
  if (places.ndim() == 1) return take(b, places, b.ndim() - 2);
  return take_along_axis(b, expand_dims(places, places.ndim()), b.ndim() - 2);
}

std::optional<Variables> shared_system(FunctionGraph& graph, const Apply& node) {
  const auto system = as_system(node.output());
  if (!system || !is_shared(graph, node)) return std::nullopt;
  const int batch = system->a.ndim() - 2;
  if (batch > 0 && system->b.ndim() != batch + system->b_ndim) return std::nullopt;
  if (batch == 0 && system->b.ndim() != system->b_ndim) return std::nullopt;
  const auto [factors, pivots] = lu_factor(system->a);
  System lower = *system;
  lower.a = factors;
  lower.b_ndim = 2;
  System upper = lower;
  lower.lower = lower.unit_diagonal = true;
  const Variable columns = system->b_ndim == 1 ? expand_dims(system->b, system->b.ndim()) : system->b;
  Variable out;
  if (system->trans) {
    upper.b = columns;
    lower.b = triangular_solution(upper);
    out = rows_of(triangular_solution(lower), pivot_to_permutation(pivots, false));
  } else {
    lower.b = rows_of(columns, pivot_to_permutation(pivots, true));
    upper.b = triangular_solution(lower);
    out = triangular_solution(upper);
  }
  return one(fit(system->b_ndim == 1 ? squeeze(out, Axes{{out.ndim() - 1}}) : out, node.output()));
}

std::optional<Variables> shared_determinant(FunctionGraph& graph, const Apply& node) {
  if (!is_shared(graph, node)) return std::nullopt;
  const auto [factors, pivots] = lu_factor(node.input(0));
  const Variable d = diagonal_of(factors);
  const Axes last{{d.ndim() - 1}};
  const Variable is_exchanged = neq(pivots, arange(length_of(pivots, pivots.ndim() - 1)));
  const Variable parity = prod(switch_(is_exchanged, constant_like(-1, d.dtype()), constant_like(1, d.dtype())), last);
  if (node.output_count() == 1) return one(fit(parity * prod(d, last), node.output()));
  const auto sign_of = fit(parity * prod(sign(d), last), node.output(0));
  const auto logarithm = fit(sum(log(abs(d)), last), node.output(1));
  if (!sign_of || !logarithm) return std::nullopt;
  return Variables{*sign_of, *logarithm};
}

void declare_sharing(Rules& rules) {
  matrix_rule(rules, "shared_system", {"Solve"}, shared_system)
      .doc("Several systems with the same matrix, and its determinant, need one LU factorization.")
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
      .doc("A determinant is taken from LU factors that a system with the same matrix needs as well.")
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
