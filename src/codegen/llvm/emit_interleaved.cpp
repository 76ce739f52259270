// Stores of all elements of short rows: lanes along the rows put each store's elements apart, but side by side with
// those of the others. The vectors are interleaved in registers and stored as they lie in memory.
#include <algorithm>

#include "codegen/llvm/emit.hpp"
#include "program/accesses.hpp"

namespace bitale::codegen {

namespace {

constexpr std::int64_t longest_row = 8;  // beyond, more shuffles than a processor has registers for

using program::Store;

// The trailing indices of a store that are constants, as one position in a row, and the length of such a row.
struct Place {
  std::size_t axes = 0;  // before the row
  std::int64_t position = 0, length = 1;
};

std::optional<Place> place_in_row(const program::Buffer& buffer, const Store& store) {
  Place out{store.at.size(), 0, 1};
  for (; out.axes > 0 && store.at[out.axes - 1].is_constant(); --out.axes) {
    const program::Expr length = buffer.shape[out.axes - 1];
    if (!length.is_constant() || out.length > longest_row) return {};
    out.position += store.at[out.axes - 1].payload() * out.length;
    out.length *= length.payload();
  }
  if (out.axes == 0 || out.length < 2 || out.length > longest_row) return {};
  return out;
}

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
  if (!first) return 0;
  const program::Buffer& buffer = program_.buffers[std::size_t(first->buffer)];
  const auto row = buffer.dtype == DType::Bool ? std::nullopt : place_in_row(buffer, *first);
  if (!row || steps.size() < std::size_t(row->length)) return 0;
  const auto length = std::size_t(row->length);
  const Store* start = nullptr;
  std::vector<const Store*> stores(length);
  for (auto& step : steps.first(length)) {
    const auto* store = program::as_store(step);
    if (!store || store->buffer != first->buffer) return 0;
    const auto place = place_in_row(buffer, *store);
    if (!place || place->axes != row->axes || stores[std::size_t(place->position)] ||
        !std::equal(first->at.begin(), first->at.begin() + std::ptrdiff_t(row->axes), store->at.begin()))
      return 0;
    stores[std::size_t(place->position)] = store;
    if (place->position == 0) start = store;
    if (program::Accesses(step).reads(first->buffer)) return 0;
  }
  const Element element = element_at(start->buffer, start->at);
  const program::Expr offset = element.row + element.last;
  if (lane_stride(offset) != row->length) return 0;

  std::vector<std::vector<Value>> columns;
  for (auto* store : stores) columns.push_back({to_memory(buffer.dtype, lanes_of(store->value))});
  const Value begin = start_of(offset);
  std::int64_t at = 0;
  for (const Value packed : interleaved(columns, 1)) {
    const Value where = address(first->buffer, l_.BuildAdd(builder_, begin, int64(at), ""));
    const Value stored = l_.BuildStore(builder_, packed, where);
    l_.SetAlignment(stored, unsigned(itemsize(buffer.dtype)));
    at += lanes_->count;
  }
  for (auto& step : steps.first(length)) forget_overwritten(step);
  return length;
}

}  // namespace bitale::codegen
