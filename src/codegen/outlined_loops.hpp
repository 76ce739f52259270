// Equal loops: programs repeat themselves (unrolled scans, the layers of a network, their gradients), and what is
// repeated need be compiled once. A loop at the top is cut out of its Program: buffers and what is known before the
// loop become parameters. Loops from which that leaves the same are equal.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "program/program.hpp"

namespace bitale::codegen {

// A loop as a Program whose only step it is. Buffer k of that stands for `buffers[k]`, and its variables that nothing
// defines, 0, 1, ..., for `values`.
struct OutlinedLoop {
  program::Program program;
  std::vector<std::int64_t> buffers;
  std::vector<program::Expr> values;
  std::size_t size = 0;  // expressions
};
// Nothing for a loop that does what only steps at the top can, or that would add up in another order once it is cut
// out. The loop has its schedule, which the copy keeps.
std::optional<OutlinedLoop> outline_loop(const program::Program& program, const program::Loop& loop);

class OutlinedLoops {
 public:
  // Finds them among the steps at the top. Small loops, and those whose repetitions come to little, are left alone.
  explicit OutlinedLoops(const program::Program& program);

  struct Use {
    std::size_t kind;  // equal loops are of one
    std::vector<std::int64_t> buffers;
    std::vector<program::Expr> values;
  };
  // Null for a loop that stands alone.
  const Use* find(const program::Loop& loop) const;
  const program::Program& program_of(const Use& use) const { return kinds_[use.kind]; }

 private:
  std::vector<program::Program> kinds_;
  std::unordered_map<const program::Loop*, Use> uses_;
};

}  // namespace bitale::codegen
