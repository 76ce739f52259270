#include "link/work.hpp"

#include <algorithm>

#include "bitale/runtime/functions.hpp"
#include "program/accesses.hpp"
#include "program/substitute.hpp"

namespace bitale::link {

using program::Code;
using program::Combiner;
using program::Expr;

namespace {

std::int64_t operations_of(Expr expr) {
  if (!is_float(expr.dtype())) return 0;
  switch (expr.code()) {
    case Code::add:
    case Code::sub:
    case Code::mul:
    case Code::div:
    case Code::sqrt: return 1;
    case Code::fma: return 2;
    default: return 0;
  }
}

}  // namespace

Work WorkEstimate::operator()(const program::Step& step) {
  const Expr none = pool_.integer(0);
  work_ = {none, none, none, none, none};
  read_.clear();
  written_.clear();
  nest_.begin(step);
  open(pool_.integer(1));
  std::visit([this](auto& s) { of(s); }, step.what);
  close();
  if (auto* loop = program::as_loop(step)) count_steps(*loop);
  // In the order of the buffers, so that equal Programs give equal code.
  for (auto* touched : {&read_, &written_}) {
    std::vector<std::int64_t> order;
    for (auto& [buffer, bytes] : *touched) order.push_back(buffer);
    std::sort(order.begin(), order.end());
    for (auto buffer : order) work_.bytes = work_.bytes + min(touched->at(buffer), size_of(buffer));
  }
  return work_;
}

void WorkEstimate::pass_over(const program::Step& step) {
  program::for_each_definition(step, [&](Expr var, program::Definition kind) {
    if (kind == program::Definition::named) nest_.define(var);
  });
}

// ---- levels ---------------------------------------------------------------------------------------------------------

void WorkEstimate::open(Expr extent) {
  const Expr outside = levels_.empty() ? pool_.integer(1) : levels_.back().count;
  levels_.push_back({extent, outside * extent});
}

void WorkEstimate::close() {
  const Level& level = levels_.back();
  if (level.flops.of64) work_.flops64 = work_.flops64 + level.count * pool_.integer(level.flops.of64);
  if (level.flops.of32) work_.flops32 = work_.flops32 + level.count * pool_.integer(level.flops.of32);
  levels_.pop_back();
}

// The extent of an inner loop, or a length of a product, in the first iteration of the loops around it: the last ones
// of tiles and blocks may be shorter.
Expr WorkEstimate::at_first(Expr extent) {
  program::Substitution first;
  bool known = true;
  program::ExprWalk()(extent, [&](Expr expr) {
    if (expr.code() == Code::index) first[expr.id()] = pool_.integer(0);
    if (expr.code() == Code::var || expr.code() == Code::load) known &= nest_.level_of(expr) == 0;
  });
  work_.known &= known;
  if (!known) return pool_.integer(1);
  return first.empty() ? extent : program::substitute(extent, first);
}

// For a loop with states: the number of its steps is the number of its iterations, or a counter's value if it may end
// early. A trace is an array to which each step stores a row of its own.
void WorkEstimate::count_steps(const program::Loop& loop) {
  if (std::ranges::none_of(loop.carries, [](auto& carry) { return carry.is_state(); })) return;
  work_.steps = loop.extent;
  const Expr one = pool_.integer(1);
  const auto counts = [&](const program::Step& step) {
    auto* next = program::as_next(step);
    return next && next->var.dtype() == one.dtype() && next->value == next->var + one;
  };
  if (loop.until.defined())
    for (auto& step : loop.body)
      if (counts(step)) work_.steps = program::as_next(step)->var;
  const program::Accesses accesses(loop.body);
  const auto is_row = [&](const program::ElementAccess& access) {
    return access.kind != program::AccessKind::read && !access.at.empty() &&
           program::contains(access.at[0], loop.index);
  };
  for (auto& [buffer, accessed] : accesses.buffers())
    if (std::ranges::any_of(accessed.list, is_row)) work_.trace_bytes = work_.trace_bytes + size_of(buffer);
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

void WorkEstimate::compute(Expr root) {
  std::vector<Expr> stack{root};
  while (!stack.empty()) {
    const Expr expr = stack.back();
    stack.pop_back();
    const std::size_t level = nest_.level_of(expr);
    if (!levels_[level].seen.insert(expr.id()).second) continue;
    count(expr, level);
    for (std::size_t i = 0; i < expr.argument_count(); ++i) stack.push_back(expr.argument(i));
  }
}

void WorkEstimate::count(Expr expr, std::size_t level) {
  Flops& flops = levels_[level].flops;
  (expr.dtype() == DType::Float32 ? flops.of32 : flops.of64) += operations_of(expr);
  if (const program::Function* function = program_.function_of(expr)) count_function(*function, flops);
  if (expr.code() != Code::load) return;
  std::vector<Expr> at;
  for (std::size_t i = 0; i < expr.argument_count(); ++i) at.push_back(expr.argument(i));
  touch(read_, expr.payload(), at);
}

void WorkEstimate::count_function(const program::Function& function, Flops& flops) {
  program::ExprWalk()(function.body, [&](Expr expr) {
    (expr.dtype() == DType::Float32 ? flops.of32 : flops.of64) += operations_of(expr);
  });
}

void WorkEstimate::count_combining(Combiner combiner, DType dtype) {
  if (!is_float(dtype) || (combiner != Combiner::add && combiner != Combiner::mul)) return;
  Flops& flops = levels_.back().flops;
  ++(dtype == DType::Float32 ? flops.of32 : flops.of64);
}

// ---- data movement --------------------------------------------------------------------------------------------------

Expr WorkEstimate::size_of(std::int64_t id) {
  const program::Buffer& buffer = program_.buffers[std::size_t(id)];
  Expr bytes = pool_.integer(std::int64_t(itemsize(buffer.dtype)));
  if (buffer.role == program::Role::constant) return bytes * pool_.integer(buffer.value.size());
  for (auto& length : buffer.shape) bytes = bytes * length;
  return bytes;
}

// One element for each combination of the indices that its position depends on.
void WorkEstimate::touch(std::unordered_map<std::int64_t, Expr>& bytes, std::int64_t id, std::span<const Expr> at) {
  std::vector<bool> varies(levels_.size(), false);
  program::ExprWalk walk;
  for (auto& index : at)
    walk(index, [&](Expr expr) {
      const std::size_t level = nest_.own_level(expr);
      if (expr.code() == Code::index) varies[level] = true;
      if (expr.code() == Code::var)
        for (std::size_t k = 0; k <= level; ++k) varies[k] = true;
    });
  Expr count = pool_.integer(std::int64_t(itemsize(program_.buffers[std::size_t(id)].dtype)));
  for (std::size_t level = 1; level < levels_.size(); ++level)
    if (varies[level]) count = count * levels_[level].extent;
  auto [found, is_new] = bytes.try_emplace(id, count);
  if (!is_new) found->second = found->second + count;
}

void WorkEstimate::touch_all(std::unordered_map<std::int64_t, Expr>& bytes, std::int64_t buffer) {
  bytes.insert_or_assign(buffer, size_of(buffer));
}

// ---- steps ----------------------------------------------------------------------------------------------------------

void WorkEstimate::look(const program::Steps& steps) {
  for (auto& step : steps) std::visit([this](auto& s) { of(s); }, step.what);
}

void WorkEstimate::of(const program::Store& step) {
  compute(step.value);
  for (auto& index : step.at) compute(index);
  touch(written_, step.buffer, step.at);
}

void WorkEstimate::of(const program::Accumulate& step) {
  compute(step.value);
  for (auto& index : step.at) compute(index);
  touch(read_, step.buffer, step.at);
  touch(written_, step.buffer, step.at);
  count_combining(step.combiner, step.value.dtype());
}

void WorkEstimate::of(const program::Let& step) {
  compute(step.value);
  nest_.define(step.var);
}

void WorkEstimate::of(const program::Update& step) {
  compute(step.value);
  if (step.position.defined()) compute(step.position);
  count_combining(step.combiner, step.var.dtype());
}

// The recursion is as deep as arrays have dimensions.
void WorkEstimate::of(const program::Loop& step) {
  compute(step.extent);
  for (auto& carry : step.carries) {
    if (carry.init.defined()) compute(carry.init);
    nest_.define(carry.var, levels_.size());
  }
  if (step.until.defined()) work_.known = false;
  open(at_first(step.extent));
  nest_.open(step.index);
  look(step.body);
  nest_.close();
  close();
  for (auto& carry : step.carries) nest_.define(carry.var);
}

// Which side runs is not known in advance.
void WorkEstimate::of(const program::If& step) {
  compute(step.condition);
  work_.known = false;
  look(step.then);
  look(step.otherwise);
}

void WorkEstimate::of(const program::Fill& step) { touch_all(written_, step.buffer); }

void WorkEstimate::of(const program::Call& step) {
  for (auto& argument : step.arguments) {
    const auto* buffer = std::get_if<program::BufferArgument>(&argument);
    if (!buffer) continue;
    if (buffer->kind != program::AccessKind::write) touch_all(read_, buffer->buffer);
    if (buffer->kind != program::AccessKind::read) touch_all(written_, buffer->buffer);
  }
  if (step.status.defined()) nest_.define(step.status);
  const runtime::RuntimeFunction* row = runtime::find_function(step.function);
  if (!row || row->flops.of.empty()) return;
  Expr flops = pool_.integer(row->flops.factor);
  for (auto& name : row->flops.of) flops = flops * at_first(std::get<Expr>(step.arguments[row->argument_index(name)]));
  if (row->flops.divisor > 1) flops = flops / pool_.integer(row->flops.divisor);
  flops = flops * levels_.back().count;
  Expr& total = row->of_float32 ? work_.flops32 : work_.flops64;
  total = total + flops;
}

void WorkEstimate::of(const program::HostCall& step) {
  for (auto buffer : step.inputs) touch_all(read_, buffer);
  for (auto buffer : step.outputs) touch_all(written_, buffer);
}

}  // namespace bitale::link
