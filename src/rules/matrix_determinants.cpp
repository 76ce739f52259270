// Determinants and their logarithms, computed from the matrix's structure or from factors that are needed anyway.
#include "bitale/ops/from_attributes.hpp"
#include "ops/analysis/lengths.hpp"
#include "rules/matrices.hpp"

namespace bitale::rewriting {

namespace {

const Variable& matrix_of(const Apply& node) { return node.input(0); }
Axes over_last(const Variable& v) { return Axes{{v.ndim() - 1}}; }

std::optional<Variables> determinant_of_triangle(FunctionGraph& graph, const Apply& node) {
  const Variable& a = matrix_of(node);
  if (!structure_of(graph, a).is_triangular()) return std::nullopt;
  return determinant_of_numbers(node, diagonal_of(a));
}

std::optional<Variables> determinant_of_product(FunctionGraph& graph, const Apply& node) {
  const Variable& a = matrix_of(node);
  if (!is_product(a)) return std::nullopt;
  const Variable left = a.owner().input(0), right = a.owner().input(1);
  if (left.ndim() < 2 || right.ndim() < 2 || (!is_square(graph, left) && !is_square(graph, right)))
    return std::nullopt;  // if one is square, so is the other, since their product is
  if (!is_logarithmic(node)) return fitted(node, {det(left) * det(right)});
  const auto first = slogdet(left), second = slogdet(right);
  return fitted(node, {first.sign * second.sign, first.logabsdet + second.logabsdet});
}

std::optional<Variables> determinant_of_transposed(FunctionGraph&, const Apply& node) {
  const auto a = transposed_matrix(matrix_of(node));
  if (!a) return std::nullopt;
  if (!is_logarithmic(node)) return fitted(node, {det(*a)});
  const auto [sign, logarithm] = slogdet(*a);
  return fitted(node, {sign, logarithm});
}

std::optional<Variables> determinant_of_inverse(FunctionGraph& graph, const Apply& node) {
  const auto a = as_inverse(graph, matrix_of(node));
  if (!a) return std::nullopt;
  if (!is_logarithmic(node)) return fitted(node, {reciprocal(det(*a))});
  const auto [sign, logarithm] = slogdet(*a);
  return fitted(node, {sign, neg(logarithm)});
}

// Uses the Cholesky factor, which a system with the same matrix also needs.
std::optional<Variables> determinant_of_definite(FunctionGraph& graph, const Apply& node) {
  const Variable& a = matrix_of(node);
  if (structure_of(graph, a).is(Fact::Diagonal) || !is_definite(graph, a)) return std::nullopt;
  const Variable d = diagonal_of(lower_factor(graph, a, OnError::Raise));
  if (!is_logarithmic(node)) return fitted(node, {sqr(prod(d, over_last(d)))});
  const Variable logarithm = constant_like(2, d.dtype()) * sum(log(d), over_last(d));
  return fitted(node, {switch_(isnan(logarithm), logarithm, constant_like(1, d.dtype())), logarithm});
}

// ---- logarithms -----------------------------------------------------------------------------------------------------

// log|det A| and log det A do not overflow as det A does.
std::optional<Variables> logarithm_of_determinant(FunctionGraph&, const Apply& node) {
  const Variable& x = node.input(0);
  if (is_matrix_op(x, "Det")) {  // nan where the determinant is negative
    const auto [sign, logarithm] = slogdet(x.owner().input(0));
    const Variable nan = constant_like(std::numeric_limits<double>::quiet_NaN(), logarithm.dtype());
    return one(fit(switch_(lt(sign, 0), nan, logarithm), node.output()));
  }
  if (!is_elemwise(x, "abs") || !is_matrix_op(x.owner().input(0), "Det")) return std::nullopt;
  return one(fit(slogdet(x.owner().input(0).owner().input(0)).logabsdet, node.output()));
}

std::optional<Variables> sign_of_determinant(FunctionGraph& graph, const Apply& node) {
  const Variable& x = node.input(0);
  if (!is_matrix_op(x, "Det")) return std::nullopt;
  // only if the logarithm is needed, too: alone, the sign is as cheap from the determinant
  for (auto& client : graph.clients(x.owner().input(0)))
    if (client.node && is_matrix_op(Apply::of(client.node).output(0), "SLogDet"))
      return one(fit(slogdet(x.owner().input(0)).sign, node.output()));
  return std::nullopt;
}

// ---- declarations ---------------------------------------------------------------------------------------------------

// Adds samples of the determinant and of its sign and logarithm.
void declare(Rule& rule, const std::function<Variable()>& matrix) {
  rule.sample([=] { return det(matrix()); }).sample([=] { return slogdet(matrix()).logabsdet; }).sample([=] {
    return slogdet(matrix()).sign;
  });
}
Variable sample_square() { return sample_regular(sample_leaf(DType::Float64, {3, 3})); }

void declare_determinants(Rules& rules) {
  const std::vector<std::string> determinants{"Det", "SLogDet"};
  Rule& triangle =
      matrix_rule(rules, "determinant_of_triangle", determinants, determinant_of_triangle)
          .doc("Rewrites the determinant of a triangular or diagonal matrix as the product of its diagonal.")
          .tags(canonicalize, stabilize, structural, "det_of_triangular", "det_of_factorized_matrix")
          .differs_at(not_finite);
  declare(triangle, [] { return sample_lower(sample_matrix()); });
  declare(triangle, [] { return triu(sample_batch() - 0.3); });
  declare(triangle, [] { return diag(sample_vector()); });
  Rule& product =
      matrix_rule(rules, "determinant_of_product", determinants, determinant_of_product)
          .doc("Rewrites the determinant of a product of square matrices as the product of their determinants.")
          .tags(canonicalize, structural)
          .differs_at(not_finite);
  declare(product, [] { return dot(sample_square(), sample_lower(sample_leaf(DType::Float64, {3, 3}))); });
  declare(product, [] {
    const Variable l = sample_lower(sample_matrix());
    return dot(l, transpose(l));
  });
  Rule& transposed = matrix_rule(rules, "determinant_of_transposed", determinants, determinant_of_transposed)
                         .doc("Rewrites the determinant of a transposed matrix as the determinant of the matrix.")
                         .tags(canonicalize, structural)
                         .differs_at(not_finite);
  declare(transposed, [] { return transpose(sample_regular(sample_matrix())); });
  Rule& inverse = matrix_rule(rules, "determinant_of_inverse", determinants, determinant_of_inverse)
                      .doc(
                          "Rewrites the determinant of an inverse as the reciprocal of the determinant. A singular "
                          "matrix then raises no error.")
                      .tags(canonicalize, stabilize, structural, "det_of_inv")
                      .wider_domain()
                      .differs_at(not_finite);
  declare(inverse, [] { return inv(sample_regular(sample_matrix())); });
  Rule& definite = matrix_rule(rules, "determinant_of_definite", determinants, determinant_of_definite)
                       .doc(
                           "Computes the determinant of a positive definite matrix from its Cholesky factor. A matrix "
                           "wrongly assumed to be positive definite raises an error.")
                       .tags(specialize, structural, "det_of_matrix_factorized_elsewhere")
                       .differs_at(not_finite);
  declare(definite, [] { return sample_definite(sample_matrix()); });
  rules.function("logarithm_of_determinant", Root::scalar({"log"}), logarithm_of_determinant)
      .doc(
          "Computes the logarithm of a determinant, or of its absolute value, without the determinant, which overflows "
          "for large matrices.")
      .tags(canonicalize, stabilize, specialize, "slogdet_specialization")
      .with_input(Root::names({"Det", "Blockwise", "abs"}))
      .wider_domain()
      .differs_at(not_finite)
      .sample([] { return log(det(sample_definite(sample_matrix()))); })
      .sample([] { return log(abs(det(sample_regular(sample_matrix())))); })
      .sample([] { return log(abs(det(sample_regular(sample_batch())))); });
  rules.function("sign_of_determinant", Root::scalar({"sign"}), sign_of_determinant)
      .doc("Computes the sign of a determinant together with its logarithm, if the logarithm is in the graph.")
      .tags(specialize, structural)
      .with_input(Root::names({"Det", "Blockwise"}))
      .differs_at(not_finite)
      .sample([] {
        const Variable a = sample_regular(sample_matrix());
        return sign(det(a)) * slogdet(a).logabsdet;
      });
}

const RegisterRules register_determinants("matrix determinants", declare_determinants);

}  // namespace

}  // namespace bitale::rewriting
