// Outlined loops (codegen/outlined_loops.hpp) are calls of one function: void(frame, numbers, context). `numbers` has
// the numbers of the buffers that this loop uses; `context` has a word for each value that is known before the loop
// and, afterwards, one for each value that it has carried.
#include "codegen/outlined_loops.hpp"

#include "bitale/core/text.hpp"
#include "codegen/llvm/emit.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

namespace {

// Numbers as a constant table in memory, of 32 bits each.
Emitter::Value table_of(Emitter& emitter, const std::vector<std::int64_t>& numbers) {
  const LlvmApi& l = emitter.api();
  const std::vector<std::int32_t> narrow(numbers.begin(), numbers.end());
  const auto bytes = unsigned(narrow.size() * sizeof(narrow[0]));
  const Emitter::Value content = l.ConstStringInContext(emitter.context(), reinterpret_cast<const char*>(narrow.data()),
                                                        bytes, /*no null after it*/ true);
  const Emitter::Value table = l.AddGlobal(emitter.module(), l.TypeOf(content), "numbers");
  l.SetInitializer(table, content);
  l.SetGlobalConstant(table, true);
  l.SetLinkage(table, LLVMPrivateLinkage);
  l.SetAlignment(table, sizeof(narrow[0]));
  return table;
}

}  // namespace

bool Emitter::call_outlined(const program::Loop& loop) {
  const OutlinedLoops::Use* use = outlined_loops_ && levels_.size() == 1 ? outlined_loops_->find(loop) : nullptr;
  if (!use) return false;
  ++built_;
  const LLVMTypeRef pointer = l_.PointerTypeInContext(context_, 0);
  LLVMTypeRef types[] = {pointer, pointer, pointer};
  const LLVMTypeRef function_type = l_.FunctionType(l_.VoidTypeInContext(context_), types, 3, false);
  const std::string name = cat("loop", use->kind);
  Value function = l_.GetNamedFunction(module_, name.c_str());
  if (!function) {
    Emitter emitter(outlined_loops_->program_of(*use), context_, module_, target_);
    function = emitter.emit_outlined(name, function_type, use->values);
    built_before_ += emitter.built_;
  }

  const std::int64_t value_count = std::int64_t(use->values.size());
  const Value context = words(std::max<std::int64_t>(1, value_count + std::int64_t(loop.carries.size())), "context");
  for (std::int64_t k = 0; k < value_count; ++k) {
    const Expr known = use->values[std::size_t(k)];
    l_.BuildStore(builder_, to_memory(known.dtype(), value(known)), word(context, k));
  }
  Value arguments[] = {l_.GetParam(function_, 0), table_of(*this, use->buffers), context};
  l_.BuildCall2(builder_, function_type, function, arguments, 3, "");
  for (std::size_t k = 0; k < loop.carries.size(); ++k) {
    const Expr var = loop.carries[k].var;
    const Value memory = word(context, value_count + std::int64_t(k));
    levels_[0].values[var.id()] =
        from_memory(var.dtype(), l_.BuildLoad2(builder_, memory_type(var.dtype()), memory, ""));
    nest_.define(var);
  }
  return true;
}

// Emits the function of a Program that consists of a loop cut out of another Program.
Emitter::Value Emitter::emit_outlined(const std::string& name, LLVMTypeRef function_type,
                                      const std::vector<Expr>& values) {
  open_function(name, function_type);
  l_.SetLinkage(function_, LLVMInternalLinkage);
  numbers_ = l_.GetParam(function_, 1);
  const Value context = l_.GetParam(function_, 2);
  const program::Step& step = program_.steps[0];
  const auto& loop = *program::as_loop(step);
  nest_.begin(step);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const DType dtype = values[k].dtype();
    const Expr parameter = pool_.var(std::int64_t(k), dtype);
    const Value in_memory = l_.BuildLoad2(builder_, memory_type(dtype), word(context, std::int64_t(k)), "");
    levels_[0].values[parameter.id()] = from_memory(dtype, in_memory);
    nest_.define(parameter);
  }
  top_step_ = &step;
  emit(loop);
  fence_streams();
  for (std::size_t k = 0; k < loop.carries.size(); ++k) {
    const Expr var = loop.carries[k].var;
    l_.BuildStore(builder_, to_memory(var.dtype(), value(var)), word(context, std::int64_t(values.size() + k)));
  }
  l_.BuildRetVoid(builder_);
  return function_;
}

}  // namespace bitale::codegen
