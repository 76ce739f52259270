// Better ways to emit some loops than iteration by iteration or in lanes, and some bodies in lanes than step by step.
// Strategies use the emitter's values, memory and levels, and are independent of each other; of the loops' strategies
// the first that applies is used.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "codegen/llvm/function_builder.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

class Emitter;

// For a whole loop. It decides by the loop and where it stands, so one object serves an Emitter.
class LoopStrategy {
 public:
  virtual ~LoopStrategy() = default;
  // False, and nothing has been emitted, where the strategy does not apply.
  virtual bool emit(Emitter& emitter, const program::Loop& loop) = 0;
};

// Strategies, in the order in which they are tried. The first kind works wherever a loop stands; the second leaves
// loops to the runtime that several threads share.
using LoopStrategies = std::vector<std::unique_ptr<LoopStrategy>>;
LoopStrategies loop_strategies();

std::unique_ptr<LoopStrategy> transposing_copies();  // emit_transpose.cpp
std::unique_ptr<LoopStrategy> row_blocks();          // emit_row_blocks.cpp

// For the body of one loop in lanes, which it emits twice: for vectors whose elements are read and added to more
// cheaply, and for all others.
class LanesStrategy {
 public:
  using Value = FunctionBuilder::Value;
  virtual ~LanesStrategy() = default;
  // False, and nothing has been emitted, where the strategy does not apply to this pass. There is no mask.
  virtual bool emit_body(Emitter& emitter, const program::Loop& loop) = 0;
  // The elements of a buffer at an offset that varies over lanes, in the cheaper body; null: as usual.
  virtual Value load(Emitter& emitter, std::int64_t buffer, program::Expr offset) = 0;
  // Adds lanes to elements at an offset, in the cheaper body; false: as usual.
  virtual bool accumulate(Emitter& emitter, const program::Accumulate& step, program::Expr offset, Value lanes);
};

// Null where the loop has no index runs.
std::unique_ptr<LanesStrategy> index_runs(const program::Program& program, const program::Loop& loop);
std::unique_ptr<LanesStrategy> checked_indices();

}  // namespace bitale::codegen
