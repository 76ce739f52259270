// Draws of whole rows from a generator's state: inputs are the state, the lengths of the batch, the length of a row,
// and parameters whose last dimension is a row; outputs are the next state and the rows. A table defines the parameters
// of each kind. One call of the runtime draws all rows.
#include <algorithm>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/random.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/random/lengths.hpp"
#include "ops/random/state.hpp"
#include "ops/sample_values.hpp"
#include "runtime/random/rows.hpp"

namespace bitale {

namespace {

namespace rows = runtime::random;

struct RowParameter {
  std::string_view name;
  DType dtype;
  int core_ndim;  // 1: a row; 0: a number for each row
};

struct RowKind {
  std::string_view name;
  DType result;
  bool chooses;  // among positions below `population`, a further scalar input; parameters are that long
  std::vector<RowParameter> parameters;
  std::string_view function;
};

const std::vector<RowKind>& row_kinds() {
  static const auto& kinds = *new std::vector<RowKind>{
      {"dirichlet", DType::Float64, false, {{"alpha", DType::Float64, 1}}, "bt_random_dirichlet"},
      {"multinomial",
       DType::Int64,
       false,
       {{"n", DType::Int64, 0}, {"pvals", DType::Float64, 1}},
       "bt_random_multinomial"},
      {"permutation", DType::Int64, false, {}, "bt_random_permutation"},
      {"choice", DType::Int64, true, {}, "bt_random_choice"},
      {"weighted_choice", DType::Int64, true, {{"p", DType::Float64, 1}}, "bt_random_weighted_choice"},
  };
  return kinds;
}

const RowKind& row_kind(std::string_view name) {
  for (auto& kind : row_kinds())
    if (kind.name == name) return kind;
  throw NotImplementedError(cat("random: rows of the distribution `", name, "` are not implemented"));
}

class RandomRows final : public Op {
 public:
  RandomRows(std::string distribution, int batch_ndim)
      : distribution(std::move(distribution)), batch_ndim(batch_ndim), of_(row_kind(this->distribution)) {
    if (batch_ndim < 0) throw ValueError(cat("RandomRows: a negative number of dimensions, ", batch_ndim));
  }
  const std::string distribution;
  const int batch_ndim;
  static constexpr auto fields = attribute_list(attribute("distribution", &RandomRows::distribution),
                                                attribute("batch_ndim", &RandomRows::batch_ndim));

  std::string_view name() const override { return "RandomRows"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string label() const override { return cat("RandomRows{", distribution, "}"); }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, first_parameter() + of_.parameters.size());
    require_generator(inputs[0], distribution);
    Variables own = given_lengths(distribution, inputs.subspan(1, first_parameter() - 1));
    own.insert(own.begin(), inputs[0]);
    for (std::size_t k = 0; k < of_.parameters.size(); ++k) {
      const Variable& given = inputs[first_parameter() + k];
      const RowParameter& parameter = of_.parameters[k];
      const int batch = given.ndim() - parameter.core_ndim;
      if (batch != 0 && batch != batch_ndim)
        throw TypeError(cat(distribution, ": the parameter ", parameter.name, " has ", given.ndim(),
                            " dimensions, the draw ", batch_ndim + 1));
      own.push_back(in_dtype_of_draw(distribution, parameter.name, given, parameter.dtype));
    }
    const Dims shape = static_lengths(std::span(own).subspan(1, std::size_t(batch_ndim) + 1));
    return Apply(OpRef(this), std::move(own), {inputs[0].type(), tensor_type(of_.result, shape)});
  }

  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape>) const override {
    return {{}, Shape(node.inputs().begin() + 1, node.inputs().begin() + 2 + batch_ndim)};
  }

  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    Dims batch;
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 1; i < first_parameter(); ++i) {
      lengths.push_back(in[i].int_item());
      if (lengths.back() < 0) throw ValueError(cat(distribution, ": negative length ", lengths.back()));
      if (i <= std::size_t(batch_ndim)) batch.push_back(lengths.back());
    }
    const std::int64_t population = lengths.back(), length = lengths[std::size_t(batch_ndim)], count = product(batch);
    Dims shape = batch;
    shape.push_back(length);
    std::vector<Array> kept;
    std::vector<std::int64_t> steps;
    for (std::size_t k = 0; k < of_.parameters.size(); ++k) {
      const Array& value = in[first_parameter() + k];
      const int core = of_.parameters[k].core_ndim;
      Dims wanted = value.ndim() > core ? batch : Dims();
      if (core) wanted.push_back(population);
      if (value.shape() != wanted)
        throw ShapeError(cat(distribution, ": the parameter ", of_.parameters[k].name, " has the shape ",
                             tuple_text(value.shape()), ", expected ", tuple_text(wanted)));
      kept.push_back(value.contiguous());
      steps.push_back(value.ndim() == core ? 0 : core ? population : 1);
    }
    Array state = in[0].copy(), values = Array::empty(of_.result, shape);
    const auto generator = std::int64_t(as_random(node.input(0).type())->generator);
    const auto real = [&](std::size_t k) { return static_cast<const double*>(kept[k].data()); };
    const auto whole = [&](std::size_t k) { return static_cast<const std::int64_t*>(kept[k].data()); };
    auto* words = state.mutable_data_as<std::uint64_t>();
    auto* to = static_cast<std::int64_t*>(values.mutable_data());
    std::int64_t failed = 0;
    if (distribution == "dirichlet")
      failed = rows::dirichlet(generator, count, length, words, real(0), steps[0],
                               static_cast<double*>(values.mutable_data()));
    else if (distribution == "multinomial")
      failed = rows::multinomial(generator, count, length, words, whole(0), steps[0], real(1), steps[1], to);
    else if (distribution == "permutation")
      failed = rows::permutation(generator, count, length, words, to);
    else if (distribution == "choice")
      failed = rows::choice(generator, count, length, population, words, to);
    else
      failed = rows::weighted_choice(generator, count, length, population, words, real(0), steps[0], to);
    for (std::int64_t i = 0; failed && i < std::max<std::int64_t>(count, 1); ++i) {
      const char* what = distribution == "dirichlet" ? rows::refuse_dirichlet(length, real(0) + i * steps[0])
                         : distribution == "multinomial"
                             ? rows::refuse_multinomial(length, whole(0)[i * steps[0]], real(1) + i * steps[1])
                         : distribution == "choice" ? rows::refuse_choice(length, population)
                                                    : rows::refuse_weights(length, population, real(0) + i * steps[0]);
      if (what) throw ValueError(cat(what, ": ", distribution, count > 1 ? cat(", row ", i) : std::string()));
    }
    out[0] = std::move(state);
    out[1] = std::move(values);
  }

  bool emit(Lowering& to, const Apply& node) const override {
    const auto integer = [&](std::int64_t value) { return to.pool().integer(value); };
    Expr count = integer(1);
    const auto shape = to.shape_out(1);
    for (int axis = 0; axis <= batch_ndim; ++axis)
      if (!is_never_negative(node.input(1 + axis)))
        to.require(shape[std::size_t(axis)] >= 0, cat(distribution, ": negative length of dimension ", axis));
    for (int axis = 0; axis < batch_ndim; ++axis) count = count * shape[std::size_t(axis)];
    const Expr length = shape[std::size_t(batch_ndim)];
    const Expr population = of_.chooses ? to.in(2 + batch_ndim) : length;
    std::vector<CallArgument> arguments{integer(std::int64_t(as_random(node.input(0).type())->generator)), count,
                                        length};
    if (of_.chooses) {
      if (!is_never_negative(node.input(2 + batch_ndim)))
        to.require(population >= 0, cat(distribution, ": a negative population size"));
      arguments.push_back(population);
    }
    arguments.push_back(OutputData{0, {}, 0});
    for (std::size_t k = 0; k < of_.parameters.size(); ++k) {
      const int input = int(first_parameter() + k), core = of_.parameters[k].core_ndim;
      const auto lengths = to.shape_in(input);
      const bool is_fixed = int(lengths.size()) == core;
      const std::string message =
          cat(distribution, ": the lengths of the parameter ", of_.parameters[k].name, " are not the draw's");
      for (std::size_t axis = 0; !is_fixed && axis < std::size_t(batch_ndim); ++axis)
        to.require(equal(lengths[axis], shape[axis]), message);
      if (core) to.require(equal(lengths.back(), population), message);
      arguments.push_back(InputData{input});
      arguments.push_back(is_fixed ? integer(0) : core ? population : integer(1));
    }
    arguments.push_back(OutputData{1});
    to.call(of_.function, std::move(arguments));
    return true;
  }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    Variables out = no_gradients(node);
    if (cotangents[1].is_disconnected()) return out;
    for (std::size_t k = 0; k < of_.parameters.size(); ++k)
      if (of_.parameters[k].dtype == DType::Float64)
        out[first_parameter() + k] = undefined_gradient(
            cat("a draw from the ", distribution, " distribution has no derivative with respect to its parameters"));
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    std::vector<DType> dtypes;
    for (auto& parameter : of_.parameters) dtypes.push_back(parameter.dtype);
    return connected_parameters(first_parameter(), dtypes);
  }
  // One generator draws for the whole batch, row by row.
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override {
    std::vector<int> cores;
    for (auto& parameter : of_.parameters) cores.push_back(parameter.core_ndim);
    BatchedDraw wider = batched_draw(node, batched, distribution, batch_ndim, first_parameter(), cores);
    Variables inputs{batched[0]};
    inputs.insert(inputs.end(), wider.lengths.begin(), wider.lengths.end());
    inputs.insert(inputs.end(), wider.others.begin(), wider.others.end());
    for (auto& parameter : wider.parameters) inputs.push_back(fitted(parameter, wider.lengths));
    return make_ref<RandomRows>(distribution, int(wider.lengths.size()))->make_node(inputs);
  }
  bool may_fold(const Apply&) const override { return false; }

 private:
  std::size_t first_parameter() const { return std::size_t(2 + batch_ndim + int(of_.chooses)); }

  const RowKind& of_;
};

OpRef make_random_rows(const Attributes& attributes) {
  return make_ref<RandomRows>(required_attribute<std::string>(attributes, "distribution"),
                              required_attribute<int>(attributes, "batch_ndim"));
}

std::vector<Sample> random_rows_samples() {
  std::vector<Sample> out;
  const auto add = [&](std::string_view distribution, const Dims& batch, std::int64_t length,
                       std::optional<std::int64_t> population, const std::vector<Array>& parameters) {
    Variables inputs{random::rng("rng")};
    std::vector<Array> values{random_state(7)};
    for (auto each : batch) inputs.push_back(int64_constant(each));
    inputs.push_back(int64_constant(length));
    if (population) inputs.push_back(int64_constant(*population));
    for (auto& value : parameters) {
      inputs.push_back(sample_input(value.dtype(), Dims(std::size_t(value.ndim()), unknown_length)));
      values.push_back(value);
    }
    out.push_back(
        {make_ref<RandomRows>(std::string(distribution), int(batch.size()))->make_node(inputs), values, 0, false});
  };
  const Array shares{0.2, 0.5, 0.3}, three = Array(std::int64_t(30));
  const Array two_shares = Array({0.2, 0.5, 0.3, 0.1, 0.1, 0.8}).reshape(Dims{2, 3});
  add("dirichlet", {}, 3, {}, {shares});
  add("dirichlet", {4}, 3, {}, {Array({0.02, 0.05, 0.03})});
  add("dirichlet", {2}, 3, {}, {two_shares});
  add("multinomial", {}, 3, {}, {three, shares});
  add("multinomial", {2}, 3, {}, {Array({std::int64_t(5), std::int64_t(80)}), two_shares});
  add("permutation", {2}, 6, {}, {});
  add("permutation", {}, 0, {}, {});
  add("choice", {2}, 3, 8, {});
  add("choice", {}, 500, 20000, {});
  add("weighted_choice", {2}, 2, 3, {shares});
  add("weighted_choice", {2}, 3, 3, {two_shares});
  return out;
}

BITALE_REGISTER_OP_MADE_BY(
    RandomRows, make_random_rows,
    "Rows from a distribution of vectors, and the generator's state after them; NumPy's to the last bit.",
    random_rows_samples);

}  // namespace

namespace random {

Draw rows(std::string_view distribution, const Operand& rng, const Operands& batch, const Operand& length,
          const std::optional<Operand>& population, const Operands& given) {
  const LocationScope here(rng.where);
  const RowKind& kind = row_kind(distribution);
  if (given.variables.size() != kind.parameters.size())
    throw TypeError(
        cat(distribution, ": expected ", kind.parameters.size(), " parameters, got ", given.variables.size()));
  if (population.has_value() != kind.chooses)
    throw TypeError(cat(distribution, kind.chooses ? ": expected" : ": takes no", " number to choose from"));
  const Variable core = as_length(length.variable, distribution);
  Variables inputs{rng.variable};
  Shape lengths;
  for (auto& each : batch.variables) lengths.push_back(as_length(each, distribution));
  inputs.insert(inputs.end(), lengths.begin(), lengths.end());
  inputs.push_back(core);
  if (population) inputs.push_back(as_length(population->variable, distribution));
  for (std::size_t k = 0; k < kind.parameters.size(); ++k) {
    const DrawParameter parameter{given.variables[k], kind.parameters[k].core_ndim};
    const int own = parameter.value.ndim() - parameter.core_ndim;
    if (own < 0 || own > int(lengths.size()))
      throw ValueError(cat(distribution, ": the parameter ", kind.parameters[k].name, " has ", parameter.value.ndim(),
                           " dimensions, expected from ", parameter.core_ndim, " to ",
                           parameter.core_ndim + int(lengths.size())));
    inputs.push_back(fitted(parameter, lengths));
  }
  const Apply node = make_ref<RandomRows>(std::string(distribution), int(lengths.size()))->make_node(inputs);
  return {node.output(0), node.output(1)};
}

namespace {

Draw draw_of_rows(std::string_view distribution, const Operand& rng, const Operands& given, const Size& size) {
  const LocationScope here(rng.where);
  const RowKind& kind = row_kind(distribution);
  std::vector<DrawParameter> parameters;
  for (std::size_t k = 0; k < given.variables.size(); ++k) {
    parameters.push_back({given.variables[k], kind.parameters[k].core_ndim});
    if (given.variables[k].ndim() < kind.parameters[k].core_ndim)
      throw ValueError(
          cat(distribution, ": expected a vector of ", kind.parameters[k].name, ", or several, got a scalar"));
  }
  const Variable& row = given.variables.back();
  return rows(distribution, rng, lengths_of_draw(distribution, parameters, size), length_of(row, row.ndim() - 1), {},
              given);
}

}  // namespace

Draw dirichlet(const Operand& rng, const Operand& alpha, const Size& size) {
  return draw_of_rows("dirichlet", rng, {alpha}, size);
}

Draw multinomial(const Operand& rng, const Operand& n, const Operand& p, const Size& size) {
  return draw_of_rows("multinomial", rng, {n, p}, size);
}

}  // namespace random

}  // namespace bitale
