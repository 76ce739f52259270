// Configuration flags by name. bitale/configuration.py turns them into attributes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bind.hpp"
#include "bitale/core/config.hpp"

namespace bitale::python {

namespace {

nb::dict describe_flag(const config::Flag& flag) {
  nb::dict out;
  out["name"] = flag.name;
  out["type"] = flag.type;
  nb::list choices;
  for (auto& choice : flag.choices) choices.append(choice);
  out["choices"] = choices;
  out["default"] = flag.default_value;
  out["doc"] = flag.doc;
  out["mutable"] = flag.is_mutable;
  out["value"] = flag.value;
  out["source"] = flag.source;
  return out;
}

}  // namespace

void bind_config(nb::module_& m) {
  m.def(
      "config_flags",
      [] {
        nb::list out;
        for (auto& flag : config::flags()) out.append(describe_flag(flag));
        return out;
      },
      "All flags, as dictionaries.");
  m.def(
      "config_get", [](const std::string& name) { return config::get(name); }, nb::arg("name"),
      "A flag's value, as text.");
  m.def(
      "config_set", [](const std::string& name, const std::string& value) { config::set(name, value); },
      nb::arg("name"), nb::arg("value"), "Changes a flag.");
  m.def(
      "config_describe", [] { return config::describe(); }, "All flags with their documentation.");
}

}  // namespace bitale::python
