// Steps as LLVM IR: straight code at the top, loops inside it.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/llvm/emit.hpp"
#include "codegen/loop_shape.hpp"
#include "runtime/frame.hpp"

namespace bitale::codegen {

using program::Code;

namespace {

constexpr int frame_allocate = 2, frame_host_call = 3;  // fields of runtime::Frame
constexpr std::size_t blocks_of_a_loop = 20;            // take as long to compile as so many expressions
constexpr int pairwise_levels = 60;

}  // namespace

Emitter::Emitter(const program::Program& program, LLVMContextRef context, LLVMModuleRef module,
                 const TargetInfo& target)
    : l_(llvm()),
      program_(program),
      pool_(*program.pool),
      context_(context),
      module_(module),
      builder_(l_.CreateBuilderInContext(context)),
      target_(target),
      length_offsets_(program::length_offsets(program)),
      data_(program.buffers.size(), nullptr) {}

Emitter::~Emitter() { l_.DisposeBuilder(builder_); }

LLVMBasicBlockRef Emitter::block(const char* name) { return l_.AppendBasicBlockInContext(context_, function_, name); }

void Emitter::resume(LLVMBasicBlockRef at) {
  if (Value end = l_.GetBasicBlockTerminator(at))
    l_.PositionBuilderBefore(builder_, end);
  else
    l_.PositionBuilderAtEnd(builder_, at);
}

// An empty function, with the builder in it.
Emitter::Value Emitter::begin_function(const std::string& name, LLVMTypeRef function_type) {
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
  const unsigned nounwind = l_.GetEnumAttributeKindForName("nounwind", 8);
  l_.AddAttributeAtIndex(function_, ~0u, l_.CreateEnumAttribute(context_, nounwind, 0));
  entry_ = block("entry");
  LLVMBasicBlockRef start = block("start");
  l_.PositionBuilderAtEnd(builder_, entry_);
  l_.BuildBr(builder_, start);  // variables' memory goes before this branch
  l_.PositionBuilderAtEnd(builder_, start);
  levels_.emplace_back();
  return function_;
}

void Emitter::emit(const program::Steps& steps) {
  for (auto& step : steps) {
    if (levels_.size() == 1) {
      being_written_.clear();
      level_cache_.clear();
      cut_if_long();
      if (auto* loop = std::get_if<program::Loop>(&step.what)) note_writes(loop->body);
      note_streams(step);
      if (auto* store = std::get_if<program::Store>(&step.what)) make_ready(store->value, true);
      if (auto* accumulate = std::get_if<program::Accumulate>(&step.what)) make_ready(accumulate->value, true);
      if (auto* let = std::get_if<program::Let>(&step.what)) make_ready(let->value, true);
      if (auto* check = std::get_if<program::Check>(&step.what)) make_ready(check->condition, true);
    }
    std::visit([this](auto& s) { emit(s); }, step.what);
    if (levels_.size() == 1) fence_streams();
  }
}

void Emitter::note_writes(const program::Steps& steps) {
  for (auto& step : steps) {
    if (auto* store = std::get_if<program::Store>(&step.what)) being_written_.insert(store->buffer);
    if (auto* accumulate = std::get_if<program::Accumulate>(&step.what)) being_written_.insert(accumulate->buffer);
    if (auto* loop = std::get_if<program::Loop>(&step.what)) note_writes(loop->body);
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

// Lanes may meet at one element: they take turns, as the iterations they stand for would.
void Emitter::scatter_accumulate(const program::Accumulate& step, Value v) {
  const DType dtype = program_.buffers[std::size_t(step.buffer)].dtype;
  const Place place = place_of(step.buffer, step.at);
  const Value offsets = lanes_of(place.row + place.last);
  const auto add_one = [&](Value offset, Value addend) {
    const Value where = address(step.buffer, offset);
    const Value before = from_memory(dtype, l_.BuildLoad2(builder_, memory_type(dtype), where, ""));
    Value after = combine(step.combiner, dtype, before, addend, false);
    if (dtype == DType::Bool) after = l_.BuildZExt(builder_, after, memory_type(dtype), "");
    l_.BuildStore(builder_, after, where);
  };
  if (!lanes_->mask) {
    for (int lane = 0; lane < lanes_->count; ++lane)
      add_one(l_.BuildExtractElement(builder_, offsets, int64(lane), ""),
              l_.BuildExtractElement(builder_, v, int64(lane), ""));
    return;
  }
  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_), header = block("lane"), body = block("scatter"),
                    exit = block("scattered");
  l_.BuildBr(builder_, header);
  l_.PositionBuilderAtEnd(builder_, header);
  Value lane = l_.BuildPhi(builder_, type(DType::Int64), "lane");
  l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntSLT, lane, lanes_->active, ""), body, exit);
  l_.PositionBuilderAtEnd(builder_, body);
  add_one(l_.BuildExtractElement(builder_, offsets, lane, ""), l_.BuildExtractElement(builder_, v, lane, ""));
  Value starts[] = {int64(0), l_.BuildAdd(builder_, lane, int64(1), "")};
  LLVMBasicBlockRef from[] = {before, body};
  l_.AddIncoming(lane, starts, from, 2);
  l_.BuildBr(builder_, header);
  l_.PositionBuilderAtEnd(builder_, exit);
}

void Emitter::emit(const program::Let& step) {
  levels_.back().values[step.var.id()] = value(step.value);
  var_levels_[step.var.payload()] = levels_.size() - 1;
}

void Emitter::emit(const program::Update& step) {
  if (is_running(step.var)) return emit_running(step);
  if (step.place_var) return emit_located(step);
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

Emitter::Value Emitter::local(DType dtype, int lanes, const char* name) {
  LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
  resume(entry_);
  Value memory = l_.BuildAlloca(builder_, type(dtype, lanes), name);
  resume(here);
  return memory;
}

void Emitter::open_level(Expr index, LLVMBasicBlockRef preheader) {
  Level level;
  level.index = index.payload();
  level.preheader = preheader;
  levels_.push_back(std::move(level));
  level_cache_.clear();
}

void Emitter::close_level() {
  levels_.pop_back();
  level_cache_.clear();
}

void Emitter::start_carries(const program::Loop& loop) {
  for (auto& carry : loop.carries) {
    const DType dtype = carry.var.dtype();
    Value& memory = locals_[carry.var.payload()];
    if (!memory) memory = local(dtype, 1, "carried");
    l_.BuildStore(builder_, carry_start(carry), memory);
    if (carry.running) running_.insert(carry.var.payload());
  }
}

void Emitter::emit(const program::Loop& loop) {
  const bool in_chunks = loop.work && levels_.size() == 1;
  if (!in_chunks && (emit_transpose(loop) || emit_row_blocks(loop))) return;
  const Value extent = value(loop.extent);
  built_ += blocks_of_a_loop;
  start_carries(loop);
  const Chunks chunks = in_chunks ? run_chunks(loop, extent) : Chunks();
  if (chunks.all)
    combine_partials(loop, chunks);
  else if (loop.vector)
    vector_loop(loop, chunks ? chunks.done : int64(0), extent, chunks);
  else
    scalar_loop(loop, int64(0), extent);
  for (auto& carry : loop.carries) {
    var_levels_[carry.var.payload()] = levels_.size() - 1;
    // What is known at the top can cross to later parts.
    if (levels_.size() == 1)
      levels_[0].values[carry.var.id()] =
          l_.BuildLoad2(builder_, type(carry.var.dtype()), locals_.at(carry.var.payload()), "");
  }
}

void Emitter::scalar_loop(const program::Loop& loop, Value from_index, Value extent) {
  LLVMBasicBlockRef preheader = block("before"), header = block("loop"), body = block("body"), exit = block("after");
  l_.BuildBr(builder_, preheader);
  l_.PositionBuilderAtEnd(builder_, preheader);
  l_.BuildBr(builder_, header);
  l_.PositionBuilderAtEnd(builder_, header);
  Value index = l_.BuildPhi(builder_, type(DType::Int64), "i");
  Value more = l_.BuildICmp(builder_, LLVMIntSLT, index, extent, "");
  l_.BuildCondBr(builder_, more, body, exit);
  l_.PositionBuilderAtEnd(builder_, body);
  open_level(loop.index, preheader);
  levels_.back().values[loop.index.id()] = index;
  emit(loop.body);
  Value next = l_.BuildAdd(builder_, index, int64(1), "");
  LLVMBasicBlockRef latch = l_.GetInsertBlock(builder_);
  l_.BuildBr(builder_, header);
  Value starts[] = {from_index, next};
  LLVMBasicBlockRef from[] = {preheader, latch};
  l_.AddIncoming(index, starts, from, 2);
  close_level();
  l_.PositionBuilderAtEnd(builder_, exit);
}

// One body in lanes: index values start..start+lanes-1.
void Emitter::emit_lanes(const program::Loop& loop, Lanes& lanes, Value start, Value mask, Accumulators& accumulators) {
  lanes.start = start;
  lanes.mask = mask;
  lanes.accumulators = &accumulators;
  levels_.back().values.clear();
  level_cache_.clear();
  lanes_ = &lanes;
  emit(loop.body);
  lanes_ = nullptr;
}

void Emitter::lanes_loop(const program::Loop& loop, Lanes& lanes, Value from, Value to,
                         std::vector<Accumulators>& accumulators) {
  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_);
  LLVMBasicBlockRef header = block("lanes"), body = block("lanes_body"), exit = block("lanes_after");
  l_.BuildBr(builder_, header);
  l_.PositionBuilderAtEnd(builder_, header);
  Value index = l_.BuildPhi(builder_, type(DType::Int64), "i");
  l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntSLT, index, to, ""), body, exit);
  l_.PositionBuilderAtEnd(builder_, body);
  Value start = index;
  for (auto& each : accumulators) {
    emit_lanes(loop, lanes, start, nullptr, each);
    start = l_.BuildAdd(builder_, start, int64(lanes.count), "");
  }
  LLVMBasicBlockRef latch = l_.GetInsertBlock(builder_);
  l_.BuildBr(builder_, header);
  Value starts[] = {from, start};
  LLVMBasicBlockRef blocks[] = {before, latch};
  l_.AddIncoming(index, starts, blocks, 2);
  l_.PositionBuilderAtEnd(builder_, exit);
}

void Emitter::masked_tail(const program::Loop& loop, Lanes& lanes, Value from, Value extent,
                          Accumulators& accumulators) {
  LLVMBasicBlockRef tail = block("tail"), exit = block("tail_after");
  l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntSLT, from, extent, ""), tail, exit);
  l_.PositionBuilderAtEnd(builder_, tail);
  lanes.active = l_.BuildSub(builder_, extent, from, "");
  Value mask = l_.BuildICmp(builder_, LLVMIntSLT, iota(lanes.count), splat(lanes.active, lanes.count), "mask");
  emit_lanes(loop, lanes, from, mask, accumulators);
  l_.BuildBr(builder_, exit);
  l_.PositionBuilderAtEnd(builder_, exit);
}

// A loop of nothing but masked passes: half the code.
void Emitter::masked_loop(const program::Loop& loop, Lanes& lanes, Value from, Value extent,
                          Accumulators& accumulators) {
  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_);
  LLVMBasicBlockRef header = block("lanes"), body = block("lanes_body"), exit = block("lanes_after");
  l_.BuildBr(builder_, header);
  l_.PositionBuilderAtEnd(builder_, header);
  Value index = l_.BuildPhi(builder_, type(DType::Int64), "i");
  l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntSLT, index, extent, ""), body, exit);
  l_.PositionBuilderAtEnd(builder_, body);
  Value left = l_.BuildSub(builder_, extent, index, ""), count = int64(lanes.count);
  lanes.active = l_.BuildSelect(builder_, l_.BuildICmp(builder_, LLVMIntSLT, left, count, ""), left, count, "");
  Value mask = l_.BuildICmp(builder_, LLVMIntSLT, iota(lanes.count), splat(lanes.active, lanes.count), "mask");
  emit_lanes(loop, lanes, index, mask, accumulators);
  Value starts[] = {from, l_.BuildAdd(builder_, index, count, "")};
  LLVMBasicBlockRef blocks[] = {before, l_.GetInsertBlock(builder_)};
  l_.BuildBr(builder_, header);
  l_.AddIncoming(index, starts, blocks, 2);
  l_.PositionBuilderAtEnd(builder_, exit);
}

void Emitter::vector_loop(const program::Loop& loop, Value from, Value extent, const Chunks& chunks) {
  const LoopShape shape = shape_of(loop, running_, target_.vector_bytes);
  Lanes lanes;
  lanes.ahead = loop.ahead;
  lanes.count = shape.lanes;
  const bool short_loop = shape.short_loop;
  const int unroll = shape.unroll;

  LLVMBasicBlockRef preheader = block("before");
  LLVMBasicBlockRef start = block("vector");
  l_.BuildBr(builder_, preheader);
  l_.PositionBuilderAtEnd(builder_, preheader);
  l_.BuildBr(builder_, start);
  l_.PositionBuilderAtEnd(builder_, start);
  open_level(loop.index, preheader);

  std::vector<Accumulators> accumulators{std::size_t(unroll)};
  for (auto& step : loop.body)
    if (auto* update = std::get_if<program::Update>(&step.what); update && !is_running(update->var))
      for (auto& each : accumulators) {
        const auto start = [&](Expr var, program::Combiner combiner) {
          Value& memory = each[var.payload()];
          if (memory) return;
          memory = local(var.dtype(), lanes.count, "accumulator");
          l_.BuildStore(builder_, identity(combiner, var.dtype(), lanes.count), memory);
        };
        start(update->var, update->combiner);
        if (update->place_var) start(update->place_var, program::Combiner::add);
      }

  if (is_huge() && !shape.updates && !chunks && chunk_of_ != &loop) {
    masked_loop(loop, lanes, from, extent, accumulators[0]);
    return close_level();
  }
  if (chunks) combine_partials(loop, chunks, lanes.count, accumulators);
  const auto run_whole = [&](int step, std::vector<Accumulators>& used) {
    Value rest = l_.BuildAnd(builder_, extent, int64(step - 1), "");
    Value to = l_.BuildSub(builder_, extent, rest, "");
    const std::int64_t block = step * pairwise_block;
    granule_ = 2 * block;
    if (&used == &accumulators && shape.pairwise)
      pairwise_loop(loop, lanes, from, to, block, used, chunks);
    else
      lanes_loop(loop, lanes, from, to, used);
    from = to;
  };
  Value head = nullptr;
  const Value streams = short_loop ? nullptr : may_stream(loop, lanes, from, extent, head);
  LLVMBasicBlockRef streamed = nullptr, streaming_end = nullptr;
  Value streamed_to = nullptr;
  if (streams) {
    LLVMBasicBlockRef streaming = block("streaming"), usual = block("usual");
    streamed = block("streamed");
    l_.BuildCondBr(builder_, streams, streaming, usual);
    l_.PositionBuilderAtEnd(builder_, streaming);
    masked_tail(loop, lanes, from, head, accumulators[0]);
    Value rest = l_.BuildAnd(builder_, l_.BuildSub(builder_, extent, head, ""), int64(lanes.count - 1), "");
    streamed_to = l_.BuildSub(builder_, extent, rest, "");
    lanes.streams = true;
    lanes_loop(loop, lanes, head, streamed_to, accumulators);
    lanes.streams = false;
    streaming_end = l_.GetInsertBlock(builder_);
    l_.BuildBr(builder_, streamed);
    l_.PositionBuilderAtEnd(builder_, usual);
  }
  if (!short_loop) {
    run_whole(unroll * lanes.count, accumulators);
    if (chunk_of_ == &loop && shape.updates) {  // there is no rest
      leave_accumulators(loop, lanes.count, accumulators);
      return close_level();
    }
    std::vector<Accumulators> first{accumulators[0]};
    if (unroll > 1) run_whole(lanes.count, first);
  }
  if (streams) {
    Value reached[] = {streamed_to, from};
    LLVMBasicBlockRef by[] = {streaming_end, l_.GetInsertBlock(builder_)};
    l_.BuildBr(builder_, streamed);
    l_.PositionBuilderAtEnd(builder_, streamed);
    from = l_.BuildPhi(builder_, type(DType::Int64), "from");
    l_.AddIncoming(from, reached, by, 2);
  }
  const bool exact = !streams && loop.extent.is_constant() && loop.extent.payload() % lanes.count == 0;
  if (!exact || short_loop) masked_tail(loop, lanes, from, extent, accumulators[0]);
  reduce_lanes(loop, lanes.count, accumulators);
  close_level();
}

// lanes_loop, in which sums of floats stay accurate however long it is: every `block` elements, the
// accumulators' sum goes to a stack, where two sums of equally many elements make one of the next level (Higham, "The
// accuracy of floating point summation", 1993: errors grow with the logarithm of the length). What a single block sums
// stays in the accumulators. A chunk is 2^k blocks: its sum is that of a branch, and goes to the stack at level k.
void Emitter::pairwise_loop(const program::Loop& loop, Lanes& lanes, Value start_from, Value to,
                            std::int64_t block_length, std::vector<Accumulators>& accumulators, const Chunks& chunks) {
  struct Sum {
    Expr var;
    LLVMTypeRef kind;
    Value stack, total = nullptr;
  };
  std::vector<Sum> sums;
  for (auto& step : loop.body)
    if (auto* update = std::get_if<program::Update>(&step.what);
        update && !is_running(update->var) && is_float_sum(*update)) {
      if (std::any_of(sums.begin(), sums.end(), [&](const Sum& s) { return s.var == update->var; })) continue;
      LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
      resume(entry_);
      const LLVMTypeRef kind = type(update->var.dtype(), lanes.count);
      sums.push_back({update->var, kind, l_.BuildArrayAlloca(builder_, kind, int64(pairwise_levels), "sums")});
      resume(here);
    }
  const auto entry_of = [&](const Sum& sum, Value level) {
    return l_.BuildGEP2(builder_, sum.kind, sum.stack, &level, 1, "");
  };
  const auto phi = [&](LLVMTypeRef kind, const char* name) { return l_.BuildPhi(builder_, kind, name); };
  const auto connect = [&](Value phi_node, Value a, LLVMBasicBlockRef from_a, Value b, LLVMBasicBlockRef from_b) {
    Value values[] = {a, b};
    LLVMBasicBlockRef blocks[] = {from_a, from_b};
    l_.AddIncoming(phi_node, values, blocks, 2);
  };
  const LLVMTypeRef word = type(DType::Int64);
  // The sums' totals go to the stack at this level: those of its bits that are set say which levels are taken.
  const auto push = [&](Value first_level, Value first_bits) {
    LLVMBasicBlockRef here = l_.GetInsertBlock(builder_), carry = block("carry"), carrying = block("carrying"),
                      carried = block("carried");
    l_.BuildBr(builder_, carry);
    l_.PositionBuilderAtEnd(builder_, carry);
    Value level = phi(word, "level"), bits = phi(word, "bits");
    std::vector<Value> totals;
    for (auto& sum : sums) totals.push_back(phi(sum.kind, "total"));
    Value is_odd = l_.BuildICmp(builder_, LLVMIntNE, l_.BuildAnd(builder_, bits, int64(1), ""), int64(0), "");
    l_.BuildCondBr(builder_, is_odd, carrying, carried);
    l_.PositionBuilderAtEnd(builder_, carrying);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      Value other = l_.BuildLoad2(builder_, sums[k].kind, entry_of(sums[k], level), "");
      connect(totals[k], sums[k].total, here, l_.BuildFAdd(builder_, totals[k], other, ""), carrying);
    }
    connect(level, first_level, here, l_.BuildAdd(builder_, level, int64(1), ""), carrying);
    connect(bits, first_bits, here, l_.BuildLShr(builder_, bits, int64(1), ""), carrying);
    l_.BuildBr(builder_, carry);
    l_.PositionBuilderAtEnd(builder_, carried);
    for (std::size_t k = 0; k < sums.size(); ++k) l_.BuildStore(builder_, totals[k], entry_of(sums[k], level));
  };
  const auto lowest_bit = [&](Value v) {
    return intrinsic("llvm.cttz", {word}, {v, l_.ConstInt(l_.Int1TypeInContext(context_), 0, false)});
  };
  const auto blocks_in = [&](Value length) { return l_.BuildUDiv(builder_, length, int64(block_length), ""); };

  if (chunks)
    for_each_chunk(chunks, [&](Value chunk) {
      for (auto& sum : sums) {
        const Value left = partial_address(chunks, chunk, sum.var.payload(), 0);
        sum.total = l_.BuildLoad2(builder_, sum.kind, left, "");
      }
      push(lowest_bit(blocks_in(chunks.length)), chunk);
    });
  const Value start_count = chunks ? blocks_in(start_from) : int64(0);

  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_), header = block("blocks"), body = block("block"),
                    done = block("block_done"), finish = block("sum_up"), exit = block("summed");
  l_.BuildBr(builder_, header);

  l_.PositionBuilderAtEnd(builder_, header);
  Value from = phi(word, "from"), count = phi(word, "count");
  l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntSLT, from, to, ""), body, finish);

  l_.PositionBuilderAtEnd(builder_, body);
  Value full = l_.BuildAdd(builder_, from, int64(block_length), "");
  Value is_last = l_.BuildICmp(builder_, LLVMIntSGE, full, to, "");
  Value end = l_.BuildSelect(builder_, is_last, to, full, "");
  lanes_loop(loop, lanes, from, end, accumulators);
  Value only = l_.BuildAnd(builder_, is_last, l_.BuildICmp(builder_, LLVMIntEQ, count, int64(0), ""), "");
  l_.BuildCondBr(builder_, only, exit, done);

  l_.PositionBuilderAtEnd(builder_, done);
  for (auto& sum : sums) {
    const DType dtype = sum.var.dtype();
    std::vector<Value> parts;
    for (auto& each : accumulators) {
      const Value memory = each.at(sum.var.payload());
      parts.push_back(l_.BuildLoad2(builder_, sum.kind, memory, ""));
      l_.BuildStore(builder_, identity(program::Combiner::add, dtype, lanes.count), memory);
    }
    for (; parts.size() > 1; parts.resize(parts.size() / 2))
      for (std::size_t i = 0; i < parts.size() / 2; ++i)
        parts[i] = l_.BuildFAdd(builder_, parts[i], parts[i + parts.size() / 2], "");
    sum.total = parts[0];
  }
  push(int64(0), count);
  LLVMBasicBlockRef pushed = l_.GetInsertBlock(builder_);
  connect(from, start_from, before, end, pushed);
  connect(count, start_count, before, l_.BuildAdd(builder_, count, int64(1), ""), pushed);
  l_.BuildBr(builder_, header);

  l_.PositionBuilderAtEnd(builder_, finish);
  if (chunk_of_ == &loop) {  // the branch's sum is all there is
    const Value level = lowest_bit(count);
    for (auto& sum : sums)
      l_.BuildStore(builder_, l_.BuildLoad2(builder_, sum.kind, entry_of(sum, level), ""),
                    accumulators[0].at(sum.var.payload()));
    l_.BuildBr(builder_, exit);
    l_.PositionBuilderAtEnd(builder_, exit);
    return;
  }
  // What is on the stack, small sums first, back into the first accumulator.
  LLVMBasicBlockRef next = block("sum_next"), adding = block("adding");
  l_.BuildBr(builder_, next);
  l_.PositionBuilderAtEnd(builder_, next);
  Value at = phi(word, "level"), left = phi(word, "bits");
  l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntNE, left, int64(0), ""), adding, exit);
  l_.PositionBuilderAtEnd(builder_, adding);
  Value is_there = l_.BuildICmp(builder_, LLVMIntNE, l_.BuildAnd(builder_, left, int64(1), ""), int64(0), "");
  for (auto& sum : sums) {
    const Value memory = accumulators[0].at(sum.var.payload());
    Value so_far = l_.BuildLoad2(builder_, sum.kind, memory, "");
    Value more = l_.BuildFAdd(builder_, so_far, l_.BuildLoad2(builder_, sum.kind, entry_of(sum, at), ""), "");
    l_.BuildStore(builder_, l_.BuildSelect(builder_, is_there, more, so_far, ""), memory);
  }
  connect(at, int64(0), finish, l_.BuildAdd(builder_, at, int64(1), ""), adding);
  connect(left, count, finish, l_.BuildLShr(builder_, left, int64(1), ""), adding);
  l_.BuildBr(builder_, next);
  l_.PositionBuilderAtEnd(builder_, exit);
}

// Lanes to one value, halving: the sum of the lanes is pairwise.
void Emitter::reduce_lanes(const program::Loop& loop, int count, std::vector<Accumulators>& accumulators) {
  std::unordered_set<std::int64_t> done;
  for (auto& step : loop.body) {
    auto* update = std::get_if<program::Update>(&step.what);
    if (!update || is_running(update->var) || !done.insert(update->var.payload()).second) continue;
    if (update->place_var) {
      reduce_located(*update, count, accumulators);
      continue;
    }
    const DType dtype = update->var.dtype();
    std::vector<Value> parts;
    for (auto& each : accumulators)
      parts.push_back(l_.BuildLoad2(builder_, type(dtype, count), each.at(update->var.payload()), ""));
    while (parts.size() > 1) {
      for (std::size_t i = 0; i < parts.size() / 2; ++i)
        parts[i] = combine(update->combiner, dtype, parts[i], parts[i + parts.size() / 2], true);
      parts.resize(parts.size() / 2);
    }
    Value v = parts[0];
    for (int width = count; width > 1; width /= 2) {
      const Value a = some_lanes(v, 0, width / 2), b = some_lanes(v, width / 2, width / 2);
      v = combine(update->combiner, dtype, a, b, true);
    }
    const Value memory = locals_.at(update->var.payload());
    const Value before = l_.BuildLoad2(builder_, type(dtype), memory, "");
    l_.BuildStore(builder_, combine(update->combiner, dtype, before, v, true), memory);
  }
}

// ---- steps at the top -----------------------------------------------------------------------------------------------

void Emitter::fail_unless(Value ok, Value code) {
  LLVMBasicBlockRef fail = block("fail"), go_on = block("go_on");
  l_.BuildCondBr(builder_, ok, go_on, fail);
  l_.PositionBuilderAtEnd(builder_, fail);
  l_.BuildRet(builder_, code);
  l_.PositionBuilderAtEnd(builder_, go_on);
}

// Calls a function of the Frame; when it fails, so does this call.
void Emitter::ask_host(int field, std::int64_t argument) {
  LLVMTypeRef types[] = {l_.PointerTypeInContext(context_, 0), type(DType::Int64)};
  LLVMTypeRef status = l_.Int32TypeInContext(context_);
  Value arguments[] = {l_.GetParam(function_, 0), int64(argument)};
  Value result =
      l_.BuildCall2(builder_, l_.FunctionType(status, types, 2, false), frame_field(field), arguments, 2, "");
  fail_unless(l_.BuildICmp(builder_, LLVMIntEQ, result, l_.ConstNull(status), ""), result);
}

void Emitter::emit(const program::Check& step) {
  fail_unless(value(step.condition),
              l_.ConstInt(l_.Int32TypeInContext(context_), std::uint64_t(step.check + 1), false));
}

void Emitter::emit(const program::Allocate& step) {
  const program::Buffer& buffer = program_.buffers[std::size_t(step.buffer)];
  for (int axis = 0; axis < buffer.ndim(); ++axis)
    l_.BuildStore(builder_, value(buffer.shape[std::size_t(axis)]), length_address(step.buffer, axis));
  if (buffer.on_stack) return place_on_stack(step.buffer);
  if (!target_.memory_is_given) ask_host(frame_allocate, step.buffer);
  load_data(step.buffer);
}

void Emitter::emit(const program::HostCall& step) {
  ask_host(frame_host_call, step.callback);
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
      types.push_back(l_.PointerTypeInContext(context_, 0));
      arguments.push_back(data(std::get<program::BufferArgument>(argument).buffer));
    }
  }
  LLVMTypeRef function_type =
      l_.FunctionType(l_.VoidTypeInContext(context_), types.data(), unsigned(types.size()), false);
  l_.BuildCall2(builder_, function_type, declare(l_, module_, step.function.c_str(), function_type), arguments.data(),
                unsigned(arguments.size()), "");
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
