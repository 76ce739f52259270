// For each dtype, a list of points (ordinary numbers, special values, those of the rule) is evaluated on both sides as
// one vector; then ordinary points as scalars, as empty arrays, with static lengths, and broadcast against each other.
// If the sides differ, exact arithmetic decides. Each difference that the rule declares must occur.
#include "rewriting/check_equation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "core/limits.hpp"
#include "graph/evaluate.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "rewriting/agreement.hpp"
#include "rewriting/check_derivatives.hpp"
#include "rewriting/equation.hpp"

namespace bitale::rewriting {

namespace {

constexpr std::size_t max_failures = 8, max_per_kind = 2;
constexpr DType dtypes[] = {DType::Float64, DType::Float32, DType::Int8, DType::Int64, DType::UInt8, DType::Bool};
constexpr DType mixed_dtypes[] = {DType::Float64, DType::Float32, DType::Int8, DType::UInt8, DType::Bool};

using Point = std::vector<double>;  // one value per variable leaf
using Points = std::vector<Point>;

std::string point_text(const Point& point) {
  std::vector<std::string> out;
  for (double value : point) out.push_back(number_text(value));
  return cat("(", join(out, ", "), ")");
}

// ---- points ---------------------------------------------------------------------------------------------------------

// Fewer values per leaf for more leaves, since all combinations are used.
std::vector<double> float_values(std::size_t leaves) {
  if (leaves <= 1)
    return {-10,    -3, -1.5, -1,  -0.5, -1e-3, 1e-3, 0.25,    0.5,      0.75,   1,     1.5,
            2,      3,  10,   0.0, -0.0, inf,   -inf, nan,     1e-30,    -1e-30, 1e-12, -1e-12,
            1e-8,   5,  20,   -20, 40,   -40,   80,   -80,     750,      -750,   1e300, -1e300,
            1e-300, 30, -30,  6,   -6,   27,    -27,  1.5e308, -1.5e308, 1e-310};
  if (leaves == 2)
    return {-3,  -1,    -0.5, 0.5,  1,   2,     0.0,    -0.0,   inf,     -inf,
            nan, 1e-20, 40,   -750, 750, 1e200, -1e200, 1e-200, 1.5e308, 1e-310};
  if (leaves == 3) return {-2, -0.5, 1, 3, 0.0, -0.0, inf, nan, 1e200, 1e-200, 1.5e308};
  if (leaves == 4) return {-2, 0.5, 3, 0.0, inf, nan};
  return {-2, 0.5, 0.0, nan};
}

std::vector<double> int_values(DType dtype, std::size_t leaves) {
  if (dtype == DType::Bool) return {0, 1};
  std::vector<double> out =
      leaves <= 2 ? std::vector<double>{0, 1, 2, 3, 5, 11, 100, 127} : std::vector<double>{0, 1, 3, 127};
  if (is_signed_int(dtype)) out.insert(out.end(), {-1, -2, -7, -128});
  if (kind(dtype) == DTypeKind::UInt) out.push_back(255);
  return out;
}

// All combinations of one value for each leaf.
Points all_combinations(const std::vector<std::vector<double>>& values) {
  Points out{{}};
  for (auto& of_leaf : values) {
    Points longer;
    for (double value : of_leaf)
      for (auto& point : out) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    out = std::move(longer);
  }
  return out;
}
Points all_combinations(const std::vector<double>& values, std::size_t leaves) {
  return all_combinations(std::vector(leaves, values));
}

Points points_of(const Rule& rule, DType dtype, std::size_t leaves) {
  Points out = all_combinations(is_float(dtype) ? float_values(leaves) : int_values(dtype, leaves), leaves);
  if (is_float(dtype))
    for (auto& point : rule.points())
      if (point.size() == leaves) out.push_back(point);
  return out;
}

// Points at which few functions overflow or lose digits.
Points ordinary_points(DType dtype, std::size_t leaves) {
  Points out;
  for (std::int64_t k = 0; k < 18; ++k) {
    Point point;
    for (std::size_t i = 0; i < leaves; ++i)
      point.push_back(is_float(dtype) ? 0.1 + 0.09 * double((k + 2 * std::int64_t(i)) % 9)
                                      : double((k + std::int64_t(i)) % 2 + 1));
    out.push_back(std::move(point));
  }
  if (!is_float(dtype)) return out;
  for (double value : {-0.7, 1.7, 2.5, -3.2, 7.5, 30.0, 500.0}) out.push_back(Point(leaves, value));
  return out;
}

// Points for operands of different dtypes: the limits of narrow integers, where they wrap, and floats at which a step
// in fewer bits overflows or rounds.
Points mixed_points(const std::vector<DType>& dtypes) {
  std::vector<std::vector<double>> values;
  for (DType dtype : dtypes) {
    values.push_back({0, 1});
    if (dtype == DType::Int8) values.back() = {-128, -1, 0, 3, 127};
    if (dtype == DType::UInt8) values.back() = {0, 1, 3, 255};
    if (dtype == DType::Float32) values.back() = {-2.5, 0.0, 1, 16777216, 1e30f};
    if (dtype == DType::Float64) values.back() = {-2.5, 0.0, 1, 1e200};
  }
  return all_combinations(values);
}

// The choices of constants: all combinations of values that the rule lists and the dtype can represent.
Points constant_choices(const Rule& rule, DType dtype) {
  std::vector<double> values = rule.constants();
  std::erase_if(values, [&](double c) {
    return !is_float(dtype) && (c != std::floor(c) || (c < 0 && !is_signed_int(dtype)) || dtype == DType::Bool);
  });
  const auto& leaves = rule.equation()->leaves();
  return all_combinations(values, std::size_t(std::count_if(leaves.begin(), leaves.end(), is_pattern_constant)));
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

// The static shapes of the variable leaves, and the shapes of their values.
struct Shapes {
  std::vector<Dims> types, values;
};

std::vector<Shapes> shapes_for(std::size_t leaves) {
  const auto all = [&](const Dims& type, const Dims& value) {
    return Shapes{std::vector<Dims>(leaves, type), std::vector<Dims>(leaves, value)};
  };
  std::vector<Shapes> out{all({}, {}), all({unknown_length}, {0}), all({3}, {3}),
                          all({unknown_length, unknown_length}, {2, 3})};
  if (leaves < 2) return out;
  for (std::size_t wide = 0; wide < leaves; ++wide) {
    Shapes crossed = all({1, unknown_length}, {1, 3}), single = all({1, 1}, {1, 1});
    crossed.types[wide] = {unknown_length, 1};
    crossed.values[wide] = {2, 1};
    single.types[wide] = {unknown_length, 2};
    single.values[wide] = {3, 2};
    out.push_back(std::move(crossed));
    out.push_back(std::move(single));
  }
  return out;
}

// ---- the check ------------------------------------------------------------------------------------------------------

// The two sides over leaves of certain types.
struct Sides {
  Variables leaves, inputs;  // all leaves, and those that vary
  Variable left, right;
};

class EquationCheck {
 public:
  EquationCheck(const Rule& rule, CheckReport& report) : rule_(rule), equation_(*rule.equation()), report_(report) {
    for (auto& v : ancestors(std::span(&equation_.left(), 1)))
      if (v.has_owner() && !scalar_op_of(v)) pointwise_ = false;
    for (auto& leaf : equation_.leaves())
      if (!is_pattern_constant(leaf)) variables_.push_back(leaf);
  }

  void run() {
    for (DType dtype : dtypes) {
      if (!is_among(dtype, equation_.dtypes)) continue;
      for (auto& constants : constant_choices(rule_, dtype)) check(dtype, constants);
    }
    mix_dtypes();
    if (report_.failures.empty() && is_applied_before_differentiation(rule_)) check_derivatives();
    if (rule_.is_more_accurate()) check_accuracy();
    if (report_.failures.empty() && report_.compared == 0) fail("nothing could be compared: no dtype or point fits");
    if (!report_.failures.empty()) return;
    if (rule_.is_wider_domain() && !seen_.wider) fail("claims a wider domain, but none was seen");
    if (rule_.has_no_signed_zeros() && !seen_.no_signed_zeros) fail("claims zeros of either sign, but none was seen");
    if (!rule_.differences().empty() && !seen_.declared) fail("declares differences, but none was seen");
    if (const std::string op = without_exact_form(equation_.left()); pointwise_ && !op.empty())
      report_.notes.push_back(cat("compared to nine digits only: ", op, " has no exact form"));
    if (!rule_.assumptions().empty() && !rule_.has_tag(unsafe))
      report_.notes.push_back("applied only where a graph shows that what it assumes holds (or with the tag unsafe)");
  }

 private:
  void check(DType dtype, const Point& constants) {
    const std::size_t count = variables_.size();
    if (pointwise_) {
      const Points points = assumed(points_of(rule_, dtype, count), dtype, constants);
      const Dims type = count ? Dims{unknown_length} : Dims{},
                 shape = count ? Dims{std::int64_t(points.size())} : Dims{};
      compare({std::vector<Dims>(count, type), std::vector<Dims>(count, shape)}, points, dtype, constants);
    }
    const Points ordinary = assumed(ordinary_points(dtype, count), dtype, constants);
    if (count == 0 || ordinary.empty()) return;
    for (auto shapes : shapes_for(count)) {
      if (!pointwise_ && !raise_ranks(shapes)) continue;
      compare(shapes, ordinary, dtype, constants);
    }
  }

  // Operations over axes need as many dimensions as the pattern has; lower ranks are not tried.
  bool raise_ranks(Shapes& shapes) const {
    for (std::size_t i = 0; i < variables_.size(); ++i)
      if (int(shapes.types[i].size()) < variables_[i].ndim()) return false;
    return true;
  }

  Variables leaves_on(DType dtype, const Point& constants, const Variables& inputs) const {
    Variables out;
    std::size_t constant = 0, variable = 0;
    for (auto& leaf : equation_.leaves())
      out.push_back(is_pattern_constant(leaf) ? constant_like(constants[constant++], dtype) : inputs[variable++]);
    return out;
  }

  // None if the operations refuse the dtype or rank, or the rule fails (which is reported).
  std::optional<Sides> sides_on(const std::vector<Dims>& types, DType dtype, const Point& constants) {
    Sides out;
    for (std::size_t i = 0; i < variables_.size(); ++i)
      out.inputs.push_back(Variable(tensor_type(dtype, types[i]), variables_[i].name()));
    try {
      out.leaves = leaves_on(dtype, constants, out.inputs);
      out.left = equation_.left_on(out.leaves);
    } catch (const TypeError&) {
      return std::nullopt;
    }
    return complete(std::move(out), dtype_name(dtype)) ? std::optional(out_) : std::nullopt;
  }
  // Adds the right side as the rule builds it.
  bool complete(Sides sides, std::string_view where) {
    FunctionGraph graph(sides.inputs, {sides.left}, Clone::No);
    const auto result = equation_.apply(graph, graph.outputs()[0].owner(), true);
    if (!result) return fail(cat("does not fire on its own left side (", where, ")")), false;
    sides.right = (*result)[0];
    if (!sides.left.type()->is_super(*sides.right.type()))
      return fail(cat("changes the type from ", sides.left.type()->str(), " to ", sides.right.type()->str())), false;
    out_ = std::move(sides);
    return true;
  }

  // An elementwise array of whether all assumptions hold.
  Array assumptions_hold(const Variables& leaves, const Variables& inputs, const std::vector<Array>& values,
                         DType dtype) const {
    Variable all = constant(Array(true));
    for (auto& condition : equation_.assumptions_on(leaves, dtype)) all = and_(all, cast(condition, DType::Bool));
    return evaluate(all, inputs, values).astype(DType::Bool);
  }

  // The points at which all assumptions hold.
  Points assumed(Points points, DType dtype, const Point& constants) const {
    if (rule_.assumptions().empty() || points.empty()) return points;
    Variables inputs;
    for (std::size_t i = 0; i < variables_.size(); ++i)
      inputs.push_back(Variable(tensor_type(dtype, Dims{unknown_length})));
    const Shapes shapes{{}, std::vector<Dims>(variables_.size(), Dims{std::int64_t(points.size())})};
    const Array flags =
        assumptions_hold(leaves_on(dtype, constants, inputs), inputs, columns(shapes, points, dtype), dtype);
    std::size_t at = 0;
    std::erase_if(points, [&](auto&) {
      const bool holds = flags.data_as<bool>()[flags.size() == 1 ? 0 : at];
      ++at;
      return !holds;
    });
    return points;
  }

  // The values of the leaves; element k of each comes from the same point.
  std::vector<Array> columns(const Shapes& shapes, const Points& points, DType dtype) const {
    std::vector<Array> out;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      Array column = Array::empty(DType::Float64, shapes.values[i]);
      const std::size_t stride = std::size_t(column.size()) < points.size() ? 7 : 1;  // a few of all kinds
      for (std::int64_t k = 0; k < column.size(); ++k)
        column.mutable_data_as<double>()[k] = points[std::size_t(k) * stride % points.size()][i];
      out.push_back(column.astype(dtype));
    }
    return out;
  }

  void compare(const Shapes& shapes, const Points& points, DType dtype, const Point& constants) {
    if (points.empty() && !variables_.empty()) return;
    const std::optional<Sides> sides = sides_on(shapes.types, dtype, constants);
    if (!sides) return;
    const std::vector<Array> values = columns(shapes, points, dtype);
    std::vector<Array> results;
    try {
      results.push_back(evaluate(sides->left, sides->inputs, values));
    } catch (const Error&) {
      return;  // such as a maximum of no elements: these values are incompatible
    }
    try {
      results.push_back(evaluate(sides->right, sides->inputs, values));
    } catch (const Error& error) {
      return fail(cat(dtype_name(dtype), ": ", error.what()));
    }
    if (results[0].shape() != results[1].shape())
      return fail(
          cat("changes the shape from ", tuple_text(results[0].shape()), " to ", tuple_text(results[1].shape())));
    const Array holds = assumptions_hold(sides->leaves, sides->inputs, values, dtype);
    if (pointwise_)
      compare_elements(results, values, holds.broadcast_to(results[0].shape()).contiguous(), dtype, constants);
    else if (std::all_of(holds.data_as<bool>(), holds.data_as<bool>() + holds.size(), [](bool each) { return each; }))
      compare_whole(results, dtype);
  }

  void compare_elements(const std::vector<Array>& sides, const std::vector<Array>& values, const Array& holds,
                        DType dtype, const Point& constants, std::string where = {}) {
    if (where.empty()) where = dtype_name(dtype);
    const Agreement agreement(rule_, dtype, constants, sides[0].dtype(), seen_);
    const Array left = sides[0].astype(DType::Float64).contiguous(),
                right = sides[1].astype(DType::Float64).contiguous();
    std::vector<Array> operands;
    for (auto& value : values) operands.push_back(value.astype(DType::Float64).broadcast_to(left.shape()).contiguous());
    for (std::int64_t k = 0; k < left.size() && report_.failures.size() < max_failures; ++k) {
      if (!holds.data_as<bool>()[k]) continue;
      Point point;
      for (auto& operand : operands) point.push_back(operand.data_as<double>()[k]);
      const double l = left.data_as<double>()[k], r = right.data_as<double>()[k];
      ++report_.compared;
      const std::string complaint = agreement.complaint(l, r, point);
      if (!complaint.empty() && ++kinds_[complaint.substr(0, 24)] <= max_per_kind)
        fail(cat(where, " at ", point_text(point), constants.empty() ? "" : cat(" with ", point_text(constants)),
                 ": left ", number_text(l), ", right ", number_text(r), ": ", complaint));
    }
  }

  void compare_whole(const std::vector<Array>& sides, DType dtype) {
    const double tolerance = !is_float(sides[0].dtype()) ? 0 : dtype == DType::Float32 ? 1e-4 : 1e-10;
    report_.compared += std::size_t(sides[0].size());
    if (!allclose(sides[0], sides[1], tolerance, tolerance))
      fail(cat(dtype_name(dtype), ": left ", sides[0].str(), ", right ", sides[1].str(), ": the values differ"));
  }

  // Checks operands of different dtypes: each step of the left side computes in a dtype of its own, and where the rule
  // fires, no step may have moved to another one. All combinations are tried, constants included; many are
  // incompatible, and for most the rule does not fire.
  void mix_dtypes() {
    const auto& leaves = equation_.leaves();
    if (!pointwise_ || leaves.size() < 2 || !report_.failures.empty()) return;
    const std::size_t kinds = std::size(mixed_dtypes);
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < leaves.size(); ++i) combinations *= kinds;
    // For many leaves only an evenly spread part is tried: the step is coprime to the number of dtypes.
    constexpr std::size_t most = 216, step = 41;
    for (std::size_t k = 0; k < std::min(most, combinations); ++k) {
      std::vector<DType> chosen;
      for (std::size_t i = 0, code = combinations <= most ? k : k * step % combinations; i < leaves.size();
           ++i, code /= kinds)
        chosen.push_back(mixed_dtypes[code % kinds]);
      const bool alike = std::all_of(chosen.begin(), chosen.end(), [&](DType dtype) { return dtype == chosen[0]; });
      if (!alike) compare_mixed(chosen);
    }
  }

  // One dtype per leaf.
  void compare_mixed(const std::vector<DType>& chosen) {
    Sides sides;
    Point constants;
    std::vector<DType> dtypes;
    std::size_t constant = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const Variable& leaf = equation_.leaves()[i];
      if (!is_pattern_constant(leaf)) {
        dtypes.push_back(chosen[i]);
        sides.inputs.push_back(Variable(tensor_type(chosen[i], Dims{unknown_length}), leaf.name()));
        sides.leaves.push_back(sides.inputs.back());
        continue;
      }
      const double value = rule_.constants()[constant++ % rule_.constants().size()];
      sides.leaves.push_back(constant_like(value, chosen[i]));
      constants.push_back(*scalar_constant(sides.leaves.back()));
      if (constants.back() != value) return;  // the dtype cannot represent it
    }
    try {
      sides.left = equation_.left_on(sides.leaves);
      FunctionGraph graph(sides.inputs, {sides.left}, Clone::No);
      const auto result = equation_.apply(graph, graph.outputs()[0].owner(), true);
      if (!result) return;
      sides.right = (*result)[0];
    } catch (const TypeError&) {
      return;
    }
    const Points points = mixed_points(dtypes);
    std::vector<Array> values;
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
      Array column = Array::empty(DType::Float64, {std::int64_t(points.size())});
      for (std::size_t k = 0; k < points.size(); ++k) column.mutable_data_as<double>()[k] = points[k][i];
      values.push_back(column.astype(dtypes[i]));
    }
    const auto results = evaluate(Variables{sides.left, sides.right}, sides.inputs, values);
    if (results[0].dtype() != results[1].dtype() || results[0].shape() != results[1].shape())
      return fail("changes the dtype or shape of mixed operands");
    const Array holds = assumptions_hold(sides.leaves, sides.inputs, values, results[0].dtype());
    std::vector<std::string> names;
    for (DType dtype : chosen) names.push_back(std::string(dtype_name(dtype)));
    compare_elements(results, values, holds.broadcast_to(results[0].shape()).contiguous(), DType::Float64, constants,
                     join(names, ", "));
  }

  // Beside ordinary points, those at which formulas have special cases, but not those at which they overflow.
  void check_derivatives() {
    const std::size_t count = variables_.size();
    constexpr double largest = 100;
    for (auto& constants : constant_choices(rule_, DType::Float64)) {
      Points points = assumed(points_of(rule_, DType::Float64, count), DType::Float64, constants);
      std::erase_if(points, [](const Point& point) {
        return !std::ranges::all_of(point, [](double x) { return std::abs(x) <= largest; });
      });
      if (points.empty() || count == 0) continue;
      const auto length = std::int64_t(points.size());
      const auto sides = pointwise_
                             ? sides_on(std::vector<Dims>(count, Dims{unknown_length}), DType::Float64, constants)
                             : std::nullopt;
      if (!sides) continue;
      const Shapes shapes{{}, std::vector<Dims>(count, Dims{length})};
      const std::string complaint =
          derivative_complaint(sides->left, sides->right, sides->inputs, columns(shapes, points, DType::Float64));
      if (!complaint.empty()) return fail(complaint);
    }
  }

  // The right side must be ten times closer to the exact value at the worst point, and close at all points.
  void check_accuracy() {
    const std::string op = without_exact_form(equation_.left());
    if (!op.empty()) return fail(cat("claims to be more accurate, which can't be checked: ", op, " has no exact form"));
    const auto choices = constant_choices(rule_, DType::Float64);
    if (choices.empty() || !report_.failures.empty()) return;
    const Points points = assumed(accuracy_points(), DType::Float64, choices[0]);
    const std::size_t count = variables_.size();
    const auto sides = sides_on(std::vector<Dims>(count, Dims{unknown_length}), DType::Float64, choices[0]);
    if (!sides || points.empty()) return fail("claims to be more accurate, but no point shows it");
    const Shapes shapes{{}, std::vector<Dims>(count, Dims{std::int64_t(points.size())})};
    const auto results =
        evaluate(Variables{sides->left, sides->right}, sides->inputs, columns(shapes, points, DType::Float64));
    double worst_left = 0, worst_right = 0;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const ExactValue truth = exact_at(points[k], choices[0]);
      if (!truth) continue;
      worst_left = std::max(worst_left, relative_error(results[0].data_as<double>()[k], *truth));
      worst_right = std::max(worst_right, relative_error(results[1].data_as<double>()[k], *truth));
    }
    if (worst_right >= 1e-13 || worst_right * 10 >= worst_left)
      fail(cat("claims to be more accurate: the worst relative error is ", number_text(worst_left), " on the left, ",
               number_text(worst_right), " on the right"));
  }
  Points accuracy_points() const {
    std::vector<double> values;
    for (double size : {1e-18, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 2.0, 5.0, 8.0, 20.0, 36.0})
      for (double sign : {-1.0, 1.0}) values.push_back(sign * size);
    if (variables_.size() > 2) values = {-20, -0.5, -1e-9, 1e-9, 0.5, 20};
    Points out = all_combinations(values, variables_.size());
    out.insert(out.end(), rule_.points().begin(), rule_.points().end());
    return out;
  }
  ExactValue exact_at(const Point& point, const Point& constants) const {
    ExactLeaves leaves;
    std::size_t variable = 0, constant = 0;
    for (auto& leaf : equation_.leaves())
      leaves[leaf.node()] = is_pattern_constant(leaf) ? constants[constant++] : point[variable++];
    return exact_value(equation_.left(), leaves);
  }

  void fail(std::string text) {
    if (report_.failures.size() < max_failures) report_.failures.push_back(std::move(text));
  }

  const Rule& rule_;
  const Equation& equation_;
  CheckReport& report_;
  Variables variables_;  // the leaves that vary
  Sides out_;
  Differences seen_;
  std::map<std::string, std::size_t> kinds_;  // how often each complaint occurred
  bool pointwise_ = true;
};

}  // namespace

void check_equation(const Rule& rule, CheckReport& report) { EquationCheck(rule, report).run(); }

}  // namespace bitale::rewriting
