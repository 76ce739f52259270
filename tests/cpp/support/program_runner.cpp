#include "support/program_runner.hpp"

#include <cstring>
#include <memory>

#include "bitale/core/error.hpp"
#include "codegen/code.hpp"
#include "runtime/frame.hpp"
#include "support/program_interpreter.hpp"

namespace bitale::test {

namespace {

using program::Role;

// The frame of a call, whose memory is allocated when the code requests it.
struct Call : runtime::Frame {
  const program::Program& program;
  std::vector<std::int64_t> offsets, all_lengths;
  std::vector<void*> addresses;
  std::vector<Array> arrays;

  explicit Call(const program::Program& program, std::span<const Array> inputs)
      : Frame{},
        program(program),
        offsets(program::length_offsets(program)),
        all_lengths(std::size_t(offsets.back()), 0),
        addresses(program.buffers.size(), nullptr),
        arrays(program.buffers.size()) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
      const program::Buffer& buffer = program.buffers[b];
      if (buffer.role == Role::input) arrays[b] = inputs[std::size_t(buffer.slot)].contiguous();
      if (buffer.role == Role::constant) arrays[b] = buffer.value.contiguous();
      if (buffer.role != Role::input && buffer.role != Role::constant) continue;
      for (int axis = 0; axis < buffer.ndim(); ++axis)
        all_lengths[std::size_t(offsets[b]) + std::size_t(axis)] = arrays[b].shape(axis);
      addresses[b] = const_cast<void*>(arrays[b].data());
    }
    Frame::data = addresses.data();
    Frame::lengths = all_lengths.data();
    Frame::allocate = [](runtime::Frame* frame, std::int64_t first, std::int64_t count) -> std::int32_t {
      auto& call = static_cast<Call&>(*frame);
      for (std::int64_t b = first; b < first + count; ++b) {
        const program::Buffer& buffer = call.program.buffers[std::size_t(b)];
        Dims shape;
        for (int axis = 0; axis < buffer.ndim(); ++axis)
          shape.push_back(call.all_lengths[std::size_t(call.offsets[std::size_t(b)]) + std::size_t(axis)]);
        Array& array = call.arrays[std::size_t(b)] = Array::zeros(buffer.dtype, shape);
        // Makes reads of unwritten memory visible.
        std::memset(array.mutable_data(), 0x5a, std::size_t(array.size()) * itemsize(buffer.dtype));
        call.addresses[std::size_t(b)] = array.mutable_data();
      }
      return 0;
    };
  }
};

}  // namespace

ProgramResult run_program(const program::Program& program, std::span<const Array> inputs, std::string_view how) {
  ProgramResult out;
  if (how == "interpreter") {
    ProgramRun run = interpret(program, {}, inputs);
    out.status = run.failed_check < 0 ? 0 : run.failed_check + 1;
    out.outputs = std::move(run.outputs);
    return out;
  }
  const codegen::Generator& generator = how == "c"        ? codegen::c_generator()
                                        : how == "tiered" ? codegen::llvm_tiered_generator()
                                                          : codegen::llvm_generator();
  return run_code(*codegen::compile(program, codegen::this_target(), generator), program, inputs);
}

ProgramResult run_code(const codegen::MachineCode& code, const program::Program& program,
                       std::span<const Array> inputs) {
  ProgramResult out;
  Call call(program, inputs);
  out.status = code.run(&call);
  if (out.status) return out;
  out.outputs.resize(std::size_t(program.output_count));
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].role == Role::output) out.outputs[std::size_t(program.buffers[b].slot)] = call.arrays[b];
  return out;
}

}  // namespace bitale::test
