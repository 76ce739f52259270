// The signatures of bound functions as nanobind writes them: "def name(x: TensorVariable, axis: int = \\0) ->
// TensorVariable".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bitale::python {

// One parameter of a nanobind signature, such as "axis: int | None = \0".
struct Part {
  std::string name, annotation, default_text;
  int stars = 0;
  bool keyword_only = false, positional_only = false;
};

struct Signature {
  std::vector<Part> parts;
  std::string result;
};

Signature parse_signature(std::string_view text);
// The signatures that the lines of a description stand for (`@` in reference/reference.hpp), of a function that is
// bound with this one.
std::vector<std::string> overloads(std::string_view signature, const std::vector<std::string>& lines);
// What is written for a reader, who knows TensorLike.
std::string short_annotation(std::string text);
// The text with types for what has none: further arguments, elements of lists and tuples. `results`: how many a
// described function returns, 0 if that is not known.
std::string with_types(std::string text, std::size_t results);

}  // namespace bitale::python
