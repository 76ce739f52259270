// Non-temporal stores: a result that is not read again in the call, written by a loop that moves more than the caches
// hold, is stored past the caches, which saves reading each line before it is overwritten. The schedule tells which
// loops may do so; whether one does is decided when it starts, by the bytes that it moves (Frame::stream_from) and by
// alignment: a masked pass leads up to the first whole cache line. The results have the same bits.
#include <algorithm>
#include <cstddef>

#include "codegen/llvm/emit.hpp"
#include "codegen/schedule.hpp"
#include "program/steps.hpp"
#include "runtime/frame.hpp"

namespace bitale::codegen {

namespace {

constexpr std::int64_t frame_stream_from = offsetof(runtime::Frame, stream_from) / sizeof(std::int64_t);

}  // namespace

// Whether the loop streams from `from` on, as an i1; null: it never does. `head`: where its first whole cache line
// begins.
Emitter::Value Emitter::may_stream(const program::Loop& loop, Lanes& lanes, Value from, Value extent, Value& head) {
  const std::vector<std::int64_t>& streamed = loop.schedule.streamed;
  if (streamed.empty()) return nullptr;
  std::vector<const program::Store*> stores;
  for (auto& step : loop.body)
    if (auto* store = program::as_store(step); std::ranges::count(streamed, store->buffer)) stores.push_back(store);
  lanes.start = from;
  lanes_ = &lanes;
  Value yes = nullptr, ahead = nullptr;
  for (auto* store : stores) {
    if (!in_order(store->buffer, store->at)) {
      yes = nullptr;
      break;
    }
    const Element element = element_at(store->buffer, store->at);
    const auto size_of_element = std::int64_t(itemsize(program_.buffers[std::size_t(store->buffer)].dtype));
    const Value past_line = int64(lanes.count * size_of_element - 1);
    const Value begin = l_.BuildPtrToInt(
        builder_, address(store->buffer, l_.BuildAdd(builder_, value(element.row), start_of(element.last), "")),
        type(DType::Int64), "");
    if (!yes) {
      Value bytes = l_.BuildAnd(builder_, l_.BuildNeg(builder_, begin, ""), past_line, "");
      ahead = l_.BuildUDiv(builder_, bytes, int64(size_of_element), "");
      head = l_.BuildAdd(builder_, from, ahead, "");
      const Value line = l_.BuildAdd(builder_, head, int64(lanes.count), "");
      yes = l_.BuildICmp(builder_, LLVMIntSLE, line, extent, "");
    }
    const Value line = l_.BuildAdd(builder_, begin, l_.BuildMul(builder_, ahead, int64(size_of_element), ""), "");
    const Value off = l_.BuildAnd(builder_, line, past_line, "");
    yes = l_.BuildAnd(builder_, yes, l_.BuildICmp(builder_, LLVMIntEQ, off, int64(0), ""), "");
  }
  lanes_ = nullptr;
  if (!yes) return nullptr;
  Value slot = int64(frame_stream_from);
  const Value field = l_.BuildGEP2(builder_, type(DType::Int64), l_.GetParam(function_, 0), &slot, 1, "");
  const Value min_bytes = l_.BuildLoad2(builder_, type(DType::Int64), field, "");
  return l_.BuildAnd(builder_, yes,
                     l_.BuildICmp(builder_, LLVMIntSGE, value(bytes_moved(program_, *top_step_)), min_bytes, ""), "");
}

// Makes a store non-temporal, where the current pass of whole vectors streams its buffer.
void Emitter::mark_streamed(std::int64_t buffer, Value store) {
  if (!lanes_ || !lanes_->streamed || !std::ranges::count(*lanes_->streamed, buffer)) return;
  const auto bytes = std::size_t(lanes_->count) * itemsize(program_.buffers[std::size_t(buffer)].dtype);
  l_.SetAlignment(store, unsigned(bytes));
  constexpr std::string_view name = "nontemporal";
  LLVMMetadataRef one = l_.ValueAsMetadata(l_.ConstInt(l_.Int32TypeInContext(context_), 1, false));
  LLVMMetadataRef node = l_.MDNodeInContext2(context_, &one, 1);
  l_.SetMetadata(store, l_.GetMDKindIDInContext(context_, name.data(), unsigned(name.size())),
                 l_.MetadataAsValue(context_, node));
}

// Streamed stores are ordered before anything that signals that the call, or a part of it, is done. Only x86 needs a
// fence for that: elsewhere the release of a result orders them, too. A top-level loop issues it only where it has
// streamed, because a fence delays the code after it; nested loops leave it to the outermost.
void Emitter::end_stream() {
  if (levels_.size() > 2)
    streams_ = true;
  else
    fence();
}
void Emitter::fence_streams() {
  if (streams_) fence();
}

}  // namespace bitale::codegen
