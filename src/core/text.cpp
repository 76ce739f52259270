// Text building: concatenation, Python's notation of numbers and tuples, and "did you mean".
#include "bitale/core/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace bitale {

void TextPiece::append_to(std::string& out) const {
  switch (kind_) {
    case Kind::text: out.append(text_.data, text_.size); break;
    case Kind::character: out += character_; break;
    case Kind::integer: out += std::to_string(integer_); break;
    case Kind::natural: out += std::to_string(std::uint64_t(integer_)); break;
    case Kind::real: out += number_text(real_); break;
  }
}

std::string concatenate(std::span<const TextPiece> pieces) {
  std::string out;
  for (auto& piece : pieces) piece.append_to(out);
  return out;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (auto& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // "d.ddde±xx" with the fewest digits that read back; then Python's choice between positional and scientific.
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, std::size_t(end - buffer));
  std::string out;
  if (text.front() == '-') {
    out = "-";
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  int exponent = 0;
  const char* digits_of_exponent = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits_of_exponent, text.data() + text.size(), exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);

  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (digits.size() > 1) out.append(".").append(digits, 1);
    out += exponent < 0 ? "e-" : "e+";
    const std::string magnitude = std::to_string(std::abs(exponent));
    if (magnitude.size() < 2) out += '0';
    return out + magnitude;
  }
  if (exponent < 0) return out + "0." + std::string(std::size_t(-exponent - 1), '0') + digits;
  const std::size_t before_point = std::size_t(exponent) + 1;
  if (digits.size() <= before_point) return out + digits + std::string(before_point - digits.size(), '0') + ".0";
  return out + digits.substr(0, before_point) + "." + digits.substr(before_point);
}

std::string count_text(std::int64_t count, std::string_view what) {
  return cat(count, " ", what, count == 1 ? "" : "s");
}

std::string tuple_text(std::span<const std::int64_t> values) {
  std::string out = "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) out += ", ";
    out += std::to_string(values[i]);
  }
  if (values.size() == 1) out += ',';
  return out + ")";
}

std::string atom_text(std::string text) {
  int depth = 0;
  bool is_atom = !text.starts_with('-') && !text.starts_with('~');
  for (char c : text) {
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
    if (c == ' ' && depth <= 0) is_atom = false;  // operators have spaces around them
  }
  return is_atom ? text : cat("(", text, ")");
}

namespace {

char lower(char c) { return char(std::tolower(static_cast<unsigned char>(c))); }

// Levenshtein's distance, where a swap of neighbouring letters is one step, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) now[j] = std::min(now[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string closest(std::string_view word, std::span<const std::string> candidates) {
  // A third of the word may be wrong; more than that is another word. Longer words are not considered misspelt.
  constexpr std::size_t longest_word = 200;
  if (word.empty() || word.size() > longest_word) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (auto& candidate : candidates) {
    if (candidate.size() > 2 * longest_word) continue;
    const std::size_t distance = edit_distance(word, candidate);
    // Replacing a whole short word is no misspelling.
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace bitale
