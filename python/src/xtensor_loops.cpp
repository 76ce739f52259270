// Loops of tensors and labelled tensors: what bitale.scan makes a loop with; and the distributions of
// bitale.xtensor.random.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "bitale/xtensor/calculus.hpp"
#include "bitale/xtensor/random.hpp"
#include "bitale/xtensor/scan.hpp"
#include "bitale/xtensor/stats.hpp"
#include "define.hpp"
#include "labelled.hpp"

namespace bitale::python {

namespace {

using namespace xtensor;
using Caller = nb::call_guard<AtCaller>;

// ---- loops ----------------------------------------------------------------------------------------------------------

// Tensors stay without names; None is a null one.
AnyTensor any_tensor(nb::handle object) {
  if (object.is_none()) return {};
  if (labelled_in(object) || is_data_array(object)) return as_labelled(object);
  return as_variable(object);
}

nb::object object_of(const AnyTensor& x) {
  if (x.is_labelled()) return nb::cast(XVariable(x));
  return x.tensor().defined() ? wrap(x.tensor()) : nb::none();
}

nb::list objects_of(const std::vector<AnyTensor>& tensors) {
  nb::list out;
  for (const AnyTensor& each : tensors) out.append(object_of(each));
  return out;
}

Variable scalar_or_tensor(nb::handle object) {
  const XVariable* x = labelled_in(object);
  return x ? x->values() : as_variable(object);
}

xtensor::ScanStep step_of(const nb::list& outputs, nb::handle until, nb::handle updates) {
  std::vector<AnyTensor> values;
  for (nb::handle each : outputs) values.push_back(any_tensor(each));
  Replacements pairs;
  for (auto& [variable, value] : as_pairs(updates, "scan: updates")) {
    if (const XVariable* shared = labelled_in(variable))
      pairs.emplace_back(shared->values(), values_in_order(as_labelled(value), shared->dims(), "scan: updates"));
    else
      pairs.emplace_back(require_variable(variable, "scan: an updated shared variable"), as_variable(value));
  }
  return {std::move(values), until.is_none() ? Variable() : scalar_or_tensor(until), std::move(pairs)};
}

// The dimension of the steps where none is given: the first one of the first labelled sequence, or initial values that
// are along it.
Dim default_dim(const xtensor::ScanArguments& given) {
  const auto first_of = [](const AnyTensor& x) {
    const auto* labelled = std::get_if<XVariable>(&x);
    return labelled && !labelled->dims().empty() ? std::optional(labelled->dims()[0].name()) : std::nullopt;
  };
  for (const xtensor::ScanSequence& each : given.sequences)
    if (const auto name = first_of(each.input)) return *name;
  for (const xtensor::ScanInitial& each : given.initial)
    if (const auto name = first_of(each.value); name && each.taps != std::vector<int>{-1}) return *name;
  return "step";
}

void bind_scan_builder(nb::module_& m) {
  using Builder = xtensor::ScanBuilder;
  nb::class_<Builder>(m, "ScanBuilder", "What bitale.scan makes a loop with.")
      .def(
          "__init__",
          [](Builder* self, const std::vector<std::pair<Any, std::vector<int>>>& sequences,
             const std::vector<std::tuple<Any, std::vector<int>, bool>>& initial, const nb::list& constants,
             Any n_steps, bool go_backwards, std::int64_t truncate_gradient, bool strict, const std::string& name,
             Any dim) {
            xtensor::ScanArguments given;
            for (auto& [input, taps] : sequences) given.sequences.emplace_back(any_tensor(input), taps);
            for (auto& [value, taps, is_weak] : initial) {
              given.initial.emplace_back(any_tensor(value), taps);
              given.initial.back().is_weak = is_weak;
            }
            for (nb::handle each : constants) given.non_sequences.push_back(any_tensor(each));
            if (!n_steps.is_none()) given.n_steps = scalar_or_tensor(n_steps);
            given.go_backwards = go_backwards;
            given.truncate_gradient = truncate_gradient;
            given.strict = strict;
            given.name = name;
            const Dim along = dim.is_none() ? default_dim(given) : as_dim(dim);
            new (self) Builder(std::move(given), along);
          },
          "sequences"_a, "initial"_a, "non_sequences"_a, "n_steps"_a.none(), "go_backwards"_a, "truncate_gradient"_a,
          "strict"_a, "name"_a, "dim"_a.none() = nb::none(), Caller())
      .def("arguments", [](const Builder& self) { return objects_of(self.arguments()); })
      .def(
          "adapts_to",
          [](Builder& self, const nb::list& outputs) {
            return self.adapts_to(step_of(outputs, nb::none(), nb::list()));
          },
          "outputs"_a, Caller())
      .def(
          "finish",
          [](const Builder& self, const nb::list& outputs, nb::handle until, nb::handle updates) {
            const xtensor::ScanResult result = self.finish(step_of(outputs, until, updates));
            nb::list changed;
            for (auto& [variable, value] : result.updates) changed.append(nb::make_tuple(wrap(variable), wrap(value)));
            return nb::make_tuple(objects_of(result.traces), objects_of(result.finals), wrap(result.steps), changed);
          },
          "outputs"_a, "until"_a.none(), "updates"_a, Caller());
}

// ---- draws ----------------------------------------------------------------------------------------------------------

// Names of extra dimensions with lengths in a dict, or Dim objects that have one.
xtensor::random::DrawDims draw_dims(nb::handle core, nb::handle extra, const std::string& who) {
  xtensor::random::DrawDims out;
  out.core = as_core_names(core, who);
  if (extra.is_none()) return out;
  if (!PyDict_Check(extra.ptr())) {
    out.extra = as_dims(extra, who);
    return out;
  }
  for (auto [dim, length] : nb::borrow<nb::dict>(extra)) {
    out.extra.push_back(as_dim(dim));
    out.lengths.push_back(length.is_none() ? std::nullopt : std::optional(Operand(scalar_or_tensor(length))));
  }
  return out;
}

}  // namespace

void bind_xtensor_loops(nb::module_& m) {
  bind_scan_builder(m);
  m.def(
      "xtensor_draw",
      [](const std::string& distribution, const nb::callable& function, nb::args parameters, Any core_dims,
         Any extra_dims) {
        XOperands operands;
        for (nb::handle each : parameters) operands.emplace_back(as_labelled(each));
        const auto of_tensors = [&](const Variables& values, const bitale::random::Size& size) {
          nb::object lengths = nb::none();
          if (size) {
            nb::list all;
            for (const Variable& each : size->variables) all.append(wrap(each));
            lengths = all;
          }
          const nb::object drawn = function(nb::cast(values), lengths);
          if (!PyTuple_Check(drawn.ptr())) return bitale::random::Draw{{}, as_variable(drawn)};
          return bitale::random::Draw{require_variable(drawn[0], "xtensor.random: a generator"), as_variable(drawn[1])};
        };
        const auto found =
            xtensor::random::draw(distribution, operands, draw_dims(core_dims, extra_dims, distribution), of_tensors);
        return nb::make_tuple(found.next_rng.defined() ? wrap(found.next_rng) : nb::none(), found.value);
      },
      "distribution"_a, "function"_a, "parameters"_a, "core_dims"_a.none(), "extra_dims"_a.none(), Caller(),
      nb::sig("def xtensor_draw(distribution: str, function: typing.Callable[..., typing.Any], *parameters: "
              "typing.Any, core_dims: "
              "typing.Any, extra_dims: typing.Any) -> tuple[RandomGeneratorVariable | None, XTensorVariable]"),
      "What a function of the aligned parameters and a size draws, with its dimensions.");
  m.def(
      "xtensor_log_function",
      [](const std::string& name, const nb::callable& function, nb::args values, Any core_dims) {
        XOperands operands;
        for (nb::handle each : values) operands.emplace_back(as_labelled(each));
        return xtensor::stats::log_function(name, operands, as_core_names(core_dims, name), [&](const Variables& all) {
          return as_variable(function(*nb::tuple(nb::cast(all))));
        });
      },
      "name"_a, "function"_a, "values"_a, "core_dims"_a.none(), Caller(),
      nb::sig("def xtensor_log_function(name: str, function: typing.Callable[..., typing.Any], *values: typing.Any, "
              "core_dims: typing.Any) -> XTensorVariable"),
      "A density or tail, of the aligned tensors, as one of labelled values.");
}

}  // namespace bitale::python
