// Better ways to compute some expressions than code by code: an instruction of the target, a branch around what is
// rare. Strategies know the emitter's expressions and lanes, and not each other; the first that applies is taken.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codegen/llvm/function_builder.hpp"
#include "program/expr.hpp"

namespace bitale::codegen {

class Emitter;

class ExpressionStrategy {
 public:
  using Value = FunctionBuilder::Value;
  virtual ~ExpressionStrategy() = default;
  // What the value is computed from, where that is something else than the expression's arguments.
  virtual std::optional<std::vector<program::Expr>> operands(const Emitter&, program::Expr) const { return {}; }
  // Null where it does not apply, or does not pay. What the value is computed from is known.
  virtual Value build(Emitter& emitter, program::Expr expr) = 0;
};

// In the order in which they are tried.
using ExpressionStrategies = std::vector<std::unique_ptr<ExpressionStrategy>>;
ExpressionStrategies expression_strategies();

std::unique_ptr<ExpressionStrategy> avx_512_instructions();  // emit_instruction.cpp
std::unique_ptr<ExpressionStrategy> reciprocal_quotients();  // emit_quotient.cpp
std::unique_ptr<ExpressionStrategy> rare_selects();          // emit_rare_select.cpp
std::unique_ptr<ExpressionStrategy> table_lookups();         // emit_lookup.cpp

}  // namespace bitale::codegen
