// The names that options have in texts: in Python, in attributes of ops and in errors. An enumerator has one name, and
// perhaps another one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

template <class E>
struct OptionName {
  E value;
  std::string_view name, other = {};
};

// An array of OptionName<E>, for each enumeration that has names.
template <class E>
inline constexpr int option_names = 0;

template <class E>
std::string option_name(E value) {
  for (const auto& each : option_names<E>)
    if (each.value == value) return std::string(each.name);
  throw InternalError("an option has a value without a name");
}

// ValueError that lists the names: "pad: expected mode "constant" or "edge", got "x"".
template <class E>
E option_named(std::string_view text, std::string_view who) {
  std::vector<std::string> known;
  for (const auto& each : option_names<E>) {
    if (text == each.name || (text == each.other && !text.empty())) return each.value;
    known.push_back(cat('"', each.name, '"'));
  }
  const std::string last = known.back();
  known.pop_back();
  throw ValueError(cat(who, " ", join(known, ", "), " or ", last, ", got \"", text, "\""));
}

}  // namespace bitale
