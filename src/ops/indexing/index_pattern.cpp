#include "ops/indexing/index_pattern.hpp"

#include <algorithm>
#include <utility>

namespace bitale {

IndexPattern::IndexPattern(std::vector<DimIndex> dims) : dims_(std::move(dims)) {
  while (!dims_.empty() && dims_.back().is_full()) dims_.pop_back();
}

int IndexPattern::input_count() const {
  int count = 0;
  for (auto& dim : dims_) count += dim.input_count();
  return count;
}

int IndexPattern::dropped_count() const {
  int count = 0;
  for (auto& dim : dims_) count += dim.integer;
  return count;
}

IndexPattern IndexPattern::behind(int count) const {
  std::vector<DimIndex> dims(std::size_t(count), DimIndex{});
  dims.insert(dims.end(), dims_.begin(), dims_.end());
  return IndexPattern(std::move(dims));
}

std::string IndexPattern::text() const {
  static constexpr std::string_view letters = "ijklmnopqrstuvwxyz";
  std::string out;
  std::size_t integers = 0;
  for (auto& dim : dims_) {
    if (!out.empty()) out += ", ";
    if (dim.integer) {
      out += integers < letters.size() ? std::string(1, letters[integers]) : "i" + std::to_string(integers);
      ++integers;
      continue;
    }
    if (dim.start) out += "start";
    out += ":";
    if (dim.stop) out += "stop";
    if (dim.step) out += ":step";
  }
  return out;
}

IndexPattern IndexPattern::parse(std::string_view text) {
  std::vector<DimIndex> dims;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(", "), text.size());
    const std::string_view entry = text.substr(0, end);
    const bool is_slice = entry.find(':') != entry.npos;
    dims.push_back(
        {!is_slice, entry.starts_with("start:"), entry.find(":stop") != entry.npos, entry.ends_with(":step")});
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return IndexPattern(std::move(dims));
}

bool from_attribute(const AttributeValue& value, IndexPattern& out) {
  auto* text = std::get_if<std::string>(&value);
  if (!text) return false;
  out = IndexPattern::parse(*text);
  return out.text() == *text;
}

std::string IndexPattern::text(std::span<const std::string> values) const {
  std::string out;
  std::size_t next = 0;
  for (auto& dim : dims_) {
    if (!out.empty()) out += ", ";
    if (dim.integer || dim.start) out += values[next++];
    if (dim.integer) continue;
    out += ":";
    if (dim.stop) out += values[next++];
    if (dim.step) out += ":" + values[next++];
  }
  return out.empty() ? ":" : out;
}

}  // namespace bitale
