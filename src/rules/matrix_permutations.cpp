// Permutations, selections of rows and columns, and other orthogonal matrices: products become gathers, and
// determinants are 1 or -1.
#include "bitale/ops/sorting.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "rules/matrices.hpp"

namespace bitale::rewriting {

namespace {

// The sign of a permutation matrix: 1, or -1 for an odd number of inversions.
Variable parity_of(const Variable& permutation, DType dtype) {
  const int rank = permutation.ndim();
  const Variable indices = argmax(permutation, rank - 1);
  const Variable here = expand_dims(indices, rank - 1), after = expand_dims(indices, rank - 2);
  const Variable order = arange(length_of(permutation, rank - 1));
  const Variable is_pair = lt(expand_dims(order, 1), order), even = constant_like(1, dtype);
  const Variable signs = switch_(is_pair, switch_(gt(here, after), constant_like(-1, dtype), even), even);
  return prod(signs, Axes{{rank - 2, rank - 1}});
}

std::optional<Variables> determinant_of_permutation(FunctionGraph& graph, const Apply& node) {
  const Variable& a = node.input(0);
  if (!structure_of(graph, a).is(Fact::Permutation)) return std::nullopt;
  const Variable sign_of = parity_of(a, node.output(0).dtype());
  return is_logarithmic(node) ? fitted(node, {sign_of, zeros_like(sign_of)}) : fitted(node, {sign_of});
}

std::optional<Variables> logarithm_of_orthogonal(FunctionGraph& graph, const Apply& node) {
  const Variable& a = node.input(0);
  const Structure known = structure_of_square(graph, a);
  if (!known.is(Fact::Orthogonal) || known.is(Fact::Permutation) || known.is_triangular()) return std::nullopt;
  const Variable sign_of = sign(det(a));  // nan where a is
  return fitted(node, {sign_of, switch_(isnan(sign_of), sign_of, constant_like(0, sign_of.dtype()))});
}

// The index with which v takes rows, or columns, from an identity matrix.
std::optional<Variable> selected_from_identity(FunctionGraph& graph, const Variable& v, int axis) {
  const auto* op = op_as<AdvancedSubtensor>(v);
  if (!op || v.ndim() != 2 || op->axes != std::vector<int>{axis}) return std::nullopt;
  const Variable from = v.owner().input(0), indices = v.owner().input(1);
  if (from.ndim() != 2 || indices.ndim() != 1 || !structure_of(graph, from).is_identity()) return std::nullopt;
  return indices;
}

// If x consists of rows of the identity, the product is a gather of rows of y; if y consists of columns of the
// identity, a gather of columns of x.
std::optional<Variables> product_with_selection(FunctionGraph& graph, const Apply& node) {
  const Variable &x = node.input(0), &y = node.input(1);
  if (const auto indices = selected_from_identity(graph, x, 0)) return one(fit(take(y, *indices, 0), node.output()));
  const auto indices = selected_from_identity(graph, y, 1);
  return indices ? one(fit(take(x, *indices, x.ndim() - 1), node.output())) : std::nullopt;
}

// ---- declarations ---------------------------------------------------------------------------------------------------

Variable sample_permutation() {
  const Variable v = sample_vector();
  const Variable there = eq(expand_dims(argsort(v, 0), 1), arange(length_of(v, 0)));
  return assume(cast(there, DType::Float64), Structure{Fact::Permutation});
}

void declare_permutations(Rules& rules) {
  matrix_rule(rules, "determinant_of_permutation", {"Det", "SLogDet"}, determinant_of_permutation)
      .doc("Rewrites the determinant of a permutation matrix as 1, or -1 if its number of inversions is odd.")
      .tags(canonicalize, structural, "det_of_permutation")
      .differs_at(not_finite)
      .sample([] { return det(sample_permutation()); })
      .sample([] { return slogdet(sample_permutation()).sign; })
      .sample([] { return slogdet(sample_permutation()).logabsdet; });
  matrix_rule(rules, "logarithm_of_orthogonal", {"SLogDet"}, logarithm_of_orthogonal)
      .doc("Rewrites the logarithm of the determinant of an orthogonal matrix, which is 1 or -1, as 0.")
      .tags(canonicalize, structural, "det_of_factorized_matrix")
      .differs_at(not_finite)
      .sample([] {
        return slogdet(qr(sample_regular(sample_leaf(DType::Float64, {3, 3})))[0]).logabsdet;
      })
      .sample([] {
        return slogdet(qr(sample_regular(sample_leaf(DType::Float64, {3, 3})))[0]).sign;
      })
      .sample([] {
        return slogdet(svd(sample_leaf(DType::Float64, {2, 3, 3})).u).logabsdet;
      });
  rules.function("product_with_selection", Root::op({"Dot"}), product_with_selection)
      .doc(
          "Rewrites a product with rows or columns of the identity as a gather of rows or columns of the other factor.")
      .tags(canonicalize, structural, "selection_dot_to_indexing")
      .differs_at(not_finite)
      .sample([] {
        const Variable unit = eye(Operand(4), {}, 0, DType::Float64);
        return dot(take(unit, constant(Array{2, 0, 2}), 0), sample_leaf(DType::Float64, {4, any_length}));
      })
      .sample([] {
        const Variable unit = eye(Operand(4), {}, 0, DType::Float64);
        return dot(sample_leaf(DType::Float64, {any_length, 4}), take(unit, constant(Array{3, 1}), 1));
      })
      .sample([] {
        const Variable unit = eye(Operand(4), {}, 0, DType::Float64);
        return dot(sample_leaf(DType::Float64, {4}), take(unit, constant(Array{3, 1, 1}), 1));
      });
}

const RegisterRules register_permutations("matrix permutations", declare_permutations);

}  // namespace

}  // namespace bitale::rewriting
