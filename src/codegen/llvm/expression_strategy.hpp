// Better ways to compute some expressions than code by code: an instruction of the target, a branch around a rare case.
// Strategies use the emitter's expressions and lanes, and are independent of each other; the first that applies is
// used.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bitale/program/expr.hpp"
#include "codegen/llvm/function_builder.hpp"

namespace bitale::codegen {

class Emitter;

class ExpressionStrategy {
 public:
  using Value = FunctionBuilder::Value;
  virtual ~ExpressionStrategy() = default;
  // The operands of the value, where they are not the expression's arguments.
  virtual std::optional<std::vector<program::Expr>> operands(const Emitter&, program::Expr) const { return {}; }
  // Null where the strategy does not apply, or does not pay. The operands have been emitted.
  virtual Value build(Emitter& emitter, program::Expr expr) = 0;
};

// Strategies, in the order in which they are tried.
using ExpressionStrategies = std::vector<std::unique_ptr<ExpressionStrategy>>;
ExpressionStrategies expression_strategies();

std::unique_ptr<ExpressionStrategy> avx_512_instructions();  // emit_instruction.cpp
std::unique_ptr<ExpressionStrategy> reciprocal_quotients();  // emit_quotient.cpp
std::unique_ptr<ExpressionStrategy> branched_selects();      // emit_branched_select.cpp
std::unique_ptr<ExpressionStrategy> single_powers();         // emit_scale.cpp
std::unique_ptr<ExpressionStrategy> table_lookups();         // emit_lookup.cpp

}  // namespace bitale::codegen
