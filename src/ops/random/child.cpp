// RandomChild: the child with a given number of a stream's state, which is a stream of its own. Children are not part
// of what is drawn from the state itself. Any number of children can be created from one state; a split continues with
// the next state.
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/random.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/state_reader.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/random/state.hpp"
#include "ops/random/words.hpp"
#include "ops/sample_values.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

namespace {

class RandomChild final : public Op, public StateReader, public EmitsTensors {
 public:
  RandomChild() = default;
  static constexpr auto fields = attribute_list();
  std::string_view name() const override { return "RandomChild"; }
  Attributes attributes() const override { return {}; }

  // Inputs: a state, and the child's number. Outputs: the child, and the state after the draw that provides children.
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 2);
    require_counter_based(inputs[0], "RandomChild");
    const Variable number = as_length(inputs[1], "RandomChild");
    return Apply(OpRef(this), {inputs[0], number}, {inputs[0].type(), inputs[0].type()});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape>) const override { return {{}, {}}; }

  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array state = in[0].contiguous();
    const auto* words = static_cast<const std::uint64_t*>(state.data());
    const std::int64_t number = in[1].int_item();
    if (number < 0) throw ValueError(cat("RandomChild: a negative number of a child, ", number));
    out[0] = Array(std::vector<std::uint64_t>{child_key(std::span(words, 2), std::uint64_t(number)), 0});
    out[1] = Array(std::vector<std::uint64_t>{words[0], words[1] + 1});
  }

  bool emit(Lowering& to, const Apply& node) const override {
    program::ExprPool& pool = to.pool();
    if (!is_never_negative(node.input(1))) to.require(to.in(1) >= 0, "RandomChild: a negative number of a child");
    const auto word = [&to, &pool](std::int64_t i) { return to.in(0, std::vector<Expr>{pool.integer(i)}); };
    const auto number = [&pool](std::uint64_t value) { return pool.integer(std::int64_t(value), DType::UInt64); };
    to.element(0, [=, &to](Index at) {
      const Expr child = program::cast(to.in(1), DType::UInt64) + number(threefry::child_mark);
      return select(equal(at[0], 0), random_block(random_block(word(0), word(1)), child), number(0));
    });
    to.element(1, [=](Index at) { return select(equal(at[0], 0), word(0), word(1) + number(1)); });
    return true;
  }

  void emit_tensors(TensorLowering& to, const Apply&) const override {
    TensorBuilder& builder = to.builder();
    const TensorValue state = to.in(0), number = to.in(1), index = builder.iota(DType::Int64, {2}, 0);
    const auto word = [&](std::int64_t k) { return builder.reshape(builder.slice(state, {k}, {k + 1}, {1}), {}); };
    const auto constant = [](const Expr& like, std::uint64_t value) {
      return like.pool().integer(std::int64_t(value), DType::UInt64);
    };
    to.require(builder.map(DType::Bool, {number}, [](std::span<const Expr> in) { return in[0] >= 0; }),
               "RandomChild: a negative number of a child");
    to.out(0, builder.map(DType::UInt64, {index, word(0), word(1), number}, [&](std::span<const Expr> in) {
      const Expr child = program::cast(in[3], DType::UInt64) + constant(in[1], threefry::child_mark);
      return select(equal(in[0], 0), random_block(random_block(in[1], in[2]), child), constant(in[1], 0));
    }));
    to.out(1, builder.map(DType::UInt64, {index, state}, [&](std::span<const Expr> in) {
      return select(equal(in[0], 0), in[1], in[1] + constant(in[1], 1));
    }));
  }

  Variables pullback(const Apply& node, std::span<const Variable>) const override { return no_gradients(node); }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return {{false, false}, {false, false}};
  }
  bool may_fold(const Apply&) const override { return false; }
  bool is_part_of_draw() const override { return false; }
};

std::vector<Sample> random_child_samples() {
  const Variable state = random::rng("rng", BitGenerator::Threefry), number = sample_input(DType::Int64, {});
  const Array words(std::vector<std::uint64_t>{0x0123456789abcdef, 5});
  return {{make_ref<RandomChild>()->make_node({{state, number}}), {words, Array(std::int64_t(3))}, 0, false}};
}

BITALE_REGISTER_OP(RandomChild,
                   "A child of a counter-based stream, which is a stream of its own; and the stream after it.",
                   random_child_samples);

}  // namespace

namespace random {

Variable fold(const Operand& rng, const Operand& number) {
  const LocationScope here(rng.where);
  return make_ref<RandomChild>()->make_node({{rng.variable, number.variable}}).output(0);
}

Split split(const Operand& rng, int count) {
  const LocationScope here(rng.where);
  if (count < 0) throw ValueError(cat("split: a negative number of children, ", count));
  Split out;
  for (int i = 0; i < count; ++i) out.children.push_back(fold(rng, std::int64_t(i)));
  out.next_rng = make_ref<RandomChild>()->make_node({{rng.variable, int64_constant(0)}}).output(1);
  return out;
}

}  // namespace random

}  // namespace bitale
