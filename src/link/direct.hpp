// Direct calls: small native functions are run on the caller's stack. A call in which the caller provides C-contiguous
// memory for every result needs no workspace, no receiver and no lock. Everything that only a general call can handle
// is left to the general call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bitale/core/receiver.hpp"
#include "bitale/core/view.hpp"
#include "bitale/graph/function_graph.hpp"
#include "codegen/code.hpp"
#include "lowering/lower.hpp"
#include "runtime/frame.hpp"

namespace bitale::link {

class DirectCode {
 public:
  // std::nullopt when the code needs more than addresses and lengths (temporaries, callbacks), when it can fail after
  // writing results whose lengths only it knows, or when it has more buffers than belong on a stack.
  static std::optional<DirectCode> of(const lowering::Lowered& lowered, const FunctionGraph& graph,
                                      std::shared_ptr<const codegen::MachineCode::Tier> code, std::int64_t stream_from);

  // Takes views of the types' ranks. Returns false when nothing has been written and the caller must make the general
  // call. This happens for memory that is not C-contiguous, badly aligned, overlapping, or of another shape than its
  // type or the result; for large results of code that can fail after its first write; and whenever the code fails. The
  // general call then reports the reason.
  bool run(std::span<const View> inputs, std::span<const View> outputs) const;

  // Whether the types declare all lengths, and results are written by the code itself: then a call needs addresses
  // only.
  bool has_known_lengths() const { return !fixed_.empty(); }
  // The same call of such code for C-contiguous memory of these lengths, inputs before outputs. It is not interrupted.
  bool run_at(std::span<void* const> addresses) const;

  // Writes results to the memory that the receiver provides. Returns std::nullopt when the receiver was not asked for
  // memory and the caller must make the general call; otherwise the status that the code returned.
  std::optional<std::int32_t> run(std::span<const View> inputs, Receiver& results) const;

 private:
  static constexpr std::size_t max_buffers = 40, max_lengths = 64, max_views = 16;
  static constexpr std::size_t max_staged = 16 << 10;  // bytes
  // What is known of a length: a number, or the index of the frame's length that it equals.
  struct Length {
    std::int64_t number = unknown_length, same_as = -1;
    bool is_known() const { return number != unknown_length || same_as >= 0; }
  };
  struct Argument {  // of an input or output
    std::size_t buffer = 0, lengths = 0;
    std::int64_t itemsize = 0;
    int ndim = 0;
    DType dtype = DType::Float64;
    bool is_known = true;  // whether all its lengths are known before the code runs
  };
  struct Constant {
    std::size_t buffer;
    void* data;
  };
  struct Memory;
  struct Call;

  template <class Fits>
  bool take(const View& view, const Argument& argument, Memory& memory, std::uintptr_t& end, const Fits& fits) const;
  bool take_inputs(std::span<const View> inputs, Memory& memory, std::uintptr_t* ends) const;
  bool run_staged(std::span<const View> outputs, Memory& memory) const;
  void fix();
  bool run_fixed(std::span<const View> inputs, std::span<const View> outputs) const;
  bool run_at(std::span<void* const> addresses, std::int32_t (*poll)(runtime::Frame*)) const;
  std::int64_t known(const Length& length, const Memory& memory) const;

  std::shared_ptr<const codegen::MachineCode::Tier> code_;
  std::int64_t stream_from_ = 0;  // as in Frame
  std::vector<Constant> constants_;
  std::vector<Argument> inputs_, outputs_;
  std::vector<Length> lengths_;  // of all buffers, as in Frame; for inputs, what their types declare
  std::vector<int> output_of_;   // per buffer
  bool all_known_ = true;        // whether the lengths of all outputs are known
  bool stages_ = false;          // the code can fail after it has written a result

  // The same of functions whose lengths are all known and whose results need no stage: of each input and output its
  // buffer, the bits that are 0 in an aligned address, and its size; all lengths with strides in bytes, and the frame's
  // lengths. Empty for others.
  struct Fixed {
    std::size_t buffer;
    int ndim;
    std::uintptr_t misaligned, bytes;
  };
  std::vector<Fixed> fixed_;
  std::vector<std::int64_t> fixed_shapes_, fixed_lengths_;
};

}  // namespace bitale::link
