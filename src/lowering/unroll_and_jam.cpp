// Unroll-and-jam of short leading axes. A loop of few iterations around long ones (the components of a mixture, each
// with its row of densities) is unrolled, and the long loops are fused into one loop of straight code: what was reduced
// along the short axis in memory, one pass over all rows after the other, then stays in registers.
#include <algorithm>
#include <iterator>
#include <utility>

#include "lowering/costs.hpp"
#include "lowering/fuse_loops.hpp"
#include "lowering/passes.hpp"
#include "lowering/straight_loop.hpp"
#include "program/accesses.hpp"
#include "program/rewrite.hpp"

namespace bitale::lowering {

namespace {

using program::Loop;
using program::Step;
using program::Steps;

using namespace costs::straight;

class Jammer {
 public:
  Jammer(Program& program, Declarations& declare) : program_(program), declare_(declare) {}

  void run(Steps& steps) {
    std::vector<Expr> tried;  // extents
    for (std::size_t i = 0; i < steps.size() && tried.size() < most_extents; ++i) {
      const Expr extent = gaining_extent(steps, steps[i]);
      if (!extent.defined() || std::find(tried.begin(), tried.end(), extent) != tried.end()) continue;
      tried.push_back(extent);
      if (jam(steps, extent)) i = 0;
    }
    for (auto& step : steps) {
      const auto* loop = program::as_loop(step);
      if (!loop || only_reduces(*loop)) program::for_each_body(step, [&](Steps& body) { run(body); });
    }
  }

 private:
  static bool is_long(Expr extent) { return !extent.is_constant() || extent.payload() >= costs::shortest_long; }

  // The extent of the long loops in a short one, all of which have the same; none if it is no such loop.
  Expr long_extent(const Step& step) const {
    const auto* loop = program::as_loop(step);
    if (!loop || !only_reduces(*loop) || !loop->extent.is_constant()) return {};
    if (loop->extent.payload() < 2 || loop->extent.payload() > longest_unrolled) return {};
    Expr extent;
    for (auto& inner : loop->body) {
      const auto* row = program::as_loop(inner);
      if (!row && !program::is_simple(inner)) return {};
      if (!row) continue;
      if (!is_long(row->extent) || program::contains(row->extent, loop->index) || !straight_body_size(*row)) return {};
      if (extent.defined() && !(extent == row->extent)) return {};
      if (updates(row->body, loop->carries)) return {};
      extent = row->extent;
    }
    return extent;
  }
  static bool updates(const Steps& steps, const std::vector<program::Carry>& carries) {
    bool found = false;
    program::visit_steps(steps, [&](const Step& step) {
      const auto* update = program::as_update(step);
      found |=
          update && std::any_of(carries.begin(), carries.end(), [&](auto& carry) { return carry.var == update->var; });
    });
    return found;
  }

  // The same, if something need not be stored once the loops are one: what the long loops reduce along the short axis,
  // which are the elements without its index, or what another loop of that extent stores for them.
  Expr gaining_extent(const Steps& steps, const Step& step) const {
    const Expr extent = long_extent(step);
    if (!extent.defined()) return {};
    const Loop& loop = *program::as_loop(step);
    bool gains = false;
    const program::Accesses accesses(loop.body);
    for (auto& [buffer, accessed] : accesses.buffers())
      for (auto& access : accessed.list)
        gains |= access.is_element() && access.kind == program::AccessKind::combine &&
                 std::ranges::none_of(access.at, [&](Expr at) { return program::contains(at, loop.index); });
    for (auto& other : steps) {
      const auto* row = program::as_loop(other);
      if (!row || !(row->extent == extent)) continue;
      for (auto& inner : row->body)
        program::for_each_access(inner, [&](const program::Access& access) {
          gains |= access.kind == program::AccessKind::write &&
                   std::ranges::any_of(accesses.of(access.buffer).list, &program::ElementAccess::is_load);
        });
    }
    return gains ? extent : Expr();
  }

  bool jam(Steps& steps, Expr extent) {
    bool has_scatters = false;
    program::visit_steps(steps, [&](const Step& step) {
      const auto* loop = program::as_loop(step);
      has_scatters |=
          loop && loop->extent == extent && straight_body_size(*loop) && straight_work(program_, *loop).has_scatters;
    });
    return jam(steps, extent, true) || (has_scatters && jam(steps, extent, false));  // the first try took them, too
  }

  // With loops that combine at indices from memory, or without them.
  bool jam(Steps& steps, Expr extent, bool with_scatters) {
    Steps unrolled;
    for (auto& step : steps) {
      const auto* fill = program::as_fill(step);
      if (long_extent(step) == extent)
        unroll(without_rest(*program::as_loop(step), unrolled), unrolled);
      else if (fill && is_row(fill->buffer, extent) && is_reduced_into(steps, fill->buffer, extent))
        unrolled.push_back(filling(*fill, extent));
      else
        unrolled.push_back(step);
    }
    const auto fits = [&](const Loop& loop) {
      return loop.extent == extent && straight_body_size(loop) &&
             (with_scatters || !straight_work(program_, loop).has_scatters);
    };
    const auto long_loops = [&](const Steps& among) {
      return std::count_if(among.begin(), among.end(), [&](const Step& step) {
        const auto* loop = program::as_loop(step);
        return loop && fits(*loop);
      });
    };
    FusedLoops group = fuse_loops(std::move(unrolled), fits, declare_, program_);
    const bool is_one = long_loops(group.before) + long_loops(group.after) <= long_loops(steps);
    if (!group.fused || !is_one || !straight_body_size(*group.fused)) return false;
    const StraightWork work = straight_work(program_, *group.fused);
    if (work.size > (work.has_scatters ? largest_with_scatters : largest) || !work.is_worth_lanes()) return false;
    if (!make_straight(program_, declare_, *group.fused, only_added_to(*group.fused))) return false;
    steps = std::move(group.before);
    steps.push_back({std::move(*group.fused)});
    std::move(group.after.begin(), group.after.end(), std::back_inserter(steps));
    return true;
  }

  // The initial values of what is reduced are filled in by the fused loop, where they are known.
  bool is_row(std::int64_t buffer, Expr extent) const {
    const auto& shape = program_.buffers[std::size_t(buffer)].shape;
    return !shape.empty() && shape.back() == extent &&
           std::all_of(shape.begin(), shape.end() - 1, [](Expr length) { return length.is_constant(1); });
  }
  bool is_reduced_into(const Steps& steps, std::int64_t buffer, Expr extent) const {
    bool found = false;
    for (auto& step : steps)
      if (long_extent(step) == extent)
        program::for_each_access_within(step, [&](const program::Access& access) {
          found |= access.buffer == buffer && access.kind == program::AccessKind::combine;
        });
    return found;
  }
  Step filling(const program::Fill& fill, Expr extent) {
    std::vector<Expr> at(program_.buffers[std::size_t(fill.buffer)].shape.size(), program_.pool->integer(0));
    at.back() = declare_.index("j", extent);
    return Step{Loop{at.back(), extent, {}, {Step{program::Store{fill.buffer, at, fill.value}}}, false}};
  }

  // The short loop without the steps that have nothing to do with its long loops; those stay in a loop of their own.
  static Loop without_rest(const Loop& loop, Steps& to) {
    std::vector<program::Accesses> accesses(loop.body.size());
    std::vector<bool> is_needed(loop.body.size());
    program::Accesses needed;
    const auto need = [&](std::size_t k) {
      is_needed[k] = true;
      needed.add(accesses[k]);
    };
    for (std::size_t k = 0; k < loop.body.size(); ++k) {
      accesses[k].add(loop.body[k]);
      if (program::as_loop(loop.body[k])) need(k);
    }
    for (bool again = true; std::exchange(again, false);)
      for (std::size_t k = 0; k < loop.body.size(); ++k)
        if (!is_needed[k] && depend(needed, accesses[k])) {
          need(k);
          again = true;
        }
    Loop rest = loop, out = loop;
    rest.body.clear(), rest.carries.clear(), out.body.clear(), out.carries.clear();
    for (std::size_t k = 0; k < loop.body.size(); ++k) (is_needed[k] ? out : rest).body.push_back(loop.body[k]);
    for (auto& carry : loop.carries) (updates(rest.body, {carry}) ? rest : out).carries.push_back(carry);
    if (!rest.body.empty()) to.push_back({std::move(rest)});
    return out;
  }

  // Appends the iterations, one after the other. What the loop carries becomes a variable per iteration.
  void unroll(const Loop& loop, Steps& to) {
    program::ExprPool& pool = *program_.pool;
    program::Substitution carried;
    for (auto& carry : loop.carries)
      carried[carry.var.id()] = program::identity(carry.combiner, pool, carry.var.dtype());
    for (std::int64_t i = 0; i < loop.extent.payload(); ++i) {
      Steps body = loop.body;
      program::Substitution by = carried;
      by[loop.index.id()] = pool.integer(i);
      program::visit_steps(body, [&](Step& step) {
        program::for_each_definition(step, [&](Expr& var, program::Definition kind) {
          if (kind == program::Definition::named || kind == program::Definition::carried)
            by[var.id()] = declare_.var(var.dtype());
        });
      });
      for (auto& step : body) {
        if (auto* update = program::as_update(step); update && carried.contains(update->var.id())) {
          const Expr value = program::substitute(update->value, by), sum = declare_.var(value.dtype());
          to.push_back({program::Let{sum, program::combine(update->combiner, carried.at(update->var.id()), value)}});
          carried[update->var.id()] = by[update->var.id()] = sum;
          continue;
        }
        program::substitute(step, by);
        to.push_back(std::move(step));
      }
    }
    for (auto& carry : loop.carries) to.push_back({program::Let{carry.var, carried.at(carry.var.id())}});
  }
  Program& program_;
  Declarations& declare_;
};

}  // namespace

void unroll_and_jam(Program& program, Declarations& declare) { Jammer(program, declare).run(program.steps); }

}  // namespace bitale::lowering
