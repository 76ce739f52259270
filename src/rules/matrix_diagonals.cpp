// Kronecker products and block-diagonal matrices, beyond systems and determinants: their diagonals, products of
// diagonal matrices, pseudo-inverses, and nested blocks.
#include <algorithm>

#include "bitale/ops/contraction.hpp"
#include "bitale/ops/from_attributes.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/analysis/range.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "rules/matrix_blocks.hpp"

namespace bitale::rewriting {

namespace {

// A read x[..., indices, indices] of a matrix x that has no other reader; the indices count from the first row.
struct DiagonalRead {
  Variable of, indices;
};
std::optional<DiagonalRead> as_diagonal_read(const FunctionGraph& graph, const Apply& node) {
  const Variable& x = node.input(0);
  const auto* op = op_as<AdvancedSubtensor>(node.output());
  if (!op || x.ndim() < 2 || op->axes != std::vector<int>{x.ndim() - 2, x.ndim() - 1}) return std::nullopt;
  const Variable& indices = node.input(1);
  if (!indices.same_as(node.input(2)) || indices.ndim() != 1 || !(range_of(indices).low >= 0)) return std::nullopt;
  const auto clients = graph.clients(x);
  const auto readers = std::count_if(clients.begin(), clients.end(), [](const Client& client) {
    return !client.node || client.node->op->name() != "Shape_i";
  });
  return readers == 1 ? std::optional(DiagonalRead{x, indices}) : std::nullopt;
}

// All products of an element of x and an element of y, for vectors.
Variable all_products(const Variable& x, const Variable& y) {
  const Variable products = expand_dims(x, 1) * expand_dims(y, 0);
  return reshape(products, Operands{lengths::mul(length_of(x, 0), length_of(y, 0))});
}

std::optional<Variables> diagonal_of_kronecker(FunctionGraph& graph, const Apply& node) {
  const auto read = as_diagonal_read(graph, node);
  const auto parts = read ? as_kronecker(graph, read->of) : std::nullopt;
  if (!parts) return std::nullopt;
  return one(
      fit(take(all_products(diagonal_of(parts->left), diagonal_of(parts->right)), read->indices, 0), node.output()));
}

std::optional<Variables> diagonal_of_blocks(FunctionGraph& graph, const Apply& node) {
  const auto read = as_diagonal_read(graph, node);
  const auto blocks = read ? as_blocks(graph, read->of) : std::nullopt;
  if (!blocks) return std::nullopt;
  Variables diagonals;
  for (auto& block : *blocks) diagonals.push_back(diagonal_of(block));
  const int last = read->of.ndim() - 2;
  return one(fit(take(concatenate(Operands(diagonals), last), read->indices, last), node.output()));
}

std::optional<Variables> kronecker_of_diagonals(FunctionGraph& graph, const Apply& node) {
  const auto parts = as_kronecker(graph, node.output());
  if (!parts || !structure_of(graph, parts->left).is(Fact::Diagonal) ||
      !structure_of(graph, parts->right).is(Fact::Diagonal))
    return std::nullopt;
  const Variable d = all_products(diagonal_of(parts->left), diagonal_of(parts->right));
  const Variable unit = eye(length_of(d, 0), {}, 0, DType::Bool);
  return one(fit(switch_(unit, expand_dims(d, 1), constant_like(0, d.dtype())), node.output()));
}

// The blocks with nested block-diagonal matrices flattened.
Variables innermost_blocks(FunctionGraph& graph, const Variables& blocks) {
  Variables out;
  for (auto& block : blocks) {
    const auto within = as_blocks(graph, block);
    const Variables parts = within ? innermost_blocks(graph, *within) : Variables{block};
    out.insert(out.end(), parts.begin(), parts.end());
  }
  return out;
}

std::optional<Variables> blocks_of_blocks(FunctionGraph& graph, const Apply& node) {
  const auto blocks = as_blocks(graph, node.output());
  if (!blocks) return std::nullopt;
  const Variables parts = innermost_blocks(graph, *blocks);
  return parts.size() > blocks->size() ? one(fit(block_diag(Operands(parts)), node.output())) : std::nullopt;
}

std::optional<Variables> pseudo_inverse_of_parts(FunctionGraph& graph, const Apply& node) {
  const auto rcond = required_attribute<double>(core_op(node.output())->attributes(), "rcond");
  if (const auto parts = as_kronecker(graph, node.input(0)))
    return one(fit(kron(pinv(parts->left, rcond), pinv(parts->right, rcond)), node.output()));
  const auto blocks = as_blocks(graph, node.input(0));
  if (!blocks) return std::nullopt;
  Variables inverses;
  for (auto& block : *blocks) inverses.push_back(pinv(block, rcond));
  return one(fit(block_diag(Operands(inverses)), node.output()));
}

// ---- declarations ---------------------------------------------------------------------------------------------------

Variable sample_two() { return sample_leaf(DType::Float64, {2, 2}); }
Variable sample_three() { return sample_leaf(DType::Float64, {3, 3}); }
Variable sample_batch_of_two() { return sample_leaf(DType::Float64, {2, 2, 2}); }

void declare_diagonals(Rules& rules) {
  rules.function("diagonal_of_kronecker", Root::op({"AdvancedSubtensor"}), diagonal_of_kronecker)
      .doc("Computes the diagonal, and so the trace, of a Kronecker product from the diagonals of its factors.")
      .tags(canonicalize, structural, "diag_of_kronecker")
      .depth(4)
      .differs_at(not_finite)
      .sample([] { return diagonal(kron(sample_two(), sample_three())); })
      .sample([] { return trace(kron(sample_three(), sample_two())); });
  rules.function("diagonal_of_blocks", Root::op({"AdvancedSubtensor"}), diagonal_of_blocks)
      .doc("Computes the diagonal, and so the trace, of a block-diagonal matrix from the diagonals of its blocks.")
      .tags(canonicalize, structural, "diag_of_blockdiag")
      .depth(4)
      .differs_at(not_finite)
      .sample([] {
        return diagonal(block_diag(Operands{sample_two(), sample_three()}));
      })
      .sample([] {
        return trace(block_diag(Operands{sample_two(), sample_two()}));
      })
      .sample([] {
        return diagonal(block_diag(Operands{sample_batch_of_two(), sample_batch_of_two()}), 0, 1, 2);
      });
  rules.function("kronecker_of_diagonals", Root::op({"Reshape"}), kronecker_of_diagonals)
      .doc("Rewrites the Kronecker product of diagonal matrices as a diagonal matrix.")
      .tags(canonicalize, structural, "kron_of_diagonal_to_diagonal")
      .depth(3)
      .differs_at(not_finite)
      .sample([] { return kron(diag(sample_leaf(DType::Float64, {2})), diag(sample_leaf(DType::Float64, {3}))); });
  rules.function("blocks_of_blocks", Root::op({"Join"}), blocks_of_blocks)
      .doc("Flattens nested block-diagonal matrices.")
      .tags(canonicalize, structural, "fuse_blockdiagonal")
      .depth(3)
      .differs_at(not_finite)
      .sample([] {
        return block_diag(Operands{block_diag(Operands{sample_two(), sample_three()}), sample_two()});
      })
      .sample([] {
        return block_diag(Operands{sample_three(), block_diag(Operands{sample_two(), sample_two()})});
      });
  matrix_rule(rules, "pseudo_inverse_of_parts", {"MatrixPinv"}, pseudo_inverse_of_parts)
      .doc(
          "Computes the pseudo-inverse of a Kronecker product or of a block-diagonal matrix from those of its parts. "
          "The cutoff for small singular values is then relative to the largest one of each part.")
      .tags(canonicalize, structural, "lift_linalg_of_expanded_matrices")
      .depth(3)
      .differs_at(not_finite)
      .sample([] { return pinv(kron(sample_regular(sample_two()), sample_regular(sample_three()))); })
      .sample([] {
        return pinv(block_diag(Operands{sample_regular(sample_two()), sample_regular(sample_three())}));
      });
}

const RegisterRules register_diagonals("matrix diagonals", declare_diagonals);

}  // namespace

}  // namespace bitale::rewriting
