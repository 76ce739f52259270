// Draws of numbers from a generator's state, by one op for all distributions of the table (runtime/random/draws).
// Inputs are the state, the lengths of the draw, and the parameters, each a scalar or of the draw's shape; outputs are
// the next state and the draw. Native code is one call of the runtime, on a copy of the state or in place.
#include <algorithm>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/random.hpp"
#include "bitale/ops/registry.hpp"
#include "core/call_scope.hpp"
#include "graph/evaluate.hpp"
#include "graph/expansion.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/random/derived.hpp"
#include "ops/random/domain.hpp"
#include "ops/random/formulas.hpp"
#include "ops/random/lengths.hpp"
#include "ops/random/state.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

using runtime::random::Column;
using runtime::random::Distribution;

class RandomVariable final : public Op, public Expansion {
 public:
  RandomVariable(std::string distribution, int ndim)
      : distribution(std::move(distribution)), ndim(ndim), of_(distribution_named(this->distribution)) {
    if (ndim < 0) throw ValueError(cat("RandomVariable: a negative number of dimensions, ", ndim));
  }
  const std::string distribution;
  const int ndim;  // of the draw
  static constexpr auto fields = attribute_list(attribute("distribution", &RandomVariable::distribution),
                                                attribute("ndim", &RandomVariable::ndim));

  std::string_view name() const override { return "RandomVariable"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string label() const override { return cat("RandomVariable{", distribution, "}"); }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, first_parameter() + of_.parameters.size());
    require_generator(inputs[0], distribution);
    Variables own = given_lengths(distribution, inputs.subspan(1, std::size_t(ndim)));
    Dims shape = static_lengths(own);
    own.insert(own.begin(), inputs[0]);
    for (std::size_t k = 0; k < of_.parameters.size(); ++k) {
      const Variable& given = inputs[first_parameter() + k];
      if (given.ndim() != 0 && given.ndim() != ndim)
        throw TypeError(cat(distribution, ": the parameter ", of_.parameters[k], " has ", given.ndim(),
                            " dimensions, the draw ", ndim));
      own.push_back(in_dtype_of_draw(distribution, of_.parameters[k], given, of_.dtypes[k]));
      for (std::size_t axis = 0; axis < std::size_t(given.ndim()); ++axis)
        shape[axis] = common_length(shape[axis], given.static_shape()[axis], int(axis), distribution);
    }
    return Apply(OpRef(this), std::move(own), {inputs[0].type(), tensor_type(of_.result, shape)});
  }

  // The lengths of a state are never requested: they are static.
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape>) const override {
    return {{}, Shape(node.inputs().begin() + 1, node.inputs().begin() + 1 + ndim)};
  }

  // Draws from a counter-based stream are formulas over its words, if the distribution has one.
  std::optional<Variables> expansion(const Apply& node) const override {
    if (!is_formula(node)) return std::nullopt;
    const auto lengths = std::span(node.inputs()).subspan(1, std::size_t(ndim));
    const Variables parameters(node.inputs().begin() + std::ptrdiff_t(first_parameter()), node.inputs().end());
    const auto draw = random_formula(of_, node.input(0), lengths, parameters);
    return Variables{draw->next_rng, draw->value};
  }

  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    if (is_formula(node)) {
      const Variables outputs = *expansion(node);
      const std::vector<Array> values = evaluate(outputs, node.inputs(), in);
      std::copy(values.begin(), values.end(), out.begin());
      return;
    }
    Dims shape;
    for (int axis = 0; axis < ndim; ++axis) shape.push_back(in[std::size_t(1 + axis)].int_item());
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] < 0)
        throw ValueError(cat(distribution, ": negative length ", shape[axis], " of dimension ", axis));
    std::vector<Array> kept;
    std::vector<Column> columns;
    for (std::size_t k = 0; k < of_.parameters.size(); ++k) {
      const Array& value = in[first_parameter() + k];
      if (value.ndim() && value.shape() != shape)
        throw ShapeError(cat(distribution, ": the parameter ", of_.parameters[k], " has the shape ",
                             tuple_text(value.shape()), ", the draw ", tuple_text(shape)));
      kept.push_back(value.contiguous());
      columns.push_back({kept.back().data(), value.ndim() ? 1 : 0});
    }
    Array state = in[0].copy(), values = Array::empty(of_.result, shape);
    const BitGenerator generator = as_random(node.input(0).type())->generator;
    if (of_.draw(of_, generator, state.mutable_data_as<std::uint64_t>(), values.size(), columns,
                 values.mutable_data())) {
      check_parameters(domain_named(distribution), kept, shape);
      throw InternalError(cat(distribution, ": the sampler rejected parameters that are in the domain"));
    }
    out[0] = std::move(state);
    out[1] = std::move(values);
  }

  bool emit(Lowering& to, const Apply& node) const override {
    if (is_formula(node)) return false;
    const auto integer = [&](std::int64_t value) { return to.pool().integer(value); };
    Expr count = integer(1);
    for (int axis = 0; axis < ndim; ++axis) {
      const Expr length = to.shape_out(1)[std::size_t(axis)];
      if (!is_never_negative(node.input(1 + axis)))
        to.require(length >= 0, cat(distribution, ": negative length of dimension ", axis));
      count = count * length;
    }
    std::vector<CallArgument> arguments{integer(std::int64_t(as_random(node.input(0).type())->generator)),
                                        integer(of_.number), count, OutputData{0, {}, 0}};
    for (std::size_t k = 0; k < of_.parameters.size(); ++k) {
      const int input = int(first_parameter() + k);
      const bool is_fixed = node.input(input).ndim() == 0;
      if (!is_fixed)
        for (int axis = 0; axis < ndim; ++axis)
          to.require(equal(to.shape_in(input)[std::size_t(axis)], to.shape_out(1)[std::size_t(axis)]),
                     cat(distribution, ": the length of the parameter ", of_.parameters[k], " in dimension ", axis,
                         " is not the draw's"));
      arguments.push_back(InputData{input});
      arguments.push_back(integer(is_fixed ? 0 : 1));
    }
    arguments.push_back(OutputData{1});
    to.call(of_.function, std::move(arguments));
    return true;
  }

  // A draw from one of NumPy's generators has no derivative by its parameters; a formula has one, except where it
  // selects by them.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (is_formula(node)) return derived(true, node, cotangents);
    Variables out = no_gradients(node);
    if (cotangents[1].is_disconnected()) return out;
    for (std::size_t k = first_parameter(); k < out.size(); ++k) out[k] = no_derivative();
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return connected_parameters(first_parameter(), of_.dtypes);
  }

  // One generator draws for the whole batch, element by element.
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override {
    const std::vector<int> cores(of_.parameters.size(), 0);
    const BatchedDraw wider = batched_draw(node, batched, distribution, ndim, first_parameter(), cores);
    Variables inputs{batched[0]};
    inputs.insert(inputs.end(), wider.lengths.begin(), wider.lengths.end());
    for (auto& parameter : wider.parameters) inputs.push_back(fitted(parameter, wider.lengths));
    return make_ref<RandomVariable>(distribution, int(wider.lengths.size()))->make_node(inputs);
  }

  bool may_fold(const Apply&) const override { return false; }

  bool has_pushforward() const override { return true; }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    return is_formula(node) ? derived(false, node, tangents) : Variables{disconnected(), no_derivative()};
  }

 private:
  std::size_t first_parameter() const { return std::size_t(1 + ndim); }
  Variable no_derivative() const {
    return undefined_gradient(
        cat("a draw from the ", distribution,
            " distribution has no derivative with respect to its parameters; write it as an expression of a "
            "draw that does not depend on them"));
  }
  Variables derived(bool is_pullback, const Apply& node, std::span<const Variable> given) const {
    return derived_of_draw(is_pullback, node, (*expansion(node))[1], first_parameter(), of_.dtypes, given);
  }
  bool is_formula(const Apply& node) const { return is_counter_based(node.input(0)) && has_random_formula(of_); }

  const Distribution& of_;
};

OpRef make_random_variable(const Attributes& attributes) {
  return make_ref<RandomVariable>(required_attribute<std::string>(attributes, "distribution"),
                                  required_attribute<int>(attributes, "ndim"));
}

}  // namespace

namespace random {

Variable rng(std::string name, BitGenerator generator) { return Variable(random_type(generator), std::move(name)); }

Draw draw(std::string_view distribution, const Operand& rng, const Operands& given, const Size& size) {
  const LocationScope here(rng.where);
  const Distribution& of = distribution_named(distribution);
  const CallScope call(of.name.data());
  if (given.variables.size() != of.parameters.size())
    throw TypeError(
        cat(distribution, ": expected ", of.parameters.size(), " parameters, got ", given.variables.size()));
  std::vector<DrawParameter> parameters;
  for (auto& each : given.variables) parameters.push_back({each});
  const Shape lengths = lengths_of_draw(distribution, parameters, size);
  Variables inputs{rng.variable};
  inputs.insert(inputs.end(), lengths.begin(), lengths.end());
  for (auto& parameter : parameters) inputs.push_back(fitted(parameter, lengths));
  const auto op = make_ref<RandomVariable>(std::string(distribution), int(lengths.size()));
  const Apply node = op->make_node(inputs);
  return {node.output(0), node.output(1)};
}

std::vector<std::string> distribution_names() {
  std::vector<std::string> out;
  for (auto& each : runtime::random::distributions()) out.emplace_back(each.name);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace random

namespace {

std::vector<Sample> random_variable_samples() {
  std::vector<Sample> out;
  // Values in the domain of nearly all distributions; the exceptions are recognized by name.
  const auto value_for = [](const Distribution& of, std::size_t k) -> double {
    const std::string_view parameter = of.parameters[k];
    if (parameter == "p") return 0.3;
    if (parameter == "low" || parameter == "left") return -1;
    if (parameter == "mode") return 0;
    if (parameter == "ngood" || parameter == "nbad") return 30;
    return 12;
  };
  const auto add = [&](const Distribution& of, BitGenerator generator, const Dims& shape, bool full) {
    const Type& type = random_type(generator);
    const Variable rng(type, "rng");
    Array state = Array::zeros(DType::UInt64, type->storage()->shape);
    for (std::int64_t i = 0; i < state.size(); ++i)
      state.mutable_data_as<std::uint64_t>()[i] = std::uint64_t(i + 3) * 0x9E3779B97F4A7C15u | 1;
    auto* words = state.mutable_data_as<std::uint64_t>();
    if (generator == BitGenerator::MT19937) words[312] = 623;
    if (generator == BitGenerator::Threefry)
      words[1] = 5;
    else if (generator != BitGenerator::MT19937)
      words[state.size() - 2] = 1, words[state.size() - 1] = 5;
    if (generator == BitGenerator::Philox) words[6] = 3;
    Variables inputs{rng};
    std::vector<Array> values{state};
    for (auto length : shape) inputs.push_back(int64_constant(length));
    for (std::size_t k = 0; k < of.parameters.size(); ++k) {
      const Dims own = full && k == 0 ? shape : Dims{};
      inputs.push_back(sample_input(of.dtypes[k], Dims(own.size(), unknown_length), std::string(of.parameters[k])));
      values.push_back(Array::full(of.dtypes[k], own, value_for(of, k)));
    }
    const auto op = make_ref<RandomVariable>(std::string(of.name), int(shape.size()));
    out.push_back({op->make_node(inputs), values, 0, false});
  };
  for (auto& of : runtime::random::distributions()) {
    add(of, BitGenerator::PCG64, {5}, !of.parameters.empty());
    add(of, BitGenerator(std::size_t(of.number) % bit_generator_count), {2, 3}, false);
  }
  for (int kind = 0; kind < bit_generator_count; ++kind) {
    add(*runtime::random::find_distribution("normal"), BitGenerator(kind), {}, false);
    add(*runtime::random::find_distribution("integers"), BitGenerator(kind), {0}, true);
  }
  return out;
}

BITALE_REGISTER_OP_MADE_BY(RandomVariable, make_random_variable,
                           "Draws from a distribution, and the generator's state after them; NumPy's to the last bit.",
                           random_variable_samples);

}  // namespace

}  // namespace bitale
