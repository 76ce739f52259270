// Costs and limits of the lowering: every number by which a stage or pass decides, next to what was measured, and none
// is elsewhere (tests/layering). Pages are those of docs/measurements, dates those of the decision. A limit for
// "compile time" keeps code from growing faster than what it gains; an "estimate" has no figure of its own. Costs are
// numbers of expressions, each an operation on an element, unless a comment says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bitale::lowering::costs {

// Lanes go along loops of at least this known length, two of the widest vectors of doubles; shorter ones become
// straight code in longer ones (short axes, performance.md: 27 November 2026).
inline constexpr std::int64_t shortest_long = 16;

// The choice of what is stored.
namespace choose {
// An element of this cost is worth a store and a load, once it has several readers: an estimate, that may be low, since
// stores that share a loop with their readers are removed (21 November 2026).
inline constexpr int materialize = 16;
inline constexpr int deepest = 60;       // of inlining; compile time
inline constexpr int named = 256;        // a scalar of this cost with several readers becomes a variable; compile time
inline constexpr int largest = 1 << 20;  // where counting ends
inline constexpr std::size_t max_expanded = 100;  // applications of a function before it is called; compile time
}  // namespace choose

// Products of matrices (contractions).
namespace products {
// In the body of a loop, products of 3 x 3 matrices take 8 ns in unrolled loops, 11 by the library's kernels (small
// products, performance.md).
inline constexpr std::int64_t longest_of_tiny = 4;
// 14,144 products of 3 x 4 matrices with vectors: 0.46 ms by calls, 0.11 in a loop (27 November 2026). Steps of scans
// whose batch runs in lanes have such products, too.
inline constexpr std::int64_t longest_of_small = 8;
// 195 to 1e6 rows of 2 to 8 columns of float64 take 0.5 to 0.8 of OpenBLAS's time in lanes along the rows; float32
// takes up to twice as long (league.md: 28 November 2026).
inline constexpr std::int64_t fewest_of_thin = 2, most_of_thin = 8;
// Operations between the two products of one matrix that are tried; compile time. A loop for both takes 0.6 to 0.95 of
// the time, 0.2 to 0.5 if the matrix is stored by columns (thin matrices, performance.md: 30 November 2026).
inline constexpr std::size_t look_back = 64;
}  // namespace products

// Which computations share a loop.
namespace nest {
inline constexpr std::size_t largest = 4000;  // expressions in one nest: beyond, LLVM's time grows faster than the gain
inline constexpr std::size_t look_back = 64;  // items that are tried before a new loop is opened; compile time
inline constexpr std::size_t max_pieces = 32;  // stores that together may overwrite a buffer; compile time
inline constexpr int deepest_range = 16;       // of expressions whose range is derived; compile time
}  // namespace nest

// Loops of straight code: lanes go along a long loop, and those in it are unrolled.
namespace straight {
inline constexpr std::int64_t longest_unrolled = 32;  // of loops inside the loop; compile time
inline constexpr std::int64_t max_per_body = 6000;    // expressions of straight code; compile time
inline constexpr std::int64_t function = 20;          // exp and the like; an estimate
// Operations for each access whose lanes are apart in memory: an estimate of what a gather takes.
inline constexpr std::int64_t worth_gather = 5;
// Functions without lanes are called for one lane after the other: they gain nothing, and multiply the code.
inline constexpr std::size_t max_calls_in_lanes = 6;
// Of one body: 1,000 rows of a mixture of 8 components (23 to 12 us) are below it; compile time beyond.
inline constexpr std::int64_t largest = 1500;
// Beyond, code generators don't look for runs of equal indices, which take 1.33 ns a row instead of 2.6 for 919 rows of
// 85 groups (sums by groups, performance.md: 22 November 2026).
inline constexpr std::int64_t largest_with_scatters = 200;
// Softmax of 8 columns took 16.4 us as loops and 14.2 in lanes along the rows, of 16 columns gained 1 % and took 2.5
// times as long to compile (short axes, performance.md: 27 November 2026).
inline constexpr std::int64_t most_reduced = 8;
inline constexpr std::size_t most_extents = 32;  // of long loops that are tried in one list of steps; compile time
}  // namespace straight

// Batches in the steps of scans, and small states as variables.
namespace scans {
// Rows of 4 x 4 matrices as lanes: a Kalman filter of 4 states took 236 us for 1,000 steps before (performance.md: 24
// November 2026). Shorter rows have mostly masked lanes, longer ones fill vectors themselves.
inline constexpr std::int64_t min_rows = 4, max_rows = 7;
inline constexpr std::int64_t worth_rows = 400;         // expressions that they would be as scalars; compile time
inline constexpr std::int64_t max_copied = 4096;        // elements of an input copied before the loop; an estimate
inline constexpr std::int64_t max_outside_steps = 600;  // expressions of loops outside steps; compile time
// Numbers of a state, for each element of a batch, and in total: estimates.
inline constexpr std::int64_t max_in_row = 32, few_numbers = 64;
// A Kalman filter of 4 states with its gradient took 3,660 us for 1,000 steps with its state in memory, 238 in
// variables (23 November 2026); from so many elements on there are no registers for them.
inline constexpr std::int64_t max_elements = 64;
inline constexpr std::int64_t max_per_nest = 4000, max_per_loop = 8000;  // expressions after unrolling; compile time
// A loop whose body computes more than `worth_lanes` expressions gains more from lanes if it has at least
// `enough_lanes` iterations. A loop that fills a vector (`full_lanes`) always does: its elements would be too many
// scalars for the registers of any processor.
inline constexpr std::int64_t worth_lanes = 24, enough_lanes = 4, full_lanes = 8;
}  // namespace scans

// Products in blocks of rows (league.md, products that a reduction reads: 27 November 2026).
namespace blocks {
inline constexpr std::int64_t bytes = 512 << 10;     // of the product; what second-level caches hold
inline constexpr std::int64_t fewest_rows = 64;      // so that a library that packs the right factor does so seldom
inline constexpr std::int64_t unit = 16;             // rows that kernels of libraries take together
inline constexpr std::int64_t longest_inner = 128;   // beyond, the product takes much longer than storing it
inline constexpr std::int64_t smallest = 4 * bytes;  // of products that are worth it: others stay in the caches
}  // namespace blocks

// Tiles for loops along both rows and columns. A tile is wide, since long runs are better for what is read along rows
// and for what is written. It is two cache lines of doubles high, since processors fetch lines in pairs. x.T + y
// takes 1.2 to 1.5 ns an element so, 2.8 to 3.0 by gathers in tiles of 32 x 32 (transposes, performance.md: 21 November
// 2026).
namespace tiles {
inline constexpr std::int64_t height = 16, width = 64;
}  // namespace tiles

// Lanes of innermost loops. Prefix scans of floats are combined sequentially, and loops whose extent is read from
// memory are short: lanes only pay off if the value takes more expressions than these, an estimate (21 November 2026).
namespace lanes {
inline constexpr std::size_t cheap = 12;
}  // namespace lanes

// Threads: estimates, by which callers tell whether threads gain (21 November 2026).
namespace threads {
inline constexpr std::int64_t band = 512;      // columns: 4 KiB of a row of doubles
inline constexpr std::int64_t too_short = 64;  // up to this known length, loops of simple steps have too little work
inline constexpr std::int64_t unknown_extent = 8;  // assumed of an inner loop whose length is not known before any loop
inline constexpr std::int64_t worth_storing = 32;  // operations on an element that are worth a temporary to share
inline constexpr std::int64_t worth_repeating = 3;  // times an addend's operations: a loop so long computes it again
inline constexpr std::int64_t scalar_weight = 4, call_weight = 60;  // in operations of a lane
}  // namespace threads

// Strips in which lanes look for the extremes to which something is added: a branch for each element took half of the
// time of the gradient by c of min(x @ c.T, axis=1) (league.md: 28 November 2026). One that divides the length has no
// rest.
namespace strips {
inline constexpr std::int64_t usual = 32, shortest = 24, longest = 64, step = 8;
}  // namespace strips

// Bytes of a call's stack for temporaries, for each and in total: a small part of what threads have.
namespace memory {
inline constexpr std::int64_t max_bytes_each = 1024, max_bytes = 16 * 1024;
}  // namespace memory

}  // namespace bitale::lowering::costs
