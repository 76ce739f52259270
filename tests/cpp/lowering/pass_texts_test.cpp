// Passes on Programs as text: what each is given and what it leaves.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
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

}  // namespace

TEST_CASE("forward: what is stored and read at the same place is used directly, and what nobody reads is not stored") {
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

TEST_CASE("forward: another place, another loop and a call keep a temporary") {
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

TEST_CASE("forward: a loop that is left empty goes, one that carries something stays") {
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

TEST_CASE("narrow: a temporary that is written and read row by row is a row") {
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

TEST_CASE("narrow: what the row before is read from stays, and so does what is handed to a function") {
  const char* before = R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0), len(x, 1)]
  buffer t: f64[len(x, 0), len(x, 1)]
  for i in len(x, 0):
    for j in len(x, 1):
      t[i, j] = x[i, j]
    for k in len(x, 1):
      y[i, k] = t[max((i - 1), 0), k]
)";
  CHECK(after(lowering::narrow_temporaries, before) == before);
  const char* handed = R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0), len(x, 1)]
  buffer t: f64[len(x, 0), len(x, 1)]
  for i in len(x, 0):
    for j in len(x, 1):
      t[i, j] = x[i, j]
    call bt_test(len(x, 1), in t from (i * len(x, 1)), out y from (i * len(x, 1)))
)";
  CHECK(after(lowering::narrow_temporaries, handed) == handed);
}

TEST_CASE("collapse: rows and columns of elements that lie in order are one loop") {
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

TEST_CASE(
    "vectorize: innermost loops of stores run in lanes; those that read what they write, hold calls or checks, don't") {
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
    "memory: results whose lengths are known first, temporaries where they are first used, small ones on the stack") {
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

TEST_CASE("a branch and a loop with state are passed through, and what is in them is treated as elsewhere") {
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
