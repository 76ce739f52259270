#include "runtime/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <thread>

#include "bitale/runtime/functions.hpp"
#include "runtime/pool.hpp"

namespace bitale::runtime {

namespace {

// Work is counted in rough operations on elements, as in program::operations; in lanes, ten to forty of them take a
// nanosecond. Handing work to a worker that is awake takes less than half a microsecond. A sleeping worker arrives
// after 15 to 60, and waking it takes the caller up to ten.
constexpr std::int64_t min_work = 2'000'000;  // of a loop that is shared
constexpr std::int64_t chunk_work = 200'000;
constexpr std::int64_t max_chunks = 512;

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}

// The smallest granule * 2^k with enough work.
std::int64_t chunk_length(const Frame& frame, std::int64_t extent, std::int64_t work, std::int64_t granule) {
  const std::int64_t enough = frame.in_small_chunks ? 1 : chunk_work;
  std::int64_t length = granule;
  while (product(length, work) < enough && length < extent) length *= 2;
  while ((extent - 1) / length >= max_chunks) length *= 2;
  return length;
}

// Memory for what chunks reduce, kept by each calling thread.
void* partials_of(std::int64_t bytes) {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  thread_local std::unique_ptr<void, Free> memory;
  thread_local std::int64_t size = 0;
  if (bytes > size) {
    size = 0;
    memory.reset(std::aligned_alloc(64, std::size_t(bytes + 63) / 64 * 64));
    if (memory) size = bytes;
  }
  return memory.get();
}

struct Chunks {
  Frame* frame;
  Chunk run;
  const void* context;
  std::int64_t extent, length, count, partial_bytes;
  char* partials;
  std::atomic<std::int64_t> next = 0;
};

void claim_chunks(void* context, int worker) {
  auto& chunks = *static_cast<Chunks*>(context);
  for (;;) {
    const std::int64_t i = chunks.next.fetch_add(1, std::memory_order_relaxed);
    if (i >= chunks.count) return;
    const std::int64_t begin = i * chunks.length, end = std::min(chunks.extent, begin + chunks.length);
    chunks.run(chunks.frame, chunks.context, begin, end, worker, chunks.partials + i * chunks.partial_bytes);
  }
}

// Runs a loop of `extent` iterations, each of some `work`, in chunks of a multiple of `granule`. With `all`, every
// iteration has run when this returns, in one chunk that stores its partial result at `home` if several do not pay off.
// Without, only whole chunks have run, or none.
void run_in_chunks(Frame* frame, Chunk run, const void* context, std::int64_t extent, std::int64_t work,
                   std::int64_t granule, std::int64_t partial_bytes, void* home, std::int64_t all, ChunksDone* done) {
  const auto alone = [&] {
    *done = {home, all, extent, all ? extent : 0};
    if (all) run(frame, context, 0, extent, 0, home);
  };
  if (frame->threads < 2 || (!frame->in_small_chunks && product(extent, work) < min_work)) return alone();
  const std::int64_t length = chunk_length(*frame, extent, work, granule);
  const std::int64_t count = all ? (extent + length - 1) / length : extent / length;
  if (count < 2) return alone();
  void* partials = partial_bytes ? partials_of(count * partial_bytes) : home;
  if (!partials && partial_bytes) return alone();
  Chunks chunks{frame,  run,   context,       std::min(extent, count * length),
                length, count, partial_bytes, static_cast<char*>(partials)};
  const int helpers = int(std::min<std::int64_t>(frame->threads, count)) - 1;
  if (!WorkerPool::try_share({claim_chunks, &chunks}, helpers)) return alone();
  *done = {partials, count, length, chunks.extent};
}

const RegisterFunctions thread_functions{runtime_function(
    "bt_run_in_chunks", run_in_chunks, "frame run context extent work granule partial_bytes home all done")};

thread_local int budget = 1;

struct Tasks {
  void (*task)(const void* context, std::int64_t i);
  const void* context;
  std::int64_t count;
  std::atomic<std::int64_t> next = 0;
};

void claim_tasks(void* context, int) {
  auto& tasks = *static_cast<Tasks*>(context);
  for (std::int64_t i; (i = tasks.next.fetch_add(1, std::memory_order_relaxed)) < tasks.count;)
    tasks.task(tasks.context, i);
}

}  // namespace

int thread_budget() { return budget; }
ThreadBudget::ThreadBudget(int threads) : before_(budget) { budget = threads; }
ThreadBudget::~ThreadBudget() { budget = before_; }

int processor_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, int(std::thread::hardware_concurrency()));
}

void for_each_task(int threads, std::int64_t count, void (*task)(const void* context, std::int64_t i),
                   const void* context) {
  Tasks tasks{task, context, count};
  const int helpers = int(std::min<std::int64_t>(threads, count)) - 1;
  if (helpers > 0 && WorkerPool::try_share({claim_tasks, &tasks}, helpers)) return;
  claim_tasks(&tasks, 0);
}

}  // namespace bitale::runtime
