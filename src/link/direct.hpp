// Direct calls: small native functions run on their caller's stack. A call that brings memory for every result, in
// plain rows, needs no workspace, no receiver and no lock; what a general call must be ready for, this one leaves to
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bitale/core/view.hpp"
#include "bitale/graph/function_graph.hpp"
#include "lowering/lower.hpp"
#include "runtime/frame.hpp"

namespace bitale::link {

class DirectCode {
 public:
  // Nothing when code needs more than addresses and lengths (temporaries, callbacks), writes before it has checked all,
  // or has more buffers than belong on a stack.
  static std::optional<DirectCode> of(const lowering::Lowered& lowered, const FunctionGraph& graph,
                                      runtime::Entry entry, std::int64_t stream_from);

  // Views of the types' ranks, inputs of the types' known lengths. False: nothing has been written, and the general
  // call is to be made. So it is for memory that is not in rows, badly aligned, overlapping, or of another shape than a
  // result, and whenever the code fails; the general call then says why.
  bool run(std::span<const View> inputs, std::span<const View> outputs) const;

 private:
  static constexpr std::size_t most_buffers = 40, most_lengths = 64, most_views = 16;
  struct Place {  // of an input or output
    std::size_t buffer, lengths;
    int ndim;
    std::int64_t itemsize;
  };
  struct Call;

  runtime::Entry entry_ = nullptr;
  std::int64_t stream_from_ = 0;  // as in Frame
  std::vector<void*> data_;       // per buffer: the address of a constant
  std::vector<Place> inputs_, outputs_;
  std::vector<int> output_of_;  // per buffer
};

}  // namespace bitale::link
