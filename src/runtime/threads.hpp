// Threads: the loops of one call are shared among several processors. A loop is split into chunks, which free threads
// claim one at a time: the caller, and the workers of one pool per process, which start when they are first needed.
// Where chunks begin depends on the loop alone, not on the number of threads or on which thread runs which chunk.
#pragma once

#include <cstdint>

#include "runtime/frame.hpp"

namespace bitale::runtime {

// A chunk of a loop, generated code: iterations begin, ..., end - 1. `worker` is at least 0 and below the number of
// threads in the frame; no two chunks that run at once have the same. The chunk stores what it reduced at `partial`.
using Chunk = void (*)(Frame* frame, const void* context, std::int64_t begin, std::int64_t end, std::int64_t worker,
                       void* partial);

// The outcome of a loop: its first `done` iterations ran in `count` chunks of `length` (the last may be shorter), which
// stored what they reduced at `partials`, in order.
struct ChunksDone {
  void* partials;
  std::int64_t count, length, done;
};

// Processors that this process may run on.
int processor_count();

// The distance between the rows of workers in a buffer with a row of `bytes` bytes for each: no two share a cache line.
constexpr std::int64_t worker_stride(std::int64_t bytes) { return (bytes + 127) / 128 * 128; }

// Calls `task(context, i)` for each i below `count`, on up to `threads` threads, including this one; on this one alone
// if the pool is busy. `task` must not throw.
void for_each_task(int threads, std::int64_t count, void (*task)(const void* context, std::int64_t i),
                   const void* context);

// The number of threads that computations on this thread may use: that of a ThreadBudget during its lifetime, else 1.
int thread_budget();
class ThreadBudget {
 public:
  explicit ThreadBudget(int threads);
  ~ThreadBudget();
  ThreadBudget(const ThreadBudget&) = delete;
  ThreadBudget& operator=(const ThreadBudget&) = delete;

 private:
  int before_;
};

}  // namespace bitale::runtime
