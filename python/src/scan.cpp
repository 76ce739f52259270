// ScanBuilder, and the functions that make loops with it: bitale/scan/_loops.py handles the forms of arguments and
// results that PyTensor has.
#include "bitale/ops/scan.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "hooks.hpp"

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

// What the signatures below abbreviate.
constexpr std::pair<std::string_view, std::string_view> abbreviations[] = {
    {"Function", "collections.abc.Callable[..., typing.Any]"},
    {"Length", "int | numpy.integer[typing.Any] | TensorVariable"},
    {"Sequences", "Like | collections.abc.Mapping[str, typing.Any] | collections.abc.Sequence[typing.Any] | None"},
    {"Like", "TensorVariable | numpy.typing.ArrayLike"},
    {"Others", "mode: str | Mode | None = None, name: str | None = None"},
    {"Updates", "return_updates: bool = True"},
};

// A function of bitale.scan.
void define_loop(nb::module_& m, std::string name, std::string_view parameters, const char* example = "") {
  const std::string in_module = "loop_" + name;
  std::string signature = cat("def ", in_module, "(", parameters, ") -> typing.Any");
  for (const auto& [brief, full] : abbreviations)
    for (std::size_t at = 0; (at = signature.find(brief, at)) != std::string::npos; at += full.size())
      signature.replace(at, brief.size(), full);
  const auto call = [name = std::move(name)](const nb::args& given, const nb::kwargs& keywords) {
    return nb::object(nb::object(hook("loops")[name.c_str()])(*given, **keywords));
  };
  m.def(in_module.c_str(), call, nb::sig(signature.c_str()), example);
}

void bind_loops(nb::module_& m) {
  define_loop(m, "scan",
              "fn: Function, sequences: Sequences = None, outputs_info: Sequences = None, non_sequences: Sequences = "
              "None, n_steps: Length | None = None, truncate_gradient: int = -1, go_backwards: bool = False, Others, "
              "profile: bool | str = False, allow_gc: bool | None = None, strict: bool = False, return_list: bool = "
              "False, Updates",
              R"(>>> a = pt.dscalar("a")
>>> powers = bt.scan(lambda p: p * a, outputs_info=1.0, n_steps=4, return_updates=False)
>>> bt.function([a], powers)(2.0)
array([ 2.,  4.,  8., 16.]))");
  define_loop(m, "map",
              "fn: Function, sequences: Sequences, non_sequences: Sequences = None, truncate_gradient: int = -1, "
              "go_backwards: bool = False, Others, Updates");
  define_loop(m, "reduce",
              "fn: Function, sequences: Sequences, outputs_info: Sequences, non_sequences: Sequences = None, "
              "go_backwards: bool = False, Others, Updates");
  for (const char* fold : {"foldl", "foldr"})
    define_loop(m, fold,
                "fn: Function, sequences: Sequences, outputs_info: Sequences, non_sequences: Sequences = None, Others, "
                "Updates");
  define_loop(m, "filter",
              "fn: Function, sequences: Sequences, non_sequences: Sequences = None, go_backwards: bool = False, "
              "Others, Updates");
  define_loop(m, "fori_loop", "lower: Length, upper: Length, body: Function, *initial: Like");
  define_loop(m, "while_loop", "condition: Function, body: Function, *initial: Like, max_steps: Length");
  define_loop(m, "scan_checkpoints",
              "fn: Function, sequences: Sequences = None, outputs_info: Sequences = None, non_sequences: Sequences = "
              "None, name: str = 'checkpointscan_fn', n_steps: Length | None = None, save_every_N: int = 10, padding: "
              "bool = True, Updates");
}

}  // namespace

void bind_scan(nb::module_& m) {
  bind_loops(m);
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
