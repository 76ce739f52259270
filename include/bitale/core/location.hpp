// Where the user wrote something: file, line and function. The outermost LocationScope wins, so that an expression
// built by a library function points at the line that called the library.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace bitale {

struct Location {
  const char* file = nullptr;  // static or interned
  const char* function = nullptr;
  std::uint32_t line = 0;

  Location() = default;
  Location(const std::source_location& where)
      : file(where.file_name()), function(where.function_name()), line(where.line()) {}
  // Copies the texts into a table that lives as long as the process.
  static Location interned(std::string_view file, std::uint32_t line, std::string_view function);

  explicit operator bool() const { return file != nullptr; }
  std::string str() const;  // "model.py:12, in `predict`"; "" when unknown
};

// The location that nodes made now carry (thread-local).
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
