#include "ops/indexing/inc_subtensor.hpp"

#include "bitale/ops/ops.hpp"
#include "ops/analysis/dependencies.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/array_loops.hpp"
#include "ops/indexing/basic_index.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/indexing/update_value.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

std::string IncSubtensor::pprint_text(std::span<const std::string> inputs) const {
  return cat(set ? "set" : "inc", "_subtensor(", atom_text(inputs[0]), "[", pattern.text(inputs.subspan(2)), "], ",
             inputs[1], ")");
}

Apply IncSubtensor::make_node(std::span<const Variable> inputs) const {
  if (inputs.size() < 2)
    throw TypeError(cat(label(), ": expected a tensor and a value, got ", inputs.size(), " inputs"));
  // Sums of float16 are computed and returned in float32.
  const Variable x = set ? inputs[0] : cast(inputs[0], computing_dtype(inputs[0].dtype()));
  const Variable y = is_complex(x) ? cast(inputs[1], x.dtype()) : inputs[1];
  const Variables indices = checked_index_inputs(pattern, x, inputs.subspan(2), label());
  check_update_value(x, y, indexed_static_shape(pattern, x.static_shape(), indices), label());
  Variables own{x, y};
  own.insert(own.end(), indices.begin(), indices.end());
  return Apply(OpRef(this), own, {x.type()});
}

OpRef IncSubtensor::pure() const { return inplace ? OpRef(new IncSubtensor(pattern, set)) : OpRef(this); }

std::vector<int> IncSubtensor::destroys(const Apply&, int) const {
  return inplace ? std::vector<int>{0} : std::vector<int>();
}

OpRef IncSubtensor::inplace_on_inputs(const Apply&, std::span<const int> allowed) const {
  if (inplace || allowed.empty() || allowed[0] != 0) return {};
  return OpRef(new IncSubtensor(pattern, set, true));
}

std::vector<Shape> IncSubtensor::infer_shape(const Apply&, std::span<const Shape> inputs) const { return {inputs[0]}; }

void IncSubtensor::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const Array result = inplace && has_distinct_writable_elements(in[0]) ? in[0] : in[0].copy();
  const Array region = indexed_view(pattern, result, in.subspan(2), label());
  const Array value = fitted_value(in[0], in[1], node.input(1), region.shape(), label());
  if (set)
    region.assign(value);
  else
    add_into(region, value);
  out[0] = result;
}

bool IncSubtensor::emit(Lowering& to, const Apply& node) const {
  const BasicSelection selection(to, pattern, 2, label());
  const DType dtype = node.input(0).dtype();
  Piece piece{selection.domain(), [selection](Index at) { return selection.source(at); },
              fitted_rule(to, node.input(0), node.input(1), 1, selection.domain(), label())};
  if (!set) piece.combiner = dtype == DType::Bool ? program::Combiner::bit_or : program::Combiner::add;
  to.assemble(0, 0, {std::move(piece)});
  return true;
}

void IncSubtensor::emit_tensors(TensorLowering& to, const Apply& node) const {
  const TensorSelection selection(to, pattern, 2, label());
  const TensorValue y = fitted_tensor(to, node.input(0), node.input(1), 1, selection.lengths(), label());
  to.out(0, selection.updated(to.builder(), to.in(0), y, set));
}

Variables IncSubtensor::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  const Variable& g = cotangents[0];
  if (g.is_disconnected()) return out;
  const Variable zero = constant(Array::zeros(g.dtype(), Dims{}));
  out[0] = set ? (*pure())(with_indices(node, {g, zero})) : g;
  out[1] = gradient_of_value(node.input(1), (*make_ref<Subtensor>(pattern))(with_indices(node, {g})));
  return out;
}

Variables IncSubtensor::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  return pushforward_of_update(*pure(), set, node, tangents);
}

std::optional<Array> IncSubtensor::dependencies(const Apply& node, int, InputDependencies& inputs) const {
  static constexpr int moved[] = {0, 1};
  if (set) return moved_dependencies(node, inputs, moved);
  const std::optional<Array> targets = selected_positions(*make_ref<Subtensor>(pattern), node, inputs);
  return targets ? std::optional(dependencies_of_sum(inputs, *targets)) : std::nullopt;
}

std::vector<int> IncSubtensor::support_carriers(const Apply&, int) const { return {0, 1}; }

Support IncSubtensor::support(const Apply& node, int, std::span<const Support> inputs) const {
  static constexpr int moved[] = {0, 1};
  if (!set && inputs[0].is_everywhere()) return {};
  return moved_support(node, inputs, moved, true);
}

std::vector<std::vector<bool>> IncSubtensor::connection_pattern(const Apply& node) const {
  return connect_first(node, 2);
}

// The same index after the batch dimensions. Batched integer indices become a scatter, in which each batch dimension
// has an index that counts along it.
Apply IncSubtensor::vectorize_along(const Batch& batch) const {
  if (batch.ndim() == 0) return pure()->make_node(batch.inputs);
  const int region_ndim = batch.node.input(0).ndim() - pattern.dropped_count();
  const Variable x = with_batch(batch, 0), y = broadcast_in_batch(batch, 1, region_ndim);
  if (batch.any_from(2)) {
    if (batch.axis == BatchAxis::last) return {};
    const auto items = batched_items(pattern, batch, 2, x);
    return (set ? set_subtensor(x, items, y) : inc_subtensor(x, items, y)).owner();
  }
  Variables inputs{x, y};
  inputs.insert(inputs.end(), batch.inputs.begin() + 2, batch.inputs.end());
  return make_ref<IncSubtensor>(pattern.behind(batch.before()), set)->make_node(inputs);
}

namespace {

std::vector<Sample> inc_subtensor_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const Array x = sample_values(DType::Float64, {4, 5});
  auto matrix = [&] { return sample_input(DType::Float64, {any, any}); };
  auto i = sample_input(DType::Int64, {});
  auto add = [&](const Variable& result, std::vector<Array> values) {
    out.push_back({result.owner(), std::move(values)});
  };
  auto row = sample_input(DType::Float64, {any}), column = sample_input(DType::Float64, {any, 1});
  auto scalar = sample_input(DType::Float32, {}), small = sample_input(DType::Int8, {any});
  add(inc_subtensor(matrix(), {IndexItem(1)}, row), {x, sample_values(DType::Float64, {5}, 1)});
  add(set_subtensor(matrix(), {Slice{1, {}, 2}}, column), {x, sample_values(DType::Float64, {2, 1}, 1)});
  add(set_subtensor(matrix(), {IndexItem(i), Slice{{}, {}, -2}}, row),
      {x, sample_values(DType::Float64, {3}, 1), Array(std::int64_t(-1))});
  add(inc_subtensor(matrix(), {IndexItem(0), IndexItem(2)}, scalar), {x, Array(0.5f)});
  add(inc_subtensor(sample_input(DType::Int32, {any}), {Slice{{}, 2, {}}}, small),
      {sample_values(DType::Int32, {4}), sample_values(DType::Int8, {2}, 1)});
  return out;
}

BITALE_REGISTER_OP(IncSubtensor, "A copy of a tensor with a part, by integers and slices, increased or replaced.",
                   inc_subtensor_samples);

}  // namespace
}  // namespace bitale
