// Frame: what one call of generated code sees. Plain C layout: generated code reads and writes it by offsets.
#pragma once

#include <cstdint>

namespace bitale::runtime {

struct Frame;

// Whether the call is to end before it is done (core/interruption.hpp): 0, or `interrupted`. Long loops ask.
std::int32_t poll(Frame* frame);

struct Frame {
  void** data;            // per buffer of the program: its elements; of a result null, or memory of the right size
  std::int64_t* lengths;  // of all buffers, one after the other (program::length_offsets)
  // Brings memory for a buffer whose lengths are set, and for those after it, `count` in all, which have the same
  // lengths; stores the addresses in `data`. Not 0: failed.
  std::int32_t (*allocate)(Frame* frame, std::int64_t buffer, std::int64_t count);
  // Runs an op's perform on buffers, and sets data and lengths of its outputs. Not 0: failed.
  std::int32_t (*host_call)(Frame* frame, std::int64_t callback);
  std::int64_t threads = 1;          // that loops of this call may use (threads.hpp)
  std::int64_t in_small_chunks = 0;  // for tests: loops are shared however little there is to do
  std::int64_t stream_from = 0;      // a loop that moves as many bytes may write past the caches
  void* spill_area = nullptr;        // of the code's own: values that its parts hand on
  std::int32_t (*poll)(Frame* frame) = runtime::poll;
};

// What generated code returns: 0, a check's number + 1, failed_in_host when the host knows why, no_memory, or
// interrupted.
inline constexpr std::int32_t failed_in_host = -1, no_memory = -2, interrupted = -3;

using Entry = std::int32_t (*)(Frame* frame);

}  // namespace bitale::runtime
