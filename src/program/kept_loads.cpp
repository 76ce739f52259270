#include "program/kept_loads.hpp"

#include <unordered_set>

#include "program/steps.hpp"

namespace bitale::program {

// Steps are emitted in the order of the text: a value can only be out of date where a load precedes a write there.
KeptLoads::KeptLoads(const Program& program) {
  std::unordered_set<std::int64_t> loaded;
  ExprWalk walk;
  const auto note_loads = [&](Expr root) {
    walk(root, [&](Expr expr) {
      if (expr.code() == Code::load) loaded.insert(expr.payload());
    });
  };
  visit_steps(program.steps, [&](const Step& step) {
    for_each_expr(step, [&](const Expr& root) { note_loads(root); });
    if (const auto* allocate = as_allocate(step))
      for (auto& length : program.buffers[std::size_t(allocate->buffer)].shape) note_loads(length);
    for_each_access(step, [&](const Access& access) {
      if (access.writes() && loaded.contains(access.buffer))
        watched_.try_emplace(access.buffer, Mask(1) << watched_.size() % (8 * sizeof(Mask)));
    });
  });
}

void KeptLoads::note(Expr expr) {
  if (const Mask sources = sources_of(expr)) kept_.push_back({expr, sources});
}

KeptLoads::Mask KeptLoads::sources_of(Expr root) {
  std::vector<Expr> stack{root};
  while (!stack.empty()) {
    const Expr expr = stack.back();
    if (sources_.contains(expr.id())) {
      stack.pop_back();
      continue;
    }
    const std::size_t before = stack.size();
    Mask sources = 0;
    for (std::size_t i = 0; i < expr.argument_count(); ++i) {
      if (const auto found = sources_.find(expr.argument(i).id()); found != sources_.end())
        sources |= found->second;
      else
        stack.push_back(expr.argument(i));
    }
    if (stack.size() != before) continue;
    if (expr.code() == Code::load)
      if (const auto found = watched_.find(expr.payload()); found != watched_.end()) sources |= found->second;
    sources_[expr.id()] = sources;
    stack.pop_back();
  }
  return sources_.at(root.id());
}

std::vector<Expr> KeptLoads::ended_by(const Step& step) {
  std::vector<Expr> ended;
  if (kept_.empty()) return ended;
  Mask written = 0;
  for_each_access_within(step, [&](const Access& access) {
    if (!access.writes()) return;
    if (const auto found = watched_.find(access.buffer); found != watched_.end()) written |= found->second;
  });
  if (written)
    std::erase_if(kept_, [&](const Kept& kept) {
      const bool ends = (kept.sources & written) != 0;
      if (ends) ended.push_back(kept.expr);
      return ends;
    });
  return ended;
}

}  // namespace bitale::program
