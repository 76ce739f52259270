// Constant folding: a node whose inputs are all constants is evaluated once, by the reference implementation, unless
// the result would be a large array that did not exist before.
#include <algorithm>
#include <limits>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "graph/evaluate.hpp"
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

std::optional<Variables> fold(FunctionGraph&, const Apply& node) {
  std::int64_t given = 0;
  for (auto& input : node.inputs()) {
    const Array* value = input.constant();
    if (!value) return std::nullopt;
    given += value->size();
  }
  const Variables outputs = node.outputs();
  auto is_small = [&](const Variable& v) {
    return as_tensor(v.type()) && known_size(v) <= std::max(given, largest_new_constant);
  };
  if (!std::all_of(outputs.begin(), outputs.end(), is_small) || !node.op().may_fold(node)) return std::nullopt;
  std::vector<Array> in, out(outputs.size());
  for (auto& input : node.inputs()) in.push_back(*input.constant());
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
