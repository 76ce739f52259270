#include "lowering/fuse_loops.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "program/accesses.hpp"
#include "program/rewrite.hpp"

namespace bitale::lowering {

using program::Accesses;
using program::Loop;
using program::Step;
using program::Steps;

namespace {

// Gives loops in these steps that have `index` as theirs another one, so that it can become that of a loop around them.
void give_way(Steps& steps, Expr index, Declarations& declare, const program::Program& program) {
  for (auto& step : steps) {
    program::for_each_body(step, [&](Steps& body) { give_way(body, index, declare, program); });
    auto* loop = program::as_loop(step);
    if (!loop || !(loop->index == index)) continue;
    const std::string name = program.index_names[std::size_t(index.payload())];
    const Expr other = declare.index(name, loop->extent);
    program::substitute(step, {{index.id(), other}});
  }
}

}  // namespace

FusedLoops fuse_loops(Steps steps, const std::function<bool(const Loop&)>& fits, Declarations& declare,
                      const program::Program& program) {
  FusedLoops out;
  std::vector<std::pair<Accesses, Expr>> fused;  // loops, and their indices
  Accesses after;
  for (auto& step : steps) {
    auto* loop = program::as_loop(step);
    const bool may_join = loop && fits(*loop) && (!out.fused || loop->extent == out.fused->extent);
    Accesses here(step);
    // Loops over one extent may be fused if iterations only depend on the same iteration of the other loop.
    const auto needs = [&](bool whole) {
      return std::ranges::any_of(fused, [&](auto& other) {
        return depend(other.first, here, [&](std::int64_t buffer) {
          return !whole && other.first.own_axes(buffer, other.second) & here.own_axes(buffer, loop->index);
        });
      });
    };
    // What comes after a check, or after a call of the host, may rely on it without a sign of that.
    const bool must_follow = after.may_fail || depend(after, here);
    if (may_join && !must_follow && !needs(false)) {
      fused.emplace_back(std::move(here), loop->index);
      if (!out.fused) {
        out.fused = std::move(*loop);
        continue;
      }
      if (!(loop->index == out.fused->index)) {
        give_way(loop->body, out.fused->index, declare, program);
        program::substitute(loop->body, {{loop->index.id(), out.fused->index}});
      }
      out.fused->carries.insert(out.fused->carries.end(), loop->carries.begin(), loop->carries.end());
      std::move(loop->body.begin(), loop->body.end(), std::back_inserter(out.fused->body));
      continue;
    }
    out.is_whole &= !may_join;
    const bool is_next = std::holds_alternative<program::Next>(step.what);
    if (!is_next && !must_follow && !needs(true)) {
      out.before.push_back(std::move(step));
    } else {
      after.add(here);
      out.after.push_back(std::move(step));
    }
  }
  return out;
}

}  // namespace bitale::lowering
