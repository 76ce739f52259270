#include "ops/random/domain.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/random.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/evaluate.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/random/compositions.hpp"
#include "ops/sample_values.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

using runtime::random::Column;
using runtime::random::Distribution;

void refuse_distribution(std::string_view name, const std::vector<std::string>& known) {
  const std::string near = closest(name, known);
  throw NotImplementedError(cat("random: the distribution `", name, "` is not implemented",
                                near.empty() ? std::string() : cat("; did you mean ", near, "?")));
}

const Distribution& distribution_named(std::string_view name) {
  if (const Distribution* found = runtime::random::find_distribution(name)) return *found;
  refuse_distribution(name, random::distribution_names());
}

const Domain& domain_named(std::string_view name) {
  static const auto& numpys = *new const auto([] {
    std::map<std::string_view, Domain> all;
    for (auto& of : runtime::random::distributions())
      all[of.name] = {of.name, of.parameters, of.dtypes,
                      [&of](std::span<const Column> columns, std::int64_t) { return of.refuse(of, columns); }};
    return all;
  }());
  if (const auto found = numpys.find(name); found != numpys.end()) return found->second;
  constexpr std::string_view composed = "composed ";
  if (name.starts_with(composed)) return composition_named(name.substr(composed.size())).domain;
  distribution_named(name);  // which refuses an unknown name
  throw InternalError(cat("RandomDomain: no domain of ", name));
}

void check_parameters(const Domain& of, std::span<const Array> values, const Dims& given) {
  Dims shape = given;
  std::int64_t length = 1;
  if (of.of_rows) length = shape.back(), shape.resize(shape.size() - 1);
  const int core = of.of_rows;
  std::vector<Array> kept;
  std::vector<Column> columns;
  bool is_somewhere = false;
  for (auto& value : values) {
    kept.push_back(value.contiguous());
    columns.push_back({kept.back().data(), value.ndim() > core ? length : 0});
    is_somewhere |= value.ndim() > core;
  }
  const std::int64_t count = is_somewhere ? product(shape) : 1;
  std::vector<Column> one = columns;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < one.size(); ++k)
      one[k].data = static_cast<const char*>(columns[k].data) + 8 * i * columns[k].step;
    const char* what = of.refuse(one, length);
    if (!what) continue;
    std::vector<std::string> texts;
    Dims index(shape.size(), 0);
    std::int64_t rest = i;
    if (is_somewhere)  // otherwise lengths may be 0
      for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) index[axis] = rest % shape[axis];
    for (std::size_t k = 0; k < one.size(); ++k)
      texts.push_back(cat(of.parameters[k], " = ",
                          Array::from(one[k].data, values[k].dtype(), core ? Dims{length} : Dims()).str()));
    throw ValueError(cat(what, ": ", of.name, " with ", join(texts, ", "),
                         is_somewhere ? cat(" at ", tuple_text(index)) : std::string()));
  }
}

namespace {

class RandomDomain final : public Op, public EmitsTensors {
 public:
  explicit RandomDomain(std::string distribution)
      : distribution(std::move(distribution)), of_(domain_named(this->distribution)) {}
  const std::string distribution;
  static constexpr auto fields = attribute_list(attribute("distribution", &RandomDomain::distribution));

  std::string_view name() const override { return "RandomDomain"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string label() const override { return cat("RandomDomain{", distribution, "}"); }

  // Inputs: the parameters, and whether they are in the domain.
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, of_.parameters.size() + 1);
    int ndim = 0;
    for (auto& input : inputs.first(of_.parameters.size())) ndim = std::max(ndim, input.ndim());
    std::vector<Type> types;
    for (std::size_t k = 0; k < of_.parameters.size(); ++k) {
      const Variable& input = inputs[k];
      if (input.dtype() != of_.dtypes[k] || (input.ndim() != 0 && input.ndim() != ndim))
        throw TypeError(cat("RandomDomain: the parameter ", of_.parameters[k], " of ", distribution, " has the type ",
                            input.type()->str()));
      types.push_back(tensor_type(input.dtype(), input.static_shape()));
    }
    if (inputs.back().dtype() != DType::Bool || inputs.back().ndim())
      throw TypeError(cat("RandomDomain: expected a truth value, got `", inputs.back().str(), "`"));
    return Apply(OpRef(this), Variables(inputs.begin(), inputs.end()), types);
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    return {inputs.begin(), inputs.end() - 1};
  }

  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const auto parameters = in.first(of_.parameters.size());
    if (!in.back().int_item()) {
      Dims shape;
      for (auto& value : parameters)
        if (value.ndim()) shape = value.shape();
      check_parameters(of_, parameters, shape);
      throw ValueError(cat("a parameter of ", of_.name, " is outside its domain"));  // of a draw without elements
    }
    std::copy(parameters.begin(), parameters.end(), out.begin());
  }

  bool emit(Lowering& to, const Apply& node) const override {
    const int count = int(of_.parameters.size());
    to.expect(to.in(count), cat("random: a parameter of ", of_.name, " is outside its domain"));
    for (int k = 0; k < count; ++k) {
      std::vector<int> order(std::size_t(node.input(k).ndim()));
      std::iota(order.begin(), order.end(), 0);
      to.permute(k, k, order);
    }
    return true;
  }

  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const int count = int(of_.parameters.size());
    to.require(to.builder().convert(to.in(count), DType::Bool),
               cat("random: a parameter of ", of_.name, " is outside its domain"));
    for (int k = 0; k < count; ++k) to.out(k, to.in(k));
  }

  bool has_linear_pullback() const override { return true; }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    for (std::size_t k = 0; k < cotangents.size(); ++k)
      if (of_.dtypes[k] == DType::Float64) out[k] = cotangents[k];
    return out;
  }
  Variables pushforward(const Apply&, std::span<const Variable> tangents) const override {
    return {tangents.begin(), tangents.end() - 1};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override {
    std::vector<std::vector<bool>> out(node.inputs().size(), std::vector<bool>(of_.parameters.size(), false));
    for (std::size_t k = 0; k < of_.parameters.size(); ++k) out[k][k] = of_.dtypes[k] == DType::Float64;
    return out;
  }
  std::vector<int> view_of(const Apply&, int output) const override { return {output}; }
  bool may_fold(const Apply&) const override { return false; }  // a call fails, not the compilation

 private:
  const Domain& of_;
};

std::vector<Sample> random_domain_samples() {
  const Variable loc = sample_input(DType::Float64, {}), scale = sample_input(DType::Float64, {unknown_length});
  const Variable n = sample_input(DType::Int64, {}), p = sample_input(DType::Float64, {}),
                 holds = sample_input(DType::Bool, {});
  return {{make_ref<RandomDomain>("normal")->make_node({{loc, scale, holds}}),
           {Array(1.5), Array({1.0, 2.0, 0.0}), Array(true)}},
          {make_ref<RandomDomain>("binomial")->make_node({{n, p, holds}}),
           {Array(std::int64_t(7)), Array(0.5), Array(true)}},
          {make_ref<RandomDomain>("composed categorical")->make_node({{scale, holds}}),
           {Array({0.2, 0.8, 0.0}), Array(true)}}};
}

OpRef make_random_domain(const Attributes& attributes) {
  return make_ref<RandomDomain>(required_attribute<std::string>(attributes, "distribution"));
}

BITALE_REGISTER_OP_MADE_BY(RandomDomain, make_random_domain,
                           "The parameters of a distribution; an error when one is outside its domain.",
                           random_domain_samples);

}  // namespace

Variables checked_parameters(std::string_view distribution, const Variables& parameters, const Variable& holds) {
  const bool are_known = std::ranges::all_of(parameters, [](auto& p) { return p.is_constant() && p.ndim() == 0; });
  Variables inputs = parameters;
  inputs.push_back(are_known ? constant(evaluate(holds)) : holds);
  if (const Array* known = inputs.back().constant(); known && known->int_item()) return parameters;
  return make_ref<RandomDomain>(std::string(distribution))->make_node(inputs).outputs();
}

Variable known_scalar(const Variable& v) {
  const Variable from = v.has_owner() && v.owner().inputs().size() == 1 ? v.owner().input(0) : v;
  return !v.is_constant() && v.ndim() == 0 && from.is_constant() ? constant(evaluate(v)) : v;
}

Variable holds_everywhere(const Variable& condition) { return condition.ndim() ? all(condition) : condition; }

}  // namespace bitale
