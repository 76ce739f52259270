#include "inputs.hpp"

#include <functional>
#include <numeric>

namespace gradbench {

namespace {

const Json& field(const Json& input, const char* name) {
  if (!input.is_object()) throw InputError("expected an object as input");
  if (!input.contains(name)) throw InputError(std::string("the input has no field `") + name + "`");
  return input[name];
}

[[noreturn]] void refuse(const char* name, const std::string& expected) {
  throw InputError(std::string("`") + name + "` must be " + expected);
}

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string out;
  for (std::int64_t length : shape) out += (out.empty() ? "[" : ", ") + std::to_string(length);
  return out.empty() ? "[]" : out + "]";
}

// Appends the numbers of `json`, whose lists have the lengths shape[level], ...; a length is -1 until it is seen.
template <class T>
void collect(const Json& json, const char* name, std::size_t level, Numbers<T>& out) {
  if (level == out.shape.size()) {
    if (!(std::is_integral_v<T> ? json.is_number_integer() : json.is_number()))
      refuse(name, std::is_integral_v<T> ? "integers" : "numbers");
    out.values.push_back(json.get<T>());
    return;
  }
  if (!json.is_array()) refuse(name, "lists of numbers with " + std::to_string(out.shape.size()) + " levels");
  std::int64_t& length = out.shape[level];
  if (length < 0) length = std::int64_t(json.size());
  if (length != std::int64_t(json.size())) refuse(name, "lists of the same length");
  for (const Json& element : json) collect(element, name, level + 1, out);
}

template <class T>
Numbers<T> collected(const Json& input, const char* name, std::size_t levels) {
  Numbers<T> out{std::vector<std::int64_t>(levels, -1), {}};
  collect(field(input, name), name, 0, out);
  for (std::int64_t& length : out.shape) length = std::max<std::int64_t>(length, 0);  // of lists in an empty list
  return out;
}

}  // namespace

double number_field(const Json& input, const char* name) {
  const Json& json = field(input, name);
  if (!json.is_number()) refuse(name, "a number");
  return json.get<double>();
}

std::int64_t count_field(const Json& input, const char* name) {
  const Json& json = field(input, name);
  if (!json.is_number_integer() || json.get<std::int64_t>() < 1) refuse(name, "an integer from 1");
  return json.get<std::int64_t>();
}

bool bool_field(const Json& input, const char* name) {
  const Json& json = field(input, name);
  if (!json.is_boolean()) refuse(name, "true or false");
  return json.get<bool>();
}

const Json& object_field(const Json& input, const char* name) {
  const Json& json = field(input, name);
  if (!json.is_object()) refuse(name, "an object");
  return json;
}

Numbers<double> numbers_field(const Json& input, const char* name, std::size_t levels) {
  return collected<double>(input, name, levels);
}

Numbers<std::int64_t> positions_field(const Json& input, const char* name, std::size_t levels, std::int64_t end,
                                      std::int64_t least) {
  Numbers<std::int64_t> out = collected<std::int64_t>(input, name, levels);
  for (std::int64_t value : out.values)
    if (value < least || value >= end)
      refuse(name, "integers from " + std::to_string(least) + " below " + std::to_string(end) + ", but one is " +
                       std::to_string(value));
  return out;
}

void require_shape(const char* name, const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& expected) {
  if (shape != expected) refuse(name, "of shape " + text_of(expected) + ", got " + text_of(shape));
}

Json nested(const double* values, std::span<const std::int64_t> shape) {
  if (shape.empty()) return *values;
  const auto row = std::accumulate(shape.begin() + 1, shape.end(), std::int64_t(1), std::multiplies<>());
  Json out = Json::array();
  for (std::int64_t i = 0; i < shape[0]; ++i) out.push_back(nested(values + i * row, shape.subspan(1)));
  return out;
}

}  // namespace gradbench
