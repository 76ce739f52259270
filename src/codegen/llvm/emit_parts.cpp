// Functions: LLVM's compile time grows faster than the length of a function, so a long program is split into several,
// which its entry calls in turn. The emitter starts a new part between top-level steps, or within a long expression;
// values of earlier parts that it needs later are spilled to memory. Elementary functions that a program applies very
// often are functions as well, one per number of lanes.
#include <cstddef>
#include <utility>

#include "bitale/core/text.hpp"
#include "codegen/llvm/emit.hpp"
#include "program/steps.hpp"
#include "runtime/frame.hpp"

namespace bitale::codegen {

namespace {
constexpr std::size_t longest_part = 1000;  // expressions
constexpr std::size_t worth_a_part = 200;
constexpr std::int64_t max_on_stack = 4096;  // bytes of the spill area
constexpr std::int64_t frame_spill_area = offsetof(runtime::Frame, spill_area) / sizeof(void*);
constexpr std::int64_t slot_alignment = 64;  // that of the widest vector
}  // namespace

void Emitter::emit_program(const std::string& name) {
  outlined_loops_.emplace(program_);
  open_part();
  emit(program_.steps);
  l_.BuildRet(builder_, l_.ConstNull(l_.Int32TypeInContext(context_)));
  if (parts_.size() == 1)
    l_.SetValueName2(function_, name.data(), name.size());
  else
    call_parts(name);
}

void Emitter::open_part() {
  LLVMTypeRef pointer = l_.PointerTypeInContext(context_, 0);
  open_function(cat("part", parts_.size()), l_.FunctionType(l_.Int32TypeInContext(context_), &pointer, 1, false));
  parts_.push_back({function_, entry_});
  built_before_ += std::exchange(built_, 0);
}

void Emitter::cut_if_long() {
  if (built_ >= longest_part) cut();
}

// A long loop and the code before it are put into separate functions if that code is long, too: the two can be compiled
// in parallel.
void Emitter::cut_before(const program::Step& step) {
  if (built_ < worth_a_part || !program::as_loop(step)) return cut_if_long();
  std::size_t size = 0;
  program::ExprWalk walk;
  const auto count = [&](const program::Step& inner) {
    size += program::as_loop(inner) != nullptr ? blocks_of_a_loop : 0;
    program::for_each_expr(inner, [&](Expr root) { walk(root, [&](Expr) { ++size; }); });
  };
  count(step);
  program::for_each_body(step, [&](const program::Steps& body) { program::visit_steps(body, count); });
  if (size >= worth_a_part) cut();
}

void Emitter::cut() {
  l_.BuildRet(builder_, l_.ConstNull(l_.Int32TypeInContext(context_)));
  for (auto& [id, value] : levels_[0].values) prior_values_.try_emplace(id, PriorValue{value, parts_.size() - 1});
  levels_.clear();
  spill_stack();
  for (auto buffer : known_data_) data_[std::size_t(buffer)] = {};
  known_data_.clear();
  open_part();
}

// Moves the stack memory of a part that ends to the spill area, because later parts may read it.
void Emitter::spill_stack() {
  for (auto& [memory, bytes] : on_stack_) {
    const std::int64_t slot = (spill_bytes_ + slot_alignment - 1) / slot_alignment * slot_alignment;
    spill_bytes_ = slot + bytes;
    const Value all = spill_area(parts_.back());
    LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
    resume(parts_.back().entry);
    const Value spilled = slot_address(all, slot);
    resume(here);
    l_.ReplaceAllUsesWith(memory, spilled);
    l_.InstructionEraseFromParent(memory);
  }
  on_stack_.clear();
}

// The address of the spill area, which is loaded at the beginning of the part.
Emitter::Value Emitter::spill_area(Part& part) {
  if (part.spill_area) return part.spill_area;
  LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
  LLVMTypeRef pointer = l_.PointerTypeInContext(context_, 0);
  resume(part.entry);
  Value field = int64(frame_spill_area);
  const Value address = l_.BuildGEP2(builder_, pointer, l_.GetParam(part.function, 0), &field, 1, "");
  part.spill_area = l_.BuildLoad2(builder_, pointer, address, "");
  resume(here);
  return part.spill_area;
}

Emitter::Value Emitter::slot_address(Value memory, std::int64_t slot) {
  Value offset = int64(slot);
  return l_.BuildGEP2(builder_, l_.Int8TypeInContext(context_), memory, &offset, 1, "");
}

// The value is stored as soon as it is known, and loaded where it is needed.
Emitter::Value Emitter::reload(Expr expr) {
  PriorValue& earlier = prior_values_.at(expr.id());
  if (!l_.IsAInstruction(earlier.value)) return earlier.value;  // a constant
  const DType dtype = expr.dtype();
  if (earlier.slot < 0) {
    const auto bytes = std::int64_t(itemsize(dtype));
    earlier.slot = spill_bytes_ = (spill_bytes_ + bytes - 1) / bytes * bytes;
    spill_bytes_ += bytes;
    const Value memory = spill_area(parts_[earlier.part]);
    LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
    Value next = l_.GetNextInstruction(earlier.value);
    while (l_.IsAPHINode(next)) next = l_.GetNextInstruction(next);
    l_.PositionBuilderBefore(builder_, next);
    const Value in_memory = to_memory(dtype, earlier.value);
    l_.BuildStore(builder_, in_memory, slot_address(memory, earlier.slot));
    resume(here);
  }
  const Value where = slot_address(spill_area(parts_.back()), earlier.slot);
  return from_memory(dtype, l_.BuildLoad2(builder_, memory_type(dtype), where, ""));
}

// The entry: provides the spill area, then calls the parts in turn, until one fails.
void Emitter::call_parts(const std::string& name) {
  const LLVMTypeRef pointer = l_.PointerTypeInContext(context_, 0), status = l_.Int32TypeInContext(context_);
  LLVMTypeRef frame_type = pointer;
  const LLVMTypeRef type = l_.FunctionType(status, &frame_type, 1, false);
  open_function(name, type);
  Value frame = l_.GetParam(function_, 0);
  const auto outside = [&](const char* callee, LLVMTypeRef result, std::vector<LLVMTypeRef> types,
                           std::vector<Value> arguments) {
    const LLVMTypeRef callee_type = l_.FunctionType(result, types.data(), unsigned(types.size()), false);
    Value known = l_.GetNamedFunction(module_, callee);
    if (!known) known = l_.AddFunction(module_, callee, callee_type);
    return l_.BuildCall2(builder_, callee_type, known, arguments.data(), unsigned(arguments.size()), "");
  };
  const LLVMTypeRef word = l_.Int64TypeInContext(context_);
  const std::int64_t bytes = spill_bytes_ / slot_alignment * slot_alignment + slot_alignment;
  Value memory = nullptr;
  const bool on_stack = bytes <= max_on_stack;
  if (!target_.memory_is_given) {
    if (on_stack) {
      memory = l_.BuildArrayAlloca(builder_, l_.Int8TypeInContext(context_), int64(bytes), "crossing");
      l_.SetAlignment(memory, unsigned(slot_alignment));
    } else {
      memory = outside("aligned_alloc", pointer, {word, word}, {int64(slot_alignment), int64(bytes)});
      fail_unless(l_.BuildICmp(builder_, LLVMIntNE, memory, l_.ConstNull(pointer), ""),
                  l_.ConstInt(status, std::uint64_t(runtime::no_memory), true));
    }
    Value field = int64(frame_spill_area);
    l_.BuildStore(builder_, memory, l_.BuildGEP2(builder_, pointer, frame, &field, 1, ""));
  }
  LLVMBasicBlockRef leave = block("leave");
  std::vector<Value> results;
  std::vector<LLVMBasicBlockRef> from;
  for (const Part& part : parts_) {
    l_.SetLinkage(part.function, LLVMInternalLinkage);
    results.push_back(l_.BuildCall2(builder_, type, part.function, &frame, 1, ""));
    from.push_back(l_.GetInsertBlock(builder_));
    LLVMBasicBlockRef next = &part == &parts_.back() ? leave : block("next");
    l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntEQ, results.back(), l_.ConstNull(status), ""), next, leave);
    l_.PositionBuilderAtEnd(builder_, next);
  }
  const Value result = l_.BuildPhi(builder_, status, "");
  // Both exits of the last part lead here.
  results.push_back(results.back());
  from.push_back(from.back());
  l_.AddIncoming(result, results.data(), from.data(), unsigned(from.size()));
  if (memory && !on_stack) outside("free", l_.VoidTypeInContext(context_), {pointer}, {memory});
  l_.BuildRet(builder_, result);
}

// ---- elementary functions -------------------------------------------------------------------------------------------

Emitter::Value Emitter::own_function(Expr call, int lanes) {
  const std::string name = cat(pool_.function_name(call.payload()), ".lanes", lanes);
  if (const Value known = l_.GetNamedFunction(module_, name.c_str())) return known;
  return Emitter(program_, context_, module_, target_).emit_own_function(name, *program_.function_of(call), lanes);
}

Emitter::Value Emitter::emit_own_function(const std::string& name, const program::Function& function, int lanes) {
  std::vector<LLVMTypeRef> types;
  for (auto& parameter : function.parameters) types.push_back(type(parameter.dtype(), lanes));
  open_function(name, l_.FunctionType(type(function.body.dtype(), lanes), types.data(), unsigned(types.size()), false));
  l_.SetLinkage(function_, LLVMInternalLinkage);
  Lanes all;
  all.count = lanes;
  if (lanes > 1) {  // as in a loop that has the parameters as lanes
    open_level({}, entry_);
    lanes_ = &all;
  }
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Expr parameter = function.parameters[i];
    nest_.define(parameter);
    levels_.back().values[parameter.id()] = l_.GetParam(function_, unsigned(i));
  }
  l_.BuildRet(builder_, lanes_of(function.body));
  lanes_ = nullptr;
  return function_;
}

}  // namespace bitale::codegen
