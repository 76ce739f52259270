// Constant folding: a node whose inputs are all constants is evaluated once, by the reference implementation, unless
// the result would be a large array that did not exist before.
#include <algorithm>
#include <limits>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "graph/evaluate.hpp"
#include "ops/linalg/dot.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// A result may have up to this many elements, even if the inputs have fewer.
constexpr std::int64_t largest_new_constant = 4096;
// The number of elements by the static shape, at most `largest`; 0 if a length is unknown.
std::int64_t known_size(const Variable& v) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  std::int64_t size = 1;
  for (std::int64_t length : v.static_shape()) {
    if (length == unknown_length) return 0;  // unless may_fold refuses, evaluation finds out
    if (length != 0 && size > largest / length) return largest;
    size *= length;
  }
  return size;
}

// The constant matrix of which the variable is the transpose.
const Array* transposed_constant(const Variable& v) {
  const auto* shuffle = op_as<DimShuffle>(v);
  return shuffle && shuffle->new_order == std::vector<int>{1, 0} ? v.owner().input(0).constant() : nullptr;
}

// Bytes of a constant matrix whose transpose is not copied: with less, both are in the second-level cache, and
// libraries take longer for transposed factors (performance.md, products with a constant and its transpose: 30 November
// 2026).
constexpr std::size_t large_factor = 256 << 10;

// Whether only products with computed vectors read this transpose of a large constant matrix. They read it from the
// memory of the matrix: a copy would take as much memory, and as much of the caches, again. Loops over few long rows
// gain more from a copy.
bool is_factor(const FunctionGraph& graph, const Apply& node) {
  const Array* matrix = transposed_constant(node.output(0));
  if (!matrix || !uses_blas(matrix->dtype())) return false;
  if (std::size_t(matrix->size()) * itemsize(matrix->dtype()) < large_factor) return false;
  const std::int64_t rows = matrix->shape(0), columns = matrix->shape(1);
  if (are_few_long_rows(rows, columns) || are_few_long_rows(columns, rows)) return false;
  return std::ranges::all_of(graph.clients(node.output(0)), [](const Client& each) {
    if (!each.node || !op_as<Dot>(Apply::of(each.node).output(0))) return false;
    const Variable& other = Apply::of(each.node).input(1 - each.index);
    return other.ndim() == 1 && !other.is_constant();
  });
}

std::optional<Variables> fold(FunctionGraph& graph, const Apply& node) {
  const bool is_product = op_as<Dot>(node.output(0)) != nullptr;
  for (auto& input : node.inputs())
    if (!input.is_constant() && !(is_product && transposed_constant(input))) return std::nullopt;
  std::int64_t given = 0;
  std::vector<Array> in;
  for (auto& input : node.inputs()) {
    in.push_back(input.is_constant() ? *input.constant() : transposed_constant(input)->transpose().contiguous());
    given += in.back().size();
  }
  if (is_factor(graph, node)) return std::nullopt;
  const Variables outputs = node.outputs();
  auto is_small = [&](const Variable& v) {
    return as_tensor(v.type()) && known_size(v) <= std::max(given, largest_new_constant);
  };
  if (!std::all_of(outputs.begin(), outputs.end(), is_small) || !node.op().may_fold(node)) return std::nullopt;
  std::vector<Array> out(outputs.size());
  copy_destroyed(node, in);
  try {
    evaluate_node(node, in, out);
  } catch (const std::exception& error) {
    if (is_interruption(error)) throw;
    return std::nullopt;  // the node will fail at run time and report its location
  }
  Variables folded;
  for (auto& value : out) folded.push_back(constant(value));
  return folded;
}

void declare_constant_folding(Rules& rules) {
  rules.function("constant_folding", Root::any(), fold)
      .with_input(Root::number())
      .doc("Replaces a node whose inputs are all constants by its value.")
      .tags(useless, canonicalize, stabilize, structural, specialize, uncanonicalize, "topo_constant_folding")
      .priority(100)
      .sample([] { return sample_vector() * exp(constant(Array(2.0))); })
      .sample([] {
        return sample_vector() + sum(constant(Array{1.0, 2.0}));
      });
}

const RegisterRules register_constant_folding("constant_folding", declare_constant_folding);

}  // namespace

}  // namespace bitale::rewriting
