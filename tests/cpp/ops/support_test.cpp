// Every op of the registry that states a support: where its output has none, it is zero whenever its inputs are zero
// outside theirs.
#include "graph/support.hpp"

#include <doctest/doctest.h>

#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/evaluate.hpp"
#include "ops/analysis/support_masks.hpp"

using namespace bitale;

namespace {

// Truth values in a pattern that differs for each seed.
Array pattern(const Dims& shape, std::int64_t seed) {
  Array out = Array::empty(DType::Bool, shape);
  for (std::int64_t k = 0; k < out.size(); ++k) out.mutable_data_as<bool>()[k] = (k * (seed + 3) + seed) % 5 < 2;
  return out;
}

void check_sample(const Sample& sample, const StatesSupport& states, int output, int& masked) {
  const Apply& node = sample.node;
  std::vector<Array> values = evaluate(node.inputs(), graph_inputs(node.inputs()), sample.values);
  SupportScope scope;
  Variables inputs = node.inputs(), leaves;
  std::vector<Array> given;
  for (int i : states.support_carriers(node, output)) {
    const auto at = std::size_t(i);
    if (!is_float(node.inputs()[at].dtype())) return;
    const Array truths = pattern(values[at].shape(), i + output);
    const Variable leaf(node.inputs()[at].type()), mask(tensor_type(DType::Bool, node.inputs()[at].static_shape()));
    scope.state(leaf, {Support::Kind::masked, mask});
    inputs[at] = leaf;
    leaves.insert(leaves.end(), {leaf, mask});
    given.insert(given.end(),
                 {evaluate(switch_(constant(truths), constant(values[at]), 0), {}, {}).astype(leaf.dtype()), truths});
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].same_as(node.inputs()[i]) && as_tensor(inputs[i].type())) inputs[i] = constant(values[i]);
  const Variable result = node.op().make_node(inputs).output(output);
  const Support support = support_of(result);
  if (!support.is_masked()) return;
  ++masked;
  const auto found = evaluate(Variables{result, full_mask(support, result)}, leaves, given);
  const Array outside = found[0].astype(DType::Float64).contiguous(), mask = found[1].contiguous();
  REQUIRE(outside.shape() == mask.shape());
  for (std::int64_t k = 0; k < mask.size(); ++k)
    if (!mask.data_as<bool>()[k]) CHECK(outside.data_as<double>()[k] == 0);
}

}  // namespace

TEST_CASE("outside the stated support, every op's output is zero") {
  int masked = 0;
  for (auto& entry : op_registry())
    for (auto& sample : entry.samples()) {
      const auto* states = dynamic_cast<const StatesSupport*>(&sample.node.op());
      if (!states) continue;
      const std::string description = cat(entry.name, " ", sample.node.op().label(), " ", sample.note);
      INFO(description);
      for (std::size_t k = 0; k < sample.node.output_count(); ++k) check_sample(sample, *states, int(k), masked);
    }
  CHECK(masked > 30);
}

TEST_CASE("the support of a long chain is found without recursion, and kept within a scope") {
  const Variable x = vector("x"), mask = vector("mask", DType::Bool);
  Variable y = switch_(mask, x, 0);
  for (int k = 0; k < 200000; ++k) y = -y;
  const SupportScope scope;
  CHECK(support_of(y).is_masked());
  CHECK(support_of(y).mask.same_as(mask));
  CHECK(support_of(x).is_everywhere());
  CHECK(support_of(constant(Array::zeros(DType::Float64, {3}))).is_nowhere());
}

TEST_CASE("masks that complement each other cover everything") {
  const Variable x = vector("x"), y = vector("y"), mask = vector("mask", DType::Bool);
  CHECK(support_of(switch_(mask, x, 0) + switch_(mask, 0, y)).is_everywhere());
  CHECK(support_of(switch_(mask, x, 0) + switch_(mask, y, 0)).mask.same_as(mask));
  CHECK(support_of(switch_(mask, x, 0) + y).is_everywhere());
  const Slice from_one{Operand(1), {}, {}}, to_last{{}, Operand(-1), {}};
  const Variable ends = inc_subtensor(zeros_like(x), {IndexItem(from_one)}, y),
                 begins = inc_subtensor(zeros_like(x), {IndexItem(to_last)}, y);
  CHECK(support_of(ends).is_masked());
  CHECK(support_of(ends + begins).mask.static_shape() == Dims{1});  // everything, or nothing of a single element
  const Variable known = tensor("known", DType::Float64, {3});
  CHECK(support_of(inc_subtensor(zeros_like(known), {IndexItem(from_one)}, 1.0) +
                   inc_subtensor(zeros_like(known), {IndexItem(to_last)}, 1.0))
            .is_everywhere());
  CHECK(support_of(switch_(mask, switch_(mask, x, 0), 0)).mask.same_as(mask));
}
