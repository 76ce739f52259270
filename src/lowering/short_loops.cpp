// Outer-loop vectorisation of short reductions. A loop of many iterations, each of which reduces a few numbers (the
// densities of a mixture's components, the coordinates of a point), becomes one loop of straight code, so that lanes go
// along the many iterations instead of being mostly masked. What all iterations add to one element is carried.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "lowering/costs.hpp"
#include "lowering/passes.hpp"
#include "lowering/straight_code.hpp"
#include "lowering/straight_loop.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

namespace {

using program::Accumulate;
using program::Code;
using program::Loop;
using program::Step;
using program::Steps;

using namespace costs::straight;

class ShortLoops {
 public:
  ShortLoops(Program& program, Declarations& declare) : program_(program), pool_(*program.pool), declare_(declare) {}

  void run(Steps& steps) {
    Steps out;
    for (auto& step : steps) {
      auto* loop = program::as_loop(step);
      Steps after;
      const bool is_serial = loop && (loop->until.defined() || !only_reduces(*loop));
      if (!loop || !(gains(*loop) && straighten(*loop, after))) {
        if (!is_serial) program::for_each_body(step, [&](Steps& body) { run(body); });
      }
      out.push_back(std::move(step));
      std::move(after.begin(), after.end(), std::back_inserter(out));
    }
    steps = std::move(out);
  }

 private:
  // ---- whether lanes along the loop are better than lanes along those inside it ----

  bool gains(const Loop& loop) const {
    if (loop.extent.is_constant() && loop.extent.payload() < costs::shortest_long) return false;
    if (!holds_loops(loop)) return false;
    if (!straight_body_size(loop)) return false;
    const StraightWork work = straight_work(program_, loop);
    return work.has_reductions && work.size <= largest && work.longest <= most_reduced && work.is_worth_lanes();
  }

  // ---- the loop of straight code ----

  bool straighten(Loop& loop, Steps& after) {
    const std::set<std::int64_t> sums = only_added_to(loop);
    if (!make_straight(program_, declare_, loop, sums)) return false;
    carry_sums(loop, sums, after);
    return true;
  }

  // What the loop adds to elements that are the same in all iterations is carried, and added after it.
  void carry_sums(Loop& loop, const std::set<std::int64_t>& sums, Steps& after) {
    std::map<std::uint32_t, Expr> carried;  // by the load of the element
    for (auto& step : loop.body) {
      const auto* add = program::as_add(step);
      if (!add || !sums.contains(add->buffer)) continue;
      const bool moves = std::any_of(add->at.begin(), add->at.end(), [&](Expr at) {
        return program::any_within(
            at, [&](Expr expr) { return expr == loop.index || expr.code() == Code::load || expr.code() == Code::var; });
      });
      if (moves) continue;
      const DType dtype = program_.buffers[std::size_t(add->buffer)].dtype;
      const auto [known, is_new] = carried.try_emplace(pool_.load(add->buffer, dtype, add->at).id());
      if (is_new) {
        known->second = declare_.var(dtype);
        loop.carries.push_back({.var = known->second, .kind = program::CarryKind::reduce, .combiner = add->combiner});
        after.push_back({Accumulate{add->buffer, add->at, add->combiner, known->second}});
      }
      step = Step{program::Update{known->second, add->combiner, add->value}};
    }
  }

  Program& program_;
  program::ExprPool& pool_;
  Declarations& declare_;
};

}  // namespace

void short_loops(Program& program, Declarations& declare) { ShortLoops(program, declare).run(program.steps); }

}  // namespace bitale::lowering
