// The rules of the IR: verify names the rule that a Program violates.
#include <doctest/doctest.h>

#include "bitale/core/error.hpp"
#include "program/parse.hpp"
#include "program/program.hpp"
#include "program/steps.hpp"
#include "program/verify.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

// y = x + 1 through a temporary: allocate t; for i: t[i] = x[i] + 1; for j: y[j] = t[j].
struct Example {
  static constexpr std::int64_t x = 0, t = 1, y = 2;
  Program program;
  ExprPool& pool = *program.pool;
  Expr i = pool.index(0), j = pool.index(1), length = pool.dim(x, 0);

  Example() {
    program.index_names = {"i", "j"};
    const auto add = [&](const char* name, Role role) {
      Buffer buffer;
      buffer.name = name;
      buffer.role = role;
      buffer.shape = {length};
      program.buffers.push_back(buffer);
    };
    add("x", Role::input);
    add("t", Role::temporary);
    add("y", Role::output);
    program.steps = {
        {Allocate{t}}, {loop(i, Store{t, {i}, load(x, i) + 1.0})}, {Allocate{y}}, {loop(j, Store{y, {j}, load(t, j)})}};
  }

  Expr load(std::int64_t buffer, Expr at) {
    const Expr index[] = {at};
    return pool.load(buffer, DType::Float64, index);
  }
  template <class... Ss>
  Loop loop(Expr index, Ss... body) {
    Loop out;
    out.index = index;
    out.extent = length;
    (out.body.push_back({body}), ...);
    return out;
  }
  Steps& body(std::size_t step) { return std::get<Loop>(program.steps[step].what).body; }

  void fails(const char* why) {
    try {
      verify(program);
      FAIL("no error, expected: " << std::string(why));
    } catch (const InternalError& error) {
      CHECK(std::string(error.what()).find(why) != std::string::npos);
    }
  }
};

}  // namespace

TEST_CASE("a valid program passes") { CHECK_NOTHROW(verify(Example().program)); }

TEST_CASE("buffers are allocated once, before use, at the top level") {
  Example early;
  early.program.steps.erase(early.program.steps.begin());
  early.fails("t is used before it exists");
  Example twice;
  twice.program.steps.push_back({Allocate{Example::t}});
  twice.fails("t exists twice");
  Example inside;
  inside.program.steps.erase(inside.program.steps.begin());
  inside.body(0).insert(inside.body(0).begin(), {Allocate{Example::t}});
  inside.fails("an allocation is in a loop");
  Example unknown;
  unknown.program.steps.push_back({Allocate{Example::x}});
  unknown.fails("x exists twice");
}

TEST_CASE("ranks and dtypes match") {
  Example rank;
  rank.body(1).push_back({Store{Example::t, {}, rank.load(Example::x, rank.i)}});
  rank.fails("store to t at a wrong rank");
  Example dtype;
  dtype.body(1).push_back({Store{Example::t, {dtype.i}, dtype.i}});
  dtype.fails("store of int64 to t");
  Example check;
  check.program.steps.push_back({Check{check.length, 0}});
  check.fails("a check of something that is not bool");
}

TEST_CASE("indices and variables are in scope") {
  Example index;
  index.body(1).push_back({Store{Example::t, {index.j}, index.load(Example::x, index.i)}});
  index.fails("index 1 is out of scope");
  Example variable;
  variable.body(1).push_back({Store{Example::t, {variable.i}, variable.pool.var(0, DType::Float64)}});
  variable.fails("v0 is read before it is known");
  Example carried;
  carried.body(1).push_back(
      {Update{carried.pool.var(0, DType::Float64), Combiner::add, carried.pool.number(1, DType::Float64)}});
  carried.fails("no loop carries it");
}

TEST_CASE("steps occur only where their kind is allowed") {
  Example filled;
  filled.body(1).push_back({Fill{Example::t, filled.pool.number(0, DType::Float64)}});
  filled.fails("a fill is in a loop");
  Example hosted;
  hosted.program.callbacks = {"op"};
  hosted.body(1).push_back({HostCall{0, {Example::x}, {}}});
  hosted.fails("a host call is in a loop");
  Example lanes;
  lanes.body(1).push_back({lanes.loop(lanes.j, Store{Example::t, {lanes.j}, lanes.load(Example::x, lanes.j)})});
  std::get<Loop>(lanes.program.steps[1].what).vector = true;
  lanes.fails("a loop is in a vector loop");
  Example again;
  again.body(1).push_back({again.loop(again.i, Store{Example::t, {again.i}, again.load(Example::x, again.i)})});
  again.fails("index 0 is that of a loop around");
}

TEST_CASE("a loop carries a variable once") {
  const char* text = R"(program p(x: f64[?], y: f64[?]) -> z: f64[len(x, 0), 2]
  output z: f64[len(x, 0), 2]
  for i in len(x, 0), prefix sum v0, prefix sum v1:
    v0 += x[i]
    z[i, 0] = v0
    v1 += y[i]
    z[i, 1] = v1
)";
  Program program = parse(text);
  CHECK_NOTHROW(verify(program));
  auto& loop = std::get<Loop>(program.steps[1].what);
  loop.carries[1] = loop.carries[0];
  CHECK_THROWS_WITH_AS(verify(program), doctest::Contains("v0 is carried twice"), InternalError);
}

TEST_CASE("inputs are not written to") {
  Example input;
  input.body(1).push_back({Store{Example::x, {input.i}, input.load(Example::x, input.i)}});
  input.fails("x is written to");
  Example called;
  called.program.steps.push_back({Call{"bt_sort", {BufferArgument{Example::x, AccessKind::write}}}});
  called.fails("x is written to");
  Example filled;
  filled.program.steps.insert(filled.program.steps.begin(), {Fill{Example::x, filled.pool.number(0, DType::Float64)}});
  filled.fails("x is written to");
}

TEST_CASE("calls read only buffers that were written; fills are constant") {
  Example early;
  early.program.steps.insert(early.program.steps.begin() + 1,
                             {Call{"bt_sort", {BufferArgument{Example::t, AccessKind::combine}}}});
  early.fails("t is read before anything is written");
  Example written;
  written.program.steps.insert(written.program.steps.begin() + 1,
                               {Call{"bt_sort", {BufferArgument{Example::t, AccessKind::write}}}});
  CHECK_NOTHROW(verify(written.program));
  Example offset;
  offset.program.steps.push_back(
      {Call{"bt_sort", {BufferArgument{Example::t, AccessKind::read, offset.pool.number(1, DType::Float64)}}}});
  offset.fails("an offset in t that is not int64");
  Example status;
  status.program.steps.push_back({Call{"bt_sort", {}, status.pool.var(0, DType::Float64)}});
  status.fails("a status that is not an int64 variable");
  Example lanes;
  lanes.body(1).push_back({Call{"bt_sort", {BufferArgument{Example::t, AccessKind::combine}}}});
  std::get<Loop>(lanes.program.steps[1].what).vector = true;
  lanes.fails("a call is in a vector loop");
  Example filled;
  filled.program.steps.insert(filled.program.steps.begin() + 1,
                              {Fill{Example::t, cast(filled.length, DType::Float64)}});
  filled.fails("filled with a value that is not constant");
}

TEST_CASE("an element that is read is one that a step may have written") {
  const auto fails = [](const char* text, const char* why) {
    CHECK_THROWS_WITH_AS(verify(parse(text)), doctest::Contains(why), InternalError);
  };
  // Only the diagonal is written.
  fails(R"(program p(x: f64[?]) -> y: f64
  stack b: f64[2, 2]
  b[0, 0] = x[0]
  b[1, 1] = x[1]
  output y: f64
  for i in 2, sum v0:
    for j in 2, sum v1:
      v1 += b[i, j]
    v0 += v1
  y = v0
)",
        "element 2 of buffer b is read, but no step before writes it");
  // One element is added to before it has a value.
  fails(R"(program p(x: f64[?]) -> y: f64[3]
  output y: f64[3]
  y[0] = 0.0
  y[2] = 0.0
  for i in 3:
    y[i] += x[i]
)",
        "element 1 of buffer y is read");
  // Earlier iterations, selects, branches and unknown indices may be right.
  CHECK_NOTHROW(verify(parse(R"(program p(x: f64[?], n: i64) -> y: f64[3]
  output y: f64[3]
  stack b: f64[3]
  for i in 3:
    b[i] = select((i > 0), (b[max((i + -1), 0)] + x[i]), x[i])
  y[n] = x[0]
  for i in 3:
    y[i] += b[(2 - i)]
)")));
}

TEST_CASE("a definition in a body is known only in its iteration") {
  Example example;
  const Expr var = example.pool.var(0, DType::Float64);
  example.body(1).push_back({Let{var, example.load(Example::x, example.i)}});
  CHECK_NOTHROW(verify(example.program));
  example.body(3).push_back({Store{Example::y, {example.j}, var}});
  example.fails("v0 is read before it is known");
}

TEST_CASE("only vector loops with an order of additions have runs of equal indices") {
  const auto text = [](const char* head, const char* order) {
    return std::string(
               "program p(x: f64[?], g: i64[?]) -> y: f64[3]\n  output y: f64[3]\n  fill y 0.0\n  for i in len(x, 0)") +
           head + ":\n    y[g[i]] += x[i]" + order + "\n";
  };
  for (const char* head : {"", ", vector", ", vector, lanes of 8 x 1"}) CHECK_NOTHROW(verify(parse(text(head, ""))));
  CHECK_NOTHROW(verify(parse(text(", vector, lanes of 8 x 1", " by runs"))));
  for (const char* head : {"", ", vector"})
    CHECK_THROWS_WITH_AS(verify(parse(text(head, " by runs"))), doctest::Contains("without an order of additions"),
                         InternalError);
}

TEST_CASE("a loop that says that it copies transposed elements does nothing else") {
  const auto text = [](const char* at, const char* value) {
    return std::string("program p(x: f64[?, ?]) -> y: f64\n  temporary t: f64[16, 64]\n  output y: f64\n") +
           "  for i in 16, transposing:\n    for j in 64, ahead 64:\n      t[" + at + "] = " + value +
           "\n  y = t[0, 0]\n";
  };
  const auto check = [](const std::string& program) { verify(parse(program)); };
  CHECK_NOTHROW(check(text("i, j", "x[j, i]")));
  CHECK_NOTHROW(check(text("i, j", "x[(j + 3), (i + 5)]")));
  for (auto& [at, value] : {std::pair("i, j", "x[i, j]"), std::pair("i, j", "(x[j, i] + 1.0)"),
                            std::pair("0, j", "x[j, i]"), std::pair("i, j", "x[j, (2 * i)]")})
    CHECK_THROWS_WITH_AS(check(text(at, value)),
                         doctest::Contains("says that it copies transposed elements, and does not"), InternalError);
}

TEST_CASE("a pass that divides loops keeps the order in which sums are added") {
  const Program before = parse(R"(program p(x: f64[?], g: i64[?]) -> y: f64[3], z: f64
  output y: f64[3]
  output z: f64
  fill y 0.0
  for i in len(x, 0), vector, lanes of 8 x 4, sum v0:
    v0 += x[i]
    y[g[i]] += x[i] by runs
  z = v0
)");
  const auto changed = [&](auto&& change) {
    Program after = before;
    change(*as_loop(after.steps[3]));
    return after;
  };
  CHECK_NOTHROW(verify_orders(before, before));
  CHECK_NOTHROW(verify_orders(before, changed([](Loop& loop) { loop.parallel_cost = loop.extent; })));
  for (auto& after : {changed([](Loop& loop) { loop.lane_order.accumulators = 1; }),
                      changed([](Loop& loop) { loop.lane_order.element_bytes = 4; }),
                      changed([](Loop& loop) { loop.vector = false; }),
                      changed([](Loop& loop) { as_add(loop.body[1])->by_runs = false; })})
    CHECK_THROWS_WITH_AS(verify_orders(before, after), doctest::Contains("has another order than before"),
                         InternalError);
}
