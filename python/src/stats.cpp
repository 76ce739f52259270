// Log densities, which distributions have in their records, and constraint transforms, for bitale.stats.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/stats/densities.hpp"
#include "bitale/stats/transforms.hpp"
#include "define.hpp"
#include "named_parts.hpp"
#include "stats.hpp"
#include "stats/distribution.hpp"

namespace bitale::python {

namespace {

using namespace stats;

template <class>
using AsLike = Like;
template <std::size_t>
using LikeNumber = Like;

std::optional<double> initial_of(const DistributionParameter& parameter) {
  return parameter.in_densities ? parameter.in_densities : parameter.initial;
}

template <class... Parameters, class... Names>
void bind(nb::module_& m, const char* name, Variable (*function)(Parameters...), const Names&... names) {
  add_function(
      m, name, [function](const AsLike<Parameters>&... values) { return function(as_variable(values)...); },
      nb::call_guard<AtCaller>(), names...);
}

using ConstrainedObject = nb::typed<nb::tuple, Variable, Variable>;

nb::object& constrained_class() {
  static auto& made = *new nb::object(class_of_parts(
      "bitale._core.Constrained", "What a transform gives: (value, log_jacobian).", {"value", "log_jacobian"}));
  return made;
}

ConstrainedObject as_object(const Constrained& x) {
  const nb::object parts = nb::make_tuple(x.value, x.log_jacobian);
  return nb::borrow<ConstrainedObject>(constrained_class()(parts));
}

template <class... Parameters, class... Names>
void bind_transform(nb::module_& m, const char* name, Constrained (*function)(const Operand&, Parameters...),
                    const Names&... names) {
  add_function(
      m, name,
      [function](const Like& y, const AsLike<Parameters>&... values) {
        return as_object(function(as_variable(y), as_variable(values)...));
      },
      nb::call_guard<AtCaller>(), "y"_a, names...);
}
template <class Name>
void bind_transform(nb::module_& m, const char* name, Constrained (*function)(const Operand&, int), const Name& rows) {
  add_function(
      m, name, [function](const Like& y, int count) { return as_object(function(as_variable(y), count)); },
      nb::call_guard<AtCaller>(), "y"_a, rows);
}

// A density or a tail with `count` arguments, of which the last `defaults` need not be given.
template <std::size_t count, std::size_t defaults>
void bind_counted(nb::module_& m, const Distribution& of, const LogFunction& function) {
  const auto parameter = [&](std::size_t k) { return k == 0 ? of.value : of.parameters[k - 1]; };
  const auto argument = [&]<std::size_t k>() {
    const nb::arg name(parameter(k).name.data());
    if constexpr (k < count - defaults)
      return name;
    else
      return nb::arg(name) = *initial_of(parameter(k));
  };
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    add_function(
        m, function.name.data(),
        [of = function.of](const LikeNumber<k>&... values) {
          const std::array all{Operand(as_variable(values))...};
          return of(all);
        },
        nb::call_guard<AtCaller>(), argument.template operator()<k>()...);
  }
  (std::make_index_sequence<count>());
}

void bind_log_function(nb::module_& m, const Distribution& of, const LogFunction& function) {
  const std::size_t count = function.parameters + 1;
  const auto is_optional = [](const DistributionParameter& each) { return initial_of(each).has_value(); };
  const auto defaults =
      std::size_t(std::ranges::count_if(std::span(of.parameters).first(function.parameters), is_optional));
  const auto bind_if = [&]<std::size_t number>() {
    constexpr std::size_t c = number / 5 + 2, d = number % 5;
    if constexpr (d < c)
      if (c == count && d == defaults) bind_counted<c, d>(m, of, function);
  };
  [&]<std::size_t... number>(std::index_sequence<number...>) { (bind_if.template operator()<number>(), ...); }
  (std::make_index_sequence<20>());
}

// Like the draws, by a rate or by a scale.
Variable gamma_of(const Like& x, const Like& shape, const Any& rate, const Any& scale) {
  if (!rate.is_none() && !scale.is_none()) throw ValueError("gamma_logpdf: expected a rate or a scale, got both");
  if (!rate.is_none()) return gamma_rate_logpdf(as_variable(x), as_variable(shape), as_variable(rate));
  return gamma_logpdf(as_variable(x), as_variable(shape), scale.is_none() ? Operand(1.0) : Operand(as_variable(scale)));
}

void bind_densities(nb::module_& m) {
  for (const auto& [name, of] : stats::distributions())
    for (const LogFunction& function : of.log_functions) bind_log_function(m, of, function);
  add_function(m, "gamma_logpdf", gamma_of, nb::call_guard<AtCaller>(), "x"_a, "shape"_a, "rate"_a = nb::none(),
               "scale"_a = nb::none());
}

// clang-format off
void bind_transforms(nb::module_& m) {
  m.attr("Constrained") = constrained_class();
  bind_transform(m, "lower", lower, "bound"_a);
  bind(m, "lower_inverse", lower_inverse, "x"_a, "bound"_a);
  bind_transform(m, "upper", upper, "bound"_a);
  bind(m, "upper_inverse", upper_inverse, "x"_a, "bound"_a);
  bind_transform(m, "interval", interval, "low"_a, "high"_a);
  bind(m, "interval_inverse", interval_inverse, "x"_a, "low"_a, "high"_a);
  bind_transform(m, "offset_multiplier", offset_multiplier, "offset"_a, "multiplier"_a);
  bind(m, "offset_multiplier_inverse", offset_multiplier_inverse, "x"_a, "offset"_a, "multiplier"_a);
  bind_transform(m, "ordered", ordered);
  bind(m, "ordered_inverse", ordered_inverse, "x"_a);
  bind_transform(m, "positive_ordered", positive_ordered);
  bind(m, "positive_ordered_inverse", positive_ordered_inverse, "x"_a);
  bind_transform(m, "simplex", simplex);
  bind(m, "simplex_inverse", simplex_inverse, "x"_a);
  bind_transform(m, "simplex_stick", simplex_stick);
  bind(m, "simplex_stick_inverse", simplex_stick_inverse, "x"_a);
  bind_transform(m, "sum_to_zero", sum_to_zero);
  bind(m, "sum_to_zero_inverse", sum_to_zero_inverse, "x"_a);
  bind_transform(m, "unit_vector", unit_vector);
  bind(m, "unit_vector_inverse", unit_vector_inverse, "x"_a);
  bind_transform(m, "cholesky_corr", cholesky_corr, "rows"_a);
  bind(m, "cholesky_corr_inverse", cholesky_corr_inverse, "x"_a);
  bind_transform(m, "corr_matrix", corr_matrix, "rows"_a);
  bind(m, "corr_matrix_inverse", corr_matrix_inverse, "x"_a);
  bind_transform(m, "cholesky_cov", cholesky_cov, "rows"_a);
  bind(m, "cholesky_cov_inverse", cholesky_cov_inverse, "x"_a);
  bind_transform(m, "cov_matrix", cov_matrix, "rows"_a);
  bind(m, "cov_matrix_inverse", cov_matrix_inverse, "x"_a);
}
// clang-format on

}  // namespace

void bind_stats(nb::module_& m) {
  bind_densities(m);
  bind_transforms(m);
}

}  // namespace bitale::python
