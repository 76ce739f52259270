// LoopNest: the loops that are open at the current position of a walk over a Program's steps, and the level at which an
// expression is known: the top, or the innermost loop that it depends on. Expressions are emitted or counted at that
// level.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "program/program.hpp"

namespace bitale::program {

class LoopNest {
 public:
  // Level 0 is the top, level 1 the outermost open loop.
  std::size_t innermost() const { return indices_.size(); }
  // A loop without an index stands for lanes that belong to no loop, or for a side of a branch.
  void open(Expr index);
  void close();
  // The innermost level is a side of a branch, until it is closed.
  void mark_side() { sides_.push_back(innermost()); }

  // Begins a top-level step. Loads from buffers that its loops write are not hoisted.
  void begin(const Step& step);
  void begin(const Loop& loop);
  const std::unordered_set<std::int64_t>& written() const { return written_; }
  bool is_written(std::int64_t buffer) const { return written_.count(buffer) != 0; }

  // Declares a variable as known from here on, or once its level is open.
  void define(Expr var) { define(var, innermost()); }
  void define(Expr var, std::size_t level);
  bool is_defined(Expr var) const { return var_levels_.count(var.payload()) != 0; }

  std::size_t level_of(Expr expr);
  // The level at which the expression is evaluated: not outside of the innermost side of a branch, whose values may not
  // exist, unless has_value(level) for a level at which it has been.
  template <class HasValue>
  std::size_t level_of(Expr expr, HasValue&& has_value) {
    const std::size_t level = level_of(expr);
    if (sides_.empty() || level >= sides_.back() || has_value(level)) return level;
    for (const std::size_t side : sides_)
      if (side > level && has_value(side)) return side;
    return sides_.back();
  }
  // The level of the expression itself, without its arguments.
  std::size_t own_level(Expr expr) const;

 private:
  void note_written(const Steps& body);

  // A number per expression; all are cleared in constant time.
  class Numbers {
   public:
    void clear() { ++epoch_; }
    // Null when there is none.
    const std::uint32_t* find(Expr expr) const {
      const std::size_t id = expr.id();
      return id < entries_.size() && entries_[id].epoch == epoch_ ? &entries_[id].number : nullptr;
    }
    void set(Expr expr, std::size_t number) {
      if (expr.id() >= entries_.size()) entries_.resize(std::max<std::size_t>(expr.id() + 1, 2 * entries_.size()));
      entries_[expr.id()] = {epoch_, std::uint32_t(number)};
    }

   private:
    struct Entry {
      std::uint64_t epoch = 0;
      std::uint32_t number = 0;
    };
    std::vector<Entry> entries_;
    std::uint64_t epoch_ = 1;
  };

  std::vector<std::int64_t> indices_;
  std::vector<std::size_t> sides_;  // levels
  std::unordered_map<std::int64_t, std::size_t> var_levels_;
  std::unordered_set<std::int64_t> written_;  // by the current top-level step
  Numbers known_;
  std::vector<Expr> stack_;
};

}  // namespace bitale::program
