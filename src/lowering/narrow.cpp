// Storage folding: a temporary whose elements are written and read in the same iteration of a loop needs memory for one
// iteration only. Where every access indexes an axis by the index of the same loop, that axis is removed.
#include <algorithm>
#include <set>

#include "lowering/passes.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

namespace {

using program::Loop;
using program::OneOf;
using program::Step;
using program::Steps;

// Per axis of a buffer: the loop whose index every access has there; null if there is none.
struct Rows {
  std::vector<const Loop*> loops;
  bool seen = false;
  std::set<std::int64_t> crossed;  // indices of loops whose iterations may access each other's elements
};

class Narrower {
 public:
  explicit Narrower(Program& program) : program_(program), rows_(program.buffers.size()) {
    for (std::size_t b = 0; b < rows_.size(); ++b)
      rows_[b].loops.assign(program.buffers[b].role == program::Role::temporary ? program.buffers[b].shape.size() : 0,
                            nullptr);
  }

  void run() {
    examine(program_.steps);
    program::for_each_load_of_lengths(program_, [&](Expr load) { forbid(load.payload()); });
    for (auto& rows : rows_) keep_crossed(rows);
    bool any = false;
    for (auto& rows : rows_) any |= std::any_of(rows.loops.begin(), rows.loops.end(), [](auto* l) { return l; });
    if (!any) return;
    rewrite(program_.steps);
    for (std::size_t b = 0; b < rows_.size(); ++b)
      if (!rows_[b].loops.empty()) program_.buffers[b].shape = kept(std::int64_t(b), program_.buffers[b].shape);
  }

 private:
  const Loop* loop_of(Expr index) const {
    for (auto* loop : open_)
      if (loop->index == index) return loop;
    return nullptr;
  }
  static bool holds_loops(const Loop& loop) {
    bool found = false;
    program::visit_steps(loop.body, [&](const Step& step) { found |= program::as_loop(step) != nullptr; });
    return found;
  }

  void note(std::int64_t buffer, std::span<const Expr> at) {
    Rows& rows = rows_[std::size_t(buffer)];
    for (std::size_t k = 0; k < rows.loops.size(); ++k) {
      const Loop* loop = loop_of(at[k]);
      if (!loop) add_crossed(rows, at[k]);
      if (rows.seen && rows.loops[k] != loop) {
        for (auto* other : {rows.loops[k], loop})
          if (other) rows.crossed.insert(other->index.payload());
        loop = nullptr;
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
      if (auto found = loops_of_var_.find(expr.payload()); found != loops_of_var_.end())
        rows.crossed.insert(found->second.begin(), found->second.end());
    });
  }

  // An element that one iteration of an outer loop writes and another one reads (the previous step of a prefix scan) is
  // live during all iterations of the inner loops: their axes are kept.
  void keep_crossed(Rows& rows) const {
    for (auto& loop : rows.loops) {
      if (!loop) continue;
      for (auto outer : outer_.at(loop))
        if (rows.crossed.count(outer)) {
          loop = nullptr;
          break;
        }
    }
  }
  bool is_candidate(std::int64_t buffer) const { return !rows_[std::size_t(buffer)].loops.empty(); }
  void forbid(std::int64_t buffer) { rows_[std::size_t(buffer)].loops.clear(); }

  void examine(Steps& steps) {
    for (auto& step : steps) {
      program::ExprWalk walk;  // a step's expressions share much, and are in the same loops
      program::for_each_expr(step, [&](Expr& root) {
        walk(root, [&](Expr expr) {
          if (expr.code() == program::Code::load && is_candidate(expr.payload()))
            note(expr.payload(), program::arguments_of(expr));
          if (expr.code() == program::Code::dim) forbid(expr.payload() >> 8);
        });
      });
      program::for_each_access(step, [&](const program::MutableAccess& access) {
        if (access.at)
          note(access.buffer, *access.at);
        else
          forbid(access.buffer);
      });
      program::for_each_definition(step, [&](Expr var, program::Definition kind) {
        if (kind != program::Definition::index && kind != program::Definition::carried) note_var(var);
      });
      program::match(
          step, [&](Loop& loop) { examine(loop); },
          [&](program::If& branch) {
            examine(branch.then);
            examine(branch.otherwise);
          },
          [](const OneOf<program::Store, program::Accumulate, program::Let, program::Update, program::Allocate,
                         program::Fill, program::Call, program::Check, program::HostCall, program::Next> auto&) {});
    }
  }
  void examine(Loop& loop) {
    outer_[&loop] = around_;
    around_.push_back(loop.index.payload());
    if (holds_loops(loop)) open_.push_back(&loop);
    examine(loop.body);
    if (holds_loops(loop)) open_.pop_back();
    around_.pop_back();
  }

  void note_var(Expr var) { loops_of_var_[var.payload()] = around_; }

  std::vector<Expr> kept(std::int64_t buffer, std::span<const Expr> per_axis) const {
    const Rows& rows = rows_[std::size_t(buffer)];
    std::vector<Expr> out;
    for (std::size_t k = 0; k < per_axis.size(); ++k)
      if (k >= rows.loops.size() || !rows.loops[k]) out.push_back(per_axis[k]);
    return out;
  }

  bool narrow_loads(Step& step) {
    program::Substitution narrowed;
    program::ExprWalk walk;
    program::for_each_expr(step, [&](Expr& root) {
      walk(root, [&](Expr expr) {
        if (expr.code() != program::Code::load || !is_candidate(expr.payload())) return;
        const auto at = program::arguments_of(expr);
        if (at.size() != rows_[std::size_t(expr.payload())].loops.size()) return;
        const auto left = kept(expr.payload(), at);
        if (left.size() != at.size()) narrowed[expr.id()] = program_.pool->load(expr.payload(), expr.dtype(), left);
      });
    });
    if (!narrowed.empty())
      program::for_each_expr(step, [&](Expr& root) { root = program::substitute(root, narrowed); });
    return !narrowed.empty();
  }

  void rewrite(Steps& steps) {
    for (auto& step : steps) {
      while (narrow_loads(step)) {  // repeated where a load is an index of another
      }
      program::for_each_access(step, [&](const program::MutableAccess& access) {
        if (access.at) *access.at = kept(access.buffer, *access.at);
      });
      program::for_each_body(step, [&](Steps& body) { rewrite(body); });
    }
  }

  Program& program_;
  std::vector<Rows> rows_;
  std::vector<const Loop*> open_;     // with inner loops: the lanes of an innermost loop run at the same time
  std::vector<std::int64_t> around_;  // indices of all loops around the current step, outermost first
  std::unordered_map<const Loop*, std::vector<std::int64_t>> outer_;          // indices of the loops around each loop
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> loops_of_var_;  // of the loops around its definition
};

}  // namespace

void narrow_temporaries(Program& program) { Narrower(program).run(); }

}  // namespace bitale::lowering
