#include "lowering/fuse_loops.hpp"

#include <algorithm>
#include <iterator>
#include <map>

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
  Accesses fused, after;
  std::map<std::int64_t, Accesses::Axes> own;  // by buffer: axes along which all fused loops have their index
  for (auto& step : steps) {
    auto* loop = program::as_loop(step);
    const bool may_join = loop && fits(*loop) && (!out.fused || loop->extent == out.fused->extent);
    Accesses here(step);
    // Loops over one extent may be fused if iterations only depend on the same iteration of the other loop.
    const auto by_iteration = [&](std::int64_t buffer) {
      return (own.at(buffer) & here.own_axes(buffer, loop->index)) != 0;
    };
    // What comes after a check, or after a call of the host, may rely on it without a sign of that.
    const bool must_follow = after.may_fail || depend(here, after);
    if (may_join && !must_follow && !depend(here, fused, by_iteration)) {
      for (auto& [buffer, accessed] : here.buffers())
        own.try_emplace(buffer, ~Accesses::Axes(0)).first->second &= here.own_axes(buffer, loop->index);
      fused.add(here);
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
    const bool is_next = program::as_next(step) != nullptr;
    if (!is_next && !must_follow && !depend(here, fused)) {
      out.before.push_back(std::move(step));
    } else {
      after.add(here);
      out.after.push_back(std::move(step));
    }
  }
  return out;
}

}  // namespace bitale::lowering
