#include "hooks.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <utility>

#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::python {

using namespace nanobind::literals;

namespace {

// Read and written with the GIL held; never destroyed, because objects that outlive the interpreter may ask for a hook.
struct Registered {
  nb::object find;  // name -> function
  std::array<nb::object, std::size(hook_names)> found;
};

Registered& registered() {
  static auto& table = *new Registered;
  return table;
}

}  // namespace

nb::object hook(Hook which) {
  Registered& table = registered();
  nb::object& function = table.found[which.index()];
  if (!function.is_valid()) {
    const std::string name(hook_names[which.index()]);
    if (!table.find.is_valid()) throw InternalError(cat("hook ", name, ": the package bitale was not imported"));
    function = table.find(name);
  }
  return function;
}

void bind_hooks(nb::module_& m) {
  m.def(
      "register_hooks",
      [](nb::object find) {
        registered().find = std::move(find);
        registered().found = {};
      },
      "find"_a,
      "Register how functions that the extension module calls are found: find(name) is called once per name.");
  m.def(
      "hook_names",
      [] {
        nb::list names;
        for (const std::string_view name : hook_names) names.append(nb::str(name.data(), name.size()));
        return names;
      },
      nb::sig("def hook_names() -> list[str]"), "Names of the functions that the extension module calls.");
}

}  // namespace bitale::python
