// ComposedDraw: a draw from a distribution that is composed of NumPy's, and the generator's state after it. Inputs are
// the state, the lengths of the draw, and the parameters, which broadcast. The pass `expand` replaces it by its
// formula; as a node of its own it is one draw for checks, batching and printing of graphs.
#include <map>

#include "bitale/ops/ops.hpp"
#include "bitale/ops/random.hpp"
#include "bitale/ops/registry.hpp"
#include "core/call_scope.hpp"
#include "graph/evaluate.hpp"
#include "graph/expansion.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/random/compositions.hpp"
#include "ops/random/derived.hpp"
#include "ops/random/domain.hpp"
#include "ops/random/lengths.hpp"
#include "ops/random/state.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

std::map<std::string_view, Composition>& compositions() {
  static auto& all = *new auto([] {
    std::map<std::string_view, Composition> out;
    for (auto& each : compositions_of_vectors()) out.emplace(each.name, std::move(each));
    return out;
  }());
  return all;
}

class ComposedDraw final : public Op, public Expansion {
 public:
  ComposedDraw(std::string distribution, int batch_ndim)
      : distribution(std::move(distribution)), batch_ndim(batch_ndim), of_(composition_named(this->distribution)) {
    if (batch_ndim < 0) throw ValueError(cat("ComposedDraw: a negative number of dimensions, ", batch_ndim));
  }
  const std::string distribution;
  const int batch_ndim;
  static constexpr auto fields = attribute_list(attribute("distribution", &ComposedDraw::distribution),
                                                attribute("batch_ndim", &ComposedDraw::batch_ndim));

  std::string_view name() const override { return "ComposedDraw"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string label() const override { return cat("ComposedDraw{", distribution, "}"); }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, first_parameter() + of_.parameters.size());
    require_generator(inputs[0], distribution);
    Variables own = given_lengths(distribution, inputs.subspan(1, std::size_t(batch_ndim)));
    Dims shape = static_lengths(own);
    own.insert(own.begin(), inputs[0]);
    std::vector<Shape> parameter_shapes;
    for (std::size_t k = 0; k < of_.parameters.size(); ++k) {
      const Variable& given = inputs[first_parameter() + k];
      const int batch = given.ndim() - of_.parameters[k].core_ndim;
      if (batch < 0 || batch > batch_ndim)
        throw TypeError(cat(distribution, ": the parameter ", of_.parameters[k].name, " has ", given.ndim(),
                            " dimensions, the draw ", batch_ndim));
      own.push_back(in_dtype_of_draw(distribution, of_.parameters[k].name, given, of_.parameters[k].dtype));
      parameter_shapes.push_back(lengths_of(own.back()));
    }
    for (auto& length : core_lengths(parameter_shapes)) shape.push_back(static_length(length));
    return Apply(OpRef(this), std::move(own), {inputs[0].type(), tensor_type(of_.result, shape)});
  }

  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> shapes) const override {
    Shape out(node.inputs().begin() + 1, node.inputs().begin() + 1 + batch_ndim);
    const Shape core = core_lengths(shapes.subspan(first_parameter()));
    out.insert(out.end(), core.begin(), core.end());
    return {{}, out};
  }

  std::optional<Variables> expansion(const Apply& node) const override {
    Variables parameters;
    for (auto& each : std::span(node.inputs()).subspan(first_parameter())) parameters.push_back(known_scalar(each));
    const Shape lengths(node.inputs().begin() + 1, node.inputs().begin() + 1 + batch_ndim);
    if (of_.holds) {
      const Variable holds = of_.holds(parameters);
      for (std::size_t k = 0; k < parameters.size(); ++k)
        parameters[k] = fitted({parameters[k], of_.parameters[k].core_ndim}, lengths, of_.domain.of_rows);
      parameters = checked_parameters(cat("composed ", distribution), parameters, holds);
    }
    DrawSource from(node.input(0), lengths);
    const Variable drawn = of_.formula(from, parameters);
    return Variables{from.state(), drawn};
  }

  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    const std::vector<Array> values = evaluate(*expansion(node), node.inputs(), in);
    std::copy(values.begin(), values.end(), out.begin());
  }

  bool emit(Lowering&, const Apply&) const override { return false; }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    return derived_of_draw(true, node, (*expansion(node))[1], first_parameter(), dtypes(), cotangents);
  }
  bool has_pushforward() const override { return true; }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    return derived_of_draw(false, node, (*expansion(node))[1], first_parameter(), dtypes(), tangents);
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return connected_parameters(first_parameter(), dtypes());
  }

  // One generator draws for the whole batch, element by element.
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override {
    std::vector<int> cores;
    for (auto& parameter : of_.parameters) cores.push_back(parameter.core_ndim);
    const BatchedDraw wider = batched_draw(node, batched, distribution, batch_ndim, first_parameter(), cores);
    return draw_node(distribution, batched[0], wider.lengths, wider.parameters);
  }

  bool may_fold(const Apply&) const override { return false; }

  static Apply draw_node(std::string_view distribution, const Variable& state, const Shape& lengths,
                         std::span<const DrawParameter> parameters) {
    Variables inputs{state};
    inputs.insert(inputs.end(), lengths.begin(), lengths.end());
    for (auto& parameter : parameters) inputs.push_back(fitted(parameter, lengths, true));
    return make_ref<ComposedDraw>(std::string(distribution), int(lengths.size()))->make_node(inputs);
  }

 private:
  std::size_t first_parameter() const { return std::size_t(1 + batch_ndim); }
  Shape core_lengths(std::span<const Shape> parameters) const {
    return of_.core_lengths ? of_.core_lengths(parameters) : Shape();
  }
  std::vector<DType> dtypes() const {
    std::vector<DType> out;
    for (auto& parameter : of_.parameters) out.push_back(parameter.dtype);
    return out;
  }

  const Composition& of_;
};

OpRef make_composed_draw(const Attributes& attributes) {
  return make_ref<ComposedDraw>(required_attribute<std::string>(attributes, "distribution"),
                                required_attribute<int>(attributes, "batch_ndim"));
}

std::vector<Sample> composed_draw_samples() {
  std::vector<Sample> out;
  const auto sample_value = [](std::string_view parameter, const Dims& shape, DType dtype) {
    if (parameter == "mean") return Array({1.0, -2.0});
    if (parameter == "cov") return Array({2.0, 0.5, 0.5, 1.0}).reshape(Dims{2, 2});
    const double value = parameter == "lower" ? -2 : parameter == "upper" ? 9 : parameter == "p" ? 0.5 : 1.5;
    return Array::full(dtype, shape, dtype == DType::Int64 ? 9 : value);
  };
  int number = 0;
  for (auto& [name, of] : compositions())
    for (const Dims& shape : {Dims{}, Dims{3, 2}}) {
      const bool is_stream = number++ % 3 == 1;
      Variables inputs{random::rng("rng", is_stream ? BitGenerator::Threefry : BitGenerator::PCG64)};
      std::vector<Array> values{is_stream ? stream_state(7) : random_state(7)};
      for (auto length : shape) inputs.push_back(int64_constant(length));
      for (std::size_t k = 0; k < of.parameters.size(); ++k) {
        Dims own = k == 0 && of.parameters[k].core_ndim == 0 ? shape : Dims();
        for (int axis = 0; axis < of.parameters[k].core_ndim; ++axis) own.push_back(2);
        inputs.push_back(
            sample_input(of.parameters[k].dtype, Dims(own.size(), unknown_length), std::string(of.parameters[k].name)));
        values.push_back(sample_value(of.parameters[k].name, own, of.parameters[k].dtype));
      }
      out.push_back(
          {make_ref<ComposedDraw>(std::string(name), int(shape.size()))->make_node(inputs), values, 1e-12, false});
    }
  return out;
}

BITALE_REGISTER_OP_MADE_BY(ComposedDraw, make_composed_draw,
                           "A draw from a distribution that is made of NumPy's, and the generator's state after it.",
                           composed_draw_samples);

}  // namespace

void register_composition(Composition composition) {
  const std::string_view name = composition.name;
  compositions().emplace(name, std::move(composition));
}

const Composition& composition_named(std::string_view name) {
  if (const auto found = compositions().find(name); found != compositions().end()) return found->second;
  std::vector<std::string> names;
  for (auto& [each, of] : compositions()) names.emplace_back(each);
  refuse_distribution(name, names);
}

namespace random {

Draw composed(std::string_view distribution, const Operand& rng, const Operands& given, const Size& size) {
  const LocationScope here(rng.where);
  const Composition& of = composition_named(distribution);
  const CallScope call(of.name.data());
  if (given.variables.size() != of.parameters.size())
    throw TypeError(
        cat(distribution, ": expected ", of.parameters.size(), " parameters, got ", given.variables.size()));
  std::vector<DrawParameter> parameters;
  for (std::size_t k = 0; k < of.parameters.size(); ++k) {
    parameters.push_back({given.variables[k], of.parameters[k].core_ndim});
    if (parameters[k].value.ndim() < of.parameters[k].core_ndim)
      throw ValueError(cat(distribution, ": the parameter ", of.parameters[k].name, " has ", parameters[k].value.ndim(),
                           " dimensions, expected at least ", of.parameters[k].core_ndim));
  }
  const Shape lengths = lengths_of_draw(distribution, parameters, size);
  const Apply node = ComposedDraw::draw_node(distribution, rng.variable, lengths, parameters);
  return {node.output(0), node.output(1)};
}

}  // namespace random

}  // namespace bitale
