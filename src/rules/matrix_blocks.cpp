// Kronecker products and block-diagonal matrices: systems, determinants, inverses and factors of them are computed from
// those of their parts. Both are recognized as expressions over products, shapes and joins.
#include "rules/matrix_blocks.hpp"
#include "bitale/ops/contraction.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/analysis/range.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "ops/shapes/join.hpp"
#include "ops/shapes/reshape.hpp"

namespace bitale::rewriting {

namespace {

// ---- what they look like --------------------------------------------------------------------------------------------

// x without its dimensions `axes` of length 1; if a view inserted them, the variable below the view.
Variable without_axes(const Variable& x, const std::vector<int>& axes) {
  const auto* op = op_as<DimShuffle>(x);
  if (op && op->keeps_order() && op->dropped().empty() && op->inserted() == axes) return x.owner().input(0);
  return squeeze(x, Axes{axes});
}

}  // namespace

std::optional<Kronecker> as_kronecker(FunctionGraph& graph, const Variable& v) {
  if (v.ndim() != 2 || !op_as<Reshape>(v)) return std::nullopt;
  const Variable product = v.owner().input(0);
  if (product.ndim() != 4 || !is_elemwise(product, "mul")) return std::nullopt;
  const auto is_new = [](const Variable& x, int axis) { return x.tensor().broadcasts(axis); };
  const auto [first, second] = std::pair(product.owner().input(0), product.owner().input(1));
  for (const auto& [x, y] : {std::pair(first, second), std::pair(second, first)}) {
    if (!is_new(x, 1) || !is_new(x, 3) || !is_new(y, 0) || !is_new(y, 2)) continue;
    if (!is_same_length(length_of(v, 0), lengths::mul(length_of(x, 0), length_of(y, 1)))) return std::nullopt;
    const Kronecker out{without_axes(x, {1, 3}), without_axes(y, {0, 2})};
    if (!is_square(graph, out.left) || !is_square(graph, out.right)) return std::nullopt;
    return out;
  }
  return std::nullopt;
}

namespace {

bool is_zero(const Variable& v) { return range_of(v).is_always(0); }

}  // namespace

// A join of rows, each of which has exactly one nonzero part, diagonally below that of the row before.
std::optional<Variables> as_blocks(FunctionGraph& graph, const Variable& v) {
  const auto* rows = op_as<Join>(v);
  if (!rows || v.ndim() < 2 || rows->axis != v.ndim() - 2) return std::nullopt;
  const int last = v.ndim() - 1;
  Variables blocks;
  Variable before = int64_constant(0);
  for (auto& row : v.owner().inputs()) {
    const auto* parts = op_as<Join>(row);
    if (!parts || parts->axis != last) return std::nullopt;
    Variable block, left = int64_constant(0);
    for (auto& part : row.owner().inputs()) {
      if (is_zero(part)) {
        if (!block.defined()) left = lengths::add(left, length_of(part, last));
      } else if (block.defined()) {
        return std::nullopt;
      } else {
        block = part;
      }
    }
    if (!block.defined() || !is_square(graph, block) || !is_same_length(left, before)) return std::nullopt;
    before = lengths::add(before, length_of(block, last));
    blocks.push_back(block);
  }
  return blocks.size() > 1 ? std::optional(blocks) : std::nullopt;
}

namespace {

// ---- determinants ---------------------------------------------------------------------------------------------------

std::optional<Variables> determinant_of_kronecker(FunctionGraph& graph, const Apply& node) {
  const auto parts = as_kronecker(graph, node.input(0));
  if (!parts) return std::nullopt;
  const auto& [x, y] = *parts;
  const DType dtype = node.output(0).dtype();
  const Variable of_x = cast(length_of(y, 0), dtype), of_y = cast(length_of(x, 0), dtype);
  if (!is_logarithmic(node)) return fitted(node, {pow(det(x), of_x) * pow(det(y), of_y)});
  const auto first = slogdet(x), second = slogdet(y);
  return fitted(node,
                {pow(first.sign, of_x) * pow(second.sign, of_y), first.logabsdet * of_x + second.logabsdet * of_y});
}

std::optional<Variables> determinant_of_blocks(FunctionGraph& graph, const Apply& node) {
  const auto blocks = as_blocks(graph, node.input(0));
  if (!blocks) return std::nullopt;
  Variable first, second;
  for (auto& block : *blocks) {
    if (!is_logarithmic(node)) {
      first = first.defined() ? first * det(block) : det(block);
      continue;
    }
    const auto [sign, logarithm] = slogdet(block);
    first = first.defined() ? first * sign : sign;
    second = second.defined() ? second + logarithm : logarithm;
  }
  return second.defined() ? fitted(node, {first, second}) : fitted(node, {first});
}

// ---- systems --------------------------------------------------------------------------------------------------------

// (A kron B) x = b, where the elements of x are the rows of X: A X B^T = b.
std::optional<Variables> system_of_kronecker(FunctionGraph& graph, const Apply& node) {
  const auto system = as_system(node.output());
  if (!system) return std::nullopt;
  const auto parts = as_kronecker(graph, system->a);
  if (!parts || system->b.ndim() != system->b_ndim) return std::nullopt;
  const auto& [x, y] = *parts;
  const SolveOptions options{.transposed = system->trans, .b_ndim = 2, .on_error = system->on_error};
  if (system->b_ndim == 2 && structure_of(graph, system->b).is_identity()) {
    const auto inverse = [&](const Variable& of) {
      return solve(of, eye(length_of(of, 0), {}, 0, node.output().dtype()), options);
    };
    return one(fit(kron(inverse(x), inverse(y)), node.output()));
  }
  const Variable m = length_of(x, 0), n = length_of(y, 0);
  const Variable k = system->b_ndim == 1 ? int64_constant(1) : length_of(system->b, 1);
  const Variable half = solve(x, reshape(system->b, Operands{m, lengths::mul(n, k)}), options);
  const Variable turned = dimshuffle(reshape(half, Operands{m, n, k}), {1, 0, 2});
  const Variable whole = solve(y, reshape(turned, Operands{n, lengths::mul(m, k)}), options);
  const Variable back = dimshuffle(reshape(whole, Operands{n, m, k}), {1, 0, 2});
  const Variable rows = lengths::mul(m, n);
  return one(
      fit(system->b_ndim == 1 ? reshape(back, Operands{rows}) : reshape(back, Operands{rows, k}), node.output()));
}

std::optional<Variables> system_of_blocks(FunctionGraph& graph, const Apply& node) {
  const auto system = as_system(node.output());
  if (!system) return std::nullopt;
  const auto blocks = as_blocks(graph, system->a);
  const int batch = system->a.ndim() - 2;
  if (!blocks || system->b.ndim() != batch + system->b_ndim) return std::nullopt;
  Variables solutions;
  Variable before = int64_constant(0);
  const bool is_inverse = system->b_ndim == 2 && structure_of(graph, system->b).is_identity();
  for (auto& block : *blocks) {
    System part = *system;
    part.a = block;
    const Variable rows = length_of(block, batch), after = lengths::add(before, rows);
    std::vector<IndexItem> items(std::size_t(batch), IndexItem(Slice{}));
    items.push_back(IndexItem(Slice{.start = Operand(before), .stop = Operand(after), .step = {}}));
    part.b = is_inverse ? eye(rows, {}, 0, node.output().dtype()) : subtensor(system->b, items);
    solutions.push_back(solution(part));
    before = after;
  }
  return one(
      fit(is_inverse ? block_diag(Operands(solutions)) : concatenate(Operands(solutions), batch), node.output()));
}

// ---- products -------------------------------------------------------------------------------------------------------

std::optional<Variables> product_with_blocks(FunctionGraph& graph, const Apply& node) {
  const Variable &x = node.input(0), &y = node.input(1);
  const auto blocks = x.ndim() == 2 ? as_blocks(graph, x) : std::nullopt;
  if (!blocks) return std::nullopt;
  Variables parts;
  Variable before = int64_constant(0);
  for (auto& block : *blocks) {
    const Variable after = lengths::add(before, length_of(block, 0));
    const IndexItem rows[] = {Slice{.start = Operand(before), .stop = Operand(after), .step = {}}};
    parts.push_back(dot(block, subtensor(y, {rows[0]})));
    before = after;
  }
  return one(fit(concatenate(Operands(parts), 0), node.output()));
}

// ---- factors --------------------------------------------------------------------------------------------------------

std::optional<Variables> cholesky_of_blocks(FunctionGraph& graph, const Apply& node) {
  const auto factor = as_cholesky(node.output());
  if (!factor) return std::nullopt;
  const auto of = [&](const Variable& a) {
    return cholesky(a, {.lower = factor->lower, .on_error = factor->on_error});
  };
  if (const auto parts = as_kronecker(graph, factor->of)) {
    // The product is positive definite also if both parts are negative definite.
    const auto is_definite = [&](const Variable& a) { return structure_of(graph, a).is(Fact::PositiveDefinite); };
    if (factor->on_error == OnError::Nan || (!is_definite(parts->left) && !is_definite(parts->right)))
      return std::nullopt;
    return one(fit(kron(of(parts->left), of(parts->right)), node.output()));
  }
  const auto blocks = as_blocks(graph, factor->of);
  if (!blocks || factor->on_error == OnError::Nan) return std::nullopt;
  Variables factors;
  for (auto& block : *blocks) factors.push_back(of(block));
  return one(fit(block_diag(Operands(factors)), node.output()));
}

// ---- declarations ---------------------------------------------------------------------------------------------------

Variable sample_block() { return sample_regular(sample_leaf(DType::Float64, {2, 2})); }
Variable sample_definite_block() { return sample_definite(sample_leaf(DType::Float64, {2, 2})); }
Variable sample_kronecker() { return kron(sample_block(), sample_regular(sample_leaf(DType::Float64, {3, 3}))); }
Variable sample_blocks() {
  return block_diag(Operands{sample_block(), sample_regular(sample_leaf(DType::Float64, {3, 3})), sample_block()});
}
Variable sample_batch_of_blocks() {
  const Variable x = sample_regular(sample_leaf(DType::Float64, {2, 2, 2}));
  return block_diag(Operands{x, x});
}

void declare_blocks(Rules& rules) {
  const std::vector<std::string> determinants{"Det", "SLogDet"};
  matrix_rule(rules, "determinant_of_kronecker", determinants, determinant_of_kronecker)
      .doc("Rewrites the determinant of a Kronecker product as a product of powers of its factors' determinants.")
      .tags(canonicalize, structural, "det_of_kronecker")
      .depth(3)
      .differs_at(not_finite)
      .sample([] { return det(sample_kronecker()); })
      .sample([] { return slogdet(sample_kronecker()).logabsdet; })
      .sample([] { return slogdet(sample_kronecker()).sign; });
  matrix_rule(rules, "determinant_of_blocks", determinants, determinant_of_blocks)
      .doc("Rewrites the determinant of a block-diagonal matrix as the product of the determinants of its blocks.")
      .tags(canonicalize, structural, "det_of_blockdiag")
      .depth(3)
      .differs_at(not_finite)
      .sample([] { return det(sample_blocks()); })
      .sample([] { return slogdet(sample_blocks()).logabsdet; })
      .sample([] { return slogdet(sample_batch_of_blocks()).logabsdet; });
  matrix_rule(rules, "system_of_kronecker", {"Solve"}, system_of_kronecker)
      .doc(
          "Solves a system with a Kronecker product factor by factor, and rewrites its inverse as the Kronecker "
          "product of the inverses.")
      .tags(canonicalize, structural, "lift_linalg_of_expanded_matrices")
      .depth(3)
      .differs_at(not_finite)
      .sample([] { return solve(sample_kronecker(), sample_leaf(DType::Float64, {6})); })
      .sample([] {
        return solve(sample_kronecker(), sample_leaf(DType::Float64, {6, any_length}));
      })
      .sample([] {
        return solve(sample_kronecker(), sample_leaf(DType::Float64, {6, 2}), {.transposed = true});
      })
      .sample([] { return inv(sample_kronecker()); });
  matrix_rule(rules, "system_of_blocks", {"Solve"}, system_of_blocks)
      .doc("Solves a system with a block-diagonal matrix block by block.")
      .tags(canonicalize, structural, "block_diag_solve_to_block_diag_solves")
      .depth(3)
      .differs_at(not_finite)
      .sample([] { return solve(sample_blocks(), sample_leaf(DType::Float64, {7})); })
      .sample([] {
        return solve(sample_blocks(), sample_leaf(DType::Float64, {7, 2}), {.transposed = true});
      })
      .sample([] {
        return solve(sample_batch_of_blocks(), sample_leaf(DType::Float64, {2, 4, 3}), {.b_ndim = 2});
      })
      .sample([] { return inv(sample_blocks()); });
  rules.function("product_with_blocks", Root::op({"Dot"}), product_with_blocks)
      .doc("Computes a matrix product with a block-diagonal left factor block by block.")
      .tags(canonicalize, structural, "local_block_diag_dot_to_dot_block_diag")
      .depth(3)
      .differs_at(not_finite)
      .sample([] { return dot(sample_blocks(), sample_leaf(DType::Float64, {7})); })
      .sample([] {
        return dot(sample_blocks(), sample_leaf(DType::Float64, {7, any_length}));
      });
  matrix_rule(rules, "cholesky_of_blocks", {"Cholesky"}, cholesky_of_blocks)
      .doc(
          "Computes the Cholesky factor of a block-diagonal matrix, or of a Kronecker product with a factor known to "
          "be positive definite, from the Cholesky factors of its parts.")
      .tags(canonicalize, structural)
      .depth(3)
      .differs_at(not_finite)
      .sample([] { return cholesky(kron(sample_definite_block(), sample_definite_block())); })
      .sample([] {
        return cholesky(block_diag(Operands{sample_definite_block(), sample_definite_block()}), {.lower = false});
      });
}

const RegisterRules register_blocks("matrix blocks", declare_blocks);

}  // namespace

}  // namespace bitale::rewriting
