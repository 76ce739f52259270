// Scalar expressions as LLVM values, hoisted to the outermost level at which they are known.
#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "codegen/llvm/emit.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

using program::Code;
using program::Combiner;

Emitter::Value Emitter::value(Expr root) {
  if (root.code() == Code::constant) return constant(root.dtype(), root.payload(), 1);
  const std::size_t level = level_for(root);
  auto& values = levels_[level].values;
  if (const auto found = values.find(root.id()); found != values.end()) return found->second;
  make_ready(root, false);
  return levels_[level].values.at(root.id());
}

std::size_t Emitter::level_for(Expr expr) {
  return nest_.level_of(
      expr, [&](std::size_t level) { return levels_[level].values.count(expr.id()) != 0 || is_earlier(expr, level); });
}

void Emitter::make_ready(Expr root, bool may_cut) {
  std::vector<Expr> stack{root};
  while (!stack.empty()) {
    throw_if_interrupted();
    const Expr expr = stack.back();
    if (expr.code() == Code::constant) {
      stack.pop_back();
      continue;
    }
    const std::size_t at = level_for(expr);
    if (levels_[at].values.count(expr.id())) {
      stack.pop_back();
      continue;
    }
    const bool is_known = is_earlier(expr, at);
    const std::size_t before = stack.size();
    // A load emits its address itself: which parts of it are needed depends on the access pattern.
    const auto need = [&](Expr argument) {
      if (argument.code() == Code::constant) return;
      if (!levels_[level_for(argument)].values.count(argument.id())) stack.push_back(argument);
    };
    if (const auto operands = is_known ? std::nullopt : operands_by_strategy(expr)) {
      for (auto& operand : *operands) need(operand);
    } else if (expr.code() != Code::load && !is_known) {
      for (std::size_t i = 0; i < expr.argument_count(); ++i) need(expr.argument(i));
    }
    if (stack.size() != before) continue;
    stack.pop_back();
    ++built_;
    if (at + 1 == levels_.size()) {
      keep(at, expr, is_known ? reload(expr) : build(expr));
      if (may_cut) cut_if_long();
      continue;
    }
    // Known at an outer level: build it at the end of that level's code, before the loop inside.
    LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
    l_.PositionBuilderBefore(builder_, l_.GetBasicBlockTerminator(levels_[at + 1].preheader));
    Lanes* lanes = std::exchange(lanes_, nullptr);
    std::vector<Level> inner;  // code of an outer level must not refer to inner levels
    while (levels_.size() > at + 1) {
      inner.push_back(std::move(levels_.back()));
      levels_.pop_back();
    }
    const bool was_hoisting = std::exchange(hoisting_, true);
    keep(at, expr, is_known ? reload(expr) : build(expr));
    hoisting_ = was_hoisting;
    while (!inner.empty()) {
      levels_.push_back(std::move(inner.back()));
      inner.pop_back();
    }
    lanes_ = lanes;
    resume(here);
  }
}

// The values of expressions that load from memory end when a step writes there.
void Emitter::forget_overwritten(const program::Step& step) {
  for (auto& expr : kept_.ended_by(step)) {
    for (auto& level : levels_) level.values.erase(expr.id());
    prior_values_.erase(expr.id());
  }
}

Emitter::Value Emitter::lanes_of(Expr expr) {
  if (!lanes_) return value(expr);
  if (expr.code() == Code::constant) return constant(expr.dtype(), expr.payload(), lanes_->count);
  const Value v = value(expr);
  if (varies(expr)) return v;
  auto [it, is_new] = lanes_->splats.try_emplace(expr.id());
  if (is_new) {
    LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
    l_.PositionBuilderBefore(builder_, l_.GetBasicBlockTerminator(levels_.back().preheader));
    it->second = splat(v, lanes_->count);
    resume(here);
  }
  return it->second;
}

std::size_t Emitter::operations_in_lanes() {
  if (lanes_->operations) return lanes_->operations;
  program::ExprWalk walk;
  for (const program::Step& step : lanes_->loop->body)
    program::for_each_expr(step, [&](const Expr& root) {
      walk(root, [&](Expr expr) {
        const bool counts = varies(expr);
        lanes_->operations += counts;
        return counts;
      });
    });
  return lanes_->operations;
}

Emitter::Callee Emitter::callee(Expr call, std::size_t first_argument) {
  const std::string& name = pool_.function_name(call.payload());
  std::vector<LLVMTypeRef> types;
  for (std::size_t i = first_argument; i < call.argument_count(); ++i) types.push_back(type(call.argument(i).dtype()));
  Callee out{l_.FunctionType(type(call.dtype()), types.data(), unsigned(types.size()), false),
             l_.GetNamedFunction(module_, name.c_str())};
  if (!out.function) out.function = l_.AddFunction(module_, name.c_str(), out.type);
  return out;
}

Emitter::Value Emitter::call_once(const Callee& callee, std::vector<Value> arguments) {
  return l_.BuildCall2(builder_, callee.type, callee.function, arguments.data(), unsigned(arguments.size()), "");
}

Emitter::Value Emitter::build_call(Expr call) {
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < call.argument_count(); ++i)
    arguments.push_back(varies(call) ? lanes_of(call.argument(i)) : value(call.argument(i)));
  if (program_.function_of(call)) {
    const Value function = own_function(call, varies(call) ? lanes_->count : 1);
    return l_.BuildCall2(builder_, l_.GlobalGetValueType(function), function, arguments.data(),
                         unsigned(arguments.size()), "");
  }
  const Callee to = callee(call, 0);
  if (!varies(call)) return call_once(to, std::move(arguments));
  // The library computes one element at a time.
  Value result = l_.GetPoison(type(call.dtype(), lanes_->count));
  for (int lane = 0; lane < lanes_->count; ++lane) {
    std::vector<Value> scalars;
    for (auto argument : arguments) scalars.push_back(l_.BuildExtractElement(builder_, argument, int64(lane), ""));
    result = l_.BuildInsertElement(builder_, result, call_once(to, std::move(scalars)), int64(lane), "");
  }
  return result;
}

// In lanes, the function is called once for each lane whose condition holds; these lanes are the bits of an integer.
Emitter::Value Emitter::build_rare_call(Expr call) {
  const bool in_lanes = varies(call);
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < call.argument_count(); ++i)
    arguments.push_back(in_lanes ? lanes_of(call.argument(i)) : value(call.argument(i)));
  const Value condition = arguments[0], otherwise = arguments[1];
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  const Callee to = callee(call, 2);
  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_);
  // Code that is inserted into a finished block can't branch.
  if (l_.GetBasicBlockTerminator(before))
    return l_.BuildSelect(builder_, condition, call_once(to, std::move(arguments)), otherwise, "");
  const unsigned cold = l_.GetEnumAttributeKindForName("cold", 4);  // so that registers are spilled there, not here
  const LLVMAttributeIndex whole_call = ~0u;
  LLVMBasicBlockRef rare = block("rare"), after = block("rare_after");
  const auto called = [&](std::vector<Value> scalars) {
    Value result = call_once(to, std::move(scalars));
    l_.AddCallSiteAttribute(result, whole_call, l_.CreateEnumAttribute(context_, cold, 0));
    return result;
  };
  const auto phi = [&](Value a, LLVMBasicBlockRef from_a, Value b, LLVMBasicBlockRef from_b) {
    Value merged = l_.BuildPhi(builder_, l_.TypeOf(a), "");
    Value values[] = {a, b};
    LLVMBasicBlockRef from[] = {from_a, from_b};
    l_.AddIncoming(merged, values, from, b ? 2 : 1);
    return merged;
  };
  Value result;
  if (!in_lanes) {
    l_.BuildCondBr(builder_, condition, rare, after);
    l_.PositionBuilderAtEnd(builder_, rare);
    result = called(std::move(arguments));
    l_.BuildBr(builder_, after);
  } else {
    const LLVMTypeRef bits = l_.IntTypeInContext(context_, unsigned(lanes_->count));
    const Value none = l_.ConstNull(bits), asking = l_.BuildBitCast(builder_, condition, bits, "");
    l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntNE, asking, none, ""), rare, after);
    l_.PositionBuilderAtEnd(builder_, rare);
    const Value left = phi(asking, before, nullptr, nullptr), so_far = phi(otherwise, before, nullptr, nullptr);
    const Value yes = l_.ConstInt(l_.Int1TypeInContext(context_), 1, false);
    const Value lane = intrinsic("llvm.cttz", {bits}, {left, yes});
    std::vector<Value> scalars;
    for (auto argument : arguments) scalars.push_back(l_.BuildExtractElement(builder_, argument, lane, ""));
    result = l_.BuildInsertElement(builder_, so_far, called(std::move(scalars)), lane, "");
    Value rest = l_.BuildAnd(builder_, left, l_.BuildSub(builder_, left, l_.ConstInt(bits, 1, false), ""), "");
    l_.AddIncoming(left, &rest, &rare, 1);
    l_.AddIncoming(so_far, &result, &rare, 1);
    l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntNE, rest, none, ""), rare, after);
  }
  l_.PositionBuilderAtEnd(builder_, after);
  return phi(otherwise, before, result, rare);
}

// The result is 0 where the divisor is 0. Loop-invariant quotients are hoisted, even out of a loop without iterations
// whose divisor is a length of 0, and LLVM's division by 0 is undefined behaviour of the whole function.
Emitter::Value Emitter::build_integer_quotient(Expr expr, Value dividend, Value divisor, LLVMTypeRef type) {
  const bool is_quotient = expr.code() == Code::div, is_signed = is_signed_int(expr.dtype());
  const auto divided = [&](Value by) {
    if (is_quotient)
      return is_signed ? l_.BuildSDiv(builder_, dividend, by, "") : l_.BuildUDiv(builder_, dividend, by, "");
    return is_signed ? l_.BuildSRem(builder_, dividend, by, "") : l_.BuildURem(builder_, dividend, by, "");
  };
  if (expr.argument(1).is_constant() && expr.argument(1).payload() != 0) return divided(divisor);
  const Value zero = l_.ConstNull(type), is_zero = l_.BuildICmp(builder_, LLVMIntEQ, divisor, zero, "");
  const Value one = constant(expr.dtype(), 1, varies(expr) ? lanes_->count : 1);
  return l_.BuildSelect(builder_, is_zero, zero, divided(l_.BuildSelect(builder_, is_zero, one, divisor, "")), "");
}

ExpressionStrategies expression_strategies() {
  ExpressionStrategies all;
  all.push_back(avx_512_instructions());
  all.push_back(reciprocal_quotients());
  all.push_back(branched_selects());
  all.push_back(single_powers());
  all.push_back(table_lookups());
  return all;
}

std::optional<std::vector<program::Expr>> Emitter::operands_by_strategy(Expr expr) const {
  for (auto& strategy : strategies_)
    if (auto operands = strategy->operands(*this, expr)) return operands;
  return {};
}

Emitter::Value Emitter::build(Expr expr) {
  for (auto& strategy : strategies_)
    if (const Value built = strategy->build(*this, expr)) return built;
  return build_plain(expr);
}

Emitter::Value Emitter::build_plain(Expr expr) {
  const bool vector = varies(expr);
  const auto arg = [&](std::size_t i) { return vector ? lanes_of(expr.argument(i)) : value(expr.argument(i)); };
  const DType dtype = expr.dtype();
  const bool real = is_float(dtype), is_signed = is_signed_int(dtype);
  const LLVMTypeRef result_type = type(dtype, vector ? lanes_->count : 1);
  switch (expr.code()) {
    case Code::constant: return constant(dtype, expr.payload(), vector ? lanes_->count : 1);
    case Code::index:
      // Scalar indices are put into their level when the loop opens.
      if (vector) return l_.BuildAdd(builder_, splat(lanes_->start, lanes_->count), iota(lanes_->count), "");
      throw InternalError("codegen: an index is out of scope");
    case Code::var: return l_.BuildLoad2(builder_, result_type, locals_.at(expr.payload()), "");
    case Code::dim:
      return l_.BuildLoad2(builder_, result_type, length_address(expr.payload() >> 8, int(expr.payload() & 0xff)), "");
    case Code::load: return build_load(expr);
    case Code::call: return build_call(expr);
    case Code::rare_call: return build_rare_call(expr);
    case Code::lookup: break;  // built by a strategy
    case Code::add:
      return real ? l_.BuildFAdd(builder_, arg(0), arg(1), "") : l_.BuildAdd(builder_, arg(0), arg(1), "");
    case Code::sub:
      return real ? l_.BuildFSub(builder_, arg(0), arg(1), "") : l_.BuildSub(builder_, arg(0), arg(1), "");
    case Code::mul:
      return real ? l_.BuildFMul(builder_, arg(0), arg(1), "") : l_.BuildMul(builder_, arg(0), arg(1), "");
    case Code::div:
      if (real) return l_.BuildFDiv(builder_, arg(0), arg(1), "");
      return build_integer_quotient(expr, arg(0), arg(1), result_type);
    case Code::rem:
      if (real) return l_.BuildFRem(builder_, arg(0), arg(1), "");
      return build_integer_quotient(expr, arg(0), arg(1), result_type);
    case Code::fma: return intrinsic("llvm.fma", {result_type}, {arg(0), arg(1), arg(2)});
    case Code::neg: return real ? l_.BuildFNeg(builder_, arg(0), "") : l_.BuildNeg(builder_, arg(0), "");
    case Code::abs: {
      if (real) return intrinsic("llvm.fabs", {result_type}, {arg(0)});
      if (!is_signed) return arg(0);
      const Value negative = l_.BuildICmp(builder_, LLVMIntSLT, arg(0), l_.ConstNull(result_type), "");
      return l_.BuildSelect(builder_, negative, l_.BuildNeg(builder_, arg(0), ""), arg(0), "");
    }
    case Code::sqrt: return intrinsic("llvm.sqrt", {result_type}, {arg(0)});
    case Code::floor: return intrinsic("llvm.floor", {result_type}, {arg(0)});
    case Code::ceil: return intrinsic("llvm.ceil", {result_type}, {arg(0)});
    case Code::trunc: return intrinsic("llvm.trunc", {result_type}, {arg(0)});
    case Code::rint: return intrinsic("llvm.rint", {result_type}, {arg(0)});
    case Code::copysign: return intrinsic("llvm.copysign", {result_type}, {arg(0), arg(1)});
    case Code::min:
    case Code::max: {
      const Value a = arg(0), b = arg(1);
      const Code order = expr.code() == Code::min ? Code::lt : Code::gt;
      return l_.BuildSelect(builder_, compare(order, dtype, a, b), a, b, "");
    }
    case Code::bit_and: return l_.BuildAnd(builder_, arg(0), arg(1), "");
    case Code::bit_or: return l_.BuildOr(builder_, arg(0), arg(1), "");
    case Code::bit_xor: return l_.BuildXor(builder_, arg(0), arg(1), "");
    case Code::bit_not: return l_.BuildNot(builder_, arg(0), "");
    case Code::shl: return l_.BuildShl(builder_, arg(0), arg(1), "");
    case Code::shr:
      return is_signed ? l_.BuildAShr(builder_, arg(0), arg(1), "") : l_.BuildLShr(builder_, arg(0), arg(1), "");
    case Code::eq:
    case Code::ne:
    case Code::lt:
    case Code::le:
    case Code::gt:
    case Code::ge: return compare(expr.code(), expr.argument(0).dtype(), arg(0), arg(1));
    case Code::select: return l_.BuildSelect(builder_, arg(0), arg(1), arg(2), "");
    case Code::cast: return build_cast(arg(0), expr.argument(0).dtype(), dtype);
    case Code::bitcast: return l_.BuildBitCast(builder_, arg(0), result_type, "");
  }
  throw InternalError(cat("codegen: no code for ", program::code_name(expr.code())));
}

}  // namespace bitale::codegen
