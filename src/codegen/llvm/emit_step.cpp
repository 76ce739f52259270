// Steps as LLVM IR. Top-level steps may fail, call the host and call the runtime; loops have a file of their own.
#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "codegen/llvm/emit.hpp"
#include "codegen/schedule.hpp"
#include "program/steps.hpp"
#include "runtime/frame.hpp"

namespace bitale::codegen {

namespace {

constexpr int frame_allocate = 2, frame_host_call = 3;  // fields of runtime::Frame

}  // namespace

Emitter::Emitter(const program::Program& program, LLVMContextRef context, LLVMModuleRef module,
                 const TargetInfo& target)
    : FunctionBuilder(context, module, target),
      program_(program),
      pool_(*program.pool),
      length_offsets_(program::length_offsets(program)),
      kept_(program),
      data_(program.buffers.size()) {}

Emitter::Value Emitter::open_function(const std::string& name, LLVMTypeRef function_type) {
  begin_function(name, function_type);
  levels_.emplace_back();
  return function_;
}

void Emitter::emit(const program::Steps& steps) {
  for (std::size_t i = 0; i < steps.size();) {
    const auto left = std::span(steps).subspan(i);
    if (const std::size_t count = lanes_ ? emit_interleaved(left) : emit_alike(left)) {
      i += count;
      continue;
    }
    const program::Step& step = steps[i++];
    if (levels_.size() == 1) {
      throw_if_interrupted();
      nest_.begin(step);
      cut_before(step);
      top_step_ = &step;
      streams_ = false;
      program::match(
          step,
          [&](const program::OneOf<program::Store, program::Accumulate, program::Let> auto& s) {
            make_ready(s.value, true);
          },
          [&](const program::OneOf<program::Check, program::If> auto& s) { make_ready(s.condition, true); },
          [](const program::OneOf<program::Update, program::Loop, program::Allocate, program::Fill, program::Call,
                                  program::HostCall, program::Next> auto&) {});
    }
    std::visit([this](auto& s) { emit(s); }, step.what);
    forget_overwritten(step);
    if (levels_.size() == 1) fence_streams();
  }
}

void Emitter::emit(const program::Store& step) {
  store(step.buffer, step.at, lanes_ ? lanes_of(step.value) : value(step.value));
}

void Emitter::emit(const program::Accumulate& step) {
  const DType dtype = program_.buffers[std::size_t(step.buffer)].dtype;
  const auto addend = [&] { return lanes_ ? lanes_of(step.value) : value(step.value); };
  if (lanes_ && !in_order(step.buffer, step.at)) return for_each_row([&] { scatter_accumulate(step, addend()); });
  Value total = load(step.buffer, step.at, lanes_ != nullptr);
  for_each_row([&] { total = combine(step.combiner, dtype, total, addend(), false); });
  store(step.buffer, step.at, total);
}

void Emitter::emit(const program::Let& step) {
  levels_.back().values[step.var.id()] = lanes_ ? lanes_of(step.value) : value(step.value);
  nest_.define(step.var);
}

void Emitter::emit(const program::Update& step) {
  if (is_prefix(step.var)) return emit_prefix(step);
  if (step.position_var.defined()) return emit_arg_reduce(step);
  const DType dtype = step.var.dtype();
  const bool lanes = lanes_ != nullptr;
  const auto each = [&](Expr expr) { return lanes ? lanes_of(expr) : value(expr); };
  const LLVMTypeRef kind = type(dtype, lanes ? lanes_->count : 1);
  const Value memory = lanes ? lanes_->accumulators->at(step.var.payload()) : locals_.at(step.var.payload());
  const Value before = l_.BuildLoad2(builder_, kind, memory, "");
  const bool is_dot = is_sum_of_products(step);
  Value after =
      is_dot ? intrinsic("llvm.fma", {kind}, {each(step.value.argument(0)), each(step.value.argument(1)), before})
             : combine(step.combiner, dtype, before, each(step.value), true);
  if (lanes && lanes_->mask) after = l_.BuildSelect(builder_, lanes_->mask, after, before, "");
  l_.BuildStore(builder_, after, memory);
}

void Emitter::emit(const program::Next& step) {
  l_.BuildStore(builder_, value(step.value), locals_.at(step.var.payload()));
}

void Emitter::emit(const program::If& step) {
  const Value condition = value(step.condition);
  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_), after = block("joined");
  LLVMBasicBlockRef then = block("then"), otherwise = step.otherwise.empty() ? after : block("else");
  l_.BuildCondBr(builder_, condition, then, otherwise);
  emit_side(step.then, then, before, after);
  if (!step.otherwise.empty()) emit_side(step.otherwise, otherwise, before, after);
  l_.PositionBuilderAtEnd(builder_, after);
}

// A side is a level of its own: what it computes is known only within it.
void Emitter::emit_side(const program::Steps& steps, LLVMBasicBlockRef at, LLVMBasicBlockRef before,
                        LLVMBasicBlockRef after) {
  l_.PositionBuilderAtEnd(builder_, at);
  open_level({}, before);
  nest_.mark_side();
  emit(steps);
  close_level();
  l_.BuildBr(builder_, after);
}

// ---- top-level steps ------------------------------------------------------------------------------------------------

void Emitter::emit(const program::Check& step) {
  fail_unless(value(step.condition),
              l_.ConstInt(l_.Int32TypeInContext(context_), std::uint64_t(step.check + 1), false));
}

void Emitter::emit(const program::Allocate& step) {
  const program::Buffer& buffer = program_.buffers[std::size_t(step.buffer)];
  for (int axis = 0; axis < buffer.ndim(); ++axis)
    l_.BuildStore(builder_, value(buffer.shape[std::size_t(axis)]), length_address(step.buffer, axis));
  if (buffer.on_stack) return allocate_on_stack(step.buffer);
  if (target_.memory_is_given) return load_data(step.buffer);
  if (buffer.role != program::Role::output) {
    call_host(frame_allocate, {step.buffer, 1});
    return load_data(step.buffer);
  }
  // Memory that the caller provides for a result is not requested.
  LLVMBasicBlockRef asking = block("ask"), there = block("there");
  load_data(step.buffer);
  const Value brought = data_[std::size_t(step.buffer)].value;
  const Value nothing = l_.ConstNull(l_.TypeOf(brought));
  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_);
  mark_unlikely(l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntEQ, brought, nothing, ""), asking, there));
  l_.PositionBuilderAtEnd(builder_, asking);
  call_host(frame_allocate, {step.buffer, 1});
  load_data(step.buffer);
  LLVMBasicBlockRef asked = l_.GetInsertBlock(builder_);
  l_.BuildBr(builder_, there);
  l_.PositionBuilderAtEnd(builder_, there);
  Value& known = data_[std::size_t(step.buffer)].value;
  Value addresses[] = {brought, known};
  LLVMBasicBlockRef from[] = {before, asked};
  known = l_.BuildPhi(builder_, l_.TypeOf(brought), buffer.name.c_str());
  l_.AddIncoming(known, addresses, from, 2);
}

// Consecutive temporaries of one shape are allocated by one request. Returns the number of their steps, or 0 where
// there are fewer than two. A long chain of vectors has thousands of temporaries, most of which are used in other
// parts.
std::size_t Emitter::emit_alike(std::span<const program::Step> steps) {
  if (target_.memory_is_given) return 0;
  const auto temporary = [&](std::size_t i) -> const program::Buffer* {
    const auto* allocate = i < steps.size() ? program::as_allocate(steps[i]) : nullptr;
    if (!allocate) return nullptr;
    const program::Buffer& buffer = program_.buffers[std::size_t(allocate->buffer)];
    return buffer.role == program::Role::temporary && !buffer.on_stack ? &buffer : nullptr;
  };
  const program::Buffer* first = temporary(0);
  if (!first) return 0;
  std::size_t count = 1;
  while (temporary(count) == first + count && first[count].shape == first->shape) ++count;
  if (count == 1) return 0;
  nest_.begin(steps[0]);
  cut_if_long();
  const std::int64_t buffer = first - program_.buffers.data();
  for (int axis = 0; axis < first->ndim(); ++axis)
    l_.BuildStore(builder_, value(first->shape[std::size_t(axis)]), length_address(buffer, axis));
  call_host(frame_allocate, {buffer, std::int64_t(count)});
  for (std::size_t k = 0; k < count; ++k) {
    data_[std::size_t(buffer) + k] = {nullptr, l_.GetInsertBlock(builder_)};
    known_data_.push_back(buffer + std::int64_t(k));
  }
  return count;
}

void Emitter::emit(const program::HostCall& step) {
  call_host(frame_host_call, {step.callback});
  for (auto buffer : step.outputs) load_data(buffer);
}

namespace {
// A runtime function by name, declared once per module.
LLVMValueRef declare(const LlvmApi& l, LLVMModuleRef module, const char* name, LLVMTypeRef function_type) {
  if (LLVMValueRef known = l.GetNamedFunction(module, name)) return known;
  return l.AddFunction(module, name, function_type);
}
}  // namespace

void Emitter::emit(const program::Call& step) {
  std::vector<LLVMTypeRef> types;
  std::vector<Value> arguments;
  for (auto& argument : step.arguments) {
    if (auto* expr = std::get_if<Expr>(&argument)) {
      types.push_back(type(expr->dtype()));
      arguments.push_back(value(*expr));
    } else {
      auto& [buffer, kind, offset] = std::get<program::BufferArgument>(argument);
      types.push_back(l_.PointerTypeInContext(context_, 0));
      arguments.push_back(offset.defined() ? address(buffer, value(offset)) : data(buffer));
    }
  }
  const LLVMTypeRef result = step.status.defined() ? type(DType::Int64) : l_.VoidTypeInContext(context_);
  LLVMTypeRef function_type = l_.FunctionType(result, types.data(), unsigned(types.size()), false);
  const Value called =
      l_.BuildCall2(builder_, function_type, declare(l_, module_, step.function.c_str(), function_type),
                    arguments.data(), unsigned(arguments.size()), "");
  if (!step.status.defined()) return;
  levels_.back().values[step.status.id()] = called;
  nest_.define(step.status);
}

// bt_fill(data, count, bytes per element, the element's bits)
void Emitter::emit(const program::Fill& step) {
  const program::Buffer& buffer = program_.buffers[std::size_t(step.buffer)];
  Expr count = pool_.integer(1);
  for (auto& length : buffer.shape) count = count * length;
  LLVMTypeRef word = type(DType::Int64);
  LLVMTypeRef types[] = {l_.PointerTypeInContext(context_, 0), word, word, word};
  LLVMTypeRef function_type = l_.FunctionType(l_.VoidTypeInContext(context_), types, 4, false);
  Value bits = int64(step.value.payload());
  if (!step.value.is_constant()) throw InternalError("codegen: a fill with a value that is not constant");
  Value arguments[] = {data(step.buffer), value(count), int64(std::int64_t(itemsize(buffer.dtype))), bits};
  l_.BuildCall2(builder_, function_type, declare(l_, module_, "bt_fill", function_type), arguments, 4, "");
}

}  // namespace bitale::codegen
