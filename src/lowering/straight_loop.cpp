#include "lowering/straight_loop.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "lowering/costs.hpp"
#include "lowering/straight_code.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

using program::Accesses;
using program::Code;
using program::Loop;
using program::Program;
using program::Step;
using program::Steps;

namespace {

using namespace costs::straight;

// Adds up what the steps of a loop compute.
class WorkOf {
 public:
  WorkOf(const Program& program, Expr index) : program_(program), index_(index) {}

  void add(const Steps& steps, std::int64_t times = 1) {
    for (auto& step : steps) add(step, times);
  }
  StraightWork total() const {
    StraightWork out = work_;
    for (auto& [buffer, accesses] : apart_) out.gathers += accesses;
    return out;
  }

 private:
  void add(const Step& step, std::int64_t times) {
    program::for_each_expr(step, [&](const Expr& root) {
      seen_(root, [&](Expr expr) {
        if (expr.code() == Code::load) add_access(expr.payload(), false, program::arguments_of(expr), times);
        const bool is_call = expr.code() == Code::call;
        if (is_call && !program_.function_of(expr)) work_.calls += std::size_t(times);
        work_.size += times;
        work_.expressions += (is_call ? function : 1) * times;
      });
    });
    program::for_each_access(step, [&](const program::Access& access) {
      if (access.at) add_access(access.buffer, access.writes(), *access.at, times);
    });
    if (const auto* loop = program::as_loop(step)) {
      work_.longest = std::max(work_.longest, loop->extent.payload());
      work_.has_reductions |= !loop->carries.empty();
      add(loop->body, times * loop->extent.payload());
    } else {
      work_.has_reductions |= times > 1 && program::as_add(step);
    }
  }
  // Several loops that read an element read it once in straight code, so they count once.
  void add_access(std::int64_t buffer, bool writes, std::span<const Expr> at, std::int64_t times) {
    const auto is_load = [](Expr expr) { return expr.code() == Code::load; };
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      work_.has_scatters |= writes && program::any_within(at[axis], is_load);
      if (!program::contains(at[axis], index_) || (axis + 1 == at.size() && at[axis] == index_)) continue;
      auto& accesses = apart_[{buffer, writes}];
      accesses = std::max(accesses, times);
    }
  }

  const Program& program_;
  Expr index_;
  program::ExprWalk seen_;
  std::map<std::pair<std::int64_t, bool>, std::int64_t> apart_;  // by buffer and whether it is written
  StraightWork work_;
};

// Buffers that the loop writes and of which each element belongs to one iteration: along each axis, all accesses are
// at the same index, or all are at constants.
std::set<std::int64_t> elements_of_iterations(const Program& program, const Loop& loop, const Accesses& accesses,
                                              const std::set<std::int64_t>& added_to) {
  std::set<std::int64_t> out;
  const auto same_in_iteration = [&](Expr index, int level) {
    return !program::any_within(index, [&](Expr expr) {
      return expr.code() == Code::load || expr.code() == Code::var || accesses.is_within(level, expr);
    });
  };
  for (auto& [buffer, accessed] : accesses.buffers()) {
    if (!accessed.writes) continue;
    std::vector<Expr> common;  // by axis; none: constants
    bool good = true;
    for (auto& access : accessed.list) {
      good &= access.is_element();
      for (std::size_t axis = 0; good && axis < access.at.size(); ++axis) {
        const Expr index = access.at[axis];
        const Expr fixed = is_number_of(index, accesses, access.level) ? Expr() : index;
        if (axis == common.size()) common.push_back(fixed);
        const bool same = fixed.defined() ? common[axis].defined() && common[axis] == fixed : !common[axis].defined();
        good = same && (!fixed.defined() || same_in_iteration(fixed, access.level));
      }
    }
    const bool is_scratch =  // of one iteration
        program.buffers[std::size_t(buffer)].role == program::Role::temporary && !added_to.contains(buffer) &&
        std::none_of(common.begin(), common.end(), [](Expr index) { return index.defined(); });
    const auto is_own = [&](Expr index) { return index.defined() && index == loop.index; };
    if (good && (is_scratch || std::any_of(common.begin(), common.end(), is_own))) out.insert(buffer);
  }
  return out;
}

}  // namespace

bool only_reduces(const Loop& loop) {
  return !loop.until.defined() && std::all_of(loop.carries.begin(), loop.carries.end(),
                                              [](auto& carry) { return carry.kind == program::CarryKind::reduce; });
}

bool holds_loops(const Loop& loop) {
  return std::any_of(loop.body.begin(), loop.body.end(), [](auto& step) { return program::as_loop(step) != nullptr; });
}

std::optional<std::int64_t> straight_size(const Step& step) {
  const auto* loop = program::as_loop(step);
  if (!loop) return program::is_simple(step) ? std::optional(expression_count(step)) : std::nullopt;
  if (!loop->extent.is_constant()) return {};
  const std::int64_t extent = loop->extent.payload();
  if (extent < 1 || extent > longest_unrolled) return {};
  const auto each = straight_body_size(*loop);
  return each && *each * extent <= max_per_body ? std::optional(*each * extent) : std::nullopt;
}

std::optional<std::int64_t> straight_body_size(const Loop& loop) {
  if (!only_reduces(loop)) return {};
  std::int64_t size = 0;
  for (auto& step : loop.body) {
    const auto each = straight_size(step);
    if (!each) return {};
    size += *each;
  }
  return size <= max_per_body ? std::optional(size) : std::nullopt;
}

bool StraightWork::is_worth_lanes() const {
  return calls <= max_calls_in_lanes && expressions >= worth_gather * gathers;
}

StraightWork straight_work(const Program& program, const Loop& loop) {
  WorkOf work(program, loop.index);
  work.add(loop.body);
  return work.total();
}

std::set<std::int64_t> only_added_to(const Loop& loop) {
  std::set<std::int64_t> out;
  const Accesses accesses(loop.body);
  for (auto& [buffer, accessed] : accesses.buffers())
    if (std::ranges::all_of(accessed.list, [&](const program::ElementAccess& access) {
          return access.is_element() && access.kind == program::AccessKind::combine &&
                 access.combiner == accessed.list[0].combiner;
        }))
      out.insert(buffer);
  return out;
}

bool make_straight(Program& program, Declarations& declare, Loop& loop, const std::set<std::int64_t>& added_to) {
  const Accesses accesses(loop.body);
  const std::set<std::int64_t> chosen = elements_of_iterations(program, loop, accesses, added_to);
  for (auto& [buffer, accessed] : accesses.buffers())
    if (accessed.reads && accessed.writes && !chosen.contains(buffer) && !added_to.contains(buffer)) return false;
  bool good = true;
  Steps first, straight;
  StraightCode code(program, declare, chosen, [&](Expr load) {
    const Expr var = declare.var(load.dtype());
    first.push_back({program::Let{var, load}});
    const std::vector<Expr> at = program::arguments_of(load);
    good &= std::find(at.begin(), at.end(), loop.index) != at.end();  // otherwise another iteration has written it
    return var;
  });
  for (auto& step : loop.body) {
    if (program::as_loop(step) != nullptr)
      code.unroll(step, straight);
    else
      code.append(step, straight);
  }
  if (!good) return false;
  loop.body = std::move(first);
  std::move(straight.begin(), straight.end(), std::back_inserter(loop.body));
  for (auto& load : code.stored())
    loop.body.push_back({program::Store{load.payload(), program::arguments_of(load), code.value_of(load.id())}});
  return true;
}

}  // namespace bitale::lowering
