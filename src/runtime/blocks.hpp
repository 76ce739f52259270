// Blocks: a large matrix product is split into several products, of blocks of its rows or columns, which the threads of
// the call share. The blocks depend on the lengths only, and a single thread computes the same ones sequentially:
// results are therefore bitwise equal for any number of threads, whatever the library does with a block.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/threads.hpp"

namespace bitale::runtime {

inline constexpr std::int64_t rows_per_block = 1024;  // each block packs the other factor again: 1 to 2 % of its time
inline constexpr std::int64_t max_blocks = 8;
inline constexpr double min_block_work = 1e7;  // multiplications: some tenths of a millisecond

// The number of blocks for `length` rows or columns, each of which takes `work` multiplications.
inline std::int64_t block_count(std::int64_t length, double work) {
  const double by_work = std::min(double(length) * work / min_block_work, double(max_blocks));
  return std::clamp<std::int64_t>(std::min(1 + length / rows_per_block, std::int64_t(by_work)), 1, max_blocks);
}

// Calls block(first_row, rows, first_column, columns) for the blocks of an m x n product of inner length k.
template <class Block>
void for_each_block(std::int64_t m, std::int64_t n, std::int64_t k, const Block& block) {
  const std::int64_t by_rows = block_count(m, double(n) * double(k)),
                     by_columns = block_count(n, double(m) * double(k));
  const bool rows = by_rows >= by_columns;
  const std::int64_t count = rows ? by_rows : by_columns, length = rows ? m : n;
  if (count == 1) return block(std::int64_t(0), m, std::int64_t(0), n);
  const std::int64_t step = (length / count + 63) / 64 * 64;  // whole tiles of the library's kernels
  struct Context {
    const Block& block;
    std::int64_t m, n, step, count;
    bool rows;
  } context{block, m, n, step, count, rows};
  const auto task = [](const void* what, std::int64_t i) {
    auto& c = *static_cast<const Context*>(what);
    const std::int64_t begin = i * c.step, whole = c.rows ? c.m : c.n;
    const std::int64_t size = (i + 1 == c.count ? whole : std::min(whole, begin + c.step)) - begin;
    if (size <= 0) return;
    if (c.rows)
      c.block(begin, size, std::int64_t(0), c.n);
    else
      c.block(std::int64_t(0), c.m, begin, size);
  };
  for_each_task(thread_budget(), count, task, &context);
}

}  // namespace bitale::runtime
