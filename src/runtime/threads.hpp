// Threads: one call's loops shared among several processors. A loop is cut into chunks, and whoever is free claims the
// next one: the caller, and the workers of one pool per process, which start when they are first wanted. Where chunks
// begin depends on the loop alone, not on how many threads there are or who takes which.
#pragma once

#include <cstdint>

#include "runtime/frame.hpp"

namespace bitale::runtime {

// A chunk of a loop, made by the code generator: iterations begin, ..., end - 1. `worker` counts from 0, below the
// threads of the frame; no two that run at once have the same. `partial` is where the chunk leaves what it reduced.
using Chunk = void (*)(Frame* frame, const void* context, std::int64_t begin, std::int64_t end, std::int64_t worker,
                       void* partial);

// What became of a loop: its first `done` iterations ran in `count` chunks of `length` (the last may be shorter), and
// left what they reduced at `partials`, in their order.
struct ChunksDone {
  void* partials;
  std::int64_t count, length, done;
};

// Processors that this process may run on.
int processor_count();

// The rows of a worker in a buffer of which each has one of `bytes` bytes lie this far apart: no two share a cache
// line.
constexpr std::int64_t worker_stride(std::int64_t bytes) { return (bytes + 127) / 128 * 128; }

// Calls `task(context, i)` for each i below `count`, by up to `threads` threads, this one included; by this one alone
// when the pool is busy. `task` must not throw.
void for_each_task(int threads, std::int64_t count, void (*task)(const void* context, std::int64_t i),
                   const void* context);

// Threads that what this thread computes may use: what a ThreadBudget says for as long as it lives, else 1.
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
