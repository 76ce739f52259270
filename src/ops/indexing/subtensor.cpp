#include "ops/indexing/subtensor.hpp"

#include "bitale/ops/ops.hpp"
#include "ops/indexing/basic_index.hpp"
#include "ops/indexing/inc_subtensor.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

std::span<const Variable> slice_inputs(const Apply& node) { return std::span(node.inputs()).subspan(1); }

}  // namespace

std::string Subtensor::pprint_text(std::span<const std::string> inputs) const {
  return cat(atom_text(inputs[0]), "[", pattern.text(inputs.subspan(1)), "]");
}

Apply Subtensor::make_node(std::span<const Variable> inputs) const {
  if (inputs.empty()) throw TypeError(cat(label(), ": expected a tensor, got nothing"));
  const TensorType& x = inputs[0].tensor();
  const Variables indices = checked_index_inputs(pattern, inputs[0], inputs.subspan(1), label());
  Variables own{inputs[0]};
  own.insert(own.end(), indices.begin(), indices.end());
  return Apply(OpRef(this), own, {tensor_type(x.dtype, indexed_static_shape(pattern, x.shape, indices))});
}

std::vector<Shape> Subtensor::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  return {indexed_lengths(pattern, inputs[0], slice_inputs(node))};
}

void Subtensor::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  out[0] = indexed_view(pattern, in[0], in.subspan(1), label());
}

bool Subtensor::emit(Lowering& to, const Apply&) const {
  to.element(
      0,
      [&to, selection = BasicSelection(to, pattern, 1, label())](Index at) { return to.in(0, selection.source(at)); },
      0);
  return true;
}

void Subtensor::emit_tensors(TensorLowering& to, const Apply&) const {
  const TensorSelection selection(to, pattern, 1, label());
  to.out(0, selection.of(to.builder(), to.in(0)));
}

Variables Subtensor::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  if (cotangents[0].is_disconnected()) return out;
  Variables inputs{zeros_like(node.input(0)), cotangents[0]};
  inputs.insert(inputs.end(), node.inputs().begin() + 1, node.inputs().end());
  out[0] = cast((*make_ref<IncSubtensor>(pattern, false))(inputs), inputs[0].dtype());
  return out;
}

Variables Subtensor::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  if (tangents[0].is_disconnected()) return {disconnected()};
  Variables inputs = node.inputs();
  inputs[0] = tangents[0];
  return {(*this)(inputs)};
}

std::vector<std::vector<bool>> Subtensor::connection_pattern(const Apply& node) const { return connect_first(node, 1); }

// A batch of tensors is indexed behind its batch dimensions; a batch of integer indices gathers.
Apply Subtensor::vectorize_along(const Batch& batch) const {
  if (!batch.any_from(1)) return make_ref<Subtensor>(pattern.behind(batch.before()))->make_node(batch.inputs);
  if (batch.axis == BatchAxis::last) return {};
  const Variable x = with_batch(batch, 0);
  return subtensor(x, batched_items(pattern, batch, 1, x)).owner();
}

std::vector<int> Subtensor::view_of(const Apply&, int) const { return {0}; }

namespace {

std::vector<Sample> subtensor_samples() {
  std::vector<Sample> out;
  auto add = [&](const Variable& x, std::vector<IndexItem> items, std::vector<Array> values) {
    out.push_back({subtensor(x, items).owner(), std::move(values)});
  };
  auto matrix = [] { return sample_input(DType::Float64, {unknown_length, unknown_length}); };
  auto i = sample_input(DType::Int64, {}), j = sample_input(DType::Int32, {}), k = sample_input(DType::Int8, {});
  auto count = [](std::int64_t value) { return Array(value); };
  const Array x = sample_values(DType::Float64, {4, 5});
  add(matrix(), {IndexItem(1)}, {x});
  add(sample_input(DType::Float64, {4, 5}), {IndexItem(-1), Slice{1, 4, 2}}, {x});
  add(matrix(), {Slice{{}, {}, -1}, Slice{-2, {}, {}}}, {x});
  add(matrix(), {Slice{i, {}, {}}, IndexItem(j)}, {x, count(-3), Array(std::int32_t(-1))});
  add(matrix(), {Slice{i, j, k}}, {x, count(10), Array(std::int32_t(-9)), Array(std::int8_t(-2))});
  add(matrix(), {Slice{3, 1, {}}}, {x});
  auto v = sample_input(DType::Int16, {unknown_length});
  add(v, {Slice{1, {}, {}}}, {sample_values(DType::Int16, {0})});
  return out;
}

BITALE_REGISTER_OP(Subtensor, "Part of a tensor, by integers and slices.", subtensor_samples);

}  // namespace
}  // namespace bitale
