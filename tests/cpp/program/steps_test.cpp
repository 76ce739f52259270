// Traversal of steps: every part of every kind is visited once, and can be rewritten.
#include "program/steps.hpp"

#include <doctest/doctest.h>

#include <string>

#include "bitale/core/text.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

struct AllKinds {
  ExprPool pool;
  Expr number(std::int64_t value) { return pool.integer(value); }
  Expr var(std::int64_t id) { return pool.var(id, DType::Int64); }

  // Numbers identify the parts: 1, 2, 3, ... in the order of visits, buffers from 100 on.
  Steps steps() {
    Loop loop{pool.index(0), number(1), {{var(50), CarryKind::state, {}, number(15)}}, {}, false, 0, false,
              number(16),    number(2)};
    loop.body.push_back({Let{var(51), number(11)}});
    loop.body.push_back({Next{var(56), number(17)}});
    loop.body.push_back({If{number(18), {{Let{var(57), number(19)}}}, {{Let{var(58), number(20)}}}}});
    return {
        {Store{100, {number(3), number(4)}, number(5)}},
        {Accumulate{101, {number(6)}, Combiner::add, number(7)}},
        {Let{var(52), number(8)}},
        {Update{var(53), Combiner::max, number(9), var(54), number(10)}},
        {std::move(loop)},
        {Allocate{102}},
        {Fill{103, number(12)}},
        {Call{"f",
              {number(13), BufferArgument{104, AccessKind::read}, BufferArgument{105, AccessKind::write, number(14)}},
              var(55)}},
        {Check{pool.boolean(true), 0}},
        {HostCall{0, {106}, {107}}}};
  }
};

}  // namespace

TEST_CASE("every expression, access and definition of a step is visited once") {
  AllKinds all;
  const Steps steps = all.steps();
  std::string exprs, accesses, definitions;
  visit_steps(steps, [&](const Step& step) {
    for_each_expr(step, [&](const Expr& expr) { exprs += cat(expr.payload(), " "); });
    for_each_access(step, [&](const Access& access) {
      accesses += cat(access.buffer, access.reads() ? "r" : "", access.writes() ? "w" : "",
                      access.at ? cat("@", access.at->size()) : "", " ");
    });
    for_each_definition(step,
                        [&](Expr var, Definition kind) { definitions += cat(var.payload(), ":", int(kind), " "); });
  });
  CHECK(exprs == "3 4 5 6 7 8 9 10 1 2 15 16 11 17 18 19 20 12 13 14 1 ");
  CHECK(accesses == "100w@2 101rw@1 103w 104r 105w 106r 107w ");
  CHECK(definitions == "52:1 53:3 54:3 0:0 50:2 51:1 56:3 57:1 58:1 55:1 ");
}

TEST_CASE("every expression and buffer of a step can be rewritten") {
  AllKinds all;
  Steps steps = all.steps();
  visit_steps(steps, [&](Step& step) {
    for_each_expr(step, [&](Expr& expr) { expr = all.number(expr.payload() + 20); });
    for_each_access(step, [&](const MutableAccess& access) { access.buffer -= 100; });
  });
  std::string seen;
  visit_steps(std::as_const(steps), [&](const Step& step) {
    for_each_expr(step, [&](const Expr& expr) { seen += cat(expr.payload(), " "); });
    for_each_access(step, [&](const Access& access) { seen += cat("b", access.buffer, " "); });
  });
  CHECK(seen == "23 24 25 b0 26 27 b1 28 29 30 21 22 35 36 31 37 38 39 40 32 b3 33 34 b4 b5 21 b6 b7 ");
}
