// Non-temporal stores: a result that nobody reads again in the call, written by a loop that moves more than the caches
// hold, goes past them, which saves reading each line before it is overwritten. Which loops may is known here; whether
// one does is decided when it starts, by the bytes it moves (Frame::stream_from) and by alignment: a masked pass leads
// up to the first whole cache line. The results are the same bits.
#include <algorithm>
#include <cstddef>

#include "codegen/llvm/emit.hpp"
#include "program/steps.hpp"
#include "runtime/frame.hpp"

namespace bitale::codegen {

using program::Code;
using program::Reach;

namespace {

constexpr std::size_t small_body = 32;  // expressions: larger loops wait for their arithmetic, and double their code
constexpr int shortest_store = 16;      // bytes
constexpr std::int64_t least_traffic = 1 << 16;  // bytes: known to be less, a loop is not worth the choice
constexpr std::int64_t frame_stream_from = offsetof(runtime::Frame, stream_from) / sizeof(std::int64_t);

// What a step reads, and what it writes. Memory that others are handed, and what is added to, counts as read: it had
// better stay in the caches.
struct Accesses {
  std::unordered_set<std::int64_t> read, written;
  program::ExprWalk walk;

  void note(const program::Step& step) {
    program::for_each_expr_within(step, [&](const program::Expr& root) {
      walk(root, [&](program::Expr expr) {
        if (expr.code() == Code::load) read.insert(expr.payload());
      });
    });
    program::for_each_access_within(step, [&](const program::Access& access) {
      const bool is_handed = access.reach == Reach::by_call || access.reach == Reach::by_host;
      (is_handed || access.reads() ? read : written).insert(access.buffer);
    });
  }
};

// Buffers that a step stores to at places that don't depend on each of the loops around: it writes them repeatedly.
void note_repeated(const program::Step& step, std::vector<program::Expr>& indices,
                   std::unordered_set<std::int64_t>& repeated) {
  program::for_each_access(step, [&](const program::Access& access) {
    if (!access.at || access.reads()) return;
    std::size_t found = 0;
    program::ExprWalk walk;
    for (auto& at : *access.at)
      walk(at, [&](program::Expr expr) { found += std::find(indices.begin(), indices.end(), expr) != indices.end(); });
    if (found < indices.size()) repeated.insert(access.buffer);
  });
  const auto* loop = std::get_if<program::Loop>(&step.what);
  if (loop) indices.push_back(loop->index);
  program::for_each_body(step, [&](const program::Steps& body) {
    for (auto& inner : body) note_repeated(inner, indices, repeated);
  });
  if (loop) indices.pop_back();
}

}  // namespace

const std::unordered_set<std::int64_t>& Emitter::read_anywhere() {
  if (!read_anywhere_) {
    Accesses all;
    for (auto& step : program_.steps) all.note(step);
    read_anywhere_ = std::move(all.read);
  }
  return *read_anywhere_;
}

// What the top-level step `step` may stream, and the bytes it moves.
void Emitter::note_streams(const program::Step& step) {
  streamed_.clear();
  streams_ = false;
  if (!std::holds_alternative<program::Loop>(step.what)) return;
  Accesses here;
  here.note(step);
  std::unordered_set<std::int64_t> repeated;
  std::vector<Expr> indices;
  note_repeated(step, indices, repeated);
  for (auto buffer : here.written)
    if (program_.buffers[std::size_t(buffer)].role == program::Role::output && !read_anywhere().count(buffer) &&
        !repeated.count(buffer))
      streamed_.insert(buffer);
  if (streamed_.empty()) return;
  std::vector<std::int64_t> touched(here.written.begin(), here.written.end());
  for (auto buffer : here.read)
    if (!here.written.count(buffer)) touched.push_back(buffer);
  std::sort(touched.begin(), touched.end());
  traffic_ = pool_.integer(0);
  for (auto id : touched) {
    const program::Buffer& buffer = program_.buffers[std::size_t(id)];
    Expr bytes = pool_.integer(std::int64_t(itemsize(buffer.dtype)));
    for (auto& length : buffer.shape) bytes = bytes * length;
    traffic_ = traffic_ + bytes;
  }
  program::ExprWalk()(traffic_, [&](Expr expr) {  // chunks of the loop know lengths, but not what was computed before
    if (expr.code() == Code::var && !numbers_) streamed_.clear();
  });
}

// Whether the loop streams from `from` on, as an i1, and where its first whole cache line begins; null: it never does.
Emitter::Value Emitter::may_stream(const program::Loop& loop, Lanes& lanes, Value from, Value extent, Value& head) {
  if (streamed_.empty() || !loop.carries.empty()) return nullptr;
  program::ExprWalk walk;
  std::size_t size = 0;
  std::vector<const program::Store*> stores;
  for (auto& step : loop.body) {
    auto* store = std::get_if<program::Store>(&step.what);
    if (!store) return nullptr;
    walk(store->value, [&](Expr) { ++size; });
    const auto bytes = std::size_t(lanes.count) * itemsize(program_.buffers[std::size_t(store->buffer)].dtype);
    if (streamed_.count(store->buffer) && bytes >= shortest_store) stores.push_back(store);
  }
  if (stores.empty() || size > small_body) return nullptr;
  if (traffic_.is_constant() && traffic_.payload() < least_traffic) return nullptr;
  lanes.start = from;
  lanes_ = &lanes;
  Value yes = nullptr, ahead = nullptr;
  for (auto* store : stores) {
    if (!in_order(store->buffer, store->at)) {
      yes = nullptr;
      break;
    }
    const Place place = place_of(store->buffer, store->at);
    const auto size_of_element = std::int64_t(itemsize(program_.buffers[std::size_t(store->buffer)].dtype));
    const Value past_line = int64(lanes.count * size_of_element - 1);
    const Value begin = l_.BuildPtrToInt(
        builder_, address(store->buffer, l_.BuildAdd(builder_, value(place.row), start_of(place.last), "")),
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
  Value place = int64(frame_stream_from);
  const Value field = l_.BuildGEP2(builder_, type(DType::Int64), l_.GetParam(function_, 0), &place, 1, "");
  const Value least = l_.BuildLoad2(builder_, type(DType::Int64), field, "");
  return l_.BuildAnd(builder_, yes, l_.BuildICmp(builder_, LLVMIntSGE, value(traffic_), least, ""), "");
}

// A store past the caches, where it is one of a whole vector.
void Emitter::mark_streamed(std::int64_t buffer, Value store) {
  if (!lanes_ || !lanes_->streams || !streamed_.count(buffer)) return;
  const auto bytes = std::size_t(lanes_->count) * itemsize(program_.buffers[std::size_t(buffer)].dtype);
  if (bytes < shortest_store) return;
  l_.SetAlignment(store, unsigned(bytes));
  constexpr std::string_view name = "nontemporal";
  LLVMMetadataRef one = l_.ValueAsMetadata(l_.ConstInt(l_.Int32TypeInContext(context_), 1, false));
  LLVMMetadataRef node = l_.MDNodeInContext2(context_, &one, 1);
  l_.SetMetadata(store, l_.GetMDKindIDInContext(context_, name.data(), unsigned(name.size())),
                 l_.MetadataAsValue(context_, node));
}

// Streamed stores are ordered before whatever tells others that the call, or a part of it, is done. Only on x86 do they
// need that: elsewhere what releases a result orders them, too. A loop at the top does it where it has streamed, for a
// fence holds up what comes after it; loops in loops leave it to the outermost.
void Emitter::end_stream() {
  if (levels_.size() > 2)
    streams_ = true;
  else
    fence();
}
void Emitter::fence_streams() {
  if (streams_) fence();
}
void Emitter::fence() {
  if (target_.is_x86) intrinsic("llvm.x86.sse.sfence", {}, {});
}

}  // namespace bitale::codegen
