// Checking a rule by numbers: what users run on rules of their own. Ordinary points decide whether both sides are
// equal, special values (zeros, infinities, nan, huge, tiny) whether they are defined at the same places. The
// library's own equations are also compared with exact arithmetic, in its tests.
#include <algorithm>
#include <cmath>
#include <limits>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "graph/evaluate.hpp"
#include "ops/elemwise.hpp"
#include "rewriting/database.hpp"
#include "rewriting/engine.hpp"
#include "rewriting/equation.hpp"

namespace bitale::rewriting {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_points = 6000, most_failures = 5;

std::string point_text(const std::vector<double>& point) {
  std::vector<std::string> out;
  for (double value : point) out.push_back(number_text(value));
  return cat("(", join(out, ", "), ")");
}

// ---- points ---------------------------------------------------------------------------------------------------------

std::vector<double> values_of(DType dtype) {
  if (is_float(dtype))
    return {0.3,  -0.7, 1.7, 2.5,  -3.2, 0.05, 0.9,    1,     -1,   7.5,
            -9.5, 0.0,  inf, -0.0, -inf, nan,  1e-200, 1e200, -750, 750};
  if (dtype == DType::Bool) return {0, 1};
  if (is_signed_int(dtype)) return {0, 1, 2, 3, 7, 100, 127, -1, -2, -7, -128};
  return {0, 1, 2, 3, 7, 100, 127, 255};
}

// One value per leaf: all combinations, or as many of them, evenly spread.
std::vector<std::vector<double>> points_of(const Rule& rule, DType dtype, std::size_t leaves) {
  const std::vector<double> values = values_of(dtype);
  double all = std::pow(double(values.size()), double(leaves));
  std::vector<std::vector<double>> out;
  std::uint64_t state = 1;
  for (std::size_t k = 0; k < std::min(all, double(most_points)); ++k) {
    std::vector<double> point;
    std::size_t rest = k;
    for (std::size_t i = 0; i < leaves; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      point.push_back(all > double(most_points) ? values[(state >> 33) % values.size()] : values[rest % values.size()]);
      rest /= values.size();
    }
    out.push_back(std::move(point));
  }
  if (is_float(dtype))
    for (auto& point : rule.points())
      if (point.size() == leaves) out.push_back(point);
  return out;
}

bool is_ordinary(const std::vector<double>& point) {
  return std::all_of(point.begin(), point.end(), [](double v) { return std::abs(v) >= 0.01 && std::abs(v) <= 10; });
}

// ---- equations ------------------------------------------------------------------------------------------------------

class EquationCheck {
 public:
  EquationCheck(const Rule& rule, CheckReport& report) : rule_(rule), equation_(*rule.equation()), report_(report) {
    for (auto& v : ancestors(std::span(&equation_.left(), 1)))
      if (v.has_owner() && !scalar_op_of(v)) pointwise_ = false;
    for (auto& leaf : equation_.leaves()) is_constant_.push_back(is_pattern_constant(leaf));
  }

  void run() {
    for (DType dtype : {DType::Float64, DType::Float32, DType::Int64, DType::Int8, DType::UInt8, DType::Bool})
      if (is_among(dtype, equation_.dtypes)) check(dtype);
    if (report_.failures.empty() && report_.compared == 0) fail("nothing could be compared: no dtype or point fits");
    if (!report_.failures.empty()) return;
    if (rule_.is_wider_domain() && !wider_) fail("claims a wider domain, but none was seen");
    if (rule_.is_either_zero() && !other_zero_) fail("claims zeros of either sign, but none was seen");
    if (!rule_.differences().empty() && !differs_) fail("declares differences, but none was seen");
    if (rule_.is_more_accurate()) report_.notes.push_back("that it is more accurate is not checked");
  }

 private:
  void check(DType dtype) {
    const bool has_constants = std::find(is_constant_.begin(), is_constant_.end(), true) != is_constant_.end();
    std::vector<double> constants = has_constants ? rule_.constants() : std::vector<double>{0};
    if (!is_float(dtype))
      std::erase_if(constants, [&](double c) { return c != std::floor(c) || (c < 0 && !is_signed_int(dtype)); });
    // Each constant of the pattern takes another of the numbers.
    for (std::size_t k = 0; k < constants.size(); ++k) {
      std::rotate(constants.begin(), constants.begin() + 1, constants.end());
      for (const Dims& shape : {Dims{-1}, Dims{0}, Dims{}}) check_on(dtype, constants, shape);
    }
  }

  // A shape of -1: as many elements as there are points.
  void check_on(DType dtype, const std::vector<double>& numbers, const Dims& shape) {
    const bool all_points = !shape.empty() && shape[0] < 0;
    Variables leaves, inputs;
    std::size_t constants = 0;
    const std::size_t variables = std::size_t(std::count(is_constant_.begin(), is_constant_.end(), false));
    std::vector<std::vector<double>> points = points_of(rule_, dtype, variables);
    if (!pointwise_) std::erase_if(points, [&](auto& p) { return is_float(dtype) && !is_ordinary(p); });
    for (std::size_t i = 0; i < is_constant_.size(); ++i) {
      if (is_constant_[i]) {
        leaves.push_back(constant_like(numbers[constants++ % numbers.size()], dtype));
        continue;
      }
      const int rank = pointwise_ ? int(shape.size()) : std::max(int(shape.size()), equation_.leaves()[i].ndim());
      inputs.push_back(
          Variable(tensor_type(dtype, Dims(std::size_t(rank), unknown_length)), equation_.leaves()[i].name()));
      leaves.push_back(inputs.back());
    }
    try {
      keep_assumed(points, dtype, numbers);
      if (points.empty() && variables > 0) return;
      compare(dtype, leaves, inputs, points, shape, all_points);
    } catch (const TypeError&) {
      // The operations refuse this dtype or rank.
    }
  }

  // The points at which all assumptions hold; each leaf is a vector with its values at the points.
  void keep_assumed(std::vector<std::vector<double>>& points, DType dtype, const std::vector<double>& numbers) {
    if (rule_.assumptions().empty()) return;
    Variables leaves, inputs;
    std::vector<Array> values;
    std::size_t constants = 0;
    for (bool is_constant : is_constant_) {
      if (is_constant) {
        leaves.push_back(constant_like(numbers[constants++ % numbers.size()], dtype));
        continue;
      }
      Array column = Array::empty(DType::Float64, {std::int64_t(points.size())});
      for (std::size_t k = 0; k < points.size(); ++k) column.data_as<double>()[k] = points[k][inputs.size()];
      values.push_back(column.astype(dtype));
      inputs.push_back(Variable(tensor_type(dtype, Dims{unknown_length})));
      leaves.push_back(inputs.back());
    }
    std::vector<bool> kept(points.size(), true);
    for (auto& condition : rule_.assumptions()) {
      Variables slots = equation_.leaves();
      std::vector<OpRef> ops;
      const Pattern pattern(condition, slots, ops);
      const Array flags = evaluate(build(pattern, Binding{leaves, ops}, dtype), inputs, values).astype(DType::Bool);
      for (std::size_t k = 0; k < kept.size(); ++k)
        kept[k] = kept[k] && flags.data_as<bool>()[flags.size() == 1 ? 0 : k];
    }
    std::size_t at = 0;
    std::erase_if(points, [&](auto&) { return !kept[at++]; });
  }

  std::vector<Array> columns(const std::vector<std::vector<double>>& points, const Variables& inputs, DType dtype,
                             const Dims& shape) const {
    std::vector<Array> out;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Dims lengths(std::size_t(inputs[i].ndim()), 6);
      if (shape == Dims{-1} && pointwise_) lengths = {std::int64_t(points.size())};
      if (shape == Dims{0}) lengths = Dims(lengths.size(), 0);
      Array column = Array::empty(DType::Float64, lengths);
      for (std::int64_t k = 0; k < column.size(); ++k)
        column.data_as<double>()[k] =
            points.empty() ? 1 : points[std::size_t(k * (pointwise_ ? 1 : 7)) % points.size()][i];
      out.push_back(column.astype(dtype));
    }
    return out;
  }

  void compare(DType dtype, const Variables& leaves, const Variables& inputs,
               const std::vector<std::vector<double>>& points, const Dims& shape, bool all_points) {
    const Variable left = equation_.left_on(leaves);
    FunctionGraph graph(inputs, {left}, false);
    const auto result = rule_.apply(graph, graph.outputs()[0].owner());
    if (!result) return fail(cat("does not fire on its own left side (", dtype_name(dtype), ")"));
    const Variable right = (*result)[0];
    if (!left.type()->is_super(*right.type()))
      return fail(cat("changes the type from ", left.type()->str(), " to ", right.type()->str()));
    const std::vector<Array> sides = evaluate(Variables{left, right}, inputs, columns(points, inputs, dtype, shape));
    if (sides[0].shape() != sides[1].shape())
      return fail(cat("changes the shape from ", tuple_text(sides[0].shape()), " to ", tuple_text(sides[1].shape())));
    const Array l = sides[0].astype(DType::Float64), r = sides[1].astype(DType::Float64);
    for (std::int64_t k = 0; k < l.size() && report_.failures.size() < most_failures; ++k) {
      // 0-d sides take the first point; whatever is not elementwise was given ordinary numbers only.
      const std::vector<double> point =
          pointwise_ && !points.empty() ? points[all_points ? std::size_t(k) : 0] : std::vector<double>{1};
      const double a = l.data_as<double>()[k], b = r.data_as<double>()[k];
      ++report_.compared;
      if (const std::string complaint = judge(a, b, point, sides[0].dtype(), dtype); !complaint.empty())
        fail(cat(dtype_name(dtype), pointwise_ ? cat(" at ", point_text(point)) : "", ": left ", number_text(a),
                 ", right ", number_text(b), ": ", complaint));
    }
  }

  std::string judge(double l, double r, const std::vector<double>& point, DType result, DType dtype) {
    const bool same = l == r || (std::isnan(l) && std::isnan(r));
    if (is_declared_difference(point, dtype)) {
      differs_ |= !same;
      return {};
    }
    if (l == 0 && r == 0 && std::signbit(l) != std::signbit(r)) {
      other_zero_ = true;
      return rule_.is_either_zero() ? "" : "zeros of different sign (declare either_zero)";
    }
    if (same) return {};
    if (!is_float(result)) return "the values differ";
    if (!std::isfinite(l)) {
      wider_ = true;
      return rule_.is_wider_domain() ? "" : "the sides are not undefined alike (declare wider_domain)";
    }
    if (!std::isfinite(r)) return "the left side is finite, the right side is not";
    const bool narrow = result == DType::Float32 || dtype == DType::Float32;
    const double relative = narrow ? 1e-2 : 1e-9;  // functions may amplify what rounding does
    double size = std::max(std::abs(l), std::abs(r));
    if (!is_ordinary(point))
      for (double value : point)
        if (std::isfinite(value)) size = std::max({1.0, size, std::abs(value)});
    if (std::abs(l - r) <= relative * size + (narrow ? 1e-6 : 1e-13)) return {};
    return "the values differ";
  }

  bool is_declared_difference(const std::vector<double>& point, DType dtype) const {
    const double first = dtype == DType::Float32 ? double(float(point[0])) : point[0];
    return std::any_of(rule_.differences().begin(), rule_.differences().end(), [&](double value) {
      return (value == first || (std::isnan(value) && std::isnan(first))) && std::signbit(value) == std::signbit(first);
    });
  }

  void fail(std::string text) {
    if (report_.failures.size() < most_failures) report_.failures.push_back(std::move(text));
  }

  const Rule& rule_;
  const Equation& equation_;
  CheckReport& report_;
  std::vector<bool> is_constant_;
  bool pointwise_ = true, wider_ = false, other_zero_ = false, differs_ = false;
};

// ---- functions ------------------------------------------------------------------------------------------------------

// Unknown lengths are 3, and so are integer scalars, which are lengths or positions.
Array sample_value(const Variable& leaf, int seed) {
  Dims shape;
  for (std::int64_t length : leaf.static_shape()) shape.push_back(length == unknown_length ? 3 : length);
  if (leaf.ndim() == 0 && is_integer(leaf.dtype())) return Array(3.0).astype(leaf.dtype());
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t k = 0; k < out.size(); ++k)
    out.data_as<double>()[k] = is_float(leaf.dtype()) ? 0.3 + 0.17 * double((7 * k + seed) % 11) - 0.9 * double(k % 2)
                                                      : double((k + seed) % 5);
  return out.astype(leaf.dtype());
}

void check_sample(const Rule& rule, const Variable& expression, CheckReport& report) {
  const std::string shown = expression_text(expression);
  VariableMap memo;
  const Variables leaves = graph_inputs(Variables{expression});
  FunctionGraph graph(leaves, clone(Variables{expression}, memo), false);
  std::size_t fired = 0;
  for (const Apply& node : graph.toposort()) {
    if (!graph.contains(node) || !rule.root().matches(node.op())) continue;
    const auto result = rule.apply(graph, node);
    if (!result) continue;
    if (result->size() != node.output_count()) {
      report.failures.push_back(
          cat("gave ", result->size(), " variables for ", node.output_count(), " outputs of ", node.op().label()));
      return;
    }
    Replacements pairs;
    for (std::size_t i = 0; i < result->size(); ++i) {
      const Variable before = node.output(int(i)), after = (*result)[i];
      if (!after || after.same_as(before)) continue;
      if (!before.type()->is_super(*after.type())) {
        report.failures.push_back(
            cat("on ", shown, ": changes the type from ", before.type()->str(), " to ", after.type()->str()));
        return;
      }
      pairs.emplace_back(before, after);
    }
    if (graph.replace_all(pairs, rule.name())) ++fired;
  }
  if (fired == 0) {
    report.failures.push_back(cat("does not fire on its sample ", shown));
    return;
  }
  std::vector<Array> values;
  for (std::size_t i = 0; i < leaves.size(); ++i) values.push_back(sample_value(leaves[i], int(i)));
  const Array before = evaluate(expression, leaves, values);
  const Array after = evaluate(graph.outputs()[0], leaves, values);
  report.compared += std::size_t(before.size());
  const double tolerance = before.dtype() == DType::Float32 ? 1e-4 : 1e-9;
  if (before.dtype() != after.dtype() || before.shape() != after.shape() ||
      !allclose(before, after, tolerance, tolerance))
    report.failures.push_back(cat("on ", shown, ": ", before.str(), " became ", after.str()));
}

}  // namespace

CheckReport verify_rule(const Rule& rule) {
  CheckReport report{.rule = rule.name()};
  if (rule.equation()) {
    EquationCheck(rule, report).run();
    return report;
  }
  if (rule.samples().empty()) report.failures.push_back("has no sample: an expression on which it fires is needed");
  for (auto& sample : rule.samples()) check_sample(rule, sample(), report);
  return report;
}

CheckReport verify_rule(std::string_view registered) { return verify_rule(OptDB::instance().rule(registered)); }

std::string CheckReport::str() const {
  std::string out = cat("rule ", rule, ": ", ok() ? "holds" : "FAILS", ", ", compared, " values compared");
  for (auto& failure : failures) out += cat("\n  ", failure);
  for (auto& note : notes) out += cat("\n  note: ", note);
  return out;
}

}  // namespace bitale::rewriting
