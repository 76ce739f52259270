// The order of additions as a part of a Program: a pass that divides loops must leave what it was.
#include <map>
#include <set>
#include <tuple>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "program/index_runs.hpp"
#include "program/lane_order.hpp"
#include "program/steps.hpp"
#include "program/verify.hpp"

namespace bitale::program {

namespace {

// How terms are added: in lanes of elements of so many bytes with so many accumulators, or one after the other (0, 0);
// and whether by runs of equal indices.
using Order = std::tuple<int, int, bool>;
// By what is added: a value to a variable, or something at an offset of a buffer.
using Orders = std::map<std::pair<std::int64_t, std::uint32_t>, std::set<Order>>;
constexpr std::int64_t in_variable = -1;

Orders orders_of(const Program& program) {
  Orders out;
  visit_steps(program.steps, [&](const Step& step) {
    const auto* loop = as_loop(step);
    if (!loop) return;
    const LaneOrder lanes = loop->vector ? lane_order_of(*loop) : LaneOrder();
    const int runs = loop->vector ? step_with_index_runs(program, *loop) : -1;
    const auto offset = [&](const Accumulate& add) { return offset_of(program, add.buffer, add.at); };
    const Expr by_runs = runs < 0 ? Expr() : offset(*as_add(loop->body[std::size_t(runs)]));
    for (auto& inner : loop->body) {
      if (const auto* update = as_update(inner); update && is_float_sum(*update))
        out[{in_variable, update->value.id()}].emplace(lanes.element_bytes, lanes.accumulators, false);
      if (const auto* add = as_add(inner); add && !add->at.empty()) {
        const bool is_by_runs = by_runs.defined() && offset(*add) == by_runs;
        out[{add->buffer, offset(*add).id()}].emplace(0, 0, is_by_runs);
      }
    }
  });
  return out;
}

}  // namespace

void verify_orders(const Program& before, const Program& after) {
  const Orders of_before = orders_of(before);
  for (auto& [what, orders] : orders_of(after)) {
    const auto found = of_before.find(what);
    if (found == of_before.end()) continue;  // another sum, which the pass has made
    for (const Order& order : orders)
      if (!found->second.contains(order))
        throw InternalError(
            cat("program: what is added to ",
                what.first == in_variable ? std::string("a variable") : before.buffers[std::size_t(what.first)].name,
                " has another order than before\n", to_string(before), "\n", to_string(after)));
  }
}

}  // namespace bitale::program
