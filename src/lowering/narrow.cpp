// Storage folding: a temporary whose elements are written and read in the same iteration of a loop needs memory for one
// iteration only. Where every access indexes an axis by the index of the same loop, that axis is removed.
#include <algorithm>
#include <set>
#include <vector>

#include "lowering/passes.hpp"
#include "program/accesses.hpp"
#include "program/rewrite.hpp"

namespace bitale::lowering {

namespace {

// Per axis of a buffer: the loop whose index every access has there, by its level; -1 if there is none.
struct Rows {
  std::vector<int> loops;
  bool seen = false;
  std::set<std::int64_t> crossed;  // indices of loops whose iterations may access each other's elements
};

class Narrower {
 public:
  explicit Narrower(Program& program) : program_(program), rows_(program.buffers.size()) {}

  void run() {
    const auto has_rows = [](const program::Buffer& buffer) {
      return buffer.role == program::Role::temporary && !buffer.shape.empty();
    };
    if (std::ranges::none_of(program_.buffers, has_rows)) return;
    accesses_ = program::Accesses(program_.steps);
    for (std::size_t b = 0; b < rows_.size(); ++b) {
      const program::Buffer& buffer = program_.buffers[b];
      const auto& list = accesses_.of(std::int64_t(b)).list;
      if (!has_rows(buffer) || accesses_.lengths.contains(std::int64_t(b)) ||
          !std::ranges::all_of(list, &program::ElementAccess::is_element))
        continue;
      rows_[b].loops.assign(buffer.shape.size(), none);
      for (auto& access : list) note(rows_[b], access);
    }
    program::for_each_load_of_lengths(program_, [&](Expr load) { rows_[std::size_t(load.payload())].loops.clear(); });
    for (auto& rows : rows_) keep_crossed(rows);
    const auto is_narrower = [](const Rows& rows) {
      return std::ranges::any_of(rows.loops, [](int loop) { return loop != none; });
    };
    if (std::ranges::none_of(rows_, is_narrower)) return;
    program::move_elements(program_.steps, [&](std::int64_t buffer, std::vector<Expr>& at) {
      if (!at.empty()) at = kept(buffer, at);
      return buffer;
    });
    for (std::size_t b = 0; b < rows_.size(); ++b)
      program_.buffers[b].shape = kept(std::int64_t(b), program_.buffers[b].shape);
  }

 private:
  static constexpr int none = -1;
  const program::Accesses::Level& at_level(int level) const { return accesses_.levels()[std::size_t(level)]; }

  // The loop of the index, if there are loops in it: the lanes of an innermost loop run at the same time.
  int loop_of(Expr index, int level) const {
    while (level != none && !(at_level(level).index == index)) level = at_level(level).outer;
    return level != none && at_level(level).holds_loops ? level : none;
  }

  void note(Rows& rows, const program::ElementAccess& access) const {
    for (std::size_t k = 0; k < rows.loops.size(); ++k) {
      int loop = loop_of(access.at[k], access.level);
      if (loop == none) add_crossed(rows, access.at[k]);
      if (rows.seen && rows.loops[k] != loop) {
        for (const int other : {rows.loops[k], loop})
          if (other != none) rows.crossed.insert(at_level(other).index.payload());
        loop = none;
      }
      rows.loops[k] = loop;
    }
    rows.seen = true;
  }

  // Notes the loops on which an index depends that is not simply the index of an open loop.
  void add_crossed(Rows& rows, Expr index) const {
    program::ExprWalk()(index, [&](Expr expr) {
      if (expr.code() == program::Code::index) rows.crossed.insert(expr.payload());
      if (expr.code() != program::Code::var) return;
      if (const auto found = accesses_.set_at.find(expr.payload()); found != accesses_.set_at.end())
        for (int level = found->second; level != none; level = at_level(level).outer)
          rows.crossed.insert(at_level(level).index.payload());
    });
  }

  // An element that one iteration of an outer loop writes and another one reads (the previous step of a prefix scan) is
  // live during all iterations of the inner loops: their axes are kept.
  void keep_crossed(Rows& rows) const {
    for (int& loop : rows.loops)
      for (int outer = loop == none ? none : at_level(loop).outer; outer != none; outer = at_level(outer).outer)
        if (rows.crossed.contains(at_level(outer).index.payload())) loop = none;
  }

  std::vector<Expr> kept(std::int64_t buffer, std::span<const Expr> per_axis) const {
    const Rows& rows = rows_[std::size_t(buffer)];
    std::vector<Expr> out;
    for (std::size_t k = 0; k < per_axis.size(); ++k)
      if (k >= rows.loops.size() || rows.loops[k] == none) out.push_back(per_axis[k]);
    return out;
  }

  Program& program_;
  std::vector<Rows> rows_;
  program::Accesses accesses_;
};

}  // namespace

void narrow_temporaries(Program& program) { Narrower(program).run(); }

}  // namespace bitale::lowering
