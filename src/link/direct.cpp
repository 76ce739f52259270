#include "link/direct.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "link/failing.hpp"

// The preparation of a direct call takes about as long as the code itself, so it is inlined into one function.
#define BITALE_INLINE [[gnu::always_inline]] inline

namespace bitale::link {

std::optional<DirectCode> DirectCode::of(const lowering::Lowered& lowered, const FunctionGraph& graph,
                                         std::shared_ptr<const codegen::MachineCode::Tier> code,
                                         std::int64_t stream_from) {
  const program::Program& program = lowered.program;
  const auto offsets = program::length_offsets(program);
  const bool needs_workspace = std::any_of(program.buffers.begin(), program.buffers.end(), [](auto& buffer) {
    return buffer.role == program::Role::temporary && buffer.slot >= 0;
  });
  if (needs_workspace || !lowered.callbacks.empty()) return {};
  if (program.buffers.size() > max_buffers || std::size_t(offsets.back()) > max_lengths) return {};
  if (graph.inputs().size() + graph.outputs().size() > max_views) return {};

  DirectCode out;
  out.code_ = std::move(code);
  out.stream_from_ = stream_from;
  out.output_of_.assign(program.buffers.size(), -1);
  out.inputs_.resize(graph.inputs().size());
  out.outputs_.resize(graph.outputs().size());
  out.lengths_.resize(std::size_t(offsets.back()));
  const auto length_of = [&](program::Expr expr) -> Length {
    if (expr.is_constant()) return {expr.payload()};
    if (expr.code() != program::Code::dim) return {};
    const std::int64_t buffer = expr.payload() >> 8, axis = expr.payload() & 0xff;
    if (program.buffers[std::size_t(buffer)].role != program::Role::input) return {};
    return {unknown_length, offsets[std::size_t(buffer)] + axis};
  };
  std::size_t found = 0;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const program::Buffer& buffer = program.buffers[b];
    const auto slot = std::size_t(buffer.slot);
    const auto argument = [&](const Variable& variable) {
      ++found;
      const TensorType& type = variable.storage();
      Argument it{b, std::size_t(offsets[b]), std::int64_t(itemsize(type.dtype)), type.ndim(), type.dtype};
      for (int axis = 0; axis < it.ndim; ++axis) {
        Length& length = out.lengths_[it.lengths + std::size_t(axis)];
        length = length_of(buffer.shape[std::size_t(axis)]);
        it.is_known &= length.is_known();
      }
      return it;
    };
    if (buffer.role == program::Role::constant) out.constants_.push_back({b, buffer.value.mutable_data()});
    if (buffer.role == program::Role::input) out.inputs_[slot] = argument(graph.inputs()[slot]);
    if (buffer.role == program::Role::output) {
      out.outputs_[slot] = argument(graph.outputs()[slot]);
      out.output_of_[b] = int(slot);
      out.all_known_ &= out.outputs_[slot].is_known;
    }
  }
  if (found != out.inputs_.size() + out.outputs_.size()) return {};
  out.stages_ = !writes_last(program);
  if (out.stages_ && !out.all_known_) return {};
  if (!out.stages_) out.fix();
  return out;
}

void DirectCode::fix() {
  std::vector<Fixed> fixed;
  std::vector<std::int64_t> shapes, lengths(lengths_.size(), 0);
  for (const std::vector<Argument>* arguments : {&inputs_, &outputs_})
    for (const Argument& argument : *arguments) {
      std::int64_t bytes = argument.itemsize;
      const std::size_t first = shapes.size();
      shapes.resize(first + 2 * std::size_t(argument.ndim));
      for (int axis = argument.ndim; axis-- > 0;) {
        const std::size_t at = argument.lengths + std::size_t(axis);
        const Length& known = lengths_[at];
        const std::int64_t length = known.same_as < 0 ? known.number : lengths_[std::size_t(known.same_as)].number;
        if (length == unknown_length) return;
        lengths[at] = length;
        shapes[first + 2 * std::size_t(axis)] = length;
        shapes[first + 2 * std::size_t(axis) + 1] = bytes;
        bytes *= length;
      }
      fixed.push_back({argument.buffer, argument.ndim, std::uintptr_t(argument.itemsize - 1), std::uintptr_t(bytes)});
    }
  fixed_ = std::move(fixed);
  fixed_shapes_ = std::move(shapes);
  fixed_lengths_ = std::move(lengths);
}

// The buffers as the code sees them.
struct DirectCode::Memory {
  std::array<void*, max_buffers> data;
  std::array<std::int64_t, max_lengths> lengths;
};

struct DirectCode::Call {
  runtime::Frame frame;  // first: generated code is given its address
  const DirectCode& code;
  std::span<const View> outputs;

  Call(const DirectCode& code, std::span<const View> outputs, Memory& memory) : frame{}, code(code), outputs(outputs) {
    frame.data = memory.data.data();
    frame.lengths = memory.lengths.data();
    frame.stream_from = code.stream_from_;
    frame.allocate = allocate;
    frame.host_call = [](runtime::Frame*, std::int64_t) { return runtime::failed_in_host; };
  }

  // Provides memory for a result whose lengths only the code knows.
  static std::int32_t allocate(runtime::Frame* frame, std::int64_t buffer, std::int64_t) {
    auto& call = *reinterpret_cast<Call*>(frame);
    const int output = call.code.output_of_[std::size_t(buffer)];
    if (output < 0) return runtime::failed_in_host;
    const Argument& argument = call.code.outputs_[std::size_t(output)];
    const View& target = call.outputs[std::size_t(output)];
    const std::int64_t* lengths = frame->lengths + argument.lengths;
    for (int axis = 0; axis < argument.ndim; ++axis)
      if (lengths[axis] != target.shape[axis]) return runtime::failed_in_host;
    frame->data[buffer] = target.data;
    return 0;
  }
};

// Whether the view is C-contiguous at a properly aligned address, with lengths that `fits` accepts; `end` is set to
// where it ends. An array without elements may be rejected.
template <class Fits>
BITALE_INLINE bool DirectCode::take(const View& view, const Argument& argument, Memory& memory, std::uintptr_t& end,
                                    const Fits& fits) const {
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  std::int64_t bytes = argument.itemsize;
  bool good = address != 0 && (address & std::uintptr_t(bytes - 1)) == 0;
  for (int axis = argument.ndim; axis-- > 0;) {
    const std::int64_t length = view.shape[axis];
    good &= (view.strides[axis] == bytes || length == 1) & fits(argument.lengths + std::size_t(axis), length);
    bytes *= length;
  }
  end = address + std::uintptr_t(bytes);
  memory.data[argument.buffer] = view.data;
  return good;
}

BITALE_INLINE bool DirectCode::take_inputs(std::span<const View> inputs, Memory& memory, std::uintptr_t* ends) const {
  if (inputs.size() != inputs_.size()) return false;
  for (auto& constant : constants_) memory.data[constant.buffer] = constant.data;
  bool good = true;
  const View* view = inputs.data();
  const Length* known = lengths_.data();
  for (const Argument& argument : inputs_)
    good &= take(*view++, argument, memory, *ends++, [&](std::size_t at, std::int64_t length) {
      memory.lengths[at] = length;
      return known[at].number == unknown_length || known[at].number == length;
    });
  return good;
}

BITALE_INLINE std::int64_t DirectCode::known(const Length& length, const Memory& memory) const {
  return length.same_as < 0 ? length.number : memory.lengths[std::size_t(length.same_as)];
}

// Small functions of known lengths take as long as these comparisons. They are made in any order, and one branch asks
// for the result.
BITALE_INLINE bool DirectCode::run_at(std::span<void* const> addresses, std::int32_t (*poll)(runtime::Frame*)) const {
  Memory memory;
  for (const Constant& constant : constants_) memory.data[constant.buffer] = constant.data;
  for (std::size_t k = 0; k < fixed_lengths_.size(); ++k) memory.lengths[k] = fixed_lengths_[k];
  bool good = true;
  const std::size_t count = fixed_.size(), inputs = inputs_.size();
  for (std::size_t k = 0; k < count; ++k) {
    const Fixed& argument = fixed_[k];
    const auto begin = reinterpret_cast<std::uintptr_t>(addresses[k]), end = begin + argument.bytes;
    good &= (begin != 0) & ((begin & argument.misaligned) == 0);
    memory.data[argument.buffer] = addresses[k];
    if (k < inputs) continue;
    for (std::size_t other = 0; other < k; ++other) {
      const auto begin_of_other = reinterpret_cast<std::uintptr_t>(addresses[other]);
      good &= (begin >= begin_of_other + fixed_[other].bytes) | (begin_of_other >= end);
    }
  }
  if (!good) return false;
  Call call(*this, {}, memory);
  call.frame.poll = poll;
  return code_->run(&call.frame) == 0;
}

bool DirectCode::run_at(std::span<void* const> addresses) const {
  return run_at(addresses, [](runtime::Frame*) { return 0; });
}

bool DirectCode::run_fixed(std::span<const View> inputs, std::span<const View> outputs) const {
  std::array<void*, max_views> addresses;
  bool good = true;
  std::size_t count = 0;
  const std::int64_t* expected = fixed_shapes_.data();
  for (const std::span<const View> views : {inputs, outputs})
    for (const View& view : views) {
      for (int axis = 0; axis < fixed_[count].ndim; ++axis, expected += 2)
        good &= (view.shape[axis] == expected[0]) & ((view.strides[axis] == expected[1]) | (expected[0] == 1));
      addresses[count++] = view.data;
    }
  return good && run_at({addresses.data(), count}, runtime::poll);
}

bool DirectCode::run(std::span<const View> inputs, std::span<const View> outputs) const {
  if (outputs.size() != outputs_.size() || inputs.size() != inputs_.size()) return false;
  if (!fixed_.empty()) return run_fixed(inputs, outputs);
  Memory memory;
  std::uintptr_t ends[max_views];
  if (!take_inputs(inputs, memory, ends)) return false;
  bool good = true;
  const View *view = outputs.data(), *const last_input = inputs.data() + inputs.size();
  std::uintptr_t* end = ends + inputs.size();
  for (const Argument& argument : outputs_) {
    good &= take(*view, argument, memory, *end, [&](std::size_t at, std::int64_t length) {
      return !argument.is_known || length == known(lengths_[at], memory);
    });
    const auto begin = reinterpret_cast<std::uintptr_t>(view->data);
    const auto is_disjoint = [&](const View& other, std::uintptr_t end_of_other) {
      return begin >= end_of_other || reinterpret_cast<std::uintptr_t>(other.data) >= *end;
    };
    const std::uintptr_t* other_end = ends;
    for (const View* other = inputs.data(); other != last_input; ++other) good &= is_disjoint(*other, *other_end++);
    for (const View* other = outputs.data(); other != view; ++other) good &= is_disjoint(*other, *other_end++);
    if (!argument.is_known) memory.data[argument.buffer] = nullptr;  // the code requests it
    ++view;
    ++end;
  }
  if (!good) return false;
  if (stages_) return run_staged(outputs, memory);
  Call call(*this, outputs, memory);
  return code_->run(&call.frame) == 0;
}

// Results are staged on the stack until the code has succeeded.
[[gnu::noinline]] bool DirectCode::run_staged(std::span<const View> outputs, Memory& memory) const {
  constexpr std::size_t cache_line = 64;
  alignas(cache_line) std::array<std::byte, max_staged> stage;
  std::array<std::size_t, max_views> sizes;
  std::size_t used = 0, output = 0;
  for (const Argument& argument : outputs_) {
    std::size_t& bytes = sizes[output];
    bytes = std::size_t(argument.itemsize);
    for (int axis = 0; axis < argument.ndim; ++axis) bytes *= std::size_t(outputs[output].shape[axis]);
    if (bytes > max_staged - used) return false;
    memory.data[argument.buffer] = stage.data() + used;
    used = std::min(max_staged, (used + bytes + cache_line - 1) & ~(cache_line - 1));
    ++output;
  }
  Call call(*this, outputs, memory);
  if (code_->run(&call.frame) != 0) return false;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    std::memcpy(outputs[k].data, memory.data[outputs_[k].buffer], sizes[k]);
  return true;
}

std::optional<std::int32_t> DirectCode::run(std::span<const View> inputs, Receiver& results) const {
  Memory memory;
  std::uintptr_t ends[max_views];
  if (!all_known_ || !take_inputs(inputs, memory, ends)) return {};
  int output = 0;
  for (const Argument& argument : outputs_) {
    std::array<std::int64_t, max_lengths> shape;
    for (int axis = 0; axis < argument.ndim; ++axis)
      shape[std::size_t(axis)] = known(lengths_[argument.lengths + std::size_t(axis)], memory);
    memory.data[argument.buffer] =
        results.allocate(output++, argument.dtype, std::span(shape).first(std::size_t(argument.ndim)));
  }
  Call call(*this, {}, memory);
  return code_->run(&call.frame);
}

}  // namespace bitale::link
