// nanobind answers a call that fits no overload with the list of all of them, which hides the reason. The entries of
// bound functions are replaced by ones that call nanobind's, and rewrite this error; a call that succeeds costs one
// more jump.
#include "call_errors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "signature_text.hpp"

namespace bitale::python {

namespace nb = nanobind;

namespace {

// nanobind has an entry for each kind of function, and fewer kinds than this.
constexpr std::size_t most_kinds = 16;
std::array<vectorcallfunc, most_kinds> original{};

constexpr std::string_view separator =
    "(): incompatible function arguments. The following argument types are supported:\n";

constexpr std::string_view types_given = "Invoked with types: ";

// nanobind's message, in parts.
struct Refusal {
  std::vector<Signature> overloads;
  std::vector<std::string> types, keywords;  // of the arguments: "ndarray", "axis: str"
};

std::string without_module(std::string_view type) {
  const std::size_t end = std::min(type.find('['), type.size()), dot = type.substr(0, end).rfind('.');
  return std::string(dot == type.npos ? type : type.substr(dot + 1));
}

void add_types(std::string_view list, std::vector<std::string>& out) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(", "), list.size()), colon = list.substr(0, comma).find(": ");
    const std::string_view one = list.substr(0, comma);
    out.push_back(colon == list.npos ? without_module(one)
                                     : cat(one.substr(0, colon), ": ", without_module(one.substr(colon + 2))));
    list.remove_prefix(std::min(comma + 2, list.size()));
  }
}

Refusal parts_of(std::string_view text) {
  Refusal out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("    ")) out.overloads.push_back(parse_signature(line));
    if (!line.starts_with(types_given)) continue;
    line.remove_prefix(types_given.size());
    const std::size_t keywords = std::min(line.find("kwargs = { "), line.size());
    add_types(line.substr(0, keywords), out.types);
    if (keywords == line.size()) continue;
    line.remove_prefix(keywords + std::string_view("kwargs = { ").size());
    add_types(line.substr(0, line.rfind(" }")), out.keywords);
  }
  for (Signature& each : out.overloads) {
    if (each.parts.empty() || each.parts.front().name != "self") continue;
    each.parts.erase(each.parts.begin());
    if (&each == &out.overloads.front() && !out.types.empty()) out.types.erase(out.types.begin());
  }
  return out;
}

// The keywords that the overloads have; none if one of them takes any.
std::vector<std::string> keywords_of(const std::vector<Signature>& overloads) {
  std::vector<std::string> out;
  for (const Signature& each : overloads)
    for (const Part& part : each.parts) {
      if (part.stars == 2) return {};
      if (part.stars || part.positional_only || part.name.empty()) continue;
      if (std::ranges::find(out, part.name) == out.end()) out.push_back(part.name);
    }
  return out;
}

// What an overload takes: "x, axis=None, *, dtype=None", or with the types of the arguments.
std::string taken(const Signature& overload, bool with_types) {
  std::vector<std::string> out;
  bool keyword_only = false;
  for (const Part& part : overload.parts) {
    if (part.keyword_only && !keyword_only) out.emplace_back("*");
    keyword_only = keyword_only || part.keyword_only || part.stars == 1;
    std::string text = cat(std::string(std::size_t(part.stars), '*'), part.name);
    const std::string type = with_types ? short_annotation(part.annotation) : "";
    if (!type.empty() && type != "Any") text = cat(text, ": ", type);
    if (!part.default_text.empty()) text = cat(text, "=", part.default_text);
    out.push_back(std::move(text));
  }
  return join(out, ", ");
}

std::string about_unknown_keyword(const Refusal& refusal, const std::vector<std::string>& given) {
  const std::vector<std::string> known = keywords_of(refusal.overloads);
  if (known.empty()) return {};
  for (const std::string& name : given) {
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string near = closest(name, known);
    if (near.empty()) {  // the beginning of one
      const auto found = std::ranges::find_if(known, [&](const std::string& each) { return each.starts_with(name); });
      if (found != known.end()) near = *found;
    }
    return cat(" got an unexpected keyword argument '", name, "'",
               near.empty() ? "" : cat(". Did you mean '", near, "'?"), "\n  expected ", join(known, ", "));
  }
  return {};
}

// Of a function with one overload: an argument that is missing, or those that are too many.
std::string about_count(const Signature& overload, std::size_t positional, const std::vector<std::string>& given) {
  std::size_t most = 0;
  std::vector<std::string> names, missing;
  for (std::size_t i = 0; i < overload.parts.size(); ++i) {
    const Part& part = overload.parts[i];
    if (part.stars == 1) return {};
    if (part.stars == 2) continue;
    if (!part.keyword_only) {
      ++most;
      names.push_back(part.name);
    }
    const bool is_given = (!part.keyword_only && i < positional) || std::ranges::find(given, part.name) != given.end();
    if (!is_given && part.default_text.empty()) missing.push_back(part.name);
  }
  if (positional > most)
    return cat(" takes ", count_text(std::int64_t(most), "positional argument"),
               most ? cat(" (", join(names, ", "), ")") : "", ", got ", positional, "\n  expected ",
               taken(overload, false));
  if (missing.empty()) return {};
  return cat(" needs ", missing.size() == 1 ? "the argument " : "the arguments ", join(missing, ", "), "\n  expected ",
             taken(overload, false));
}

// The text that takes the place of nanobind's; empty for any other error.
std::string explained(nb::handle function, nb::handle keywords, std::string_view message) {
  const std::string who = nb::cast<std::string>(function.attr("__name__"));
  if (!message.starts_with(who) || !message.substr(who.size()).starts_with(separator)) return {};
  const Refusal refusal = parts_of(message.substr(who.size() + separator.size()));
  if (refusal.overloads.empty()) return {};
  std::vector<std::string> given;
  if (keywords.is_valid())
    for (nb::handle each : nb::borrow<nb::tuple>(keywords)) given.push_back(nb::cast<std::string>(each));
  std::string text = about_unknown_keyword(refusal, given);
  if (text.empty() && refusal.overloads.size() == 1)
    text = about_count(refusal.overloads.front(), refusal.types.size(), given);
  if (text.empty()) {
    std::vector<std::string> types = refusal.types;
    types.insert(types.end(), refusal.keywords.begin(), refusal.keywords.end());
    text = cat(" does not take (", join(types, ", "), ")");
    for (const Signature& each : refusal.overloads) text = cat(text, "\n  expected ", taken(each, true));
  }
  // As Python says it: In.__init__().
  return cat(who.starts_with("__") ? nb::cast<std::string>(function.attr("__qualname__")) : who, "()", text);
}

void explain(nb::handle function, nb::handle keywords) noexcept {
  nb::python_error error;  // takes Python's
  std::string text;
  try {
    if (error.matches(PyExc_TypeError)) text = explained(function, keywords, nb::str(error.value()).c_str());
  } catch (...) {  // the error that was there says enough
  }
  if (text.empty())
    error.restore();
  else
    PyErr_SetString(PyExc_TypeError, text.c_str());
}

template <std::size_t kind>
PyObject* entry(PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* keywords) {
  PyObject* result = original[kind](self, arguments, count, keywords);
  if (result == nullptr) explain(self, keywords);
  return result;
}

template <std::size_t... kinds>
constexpr std::array<vectorcallfunc, sizeof...(kinds)> entries_of(std::index_sequence<kinds...>) {
  return {entry<kinds>...};
}
constexpr auto entries = entries_of(std::make_index_sequence<most_kinds>());

void replace_entry(PyObject* function) {
  vectorcallfunc& at =
      *reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function) + Py_TYPE(function)->tp_vectorcall_offset);
  if (std::ranges::find(entries, at) != entries.end()) return;
  auto found = std::ranges::find(original, at);
  if (found == original.end()) found = std::ranges::find(original, nullptr);
  if (found == original.end()) throw InternalError("nanobind has more kinds of functions than call_errors.cpp expects");
  *found = at;
  at = entries[std::size_t(found - original.begin())];
}

bool is_bound_function(nb::handle object) {
  const char* name = Py_TYPE(object.ptr())->tp_name;
  return std::strcmp(name, "nanobind.nb_func") == 0 || std::strcmp(name, "nanobind.nb_method") == 0;
}

}  // namespace

void bind_call_errors(nb::module_& m) {
  const auto values_of = [](nb::handle object) { return nb::list(nb::getattr(object, "__dict__").attr("values")()); };
  for (nb::handle object : values_of(m)) {
    if (is_bound_function(object)) replace_entry(object.ptr());
    if (!PyType_Check(object.ptr())) continue;
    for (nb::handle member : values_of(object))
      if (is_bound_function(member)) replace_entry(member.ptr());
  }
}

}  // namespace bitale::python
