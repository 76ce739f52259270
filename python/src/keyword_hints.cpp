// nanobind answers a call that fits no overload with the list of all of them. Where the reason is a keyword that none
// of them has, that list hides it. The entries of bound functions are replaced by ones that call nanobind's, and
// rewrite this error; a call that succeeds costs one more jump.
#include "keyword_hints.hpp"

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

// The keywords that the overloads in nanobind's message have; none if one of them takes any.
std::vector<std::string> keywords_in(std::string_view overloads) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < overloads.size();) {
    const std::size_t end = std::min(overloads.find('\n', at), overloads.size());
    const std::string_view line = overloads.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("    ")) break;
    for (const Part& part : parse_signature(line).parts) {
      if (part.stars == 2) return {};
      if (part.stars || part.positional_only || part.name.empty() || part.name == "self") continue;
      if (std::ranges::find(out, part.name) == out.end()) out.push_back(part.name);
    }
  }
  return out;
}

// The text for the first keyword that no overload has; empty for any other error.
std::string about_keyword(nb::handle function, nb::handle keywords, std::string_view message) {
  const std::string who = nb::cast<std::string>(function.attr("__name__"));
  if (!message.starts_with(who) || !message.substr(who.size()).starts_with(separator)) return {};
  const std::vector<std::string> known = keywords_in(message.substr(who.size() + separator.size()));
  if (known.empty()) return {};
  for (nb::handle each : nb::borrow<nb::tuple>(keywords)) {
    const std::string name = nb::cast<std::string>(each);
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string near = closest(name, known);
    if (near.empty()) {  // the beginning of one
      const auto found = std::ranges::find_if(known, [&](const std::string& each) { return each.starts_with(name); });
      if (found != known.end()) near = *found;
    }
    return cat(who, "() got an unexpected keyword argument '", name, "'",
               near.empty() ? "" : cat(". Did you mean '", near, "'?"), "\n  expected ", join(known, ", "));
  }
  return {};
}

void explain(nb::handle function, nb::handle keywords) noexcept {
  nb::python_error error;  // takes Python's
  std::string text;
  try {
    if (error.matches(PyExc_TypeError)) text = about_keyword(function, keywords, nb::str(error.value()).c_str());
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
  if (result == nullptr && keywords != nullptr) explain(self, keywords);
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
  if (found == original.end())
    throw InternalError("nanobind has more kinds of functions than keyword_hints.cpp expects");
  *found = at;
  at = entries[std::size_t(found - original.begin())];
}

bool is_bound_function(nb::handle object) {
  const char* name = Py_TYPE(object.ptr())->tp_name;
  return std::strcmp(name, "nanobind.nb_func") == 0 || std::strcmp(name, "nanobind.nb_method") == 0;
}

}  // namespace

void bind_keyword_hints(nb::module_& m) {
  const auto values_of = [](nb::handle object) { return nb::list(nb::getattr(object, "__dict__").attr("values")()); };
  for (nb::handle object : values_of(m)) {
    if (is_bound_function(object)) replace_entry(object.ptr());
    if (!PyType_Check(object.ptr())) continue;
    for (nb::handle member : values_of(object))
      if (is_bound_function(member)) replace_entry(member.ptr());
  }
}

}  // namespace bitale::python
