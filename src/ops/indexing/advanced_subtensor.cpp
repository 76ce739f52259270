#include "ops/indexing/advanced_subtensor.hpp"

#include <algorithm>
#include <numeric>

#include "bitale/graph/range.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/array_loops.hpp"
#include "ops/indexing/advanced_inc_subtensor.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

std::span<const Variable> index_inputs(const Apply& node) { return std::span(node.inputs()).subspan(1); }

AdvancedIndex read_layout(const std::vector<int>& axes, const Apply& node) {
  return AdvancedIndex(axes, node.input(0).ndim(), node.input(1).ndim());
}

}  // namespace

// The label that PyTensor shows: positions of the index inputs, with slices for whole dimensions.
std::string AdvancedSubtensor::label() const {
  std::vector<std::string> entries;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    while (int(entries.size()) < axes[k]) entries.push_back("slice(None, None, None)");
    entries.push_back(std::to_string(k));
  }
  return cat("AdvancedSubtensor{idx_list=(", join(entries, ", "), entries.size() == 1 ? ",)}" : ")}");
}

std::string AdvancedSubtensor::pprint_text(std::span<const std::string> inputs) const {
  return cat(atom_text(inputs[0]), "[", advanced_index_text(axes, inputs.subspan(1)), "]");
}

Apply AdvancedSubtensor::make_node(std::span<const Variable> inputs) const {
  if (inputs.empty()) throw TypeError("AdvancedSubtensor: expected a tensor, got nothing");
  const TensorType& x = inputs[0].tensor();
  Variables own{inputs[0]};
  for (auto& index : checked_index_tensors(axes, inputs[0], inputs.subspan(1), name())) own.push_back(index);
  const AdvancedIndex layout(axes, x.ndim(), own[1].ndim());
  const Dims shape = layout.region(x.shape, broadcast_index_shape(std::span(own).subspan(1), name()));
  return Apply(OpRef(this), own, {tensor_type(x.dtype, shape)});
}

std::vector<Shape> AdvancedSubtensor::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  return {read_layout(axes, node).region(inputs[0], broadcast_index_lengths(index_inputs(node), inputs.subspan(1)))};
}

void AdvancedSubtensor::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const Array& x = in[0];
  const Array offsets = index_offsets(axes, x, in.subspan(1), index_inputs(node), name());
  const AdvancedIndex layout = read_layout(axes, node);
  const Dims along_index(std::size_t(offsets.ndim()), 0), across(std::size_t(x.ndim()), 0);
  const Dims shape = layout.region(x.shape(), offsets.shape());
  out[0] = Array::empty(x.dtype(), shape);
  const std::size_t size = itemsize(x.dtype());
  const char* from = static_cast<const char*>(x.data());
  const char* where = static_cast<const char*>(offsets.data());
  char* to = static_cast<char*>(out[0].mutable_data());
  for_each_offset<3>(
      shape, {layout.region(x.strides(), along_index), layout.region(across, offsets.strides()), out[0].strides()},
      [&](auto& at) {
        std::int64_t start;
        std::memcpy(&start, where + at[1], sizeof start);
        std::memcpy(to + at[2], from + start + at[0], size);
      });
}

bool AdvancedSubtensor::emit(Lowering& to, const Apply& node) const {
  to.element(
      0, [&to, source = advanced_source(to, axes, node, 1, name())](Index at) { return to.in(0, source(at)); }, 2);
  return true;
}

void AdvancedSubtensor::emit_tensors(TensorLowering& to, const Apply& node) const {
  const auto positions = tensor_positions(to, axes, node, 1, name());
  const TensorValue gathered = to.builder().gather(to.in(0), positions.at, axes);
  to.out(0, to.builder().transpose(gathered, positions.from_gathered));
}

Variables AdvancedSubtensor::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  if (cotangents[0].is_disconnected()) return out;
  Variables inputs{zeros_like(node.input(0)), cotangents[0]};
  inputs.insert(inputs.end(), node.inputs().begin() + 1, node.inputs().end());
  out[0] = cast((*make_ref<AdvancedIncSubtensor>(axes, false))(inputs), inputs[0].dtype());
  return out;
}

Variables AdvancedSubtensor::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  if (tangents[0].is_disconnected()) return {disconnected()};
  Variables inputs = node.inputs();
  inputs[0] = tangents[0];
  return {(*this)(inputs)};
}

std::vector<std::vector<bool>> AdvancedSubtensor::connection_pattern(const Apply& node) const {
  return connect_first(node, 1);
}

// If only x is batched, the same index is applied after the batch dimensions. If the index is batched too, each batch
// dimension gets an index that counts along it.
Apply AdvancedSubtensor::vectorize_along(const Batch& batch) const {
  const int gained = batch.ndim();
  if (gained == 0) return make_node(batch.inputs);
  if (batch.axis == BatchAxis::last) return batch.any_from(1) ? Apply() : make_node(batch.inputs);
  const AdvancedBatch index = batched_index(axes, batch, 1);
  const int x_ndim = batch.node.input(0).ndim(), index_ndim = batch.node.input(1).ndim();
  Variables inputs{index.counts ? with_batch(batch, 0) : batch.inputs[0]};
  inputs.insert(inputs.end(), index.indices.begin(), index.indices.end());
  const Apply gathered = make_ref<AdvancedSubtensor>(index.axes)->make_node(inputs);
  const std::vector<int> order = region_order(axes, index, x_ndim, index_ndim, gained);
  if (std::is_sorted(order.begin(), order.end())) return gathered;
  return dimshuffle(gathered.output(), order).owner();
}

namespace {

std::vector<Sample> advanced_subtensor_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const Array matrix = sample_values(DType::Float64, {4, 3}), cube = sample_values(DType::Float64, {3, 2, 4});
  auto x = [] { return sample_input(DType::Float64, {any, any}); };
  auto t = [] { return sample_input(DType::Float64, {any, any, any}); };
  auto index = [](const Dims& type) { return sample_input(DType::Int64, type); };
  auto longs = [](std::initializer_list<std::int64_t> values) { return Array(values); };
  auto add = [&](std::vector<int> axes, Variables inputs, std::vector<Array> values) {
    out.push_back({make_ref<AdvancedSubtensor>(axes)->make_node(inputs), std::move(values)});
  };
  add({0}, {sample_input(DType::Float64, {any}), index({any})},
      {sample_values(DType::Float64, {5}), longs({4, -5, 0, 4})});
  add({0}, {x(), sample_input(DType::UInt8, {any})}, {matrix, Array({std::uint8_t(3), std::uint8_t(0)})});
  add({0, 1}, {x(), index({any}), index({any})}, {matrix, longs({0, 3, 3}), longs({2, -1, 0})});
  add({1}, {x(), index({any, any})}, {matrix, longs({0, 2, 1, -1}).reshape({2, 2})});
  add({0, 2}, {t(), index({any, 1}), index({any})}, {cube, longs({2, 0}).reshape({2, 1}), longs({1, 3, -4})});
  add({1, 2}, {t(), index({}), index({any})}, {cube, Array(std::int64_t(1)), longs({3, 3})});
  add({0}, {sample_input(DType::Int32, {any, 2}), index({any})},
      {sample_values(DType::Int32, {3, 2}), Array::zeros(DType::Int64, {0})});
  return out;
}

BITALE_REGISTER_OP(AdvancedSubtensor, "Elements or rows of a tensor, by integer tensors.", advanced_subtensor_samples);

}  // namespace

Range AdvancedSubtensor::range(const Apply&, int, InputRanges& inputs) const { return inputs.of(0); }

}  // namespace bitale
