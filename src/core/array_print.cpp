// Arrays as text, the way NumPy 2 prints them: aligned columns, at most 8 decimals, scientific notation where the
// values span many magnitudes, lines of 75 characters, and "..." in arrays of more than 1000 elements.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>

#include "bitale/core/array.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

constexpr int precision = 8;
constexpr std::size_t line_width = 75;
constexpr std::int64_t summary_threshold = 1000;
constexpr std::int64_t edge_items = 3;

// Whether only the first and last few positions along an axis are printed, not all.
bool shortens(const Array& array, std::int64_t length) {
  return array.size() > summary_threshold && length > 2 * edge_items;
}

void collect(const Array& array, int axis, const char* at, std::vector<const char*>& out) {
  if (axis == array.ndim()) {
    out.push_back(at);
    return;
  }
  const std::int64_t length = array.shape(axis), stride = array.strides()[std::size_t(axis)];
  for (std::int64_t i = 0; i < length; ++i) {
    if (shortens(array, length) && i == edge_items) i = length - edge_items;
    collect(array, axis + 1, at + i * stride, out);
  }
}

// ---- numbers -------------------------------------------------------------------------------------------------------

struct Parts {
  std::string whole, fraction, exponent;  // "-12", "5", "+03"
};

Parts split(std::string_view text) {
  Parts parts;
  const std::size_t e = text.find('e');
  if (e != text.npos) {
    parts.exponent = text.substr(e + 1);
    text = text.substr(0, e);
  }
  const std::size_t point = text.find('.');
  parts.whole = text.substr(0, point);
  if (point != text.npos) parts.fraction = text.substr(point + 1);
  return parts;
}

// The number with the fewest digits that reads back as the same float of 16 bits.
template <class T>
double shortest(T value) {
  for (int digits = 1; digits < std::numeric_limits<T>::max_digits10; ++digits) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.*e", digits - 1, double(value));
    const double read = std::strtod(buffer, nullptr);
    if (T(read).bits() == value.bits()) return read;
  }
  return value;
}

// The number that is printed for an element.
template <class T>
auto number_at(const char* element) {
  const T value = *reinterpret_cast<const T*>(element);
  if constexpr (is_half<T>)
    return shortest(value);
  else
    return value;
}

// The fewest digits that read back as the same T, but at most `precision` after the point.
template <class T>
Parts number_parts(T value, bool scientific) {
  char buffer[512];
  auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr;
  Parts parts = split({buffer, std::size_t(end - buffer)});
  if (parts.fraction.size() > std::size_t(precision)) {
    end = std::to_chars(buffer, buffer + sizeof buffer, double(value), format, precision).ptr;
    parts = split({buffer, std::size_t(end - buffer)});
  }
  parts.fraction.erase(parts.fraction.find_last_not_of('0') + 1);
  return parts;
}

std::string padded_left(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// One column format for all floats of an array.
template <class T>
class FloatFormat {
 public:
  // `with_sign`: a sign in front of every number.
  explicit FloatFormat(const std::vector<const char*>& elements, bool with_sign = false) : with_sign_(with_sign) {
    bool any_finite = false, any_other = false, any_minus_infinity = false;
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    for (auto element : elements) {
      const auto value = number_at<T>(element);
      if (!std::isfinite(value)) {
        any_other = true;
        any_minus_infinity |= std::isinf(value) && value < 0;
        continue;
      }
      any_finite = true;
      if (value == 0) continue;
      largest = std::max(largest, double(std::abs(value)));
      smallest = std::min(smallest, double(std::abs(value)));
    }
    const double largest_positional = is_half<T> ? 1e3 : std::is_same_v<T, float> ? 1e6 : 1e8;
    scientific_ = largest > 0 && (largest >= largest_positional || smallest < 0.0001 || largest / smallest > 1000.);
    if (any_finite) measure(elements);
    if (any_other) {
      const std::size_t longest = any_minus_infinity || with_sign ? 4 : 3, right = after_point() + 1;
      if (longest > right) whole_ = std::max(whole_, longest - right);
    }
  }

  std::string operator()(const char* element) const {
    const auto value = number_at<T>(element);
    if (!std::isfinite(value)) return padded_left(with_sign(number_text(double(value))), whole_ + after_point() + 1);
    if (scientific_) return scientific_text(double(value));
    Parts parts = number_parts(value, false);
    return padded_left(with_sign(parts.whole), whole_) + "." + parts.fraction +
           std::string(fraction_ - parts.fraction.size(), ' ');
  }

 private:
  void measure(const std::vector<const char*>& elements) {
    for (auto element : elements) {
      const auto value = number_at<T>(element);
      if (!std::isfinite(value)) continue;
      const Parts parts = number_parts(value, scientific_);
      whole_ = std::max(whole_, with_sign(parts.whole).size());
      fraction_ = std::max(fraction_, parts.fraction.size());
      if (scientific_) exponent_ = std::max(exponent_, parts.exponent.size() - 1);
    }
  }
  // All mantissas have the same number of digits: those of the longest.
  std::string scientific_text(double value) const {
    char buffer[64];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, int(fraction_)).ptr;
    const Parts parts = split({buffer, std::size_t(end - buffer)});
    const std::string digits = parts.exponent.substr(1);
    return padded_left(with_sign(parts.whole), whole_) + "." + parts.fraction + "e" + parts.exponent[0] +
           std::string(exponent_ - std::min(exponent_, digits.size()), '0') + digits;
  }
  std::string with_sign(const std::string& text) const { return with_sign_ && text[0] != '-' ? "+" + text : text; }
  std::size_t after_point() const { return scientific_ ? fraction_ + 2 + exponent_ : fraction_; }

  const bool with_sign_;
  bool scientific_ = false;
  std::size_t whole_ = 0, fraction_ = 0, exponent_ = 0;
};

template <class T>
class IntegerFormat {
 public:
  explicit IntegerFormat(const std::vector<const char*>& elements) {
    for (auto element : elements) width_ = std::max(width_, text(element).size());
  }
  std::string operator()(const char* element) const { return padded_left(text(element), width_); }

 private:
  static std::string text(const char* element) { return std::to_string(*reinterpret_cast<const T*>(element)); }
  std::size_t width_ = 0;
};

using ElementFormat = std::function<std::string(const char*)>;

// Columns of real and of imaginary parts. The j follows the number; the spaces behind it follow the j.
template <class T>
class ComplexFormat {
 public:
  explicit ComplexFormat(const std::vector<const char*>& elements) : real_(elements), imag_(behind(elements), true) {}
  std::string operator()(const char* element) const {
    std::string imag = imag_(element + sizeof(T));
    return real_(element) + imag.insert(imag.find_last_not_of(' ') + 1, "j");
  }

 private:
  static std::vector<const char*> behind(std::vector<const char*> elements) {
    for (auto& element : elements) element += sizeof(T);
    return elements;
  }
  const FloatFormat<T> real_, imag_;
};

ElementFormat format_for(const Array& array) {
  std::vector<const char*> elements;
  if (array.size() > 0) collect(array, 0, static_cast<const char*>(array.data()), elements);
  if (array.dtype() == DType::Complex64) return ComplexFormat<float>(elements);
  if (array.dtype() == DType::Complex128) return ComplexFormat<double>(elements);
  return visit_dtype(array.dtype(), [&]<class T>() -> ElementFormat {
    if constexpr (std::is_same_v<T, bool>) {
      const std::size_t width = array.ndim() == 0 ? 0 : 5;
      return
          [width](const char* e) { return padded_left(*reinterpret_cast<const bool*>(e) ? "True" : "False", width); };
    } else if constexpr (is_float_type<T>) {
      return FloatFormat<T>(elements);
    } else {
      return IntegerFormat<T>(elements);
    }
  });
}

// ---- brackets and lines --------------------------------------------------------------------------------------------

std::string without_trailing_spaces(const std::string& text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

class Layout {
 public:
  Layout(const Array& array, std::string separator)
      : array_(array), format_(format_for(array)), separator_(std::move(separator)) {}

  // The elements below `at`; continuation lines start with `indent` and end before `width`.
  std::string text(int axis, const char* at, const std::string& indent, std::size_t width) const {
    if (axis == array_.ndim()) return format_(at);
    std::string out = axis + 1 == array_.ndim() ? row(axis, at, indent, width) : rows(axis, at, indent, width);
    return "[" + out.substr(indent.size()) + "]";
  }

 private:
  std::string row(int axis, const char* at, const std::string& indent, std::size_t width) const {
    std::string done, line = indent;
    auto extend = [&](const std::string& word) {
      // Room is left for a closing bracket or a comma. A word that is too long for any line is not split.
      if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
        done += without_trailing_spaces(line) + "\n";
        line = indent;
      }
      line += word;
    };
    for_each(axis, [&](std::int64_t i, bool is_first, bool after_gap) {
      if (!is_first) line += separator_;
      if (after_gap) {
        extend("...");
        line += separator_;
      }
      extend(format_(at + i * array_.strides()[std::size_t(axis)]));
    });
    return done + line;
  }

  std::string rows(int axis, const char* at, const std::string& indent, std::size_t width) const {
    const std::string end =
        without_trailing_spaces(separator_) + std::string(std::size_t(array_.ndim() - axis - 1), '\n');
    std::string out;
    for_each(axis, [&](std::int64_t i, bool is_first, bool after_gap) {
      if (!is_first) out += end;
      if (after_gap) out += indent + "..." + end;
      out += indent + text(axis + 1, at + i * array_.strides()[std::size_t(axis)], indent + " ", width - 1);
    });
    return out;
  }

  template <class Visit>
  void for_each(int axis, Visit visit) const {
    const std::int64_t length = array_.shape(axis);
    const bool gap = shortens(array_, length);
    for (std::int64_t i = 0; i < length; ++i) {
      const bool after_gap = gap && i == edge_items;
      if (after_gap) i = length - edge_items;
      visit(i, i == 0, after_gap);
    }
  }

  const Array& array_;
  ElementFormat format_;
  std::string separator_;
};

std::string nested_text(const Array& array, const char* separator, std::size_t prefix, std::size_t width) {
  if (array.size() == 0) return "[]";
  return Layout(array, separator).text(0, static_cast<const char*>(array.data()), std::string(prefix + 1, ' '), width);
}

// A single float of less than 64 bits: the digits that distinguish it from others of its dtype, scientific outside
// [0.0001, bound).
template <class T>
std::string narrow_float_text(T value, double bound) {
  if (!std::isfinite(value)) return number_text(double(value));
  const T magnitude = std::abs(value);
  const bool scientific = value != 0 && (magnitude < T(1e-4) || magnitude >= bound);
  char buffer[64];
  auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr);
  return scientific || text.find('.') != text.npos ? text : text + ".0";
}

std::string scalar_text(const Array& array);

// "(1+2j)", "2j"
std::string complex_text(const Array& array) {
  const auto part = [&](int which) {
    std::string text = scalar_text(array.component(which).copy());
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
  };
  const std::string real = part(0), imag = part(1);
  if (real == "0") return imag + "j";
  return cat("(", real, imag[0] == '-' ? "" : "+", imag, "j)");
}

// A single number as Python prints it.
std::string scalar_text(const Array& array) {
  if (is_complex(array.dtype())) return complex_text(array);
  return visit_dtype(array.dtype(), [&]<class T>() {
    if constexpr (!is_float_type<T>)
      return nested_text(array, " ", 0, line_width);
    else if constexpr (std::is_same_v<T, double>)
      return number_text(array.item());
    else
      return narrow_float_text(number_at<T>(static_cast<const char*>(array.data())), is_half<T> ? 1e3 : 1e6);
  });
}

}  // namespace

std::string Array::str() const {
  if (!defined()) return "<no array>";
  if (const HostObject* held = object()) return held->str();
  return ndim() == 0 ? scalar_text(*this) : nested_text(*this, " ", 0, line_width);
}

std::string Array::repr() const {
  if (!defined()) return str();
  const std::string prefix = "array(";
  std::string text = prefix + nested_text(*this, ", ", prefix.size(), line_width - 1);
  std::vector<std::string> extras;
  if ((size() == 0 && !(shape_ == Dims{0})) || size() > summary_threshold)
    extras.push_back(cat("shape=", tuple_text(shape_)));
  const bool implied =
      dtype_ == DType::Float64 || dtype_ == DType::Int64 || dtype_ == DType::Bool || dtype_ == DType::Complex128;
  if (!implied || size() == 0) extras.push_back(cat("dtype=", dtype_name(dtype_)));
  if (extras.empty()) return text + ")";

  text += ",";
  const std::string extra = join(extras, ", ") + ")";
  const std::size_t last_line = text.size() - (text.rfind('\n') + 1);  // npos + 1 is 0
  const bool fits = last_line + extra.size() + 1 <= line_width;
  return text + (fits ? " " : "\n" + std::string(prefix.size(), ' ')) + extra;
}

}  // namespace bitale
