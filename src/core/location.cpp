// Interned source locations and the thread's present one.
#include "bitale/core/location.hpp"

#include <mutex>
#include <unordered_set>

#include "bitale/core/text.hpp"

namespace bitale {

namespace {

thread_local Location present;

// The texts live as long as the process: nodes hold bare pointers to them. Never destroyed, since nodes in static
// variables may outlive any static table.
const char* intern(std::string_view text) {
  static auto& mutex = *new std::mutex;
  static auto& table = *new std::unordered_set<std::string>;
  std::lock_guard lock(mutex);
  return table.emplace(text).first->c_str();
}

}  // namespace

Location Location::interned(std::string_view file, std::uint32_t line, std::string_view function) {
  Location where;
  where.file = intern(file);
  where.function = intern(function);
  where.line = line;
  return where;
}

std::string Location::str() const {
  if (!file) return {};
  std::string out = cat(file, ":", line);
  if (function && *function) out += cat(", in `", function, "`");
  return out;
}

Location current_location() { return present; }

LocationScope::LocationScope(const Location& where) : outermost_(!present && where) {
  if (outermost_) present = where;
}

LocationScope::~LocationScope() {
  if (outermost_) present = Location();
}

}  // namespace bitale
