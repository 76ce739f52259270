// What steps read and write, to tell which of them may change places or be fused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include "program/program.hpp"

namespace bitale::lowering {

struct Effects {
  std::set<std::int64_t> reads, writes, lengths;  // buffers: whose elements, or whose lengths, are read or written
  std::set<std::int64_t> used, defined;           // variables
  bool may_fail = false;

  // With the steps in it.
  void add(const program::Step& step);
  void add(const Effects& other);
};

// Whether the two must keep the order that the program has; `apart` returns whether a buffer does not require it.
template <class Apart>
bool depend(const Effects& a, const Effects& b, Apart&& apart) {
  const auto meet = [](const auto& one, const auto& other, auto&& is_apart) {
    return std::any_of(one.begin(), one.end(), [&](auto id) { return other.contains(id) && !is_apart(id); });
  };
  const auto never = [](std::int64_t) { return false; };
  return meet(a.writes, b.reads, apart) || meet(a.writes, b.writes, apart) || meet(a.reads, b.writes, apart) ||
         meet(a.defined, b.used, never) || meet(a.used, b.defined, never);
}
inline bool depend(const Effects& a, const Effects& b) {
  return depend(a, b, [](std::int64_t) { return false; });
}

}  // namespace bitale::lowering
