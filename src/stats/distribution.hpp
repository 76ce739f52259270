// A distribution is one record, next to the formulas of its densities: its parameters and what they mean, how it is
// drawn, and the logarithms of its densities and probabilities. The functions of Python with their descriptions, the
// labelled draws and PyTensor's classes of random variables follow from the record.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/ops/operand.hpp"
#include "bitale/ops/random.hpp"
#include "core/unique_name.hpp"
#include "ops/random/compositions.hpp"

namespace bitale::stats {

struct DistributionParameter {
  std::string_view name, text;
  std::optional<double> initial = {};  // what it is where it is not given
  Allowed range = Allowed::any;        // of composed draws, which refuse others
  DType dtype = DType::Float64;
  std::optional<double> in_densities = {};  // the initial value of the densities only
};

// A density, distribution function or survival function, of a value and the first parameters of the distribution.
struct LogFunction {
  std::string_view name;
  std::size_t parameters;
  Variable (*of)(std::span<const Operand> value_and_parameters);
};

// How draws are composed of NumPy's, where NumPy does not have the distribution.
struct ComposedOf {
  Variable (*formula)(DrawSource& from, const Variables& parameters) = nullptr;
  DType result = DType::Float64;
  // Two parameters of which the first is at most the second.
  std::optional<std::pair<std::size_t, std::size_t>> in_order = {};
};

struct DrawFunction {
  std::size_t parameters = 0;  // how many of the distribution's it takes
  random::Draw (*of)(const Operand& rng, std::span<const Operand> parameters, const random::Size& size) = nullptr;
};

// Of a distribution of vectors, matrices or categories: the number of its core dimensions, which of them each parameter
// has, and which a value has.
struct CoreDimensions {
  int count = 0;
  std::vector<std::vector<std::size_t>> of_parameters = {};
  std::vector<std::size_t> of_value = {};
};

struct Distribution {
  std::string_view name;
  std::string_view title;  // "normal distribution"
  std::vector<DistributionParameter> parameters = {};
  DrawFunction draw = {};  // null: it can't be drawn
  ComposedOf composed_of = {};
  std::vector<LogFunction> log_functions = {};
  std::string_view draw_notes = {};      // sentences of the description of draws
  std::string_view pytensor_class = {};  // of random variables; empty if it has none
  CoreDimensions core = {};
  // Of the densities: their first argument, and further lines of the description (python/src/reference).
  DistributionParameter value = {"x", "Value."};
  std::string_view density_lines = {};
};

using Distributions = std::map<std::string_view, Distribution>;
const Distributions& distributions();

// The draw of `parameters`, as many as it takes. NotImplementedError for a name that is not there or can't be drawn;
// ValueError for another number of parameters.
random::Draw draw(std::string_view distribution, const Operand& rng, const Operands& parameters,
                  const random::Size& size);

struct RegisterDistribution {
  explicit RegisterDistribution(Distribution distribution);
};

template <class Result, class... Parameters>
constexpr std::size_t count_of_parameters(Result (*)(Parameters...)) {
  return sizeof...(Parameters);
}

template <auto function>
LogFunction log_function(std::string_view name) {
  static constexpr std::size_t count = count_of_parameters(function);
  return {name, count - 1, [](std::span<const Operand> values) {
            return [&]<std::size_t... at>(std::index_sequence<at...>) { return function(values[at]...); }
            (std::make_index_sequence<count>());
          }};
}

template <auto function>
DrawFunction draw_function() {
  static constexpr std::size_t count = count_of_parameters(function) - 2;
  return {count, [](const Operand& rng, std::span<const Operand> parameters, const random::Size& size) {
            return [&]<std::size_t... at>(std::index_sequence<at...>) { return function(rng, parameters[at]..., size); }
            (std::make_index_sequence<count>());
          }};
}

#define LOG_FUNCTION(name) ::bitale::stats::log_function<name>(#name)
#define DISTRIBUTION(...)                                                               \
  static const ::bitale::stats::RegisterDistribution BITALE_UNIQUE_NAME(distribution_)( \
      ::bitale::stats::Distribution __VA_ARGS__)

}  // namespace bitale::stats
