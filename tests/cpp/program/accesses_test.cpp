// Which iteration touches which element.
#include "program/accesses.hpp"

#include <doctest/doctest.h>

#include "program/parse.hpp"
#include "program/rewrite.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

// A Program of which the first step is a loop over i.
struct Given {
  Program program;
  explicit Given(const char* text) : program(parse(text)), accesses(loop()) {}
  const Loop& loop() const { return std::get<Loop>(program.steps[0].what); }
  std::int64_t buffer(std::string_view name) const {
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
      if (program.buffers[b].name == name) return std::int64_t(b);
    FAIL("no buffer ", name);
    return -1;
  }
  bool independent(std::string_view name) const { return accesses.independent(buffer(name), loop().index); }
  bool is_private(std::string_view name) const { return accesses.private_to(buffer(name), loop().index); }
  Accesses::Axes own_axes(std::string_view name) const { return accesses.own_axes(buffer(name), loop().index); }
  Accesses accesses;
};

}  // namespace

TEST_CASE("strides: sums and products with constants, as long as they are of moderate size") {
  ExprPool pool;
  const Expr i = pool.index(0), j = pool.index(1), n = pool.dim(0, 0);
  CHECK(stride(i, i) == 1);
  CHECK(stride(n - i, i) == -1);
  CHECK(stride((i + j) * 3 + n, i) == 3);
  CHECK(stride(i * 3 - i * 5, i) == -2);
  CHECK(stride(j * n, i) == 0);
  CHECK(!stride(i * n, i));
  CHECK(!stride(max(i, j), i));
  CHECK(!stride(i * (1 << 17), i));
}

TEST_CASE("distances: constant indices apart along axes whose later axes have known lengths") {
  ExprPool pool;
  const Expr i = pool.index(0), j = pool.index(1), n = pool.dim(0, 0);
  const auto at = [&](std::int64_t k) { return pool.integer(k); };
  const auto apart = [&](std::vector<Expr> shape, std::vector<Expr> from, std::vector<Expr> to) {
    Buffer buffer;
    buffer.shape = std::move(shape);
    return distance(buffer, from, to);
  };
  CHECK(apart({n, at(2), at(3)}, {i, at(0), at(1)}, {i, at(1), at(0)}) == 2);
  CHECK(apart({n, at(2), at(3)}, {i, at(1), at(2)}, {i, at(0), at(2)}) == -3);
  CHECK(apart({at(4), n}, {at(1), j}, {at(1), j}) == 0);
  CHECK(!apart({n, at(3)}, {i, at(0)}, {j, at(0)}));
  CHECK(!apart({at(4), n}, {at(0), j}, {at(1), j}));
  CHECK(!apart({at(2), at(1 << 17)}, {at(0), i}, {at(1), i}));
}

TEST_CASE("iterations are independent where an index tells them apart") {
  const Given given(
      R"(program p(x: f64[?], g: i64[?]) -> rows: f64[8, 8], flat: f64[64], odd: f64[16], near: f64[64], at: f64[8]
  for i in 8:
    for j in 8:
      rows[i, j] = x[j]
      flat[((i * 8) + j)] = rows[i, j]
      odd[((i * 2) + 1)] = x[i]
      near[((i * 4) + j)] = x[j]
      at[g[i]] = x[i]
)");
  CHECK(given.independent("rows"));
  CHECK(given.independent("flat"));  // j is below the distance of rows
  CHECK(given.independent("odd"));
  CHECK(!given.independent("near"));  // and here it is not
  CHECK(!given.independent("at"));
  CHECK(given.own_axes("rows") == 1);
  CHECK(given.own_axes("flat") == 0);
  CHECK(given.accesses.reads(given.buffer("rows")));
  CHECK(!given.accesses.writes(given.buffer("x")));
}

TEST_CASE("iterations are independent where stores lie in ranges of their own") {
  const Given given(
      R"(program p(x: f64[?]) -> parts: f64[90], near: f64[90], strided: f64[90], mixed: f64[90], rows: f64[9, 60]
  for i in 30:
    parts[i] = x[i]
    parts[(30 + i)] = x[i]
    parts[(i + 60)] = x[i]
    near[i] = x[i]
    near[(29 + i)] = x[i]
    strided[(i * 2)] = x[i]
    strided[((i * 2) + 59)] = x[i]
    mixed[i] = x[i]
    mixed[((i * 2) + 30)] = x[i]
    rows[0, i] = x[i]
    rows[1, (30 + i)] = x[i]
)");
  CHECK(given.independent("parts"));
  CHECK(!given.independent("near"));
  CHECK(!given.independent("strided"));  // 58 + 1 is nearer than 30 steps of 2
  CHECK(!given.independent("mixed"));
  CHECK(given.independent("rows"));
  const Given unknown(R"(program p(x: f64[?]) -> y: f64[90]
  for i in len(x, 0):
    y[i] = x[i]
    y[(30 + i)] = x[i]
)");
  CHECK(!unknown.independent("y"));
}

TEST_CASE("an iteration has its own memory where it stores before it reads, always at the same elements") {
  const Given given(R"(program p(x: f64[?, ?]) -> y: f64[8]
  buffer row: f64[4]
  buffer sum: f64[1]
  buffer moving: f64[8]
  for i in 8:
    for j in 4:
      row[j] = x[i, j]
      sum[0] += row[j]
    moving[i] = sum[0]
    y[i] = moving[i]
)");
  CHECK(given.is_private("row"));
  CHECK(!given.is_private("sum"));     // reads what earlier iterations added
  CHECK(!given.is_private("moving"));  // has an element for each iteration
  CHECK(given.independent("moving"));
}

TEST_CASE("accesses have the loops around them, and definitions theirs") {
  const Given given(R"(program p(x: f64[?, ?]) -> y: f64[8]
  for i in 8, sum v0:
    for j in 4:
      v1 = x[i, j]
      v0 += v1
    y[i] = x[i, 0]
)");
  const auto& list = given.accesses.of(given.buffer("x")).list;
  REQUIRE(list.size() == 2);
  const auto& levels = given.accesses.levels();
  CHECK(levels[std::size_t(list[0].level)].extent.is_constant(4));
  CHECK(list[1].level == levels[std::size_t(list[0].level)].outer);
  CHECK(levels[0].holds_loops);
  CHECK(given.accesses.is_within(list[0].level, given.loop().index));
  CHECK(given.accesses.defined == std::set<std::int64_t>{0, 1});
  CHECK(given.accesses.set_at.at(1) == list[0].level);
}

TEST_CASE("steps keep their order where one writes what the other accesses, or defines what it uses") {
  Program program = parse(R"(program p(x: f64[?]) -> y: f64[8], z: f64[8]
  v0 = x[0]
  y[0] = v0
  z[0] = x[1]
  z[1] = (y[0] + 1.0)
)");
  const auto of = [&](std::size_t step) { return Accesses(program.steps[step]); };
  CHECK(depend(of(0), of(1)));
  CHECK(!depend(of(0), of(2)));
  CHECK(depend(of(1), of(3)));
  CHECK(depend(of(2), of(3)));
  CHECK(!depend(of(2), of(3), [](std::int64_t) { return true; }));
  Accesses both = of(0);
  both.add(of(2));
  CHECK(both.writes(program.buffers.size() - 1));
  CHECK(depend(both, of(1)));
}

TEST_CASE("elements move where they are loaded, also as indices of others, and where they are written") {
  Program program = parse(R"(program p(x: f64[?], g: i64[?, ?]) -> y: f64[8]
  for i in 8:
    y[g[i, 0]] = x[g[i, g[0, i]]]
)");
  move_elements(program.steps, [](std::int64_t buffer, std::vector<Expr>& at) {
    if (at.size() == 2) std::swap(at[0], at[1]);
    return buffer;
  });
  CHECK(to_string(program) == R"(program p(x: f64[?], g: i64[?, ?]) -> y: f64[8]
  for i in 8:
    y[g[0, i]] = x[g[g[i, 0], i]]
)");
}
