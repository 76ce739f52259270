#include "link/direct.hpp"

#include <algorithm>
#include <array>

#include "core/extent.hpp"
#include "link/failing.hpp"

namespace bitale::link {

std::optional<DirectCode> DirectCode::of(const lowering::Lowered& lowered, const FunctionGraph& graph,
                                         runtime::Entry entry, std::int64_t stream_from) {
  const program::Program& program = lowered.program;
  const auto offsets = program::length_offsets(program);
  const bool needs_workspace = std::any_of(program.buffers.begin(), program.buffers.end(), [](auto& buffer) {
    return buffer.role == program::Role::temporary && buffer.slot >= 0;
  });
  if (needs_workspace || !lowered.callbacks.empty() || !writes_last(program)) return {};
  if (program.buffers.size() > most_buffers || std::size_t(offsets.back()) > most_lengths) return {};
  if (graph.inputs().size() + graph.outputs().size() > most_views) return {};

  DirectCode out;
  out.entry_ = entry;
  out.stream_from_ = stream_from;
  out.data_.resize(program.buffers.size());
  out.output_of_.assign(program.buffers.size(), -1);
  out.inputs_.resize(graph.inputs().size());
  out.outputs_.resize(graph.outputs().size());
  std::size_t found = 0;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const program::Buffer& buffer = program.buffers[b];
    const auto slot = std::size_t(buffer.slot);
    const auto place = [&](const Variable& variable) {
      ++found;
      return Place{b, std::size_t(offsets[b]), variable.ndim(), std::int64_t(itemsize(buffer.dtype))};
    };
    if (buffer.role == program::Role::constant) out.data_[b] = buffer.value.mutable_data();
    if (buffer.role == program::Role::input) out.inputs_[slot] = place(graph.inputs()[slot]);
    if (buffer.role == program::Role::output) {
      out.outputs_[slot] = place(graph.outputs()[slot]);
      out.output_of_[b] = int(slot);
    }
  }
  if (found != out.inputs_.size() + out.outputs_.size()) return {};
  return out;
}

struct DirectCode::Call {
  runtime::Frame frame;  // first: generated code is given its address
  const DirectCode& code;
  std::span<const View> outputs;

  static std::int32_t allocate(runtime::Frame* frame, std::int64_t buffer) {
    auto& call = *reinterpret_cast<Call*>(frame);
    const int output = call.code.output_of_[std::size_t(buffer)];
    if (output < 0) return runtime::failed_in_host;
    const Place& place = call.code.outputs_[std::size_t(output)];
    const View& target = call.outputs[std::size_t(output)];
    const std::int64_t* lengths = frame->lengths + place.lengths;
    for (int axis = 0; axis < place.ndim; ++axis)
      if (lengths[axis] != target.shape[axis]) return runtime::failed_in_host;
    frame->data[buffer] = target.data;
    return 0;
  }
};

bool DirectCode::run(std::span<const View> inputs, std::span<const View> outputs) const {
  if (inputs.size() != inputs_.size() || outputs.size() != outputs_.size()) return false;
  std::array<Extent, most_views> extents;
  bool good = true;
  const auto look_at = [&](const View& view, const Place& place) {
    const Extent extent = extent_of(view, place.ndim, place.itemsize);
    good &= is_contiguous(view, place.ndim, place.itemsize);
    good &=
        view.data != nullptr && (reinterpret_cast<std::uintptr_t>(view.data) & std::uintptr_t(place.itemsize - 1)) == 0;
    return extent;
  };

  std::array<void*, most_buffers> data;
  std::array<std::int64_t, most_lengths> lengths;
  std::copy(data_.begin(), data_.end(), data.begin());
  std::size_t count = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Place& place = inputs_[i];
    extents[count++] = look_at(inputs[i], place);
    data[place.buffer] = inputs[i].data;
    for (int axis = 0; axis < place.ndim; ++axis) lengths[place.lengths + std::size_t(axis)] = inputs[i].shape[axis];
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Extent extent = look_at(outputs[i], outputs_[i]);
    for (std::size_t k = 0; k < count; ++k) good &= !extent.overlaps(extents[k]);
    extents[count++] = extent;
  }
  if (!good) return false;

  Call call{{}, *this, outputs};
  call.frame.data = data.data();
  call.frame.lengths = lengths.data();
  call.frame.stream_from = stream_from_;
  call.frame.allocate = Call::allocate;
  call.frame.host_call = [](runtime::Frame*, std::int64_t) { return runtime::failed_in_host; };
  return entry_(&call.frame) == 0;
}

}  // namespace bitale::link
