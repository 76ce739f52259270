// Interned source locations and the current one of each thread. Callers form a tree, of which a location stores one
// node: many lines have the same callers, and a location is kept small.
#include "bitale/core/location.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_set>

#include "bitale/core/text.hpp"
#include "core/call_scope.hpp"

namespace bitale {

namespace {

thread_local Location present;

// The texts live as long as the process: nodes hold raw pointers to them. Never destroyed, since nodes in static
// variables may outlive any static table.
const char* intern(std::string_view text) {
  static auto& mutex = *new std::mutex;
  static auto& table = *new std::unordered_set<std::string>;
  std::lock_guard lock(mutex);
  return table.emplace(text).first->c_str();
}

class CallerTree {
 public:
  std::uint32_t number_of(const Location& line) {
    std::lock_guard lock(mutex_);
    const auto [it, is_new] = numbers_.try_emplace({line.file, line.function, line.line, line.caller}, 0);
    if (is_new) {
      lines_.push_back(line);
      it->second = std::uint32_t(lines_.size());
    }
    return it->second;
  }
  Location line(std::uint32_t number) {
    std::lock_guard lock(mutex_);
    return lines_[number - 1];
  }

 private:
  using Key = std::tuple<const char*, const char*, std::uint32_t, std::uint32_t>;
  std::mutex mutex_;
  std::map<Key, std::uint32_t> numbers_;
  std::deque<Location> lines_;
};

CallerTree& caller_tree() {
  static auto& tree = *new CallerTree;
  return tree;
}

// The function of a CallScope is the nearest caller, and has no file.
const char* called_function(const Location& where) {
  const Location nearest = where.caller ? caller_tree().line(where.caller) : Location();
  return nearest ? nullptr : nearest.function;
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
  if (!*this) return {};
  std::string out = cat(file, ":", line);
  if (function && *function) out += cat(", in `", function, "`");
  return out;
}

Location Location::called_from(const Location& line) const {
  Location out = *this;
  out.caller = line ? caller_tree().number_of(line) : 0;
  return out;
}

Location Location::unnoted() {
  Location out;
  out.file = "";
  return out;
}

std::vector<Location> Location::callers() const {
  std::vector<Location> out;
  for (std::uint32_t at = caller; at;) {
    const Location line = caller_tree().line(at);
    if (line) out.push_back(line);
    at = line.caller;
  }
  return out;
}

std::string Location::str_with_callers() const {
  std::string out = str();
  if (const char* const function = called_function(*this)) out += cat(", by `", function, "`");
  for (auto& line : callers()) out += cat("\ncalled at ", line.str());
  return out;
}

Location current_location() { return present; }

LocationScope::LocationScope(const Location& where) : outermost_(!present.file && where.file) {
  if (outermost_) present = where;
}

LocationScope::~LocationScope() {
  if (outermost_) present = Location();
}

CallScope::CallScope(const char* function) : before_(present) {
  if (!function || !present || called_function(present)) return;
  Location call;
  call.function = function;
  call.caller = present.caller;
  present.caller = caller_tree().number_of(call);
}

CallScope::~CallScope() { present = before_; }

}  // namespace bitale
