// Definitions are the texts of the table of runtime functions.
#include "codegen/c/runtime.hpp"

#include <string_view>

#include "bitale/core/text.hpp"

namespace bitale::codegen::c {

namespace {

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(what, at);
    out += text.substr(at, found - at);
    if (found == text.npos) return out;
    out += by;
    at = found + what.size();
  }
}

std::string renamed(std::string_view name, std::string_view type, std::string_view other) {
  return cat("static ", type, " ", name, "(", type, " x) { return (", type, ")", other, "(x); }\n");
}

}  // namespace

std::string portable_definition(const runtime::RuntimeFunction& function) {
  if (!function.c_text.empty()) {
    std::string text(function.c_text);
    for (auto& [what, by] : function.with) text = replaced(text, what, by);
    return text;
  }
  if (!function.same_as.empty()) return renamed(function.name, "double", function.same_as);
  if (!function.widened_from.empty()) return renamed(function.name, "float", function.widened_from);
  return {};
}

}  // namespace bitale::codegen::c
