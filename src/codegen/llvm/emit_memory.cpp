// Elements in memory: their addresses, and loads, stores and accumulations of one element, of neighbouring lanes, or of
// scattered lanes.
#include <algorithm>

#include "codegen/llvm/emit.hpp"
#include "program/accesses.hpp"
#include "program/hoisted_load.hpp"
#include "program/index_runs.hpp"

namespace bitale::codegen {

using program::Code;

namespace {
constexpr std::int64_t max_neighbours = 4;  // loads, for lanes that far apart; beyond that, each lane has its own
}

void Emitter::load_data(std::int64_t buffer) {
  LLVMTypeRef pointer = l_.PointerTypeInContext(context_, 0);
  Value slot = int64(buffer);
  if (numbers_) {
    const LLVMTypeRef narrow = type(DType::Int32);
    const Value number = l_.BuildGEP2(builder_, narrow, numbers_, &slot, 1, "");
    slot = l_.BuildZExt(builder_, l_.BuildLoad2(builder_, narrow, number, ""), type(DType::Int64), "");
  }
  Value address = l_.BuildGEP2(builder_, pointer, frame_field(0), &slot, 1, "");
  Value& known = data_[std::size_t(buffer)].value;
  if (!known) known_data_.push_back(buffer);
  known = l_.BuildLoad2(builder_, pointer, address, program_.buffers[std::size_t(buffer)].name.c_str());
}

void Emitter::allocate_on_stack(std::int64_t buffer) {
  constexpr unsigned cache_line = 64;
  LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
  resume(entry_);
  const std::int64_t bytes = *program::constant_bytes(program_.buffers[std::size_t(buffer)]);
  Value memory = l_.BuildArrayAlloca(builder_, type(DType::Int8), int64(std::max<std::int64_t>(bytes, 1)), "stack");
  l_.SetAlignment(memory, cache_line);
  resume(here);
  Value slot = int64(buffer);
  l_.BuildStore(builder_, memory,
                l_.BuildGEP2(builder_, l_.PointerTypeInContext(context_, 0), frame_field(0), &slot, 1, ""));
  Value& known = data_[std::size_t(buffer)].value;
  if (!known) known_data_.push_back(buffer);
  known = memory;
  on_stack_.push_back({memory, bytes});
}

Emitter::Value Emitter::length_address(std::int64_t buffer, int axis) {
  Value slot = int64(length_offsets_[std::size_t(buffer)] + axis);
  return l_.BuildGEP2(builder_, type(DType::Int64), frame_field(1), &slot, 1, "");
}

// The address of a buffer that existed before the current part is loaded at the beginning of the part.
Emitter::Value Emitter::data(std::int64_t buffer) {
  const Address& known = data_[std::size_t(buffer)];
  if (!known.value) {
    LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
    resume(known.since ? known.since : entry_);
    load_data(buffer);
    resume(here);
  }
  return known.value;
}

// Row-major: the row's offset is an expression of its own, so that it is computed once per row.
Emitter::Element Emitter::element_at(std::int64_t buffer, std::span<const Expr> at) {
  if (at.empty()) return {};
  return {row_offset_of(program_, buffer, at), at.back()};
}

std::optional<std::int64_t> Emitter::lane_stride(Expr offset) {
  return program::stride(offset, [&](Expr expr) { return varies(expr); });
}

bool Emitter::in_order(std::int64_t buffer, std::span<const Expr> at) {
  const Element element = element_at(buffer, at);
  return !varies(element.row) && lane_stride(element.last) == 1;
}

Emitter::Value Emitter::start_of(Expr expr) {
  if (!varies(expr)) return value(expr);
  if (expr.code() == Code::index) return lanes_->start;
  const Value a = start_of(expr.argument(0)), b = start_of(expr.argument(1));
  if (expr.code() == Code::mul) return l_.BuildMul(builder_, a, b, "");
  return expr.code() == Code::add ? l_.BuildAdd(builder_, a, b, "") : l_.BuildSub(builder_, a, b, "");
}

Emitter::Value Emitter::address(std::int64_t buffer, Value offset) {
  const DType dtype = program_.buffers[std::size_t(buffer)].dtype;
  return l_.BuildGEP2(builder_, memory_type(dtype), data(buffer), &offset, 1, "");
}

Emitter::Value Emitter::load_neighbours(DType dtype, Value address, Value mask) {
  LLVMTypeRef lanes = memory_type(dtype, lanes_->count);
  if (mask)
    return masked_intrinsic("llvm.masked.load", {lanes, l_.PointerTypeInContext(context_, 0)},
                            {address, mask, l_.ConstNull(lanes)}, 0, dtype);
  Value v = l_.BuildLoad2(builder_, lanes, address, "");
  l_.SetAlignment(v, unsigned(itemsize(dtype)));
  return v;
}

void Emitter::store_lanes(std::int64_t buffer, Value address, Value v) {
  const DType dtype = program_.buffers[std::size_t(buffer)].dtype;
  v = to_memory(dtype, v);
  if (lanes_->mask) {
    masked_intrinsic("llvm.masked.store", {l_.TypeOf(v), l_.PointerTypeInContext(context_, 0)},
                     {v, address, lanes_->mask}, 1, dtype);
    return;
  }
  const Value stored = l_.BuildStore(builder_, v, address);
  l_.SetAlignment(stored, unsigned(itemsize(dtype)));
  mark_streamed(buffer, stored);
}

Emitter::Value Emitter::addresses(DType dtype, std::int64_t buffer, Value offsets) {
  return l_.BuildGEP2(builder_, memory_type(dtype), data(buffer), &offsets, 1, "");
}

Emitter::Value Emitter::load_each_lane(DType dtype, std::int64_t buffer, const std::function<Value(int)>& offset_of) {
  Value elements = l_.GetPoison(memory_type(dtype, lanes_->count));
  for (int lane = 0; lane < lanes_->count; ++lane) {
    const Value where = address(buffer, offset_of(lane));
    const Value element = l_.BuildLoad2(builder_, memory_type(dtype), where, "");
    elements = l_.BuildInsertElement(builder_, elements, element, int64(lane), "");
  }
  return from_memory(dtype, elements);
}

Emitter::Value Emitter::gather(DType dtype, std::int64_t buffer, Value offsets) {
  if (target_.slow_gathers && !lanes_->mask)
    return load_each_lane(dtype, buffer, [&](int lane) { return some_lanes(offsets, lane, 1); });
  LLVMTypeRef lanes = memory_type(dtype, lanes_->count);
  LLVMTypeRef pointers = l_.VectorType(l_.PointerTypeInContext(context_, 0), unsigned(lanes_->count));
  Value mask = lanes_->mask ? lanes_->mask : full_mask(lanes_->count);
  return from_memory(dtype, masked_intrinsic("llvm.masked.gather", {lanes, pointers},
                                             {addresses(dtype, buffer, offsets), mask, l_.ConstNull(lanes)}, 0, dtype));
}

void Emitter::scatter(DType dtype, std::int64_t buffer, Value offsets, Value v) {
  v = to_memory(dtype, v);
  LLVMTypeRef pointers = l_.VectorType(l_.PointerTypeInContext(context_, 0), unsigned(lanes_->count));
  Value mask = lanes_->mask ? lanes_->mask : full_mask(lanes_->count);
  masked_intrinsic("llvm.masked.scatter", {l_.TypeOf(v), pointers}, {v, addresses(dtype, buffer, offsets), mask}, 1,
                   dtype);
}

Emitter::Value Emitter::load_strided(DType dtype, std::int64_t buffer, Value start, int stride) {
  const int count = lanes_->count, step = std::abs(stride), reach = step * (count - 1);
  const Value lowest = stride > 0 ? start : l_.BuildSub(builder_, start, int64(reach), "");
  const auto element_of = [&](int lane) { return step * (stride > 0 ? lane : count - 1 - lane); };
  std::vector<int> reversed;
  for (int lane = 0; lane < count; ++lane) reversed.push_back(count - 1 - lane);
  const Value mask = lanes_->mask ? shuffled(lanes_->mask, lanes_->mask, reversed) : nullptr;  // then the stride is -1
  Value lanes = nullptr;
  for (int part = 0; part < step; ++part) {
    const int first = part + 1 < step ? part * count : reach - (count - 1);
    const Value where = address(buffer, l_.BuildAdd(builder_, lowest, int64(first), ""));
    const Value loaded = load_neighbours(dtype, where, mask);
    std::vector<int> picked;
    for (int lane = 0; lane < count; ++lane) {
      const int element = element_of(lane);
      const bool is_here = std::min(element / count, step - 1) == part;
      picked.push_back(is_here ? count + element - first : lane);
    }
    lanes = shuffled(lanes ? lanes : loaded, loaded, picked);
  }
  return from_memory(dtype, lanes);
}

Emitter::Value Emitter::load(std::int64_t buffer, std::span<const Expr> at, bool in_lanes) {
  const DType dtype = program_.buffers[std::size_t(buffer)].dtype;
  const auto scalar = [&](Value where) {
    return from_memory(dtype, l_.BuildLoad2(builder_, memory_type(dtype), where, ""));
  };
  if (at.empty()) {
    const Value v = scalar(data(buffer));
    return in_lanes ? splat(v, lanes_->count) : v;
  }
  const Element element = element_at(buffer, at);
  if (!in_lanes) {
    const Value where = address(buffer, value(element.row + element.last));
    return scalar(hoisting_ ? hoisted_address(buffer, at, where) : where);
  }
  const auto stride = varies(element.row) ? std::nullopt : lane_stride(element.last);
  if (stride == 1) {
    const Value offset = l_.BuildAdd(builder_, value(element.row), start_of(element.last), "");
    if (lanes_->prefetch_distance && !lanes_->mask &&
        program_.buffers[std::size_t(buffer)].role != program::Role::temporary)
      prefetch(
          address(buffer, l_.BuildAdd(builder_, offset, int64(lanes_->prefetch_distance + lanes_->count - 1), "")));
    return from_memory(dtype, load_neighbours(dtype, address(buffer, offset), lanes_->mask));
  }
  const Expr offset = element.row + element.last;
  if (!varies(offset)) return splat(scalar(address(buffer, value(offset))), lanes_->count);
  if (stride && *stride != 0 && std::abs(*stride) <= max_neighbours && (!lanes_->mask || *stride == -1))
    return load_strided(dtype, buffer, l_.BuildAdd(builder_, value(element.row), start_of(element.last), ""),
                        int(*stride));
  if (lanes_->is_special)
    if (const Value loaded = lanes_->strategy->load(*this, buffer, offset)) return loaded;
  return gather(dtype, buffer, value(offset));
}

// A load that is hoisted out of the loop that uses it, if its element may not exist: then the frame is read instead,
// and the value is not used.
Emitter::Value Emitter::hoisted_address(std::int64_t buffer, std::span<const Expr> at, Value address) {
  Value is_inside = nullptr;
  for (auto [index, length] : program::bounds_of_hoisted_load(program_, buffer, at)) {
    const Value holds = l_.BuildICmp(builder_, LLVMIntULT, value(index), value(length), "");
    is_inside = is_inside ? l_.BuildAnd(builder_, is_inside, holds, "") : holds;
  }
  return is_inside ? l_.BuildSelect(builder_, is_inside, address, l_.GetParam(function_, 0), "") : address;
}

void Emitter::store(std::int64_t buffer, std::span<const Expr> at, Value v) {
  const DType dtype = program_.buffers[std::size_t(buffer)].dtype;
  if (!lanes_) {
    const Element element = element_at(buffer, at);
    Value where = at.empty() ? data(buffer) : address(buffer, value(element.row + element.last));
    l_.BuildStore(builder_, to_memory(dtype, v), where);
    return;
  }
  const Element element = element_at(buffer, at);
  if (in_order(buffer, at))
    return store_lanes(buffer, address(buffer, l_.BuildAdd(builder_, value(element.row), start_of(element.last), "")),
                       v);
  scatter(dtype, buffer, lanes_of(element.row + element.last), v);
}

// Several lanes may hit one element, so they are added sequentially, as their iterations would be, in masked passes
// too.
void Emitter::scatter_accumulate(const program::Accumulate& step, Value v) {
  const DType dtype = program_.buffers[std::size_t(step.buffer)].dtype;
  const Element element = element_at(step.buffer, step.at);
  const Expr offset = element.row + element.last;
  const Value offsets = lanes_of(offset);
  const auto add_one = [&](Value at, Value addend) {
    const Value where = address(step.buffer, at);
    const Value before = from_memory(dtype, l_.BuildLoad2(builder_, memory_type(dtype), where, ""));
    Value after = combine(step.combiner, dtype, before, addend, false);
    if (dtype == DType::Bool) after = l_.BuildZExt(builder_, after, memory_type(dtype), "");
    l_.BuildStore(builder_, after, where);
  };
  if (lanes_->mask)
    return count_up(int64(0), lanes_->active, 1, [&](Value lane, LLVMBasicBlockRef) {
      add_one(l_.BuildExtractElement(builder_, offsets, lane, ""), l_.BuildExtractElement(builder_, v, lane, ""));
    });
  if (lanes_->is_special && lanes_->strategy->accumulate(*this, step, offset, v)) return;
  for (int lane = 0; lane < lanes_->count; ++lane) add_one(some_lanes(offsets, lane, 1), some_lanes(v, lane, 1));
}

bool LanesStrategy::accumulate(Emitter&, const program::Accumulate&, program::Expr, Value) { return false; }

Emitter::Value Emitter::build_load(Expr load_expr) {
  return load(load_expr.payload(), program::arguments_of(load_expr), varies(load_expr));
}

}  // namespace bitale::codegen
