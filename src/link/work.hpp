// Work: what a top-level step of a Program moves and computes in a call, as expressions of that call's lengths. It
// estimates the code, not the machine: each element of an array counts as moved once, however often the step accesses
// it; an expression counts as often as the emitters evaluate it, at the outermost loop where its value is known.
#pragma once

#include "program/loop_nest.hpp"
#include "program/program.hpp"

namespace bitale::link {

struct Work {
  program::Expr bytes, flops64, flops32;  // int64; valid after the step
  program::Expr steps, trace_bytes;       // of a loop with states: their number, and the bytes that they store
  bool known = true;                      // the first three; false where a length depends on what a loop computes
};

class WorkEstimate {
 public:
  explicit WorkEstimate(const program::Program& program) : program_(program), pool_(*program.pool) {}
  // To be called for all steps in order, each with one of the two; the second is for steps without a probe.
  Work operator()(const program::Step& step);
  void pass_over(const program::Step& step);

 private:
  using Expr = program::Expr;
  struct Flops {
    std::int64_t of64 = 0, of32 = 0;
  };
  // A loop around the expression that is being counted; the first level stands for the top.
  struct Level {
    Expr extent;
    Expr count;  // iterations of this loop and the loops around it
    Flops flops = {};
    std::unordered_set<std::uint32_t> seen = {};  // expressions whose values are known here
  };

  void look(const program::Steps& steps);
  void of(const program::Store& step);
  void of(const program::Accumulate& step);
  void of(const program::Let& step);
  void of(const program::Update& step);
  void of(const program::Loop& step);
  void of(const program::Fill& step);
  void of(const program::Call& step);
  void of(const program::HostCall& step);
  void of(const program::Check& step) { compute(step.condition); }
  void of(const program::Allocate&) {}
  void of(const program::Next& step) { compute(step.value); }
  void of(const program::If& step);

  void open(Expr extent);
  void close();
  void compute(Expr root);
  void count_steps(const program::Loop& loop);
  void count(Expr expr, std::size_t level);
  void count_combining(program::Combiner combiner, DType dtype);
  void count_function(const program::Function& function, Flops& flops);
  void touch(std::unordered_map<std::int64_t, Expr>& bytes, std::int64_t buffer, std::span<const Expr> at);
  void touch_all(std::unordered_map<std::int64_t, Expr>& bytes, std::int64_t buffer);
  Expr size_of(std::int64_t buffer);  // in bytes
  Expr at_first(Expr extent);

  const program::Program& program_;
  program::ExprPool& pool_;
  program::LoopNest nest_;
  std::vector<Level> levels_;                              // of the nest
  std::unordered_map<std::int64_t, Expr> read_, written_;  // by buffer: bytes
  Work work_;
};

}  // namespace bitale::link
