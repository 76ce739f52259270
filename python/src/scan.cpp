// ScanBuilder; bitale.scan handles the forms of arguments and results that PyTensor has.
#include "bitale/ops/scan.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "bind.hpp"
#include "define.hpp"

namespace bitale::python {

namespace {

ScanStep step_of(const std::vector<Like>& outputs, nb::handle until, nb::handle updates) {
  Variables values;
  for (auto& each : outputs) values.push_back(as_variable(each));
  Replacements pairs;
  for (auto& [variable, value] : as_pairs(updates, "scan: updates"))
    pairs.emplace_back(require_variable(variable, "scan: an updated shared variable"), as_variable(value));
  return {std::move(values), until.is_none() ? Variable() : as_variable(until), std::move(pairs)};
}

}  // namespace

void bind_scan(nb::module_& m) {
  nb::class_<ScanBuilder>(m, "ScanBuilder", "What bitale.scan makes a loop with.")
      .def(
          "__init__",
          [](ScanBuilder* self, const std::vector<std::pair<Like, std::vector<int>>>& sequences,
             const std::vector<std::tuple<Like, std::vector<int>, bool>>& initial, const std::vector<Like>& constants,
             const Like& n_steps, bool go_backwards, std::int64_t truncate_gradient, bool strict,
             const std::string& name) {
            ScanArguments given;
            for (auto& [input, taps] : sequences) given.sequences.emplace_back(as_variable(input), taps);
            for (auto& [value, taps, is_weak] : initial) {
              given.initial.emplace_back();
              if (value.is_none()) continue;
              given.initial.back() = ScanInitial(as_variable(value), taps);
              given.initial.back().is_weak = is_weak;
            }
            for (auto& each : constants) given.non_sequences.push_back(as_variable(each));
            if (!n_steps.is_none()) given.n_steps = as_variable(n_steps);
            given.go_backwards = go_backwards;
            given.truncate_gradient = truncate_gradient;
            given.strict = strict;
            given.name = name;
            new (self) ScanBuilder(std::move(given));
          },
          "sequences"_a, "initial"_a, "non_sequences"_a, "n_steps"_a.none(), "go_backwards"_a, "truncate_gradient"_a,
          "strict"_a, "name"_a, nb::call_guard<AtCaller>())
      .def("arguments", [](const ScanBuilder& self) { return self.arguments(); })
      .def(
          "adapts_to",
          [](ScanBuilder& self, const std::vector<Like>& outputs) {
            return self.adapts_to(step_of(outputs, nb::none(), nb::list()));
          },
          "outputs"_a, nb::call_guard<AtCaller>())
      .def(
          "finish",
          [](const ScanBuilder& self, const std::vector<Like>& outputs, nb::handle until, nb::handle updates) {
            ScanResult result = self.finish(step_of(outputs, until, updates));
            nb::list finals, changed;
            for (auto& each : result.finals) finals.append(each.defined() ? wrap(each) : nb::none());
            for (auto& [variable, value] : result.updates) changed.append(nb::make_tuple(wrap(variable), wrap(value)));
            return nb::make_tuple(result.traces, finals, wrap(result.steps), changed);
          },
          "outputs"_a, "until"_a.none(), "updates"_a, nb::call_guard<AtCaller>());
}

}  // namespace bitale::python
