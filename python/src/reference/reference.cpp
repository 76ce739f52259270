// Parses descriptions and composes docstrings of them.
#include "reference/reference.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "bitale/core/text.hpp"
#include "reference/elementwise.hpp"
#include "reference/example_of.hpp"

namespace bitale::python {

namespace {

constexpr std::size_t width = 79;

using Item = DocItem;

struct Description {
  std::string summary, like;
  std::vector<std::string> paragraphs, related, notes, overloads;
  std::vector<Item> parameters, results, errors;
};

std::vector<std::string_view>& texts() {
  static std::vector<std::string_view> all;
  return all;
}

std::vector<std::string (*)()>& makers() {
  static std::vector<std::string (*)()> all;
  return all;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return out;
}

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

// "name (type): Text." in its parts; nothing for other lines.
std::optional<Item> item_of(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view head = line.substr(0, colon), type;
  if (const std::size_t open = head.find(" ("); open != std::string_view::npos && head.back() == ')') {
    // The type may contain ": ", as no type here does.
    type = head.substr(open + 2, head.size() - open - 3);
    head = head.substr(0, open);
  }
  if (!is_name(head)) return std::nullopt;
  return Item{std::string(head), std::string(type), std::string(line.substr(colon + 2))};
}

// "Text.", "name: Text." or "type: Text.": a type is known by how it begins.
Item result_of(std::string_view line) {
  const std::size_t colon = line.find(": ");
  for (std::string_view type : {"list of ", "tuple of ", "TensorVariable", "Variable",
                                "int:", "str:", "bool:", "bitale.", "numpy.", "collections.", "tuple:"})
    if (colon != std::string_view::npos && line.starts_with(type))
      return {"", std::string(line.substr(0, colon)), std::string(line.substr(colon + 2))};
  return item_of(line).value_or(Item{"", "", std::string(line)});
}

void add_line(Description& out, std::string_view line) {
  const auto rest = [&](std::size_t n) { return line.substr(n); };
  if (line.starts_with("< ")) {
    out.like = rest(2);
  } else if (out.summary.empty() && out.like.empty()) {
    out.summary = line;
  } else if (line.starts_with("-> ")) {
    out.results.push_back(result_of(rest(3)));
  } else if (line.starts_with("! ")) {
    out.errors.push_back(item_of(rest(2)).value_or(Item{"", "", std::string(rest(2))}));
  } else if (line.starts_with("~ ")) {
    for (std::string_view name : split(rest(2), ", ")) out.related.emplace_back(name);
  } else if (line.starts_with("@ ")) {
    out.overloads.emplace_back(rest(2));
  } else if (line.starts_with("* ")) {
    out.notes.emplace_back(rest(2));
  } else if (auto item = item_of(line)) {
    out.parameters.push_back(*item);
  } else {
    out.paragraphs.emplace_back(line);
  }
}

Description parse(std::string_view body) {
  Description out;
  for (std::string_view line : split(body, "\n")) add_line(out, line);
  return out;
}

std::string with_name(std::string_view text, std::string_view name) {
  std::string out;
  for (char c : text) c == '$' ? out += name : out += c;
  return out;
}

using Descriptions = std::map<std::string, Description, std::less<>>;

const Descriptions& descriptions() {
  static const Descriptions all = [] {
    Descriptions out;
    std::vector<std::string> made;
    for (const auto maker : makers()) made.push_back(maker());
    std::vector<std::string_view> all_texts = texts();
    all_texts.insert(all_texts.end(), made.begin(), made.end());
    for (std::string_view text : all_texts) {
      for (std::string_view entry : split(text, "\n= ")) {
        const std::size_t end = std::min(entry.find('\n'), entry.size());
        for (std::string_view name : split(entry.substr(0, end), " "))
          out.insert_or_assign(std::string(name), parse(with_name(entry.substr(end), name)));
      }
    }
    return out;
  }();
  return all;
}

// Names of types that make several variables, such as dvectors.
bool makes_variables(std::string_view name) {
  static constexpr std::string_view endings[] = {"scalars", "vectors", "matrices", "rows", "cols"};
  return name.size() >= 4 && (std::ranges::any_of(endings, [&](std::string_view end) { return name.ends_with(end); }) ||
                              (name.ends_with("s") && name.substr(0, name.size() - 2).ends_with("tensor")));
}

std::optional<Description> found(std::string_view name);

// With what the description that it refers to says.
Description completed(Description out) {
  const std::optional<Description> other = out.like.empty() ? std::nullopt : found(out.like);
  if (!other) return out;
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  if (out.summary.empty()) out.summary = other->summary;
  if (out.results.empty()) out.results = other->results;
  if (out.related.empty()) out.related = other->related;
  const auto is_whole = [](const std::string& line) { return line.starts_with("def "); };  // with the other's name
  if (out.overloads.empty() && std::ranges::none_of(other->overloads, is_whole)) out.overloads = other->overloads;
  append(out.parameters, other->parameters);
  out.errors.insert(out.errors.begin(), other->errors.begin(), other->errors.end());
  append(out.notes, other->notes);
  return out;
}

std::optional<Description> found(std::string_view name) {
  const Descriptions& all = descriptions();
  if (const auto at = all.find(name); at != all.end()) return completed(at->second);
  if (const std::string_view doc = elementwise_doc(name); !doc.empty()) return parse(doc);
  if (makes_variables(name)) return all.find("*s")->second;
  return std::nullopt;
}

// ---- texts that are generated --------------------------------------------------------------------------------------

const Item* find_item(const std::vector<Item>& items, std::string_view name) {
  const auto at = std::ranges::find(items, name, &Item::name);
  return at == items.end() ? nullptr : &*at;
}

// The annotation as numpydoc writes types.
std::string documented_type(std::string annotation) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"TensorVariable | numpy.typing.ArrayLike", "tensor_like"},
      {"numpy.typing.DTypeLike", "dtype_like"},
      {"int | TensorVariable | collections.abc.Sequence[int | TensorVariable]", "int or sequence of int"},
      {"int | collections.abc.Sequence[int]", "int or sequence of int"},
      {"typing.Any", "object"},
  };
  if (annotation.ends_with(" | None")) annotation.resize(annotation.size() - 7);
  for (const auto& [python, documented] : names)
    if (annotation == python) return std::string(documented);
  for (std::size_t at; (at = annotation.find(" | ")) != std::string::npos;) annotation.replace(at, 3, " or ");
  return annotation;
}

std::string type_and_default(const Parameter& parameter, const Item* item) {
  std::string type = item && !item->type.empty()                            ? item->type
                     : parameter.annotation.empty() && parameter.stars == 1 ? "tensor_like"
                                                                            : documented_type(parameter.annotation);
  if (parameter.default_value.empty()) return type;
  if (parameter.default_value == "None") return type + ", optional";
  return cat(type, ", default ", parameter.default_value);
}

void wrap_words(std::string& out, std::string_view text, std::size_t indent) {
  std::size_t column = 0;
  bool is_code = false;  // a literal is not broken
  std::string word;
  const auto flush = [&] {
    if (word.empty()) return;
    if (column > 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    }
    if (column == 0) {
      out.append(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("``")) {
      is_code = !is_code;
      word += "``";
      ++i;
    } else if (text[i] == ' ' && !is_code) {
      flush();
    } else {
      word += text[i];
    }
  }
  flush();
  out += '\n';
}

void heading(std::string& out, std::string_view title) {
  out += cat("\n", title, "\n", std::string(title.size(), '-'), "\n");
}

void paragraphs(std::string& out, const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += '\n';
    wrap_words(out, texts[i], 0);
  }
}

const Description& glossary() {
  static const Description none;
  const auto at = descriptions().find("*parameters");
  return at == descriptions().end() ? none : at->second;
}

}  // namespace

RegisterDescriptions::RegisterDescriptions(std::string_view text) { texts().push_back(text); }
RegisterDescriptions::RegisterDescriptions(std::string (*made)()) { makers().push_back(made); }

std::string_view own_name(std::string_view name) {
  for (const std::string_view module : {"xtensor_", "loop_", "tree_"})
    if (name.starts_with(module)) return name.substr(module.size());
  return name;
}

bool is_described(std::string_view name) { return found(name).has_value(); }

std::vector<std::string> described_names() {
  std::vector<std::string> out;
  for (const auto& [name, description] : descriptions())
    if (!name.starts_with('*')) out.push_back(name);
  return out;
}

std::size_t result_count(std::string_view name) {
  const std::optional<Description> description = found(name);
  return description ? description->results.size() : 0;
}

std::vector<std::string> typed_overloads(std::string_view name) {
  const std::optional<Description> description = found(name);
  return description ? description->overloads : std::vector<std::string>();
}

std::string docstring(std::string_view name, std::span<const Parameter> parameters, std::string_view result,
                      std::string_view example) {
  const std::optional<Description> description = found(name);
  if (!description) return "";
  const std::vector<Item> generated = elementwise_parameters(name);
  std::string out = description->summary + "\n";
  if (!description->paragraphs.empty()) {
    out += '\n';
    paragraphs(out, description->paragraphs);
  }
  if (!parameters.empty()) heading(out, "Parameters");
  for (const Parameter& parameter : parameters) {
    const Item* item = find_item(description->parameters, parameter.name);
    if (!item) item = find_item(generated, parameter.name);
    if (!item) item = find_item(glossary().parameters, parameter.name);
    out += cat(std::string(std::size_t(parameter.stars), '*'), parameter.name, " : ", type_and_default(parameter, item),
               "\n");
    if (item) wrap_words(out, item->text, 4);
  }
  std::vector<Item> results = description->results;
  elementwise_results(name, results);
  if (!results.empty()) heading(out, "Returns");
  for (const Item& item : results) {
    const std::string type = !item.type.empty()   ? item.type
                             : results.size() > 1 ? "TensorVariable"
                                                  : documented_type(std::string(result));
    out += item.name.empty() ? cat(type, "\n") : cat(item.name, " : ", type, "\n");
    wrap_words(out, item.text, 4);
  }
  std::vector<Item> errors = description->errors;
  elementwise_errors(name, errors);
  if (!errors.empty()) heading(out, "Raises");
  for (const Item& item : errors) {
    out += cat(item.name, "\n");
    std::string text = item.text;
    text[0] = char(std::toupper(static_cast<unsigned char>(text[0])));
    wrap_words(out, text, 4);
  }
  if (!description->related.empty()) heading(out, "See Also");
  for (const std::string& other : description->related) {
    const std::optional<Description> of_other = found(other);
    out += of_other ? cat(own_name(other), " : ", of_other->summary, "\n") : cat(other, "\n");
  }
  std::vector<std::string> notes = description->notes;
  elementwise_notes(name, notes);
  if (!notes.empty()) heading(out, "Notes");
  paragraphs(out, notes);
  if (const std::string_view listed = example_of(name); !listed.empty()) example = listed;
  if (!example.empty()) {
    heading(out, "Examples");
    out += example;
    out += '\n';
  }
  out.pop_back();
  return out;
}

}  // namespace bitale::python
