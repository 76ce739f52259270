// Emitter: writes a Program as the statements of one C function. Loops become loops. An expression is computed at the
// outermost level at which it is known; it gets a name if that hoists it, or if it is used more than once or long, and
// is written in place otherwise. What differs between a function that the process calls and an exported one (where
// memory and lengths come from) is left to derived classes.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/c/operations.hpp"
#include "codegen/c/spelling.hpp"
#include "codegen/c/support.hpp"
#include "codegen/schedule.hpp"
#include "program/kept_loads.hpp"
#include "program/loop_nest.hpp"
#include "program/program.hpp"

namespace bitale::codegen::c {

class Emitter {
 public:
  using Expr = program::Expr;
  // The loops of the Program must have their schedules, which determine the order of sums.
  Emitter(const program::Program& program, Support& support);
  virtual ~Emitter() = default;
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

 protected:
  // ---- provided by derived classes ----
  // The length of a buffer along an axis, as an expression of C.
  virtual std::string length(std::int64_t buffer, int axis) = 0;
  // Declares `data_name(buffer)` as memory for the lengths of the buffer, whose texts are asked for where they are
  // written.
  virtual void allocate(std::int64_t buffer) = 0;
  virtual void host_call(const program::HostCall& step) = 0;
  // The rest of "if (it is time && ", by which a loop ends when the host requests it; empty: loops don't poll.
  virtual std::string poll() { return {}; }
  // Declares a function that is not in the C library.
  virtual void declare(const std::string& function, const std::string& prototype) = 0;
  // The only element of a buffer without axes.
  virtual std::string single(std::int64_t buffer) { return data_name(buffer) + "[0]"; }
  virtual std::string failure(int check) = 0;  // the text of what the function returns

  // ---- for derived classes ----
  // All statements, at one level of indentation.
  std::string statements();
  void line(std::string text) { add_line(levels_.back(), std::move(text)); }
  const std::string& data_name(std::int64_t buffer);
  void set_data_name(std::int64_t buffer, const std::string& name) {
    data_names_[std::size_t(buffer)] = names_.take(name);
  }
  // Whether a statement mentions the buffer's name.
  bool is_mentioned(std::int64_t buffer) const { return mentioned_[std::size_t(buffer)]; }
  const program::Buffer& buffer(std::int64_t id) const { return program_.buffers[std::size_t(id)]; }
  std::string text_of(Expr expr) { return value(expr).text; }
  // The declaration of a pointer, with const and restrict where they are true: "const double *restrict x".
  std::string pointer(std::int64_t buffer, std::string_view value);
  // Declares memory for a buffer that lives on the stack, and returns its name.
  std::string stack_memory(std::int64_t buffer);
  Names& names() { return names_; }
  const program::Program& program() const { return program_; }
  Support& support() { return support_; }

 private:
  // An open loop, or the function as a whole: its statements so far, and the values that are known there.
  struct Level {
    int depth = 1;
    std::string text;
    std::unordered_map<std::uint32_t, Text> values;
  };
  // A float that a vector loop reduces: an array with an element for each lane.
  struct LaneArray {
    std::string name, tree, count;  // the last two: for pairwise sums
    program::Combiner combiner;
    Expr var;
  };

  // What a loop with index runs adds (program/index_runs.hpp): the offsets and terms of its lanes.
  struct Terms {
    std::string offsets, values;
  };

  // ---- expressions (emit_expr.cpp) ----
  void count_uses();
  // The level at which an expression is computed. It is not hoisted out of a branch, unless it is known outside
  // already.
  std::size_t level_for(Expr expr);
  Text value(Expr expr);
  Text build(Expr expr, std::span<const Text> arguments, bool hoisted);
  Text element(std::int64_t buffer, std::span<const Expr> at, bool checked);
  std::string target(std::int64_t buffer, std::span<const Expr> at);
  std::span<const Expr> arguments_of(Expr expr);
  bool is_plain(Expr expr, int depth = 0);
  bool is_simple(Expr expr);
  int uses(Expr expr) const { return expr.id() < uses_.size() ? uses_[expr.id()] : 1; }  // 1: created here
  std::string name_for(Expr expr);

  // ---- steps (emit_step.cpp) ----
  void emit(const program::Steps& steps);
  void emit(const program::Store& step);
  void emit(const program::Accumulate& step);
  void emit(const program::Let& step);
  void emit(const program::Update& step);
  void emit(const program::Loop& step);
  void emit(const program::Allocate& step);
  void emit(const program::Fill& step);
  void emit(const program::Call& step);
  void emit(const program::Check& step);
  void emit(const program::HostCall& step);
  void emit(const program::Next& step);
  void emit(const program::If& step);
  void open_level(Expr index, int depth);
  void close_level();
  void comment_on(const program::Loop& loop);
  void plain_loop(const program::Loop& loop, const std::string& extent);
  std::string start_of(const program::Carry& carry);
  void add_line(Level& level, std::string text);

  // ---- reductions of floats, lane by lane (emit_lanes.cpp) ----
  void lanes_loop(const program::Loop& loop, const std::string& extent);
  bool needs_lanes(const program::Loop& loop) const;
  bool in_lanes(const program::Update& update) const;
  void start_lanes(const LaneArray& array, const program::Schedule& schedule);
  void finish_lanes(const LaneArray& array, const program::Schedule& schedule);
  void start_groups(const program::Loop& loop);

  const program::Program& program_;
  program::ExprPool& pool_;
  Support& support_;
  Operations operations_;
  Names names_;
  std::vector<std::string> data_names_;
  std::vector<bool> mentioned_;
  std::vector<bool> shares_memory_;  // per buffer: another buffer uses the same memory at another time
  std::vector<bool> written_;
  std::vector<int> uses_;
  program::LoopNest nest_;
  program::KeptLoads kept_;
  std::vector<Level> levels_;      // of the loop nest
  std::vector<std::string> next_;  // assignments of states at the end of the iteration
  std::unordered_map<std::int64_t, std::string> index_names_;
  std::unordered_map<std::int64_t, std::string> var_names_;
  std::unordered_map<std::int64_t, LaneArray> lane_arrays_;      // by variable, inside the loop that has them
  std::string lane_;                                             // the lane of the current iteration
  std::unordered_map<const program::Accumulate*, Terms> terms_;  // inside the loop that has them
  std::unordered_set<std::int64_t> prefixes_;
};

}  // namespace bitale::codegen::c
