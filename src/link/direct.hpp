// Direct calls: small native functions run on their caller's stack. A call that brings memory for every result, in
// plain rows, needs no workspace, no receiver and no lock; what a general call must be ready for, this one leaves to
// it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bitale/core/receiver.hpp"
#include "bitale/core/view.hpp"
#include "bitale/graph/function_graph.hpp"
#include "lowering/lower.hpp"
#include "runtime/frame.hpp"

namespace bitale::link {

class DirectCode {
 public:
  // Nothing when code needs more than addresses and lengths (temporaries, callbacks), writes results of lengths that it
  // alone knows before it has checked all, or has more buffers than belong on a stack.
  static std::optional<DirectCode> of(const lowering::Lowered& lowered, const FunctionGraph& graph,
                                      runtime::Entry entry, std::int64_t stream_from);

  // Views of the types' ranks. False: nothing has been written, and the general call is to be made. So it is for memory
  // that is not in rows, badly aligned, overlapping, or of another shape than its type or the result, for large results
  // of code that writes before it has checked all, and whenever the code fails; the general call then says why.
  bool run(std::span<const View> inputs, std::span<const View> outputs) const;

  // Results where the receiver wants them; nothing when it wasn't asked for memory, and the general call is to be made.
  // Else what the code returned.
  std::optional<std::int32_t> run(std::span<const View> inputs, Receiver& results) const;

 private:
  static constexpr std::size_t most_buffers = 40, most_lengths = 64, most_views = 16;
  static constexpr std::size_t most_staged = 16 << 10;  // bytes
  // What is known of a length: a number, or that it is the one at this place among the frame's lengths.
  struct Length {
    std::int64_t number = unknown_length, same_as = -1;
    bool is_known() const { return number != unknown_length || same_as >= 0; }
  };
  struct Place {  // of an input or output
    std::size_t buffer = 0, lengths = 0;
    std::int64_t itemsize = 0;
    int ndim = 0;
    DType dtype = DType::Float64;
    bool is_known = true;  // all its lengths, before code runs
  };
  struct Constant {
    std::size_t buffer;
    void* data;
  };
  struct Memory;
  struct Call;

  template <class Fits>
  bool take(const View& view, const Place& place, Memory& memory, std::uintptr_t& end, const Fits& fits) const;
  bool take_inputs(std::span<const View> inputs, Memory& memory, std::uintptr_t* ends) const;
  bool run_staged(std::span<const View> outputs, Memory& memory) const;
  std::int64_t known(const Length& length, const Memory& memory) const;

  runtime::Entry entry_ = nullptr;
  std::int64_t stream_from_ = 0;  // as in Frame
  std::vector<Constant> constants_;
  std::vector<Place> inputs_, outputs_;
  std::vector<Length> lengths_;  // of all buffers, as in Frame; of inputs what their types say
  std::vector<int> output_of_;   // per buffer
  bool all_known_ = true;        // the lengths of the outputs
  bool stages_ = false;          // code writes before it has checked all
};

}  // namespace bitale::link
