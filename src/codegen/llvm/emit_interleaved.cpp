// Stores of all elements of short rows: lanes along the rows put each store's elements apart, but side by side with
// those of the others. The vectors are interleaved in registers and stored as they lie in memory.
#include <algorithm>
#include <map>

#include "codegen/llvm/emit.hpp"
#include "program/accesses.hpp"
#include "program/index_runs.hpp"

namespace bitale::codegen {

namespace {
constexpr std::int64_t longest_row = 8;  // beyond, more shuffles than a processor has registers for
}  // namespace

// The first `unit` elements of each stream, then the next of each. An even number of streams are interleaved in pairs
// first, since a shuffle takes from two vectors.
std::vector<Emitter::Value> Emitter::interleaved(const std::vector<std::vector<Value>>& streams, std::size_t unit) {
  const std::size_t count = streams.size(), lanes = std::size_t(lanes_->count);
  if (count > 2 && count % 2 == 0) {
    std::vector<std::vector<Value>> pairs;
    for (std::size_t k = 0; k < count; k += 2) pairs.push_back(interleaved({streams[k], streams[k + 1]}, unit));
    return interleaved(pairs, 2 * unit);
  }
  std::vector<Value> out;
  for (std::size_t part = 0; part < count * streams[0].size(); ++part) {
    std::vector<Value> sources(lanes);
    std::vector<std::size_t> from(lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t element = part * lanes + lane, which = element / unit;
      const std::size_t in_stream = which / count * unit + element % unit;
      sources[lane] = streams[which % count][in_stream / lanes];
      from[lane] = in_stream % lanes;
    }
    Value packed = sources[0];
    std::vector<Value> taken;
    for (const Value source : sources) {
      if (std::find(taken.begin(), taken.end(), source) != taken.end()) continue;
      taken.push_back(source);
      if (taken.size() == 1 && std::any_of(sources.begin(), sources.end(), [&](Value v) { return v != source; }))
        continue;  // together with the next
      std::vector<int> picked(lanes);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const bool is_first = taken.size() <= 2 && sources[lane] == taken[0];
        picked[lane] =
            sources[lane] == source && taken.size() > 1 ? int(lanes + from[lane]) : int(is_first ? from[lane] : lane);
      }
      packed = shuffled(packed, source, picked);
    }
    out.push_back(packed);
  }
  return out;
}

// Returns how many steps these are; 0 if the first is no such store.
std::size_t Emitter::emit_interleaved(std::span<const program::Step> steps) {
  const auto* first = lanes_ && !lanes_->mask ? program::as_store(steps[0]) : nullptr;
  if (!first || first->at.empty()) return 0;
  const program::Buffer& buffer = program_.buffers[std::size_t(first->buffer)];
  const std::int64_t length = lane_stride(offset_of(program_, first->buffer, first->at)).value_or(0);
  if (buffer.dtype == DType::Bool || length < 2 || length > longest_row || std::int64_t(steps.size()) < length)
    return 0;
  const auto row_steps = steps.first(std::size_t(length));
  std::map<std::int64_t, const program::Store*> row;  // by position, counted from the first
  for (auto& step : row_steps) {
    const auto* store = program::as_store(step);
    if (!store || store->buffer != first->buffer || program::Accesses(step).reads(first->buffer)) return 0;
    const auto position = program::distance(buffer, first->at, store->at);
    if (!position || !row.emplace(*position, store).second) return 0;
  }
  if (row.rbegin()->first - row.begin()->first != length - 1) return 0;

  std::vector<std::vector<Value>> columns;
  for (auto& [position, store] : row) columns.push_back({to_memory(buffer.dtype, lanes_of(store->value))});
  const program::Store& start = *row.begin()->second;
  const Value begin = start_of(offset_of(program_, start.buffer, start.at));
  std::int64_t at = 0;
  for (const Value packed : interleaved(columns, 1)) {
    const Value where = address(first->buffer, l_.BuildAdd(builder_, begin, int64(at), ""));
    const Value stored = l_.BuildStore(builder_, packed, where);
    l_.SetAlignment(stored, unsigned(itemsize(buffer.dtype)));
    at += lanes_->count;
  }
  for (auto& step : row_steps) forget_overwritten(step);
  return row_steps.size();
}

}  // namespace bitale::codegen
