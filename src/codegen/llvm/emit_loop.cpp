// Loops as LLVM IR: scalar loops, and loops in lanes with a masked pass for the rest.
#include <cstddef>

#include "codegen/llvm/emit.hpp"
#include "codegen/schedule.hpp"
#include "program/lane_order.hpp"
#include "program/steps.hpp"
#include "runtime/frame.hpp"

namespace bitale::codegen {

namespace {

constexpr std::size_t large_body = 400;  // expressions: larger bodies are emitted once, in masked passes

bool reduces_in_any_order(const program::Loop& loop, const std::unordered_set<std::int64_t>& prefixes) {
  return std::any_of(loop.body.begin(), loop.body.end(), [&](const program::Step& step) {
    auto* update = program::as_update(step);
    return update && !prefixes.contains(update->var.payload());
  });
}

}  // namespace

void Emitter::open_level(Expr index, LLVMBasicBlockRef preheader) {
  nest_.open(index);
  levels_.push_back({index, preheader, {}});
}

void Emitter::close_level() {
  nest_.close();
  levels_.pop_back();
}

void Emitter::begin_iteration(Value index, std::size_t levels_out) {
  const std::size_t at = levels_.size() - 1 - levels_out;
  for (std::size_t k = at; k < levels_.size(); ++k) levels_[k].values.clear();
  if (lanes_) lanes_->splats.clear();
  levels_[at].values[levels_[at].index.id()] = index;
}

void Emitter::start_carries(const program::Loop& loop) {
  for (auto& carry : loop.carries) {
    const DType dtype = carry.var.dtype();
    Value& memory = locals_[carry.var.payload()];
    if (!memory) memory = local(dtype, 1, "carried");
    l_.BuildStore(builder_, carry.init.defined() ? value(carry.init) : carry_start(carry), memory);
    if (carry.kind == program::CarryKind::prefix) prefixes_.insert(carry.var.payload());
  }
}

void Emitter::emit(const program::Loop& loop) {
  if (call_outlined(loop)) return;
  const bool in_chunks = loop.parallel_cost.defined() && levels_.size() == 1;
  if (!in_chunks)
    for (auto& strategy : loop_strategies_)
      if (strategy->emit(*this, loop)) return;
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
    nest_.define(carry.var);
    // Values known at the top level can be spilled for later parts.
    if (levels_.size() == 1)
      levels_[0].values[carry.var.id()] =
          l_.BuildLoad2(builder_, type(carry.var.dtype()), locals_.at(carry.var.payload()), "");
  }
}

// Ends the call between two iterations if the host requests it; not in functions that do only a part of the call, nor
// in exported code.
void Emitter::poll(const program::Loop& loop, Value index) {
  if (target_.memory_is_given || chunk_of_ || numbers_) return;
  const std::int64_t interval = poll_interval(loop, levels_.size() == 1);
  if (interval == 0) return;
  const Value phase = l_.BuildAnd(builder_, index, int64(interval - 1), "");
  LLVMBasicBlockRef asking = block("poll"), after = block("polled");
  mark_unlikely(
      l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntEQ, phase, int64(interval - 1), ""), asking, after));
  l_.PositionBuilderAtEnd(builder_, asking);
  call_host(offsetof(runtime::Frame, poll) / sizeof(void*), {});
  l_.BuildBr(builder_, after);
  l_.PositionBuilderAtEnd(builder_, after);
}

void Emitter::scalar_loop(const program::Loop& loop, Value from, Value extent) {
  Value stops = nullptr;
  const auto body = [&](Value index, LLVMBasicBlockRef before) {
    open_level(loop.index, before);
    levels_.back().values[loop.index.id()] = index;
    // The values of states in this iteration, which stay the same when the next ones are stored.
    for (auto& carry : loop.carries) {
      if (!carry.is_state()) continue;
      nest_.define(carry.var);
      levels_.back().values[carry.var.id()] =
          l_.BuildLoad2(builder_, type(carry.var.dtype()), locals_.at(carry.var.payload()), "state");
    }
    emit(loop.body);
    if (loop.until.defined()) stops = value(loop.until);
    close_level();
    poll(loop, index);
  };
  count_up(from, extent, 1, body, loop.until.defined() ? &stops : nullptr);
}

Emitter::Value Emitter::emit_two_bodies(const program::Loop& loop, Value is_general, const char* name,
                                        const std::function<void()>& specialise) {
  LLVMBasicBlockRef general = block(name), special = block("special"), after = block("joined");
  const Value branch = l_.BuildCondBr(builder_, is_general, general, special);
  const auto known = levels_.back().values;
  l_.PositionBuilderAtEnd(builder_, general);
  emit(loop.body);
  l_.BuildBr(builder_, after);
  levels_.back().values.clear();
  for (auto& [id, value] : known) keep(levels_.size() - 1, Expr(&pool_, id), value);
  l_.PositionBuilderAtEnd(builder_, special);
  lanes_->is_special = true;
  specialise();
  emit(loop.body);
  lanes_->is_special = false;
  l_.BuildBr(builder_, after);
  l_.PositionBuilderAtEnd(builder_, after);
  return branch;
}

// Emits the body once in lanes, with index values start..start+lanes-1.
void Emitter::emit_lanes(const program::Loop& loop, Lanes& lanes, Value start, Value mask, Accumulators& accumulators) {
  lanes.start = start;
  lanes.mask = mask;
  lanes.accumulators = &accumulators;
  levels_.back().values.clear();
  lanes_ = &lanes;
  if (mask || !lanes.strategy || !lanes.strategy->emit_body(*this, loop)) emit(loop.body);
  lanes_ = nullptr;
}

// Emits the body once for each group of accumulators; returns the index after the last of them.
Emitter::Value Emitter::lanes_pass(const program::Loop& loop, Lanes& lanes, Value start,
                                   std::vector<Accumulators>& accumulators) {
  for (auto& each : accumulators) {
    emit_lanes(loop, lanes, start, nullptr, each);
    start = l_.BuildAdd(builder_, start, int64(lanes.count), "");
  }
  return start;
}

void Emitter::lanes_loop(const program::Loop& loop, Lanes& lanes, Value from, Value to,
                         std::vector<Accumulators>& accumulators) {
  const std::int64_t step = std::int64_t(accumulators.size()) * lanes.count;
  count_up(from, to, step, [&](Value start, LLVMBasicBlockRef) { lanes_pass(loop, lanes, start, accumulators); });
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

// A loop that consists of masked passes only, which halves the code.
void Emitter::masked_loop(const program::Loop& loop, Lanes& lanes, Value from, Value extent,
                          Accumulators& accumulators) {
  count_up(from, extent, lanes.count, [&](Value index, LLVMBasicBlockRef) {
    Value left = l_.BuildSub(builder_, extent, index, ""), count = int64(lanes.count);
    lanes.active = l_.BuildSelect(builder_, l_.BuildICmp(builder_, LLVMIntSLT, left, count, ""), left, count, "");
    Value mask = l_.BuildICmp(builder_, LLVMIntSLT, iota(lanes.count), splat(lanes.active, lanes.count), "mask");
    emit_lanes(loop, lanes, index, mask, accumulators);
  });
}

std::vector<Emitter::Accumulators> Emitter::make_accumulators(const program::Loop& loop, int lanes, int copies) {
  std::vector<Accumulators> accumulators{std::size_t(copies)};
  const auto start = [&](Accumulators& each, Expr var, program::Combiner combiner) {
    Value& memory = each[var.payload()];
    if (memory) return;
    memory = local(var.dtype(), lanes, "accumulator");
    l_.BuildStore(builder_, start_of_lanes(combiner, var.dtype(), lanes), memory);
  };
  for (auto& step : loop.body)
    if (auto* update = program::as_update(step); update && !is_prefix(update->var))
      for (auto& each : accumulators) {
        if (update->position_var.defined() &&
            &each != &accumulators[0]) {  // an extreme and its index are shared by all
          for (const Expr var : {update->var, update->position_var})
            each[var.payload()] = accumulators[0][var.payload()];
          continue;
        }
        start(each, update->var, update->combiner);
        if (update->position_var.defined()) start(each, update->position_var, program::Combiner::add);
      }
  return accumulators;
}

// Where `streams` holds, emits passes with non-temporal stores, else the usual ones. Both return the index that comes
// next.
Emitter::Value Emitter::stream_or(Value streams, const std::function<Value()>& streaming,
                                  const std::function<Value()>& usual) {
  if (!streams) return usual();
  LLVMBasicBlockRef blocks[] = {block("streaming"), block("usual")}, after = block("streamed"), ends[2];
  l_.BuildCondBr(builder_, streams, blocks[0], blocks[1]);
  Value reached[2];
  for (int side = 0; side < 2; ++side) {
    l_.PositionBuilderAtEnd(builder_, blocks[side]);
    reached[side] = side == 0 ? streaming() : usual();
    ends[side] = l_.GetInsertBlock(builder_);
    l_.BuildBr(builder_, after);
  }
  l_.PositionBuilderAtEnd(builder_, after);
  const Value from = l_.BuildPhi(builder_, type(DType::Int64), "from");
  l_.AddIncoming(from, reached, ends, 2);
  return from;
}

void Emitter::vector_loop(const program::Loop& loop, Value from, Value extent, const Chunks& chunks) {
  const program::Schedule& schedule = loop.schedule;
  Lanes lanes;
  lanes.prefetch_distance = loop.prefetch_distance;
  lanes.count = schedule.lanes;
  lanes.loop = &loop;
  lanes.strategy = index_runs(program_, loop);
  const bool has_runs = lanes.strategy != nullptr;
  if (!has_runs) lanes.strategy = checked_indices();
  const bool short_loop = schedule.single_pass, reduces = reduces_in_any_order(loop, prefixes_);
  const int unroll = schedule.accumulators;

  LLVMBasicBlockRef preheader = block("before");
  LLVMBasicBlockRef start = block("vector");
  l_.BuildBr(builder_, preheader);
  l_.PositionBuilderAtEnd(builder_, preheader);
  l_.BuildBr(builder_, start);
  l_.PositionBuilderAtEnd(builder_, start);
  open_level(loop.index, preheader);

  std::vector<Accumulators> accumulators = make_accumulators(loop, lanes.count, unroll);
  const bool is_large = is_huge() || program::lane_body(loop, prefixes_).size > large_body;
  if (is_large && !reduces && !has_runs && !chunks && chunk_of_ != &loop) {
    masked_loop(loop, lanes, from, extent, accumulators[0]);
    return close_level();
  }
  if (chunks) combine_partials(loop, chunks, lanes.count, accumulators);
  const bool is_whole = !chunks && chunk_of_ != &loop;
  std::int64_t done = 0;  // iterations so far, where the extent is a constant
  const auto run_whole = [&](int step, std::vector<Accumulators>& used) {
    if (is_whole && loop.extent.is_constant()) {
      const std::int64_t passes = (loop.extent.payload() - done) / step;
      if (passes <= schedule.straight_passes) {
        for (std::int64_t pass = 0; pass < passes; ++pass) from = lanes_pass(loop, lanes, from, used);
        done += passes * step;
        return;
      }
      done += passes * step;
    }
    Value rest = l_.BuildAnd(builder_, extent, int64(step - 1), "");
    Value to = l_.BuildSub(builder_, extent, rest, "");
    const std::int64_t block = step * pairwise_block;
    granule_ = 2 * block;
    if (&used == &accumulators && schedule.pairwise)
      pairwise_loop(loop, lanes, from, to, block, used, chunks);
    else
      lanes_loop(loop, lanes, from, to, used);
    from = to;
  };
  Value head = nullptr;
  const Value streams = may_stream(loop, lanes, from, extent, head);
  const auto streaming = [&] {
    masked_tail(loop, lanes, from, head, accumulators[0]);
    Value rest = l_.BuildAnd(builder_, l_.BuildSub(builder_, extent, head, ""), int64(lanes.count - 1), "");
    Value to = l_.BuildSub(builder_, extent, rest, "");
    lanes.streamed = &schedule.streamed;
    lanes_loop(loop, lanes, head, to, accumulators);
    lanes.streamed = nullptr;
    end_stream();
    return to;
  };
  const bool is_all = !short_loop && chunk_of_ == &loop && reduces;  // a chunk has no rest
  if (!short_loop)
    from = stream_or(streams, streaming, [&] {
      run_whole(unroll * lanes.count, accumulators);
      std::vector<Accumulators> first{accumulators[0]};
      if (unroll > 1 && !is_all) run_whole(lanes.count, first);
      return from;
    });
  if (is_all) {
    leave_accumulators(loop, lanes.count, accumulators);
    return close_level();
  }
  const bool exact = !streams && loop.extent.is_constant() && loop.extent.payload() % lanes.count == 0;
  if (!exact || short_loop) masked_tail(loop, lanes, from, extent, accumulators[0]);
  reduce_lanes(loop, lanes.count, accumulators);
  close_level();
}

// Reduces the lanes to one value by halving: their sum is pairwise.
void Emitter::reduce_lanes(const program::Loop& loop, int count, std::vector<Accumulators>& accumulators) {
  std::unordered_set<std::int64_t> done;
  for (auto& step : loop.body) {
    auto* update = program::as_update(step);
    if (!update || is_prefix(update->var) || !done.insert(update->var.payload()).second) continue;
    if (update->position_var.defined()) {
      combine_arg_reduce(*update, count, accumulators);
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

LoopStrategies loop_strategies() {
  LoopStrategies all;
  all.push_back(transposing_copies());
  all.push_back(row_blocks());
  return all;
}

}  // namespace bitale::codegen
