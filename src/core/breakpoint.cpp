// The handler of breakpoints.
#include "bitale/core/breakpoint.hpp"

#include <cstdio>
#include <utility>

#include "bitale/core/text.hpp"
#include "core/handler.hpp"

namespace bitale {

namespace {

Handler<BreakHandler>& handler() {
  static auto& held = *new Handler<BreakHandler>;
  return held;
}

}  // namespace

void set_break_handler(BreakHandler function) { handler().set(std::move(function)); }

void break_here(std::string_view why, std::span<Array> values) {
  if (const auto function = handler().get()) return (*function)(why, values);
  std::string text = cat("bitale: ", why, "; set_break_handler() changes what happens here\n");
  for (auto& value : values) text += cat("  ", value.repr(), "\n");
  std::fputs(text.c_str(), stderr);
}

}  // namespace bitale
