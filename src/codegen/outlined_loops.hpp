// Equal loops are compiled once: programs repeat themselves (unrolled scans, the layers of a network, their gradients).
// A top-level loop is cut out of its Program: buffers and values that are known before the loop become parameters.
// Loops are equal if they are the same after that.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "program/program.hpp"

namespace bitale::codegen {

// A loop as the only step of a Program. Buffer k of this Program stands for `buffers[k]`, and its undefined variables
// 0, 1, ... stand for `values`.
struct OutlinedLoop {
  program::Program program;
  std::vector<std::int64_t> buffers;
  std::vector<program::Expr> values;
  std::size_t size = 0;  // expressions
};
// None for a loop that does what only top-level steps can do, or whose terms would be added in another order once it is
// cut out. The loop has its schedule already, which the copy keeps.
std::optional<OutlinedLoop> outline_loop(const program::Program& program, const program::Loop& loop);

class OutlinedLoops {
 public:
  // Finds equal loops among the top-level steps. Small loops, and those whose repetition costs little, are left alone.
  explicit OutlinedLoops(const program::Program& program);

  struct Use {
    std::size_t kind;  // equal loops have the same kind
    std::vector<std::int64_t> buffers;
    std::vector<program::Expr> values;
  };
  // Null for a loop that is not outlined.
  const Use* find(const program::Loop& loop) const;
  const program::Program& program_of(const Use& use) const { return kinds_[use.kind]; }

 private:
  std::vector<program::Program> kinds_;
  std::unordered_map<const program::Loop*, Use> uses_;
};

}  // namespace bitale::codegen
