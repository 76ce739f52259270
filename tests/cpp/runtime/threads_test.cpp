// Shared loops in the runtime: every iteration runs once, and chunks begin at multiples of their length, for all
// callers.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "bitale/runtime/functions.hpp"
#include "runtime/blocks.hpp"
#include "runtime/threads.hpp"

using namespace bitale::runtime;

namespace {

using Count = std::int64_t;
using RunInChunks = void (*)(Frame*, Chunk, const void*, Count extent, Count work, Count granule, Count partial_bytes,
                             void* home, Count all, ChunksDone*);

RunInChunks run_in_chunks() { return reinterpret_cast<RunInChunks>(find_symbol("bt_run_in_chunks")); }

// The context of a chunk: the array in which it counts its iterations.
struct ChunkContext {
  std::vector<int>* elements;
};
void count_iterations(Frame* frame, const void* context, Count begin, Count end, Count worker, void* partial) {
  auto& elements = *static_cast<const ChunkContext*>(context)->elements;
  for (Count i = begin; i < end; ++i) ++elements[std::size_t(i)];
  if (partial) *static_cast<Count*>(partial) = worker < frame->threads ? begin : -1;
}

struct Outcome {
  std::vector<int> counts;
  ChunksDone done;
  std::vector<Count> begins;
};
Outcome run(Count threads, Count extent, Count granule, bool all) {
  Frame frame{};
  frame.threads = threads;
  frame.in_small_chunks = 1;
  Outcome out{std::vector<int>(std::size_t(extent)), {}, {}};
  const ChunkContext context{&out.counts};
  Count home = -1;
  run_in_chunks()(&frame, count_iterations, &context, extent, 1, granule, sizeof(Count), &home, all, &out.done);
  const auto* partials = static_cast<const Count*>(out.done.partials);
  out.begins.assign(partials, partials + out.done.count);
  return out;
}

bool is_right(const Outcome& out, Count extent, bool all) {
  bool right = !all || out.done.done == extent;
  for (Count i = 0; i < extent; ++i) right &= out.counts[std::size_t(i)] == (i < out.done.done);
  for (Count i = 0; i < out.done.count; ++i) right &= out.begins[std::size_t(i)] == i * out.done.length;
  return right;
}

}  // namespace

TEST_CASE("chunks: every iteration once, and the same chunks for any number of threads") {
  for (bool all : {true, false})
    for (Count granule : {1, 3, 64})
      for (Count extent : {0, 1, 2, 63, 64, 127, 128, 1000, 5001, 100000}) {
        const Outcome two = run(2, extent, granule, all);
        CHECK(is_right(two, extent, all));
        CHECK(is_right(run(1, extent, granule, all), extent, all));
        for (Count threads : {3, 8}) {
          const Outcome more = run(threads, extent, granule, all);
          CHECK(is_right(more, extent, all));
          CHECK(more.done.length == two.done.length);
          CHECK(more.done.count == two.done.count);
        }
        if (!all) CHECK(two.done.done % granule == 0);
      }
}

TEST_CASE("tasks: workers start, and run their tasks concurrently") {
  struct Meeting {
    std::atomic<int> arrived = 0;
    std::atomic<bool> late = false;
  } meeting;
  constexpr int threads = 4;
  for_each_task(
      threads, threads,
      [](const void* context, Count) {
        auto& m = *static_cast<Meeting*>(const_cast<void*>(context));
        ++m.arrived;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (m.arrived < threads && !m.late) {
          std::this_thread::yield();
          if (std::chrono::steady_clock::now() > deadline) m.late = true;
        }
      },
      &meeting);
  CHECK(meeting.arrived == threads);
  CHECK(!meeting.late);
}

TEST_CASE("chunks and tasks: concurrent callers") {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&, caller] {
      for (int turn = 0; turn < 200; ++turn) {
        const Count extent = 100 + 37 * caller + turn;
        // A busy pool leaves chunks of whole granules to the caller, which would run them as part of its own loop.
        wrong += !is_right(run(2 + turn % 3, extent, 8, turn % 2 == 0), extent, turn % 2 == 0);
        std::vector<int> counts(50);
        for_each_task(
            1 + turn % 4, Count(counts.size()),
            [](const void* context, Count i) {
              ++(*static_cast<const ChunkContext*>(context)->elements)[std::size_t(i)];
            },
            std::vector<ChunkContext>{{&counts}}.data());
        for (int each : counts) wrong += each != 1;
      }
    });
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("blocks: they cover a product once, and do not depend on the number of threads") {
  const auto covered = [](Count m, Count n, Count k, int threads) {
    const ThreadBudget budget(threads);
    std::vector<std::atomic<int>> seen(std::size_t(m * n));
    std::atomic<int> blocks = 0;
    for_each_block(m, n, k, [&](Count row, Count rows, Count column, Count columns) {
      ++blocks;
      for (Count i = row; i < row + rows; ++i)
        for (Count j = column; j < column + columns; ++j) ++seen[std::size_t(i * n + j)];
    });
    for (auto& each : seen)
      if (each != 1) return -1;
    return blocks.load();
  };
  struct Case {
    Count m, n, k;
    int blocks;
  };
  for (auto& [m, n, k, blocks] : {Case{1, 1, 1, 1},
                                  {1023, 1000, 1000, 1},
                                  {1024, 100, 1000, 2},
                                  {100, 2500, 1000, 3},
                                  {2048, 10, 10, 1},
                                  {9000, 100, 1000, 8}})
    for (int threads : {1, 2, 5}) CHECK(covered(m, n, k, threads) == blocks);
  CHECK(thread_budget() == 1);
}
