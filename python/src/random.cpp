// Draws: what bitale.tensor.random is written over.
#include "bitale/ops/random.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "bind.hpp"
#include "define.hpp"
#include "variable_object.hpp"

namespace bitale::python {

void bind_random(nb::module_& m) {
  m.def(
      "random_draw",
      [](const std::string& distribution, const Variable& rng, const Variables& parameters,
         const std::optional<Variables>& size) {
        const random::Draw draw =
            random::draw(distribution, rng, parameters, size ? random::Size(Operands(*size)) : random::Size());
        return std::pair(wrap(draw.next_rng), wrap(draw.value));
      },
      "distribution"_a, "rng"_a, "parameters"_a, "size"_a.none(), nb::call_guard<AtCaller>(),
      nb::sig(
          "def random_draw(distribution: str, rng: RandomGeneratorVariable, parameters: list[TensorVariable], size: "
          "list[TensorVariable] | None) -> tuple[RandomGeneratorVariable, TensorVariable]"));
  m.def(
      "random_rows",
      [](const std::string& distribution, const Variable& rng, const Variables& batch, const Variable& length,
         const std::optional<Variable>& population, const Variables& parameters) {
        const auto from = population ? std::optional<Operand>(*population) : std::nullopt;
        const random::Draw draw = random::rows(distribution, rng, batch, length, from, parameters);
        return std::pair(wrap(draw.next_rng), wrap(draw.value));
      },
      "distribution"_a, "rng"_a, "batch"_a, "length"_a, "population"_a.none(), "parameters"_a,
      nb::call_guard<AtCaller>(),
      nb::sig("def random_rows(distribution: str, rng: RandomGeneratorVariable, batch: list[TensorVariable], length: "
              "TensorVariable, population: TensorVariable | None, parameters: list[TensorVariable]) -> "
              "tuple[RandomGeneratorVariable, TensorVariable]"));
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
