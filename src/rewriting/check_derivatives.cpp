#include "rewriting/check_derivatives.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "autodiff/sweep.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"
#include "rewriting/stabilizing.hpp"

namespace bitale::rewriting {

namespace {

constexpr double tolerance = 1e-6, tolerance_of_differences = 1e-3, step = 1e-5;

// The derivative of the sum of an expression, of its nodes as they are; none if it is disconnected or undefined.
std::optional<Variable> plain_gradient(const Variable& expression, const Variable& by) {
  const Seed seeds[] = {{expression, ones_like(expression)}};
  ReverseSweep sweep(seeds, {by}, {});
  sweep.run();
  const Variable found = sweep.gradient(by);
  if (found.is_disconnected() || found.is_null()) return std::nullopt;
  return found;
}

Array as_doubles(const Variable& v, const Variables& inputs, const std::vector<Array>& values) {
  return evaluate(v, inputs, values).astype(DType::Float64).contiguous();
}

// The derivative of the sum of `expression` by one element of an input, by central differences. Elements that don't
// change don't count, whatever they are.
double difference(const Variable& expression, const Variables& inputs, std::vector<Array> values, std::size_t input,
                  std::int64_t element, double step) {
  const auto moved = [&](double by) {
    std::vector<Array> at = values;
    at[input] = at[input].contiguous().copy();
    at[input].mutable_data_as<double>()[element] += by;
    return as_doubles(expression, inputs, at);
  };
  const Array above = moved(step), below = moved(-step);
  double total = 0;
  for (std::int64_t k = 0; k < above.size(); ++k) {
    const double a = above.data_as<double>()[k], b = below.data_as<double>()[k];
    if (a != b && !(std::isnan(a) && std::isnan(b))) total += a - b;
  }
  return total / (2 * step);
}

bool agree(double a, double b, double relative) {
  return std::abs(a - b) <= relative * std::max({1.0, std::abs(a), std::abs(b)});
}

// Whether the derivative is that of the values, by a step that fits the size of the element, or an absolute one.
bool is_slope(double slope, const Variable& expression, const Variables& inputs, const std::vector<Array>& values,
              std::size_t input, std::int64_t element) {
  const double x = std::abs(values[input].contiguous().data_as<double>()[element]);
  const auto fits = [&](double by) {
    return agree(slope, difference(expression, inputs, values, input, element, by), tolerance_of_differences);
  };
  return std::isfinite(slope) && (fits(step) || (x > 0 && fits(step * x)));
}

}  // namespace

bool is_applied_before_differentiation(const Rule& rule) {
  const RewriteQuery& query = stabilizing();
  const auto has = [&](const std::string& tag) { return rule.has_tag(tag); };
  return std::ranges::any_of(query.include, has) && std::ranges::none_of(query.exclude, has);
}

std::string derivative_complaint(const Variable& left, const Variable& right, const Variables& inputs,
                                 const std::vector<Array>& values) {
  if (is_discrete(left.dtype()) || is_complex(left)) return {};
  const Array value = as_doubles(left, inputs, values);
  // Outside the domain a derivative has no meaning, whatever its formula gives. Elements that are reduced with others
  // have one value in common.
  const auto is_inside = [&](std::int64_t element, const Array& derivative) {
    if (value.shape() == derivative.shape()) return std::isfinite(value.data_as<double>()[element]);
    return std::all_of(value.data_as<double>(), value.data_as<double>() + value.size(),
                       [](double x) { return std::isfinite(x); });
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != DType::Float64) continue;
    Variable of_left = left, of_right = right;
    for (const std::string_view order : {"first", "second"}) {
      const Variable before = of_right;
      const auto first = plain_gradient(of_left, inputs[i]), second = plain_gradient(of_right, inputs[i]);
      if (!first || !second) break;
      of_left = *first, of_right = *second;
      const Array a = as_doubles(of_left, inputs, values), b = as_doubles(of_right, inputs, values);
      for (std::int64_t k = 0; k < a.size(); ++k) {
        const double x = a.data_as<double>()[k], y = b.data_as<double>()[k];
        if (!std::isfinite(x) || agree(x, y, tolerance) || !is_inside(k, a)) continue;
        if (is_slope(y, before, inputs, values, i, k)) continue;
        std::vector<std::string> point;
        for (const Array& each : values) point.push_back(each.str());
        return cat("the ", order, " derivative with respect to input ", i, " at element ", k, " of ", join(point, ", "),
                   " is ", number_text(x), " on the left, ", number_text(y), " on the right");
      }
    }
  }
  return {};
}

}  // namespace bitale::rewriting
