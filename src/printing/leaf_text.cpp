#include "printing/leaf_text.hpp"

#include "bitale/core/text.hpp"

namespace bitale {

namespace {

std::string on_one_line(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c != '\n')
      out += c;
    else if (out.empty() || out.back() != ' ')
      out += ' ';
  }
  // Removes the indentation of the joined lines.
  for (std::size_t at; (at = out.find(" [")) != out.npos && at > 0 && out[at - 1] == ' ';) out.erase(at, 1);
  return out;
}

std::string value_text(const Array& value) {
  // Shortened as PyTensor shortens constants.
  constexpr std::size_t longest = 20, kept = 10;
  std::string text = on_one_line(value.str());
  if (value.ndim() == 0 || text.size() <= longest) return text;
  std::string begin = text.substr(0, kept), end = text.substr(text.size() - kept);
  begin.erase(begin.find_last_not_of(' ') + 1);
  end.erase(0, end.find_first_not_of(' '));
  return cat(begin, " ... ", end);
}

}  // namespace

std::string short_type_text(const Type& type) {
  const TensorType* tensor = as_tensor(type);
  return tensor ? tensor->short_str() : type->str();
}

std::string leaf_text(const Variable& leaf) {
  const Array* value = leaf.constant();
  if (value && leaf.name().empty()) return value_text(*value);
  if (value) return cat(leaf.name(), "{", value_text(*value), "}");
  return leaf.name().empty() ? cat("<", short_type_text(leaf.type()), ">") : leaf.name();
}

}  // namespace bitale
