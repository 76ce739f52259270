// The handler of warnings, which a language binding may replace.
#include "bitale/core/warning.hpp"

#include <cstdio>
#include <utility>

#include "core/handler.hpp"

namespace bitale {

namespace {

using WarningHandler = std::function<void(const std::string&)>;

Handler<WarningHandler>& warning_handler() {
  static auto& held = *new Handler<WarningHandler>;  // never destroyed: static variables may warn in their destructors
  return held;
}

}  // namespace

void warn(const std::string& message) {
  if (const auto function = warning_handler().get())
    (*function)(message);
  else
    std::fprintf(stderr, "bitale: warning: %s\n", message.c_str());
}

void set_warning_handler(WarningHandler function) { warning_handler().set(std::move(function)); }

}  // namespace bitale
