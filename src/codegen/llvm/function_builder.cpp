#include "codegen/llvm/function_builder.hpp"

#include <bit>
#include <limits>
#include <numeric>

#include "bitale/core/error.hpp"
#include "program/interpret.hpp"

namespace bitale::codegen {

using program::Code;
using program::Combiner;

FunctionBuilder::FunctionBuilder(LLVMContextRef context, LLVMModuleRef module, const TargetInfo& target)
    : l_(llvm()), context_(context), module_(module), builder_(l_.CreateBuilderInContext(context)), target_(target) {}

FunctionBuilder::~FunctionBuilder() { l_.DisposeBuilder(builder_); }

// ---- types and constants --------------------------------------------------------------------------------------------

LLVMTypeRef FunctionBuilder::vector_of(LLVMTypeRef element, int lanes) {
  return lanes == 1 ? element : l_.VectorType(element, unsigned(lanes));
}

LLVMTypeRef FunctionBuilder::type(DType dtype, int lanes) {
  const auto scalar = [&] {
    if (dtype == DType::Bool) return l_.Int1TypeInContext(context_);
    if (dtype == DType::Float32) return l_.FloatTypeInContext(context_);
    if (dtype == DType::Float64) return l_.DoubleTypeInContext(context_);
    switch (itemsize(dtype)) {
      case 1: return l_.Int8TypeInContext(context_);
      case 2: return l_.Int16TypeInContext(context_);
      case 4: return l_.Int32TypeInContext(context_);
      default: return l_.Int64TypeInContext(context_);
    }
  };
  return vector_of(scalar(), lanes);
}

LLVMTypeRef FunctionBuilder::memory_type(DType dtype, int lanes) {
  return type(dtype == DType::Bool ? DType::UInt8 : dtype, lanes);
}

FunctionBuilder::Value FunctionBuilder::int64(std::int64_t v) {
  return l_.ConstInt(l_.Int64TypeInContext(context_), std::uint64_t(v), true);
}

FunctionBuilder::Value FunctionBuilder::constant(DType dtype, std::int64_t payload, int lanes) {
  Value scalar = nullptr;
  if (dtype == DType::Float64)
    scalar = l_.ConstReal(type(dtype), std::bit_cast<double>(payload));
  else if (dtype == DType::Float32)
    scalar = l_.ConstReal(type(dtype), std::bit_cast<float>(std::uint32_t(payload)));
  else
    scalar = l_.ConstInt(type(dtype), std::uint64_t(payload), true);
  if (lanes == 1) return scalar;
  std::vector<Value> parts(std::size_t(lanes), scalar);
  return l_.ConstVector(parts.data(), unsigned(lanes));
}

FunctionBuilder::Value FunctionBuilder::iota(int lanes) {
  std::vector<Value> parts;
  for (int i = 0; i < lanes; ++i) parts.push_back(int64(i));
  return l_.ConstVector(parts.data(), unsigned(lanes));
}

FunctionBuilder::Value FunctionBuilder::full_mask(int lanes) { return constant(DType::Bool, 1, lanes); }

// ---- lanes ----------------------------------------------------------------------------------------------------------

int FunctionBuilder::lanes_in(Value v) const {
  const LLVMTypeRef type = l_.TypeOf(v);
  return l_.GetTypeKind(type) == LLVMVectorTypeKind ? int(l_.GetVectorSize(type)) : 1;
}

FunctionBuilder::Value FunctionBuilder::splat(Value scalar, int lanes) {
  if (lanes == 1) return scalar;
  const Value nothing = l_.GetPoison(l_.VectorType(l_.TypeOf(scalar), unsigned(lanes)));
  const Value first = l_.BuildInsertElement(builder_, nothing, scalar, int64(0), "");
  return shuffled(first, nothing, std::vector<int>(std::size_t(lanes), 0));
}

FunctionBuilder::Value FunctionBuilder::shuffled(Value a, Value b, const std::vector<int>& lanes) {
  std::vector<Value> numbers;
  for (int lane : lanes) numbers.push_back(l_.ConstInt(type(DType::Int32), std::uint64_t(lane), false));
  return l_.BuildShuffleVector(builder_, a, b, l_.ConstVector(numbers.data(), unsigned(numbers.size())), "");
}

// The first `to` lanes of the sequence 0, 1, ..., from - 1, 0, 1, ...
FunctionBuilder::Value FunctionBuilder::resized(Value v, int from, int to) {
  if (from == to) return v;
  std::vector<int> lanes;
  for (int i = 0; i < to; ++i) lanes.push_back(i % from);
  return shuffled(v, v, lanes);
}

FunctionBuilder::Value FunctionBuilder::some_lanes(Value v, int from, int count) {
  if (count == 1) return l_.BuildExtractElement(builder_, v, int64(from), "");
  std::vector<int> lanes(static_cast<std::size_t>(count));
  std::iota(lanes.begin(), lanes.end(), from);
  return shuffled(v, l_.GetPoison(l_.TypeOf(v)), lanes);
}

FunctionBuilder::Value FunctionBuilder::any_lane(Value mask) {
  const LLVMTypeRef bits = l_.IntTypeInContext(context_, l_.GetVectorSize(l_.TypeOf(mask)));
  return l_.BuildICmp(builder_, LLVMIntNE, l_.BuildBitCast(builder_, mask, bits, ""), l_.ConstNull(bits), "");
}

// Exchanges, for each power of two, the bit of the row's number with that of the lane's.
std::vector<FunctionBuilder::Value> FunctionBuilder::transposed(std::vector<Value> rows) {
  const std::size_t count = rows.size();
  for (std::size_t bit = 1; bit < count; bit *= 2) {
    std::vector<int> low, high;
    for (std::size_t lane = 0; lane < count; ++lane) {
      const bool from_second = (lane & bit) != 0;
      low.push_back(int(from_second ? count + lane - bit : lane));
      high.push_back(int(from_second ? count + lane : lane + bit));
    }
    for (std::size_t row = 0; row < count; ++row) {
      if (row & bit) continue;
      const Value a = rows[row], b = rows[row + bit];
      rows[row] = shuffled(a, b, low);
      rows[row + bit] = shuffled(a, b, high);
    }
  }
  return rows;
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

// Terms of a reduction may be combined in any order; no other rule is relaxed.
FunctionBuilder::Value FunctionBuilder::reordered(Value v, bool reassociate) {
  if (reassociate && l_.CanValueUseFastMathFlags(v)) l_.SetFastMathFlags(v, LLVMFastMathAllowReassoc);
  return v;
}

FunctionBuilder::Value FunctionBuilder::compare(Code code, DType dtype, Value a, Value b) {
  struct Row {
    LLVMRealPredicate real;
    LLVMIntPredicate is_signed, is_unsigned;
  };
  // In the order eq ne lt le gt ge of program::Code.
  static constexpr Row rows[] = {
      {LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ},   {LLVMRealUNE, LLVMIntNE, LLVMIntNE},
      {LLVMRealOLT, LLVMIntSLT, LLVMIntULT}, {LLVMRealOLE, LLVMIntSLE, LLVMIntULE},
      {LLVMRealOGT, LLVMIntSGT, LLVMIntUGT}, {LLVMRealOGE, LLVMIntSGE, LLVMIntUGE},
  };
  const Row& row = rows[int(code) - int(Code::eq)];
  if (is_float(dtype)) return l_.BuildFCmp(builder_, row.real, a, b, "");
  return l_.BuildICmp(builder_, is_signed_int(dtype) ? row.is_signed : row.is_unsigned, a, b, "");
}

FunctionBuilder::Value FunctionBuilder::combine(Combiner combiner, DType dtype, Value a, Value b, bool reassociate) {
  const bool real = is_float(dtype);
  switch (combiner) {
    case Combiner::add:
      return real ? reordered(l_.BuildFAdd(builder_, a, b, ""), reassociate) : l_.BuildAdd(builder_, a, b, "");
    case Combiner::mul:
      return real ? reordered(l_.BuildFMul(builder_, a, b, ""), reassociate) : l_.BuildMul(builder_, a, b, "");
    case Combiner::bit_and: return l_.BuildAnd(builder_, a, b, "");
    case Combiner::bit_or: return l_.BuildOr(builder_, a, b, "");
    case Combiner::min:
    case Combiner::max: {
      // nan propagates: where a is nan, the comparison fails. The first select is one instruction of x86, unless LLVM
      // merges it with the second.
      const Value taken = compare(combiner == Combiner::min ? Code::lt : Code::gt, dtype, b, a);
      const Value chosen = l_.BuildSelect(builder_, taken, b, a, "");
      if (!real) return chosen;
      const Value kept = l_.BuildFreeze(builder_, chosen, "");
      return l_.BuildSelect(builder_, l_.BuildFCmp(builder_, LLVMRealUNO, b, b, ""), b, kept, "");
    }
  }
  throw InternalError("codegen: unknown combiner");
}

FunctionBuilder::Value FunctionBuilder::float_to_int(Value v, DType from, DType to) {
  // As in convert_element: the least integer stands for what does not fit; narrow types keep the low bits.
  const bool wide = itemsize(to) == 8 || to == DType::UInt32;
  const int lanes = lanes_in(v);
  const auto truncated = [&](Value x) {
    const DType whole = wide ? DType::Int64 : DType::Int32;
    const double bound = wide ? 9223372036854775808.0 : 2147483648.0;
    const auto number = [&](double c) { return constant(from, program::to_bits(c, from), lanes); };
    Value below = l_.BuildFCmp(builder_, LLVMRealOLT, x, number(bound), "");
    const bool exact = from == DType::Float32 || wide;  // -bound - 1 is not a number of the type
    Value above = exact ? l_.BuildFCmp(builder_, LLVMRealOGE, x, number(-bound), "")
                        : l_.BuildFCmp(builder_, LLVMRealOGT, x, number(-bound - 1), "");
    Value fits = l_.BuildAnd(builder_, below, above, "");
    Value safe = l_.BuildSelect(builder_, fits, x, number(0), "");
    Value converted = l_.BuildFPToSI(builder_, safe, type(whole, lanes), "");
    const std::int64_t least = wide ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<int>::min();
    return l_.BuildSelect(builder_, fits, converted, constant(whole, least, lanes), "");
  };
  if (to == DType::UInt64) {
    const double two_63 = 9223372036854775808.0;
    Value limit = constant(from, program::to_bits(two_63, from), lanes);
    Value high = l_.BuildFCmp(builder_, LLVMRealOGE, v, limit, "");
    Value upper = l_.BuildXor(builder_, truncated(l_.BuildFSub(builder_, v, limit, "")),
                              constant(DType::Int64, std::numeric_limits<std::int64_t>::min(), lanes), "");
    return l_.BuildSelect(builder_, high, upper, truncated(v), "");
  }
  Value whole = truncated(v);
  const std::size_t have = wide ? 8 : 4;
  return itemsize(to) == have ? whole : l_.BuildTrunc(builder_, whole, type(to, lanes), "");
}

FunctionBuilder::Value FunctionBuilder::build_cast(Value v, DType from, DType to) {
  if (from == to) return v;
  const int lanes = lanes_in(v);
  const LLVMTypeRef target = type(to, lanes);
  if (to == DType::Bool) {
    const Value zero = l_.ConstNull(type(from, lanes));
    return is_float(from) ? l_.BuildFCmp(builder_, LLVMRealUNE, v, zero, "")
                          : l_.BuildICmp(builder_, LLVMIntNE, v, zero, "");
  }
  if (is_float(from)) {
    if (!is_float(to)) return float_to_int(v, from, to);
    return itemsize(to) > itemsize(from) ? l_.BuildFPExt(builder_, v, target, "")
                                         : l_.BuildFPTrunc(builder_, v, target, "");
  }
  const bool is_signed = is_signed_int(from);
  if (is_float(to))
    return is_signed ? l_.BuildSIToFP(builder_, v, target, "") : l_.BuildUIToFP(builder_, v, target, "");
  if (from != DType::Bool && itemsize(to) == itemsize(from)) return v;
  if (from != DType::Bool && itemsize(to) < itemsize(from)) return l_.BuildTrunc(builder_, v, target, "");
  return is_signed ? l_.BuildSExt(builder_, v, target, "") : l_.BuildZExt(builder_, v, target, "");
}

FunctionBuilder::Value FunctionBuilder::intrinsic(const char* name, std::initializer_list<LLVMTypeRef> types,
                                                  std::vector<Value> values) {
  const unsigned id = l_.LookupIntrinsicID(name, std::char_traits<char>::length(name));
  std::vector<LLVMTypeRef> overloads(types);
  Value function = l_.GetIntrinsicDeclaration(module_, id, overloads.data(), overloads.size());
  return l_.BuildCall2(builder_, l_.IntrinsicGetType(context_, id, overloads.data(), overloads.size()), function,
                       values.data(), unsigned(values.size()), "");
}

FunctionBuilder::Value FunctionBuilder::masked_intrinsic(const char* name, std::initializer_list<LLVMTypeRef> types,
                                                         std::vector<Value> arguments, std::size_t pointer,
                                                         DType dtype) {
  const unsigned id = l_.LookupIntrinsicID(name, std::char_traits<char>::length(name));
  std::vector<LLVMTypeRef> overloads(types);
  const unsigned wanted = l_.CountParamTypes(l_.IntrinsicGetType(context_, id, overloads.data(), overloads.size()));
  if (wanted > arguments.size()) {
    arguments.insert(arguments.begin() + std::ptrdiff_t(pointer) + 1,
                     l_.ConstInt(l_.Int32TypeInContext(context_), itemsize(dtype), false));
    return intrinsic(name, types, std::move(arguments));
  }
  Value call = intrinsic(name, types, std::move(arguments));
  const unsigned align = l_.GetEnumAttributeKindForName("align", 5);
  l_.AddCallSiteAttribute(call, LLVMAttributeIndex(pointer + 1),
                          l_.CreateEnumAttribute(context_, align, itemsize(dtype)));
  return call;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

FunctionBuilder::Value FunctionBuilder::from_memory(DType dtype, Value v) {
  if (dtype != DType::Bool) return v;
  return l_.BuildICmp(builder_, LLVMIntNE, v, l_.ConstNull(l_.TypeOf(v)), "");
}

FunctionBuilder::Value FunctionBuilder::to_memory(DType dtype, Value v) {
  if (dtype != DType::Bool) return v;
  return l_.BuildZExt(builder_, v, memory_type(dtype, lanes_in(v)), "");
}

FunctionBuilder::Value FunctionBuilder::frame_field(int field) {
  Value slot = int64(field);
  LLVMTypeRef pointer = l_.PointerTypeInContext(context_, 0);
  Value address = l_.BuildGEP2(builder_, pointer, l_.GetParam(function_, 0), &slot, 1, "");
  return l_.BuildLoad2(builder_, pointer, address, "");
}

FunctionBuilder::Value FunctionBuilder::local(DType dtype, int lanes, const char* name) {
  LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
  resume(entry_);
  Value memory = l_.BuildAlloca(builder_, type(dtype, lanes), name);
  resume(here);
  return memory;
}

FunctionBuilder::Value FunctionBuilder::words(std::int64_t count, const char* name) {
  constexpr unsigned cache_line = 64;
  LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
  resume(entry_);
  const Value out = l_.BuildArrayAlloca(builder_, type(DType::Int64), int64(count), name);
  l_.SetAlignment(out, cache_line);
  resume(here);
  return out;
}

FunctionBuilder::Value FunctionBuilder::word(Value words, std::int64_t at) {
  Value slot = int64(at);
  return l_.BuildGEP2(builder_, type(DType::Int64), words, &slot, 1, "");
}

void FunctionBuilder::prefetch(Value address) {
  LLVMTypeRef word = l_.Int32TypeInContext(context_);
  const Value read = l_.ConstInt(word, 0, false), keep = l_.ConstInt(word, 3, false),
              data = l_.ConstInt(word, 1, false);
  intrinsic("llvm.prefetch", {l_.PointerTypeInContext(context_, 0)}, {address, read, keep, data});
}

void FunctionBuilder::fence() {
  if (target_.is_x86) intrinsic("llvm.x86.sse.sfence", {}, {});
}

// ---- blocks and functions -------------------------------------------------------------------------------------------

LLVMBasicBlockRef FunctionBuilder::block(const char* name) {
  return l_.AppendBasicBlockInContext(context_, function_, name);
}

void FunctionBuilder::resume(LLVMBasicBlockRef at) {
  if (Value end = l_.GetBasicBlockTerminator(at))
    l_.PositionBuilderBefore(builder_, end);
  else
    l_.PositionBuilderAtEnd(builder_, at);
}

// Starts an empty function, with the builder in it.
FunctionBuilder::Value FunctionBuilder::begin_function(const std::string& name, LLVMTypeRef function_type) {
  function_ = l_.AddFunction(module_, name.c_str(), function_type);
  const auto attribute = [&](std::string_view key, std::string_view value) {
    const LLVMAttributeIndex whole_function = ~0u;
    l_.AddAttributeAtIndex(
        function_, whole_function,
        l_.CreateStringAttribute(context_, key.data(), unsigned(key.size()), value.data(), unsigned(value.size())));
  };
  attribute("target-cpu", target_.cpu);
  attribute("target-features", target_.features);
  attribute("prefer-vector-width", std::to_string(8 * target_.vector_bytes));
  attribute("stackrealign", "");  // spilled vectors would otherwise straddle cache lines
  const auto property = [&](std::string_view name) {
    const unsigned kind = l_.GetEnumAttributeKindForName(name.data(), name.size());
    l_.AddAttributeAtIndex(function_, ~0u, l_.CreateEnumAttribute(context_, kind, 0));
  };
  property("nounwind");
  if (target_.checks_memory) {
    property("sanitize_address");
    l_.SetLinkage(function_, LLVMInternalLinkage);  // so that its address, which its stack frame holds, is in no table
  }
  entry_ = block("entry");
  LLVMBasicBlockRef start = block("start");
  l_.PositionBuilderAtEnd(builder_, entry_);
  l_.BuildBr(builder_, start);  // memory of variables is allocated before this branch
  l_.PositionBuilderAtEnd(builder_, start);
  return function_;
}

void FunctionBuilder::fail_unless(Value ok, Value code) {
  LLVMBasicBlockRef fail = block("fail"), go_on = block("go_on");
  l_.BuildCondBr(builder_, ok, go_on, fail);
  l_.PositionBuilderAtEnd(builder_, fail);
  l_.BuildRet(builder_, code);
  l_.PositionBuilderAtEnd(builder_, go_on);
}

// Calls a function of the Frame; when it fails, so does this call.
void FunctionBuilder::call_host(int field, std::vector<std::int64_t> numbers) {
  std::vector<LLVMTypeRef> types{l_.PointerTypeInContext(context_, 0)};
  std::vector<Value> arguments{l_.GetParam(function_, 0)};
  for (auto number : numbers) {
    types.push_back(type(DType::Int64));
    arguments.push_back(int64(number));
  }
  LLVMTypeRef status = l_.Int32TypeInContext(context_);
  const LLVMTypeRef asked = l_.FunctionType(status, types.data(), unsigned(types.size()), false);
  Value result = l_.BuildCall2(builder_, asked, frame_field(field), arguments.data(), unsigned(arguments.size()), "");
  fail_unless(l_.BuildICmp(builder_, LLVMIntEQ, result, l_.ConstNull(status), ""), result);
}

void FunctionBuilder::count_up(Value from, Value until, std::int64_t step,
                               const std::function<void(Value, LLVMBasicBlockRef)>& body_of, const Value* stops) {
  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_), header = block("loop"), body = block("body"),
                    after = block("after");
  l_.BuildBr(builder_, header);
  l_.PositionBuilderAtEnd(builder_, header);
  Value index = l_.BuildPhi(builder_, type(DType::Int64), "i");
  l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntSLT, index, until, ""), body, after);
  l_.PositionBuilderAtEnd(builder_, body);
  body_of(index, before);
  Value starts[] = {from, l_.BuildAdd(builder_, index, int64(step), "")};
  LLVMBasicBlockRef blocks[] = {before, l_.GetInsertBlock(builder_)};
  l_.AddIncoming(index, starts, blocks, 2);
  if (stops)
    l_.BuildCondBr(builder_, *stops, after, header);
  else
    l_.BuildBr(builder_, header);
  l_.PositionBuilderAtEnd(builder_, after);
}

// Marks the first target of a branch.
void FunctionBuilder::in_entry(const std::function<void()>& emit) {
  LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
  resume(entry_);
  emit();
  resume(here);
}

void FunctionBuilder::mark_unlikely(Value branch) {
  const std::string_view kind = "prof", name = "branch_weights";
  const LLVMTypeRef word = l_.Int32TypeInContext(context_);
  LLVMMetadataRef parts[] = {l_.MDStringInContext2(context_, name.data(), name.size()),
                             l_.ValueAsMetadata(l_.ConstInt(word, 1, false)),
                             l_.ValueAsMetadata(l_.ConstInt(word, 1000, false))};
  l_.SetMetadata(branch, l_.GetMDKindIDInContext(context_, kind.data(), unsigned(kind.size())),
                 l_.MetadataAsValue(context_, l_.MDNodeInContext2(context_, parts, 3)));
}

FunctionBuilder::Value FunctionBuilder::unless(Value condition, Value usual, const char* name,
                                               const std::function<Value()>& rare) {
  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_), within = block(name), after = block("after");
  mark_unlikely(l_.BuildCondBr(builder_, condition, within, after));
  l_.PositionBuilderAtEnd(builder_, within);
  Value values[] = {usual, rare()};
  LLVMBasicBlockRef from[] = {before, l_.GetInsertBlock(builder_)};
  l_.BuildBr(builder_, after);
  l_.PositionBuilderAtEnd(builder_, after);
  const Value result = l_.BuildPhi(builder_, l_.TypeOf(usual), "");
  l_.AddIncoming(result, values, from, 2);
  return result;
}

}  // namespace bitale::codegen
