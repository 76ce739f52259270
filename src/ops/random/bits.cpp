#include "ops/random/bits.hpp"

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/state_reader.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/random/state.hpp"
#include "ops/random/words.hpp"
#include "ops/sample_values.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

namespace {

enum class BitsForm { bits, unit, open };

BitsForm form_named(std::string_view name) {
  if (name == "bits") return BitsForm::bits;
  if (name == "unit") return BitsForm::unit;
  if (name == "open") return BitsForm::open;
  throw ValueError(cat("RandomBits: unknown form `", name, "`, expected bits, unit or open"));
}

class RandomBits final : public Op, public StateReader, public EmitsTensors {
 public:
  RandomBits(std::string form, int word, int ndim)
      : form(std::move(form)), word(word), ndim(ndim), form_(form_named(this->form)) {
    if (ndim < 0) throw ValueError(cat("RandomBits: a negative number of dimensions, ", ndim));
    if (word < 0) throw ValueError(cat("RandomBits: negative word index ", word));
  }
  const std::string form;
  const int word, ndim;
  static constexpr auto fields = attribute_list(
      attribute("form", &RandomBits::form), attribute("word", &RandomBits::word), attribute("ndim", &RandomBits::ndim));

  std::string_view name() const override { return "RandomBits"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string label() const override { return cat("RandomBits{", form, ", ", word, "}"); }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, std::size_t(1 + ndim));
    require_counter_based(inputs[0], "RandomBits");
    Variables own{inputs[0]};
    for (auto& length : inputs.subspan(1)) own.push_back(as_length(length, "RandomBits"));
    const Dims shape = static_lengths(std::span(own).subspan(1));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (const auto known = known_integer(own[1 + axis]); known && *known < 0)
        throw ValueError(cat("RandomBits: negative length ", *known, " of dimension ", axis));
    const DType dtype = form_ == BitsForm::bits ? DType::UInt64 : DType::Float64;
    return Apply(OpRef(this), std::move(own), {inputs[0].type(), tensor_type(dtype, shape)});
  }

  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape>) const override {
    return {{}, Shape(node.inputs().begin() + 1, node.inputs().end())};
  }

  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    Dims shape;
    for (int axis = 0; axis < ndim; ++axis) {
      shape.push_back(in[std::size_t(1 + axis)].int_item());
      if (shape.back() < 0) throw ValueError(cat("RandomBits: negative length ", shape.back(), " of dimension ", axis));
    }
    out[0] = in[0].copy();
    std::uint64_t* state = out[0].mutable_data_as<std::uint64_t>();
    const std::uint64_t key = threefry::draw_key(state, std::uint64_t(word));
    ++state[1];
    out[1] = Array::empty(node.output(1).dtype(), shape);
    const auto size = std::uint64_t(out[1].size());
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t bits = threefry::block(key, i);
      if (form_ == BitsForm::bits)
        out[1].mutable_data_as<std::uint64_t>()[i] = bits;
      else
        out[1].mutable_data_as<double>()[i] =
            form_ == BitsForm::unit ? threefry::unit(bits) : threefry::open_unit(bits);
    }
  }

  bool emit(Lowering& to, const Apply& node) const override {
    program::ExprPool& pool = to.pool();
    const std::vector<Expr> shape(to.shape_out(1).begin(), to.shape_out(1).end());
    for (int axis = 0; axis < ndim; ++axis)
      if (!is_never_negative(node.input(1 + axis)))
        to.require(shape[std::size_t(axis)] >= 0, cat("RandomBits: negative length of dimension ", axis));
    const auto number = [&pool](std::uint64_t value) { return pool.integer(std::int64_t(value), DType::UInt64); };
    const auto key = [&to, &pool] { return to.in(0, std::vector<Expr>{pool.integer(0)}); };
    const auto counter = [&to, &pool] { return to.in(0, std::vector<Expr>{pool.integer(1)}); };
    to.element(0, [=](Index at) { return select(equal(at[0], 0), key(), counter() + number(1)); });
    to.element(
        1,
        [=, form = form_, word = word](Index at) {
          Expr draw = random_block(key(), counter());
          if (word) draw = random_block(draw, number(threefry::word_mark + std::uint64_t(word)));
          // The row-major number of the element, in a form that loops over C-contiguous elements are collapsed to.
          Expr position = number(0).pool().integer(0), step = position.pool().integer(1);
          for (std::size_t axis = at.size(); axis-- > 0; step = shape[axis] * step)
            position = axis + 1 == at.size() ? at[axis] : at[axis] * step + position;
          const Expr bits = random_block(draw, program::cast(position, DType::UInt64));
          return form == BitsForm::bits ? bits : form == BitsForm::unit ? random_unit(bits) : random_open_unit(bits);
        },
        threefry_cost);
    return true;
  }

  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    TensorBuilder& builder = to.builder();
    const TensorValue state = to.in(0);
    const auto word_of_state = [&](std::int64_t k) {
      return builder.reshape(builder.slice(state, {k}, {k + 1}, {1}), {});
    };
    const auto number = [](const Expr& like, std::uint64_t value) {
      return like.pool().integer(std::int64_t(value), DType::UInt64);
    };
    to.out(0, builder.map(DType::UInt64, {builder.iota(DType::Int64, {2}, 0), state}, [&](std::span<const Expr> in) {
      return select(equal(in[0], 0), in[1], in[1] + number(in[1], 1));
    }));
    Dims lengths;
    for (int axis = 0; axis < ndim; ++axis) lengths.push_back(to.need_integer(1 + axis, "a length"));
    for (auto length : lengths)
      if (length < 0) throw ValueError(cat("RandomBits: negative length ", length));
    const TensorValue position = builder.reshape(builder.iota(DType::UInt64, {product(lengths)}, 0), lengths);
    const DType dtype = node.output(1).dtype();
    to.out(1, builder.map(dtype, {word_of_state(0), word_of_state(1), position}, [&](std::span<const Expr> in) {
      Expr draw = random_block(in[0], in[1]);
      if (word) draw = random_block(draw, number(draw, threefry::word_mark + std::uint64_t(word)));
      const Expr bits = random_block(draw, in[2]);
      return form_ == BitsForm::bits ? bits : form_ == BitsForm::unit ? random_unit(bits) : random_open_unit(bits);
    }));
  }

  Variables pullback(const Apply& node, std::span<const Variable>) const override { return no_gradients(node); }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override {
    return std::vector<std::vector<bool>>(node.inputs().size(), {false, false});
  }
  bool may_fold(const Apply&) const override { return false; }
  bool is_part_of_draw() const override { return true; }

 private:
  static constexpr int threefry_cost = 40;
  const BitsForm form_;
};

OpRef make_random_bits(const Attributes& attributes) {
  return make_ref<RandomBits>(required_attribute<std::string>(attributes, "form"),
                              required_attribute<int>(attributes, "word"), required_attribute<int>(attributes, "ndim"));
}

std::vector<Sample> random_bits_samples() {
  std::vector<Sample> out;
  const auto add = [&](std::string_view form, int word, const Dims& shape) {
    Variables inputs{random::rng("rng", BitGenerator::Threefry)};
    std::vector<Array> values{Array(std::vector<std::uint64_t>{0x0123456789abcdef, 5})};
    for (auto length : shape) inputs.push_back(int64_constant(length));
    out.push_back(
        {make_ref<RandomBits>(std::string(form), word, int(shape.size()))->make_node(inputs), values, 0, false});
  };
  add("bits", 0, {21});
  add("bits", 3, {2, 3, 5});
  add("unit", 0, {});
  add("unit", 1, {4, 3});
  add("open", 0, {0});
  add("open", 2, {17});
  return out;
}

BITALE_REGISTER_OP_MADE_BY(RandomBits, make_random_bits,
                           "Random bits, or numbers of the unit interval, from a counter-based stream.",
                           random_bits_samples);

}  // namespace

random::Draw random_bits(const Variable& state, std::span<const Variable> lengths, std::string_view form, int word) {
  Variables inputs{state};
  inputs.insert(inputs.end(), lengths.begin(), lengths.end());
  const Apply node = make_ref<RandomBits>(std::string(form), word, int(lengths.size()))->make_node(inputs);
  return {node.output(0), node.output(1)};
}

}  // namespace bitale
