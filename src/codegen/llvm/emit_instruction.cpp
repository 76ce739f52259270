// What expansions say in ten operations and AVX-512 in one or two: multiplication by a power of two, a number as m 2^k,
// the limits of a logarithm. Where the result matters its bits are the same.
#include "bitale/core/text.hpp"
#include "codegen/llvm/emit.hpp"
#include "program/math/scale.hpp"
#include "program/math/split.hpp"

namespace bitale::codegen {

std::optional<Emitter::Instruction> Emitter::instruction_for(Expr expr) const {
  constexpr int most_bytes = 64, least_bytes = 16;
  if (!target_.avx_512 || !is_float(expr.dtype())) return std::nullopt;
  const int bytes = lanes_ ? lanes_->count * int(itemsize(expr.dtype())) : least_bytes;
  if (bytes < least_bytes || bytes > most_bytes) return std::nullopt;
  if (const auto scaled = program::math::as_scaled(expr)) return Instruction{Does::scale, {scaled->value, scaled->n}};
  if (const auto x = program::math::as_split_m(expr)) return Instruction{Does::split_m, {*x}};
  if (const auto x = program::math::as_split_k(expr)) return Instruction{Does::split_k, {*x}};
  if (const auto limits = program::math::as_log_limits(expr))
    return Instruction{Does::log_limits, {limits->x, limits->value}};
  return std::nullopt;
}

Emitter::Value Emitter::build_instruction(const Instruction& instruction, bool vector) {
  const DType dtype = instruction.operands[0].dtype();
  const int size = int(itemsize(dtype)), lanes = vector ? lanes_->count : 16 / size, bits = 8 * size * lanes;
  const DType word = size == 8 ? DType::Int64 : DType::Int32;
  // A single value is the first of the shortest vector.
  std::vector<Value> operands;
  for (auto& operand : instruction.operands)
    operands.push_back(
        vector ? lanes_of(operand)
               : l_.BuildInsertElement(builder_, l_.GetPoison(type(dtype, lanes)), value(operand), int64(0), ""));
  const auto int32 = [&](std::uint64_t number) { return l_.ConstInt(type(DType::Int32), number, false); };
  const Value every_lane = l_.ConstInt(l_.IntTypeInContext(context_, lanes > 8 ? 16u : 8u), ~0ull, true);
  const Value current_rounding = int32(4);
  const auto call = [&](std::string_view operation, std::vector<Value> arguments) {
    const std::string name = cat("llvm.x86.avx512.mask.", operation, size == 8 ? ".pd." : ".ps.", bits);
    arguments.push_back(every_lane);
    if (bits == 512) arguments.push_back(current_rounding);
    return intrinsic(name.c_str(), {}, std::move(arguments));
  };
  const Value x = operands[0], nothing = l_.GetPoison(type(dtype, lanes));
  constexpr std::uint64_t from_three_quarters = 3;
  const auto m = [&] { return call("getmant", {x, int32(from_three_quarters), nothing}); };
  // By class of x, four bits each: nan, nan, 0, 1, -infinity, infinity, below 0, above; 0 leaves the value.
  constexpr std::uint64_t limits = 0x03530422;
  Value result = nullptr;
  switch (instruction.what) {
    case Does::scale: result = call("scalef", {x, operands[1], x}); break;
    case Does::split_m: result = m(); break;
    case Does::split_k:  // the exponent of m is 0 or -1
      result = l_.BuildFSub(builder_, call("getexp", {x, nothing}), call("getexp", {m(), nothing}), "");
      break;
    case Does::log_limits:
      result = call("fixupimm", {operands[1], x, constant(word, std::int64_t(limits), lanes), int32(0)});
      break;
  }
  return vector ? result : l_.BuildExtractElement(builder_, result, int64(0), "");
}

}  // namespace bitale::codegen
