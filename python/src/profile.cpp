// Profiles of compiled functions; bitale/profile.py defines their Python form.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/profile.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "function_object.hpp"
#include "hooks.hpp"

namespace bitale::python {

namespace {

const Function& function_of(nb::handle object) {
  auto* compiled = instance_of<FunctionObject>(object);
  if (!compiled) throw TypeError(cat("profile: expected a function, got ", shown(object)));
  return compiled->function;
}

nb::dict dict_of(const Profile::Phase& phase) {
  nb::dict out;
  out["name"] = phase.name;
  out["seconds"] = phase.seconds;
  out["note"] = phase.note;
  nb::list parts;
  for (auto& part : phase.parts) parts.append(dict_of(part));
  out["parts"] = parts;
  return out;
}

nb::dict dict_of(const MachineLimits& limits) {
  nb::dict out;
  out["read_bandwidth"] = limits.read_bandwidth;
  out["flops"] = limits.flops;
  out["threads"] = limits.threads;
  return out;
}

nb::dict dict_of(const Profile::Part& part, const MachineLimits& limits) {
  nb::dict out;
  nb::list nodes;
  for (auto& node : part.nodes) nodes.append(wrap(node));
  out["kind"] = part.kind;
  out["text"] = part.text;
  out["nodes"] = nodes;
  out["other_strides"] = part.other_strides;
  out["calls"] = part.calls;
  out["seconds"] = part.seconds;
  out["counted"] = part.counted;
  out["bytes"] = part.bytes;
  out["flops64"] = part.flops64;
  out["flops32"] = part.flops32;
  out["steps"] = part.steps;
  out["trace_bytes"] = part.trace_bytes;
  const LimitShare share = share_of_limits(part, limits);
  out["share_of_bandwidth"] = share.memory;
  out["share_of_flops"] = share.arithmetic;
  return out;
}

nb::dict dict_of(const Profile& profile) {
  nb::dict out;
  out["name"] = profile.name;
  out["linker"] = profile.linker;
  out["code"] = profile.code;
  out["threads"] = profile.threads;
  out["compiling"] = dict_of(profile.compiling);
  out["nodes_before"] = profile.nodes_before;
  out["nodes_after"] = profile.nodes_after;
  out["calls"] = profile.calls;
  out["call_seconds"] = profile.call_seconds;
  out["linked_seconds"] = profile.linked_seconds;
  nb::list parts;
  for (auto& part : profile.parts) parts.append(dict_of(part, profile.limits));
  out["parts"] = parts;
  out["temporaries"] = profile.temporaries;
  out["results"] = profile.results;
  out["limits"] = dict_of(profile.limits);
  return out;
}

}  // namespace

void bind_profile(nb::module_& m) {
  auto cls = nb::borrow<nb::class_<FunctionObject>>(m.attr("Function"));
  cls.def_prop_ro(
      "profile",
      [](nb::handle self) -> nb::object {
        if (!function_of(self).is_profiled()) return nb::none();
        return hook("profile_stats")(self);
      },
      nb::sig("def profile(self) -> typing.Any"),
      "What compiling and calls take; None unless compiled with profile=True or the flag `profile`.");
  m.def(
      "profile_dict", [](nb::handle function) { return dict_of(function_of(function).profile()); }, "function"_a);
  m.def(
      "profile_text",
      [](nb::handle function, const std::vector<std::string>& sections, std::size_t rows) {
        return profile_text(function_of(function).profile(), {.max_rows = rows, .sections = sections});
      },
      "function"_a, "sections"_a, "rows"_a);
  m.def(
      "profile_html", [](nb::handle function) { return profile_html(function_of(function).profile()); }, "function"_a);
  m.def(
      "machine_limits",
      [](int threads) {
        MachineLimits limits;
        {
          nb::gil_scoped_release unlocked;
          limits = machine_limits(threads);
        }
        return dict_of(limits);
      },
      "threads"_a = 1);
  m.def(
      "print_profiles", [] { print_profiles(); },
      "Writes the profiles of functions compiled with the flag `profile` to where profiling__destination says.");
}

}  // namespace bitale::python
