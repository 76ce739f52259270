// Reads and completes the signatures that nanobind writes.
#include "signature_text.hpp"

#include <cctype>
#include <utility>

namespace bitale::python {

namespace {

std::string_view stripped(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Part part_of(std::string_view text) {
  Part part;
  while (text.starts_with('*')) {
    ++part.stars;
    text.remove_prefix(1);
  }
  if (const std::size_t at = text.find(" = "); at != std::string_view::npos) {
    part.default_text = stripped(text.substr(at + 3));
    text = text.substr(0, at);
  }
  if (const std::size_t at = text.find(':'); at != std::string_view::npos) {
    part.annotation = stripped(text.substr(at + 1));
    text = text.substr(0, at);
  }
  part.name = stripped(text);
  return part;
}

// Appends `arguments` to each `type` that stands without any.
void give_arguments(std::string& text, std::string_view type, std::string_view arguments) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  for (std::size_t at = text.find(type); at != std::string::npos; at = text.find(type, at + 1)) {
    const std::size_t end = at + type.size();
    const bool begins = at > 0 && (text[at - 1] == ' ' || text[at - 1] == '[' || text[at - 1] == '.');
    const bool ends =
        end == text.size() || (!is_letter(text[end]) && text[end] != '[' && text[end] != '(' && text[end] != ':');
    if (begins && ends) text.insert(end, arguments);
  }
}

}  // namespace

Signature parse_signature(std::string_view text) {
  Signature out;
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return out;
  std::size_t begin = open + 1, depth = 0, end = begin;
  char quote = 0;
  bool keyword_only = false;
  const auto add = [&](std::string_view one) {
    one = stripped(one);
    if (one.empty()) return;
    if (one == "/") {
      for (Part& part : out.parts) part.positional_only = true;
    } else if (one == "*") {
      keyword_only = true;
    } else {
      Part part = part_of(one);
      part.keyword_only = keyword_only && part.stars == 0;
      keyword_only = keyword_only || part.stars == 1;
      out.parts.push_back(std::move(part));
    }
  };
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if ((c == ')' && depth == 0) || (c == ',' && depth == 0)) {
      add(text.substr(begin, end - begin));
      begin = end + 1;
      if (c == ')') break;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    }
  }
  if (const std::size_t arrow = text.find("-> ", end); arrow != std::string_view::npos)
    out.result = text.substr(arrow + 3);
  return out;
}

namespace {

// `signature` with other types for some parameters. One that loses its default is given by name, as those after it.
std::string changed_signature(std::string_view signature, const std::vector<Part>& changes, std::string_view result) {
  std::string out(signature.substr(0, signature.find('(') + 1));
  bool by_name = false;
  Signature whole = parse_signature(signature);
  for (Part& part : whole.parts) {
    for (const Part& change : changes) {
      if (change.name != part.name) continue;
      part.keyword_only |= !part.default_text.empty() && change.default_text.empty();
      part.annotation = change.annotation;
      part.default_text = change.default_text;
    }
    if (!out.ends_with('(')) out += ", ";
    if (part.keyword_only && !by_name) out += "*, ";
    by_name = by_name || part.keyword_only;
    out += std::string(std::size_t(part.stars), '*') + part.name + ": " + part.annotation;
    if (!part.default_text.empty()) out += " = " + part.default_text;
  }
  return out + ") -> " + std::string(result);
}

}  // namespace

std::vector<std::string> overloads(std::string_view signature, const std::vector<std::string>& lines) {
  constexpr std::string_view updates = " + updates";
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    const std::size_t arrow = line.find("-> ");
    if (line.starts_with("def ") || arrow == std::string::npos) {
      out.push_back(line);
      continue;
    }
    std::vector<Part> changes = parse_signature("(" + line.substr(0, arrow) + ")").parts;
    std::string result = line.substr(arrow + 3);
    if (!result.ends_with(updates)) {
      out.push_back(changed_signature(signature, changes, result));
      continue;
    }
    result.resize(result.size() - updates.size());
    changes.push_back({"return_updates", "typing.Literal[True]", "True"});
    out.push_back(changed_signature(signature, changes, "tuple[" + result + ", dict[Variable, Variable]]"));
    changes.back() = {"return_updates", "typing.Literal[False]", ""};
    out.push_back(changed_signature(signature, changes, result));
  }
  return out;
}

std::string short_annotation(std::string text) {
  static constexpr std::string_view names[][2] = {{"TensorVariable | numpy.typing.ArrayLike", "TensorLike"},
                                                  {"numpy.typing.", ""},
                                                  {"collections.abc.", ""},
                                                  {"typing.", ""}};
  for (const auto& [full, brief] : names)
    for (std::size_t at; (at = text.find(full)) != std::string::npos;) text.replace(at, full.size(), brief);
  return text;
}

std::string with_types(std::string text, std::size_t results) {
  constexpr std::string_view tensor = "TensorVariable | numpy.typing.ArrayLike";
  const std::size_t open = text.find('(');
  for (std::size_t at = text.find('*', open); at != std::string::npos; at = text.find('*', at + 1)) {
    std::size_t end = at;
    while (end < text.size() && text[end] == '*') ++end;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    if (end < text.size() && (text[end] == ',' || text[end] == ')') && text[end - 1] != '*')
      text.insert(end, ": typing.Any");
  }
  const auto ends_with = [&](std::string_view end, std::string_view full) {
    if (text.ends_with(end)) text.replace(text.size() - end.size(), end.size(), full);
  };
  std::string several = "-> tuple[TensorVariable";
  for (std::size_t i = 1; i < results; ++i) several += ", TensorVariable";
  if (results > 0) {
    ends_with("-> tuple", results > 1 ? several + "]" : "-> tuple[TensorVariable, ...]");
    ends_with("-> list", "-> list[TensorVariable]");
  }
  give_arguments(text, "tuple", "[typing.Any, ...]");
  give_arguments(text, "list", "[typing.Any]");
  give_arguments(text, "dict", "[typing.Any, typing.Any]");
  give_arguments(text, "Sequence", "[typing.Any]");
  give_arguments(text, "Callable", "[..., typing.Any]");
  // Operators that Python calls with one operand or another.
  if (text.starts_with("def __") && text.find("(self, *args: typing.Any) -> object") != std::string::npos) {
    const std::size_t at = text.find("(self");
    const bool is_unary = text.starts_with("def __neg") || text.starts_with("def __abs") ||
                          text.starts_with("def __invert") || text.starts_with("def __pos");
    const std::string operand = is_unary                          ? ""
                                : text.starts_with("def __round") ? ", ndigits: int | None = None"
                                                                  : ", other: " + std::string(tensor);
    text.replace(at, std::string::npos, "(self" + operand + ") -> TensorVariable");
  }
  // A handle of C++ may be any object: what is not checked here is not checked by a type checker.
  for (std::string_view anything : {": object", "-> object"})
    for (std::size_t at; (at = text.find(anything)) != std::string::npos;)
      text.replace(at + anything.size() - std::string_view("object").size(), std::string_view("object").size(),
                   "typing.Any");
  return text;
}

}  // namespace bitale::python
