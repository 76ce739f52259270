// Passes on Programs, with their input and output as text.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "lowering/passes.hpp"
#include "program/parse.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

std::string after(void (*pass)(Program&), const char* text) {
  Program program = parse(text);
  pass(program);
  return to_string(program);
}
void collapse(Program& program) {
  lowering::Declarations declare(program);
  lowering::collapse_loops(program, declare, {});
}
void blocks(Program& program) {
  lowering::Declarations declare(program);
  lowering::block_products(program, declare, {});
}
void blocks_with_threads(Program& program) {
  blocks(program);
  lowering::Declarations declare(program);
  lowering::parallelize_loops(program, declare);
}
void parallelize(Program& program) {
  lowering::Declarations declare(program);
  lowering::parallelize_loops(program, declare);
}
void guard(Program& program) {
  lowering::Declarations declare(program);
  lowering::guard_additions(program, declare);
  lowering::look_in_strips(program, declare);
}
void lanes(Program& program) {
  lowering::Declarations declare(program);
  lowering::Lengths lengths;
  for (int axis = 0; axis < 2; ++axis) lengths.equate(program.pool->dim(1, axis), program.pool->integer(4));
  lowering::batch_lanes(program, declare, lengths);
}

void short_loops(Program& program) {
  lowering::Declarations declare(program);
  lowering::short_loops(program, declare);
}
void unroll_and_jam(Program& program) {
  lowering::Declarations declare(program);
  lowering::unroll_and_jam(program, declare);
  lowering::forward_stores(program);
}

}  // namespace

TEST_CASE("forward: a value that is stored and read at one index is used directly, unread stores are removed") {
  CHECK(after(lowering::forward_stores, R"(program p(x: f64[?]) -> y: f64[len(x, 0)]
  buffer t: f64[len(x, 0)]
  for i in len(x, 0):
    t[i] = (x[i] * 2.0)
    y[i] = (t[i] + 1.0)
)") == R"(program p(x: f64[?]) -> y: f64[len(x, 0)]
  for i in len(x, 0):
    y[i] = ((x[i] * 2.0) + 1.0)
)");
}

TEST_CASE("forward: a read at another index or in another loop, and a call, keep a temporary") {
  const char* text = R"(program p(x: f64[?]) -> y: f64[len(x, 0)]
  buffer t: f64[len(x, 0)]
  buffer u: f64[len(x, 0)]
  for i in len(x, 0):
    t[i] = (x[i] * 2.0)
    u[i] = x[i]
  for j in len(x, 0):
    y[j] = t[(len(x, 0) - j)]
  call bt_test(len(x, 0), in u, inout y)
)";
  CHECK(after(lowering::forward_stores, text) == text);
}

TEST_CASE("forward: an empty loop is removed, one that carries a value stays") {
  CHECK(after(lowering::forward_stores, R"(program p(x: f64[?]) -> y: f64
  buffer t: f64[len(x, 0)]
  for i in len(x, 0):
    t[i] = x[i]
  for j in len(x, 0), sum v0:
    v0 += x[j]
  y = v0
)") == R"(program p(x: f64[?]) -> y: f64
  for j in len(x, 0), sum v0:
    v0 += x[j]
  y = v0
)");
}

TEST_CASE("narrow: a temporary that is written and read row by row becomes a row") {
  CHECK(after(lowering::narrow_temporaries, R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0), len(x, 1)]
  buffer t: f64[len(x, 0), len(x, 1)]
  for i in len(x, 0):
    for j in len(x, 1):
      t[i, j] = x[i, j]
    for k in len(x, 1):
      y[i, k] = t[i, k]
)") == R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0), len(x, 1)]
  buffer t: f64[len(x, 1)]
  for i in len(x, 0):
    for j in len(x, 1):
      t[j] = x[i, j]
    for k in len(x, 1):
      y[i, k] = t[k]
)");
}

TEST_CASE("narrow: a temporary stays if the previous row is read or a function gets it") {
  const char* before = R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0), len(x, 1)]
  buffer t: f64[len(x, 0), len(x, 1)]
  for i in len(x, 0):
    for j in len(x, 1):
      t[i, j] = x[i, j]
    for k in len(x, 1):
      y[i, k] = t[max((i - 1), 0), k]
)";
  CHECK(after(lowering::narrow_temporaries, before) == before);
  const char* passed = R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0), len(x, 1)]
  buffer t: f64[len(x, 0), len(x, 1)]
  for i in len(x, 0):
    for j in len(x, 1):
      t[i, j] = x[i, j]
    call bt_test(len(x, 1), in t from (i * len(x, 1)), out y from (i * len(x, 1)))
)";
  CHECK(after(lowering::narrow_temporaries, passed) == passed);
}

TEST_CASE("collapse: a nest over contiguous elements becomes one loop") {
  CHECK(after(collapse, R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0), len(x, 1)]
  for i in len(x, 0):
    for j in len(x, 1):
      y[i, j] = (x[i, j] * 2.0)
)") == R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0), len(x, 1)]
  for e in (len(x, 0) * len(x, 1)):
    y[0, e] = (x[0, e] * 2.0)
)");
  const char* transposed = R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0), len(x, 1)]
  for i in len(x, 0):
    for j in len(x, 1):
      y[i, j] = x[j, i]
)";
  CHECK(after(collapse, transposed) == transposed);
}

TEST_CASE("lanes of batches: loops over a batch in one step become one straight-line loop, with the batch last") {
  CHECK(after(lanes, R"(program p(x: f64[?, ?], h: f64[?, ?]) -> y: f64[len(x, 0), 2]
  buffer s: f64[len(x, 0), 2]
  for b in len(x, 0):
    for i in 2:
      s[b, i] = x[b, i]
  for t in 10, state v0 = 0:
    for b in len(x, 0):
      for i in 2, sum v1:
        v1 += (h[0, i] * s[b, i])
      s[b, 0] = v1
    for b in len(x, 0):
      s[b, 1] = (s[b, 0] + 1.0)
    next v0 = (v0 + 1)
  for b in len(x, 0):
    for i in 2:
      y[b, i] = s[b, i]
)") == R"(program p(x: f64[?, ?], h: f64[?, ?]) -> y: f64[len(x, 0), 2]
  buffer s: f64[2, len(x, 0)]
  for b in len(x, 0):
    v7 = x[b, 0]
    v8 = x[b, 1]
    s[0, b] = v7
    s[1, b] = v8
  for t in 10, state v0 = 0:
    for b in len(x, 0):
      v2 = s[0, b]
      v4 = s[1, b]
      v3 = fma(h[0, 0], v2, 0.0)
      v5 = fma(h[0, 1], v4, v3)
      v6 = (v5 + 1.0)
      s[0, b] = v5
      s[1, b] = v6
    next v0 = (v0 + 1)
  for b in len(x, 0):
    v9 = s[0, b]
    v10 = s[1, b]
    y[b, 0] = v9
    y[b, 1] = v10
)");
}

TEST_CASE("lanes of rows: rows of many scalars become lanes, and inputs are copied with the rows last") {
  CHECK(after(lanes, R"(program p(x: f64[?], a: f64[?, ?]) -> y: f64[4]
  buffer s: f64[4]
  for i in 4:
    s[i] = x[i]
  for t in 10, state v0 = 0:
    for i in 4:
      for j in 4, sum v1:
        v1 += a[i, j]
      for k in 8, sum v2:
        v2 += (sqrt((v1 * x[k])) + (abs((v1 - x[k])) * floor(((v1 + x[k]) * (ceil(x[k]) - trunc((x[k] / v1)))))))
      y[i] = (v2 + s[i])
    for i in 4:
      s[i] = y[i]
    next v0 = (v0 + 1)
)") == R"(program p(x: f64[?], a: f64[?, ?]) -> y: f64[4]
  buffer s: f64[4]
  buffer lanes: f64[4, 4]
  for i in 4:
    s[i] = x[i]
  for j5 in 4:
    for i4 in 4:
      lanes[j5, i4] = a[i4, j5]
  for t in 10, state v0 = 0:
    for i in 4:
      v15 = s[i]
      v3 = (0.0 + lanes[0, i])
      v4 = (v3 + lanes[1, i])
      v5 = (v4 + lanes[2, i])
      v6 = (v5 + lanes[3, i])
      v7 = (0.0 + (sqrt((v6 * x[0])) + (abs((v6 - x[0])) * floor(((v6 + x[0]) * (ceil(x[0]) - trunc((x[0] / v6))))))))
      v8 = (v7 + (sqrt((v6 * x[1])) + (abs((v6 - x[1])) * floor(((v6 + x[1]) * (ceil(x[1]) - trunc((x[1] / v6))))))))
      v9 = (v8 + (sqrt((v6 * x[2])) + (abs((v6 - x[2])) * floor(((v6 + x[2]) * (ceil(x[2]) - trunc((x[2] / v6))))))))
      v10 = (v9 + (sqrt((v6 * x[3])) + (abs((v6 - x[3])) * floor(((v6 + x[3]) * (ceil(x[3]) - trunc((x[3] / v6))))))))
      v11 = (v10 + (sqrt((v6 * x[4])) + (abs((v6 - x[4])) * floor(((v6 + x[4]) * (ceil(x[4]) - trunc((x[4] / v6))))))))
      v12 = (v11 + (sqrt((v6 * x[5])) + (abs((v6 - x[5])) * floor(((v6 + x[5]) * (ceil(x[5]) - trunc((x[5] / v6))))))))
      v13 = (v12 + (sqrt((v6 * x[6])) + (abs((v6 - x[6])) * floor(((v6 + x[6]) * (ceil(x[6]) - trunc((x[6] / v6))))))))
      v14 = (v13 + (sqrt((v6 * x[7])) + (abs((v6 - x[7])) * floor(((v6 + x[7]) * (ceil(x[7]) - trunc((x[7] / v6))))))))
      v16 = (v14 + v15)
      y[i] = v16
      s[i] = v16
    next v0 = (v0 + 1)
)");
}

TEST_CASE("lanes of rows: few scalars are left unchanged") {
  const char* product = R"(program p(x: f64[?], a: f64[?, ?]) -> y: f64[4]
  for t in 10, state v0 = 0:
    for i in 4:
      for j in 4, sum v1:
        v1 += (a[i, j] * x[j])
      y[i] = v1
    next v0 = (v0 + 1)
)";
  CHECK(after(lanes, product) == product);
}

TEST_CASE("vectorize: innermost loops of stores, unless they read what they write or contain calls or checks") {
  CHECK(after(lowering::vectorize, R"(program p(x: f64[?]) -> y: f64[len(x, 0)], z: f64[len(x, 0)]
  for i in len(x, 0):
    y[i] = x[i]
  for j in len(x, 0):
    z[j] = (x[j] + z[(j - 1)])
  for k in len(x, 0):
    v0 = call bt_test(in x, out y)
    require (v0 == 0)
)") == R"(program p(x: f64[?]) -> y: f64[len(x, 0)], z: f64[len(x, 0)]
  for i in len(x, 0), vector:
    y[i] = x[i]
  for j in len(x, 0):
    z[j] = (x[j] + z[(j - 1)])
  for k in len(x, 0):
    v0 = call bt_test(in x, out y)
    require (v0 == 0)
)");
}

TEST_CASE(
    "vectorize: several steps that write one buffer, only if all add, or iterations write elements of their own") {
  const auto one_loop = [](const std::string& kind, const std::string& steps) {
    return "program p(x: f64[?], g: i64[?]) -> z: f64[(len(x, 0) + 1)], s: f64[2, len(x, 0)]\n  for i in len(x, 0)" +
           kind + ":\n" + steps;
  };
  const auto has_lanes = [&](const std::string& steps) {
    const std::string out = after(lowering::vectorize, one_loop("", steps).c_str());
    CHECK((out == one_loop("", steps) || out == one_loop(", vector", steps)));
    return out == one_loop(", vector", steps);
  };
  CHECK(has_lanes("    z[g[i]] = x[i]\n"));
  CHECK(has_lanes("    z[g[i]] += x[i]\n    z[0] += x[i]\n"));
  CHECK(has_lanes("    s[0, i] = x[i]\n    s[1, i] = x[i]\n"));
  CHECK(!has_lanes("    z[g[i]] = x[i]\n    z[i] += x[i]\n"));
  CHECK(!has_lanes("    z[g[i]] = x[i]\n    z[0] = 1.0\n"));
  CHECK(!has_lanes("    z[(i + 1)] = x[i]\n    z[i] = 1.0\n"));
}

TEST_CASE("memory: results once their lengths are known, temporaries at first use, small ones on the stack") {
  CHECK(after(lowering::plan_memory, R"(program p(x: f64[?]) -> y: f64[len(x, 0)]
  buffer t: f64[len(x, 0)]
  buffer s: f64[3]
  require (len(x, 0) > 2)
  for i in 3:
    s[i] = x[i]
  for j in len(x, 0):
    t[j] = s[2]
  for k in len(x, 0):
    call bt_test(in t from k, out y from k)
)") == R"(program p(x: f64[?]) -> y: f64[len(x, 0)]
  require (len(x, 0) > 2)
  output y: f64[len(x, 0)]
  stack s: f64[3]
  for i in 3:
    s[i] = x[i]
  temporary t: f64[len(x, 0)]
  for j in len(x, 0):
    t[j] = s[2]
  for k in len(x, 0):
    call bt_test(in t from k, out y from k)
)");
}

TEST_CASE("passes transform the bodies of branches and of loops with state") {
  CHECK(after(lowering::forward_stores, R"(program p(x: f64[?], c: f64) -> y: f64[len(x, 0)]
  buffer t: f64[len(x, 0)]
  if (c > 0.0):
    for i in len(x, 0):
      t[i] = (x[i] * 2.0)
      y[i] = (t[i] + 1.0)
  else:
    for j in len(x, 0), state v0 = 0.0:
      next v0 = (v0 + x[j])
      y[j] = v0
)") == R"(program p(x: f64[?], c: f64) -> y: f64[len(x, 0)]
  if (c > 0.0):
    for i in len(x, 0):
      y[i] = ((x[i] * 2.0) + 1.0)
  else:
    for j in len(x, 0), state v0 = 0.0:
      next v0 = (v0 + x[j])
      y[j] = v0
)");
  CHECK(after(lowering::vectorize, R"(program p(x: f64[?], c: f64) -> y: f64[len(x, 0)]
  if (c > 0.0):
    for i in len(x, 0):
      y[i] = x[i]
  else:
    for j in len(x, 0), state v0 = 0.0:
      next v0 = (v0 + x[j])
      y[j] = v0
)") == R"(program p(x: f64[?], c: f64) -> y: f64[len(x, 0)]
  if (c > 0.0):
    for i in len(x, 0), vector:
      y[i] = x[i]
  else:
    for j in len(x, 0), state v0 = 0.0:
      next v0 = (v0 + x[j])
      y[j] = v0
)");
  CHECK(after(lowering::plan_memory, R"(program p(x: f64[?], c: f64) -> y: f64
  buffer t: f64[len(x, 0)]
  if (c > 0.0):
    for i in len(x, 0):
      t[i] = x[i]
    y = t[0]
  else:
    y = c
)") == R"(program p(x: f64[?], c: f64) -> y: f64
  output y: f64
  temporary t: f64[len(x, 0)]
  if (c > 0.0):
    for i in len(x, 0):
      t[i] = x[i]
    y = t[0]
  else:
    y = c
)");
}

TEST_CASE("guard: a row that is added only where a number is the least one is behind a branch") {
  CHECK(after(guard, R"(program p(x: f64[?, ?], w: f64[?]) -> y: f64[len(x, 1), len(w, 0)]
  fill y 0.0
  for i in len(x, 0):
    for j in len(x, 1), min v0:
      v0 min= x[i, j]
    for j in len(x, 1):
      for k in len(w, 0):
        y[j, k] += select((x[i, j] == v0), w[k], 0.0)
)") == R"(program p(x: f64[?, ?], w: f64[?]) -> y: f64[len(x, 1), len(w, 0)]
  fill y 0.0
  for i in len(x, 0):
    for j in len(x, 1), min v0:
      v0 min= x[i, j]
    for js in ((len(x, 1) + 31) / 32):
      for j4 in min(32, (len(x, 1) - (js * 32))), vector, any v1:
        v1 |= (x[i, ((js * 32) + j4)] == v0)
      if v1:
        for j4 in min(32, (len(x, 1) - (js * 32))):
          if (x[i, ((js * 32) + j4)] == v0):
            for k in len(w, 0):
              y[((js * 32) + j4), k] += w[k]
)");
  // Other sums by the condition come along; strips have the same length where one fits. Short loops have none.
  CHECK(after(guard, R"(program p(x: f64[?, ?], w: f64[?]) -> y: f64[120, 9], z: f64[120], u: f64[9, 9]
  fill y 0.0
  fill z 0.0
  fill u 0.0
  for i in 9:
    for j in 120:
      z[j] += select((x[i, j] == w[i]), 1.0, 0.0)
      for k in 9:
        y[j, k] += select((x[i, j] == w[i]), w[k], 0.0)
    for l in 9:
      for k in 9:
        u[l, k] += select((x[i, l] == w[i]), w[k], 0.0)
)") == R"(program p(x: f64[?, ?], w: f64[?]) -> y: f64[120, 9], z: f64[120], u: f64[9, 9]
  fill y 0.0
  fill z 0.0
  fill u 0.0
  for i in 9:
    for js in 3:
      for j5 in 40, vector, any v0:
        v0 |= (x[i, ((js * 40) + j5)] == w[i])
      if v0:
        for j5 in 40:
          if (x[i, ((js * 40) + j5)] == w[i]):
            z[((js * 40) + j5)] += 1.0
            for k in 9:
              y[((js * 40) + j5), k] += w[k]
    for l in 9:
      if (x[i, l] == w[i]):
        for k in 9:
          u[l, k] += w[k]
)");
}

TEST_CASE("guard: a nest of loops is behind one branch, and no other pass makes straight code of it") {
  const auto guard_first = [](Program& program) {
    guard(program);
    short_loops(program);
  };
  CHECK(after(guard_first, R"(program p(x: f64[?, ?], w: f64[?, ?]) -> y: f64[5, 3, 3]
  fill y 0.0
  for i in len(x, 0):
    for j in 5:
      for k in 3:
        for l in 3:
          y[j, k, l] += select((x[i, j] == x[i, 0]), w[k, l], 0.0)
)") == R"(program p(x: f64[?, ?], w: f64[?, ?]) -> y: f64[5, 3, 3]
  fill y 0.0
  for i in len(x, 0):
    for j in 5:
      if (x[i, j] == x[i, 0]):
        for k in 3:
          for l in 3:
            y[j, k, l] += w[k, l]
)");
}

TEST_CASE("guard: no branch by a condition that the loop changes") {
  const char* given = R"(program p(x: f64[?, ?], w: f64[?]) -> y: f64[5, 3]
  fill y 0.0
  for i in len(x, 0):
    for j in 5:
      for k in 3:
        y[j, k] += select((x[i, j] == y[j, 0]), w[k], 0.0)
)";
  CHECK(after(guard, given) == given);
}

TEST_CASE(
    "guard: no branch by the inner index, by other conditions, for other values than 0, or for a sum that may be -0") {
  for (const char* changed : {"select((x[i, k] == v0), w[k], 0.0)", "select((x[i, j] < v0), w[k], 0.0)",
                              "select((x[i, j] == v0), w[k], 1.0)", "select((x[i, j] == 2.0), w[k], 0.0)"}) {
    CAPTURE(changed);
    const std::string text = cat(R"(program p(x: f64[?, ?], w: f64[?]) -> y: f64[len(x, 1), len(w, 0)]
  fill y 0.0
  for i in len(x, 0):
    for j in len(x, 1), min v0:
      v0 min= x[i, j]
    for j in len(x, 1):
      for k in len(w, 0):
        y[j, k] += )",
                                 changed, "\n");
    CHECK(after(guard, text.c_str()) == text);
  }
  const char* given = R"(program p(x: f64[?, ?], w: f64[?], z: f64[?, ?]) -> y: f64[len(x, 1), len(w, 0)]
  for j in len(x, 1):
    for k in len(w, 0):
      y[j, k] = z[j, k]
  for i in len(x, 0):
    for j in len(x, 1), min v0:
      v0 min= x[i, j]
    for j in len(x, 1):
      for k in len(w, 0):
        y[j, k] += select((x[i, j] == v0), w[k], 0.0)
)";
  CHECK(after(guard, given) == given);
}

TEST_CASE("blocks: a large product and the loops and products that read its rows run block by block") {
  CHECK(after(blocks,
              R"(program p(q: f64[?, ?], k: f64[?, ?], v: f64[?, ?]) -> y: f64[4096, 8], z: f64, u: f64[2048]
  buffer s: f64[4096, 2048]
  buffer e: f64[4096, 2048]
  call bt_gemm_f64(4096, 2048, 32, 0, 1, in q, 32, in k, 32, out s)
  for j in 2048:
    u[j] = v[j, 0]
  for i in 4096, sum v1:
    for j in 2048, max v0:
      v0 max= s[i, j]
    for j in 2048:
      e[i, j] = (s[i, j] - v0)
    v1 += v0
  call bt_gemm_f64(4096, 8, 2048, 0, 0, in e, 2048, in v, 8, out y)
  z = v1
)") == R"(program p(q: f64[?, ?], k: f64[?, ?], v: f64[?, ?]) -> y: f64[4096, 8], z: f64, u: f64[2048]
  buffer s: f64[64, 2048]
  buffer e: f64[64, 2048]
  buffer rows1: f64[4096]
  for j in 2048:
    u[j] = v[j, 0]
  for b in 64:
    call bt_gemm_f64(min(64, (4096 - (b * 64))), 2048, 32, 0, 1, in q from (b * 2048), 32, in k, 32, out s)
    for i3 in min(64, (4096 - (b * 64))):
      for j in 2048, max v0:
        v0 max= s[i3, j]
      for j in 2048:
        e[i3, j] = (s[i3, j] - v0)
      rows1[((b * 64) + i3)] = v0
    call bt_gemm_f64(min(64, (4096 - (b * 64))), 8, 2048, 0, 0, in e, 2048, in v, 8, out y from (b * 512))
  for i4 in 4096, sum v1:
    v1 += rows1[i4]
  z = v1
)");
}

TEST_CASE("blocks: sums over rows of outer products are added up block by block") {
  const std::string text =
      after(blocks,
            R"(program p(q: f64[?, ?], k: f64[?, ?], d: f64[?, ?]) -> dq: f64[4096, 32], dk: f64[2048, 32]
  buffer s: f64[4096, 2048]
  call bt_gemm_f64(4096, 2048, 32, 0, 1, in q, 32, in k, 32, out s)
  for i in 4096:
    for j in 2048:
      s[i, j] = (s[i, j] * d[i, 0])
  call bt_gemm_f64(4096, 32, 2048, 0, 0, in s, 2048, in k, 32, out dq)
  call bt_gemm_f64(2048, 32, 4096, 1, 0, in s, 2048, in q, 32, out dk)
)");
  CHECK(text == R"(program p(q: f64[?, ?], k: f64[?, ?], d: f64[?, ?]) -> dq: f64[4096, 32], dk: f64[2048, 32]
  buffer s: f64[64, 2048]
  for i4 in 2048:
    for i5 in 32:
      dk[i4, i5] = 0.0
  for b in 64:
    call bt_gemm_f64(min(64, (4096 - (b * 64))), 2048, 32, 0, 1, in q from (b * 2048), 32, in k, 32, out s)
    for i3 in min(64, (4096 - (b * 64))):
      for j in 2048:
        s[i3, j] = (s[i3, j] * d[((b * 64) + i3), 0])
    call bt_gemm_f64(min(64, (4096 - (b * 64))), 32, 2048, 0, 0, in s, 2048, in k, 32, out dq from (b * 2048))
    call bt_gemm_add_f64(2048, 32, min(64, (4096 - (b * 64))), 1, 0, 1, in s, 2048, in q from (b * 2048), 32, inout dk)
)");
}

TEST_CASE("blocks: a matrix that a loop computes for products is computed in blocks of rows") {
  const char* const given = R"(program p(x: f64[128], t: f64[16384]) -> g: f64[128]
  buffer w: f64[16384, 128]
  buffer y: f64[16384]
  buffer r: f64[16384]
  for i in 16384:
    for j in 128, prefix prod v0:
      v0 *= t[i]
      w[i, j] = v0
  call bt_gemv_f64(16384, 128, 0, in w, 128, in x, out y)
  for i in 16384:
    r[i] = (y[i] - t[i])
  call bt_gemv_f64(128, 16384, 1, in w, 128, in r, out g)
)";
  CHECK(after(blocks, given) == R"(program p(x: f64[?], t: f64[?]) -> g: f64[128]
  buffer w: f64[512, 128]
  buffer y: f64[512]
  buffer r: f64[512]
  for i4 in 128:
    g[i4] = 0.0
  for b in 32:
    for i3 in min(512, (16384 - (b * 512))):
      for j in 128, prefix prod v0:
        v0 *= t[((b * 512) + i3)]
        w[i3, j] = v0
    call bt_gemv_f64(min(512, (16384 - (b * 512))), 128, 0, in w, 128, in x, out y)
    for i3 in min(512, (16384 - (b * 512))):
      r[i3] = (y[i3] - t[((b * 512) + i3)])
    call bt_gemm_add_f64(128, 1, min(512, (16384 - (b * 512))), 1, 0, 1, in w, 128, in r, 1, inout g)
)");
  // Threads share the first loop, over all rows; sums have the same blocks.
  CHECK(after(blocks_with_threads, given) == R"(program p(x: f64[?], t: f64[?]) -> g: f64[128]
  buffer w: f64[16384, 128]
  buffer y: f64[512]
  buffer r: f64[512]
  for i4 in 128, in chunks:
    g[i4] = 0.0
  for i5 in 16384, in chunks:
    for j in 128, prefix prod v0:
      v0 *= t[i5]
      w[i5, j] = v0
  for b in 32:
    call bt_gemv_f64(min(512, (16384 - (b * 512))), 128, 0, in w from (b * 65536), 128, in x, out y)
    for i3 in min(512, (16384 - (b * 512))):
      r[i3] = (y[i3] - t[((b * 512) + i3)])
    call bt_gemm_add_f64(128, 1, min(512, (16384 - (b * 512))), 1, 0, 1, in w from (b * 65536), 128, in r, 1, inout g)
)");
}

TEST_CASE("parallelize: the parts of a loop add as the whole did") {
  const std::string much = "tanh((x[i] * exp((x[i] + (x[i] * x[i])))))";
  std::string text = "program p(x: f64[?], g: i64[?], h: i64[?]) -> a: f64[5], b: f64[3]\n";
  text += "  for i in len(x, 0), vector, sum v0:\n    v1 = " + much + "\n";
  for (int k = 2; k < 14; ++k) text += cat("    v", k, " = (v", k - 1, " + tanh((v", k - 1, " * 0.5)))\n");
  text += "    a[g[i]] += v13\n    b[h[i]] += (v13 * v13)\n    v0 += v13\n";
  // The first scatter is added by runs of equal indices, and the second in sequence.
  const std::string divided = after(parallelize, text.c_str());
  CHECK_MESSAGE(
      divided.find("for i in len(x, 0), vector, lanes of 8 x 1:\n    a[g[i]] += addends5[i] by runs\n") != divided.npos,
      divided);
  CHECK_MESSAGE(
      divided.find("for i in len(x, 0), vector, lanes of 8 x 1:\n    b[h[i]] += addends6[i]\n") != divided.npos,
      divided);
  CHECK_MESSAGE(divided.find("for i in len(x, 0), vector, in chunks, lanes of 8 x 1, sum v0:") != divided.npos,
                divided);
  CHECK(to_string(parse(divided.c_str())) == divided);
}

TEST_CASE("blocks: a product stays whole where it is small, read by columns, returned, or stored again as a whole") {
  for (const auto& [rows, body] : std::vector<std::pair<std::string, std::string>>{
           {"64", "  for i in 64:\n    for j in 2048:\n      y[j] += s[i, j]\n"},
           {"4096", "  for j in 2048:\n    for i in 4096:\n      y[j] += s[i, j]\n"},
           {"4096", "  for i in 4096:\n    for j in 2048:\n      y[j] += s[(4095 - i), j]\n"},
           {"4096", "  call bt_gemm_f64(1, 2048, 4096, 0, 0, in w, 4096, in s, 2048, out y)\n"},
           {"4096", "  call bt_gemm_f64(2048, 1, 4096, 1, 0, in s, 2048, in s, 2049, out y)\n"},
           {"4096", "  for i in 4096, prefix sum v0:\n    v0 += s[i, 0]\n    y[0] = v0\n"},
           {"4096",
            "  for i in 4096:\n    for j in 2048:\n      t[i, j] = (s[i, j] + 1.0)\n  for j in 2048:\n    y[j] += t[j, "
            "j]\n"}}) {
    const std::string text =
        cat("program p(q: f64[?, ?], k: f64[?, ?], w: f64[?, ?]) -> y: f64[2048]\n  buffer s: f64[", rows, ", 2048]\n",
            body.find("t[") != std::string::npos ? "  buffer t: f64[4096, 2048]\n" : "",
            "  fill y 0.0\n  call bt_gemm_f64(", rows, ", 2048, 32, 0, 1, in q, 32, in k, 32, out s)\n", body);
    CAPTURE(text);
    CHECK(after(blocks, text.c_str()) == text);
  }
}

TEST_CASE("short loops: a loop around a short sum becomes straight code, what it adds to an element is carried") {
  CHECK(after(short_loops, R"(program p(x: f64[?], c: f64[?]) -> y: f64[len(x, 0)], g: f64[2]
  fill g 0.0
  for i in len(x, 0):
    for k in 2, max v0:
      v0 max= (x[i] * c[k])
    for k in 2:
      g[k] += (v0 * x[i])
    y[i] = v0
)") == R"(program p(x: f64[?], c: f64[?]) -> y: f64[len(x, 0)], g: f64[2]
  fill g 0.0
  for i in len(x, 0), sum v3, sum v4:
    v1 = (x[i] * c[0])
    v2 = select((v1 != v1), v1, select(((x[i] * c[1]) <= v1), v1, (x[i] * c[1])))
    v3 += (v2 * x[i])
    v4 += (v2 * x[i])
    y[i] = v2
  g[0] += v3
  g[1] += v4
)");
}

TEST_CASE("short loops: long loops inside, few iterations, and loads far apart with little between keep their loops") {
  const char* texts[] = {R"(program p(x: f64[?], c: f64[?]) -> y: f64[len(x, 0)]
  for i in len(x, 0):
    for k in 20, sum v0:
      v0 += (x[i] * c[k])
    y[i] = v0
)",
                         R"(program p(x: f64[?], c: f64[?]) -> y: f64[5]
  for i in 5:
    for k in 3, sum v0:
      v0 += (x[i] * c[k])
    y[i] = v0
)",
                         R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0)]
  for i in len(x, 0):
    for k in 8, sum v0:
      v0 += x[i, k]
    y[i] = v0
)"};
  for (const char* text : texts) CHECK(after(short_loops, text) == text);
}

TEST_CASE("unroll and jam: what is reduced along a short leading axis stays in variables of one loop") {
  CHECK(after(unroll_and_jam, R"(program p(x: f64[?, ?]) -> y: f64[len(x, 1)], s: f64[2]
  buffer t: f64[len(x, 1)]
  fill t 0.0
  for i in 2:
    for j in len(x, 1):
      t[j] += x[i, j]
  for j in len(x, 1):
    y[j] = (t[j] * 2.0)
  for i in 2:
    for j in len(x, 1), sum v0:
      v0 += (x[i, j] * t[j])
    s[i] = v0
)") == R"(program p(x: f64[?, ?]) -> y: f64[len(x, 1)], s: f64[2]
  for j2 in len(x, 1), sum v1, sum v2:
    v3 = (0.0 + x[0, j2])
    v4 = (v3 + x[1, j2])
    v5 = (v4 * 2.0)
    v1 += (x[0, j2] * v4)
    v2 += (x[1, j2] * v4)
    y[j2] = v5
  s[0] = v1
  s[1] = v2
)");
}

TEST_CASE("unroll and jam: a loop that needs another iteration's element is not fused") {
  const char* text = R"(program p(x: f64[?, ?]) -> y: f64[len(x, 1)]
  buffer t: f64[len(x, 1)]
  fill t 0.0
  for i in 2:
    for j in len(x, 1):
      t[(len(x, 1) - (j + 1))] += x[i, j]
      t[j] += x[i, j]
  for j in len(x, 1):
    y[j] = t[j]
)";
  CHECK(after(unroll_and_jam, text) == text);
}

TEST_CASE("unroll and jam: steps of the short loop that the long ones do not need stay in a loop of their own") {
  CHECK(after(unroll_and_jam, R"(program p(x: f64[?, ?], b: f64[2]) -> y: f64[len(x, 1)], s: f64
  buffer t: f64[len(x, 1)]
  fill t 0.0
  for i in 2, sum v0:
    v0 += b[i]
    for j in len(x, 1):
      t[j] += (b[i] * x[i, j])
  for j in len(x, 1):
    y[j] = (t[j] * 2.0)
  s = v0
)") == R"(program p(x: f64[?, ?], b: f64[?]) -> y: f64[len(x, 1)], s: f64
  for i in 2, sum v0:
    v0 += b[i]
  s = v0
  for j2 in len(x, 1):
    v1 = (0.0 + (b[0] * x[0, j2]))
    v2 = (v1 + (b[1] * x[1, j2]))
    v3 = (v2 * 2.0)
    y[j2] = v3
)");
}

TEST_CASE("unroll and jam: a loop behind a check that needs the fused loop stays behind it") {
  CHECK(after(unroll_and_jam, R"(program p(x: f64[?, ?]) -> y: f64[len(x, 1)]
  buffer t: f64[len(x, 1)]
  fill t 0.0
  for i in 2:
    for j in len(x, 1):
      t[j] += x[i, j]
  for j in len(x, 1), all v0:
    v0 &= (t[j] > 0.0)
  require v0
  for j in len(x, 1):
    y[j] = t[j]
)") == R"(program p(x: f64[?, ?]) -> y: f64[len(x, 1)]
  buffer t: f64[len(x, 1)]
  for j2 in len(x, 1), all v0:
    v1 = (0.0 + x[0, j2])
    v2 = (v1 + x[1, j2])
    v0 &= (v2 > 0.0)
    t[j2] = v2
  require v0
  for j in len(x, 1):
    y[j] = t[j]
)");
}

TEST_CASE("unroll and jam: what the steps around the long loops need is unrolled with them") {
  CHECK(after(unroll_and_jam, R"(program p(x: f64[?, ?], b: f64[?]) -> s: f64[2], y: f64[len(x, 1)]
  for j in len(x, 1):
    y[j] = (x[0, j] - x[1, j])
  for i in 2:
    v1 = (b[i] * 2.0)
    for j in len(x, 1), sum v0:
      v0 += (x[i, j] * y[j])
    s[i] = (v0 + v1)
)") == R"(program p(x: f64[?, ?], b: f64[?]) -> s: f64[2], y: f64[len(x, 1)]
  v2 = (b[0] * 2.0)
  v4 = (b[1] * 2.0)
  for j in len(x, 1), sum v3, sum v5:
    v6 = (x[0, j] - x[1, j])
    v3 += (x[0, j] * v6)
    v5 += (x[1, j] * v6)
    y[j] = v6
  s[0] = (v3 + v2)
  s[1] = (v5 + v4)
)");
}
