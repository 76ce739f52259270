#include "rewriting/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitale/core/text.hpp"
#include "core/limits.hpp"
#include "rewriting/equation.hpp"

namespace bitale::rewriting {

namespace {

bool same_or_both_nan(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Exponentials turn absolute errors of their arguments into relative ones.
double magnitude(const std::vector<double>& point) {
  double out = 0;
  for (double value : point)
    if (std::abs(value) < 1e4) out = std::max(out, std::abs(value));
  return out;
}

}  // namespace

double relative_error(double value, const exact::Number& truth) {
  if (!std::isfinite(value)) return inf;
  const exact::Number difference = abs(exact::Number(value) - truth);
  static const exact::Number unresolved = exp(exact::Number(-921));  // 1e-400: beyond 450 digits relative to 1
  if (difference < unresolved) return 0;
  return truth == 0 ? inf : (difference / abs(truth)).nearest();
}

Agreement::Agreement(const Rule& rule, DType dtype, std::vector<double> constants, DType result, Differences& seen)
    : rule_(rule),
      dtype_(dtype),
      constants_(std::move(constants)),
      is_float_(is_float(result)),
      is_narrow_(result == DType::Float32),
      has_exact_form_(without_exact_form(rule.equation()->left()).empty()),
      epsilon_(is_narrow_ ? 1.2e-7 : 2.3e-16),
      largest_(is_narrow_ ? double(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max()),
      smallest_(is_narrow_ ? 1.2e-38 : 2.3e-308),
      seen_(seen) {}

std::string Agreement::complaint(double left, double right, const std::vector<double>& point) const {
  if (!point.empty() && is_declared(point[0])) {
    if (!agree(left, right)) seen_.declared = true;
    return {};
  }
  if (left == 0 && right == 0 && std::signbit(left) != std::signbit(right)) {
    seen_.no_signed_zeros = true;
    return rule_.has_no_signed_zeros() ? "" : "zeros of different sign (declare no_signed_zeros)";
  }
  if (agree(left, right)) return {};
  if (!is_float_) return "the values differ";
  const ExactValue truth = has_exact_form_ ? exact_left(point) : ExactValue();
  const bool is_huge = truth && abs(*truth) > largest_;
  if (std::isnan(left) || (std::isinf(left) && !std::isinf(right) && !std::isnan(right))) {
    if (is_huge && std::isinf(right)) return {};
    seen_.wider = true;
    return rule_.is_wider_domain() ? "" : "the right side is defined where the left is not (declare wider_domain)";
  }
  if (!std::isfinite(right)) return is_huge ? "" : "the left side is finite, the right side is not";
  if (!truth) return inexact_complaint(left, right, point);
  // 450 digits cannot resolve 1e-200 next to 1e308.
  static const exact::Number unresolved = exp(exact::Number(-1000));
  double largest = 0;
  for (double value : point)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  if (abs(exact::Number(right) - *truth) < unresolved * exact::Number(largest)) return {};
  if (abs(*truth) < smallest_ && std::abs(right) < smallest_) return {};  // both underflow
  const double error = relative_error(right, *truth);
  if (error <= 64 * epsilon_ * (1 + magnitude(point)) || error <= 4 * relative_error(left, *truth)) return {};
  return cat("the values differ, and the right side is further from the exact value ", truth->str(20));
}

// If there is no exact value but both sides have one, they may differ only slightly. Without exact arithmetic,
// functions may amplify rounding errors.
std::string Agreement::inexact_complaint(double left, double right, const std::vector<double>& point) const {
  double size = std::max({1.0, std::abs(left), std::abs(right)}), relative = 4 * epsilon_;
  if (!has_exact_form_) {
    relative = is_narrow_ || dtype_ == DType::Float32 ? 1e-2 : 1e-9;
    for (double value : point)
      if (std::isfinite(value)) size = std::max(size, std::abs(value));
  }
  return std::abs(left - right) <= relative * size ? "" : "the values differ";
}

bool Agreement::agree(double a, double b) const {
  if (same_or_both_nan(a, b)) return true;
  if (!is_float_ || !std::isfinite(a) || !std::isfinite(b)) return false;
  return std::abs(a - b) <= 8 * epsilon_ * std::max(std::abs(a), std::abs(b));
}

bool Agreement::is_declared(double first) const {
  const auto stored = [&](double value) { return dtype_ == DType::Float32 ? double(float(value)) : value; };
  const double given = stored(first);
  return std::any_of(rule_.differences().begin(), rule_.differences().end(), [&](double value) {
    return same_or_both_nan(stored(value), given) && (std::isnan(given) || std::signbit(value) == std::signbit(given));
  });
}

ExactValue Agreement::exact_left(const std::vector<double>& point) const {
  ExactLeaves leaves;
  std::size_t variable = 0, constant = 0;
  for (auto& leaf : rule_.equation()->leaves()) {
    const double value = is_pattern_constant(leaf) ? constants_[constant++] : point[variable++];
    leaves[leaf.node()] = dtype_ == DType::Float32 ? double(float(value)) : value;
  }
  return exact_value(rule_.equation()->left(), leaves);
}

}  // namespace bitale::rewriting
