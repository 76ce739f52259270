#include "codegen/c/spelling.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::codegen::c {

std::string_view value_type(DType dtype) { return dtype == DType::Bool ? "bool" : element_type(dtype); }

std::string_view element_type(DType dtype) {
  const std::string_view name = dtype_record(dtype).c;
  return name.empty() ? throw NotImplementedError(cat("C code for ", dtype_name(dtype))) : name;
}

std::string_view unsigned_type(DType dtype) { return itemsize(dtype) == 8 ? "uint64_t" : "uint32_t"; }

namespace {

template <class T>
std::string float_text(T value, std::string_view suffix) {
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text + std::string(suffix);
}

template <class T, class Bits>
std::string float_constant(Bits bits, std::string_view suffix) {
  const T value = std::bit_cast<T>(bits);
  if (!std::isnan(value)) return float_text(value, suffix);
  return std::signbit(value) ? "-NAN" : "NAN";
}

template <class T>
std::string integer_text(T value) {
  if constexpr (std::is_unsigned_v<T>) {
    if (sizeof(T) == 8 && value > std::numeric_limits<std::uint32_t>::max()) return cat("UINT64_C(", value, ")");
    return cat(std::uint64_t(value), sizeof(T) < 4 ? "" : "u");
  } else {
    if (sizeof(T) >= 4 && value == std::numeric_limits<T>::min()) return cat("INT", 8 * sizeof(T), "_MIN");
    if (value > std::numeric_limits<std::int32_t>::max() || value < -std::numeric_limits<std::int32_t>::max())
      return cat("INT64_C(", std::int64_t(value), ")");
    return cat(std::int64_t(value));
  }
}

}  // namespace

std::string constant_text(DType dtype, std::int64_t payload) {
  if (dtype == DType::Float64) return float_constant<double>(payload, "");
  if (dtype == DType::Float32) return float_constant<float>(std::uint32_t(payload), "f");
  if (dtype == DType::Bool) return payload ? "true" : "false";
  return visit_dtype(dtype, [&]<class T>() -> std::string {
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>)
      return {};
    else if constexpr (is_half<T>)
      return integer_text(std::uint16_t(payload));
    else
      return integer_text(T(payload));
  });
}

std::string identifier(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit && out.empty()) out += 'x';
    if (is_letter || is_digit)
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  std::size_t start = out.find_first_not_of('_');  // names that begin with _ are reserved
  out.erase(0, start == out.npos ? out.size() : start);
  if (!out.empty() && out[0] >= '0' && out[0] <= '9') out.insert(0, "x");
  return out.empty() ? "x" : out;
}

namespace {
bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
}  // namespace

bool is_word(std::string_view text) { return std::all_of(text.begin(), text.end(), is_word_character); }

std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || (c == '?' && out.back() == '?')) out += '\\';  // two ? may begin a trigraph
    out += c;
  }
  return out + "\"";
}

std::string Names::take(std::string_view wanted) {
  const std::string given = identifier(wanted), base = has_reserved_beginning(given) ? "x_" + given : given;
  std::string name = base;
  for (int n = 2; is_reserved(name) || !taken_.insert(name).second; ++n) name = cat(base, "_", n);
  return name;
}

std::string Text::inside(Binding most) const { return binding <= most ? text : "(" + text + ")"; }

}  // namespace bitale::codegen::c
