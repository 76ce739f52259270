// Draws: the basis of bitale.tensor.random.
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
      "composed_draw",
      [=](const std::string& distribution, const Variable& rng, const Variables& parameters,
          const std::optional<Variables>& size) {
        return drawn(random::composed(distribution, rng, parameters, as_size(size)));
      },
      "distribution"_a, "rng"_a, "parameters"_a, "size"_a.none(), nb::call_guard<AtCaller>(),
      nb::sig("def composed_draw(distribution: str, rng: RandomGeneratorVariable, parameters: list[TensorVariable], "
              "size: list[TensorVariable] | None) -> tuple[RandomGeneratorVariable, TensorVariable]"));
  m.def(
      "random_categorical",
      [=](const Variable& rng, const Variable& p, const std::optional<Variables>& size) {
        return drawn(random::categorical(rng, p, as_size(size)));
      },
      "rng"_a, "p"_a, "size"_a.none(), nb::call_guard<AtCaller>(),
      nb::sig("def random_categorical(rng: RandomGeneratorVariable, p: TensorVariable, size: list[TensorVariable] | "
              "None) -> tuple[RandomGeneratorVariable, TensorVariable]"));
  m.def(
      "random_dirichlet",
      [=](const Variable& rng, const Variable& alpha, const std::optional<Variables>& size) {
        return drawn(random::dirichlet(rng, alpha, as_size(size)));
      },
      "rng"_a, "alpha"_a, "size"_a.none(), nb::call_guard<AtCaller>(),
      nb::sig("def random_dirichlet(rng: RandomGeneratorVariable, alpha: TensorVariable, size: list[TensorVariable] | "
              "None) -> tuple[RandomGeneratorVariable, TensorVariable]"));
  m.def(
      "random_multinomial",
      [=](const Variable& rng, const Variable& n, const Variable& p, const std::optional<Variables>& size) {
        return drawn(random::multinomial(rng, n, p, as_size(size)));
      },
      "rng"_a, "n"_a, "p"_a, "size"_a.none(), nb::call_guard<AtCaller>(),
      nb::sig("def random_multinomial(rng: RandomGeneratorVariable, n: TensorVariable, p: TensorVariable, size: "
              "list[TensorVariable] | None) -> tuple[RandomGeneratorVariable, TensorVariable]"));
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
        return drawn(random::choice(rng, a, as_size(size), replace, p ? std::optional<Operand>(*p) : std::nullopt));
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
