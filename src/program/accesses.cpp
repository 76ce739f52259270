#include "program/accesses.hpp"

#include <algorithm>
#include <utility>

#include "program/substitute.hpp"

namespace bitale::program {

std::optional<std::int64_t> stride(Expr at, Expr index) {
  return stride(at, [&](Expr expr) { return contains(expr, index); });
}

std::optional<std::int64_t> distance(const Buffer& buffer, std::span<const Expr> from, std::span<const Expr> to) {
  std::int64_t out = 0, apart = 1;  // of neighbours along the axis; 0: unknown, or too large
  for (std::size_t k = from.size(); k-- > 0;) {
    if (!(from[k] == to[k])) {
      if (apart == 0 || !from[k].is_constant() || !to[k].is_constant()) return {};
      out += (to[k].payload() - from[k].payload()) * apart;
    }
    const Expr length = buffer.shape[k];
    apart = length.is_constant() && length.payload() <= largest_stride ? apart * length.payload() : 0;
    if (apart > largest_stride) apart = 0;
  }
  return out;
}

bool is_fixed(Expr root) {
  return !any_within(root, [](Expr expr) {
    return expr.code() == Code::index || expr.code() == Code::load || expr.code() == Code::var;
  });
}

// ---- what there is --------------------------------------------------------------------------------------------------

void Accesses::note(std::int64_t buffer, ElementAccess access) {
  OfBuffer& of = buffers_[buffer];
  of.reads |= access.kind != AccessKind::write;
  of.writes |= access.kind != AccessKind::read;
  if (!access.step) access.step = steps_;
  of.list.push_back(std::move(access));
}

void Accesses::add(const Step& step, int level) {
  ++steps_;
  ExprWalk walk;
  for_each_expr(step, [&](const Expr& root) {
    walk(root, [&](Expr expr) {
      if (expr.code() == Code::dim) lengths.insert(expr.payload() >> 8);
      if (expr.code() == Code::var) used.insert(expr.payload());
      if (expr.code() == Code::load) add_load(expr, level);
    });
  });
  if (const auto* call = as_call(step)) {
    for (auto& argument : call->arguments)
      if (const auto* memory = std::get_if<BufferArgument>(&argument)) {
        ElementAccess block{.kind = memory->kind, .reach = Reach::runtime_call, .level = level};
        if (memory->offset.defined()) block.at.push_back(memory->offset);
        note(memory->buffer, std::move(block));
      }
  } else {
    const auto* sum = as_add(step);
    for_each_access(step, [&](const Access& access) {
      ElementAccess own{.kind = access.kind, .reach = access.reach, .level = level};
      if (sum) own.combiner = sum->combiner;
      if (access.at) own.at = std::span<const Expr>(*access.at);
      note(access.buffer, std::move(own));
    });
  }
  // A state keeps its value until the iteration is done, and the result of updates is only known after the loop.
  for_each_definition(step, [&](const Expr& var, Definition kind) {
    if (kind == Definition::index) return;
    (kind == Definition::combined ? used : defined).insert(var.payload());
    if (kind != Definition::carried) set_at[var.payload()] = level;
  });
  may_fail |= program::may_fail(step);
  if (const auto* loop = as_loop(step)) level = open(*loop, level);
  for_each_body(step, [&](const Steps& body) { add(body, level); });
}

int Accesses::open(const Loop& loop, int level) {
  if (level >= 0) levels_[std::size_t(level)].holds_loops = true;
  levels_.push_back({loop.index, loop.extent, level});
  return int(levels_.size()) - 1;
}

Accesses::Accesses(const Loop& loop) {
  for (auto& carry : loop.carries) defined.insert(carry.var.payload());
  add(loop.body, open(loop, -1));
}

void Accesses::add(const Accesses& other) {
  const int first = int(levels_.size());
  const auto moved = [&](int level) { return level < 0 ? level : first + level; };
  for (Level level : other.levels_) {
    level.outer = moved(level.outer);
    levels_.push_back(level);
  }
  for (auto& [buffer, accessed] : other.buffers_)
    for (ElementAccess access : accessed.list) {
      access.level = moved(access.level);
      access.step += steps_;
      note(buffer, std::move(access));
    }
  for (auto& [var, level] : other.set_at) set_at[var] = moved(level);
  lengths.insert(other.lengths.begin(), other.lengths.end());
  used.insert(other.used.begin(), other.used.end());
  defined.insert(other.defined.begin(), other.defined.end());
  may_fail |= other.may_fail;
  steps_ += other.steps_;
}

void Accesses::add_load(Expr expr, int level) {
  ElementAccess load{.is_load = true, .level = level};
  for (std::size_t k = 0; k < expr.argument_count(); ++k) load.at.push_back(expr.argument(k));
  note(expr.payload(), std::move(load));
}
void Accesses::add_load(Expr load) { add_load(load, -1); }

void Accesses::add_store(std::int64_t buffer, std::span<const Expr> at) {
  note(buffer, {.kind = AccessKind::write, .at = at});
}

void Accesses::read_whole(std::int64_t buffer) { note(buffer, {.reach = Reach::whole}); }

const Accesses::OfBuffer& Accesses::of(std::int64_t buffer) const {
  static const OfBuffer none;
  const auto found = buffers_.find(buffer);
  return found == buffers_.end() ? none : found->second;
}

int Accesses::outermost(int level) const {
  while (level >= 0 && levels_[std::size_t(level)].outer >= 0) level = levels_[std::size_t(level)].outer;
  return level;
}

std::int64_t Accesses::times(const ElementAccess& access) const {
  std::int64_t out = 1;
  for (int level = access.level; level >= 0; level = levels_[std::size_t(level)].outer)
    out *= levels_[std::size_t(level)].extent.payload();
  return out;
}

bool Accesses::is_within(int level, Expr index) const {
  while (level >= 0 && !(levels_[std::size_t(level)].index == index)) level = levels_[std::size_t(level)].outer;
  return level >= 0;
}

// ---- iterations -----------------------------------------------------------------------------------------------------

Accesses::Axes Accesses::own_axes(std::int64_t buffer, Expr index) const {
  Axes all = ~Axes(0);
  for (auto& access : of(buffer).list) {
    Axes here = 0;
    for (std::size_t axis = 0; access.is_element() && axis < access.at.size(); ++axis)
      if (access.at[axis] == index) here |= Axes(1) << axis;
    all &= here;
  }
  return all;
}

namespace {

// The factor c of index * c; invalid if there is none.
Expr factor(Expr product, Expr index) {
  if (product == index) return index.pool().integer(1);
  if (product.code() != Code::mul) return {};
  const Expr a = product.argument(0), b = product.argument(1);
  return a == index && is_fixed(b) ? b : b == index && is_fixed(a) ? a : Expr();
}

// What is added to index * c with a constant c; nothing for other expressions.
struct Shifted {
  std::int64_t factor, offset;
};
std::optional<Shifted> shifted(Expr at, Expr index) {
  std::int64_t offset = 0;
  if (at.code() == Code::add) {
    const int constant = at.argument(0).is_constant() ? 0 : 1;
    if (!at.argument(constant).is_constant()) return {};
    offset = at.argument(constant).payload();
    at = at.argument(1 - constant);
  }
  const Expr by = factor(at, index);
  if (!by.defined() || !by.is_constant() || by.is_constant(0)) return {};
  return Shifted{by.payload(), offset};
}

// Whether the indices along the axis lie in separate ranges for a loop of `count` iterations: i and 30 + i for 30.
bool in_ranges(std::span<const ElementAccess> all, std::size_t axis, Expr index, std::int64_t count) {
  std::set<std::int64_t> offsets;
  std::int64_t factor = 0;
  for (auto& access : all) {
    const auto at = shifted(access.at[axis], index);
    if (!at || (factor != 0 && at->factor != factor)) return false;
    factor = at->factor;
    offsets.insert(at->offset);
  }
  const auto too_near = [&](std::int64_t a, std::int64_t b) { return (b - a) / std::abs(factor) < count; };
  return std::ranges::adjacent_find(offsets, too_near) == offsets.end();
}

bool same_indices(const ElementAccess& a, const ElementAccess& b) { return std::ranges::equal(a.at, b.at); }

}  // namespace

// Whether `index` is that of a loop whose extent is at most `limit`.
bool Accesses::is_below(Expr index, Expr limit) const {
  const auto fits = [&](Expr extent) {
    return extent == limit || (extent.is_constant() && limit.is_constant() && extent.payload() <= limit.payload());
  };
  bool found = false, all = true;
  for (auto& [own, extent, outer, holds_loops] : levels_) {
    if (!(own == index)) continue;
    found = true;
    all &= fits(extent) || (extent.code() == Code::min && (fits(extent.argument(0)) || fits(extent.argument(1))));
  }
  return found && all;
}

// Of the recorded loops with this index, the most, if there are some and the numbers are known.
std::optional<std::int64_t> Accesses::iterations(Expr index) const {
  std::optional<std::int64_t> most;
  for (auto& level : levels_) {
    if (!(level.index == index)) continue;
    if (!level.extent.is_constant()) return {};
    most = std::max(most.value_or(0), level.extent.payload());
  }
  return most;
}

// Whether different values of `index` imply different values of `at`, whatever the other indices are.
bool Accesses::separates(Expr at, Expr index) const {
  if (at == index) return true;
  if (at.code() == Code::mul) {
    const Expr by = factor(at, index);
    return by.defined() && by.is_constant() && !by.is_constant(0);
  }
  if (at.code() != Code::add && at.code() != Code::sub) return false;
  const Expr a = at.argument(0), b = at.argument(1);
  if (is_fixed(b)) return separates(a, index);
  if (is_fixed(a)) return separates(b, index);
  if (at.code() == Code::sub) return false;
  return (factor(a, index).defined() && is_below(b, factor(a, index))) ||
         (factor(b, index).defined() && is_below(a, factor(b, index)));
}

// Blocks that functions get are those of different iterations where each is the same for all accesses, and they are
// consecutive. Their distance is 0 where they are empty.
bool Accesses::independent(std::int64_t buffer, Expr index) const {
  const auto& all = of(buffer).list;
  if (all.empty()) return true;
  const auto like_first = [&](const ElementAccess& each) { return same_indices(each, all[0]); };
  if (std::ranges::none_of(all, &ElementAccess::is_element)) {
    const Expr distance = all[0].at.empty() ? Expr() : factor(all[0].at[0], index);
    return distance.defined() && !distance.is_constant(0) && std::ranges::all_of(all, like_first);
  }
  if (!std::ranges::all_of(all, &ElementAccess::is_element)) return false;
  const std::optional<std::int64_t> count = iterations(index);
  for (std::size_t axis = 0; axis < all[0].at.size(); ++axis) {
    const Expr at = all[0].at[axis];
    const auto is_there = [&](const ElementAccess& each) { return each.at[axis] == at; };
    if (std::ranges::all_of(all, is_there) ? separates(at, index) : count && in_ranges(all, axis, index, *count))
      return true;
  }
  return false;
}

bool Accesses::private_to(std::int64_t buffer, Expr index) const {
  const auto& all = of(buffer).list;
  return !all.empty() && all[0].kind == AccessKind::write && std::ranges::all_of(all, [&](const ElementAccess& each) {
    return std::ranges::none_of(each.at, [&](Expr at) { return contains(at, index); });
  });
}

}  // namespace bitale::program
