// Frame: what one call of generated code is given. Plain C layout: generated code reads and writes it by offsets.
#pragma once

#include <cstdint>

namespace bitale::runtime {

struct Frame;

// Whether the call must end early (core/interruption.hpp): 0, or `interrupted`. Long loops call it.
std::int32_t poll(Frame* frame);

struct Frame {
  void** data;            // per buffer of the program: its elements; for a result null, or memory of the right size
  std::int64_t* lengths;  // of all buffers, consecutively (program::length_offsets)
  // Provides memory for a buffer whose lengths are set, and for those after it, `count` in all, which have the same
  // lengths; stores the addresses in `data`. Not 0: failed.
  std::int32_t (*allocate)(Frame* frame, std::int64_t buffer, std::int64_t count);
  // Runs an op's perform on buffers, and sets data and lengths of its outputs. Not 0: failed.
  std::int32_t (*host_call)(Frame* frame, std::int64_t callback);
  std::int64_t threads = 1;          // number of threads for loops of this call (threads.hpp)
  std::int64_t in_small_chunks = 0;  // for tests: loops are shared even if there is little work
  std::int64_t stream_from = 0;      // a loop that moves this many bytes may write past the caches
  void* spill_area = nullptr;        // for values that parts of the code pass on to others
  std::int32_t (*poll)(Frame* frame) = runtime::poll;
};

// What generated code returns: 0, a check's number + 1, failed_in_host if the host has the error, no_memory, or
// interrupted.
inline constexpr std::int32_t failed_in_host = -1, no_memory = -2, interrupted = -3;

using Entry = std::int32_t (*)(Frame* frame);

}  // namespace bitale::runtime
