// Where the user wrote something: file, line and function, and the chain of callers as far as it is recorded. The
// outermost LocationScope wins, so that an expression built by a library function points at the line that called the
// library.
#pragma once

#include "bitale/core/language.hpp"

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace bitale {

struct Location {
  const char* file = nullptr;  // static or interned
  const char* function = nullptr;
  std::uint32_t line = 0;
  std::uint32_t caller = 0;  // a number in a table that lives as long as the process; 0: unknown

  Location() = default;
  Location(const std::source_location& where)
      : file(where.file_name()), function(where.function_name()), line(where.line()) {}
  // Copies the texts into a table that lives as long as the process.
  static Location interned(std::string_view file, std::uint32_t line, std::string_view function);

  // The same location, reached through a call at `line`.
  Location called_from(const Location& line) const;
  // A location that records nothing. As a scope it keeps inner locations from being recorded.
  static Location unnoted();

  explicit operator bool() const { return file && *file; }
  std::string str() const;                // "model.py:12, in `predict`"; "" when unknown
  std::vector<Location> callers() const;  // the nearest first
  // The same, with a line "called at train.py:3" for each caller.
  std::string str_with_callers() const;
};

// The location that nodes created now carry (thread-local).
Location current_location();

class LocationScope {
 public:
  explicit LocationScope(const Location& where);
  ~LocationScope();
  LocationScope(const LocationScope&) = delete;
  LocationScope& operator=(const LocationScope&) = delete;

 private:
  bool outermost_;
};

}  // namespace bitale
