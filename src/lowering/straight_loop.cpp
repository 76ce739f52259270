#include "lowering/straight_loop.hpp"

#include <algorithm>
#include <iterator>

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

// Adds up what the steps of a loop compute; each expression counts once.
class WorkOf {
 public:
  explicit WorkOf(const Program& program) : program_(program) {}

  void add(const Steps& steps, std::int64_t times = 1) {
    for (auto& step : steps) add(step, times);
  }
  StraightWork total() const { return work_; }

 private:
  void add(const Step& step, std::int64_t times) {
    program::for_each_expr(step, [&](const Expr& root) {
      seen_(root, [&](Expr expr) {
        const bool is_call = expr.code() == Code::call;
        if (is_call && !program_.function_of(expr)) work_.calls += std::size_t(times);
        work_.size += times;
        work_.expressions += (is_call ? function : 1) * times;
      });
    });
    if (const auto* loop = program::as_loop(step)) {
      work_.longest = std::max(work_.longest, loop->extent.payload());
      work_.has_reductions |= !loop->carries.empty();
      add(loop->body, times * loop->extent.payload());
    } else {
      work_.has_reductions |= times > 1 && program::as_add(step);
    }
  }

  const Program& program_;
  program::ExprWalk seen_;
  StraightWork work_;
};

// Whether lanes along the loop of this index access elements that are neither neighbours nor one and the same.
bool has_lanes_apart(const program::ElementAccess& access, Expr index) {
  for (std::size_t axis = 0; axis < access.at.size(); ++axis)
    if (program::contains(access.at[axis], index) && !(axis + 1 == access.at.size() && access.at[axis] == index))
      return true;
  return false;
}

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
  WorkOf work(program);
  work.add(loop.body);
  StraightWork out = work.total();
  const Accesses accesses(loop.body);
  const auto is_looked_up = [](Expr at) {
    return program::any_within(at, [](Expr expr) { return expr.code() == Code::load; });
  };
  for (auto& [buffer, accessed] : accesses.buffers()) {
    std::int64_t gathered = 0, scattered = 0;  // several loops that access an element do so once in straight code
    for (auto& access : accessed.list) {
      const bool writes = access.kind != program::AccessKind::read;
      out.has_scatters |= writes && std::ranges::any_of(access.at, is_looked_up);
      std::int64_t& apart = writes ? scattered : gathered;
      if (has_lanes_apart(access, loop.index)) apart = std::max(apart, accesses.times(access));
    }
    out.gathers += gathered + scattered;
  }
  return out;
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
