#include "lowering/fuse_loops.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "lowering/effects.hpp"
#include "lowering/straight_code.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

using program::Loop;
using program::Step;
using program::Steps;

namespace {

// Per buffer, the axes along which every access of the steps has the index of the step's own loop.
class OwnAxes {
 public:
  void add(const Step& step, Expr index) {
    std::vector<Expr> indices;
    for_each_access_within(step, indices, [&](std::int64_t buffer, const std::vector<Expr>* at, bool) {
      Axes here;
      if (at && index.defined())
        for (std::size_t axis = 0; axis < at->size(); ++axis)
          if ((*at)[axis] == index) here.insert(axis);
      restrict(buffer, here);
    });
  }
  void add(const OwnAxes& other) {
    for (auto& [buffer, axes] : other.axes_) restrict(buffer, axes);
  }
  bool share_axis(const OwnAxes& other, std::int64_t buffer) const {
    const Axes &one = axes_.at(buffer), &two = other.axes_.at(buffer);
    return std::any_of(one.begin(), one.end(), [&](std::size_t axis) { return two.contains(axis); });
  }

 private:
  using Axes = std::set<std::size_t>;
  void restrict(std::int64_t buffer, const Axes& to) {
    const auto [known, is_new] = axes_.try_emplace(buffer, to);
    if (!is_new) std::erase_if(known->second, [&](std::size_t axis) { return !to.contains(axis); });
  }
  std::map<std::int64_t, Axes> axes_;
};

void replace_index(Steps& steps, const program::Substitution& by) {
  for (auto& step : steps) {
    program::for_each_expr(step, [&](Expr& expr) { expr = program::substitute(expr, by); });
    program::for_each_body(step, [&](Steps& body) { replace_index(body, by); });
  }
}

// Gives loops in these steps that have `index` as theirs another one, so that it can become that of a loop around them.
void give_way(Steps& steps, Expr index, Declarations& declare, const program::Program& program) {
  for (auto& step : steps) {
    program::for_each_body(step, [&](Steps& body) { give_way(body, index, declare, program); });
    auto* loop = program::as_loop(step);
    if (!loop || !(loop->index == index)) continue;
    const std::string name = program.index_names[std::size_t(index.payload())];
    const Expr other = declare.index(name, loop->extent);
    const program::Substitution by{{index.id(), other}};
    replace_index(loop->body, by);
    if (loop->until.defined()) loop->until = program::substitute(loop->until, by);
    loop->index = other;
  }
}

}  // namespace

FusedLoops fuse_loops(Steps steps, const std::function<bool(const Loop&)>& fits, Declarations& declare,
                      const program::Program& program) {
  FusedLoops out;
  Effects fused, after;
  OwnAxes fused_axes;
  for (auto& step : steps) {
    auto* loop = program::as_loop(step);
    const bool may_join = loop && fits(*loop) && (!out.fused || loop->extent == out.fused->extent);
    Effects here;
    here.add(step);
    OwnAxes axes;
    axes.add(step, loop ? loop->index : Expr());
    // Loops over one extent may be fused if iterations only depend on the same iteration of the other loop.
    const auto by_iteration = [&](std::int64_t buffer) { return fused_axes.share_axis(axes, buffer); };
    // What comes after a check, or after a call of the host, may rely on it without a sign of that.
    const bool must_follow = after.may_fail || depend(after, here);
    if (may_join && !must_follow && (!out.fused || !depend(fused, here, by_iteration))) {
      fused.add(here);
      fused_axes.add(axes);
      if (!out.fused) {
        out.fused = std::move(*loop);
        continue;
      }
      if (!(loop->index == out.fused->index)) {
        give_way(loop->body, out.fused->index, declare, program);
        replace_index(loop->body, {{loop->index.id(), out.fused->index}});
      }
      out.fused->carries.insert(out.fused->carries.end(), loop->carries.begin(), loop->carries.end());
      std::move(loop->body.begin(), loop->body.end(), std::back_inserter(out.fused->body));
      continue;
    }
    out.is_whole &= !may_join;
    const bool is_next = std::holds_alternative<program::Next>(step.what);
    if (!is_next && !must_follow && !depend(fused, here)) {
      out.before.push_back(std::move(step));
    } else {
      after.add(here);
      out.after.push_back(std::move(step));
    }
  }
  return out;
}

}  // namespace bitale::lowering
