// Loops that several threads share: a chunk of the iterations is a function of its own, which the runtime calls for
// each chunk (runtime/threads.hpp). Values that are known outside the loop are passed in a small array, `context`; the
// reductions of a chunk are returned in another, `partial`, one per chunk. Chunks of innermost loops that reduce are
// whole branches of the tree in which such loops add; the rest of the loop runs as it would without threads, and
// continues the tree.
#include <algorithm>
#include <utility>

#include "codegen/llvm/arg_reduce.hpp"
#include "codegen/llvm/emit.hpp"
#include "program/steps.hpp"
#include "runtime/frame.hpp"
#include "runtime/threads.hpp"

namespace bitale::codegen {

using program::Code;
using program::Combiner;

namespace {

constexpr std::int64_t widest_vector = 128;  // bytes of 16 lanes
constexpr std::int64_t simple_granule = 64;  // iterations: chunks of the narrowest elements begin at cache lines

bool updates_in_lanes(const program::Loop& loop) {
  return loop.vector && std::any_of(loop.body.begin(), loop.body.end(),
                                    [](const program::Step& step) { return program::as_update(step) != nullptr; });
}

}  // namespace

// Collects variables and buffers. The address of an element depends on lengths, whose expressions count as well.
Emitter::Needs Emitter::needs_of(const program::Loop& loop) {
  Needs needs;
  std::unordered_set<std::int64_t> seen;
  program::ExprWalk walk;
  const auto use = [&](std::int64_t buffer) {
    if (seen.insert(buffer).second) needs.buffers.push_back(buffer);
  };
  const auto inspect = [&](Expr root) {
    walk(root, [&](Expr expr) {
      if (expr.code() == Code::load) use(expr.payload());
      if (expr.code() == Code::var && nest_.is_defined(expr)) needs.variables.push_back(expr);
    });
  };
  inspect(loop.extent);
  program::visit_steps(loop.body, [&](const program::Step& step) { program::for_each_expr(step, inspect); });
  program::visit_steps(loop.body, [&](const program::Step& step) {
    program::for_each_access(step, [&](const program::Access& access) { use(access.buffer); });
  });
  for (std::size_t i = 0; i < needs.buffers.size(); ++i)
    for (auto& length : program_.buffers[std::size_t(needs.buffers[i])].shape) inspect(length);
  return needs;
}

// In a buffer with rows per worker, the address is that of the worker's own row.
void Emitter::load_own_data(std::span<const std::int64_t> buffers, Value worker) {
  for (auto b : buffers) load_data(b);
  for (auto b : buffers) {
    const program::Buffer& buffer = program_.buffers[std::size_t(b)];
    if (!buffer.per_worker) continue;
    Expr bytes = pool_.integer(std::int64_t(itemsize(buffer.dtype)));
    for (auto& length : buffer.shape) bytes = bytes * length;
    const std::int64_t unit = runtime::worker_stride(1);
    const Value units =
        l_.BuildUDiv(builder_, l_.BuildAdd(builder_, value(bytes), int64(unit - 1), ""), int64(unit), "");
    Value offset = l_.BuildMul(builder_, worker, l_.BuildMul(builder_, units, int64(unit), ""), "");
    Value& data = data_[std::size_t(b)].value;
    data = l_.BuildGEP2(builder_, l_.Int8TypeInContext(context_), data, &offset, 1, "");
  }
}

void Emitter::leave_partial(std::int64_t var, std::size_t copy, LLVMTypeRef kind, Value v) {
  Value offset = int64(partial_bytes_);
  const Value slot = l_.BuildGEP2(builder_, l_.Int8TypeInContext(context_), partial_, &offset, 1, "");
  l_.SetAlignment(l_.BuildStore(builder_, v, slot), 64);
  partials_.push_back({var, copy, kind, partial_bytes_});
  partial_bytes_ += widest_vector;
}

// Sums of floats are in the first accumulator only; all else is in every accumulator.
void Emitter::leave_accumulators(const program::Loop& loop, int lanes, const std::vector<Accumulators>& accumulators) {
  std::unordered_set<std::int64_t> done;
  for (auto& step : loop.body) {
    auto* update = program::as_update(step);
    if (!update || !done.insert(update->var.payload()).second) continue;
    const bool is_sum = update->combiner == Combiner::add && is_float(update->var.dtype());
    const auto leave = [&](Expr var, std::size_t copy) {
      const LLVMTypeRef kind = type(var.dtype(), lanes);
      const Value memory = accumulators[copy].at(var.payload());
      leave_partial(var.payload(), copy, kind, l_.BuildLoad2(builder_, kind, memory, ""));
    };
    for (std::size_t copy = 0; copy < (is_sum ? 1 : accumulators.size()); ++copy) {
      leave(update->var, copy);
      if (update->position_var.defined()) leave(update->position_var, copy);
    }
  }
}

// The function of a chunk: void(frame, context, begin, end, worker, partial).
Emitter::Value Emitter::emit_chunk(const program::Loop& loop, const Needs& needs) {
  LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
  const Value function = function_;
  LLVMBasicBlockRef entry = entry_;
  auto levels = std::exchange(levels_, {});
  auto data = std::exchange(data_, std::vector<Address>(data_.size()));
  auto nest = std::exchange(nest_, {});
  auto locals = std::exchange(locals_, {});
  auto earlier = std::exchange(prior_values_, {});
  auto kept = kept_.suspend();
  const Value numbers = numbers_;
  nest_.begin(loop);

  const LLVMTypeRef pointer = l_.PointerTypeInContext(context_, 0), integer = type(DType::Int64);
  LLVMTypeRef parameters[] = {pointer, pointer, integer, integer, integer, pointer};
  const Value made = open_function("chunk" + std::to_string(chunk_count_++),
                                   l_.FunctionType(l_.VoidTypeInContext(context_), parameters, 6, false));
  l_.SetLinkage(made, LLVMInternalLinkage);
  chunk_of_ = &loop;
  partial_ = l_.GetParam(made, 5);
  partials_.clear();
  partial_bytes_ = 0;
  const std::vector<Expr>& known = needs.variables;
  const Value context = l_.GetParam(made, 1);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const DType dtype = known[i].dtype();
    const Value in_memory = l_.BuildLoad2(builder_, memory_type(dtype), word(context, std::int64_t(i)), "");
    levels_[0].values[known[i].id()] = from_memory(dtype, in_memory);
    nest_.define(known[i]);
  }
  if (numbers_) {
    LLVMBasicBlockRef start = l_.GetInsertBlock(builder_);
    resume(entry_);
    numbers_ = l_.BuildLoad2(builder_, pointer, word(context, std::int64_t(known.size())), "numbers");
    resume(start);
  }
  load_own_data(needs.buffers, l_.GetParam(made, 4));
  start_carries(loop);
  const Value begin = l_.GetParam(made, 2), end = l_.GetParam(made, 3);
  if (loop.vector)
    vector_loop(loop, begin, end, {});
  else
    scalar_loop(loop, begin, end);
  if (!updates_in_lanes(loop))
    for (auto& carry : loop.carries) {
      const DType dtype = carry.var.dtype();
      const Value reduced = l_.BuildLoad2(builder_, type(dtype), locals_.at(carry.var.payload()), "");
      leave_partial(carry.var.payload(), 0, memory_type(dtype), to_memory(dtype, reduced));
    }
  fence_streams();
  l_.BuildRetVoid(builder_);

  chunk_of_ = nullptr;
  function_ = function;
  entry_ = entry;
  levels_ = std::move(levels);
  data_ = std::move(data);
  nest_ = std::move(nest);
  locals_ = std::move(locals);
  prior_values_ = std::move(earlier);
  kept_.resume(std::move(kept));
  numbers_ = numbers;
  resume(here);
  return made;
}

// Makes the runtime run the loop in chunks: all of it, or as many whole chunks as it has.
Emitter::Chunks Emitter::run_chunks(const program::Loop& loop, Value extent) {
  const Needs needs = needs_of(loop);
  const std::vector<Expr>& known = needs.variables;
  const LLVMTypeRef pointer = l_.PointerTypeInContext(context_, 0), integer = type(DType::Int64);
  const Value work = value(loop.parallel_cost);
  const Value context = words(std::int64_t(known.size()) + 1, "context");
  for (std::size_t i = 0; i < known.size(); ++i)
    l_.BuildStore(builder_, to_memory(known[i].dtype(), value(known[i])), word(context, std::int64_t(i)));
  if (numbers_) l_.BuildStore(builder_, numbers_, word(context, std::int64_t(known.size())));
  const Value chunk = emit_chunk(loop, needs);

  Chunks out;
  out.all = !updates_in_lanes(loop);
  out.partials_of_one = std::move(partials_);
  out.partial_bytes = partial_bytes_;
  const std::int64_t granule = !out.all ? granule_ : loop.vector ? simple_granule : 1;
  const Value home = words(std::max<std::int64_t>(1, out.all ? out.partial_bytes / 8 : 0), "partial"),
              done = words(4, "done");
  LLVMTypeRef types[] = {pointer, pointer, pointer, integer, integer, integer, integer, pointer, integer, pointer};
  Value arguments[] = {l_.GetParam(function_, 0), chunk, context,        extent, work, int64(granule),
                       int64(out.partial_bytes),  home,  int64(out.all), done};
  const LLVMTypeRef run_type = l_.FunctionType(l_.VoidTypeInContext(context_), types, 10, false);
  Value run = l_.GetNamedFunction(module_, "bt_run_in_chunks");
  if (!run) run = l_.AddFunction(module_, "bt_run_in_chunks", run_type);
  l_.BuildCall2(builder_, run_type, run, arguments, 10, "");
  out.partials = l_.BuildLoad2(builder_, pointer, word(done, 0), "partials");
  out.count = l_.BuildLoad2(builder_, integer, word(done, 1), "chunks");
  out.length = l_.BuildLoad2(builder_, integer, word(done, 2), "chunk_length");
  out.done = l_.BuildLoad2(builder_, integer, word(done, 3), "done");
  return out;
}

Emitter::Value Emitter::partial_address(const Chunks& chunks, Value chunk, std::int64_t var, std::size_t copy) {
  const auto found = std::find_if(chunks.partials_of_one.begin(), chunks.partials_of_one.end(),
                                  [&](const Partial& each) { return each.var == var && each.copy == copy; });
  Value offset =
      l_.BuildAdd(builder_, l_.BuildMul(builder_, chunk, int64(chunks.partial_bytes), ""), int64(found->offset), "");
  return l_.BuildGEP2(builder_, l_.Int8TypeInContext(context_), chunks.partials, &offset, 1, "");
}

void Emitter::for_each_chunk(const Chunks& chunks, const std::function<void(Value)>& body) {
  count_up(int64(0), chunks.count, 1, [&](Value chunk, LLVMBasicBlockRef) { body(chunk); });
}

// Combines the partial results of a loop that has run as a whole into its carried values.
void Emitter::combine_partials(const program::Loop& loop, const Chunks& chunks) {
  if (loop.carries.empty()) return;
  for_each_chunk(chunks, [&](Value chunk) {
    for (auto& carry : loop.carries) {
      const DType dtype = carry.var.dtype();
      const Value memory = locals_.at(carry.var.payload());
      const Value before = l_.BuildLoad2(builder_, type(dtype), memory, "");
      const Value left = partial_address(chunks, chunk, carry.var.payload(), 0);
      const Value part = from_memory(dtype, l_.BuildLoad2(builder_, memory_type(dtype), left, ""));
      l_.BuildStore(builder_, combine(carry.combiner, dtype, before, part, false), memory);
    }
  });
}

// Combines partial results into the accumulators of the rest of an innermost loop: all but sums of floats, which have
// an order of their own.
void Emitter::combine_partials(const program::Loop& loop, const Chunks& chunks, int lanes,
                               const std::vector<Accumulators>& accumulators) {
  std::unordered_set<std::int64_t> done;
  std::vector<const program::Update*> updates;
  for (auto& step : loop.body)
    if (auto* update = program::as_update(step); update && done.insert(update->var.payload()).second)
      if (update->combiner != Combiner::add || !is_float(update->var.dtype())) updates.push_back(update);
  if (updates.empty()) return;
  for_each_chunk(chunks, [&](Value chunk) {
    for (auto* update : updates)
      for (std::size_t copy = 0; copy < accumulators.size(); ++copy) {
        const auto part_of = [&](Expr var) {
          const Value left = partial_address(chunks, chunk, var.payload(), copy);
          return l_.BuildLoad2(builder_, type(var.dtype(), lanes), left, "");
        };
        const auto memory_of = [&](Expr var) { return accumulators[copy].at(var.payload()); };
        const DType dtype = update->var.dtype();
        const Value part = part_of(update->var), memory = memory_of(update->var);
        const Value before = l_.BuildLoad2(builder_, type(dtype, lanes), memory, "");
        if (!update->position_var.defined()) {
          l_.BuildStore(builder_, combine(update->combiner, dtype, before, part, false), memory);
          continue;
        }
        const Value taken = more_extreme(*this, update->combiner, dtype, part, before);
        const Value index_memory = memory_of(update->position_var), index_part = part_of(update->position_var);
        const Value index_before = l_.BuildLoad2(builder_, type(DType::Int64, lanes), index_memory, "");
        l_.BuildStore(builder_, l_.BuildSelect(builder_, taken, part, before, ""), memory);
        l_.BuildStore(builder_, l_.BuildSelect(builder_, taken, index_part, index_before, ""), index_memory);
      }
  });
}

}  // namespace bitale::codegen
