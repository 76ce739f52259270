// Products of matrices with known structure, and reads of parts of products.
#include <algorithm>

#include "ops/analysis/lengths.hpp"
#include "ops/analysis/range.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "rules/matrices.hpp"
#include "rules/signed_terms.hpp"

namespace bitale::rewriting {

namespace {

const Root products = Root::op({"Dot", "BatchedDot"});

// Q Q^T, and P A where P is the identity.
std::optional<Variables> product_of_orthogonal(FunctionGraph& graph, const Apply& node) {
  const Variable &x = node.input(0), &y = node.input(1);
  if (x.ndim() >= 2 && structure_of(graph, x).is_identity()) return one(fit(y, node.output()));
  if (y.ndim() >= 2 && structure_of(graph, y).is_identity()) return one(fit(x, node.output()));
  if (x.ndim() < 2 || y.ndim() < 2 || !are_transposes(x, y) || !structure_of(graph, x).is(Fact::Orthogonal))
    return std::nullopt;
  // nan where x is
  const Variable unit = eye(length_of(x, x.ndim() - 1), {}, 0, x.dtype());
  return one(fit(unit + x * constant_like(0, x.dtype()), node.output()));
}

std::optional<Variables> product_with_diagonal(FunctionGraph& graph, const Apply& node) {
  const Variable &x = node.input(0), &y = node.input(1);
  if (x.ndim() >= 2 && structure_of(graph, x).is(Fact::Diagonal)) {
    const Variable d = diagonal_of(x);
    return one(fit(y.ndim() == 1 ? d * y : expand_dims(d, d.ndim()) * y, node.output()));
  }
  if (y.ndim() < 2 || !structure_of(graph, y).is(Fact::Diagonal)) return std::nullopt;
  const Variable d = diagonal_of(y);
  return one(fit(x.ndim() == 1 ? x * d : x * expand_dims(d, d.ndim() - 1), node.output()));
}

std::optional<Variables> transpose_of_symmetric(FunctionGraph& graph, const Apply& node) {
  const auto x = transposed_matrix(node.output());
  return x && structure_of(graph, *x).is(Fact::Symmetric) ? one(fit(*x, node.output())) : std::nullopt;
}

// Whether only one client reads the variable's elements; others may read its lengths.
bool is_read_once(const FunctionGraph& graph, const Variable& v) {
  const auto clients = graph.clients(v);
  return std::count_if(clients.begin(), clients.end(),
                       [](const Client& client) { return !client.node || client.node->op->name() != "Shape_i"; }) == 1;
}

// The diagonal of x y is the sum of x o y^T along the rows.
std::optional<Variables> diagonal_of_product(FunctionGraph& graph, const Apply& node) {
  const Variable& product = node.input(0);
  const int rank = product.ndim();
  const auto* op = op_as<AdvancedSubtensor>(node.output());
  if (!is_product(product) || rank < 2 || op->axes != std::vector<int>{rank - 2, rank - 1}) return std::nullopt;
  const Variable &rows = node.input(1), &columns = node.input(2);
  if (!rows.same_as(columns) || rows.ndim() != 1 || !is_read_once(graph, product)) return std::nullopt;
  const Variable x = product.owner().input(0), y = product.owner().input(1);
  if (x.ndim() != rank || y.ndim() != rank || !(range_of(rows).low >= 0)) return std::nullopt;
  const Axes along{{rank - 1}};
  const Variable out = is_square(graph, product)
                           ? take(sum(x * matrix_transpose(y), along), rows, rank - 2)
                           : sum(take(x, rows, rank - 2) * matrix_transpose(take(y, rows, rank - 1)), along);
  return one(fit(out, node.output()));
}

// The terms of a sum of which nothing else reads a part; those of a longer sum are not looked for.
std::vector<SignedTerm> terms_read_once(const FunctionGraph& graph, const Variable& sum) {
  constexpr std::size_t limit = 16;
  const auto nested = [&](const Variable& v) {
    const bool is_part = is_signed_sum(v) && v.dtype() == sum.dtype() && v.ndim() == sum.ndim() &&
                         (v.same_as(sum) || is_read_once(graph, v));
    return is_part ? v : Variable();
  };
  return signed_terms(sum, nested, limit);
}

// The product of the common factor and the sum, or difference, of the other factors of two products.
std::optional<Variable> merged_products(const Variable& a, const Variable& b, bool is_difference) {
  const Apply first = a.owner(), second = b.owner();
  for (const std::size_t common : {0, 1}) {
    const std::size_t other = 1 - common;
    const Variable &x = first.input(int(other)), &y = second.input(int(other));
    if (!first.input(int(common)).same_as(second.input(int(common))) || x.dtype() != y.dtype() || x.ndim() != y.ndim())
      continue;
    Variables factors{first.input(int(common)), first.input(int(common))};
    factors[other] = is_difference ? sub(x, y) : add(x, y);
    return first.op()(factors);
  }
  return std::nullopt;
}

// A x + A y is A (x + y), and x B + y B is (x + y) B: one product instead of two.
std::optional<Variables> products_with_common_factor(FunctionGraph& graph, const Apply& node) {
  const Variable output = node.output();
  if (!is_float(output.dtype())) return std::nullopt;
  std::vector<SignedTerm> terms = terms_read_once(graph, output);
  const auto can_merge = [&](const SignedTerm& term) {
    return is_product(term.value) && term.value.dtype() == output.dtype() && term.value.ndim() == output.ndim() &&
           is_read_once(graph, term.value);
  };
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!can_merge(terms[i])) continue;
    for (std::size_t k = i + 1; k < terms.size(); ++k) {
      if (!can_merge(terms[k]) || terms[k].value.owner().op().name() != terms[i].value.owner().op().name()) continue;
      const bool is_difference = terms[i].is_negative != terms[k].is_negative;
      const auto merged = merged_products(terms[i].value, terms[k].value, is_difference);
      if (!merged) continue;
      terms[i].value = *merged;
      terms.erase(terms.begin() + std::ptrdiff_t(k));
      Variable out = terms[0].is_negative ? neg(terms[0].value) : terms[0].value;
      for (auto& [value, is_negative] : std::span(terms).subspan(1))
        out = is_negative ? sub(out, value) : add(out, value);
      return one(fit(out, output));
    }
  }
  return std::nullopt;
}

void declare_products(Rules& rules) {
  rules.function("product_of_orthogonal", products, product_of_orthogonal)
      .doc("Rewrites Q @ Q.T for an orthogonal Q as the identity, and a product with the identity as the other factor.")
      .tags(canonicalize, stabilize, structural, "orthogonal_dot_transpose_to_eye")
      .differs_at(not_finite)
      .sample([] {
        const Variable q = qr(sample_regular(sample_matrix()))[0];
        return dot(q, transpose(q));
      })
      .sample([] {
        const Variable q = qr(sample_regular(sample_batch()))[0];
        return matmul(matrix_transpose(q), q);
      })
      .sample([] {
        const Variable x = sample_leaf(DType::Float64, {3, 3});
        return dot(eye(Operand(3), {}, 0, DType::Float64), x);
      });
  rules.function("product_with_diagonal", products, product_with_diagonal)
      .doc("Rewrites a product with a diagonal matrix as a scaling of the rows or columns of the other factor.")
      .tags(canonicalize, stabilize, structural, "dot_diag_to_elemwise")
      .differs_at(not_finite)
      .sample([] { return dot(diag(sample_vector()), sample_matrix()); })
      .sample([] { return dot(sample_matrix(), diag(sample_vector())); })
      .sample([] { return dot(diag(sample_vector()), sample_vector()); })
      .sample([] { return dot(sample_vector(), diag(sample_vector())); });
  rules.function("products_with_common_factor", Root::scalar({"add", "sub"}), products_with_common_factor)
      .doc("Rewrites A @ x + A @ y as A @ (x + y), and x @ B + y @ B as (x + y) @ B, also among further terms.")
      .tags(specialize)
      .differs_at(not_finite)
      .sample([] {
        const Variable a = sample_matrix();
        return dot(a, sample_vector()) + dot(a, sample_vector());
      })
      .sample([] {
        const Variable b = sample_matrix();
        return dot(sample_vector(), b) - dot(sample_vector(), b);
      })
      .sample([] {
        const Variable a = sample_matrix();
        return sample_vector() - dot(a, sample_vector()) - (dot(a, sample_vector()) - sample_vector());
      })
      .sample([] {
        const Variable b = sample_batch();
        return matmul(sample_batch(), b) - (matmul(sample_batch(), b) + sample_batch());
      });
  rules.function("transpose_of_symmetric", Root::op({"DimShuffle"}), transpose_of_symmetric)
      .doc("Removes the transpose of a symmetric matrix.")
      .tags(canonicalize, stabilize, specialize, structural, "useless_symmetric_transpose")
      .differs_at(not_finite)
      .sample([] { return transpose(sample_definite(sample_matrix())); })
      .sample([] { return exp(matrix_transpose(sample_definite(sample_batch()))); });
  rules.function("diagonal_of_product", Root::op({"AdvancedSubtensor"}), diagonal_of_product)
      .doc("Computes the diagonal, and so the trace, of a matrix product without the product.")
      .tags(canonicalize, specialize, structural)
      .with_input(products)
      .differs_at(not_finite)
      .sample([] {
        const Variable x = sample_matrix();
        return trace(dot(x, transpose(x)));
      })
      .sample([] {
        return trace(dot(sample_leaf(DType::Float64, {3, any_length}), sample_leaf(DType::Float64, {any_length, 2})));
      })
      .sample([] {
        return diagonal(matmul(sample_leaf(DType::Float64, {2, 3, 2}), sample_leaf(DType::Float64, {2, 2, 3})), 0, 1,
                        2);
      });
}

const RegisterRules register_products("matrix products", declare_products);

}  // namespace

}  // namespace bitale::rewriting
