// Draws: the basis of bitale.tensor.random.
#include "bitale/ops/random.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "define.hpp"
#include "stats/distribution.hpp"
#include "variable_object.hpp"

namespace bitale::python {

namespace {

struct DistributionRecord {
  std::string name, title, notes, pytensor_class;
  // Of the parameters that a draw takes: name, text, and the value where it is not given.
  std::vector<std::tuple<std::string, std::string, std::optional<double>>> parameters;
};

std::vector<DistributionRecord> records_of_draws() {
  std::vector<DistributionRecord> out;
  for (const auto& [name, of] : stats::distributions()) {
    if (!of.draw.of) continue;
    auto& record = out.emplace_back(std::string(name), std::string(of.title), std::string(of.draw_notes),
                                    std::string(of.pytensor_class));
    for (const auto& each : std::span(of.parameters).first(of.draw.parameters))
      record.parameters.emplace_back(each.name, each.text, each.initial);
  }
  return out;
}

void bind_distributions(nb::module_& m) {
  nb::class_<DistributionRecord>(m, "Distribution", "What draws from a distribution take, and their description.")
      .def_ro("name", &DistributionRecord::name)
      .def_ro("title", &DistributionRecord::title)
      .def_ro("notes", &DistributionRecord::notes)
      .def_ro("pytensor_class", &DistributionRecord::pytensor_class)
      .def_ro("parameters", &DistributionRecord::parameters);
  m.def("distributions", records_of_draws, "The distributions that can be drawn, by name.");
}

}  // namespace

void bind_random(nb::module_& m) {
  bind_distributions(m);
  const auto drawn = [](const random::Draw& draw) { return std::pair(wrap(draw.next_rng), wrap(draw.value)); };
  const auto as_size = [](const std::optional<Variables>& size) {
    return size ? random::Size(Operands(*size)) : random::Size();
  };
  m.def(
      "random_draw",
      [=](const std::string& distribution, const Variable& rng, const Variables& parameters,
          const std::optional<Variables>& size) {
        return drawn(random::draw(distribution, rng, parameters, as_size(size)));
      },
      "distribution"_a, "rng"_a, "parameters"_a, "size"_a.none(), nb::call_guard<AtCaller>(),
      nb::sig(
          "def random_draw(distribution: str, rng: RandomGeneratorVariable, parameters: list[TensorVariable], size: "
          "list[TensorVariable] | None) -> tuple[RandomGeneratorVariable, TensorVariable]"));
  m.def(
      "draw_from",
      [=](const std::string& distribution, const Variable& rng, const Variables& parameters,
          const std::optional<Variables>& size) {
        return drawn(stats::draw(distribution, rng, parameters, as_size(size)));
      },
      "distribution"_a, "rng"_a, "parameters"_a, "size"_a.none(), nb::call_guard<AtCaller>(),
      nb::sig("def draw_from(distribution: str, rng: RandomGeneratorVariable, parameters: list[TensorVariable], size: "
              "list[TensorVariable] | None) -> tuple[RandomGeneratorVariable, TensorVariable]"));
  m.def(
      "random_multivariate_normal",
      [=](const Variable& rng, const Variable& mean, const Variable& cov, const std::optional<Variables>& size,
          const std::string& method) {
        return drawn(random::multivariate_normal(rng, mean, cov, as_size(size), method));
      },
      "rng"_a, "mean"_a, "cov"_a, "size"_a.none(), "method"_a, nb::call_guard<AtCaller>(),
      nb::sig("def random_multivariate_normal(rng: RandomGeneratorVariable, mean: TensorVariable, cov: TensorVariable, "
              "size: list[TensorVariable] | None, method: str) -> tuple[RandomGeneratorVariable, TensorVariable]"));
  m.def(
      "random_permutation",
      [=](const Variable& rng, const Variable& x, const Variables& size) {
        return drawn(random::permutation(rng, x, random::Size(Operands(size))));
      },
      "rng"_a, "x"_a, "size"_a, nb::call_guard<AtCaller>(),
      nb::sig("def random_permutation(rng: RandomGeneratorVariable, x: TensorVariable, size: list[TensorVariable]) -> "
              "tuple[RandomGeneratorVariable, TensorVariable]"));
  m.def(
      "random_choice",
      [=](const Variable& rng, const Variable& a, const std::optional<Variables>& size, bool replace,
          const std::optional<Variable>& p) {
        return drawn(random::choice(rng, a, as_size(size),
                                    {.replace = replace, .p = p ? std::optional<Operand>(*p) : std::nullopt}));
      },
      "rng"_a, "a"_a, "size"_a.none(), "replace"_a, "p"_a.none(), nb::call_guard<AtCaller>(),
      nb::sig("def random_choice(rng: RandomGeneratorVariable, a: TensorVariable, size: list[TensorVariable] | None, "
              "replace: bool, p: TensorVariable | None) -> tuple[RandomGeneratorVariable, TensorVariable]"));
  m.def(
      "random_fold", [](const Variable& rng, const Variable& number) { return wrap(random::fold(rng, number)); },
      "rng"_a, "number"_a, nb::call_guard<AtCaller>(),
      nb::sig("def random_fold(rng: RandomGeneratorVariable, number: TensorVariable) -> RandomGeneratorVariable"));
  m.def(
      "random_split",
      [](const Variable& rng, int count) {
        const random::Split split = random::split(rng, count);
        nb::list children;
        for (auto& child : split.children) children.append(wrap(child));
        return nb::make_tuple(wrap(split.next_rng), children);
      },
      "rng"_a, "count"_a, nb::call_guard<AtCaller>(),
      nb::sig("def random_split(rng: RandomGeneratorVariable, count: int) -> tuple[RandomGeneratorVariable, "
              "list[RandomGeneratorVariable]]"));
  m.def(
      "random_child_key",
      [](std::uint64_t key, std::uint64_t drawn, std::uint64_t number) {
        const std::uint64_t state[] = {key, drawn};
        return child_key(state, number);
      },
      "key"_a, "drawn"_a, "number"_a);
  m.def("random_distributions", [] { return random::distribution_names(); });
}

}  // namespace bitale::python
