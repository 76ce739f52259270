// One test for all equations: on every dtype they are declared for, on scalars, vectors, empty and broadcast
// shapes, and on special values, the rule fires on its own left side, keeps the type, and both sides agree; where they
// differ, the right side must be nearer to the exact value. Claims are checked too.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "graph/evaluate.hpp"
#include "rewriting/database.hpp"
#include "rewriting/equation.hpp"
#include "rules/exact.hpp"

using namespace bitale;
using rewriting::Equation;
using rewriting::Rule;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

// ---- points ---------------------------------------------------------------------------------------------------------

std::vector<double> float_values(std::size_t leaves) {
  if (leaves == 1)
    return {-10, -3,   -1.5, -1,   -0.5,  -1e-3,  1e-3,   0.25,  0.5,    0.75, 1,  1.5, 2,   3,  10,
            0.0, -0.0, inf,  -inf, nan,   1e-30,  -1e-30, 1e-12, -1e-12, 1e-8, 5,  20,  -20, 40, -40,
            80,  -80,  750,  -750, 1e300, -1e300, 1e-300, 30,    -30,    6,    -6, 27,  -27};
  if (leaves == 2)
    return {-3, -1, -0.5, 0.5, 1, 2, 0.0, -0.0, inf, -inf, nan, 1e-20, 40, -750, 750, 1e200, -1e200, 1e-200};
  if (leaves == 3) return {-2, -0.5, 1, 3, 0.0, -0.0, inf, nan, 1e200, 1e-200};
  return {-2, 0.5, 3, 0.0, inf, nan};
}

std::vector<double> int_values(DType dtype, std::size_t leaves) {
  std::vector<double> out =
      leaves <= 2 ? std::vector<double>{0, 1, 2, 3, 5, 11, 100, 127} : std::vector<double>{0, 1, 3, 127};
  if (is_signed_int(dtype)) out.insert(out.end(), {-1, -2, -7, -128});
  if (kind(dtype) == DTypeKind::UInt) out.push_back(255);
  if (dtype == DType::Bool) out = {0, 1};
  return out;
}

// One list of values per leaf, of equal lengths: all combinations.
struct Points {
  std::vector<std::vector<double>> columns;
  std::size_t count() const { return columns.empty() ? 0 : columns[0].size(); }
};

Points all_points(const Rule& rule, DType dtype, std::size_t leaves) {
  const std::vector<double> values = is_float(dtype) ? float_values(leaves) : int_values(dtype, leaves);
  Points out;
  out.columns.resize(leaves);
  std::vector<std::size_t> at(leaves, 0);
  while (true) {
    for (std::size_t i = 0; i < leaves; ++i) out.columns[i].push_back(values[at[i]]);
    std::size_t i = 0;
    while (i < leaves && ++at[i] == values.size()) at[i++] = 0;
    if (i == leaves) break;
  }
  if (is_float(dtype))
    for (auto& point : rule.points())
      for (std::size_t i = 0; i < leaves && i < point.size(); ++i) out.columns[i].push_back(point[i]);
  return out;
}

// ---- one instance of an equation ------------------------------------------------------------------------------------

// A choice of dtypes and of constants for the leaves of an equation.
struct Instance {
  const Rule& rule;
  DType dtype;
  std::vector<double> constants;  // by order of the pattern constants

  const Equation& equation() const { return *rule.equation(); }
  std::string str() const {
    std::vector<std::string> values;
    for (double c : constants) values.push_back(number_text(c));
    return cat(rule.name(), " on ", dtype_name(dtype),
               constants.empty() ? "" : cat(" with constants ", join(values, ", ")));
  }
};

struct Built {
  Variables inputs;  // the variable leaves
  Variable left, right;
};

Variables variable_leaves(const Equation& equation) {
  Variables out;
  for (auto& leaf : equation.leaves())
    if (!rewriting::is_pattern_constant(leaf)) out.push_back(leaf);
  return out;
}

// The left side on leaves of these static shapes, and what the rule makes of it. Nullopt where the operations refuse
// the dtype.
std::optional<Built> build(const Instance& instance, const std::vector<Dims>& shapes) {
  Built out;
  Variables leaves;
  std::size_t constants = 0;
  for (auto& leaf : instance.equation().leaves()) {
    if (rewriting::is_pattern_constant(leaf)) {
      leaves.push_back(rewriting::constant_like(instance.constants[constants++], instance.dtype));
    } else {
      out.inputs.push_back(Variable(tensor_type(instance.dtype, shapes[out.inputs.size()]), leaf.name()));
      leaves.push_back(out.inputs.back());
    }
  }
  try {
    out.left = instance.equation().left_on(leaves);
  } catch (const TypeError&) {
    return std::nullopt;
  }
  FunctionGraph graph(out.inputs, {out.left}, false);
  const Apply root = graph.outputs()[0].owner();
  const auto result = instance.rule.apply(graph, root);
  INFO("left side: " << out.left.str());
  REQUIRE_MESSAGE(result.has_value(), "does not fire on its own left side: " << instance.str());
  out.right = (*result)[0];
  CHECK_MESSAGE(out.left.type()->is_super(*out.right.type()),
                instance.str() << " changes " << out.left.type()->str() << " to " << out.right.type()->str());
  return out;
}

Array column_array(const std::vector<double>& values, DType dtype, const Dims& shape) {
  Dims flat{std::int64_t(values.size())};
  return Array::from(values.data(), DType::Float64, flat).astype(dtype).reshape(shape);
}

// ---- comparison -----------------------------------------------------------------------------------------------------

struct Seen {
  bool wider = false, either_zero = false, differs = false;
};

double relative_error(double value, const exact::Number& truth) {
  if (!std::isfinite(value)) return inf;
  const exact::Number difference = abs(exact::Number(value) - truth);
  // Beyond what 450 digits resolve against 1.
  if (difference < exact::Number("1e-400")) return 0;
  return truth == 0 ? inf : double(difference / abs(truth));
}

class Comparison {
 public:
  Comparison(const Instance& instance, DType result, Seen& seen)
      : instance_(instance),
        result_(result),
        dtype_epsilon_(result == DType::Float32 ? 1.2e-7 : 2.3e-16),
        seen_(seen) {}

  // An empty text when all is well.
  std::string judge(double left, double right, const std::vector<double>& point) {
    if (!instance_.rule.differences().empty() && is_declared_difference(point[0])) {
      if (!agree(left, right)) seen_.differs = true;
      return {};
    }
    if (left == 0 && right == 0 && std::signbit(left) != std::signbit(right)) {
      seen_.either_zero = true;
      return instance_.rule.is_either_zero() ? "" : "zeros of different sign (declare .either_zero())";
    }
    if (agree(left, right)) return {};
    if (!is_float(result_)) return "integers differ";
    const exact::Value truth = exact_left(point);
    if (std::isnan(left) || (std::isinf(left) && !std::isinf(right) && !std::isnan(right))) {
      if (truth && largest() < abs(*truth) && std::isinf(right)) return {};
      seen_.wider = true;
      return instance_.rule.is_wider_domain()
                 ? ""
                 : "the right side is defined where the left is not (declare .wider_domain())";
    }
    if (!std::isfinite(right) && !(truth && largest() < abs(*truth)))
      return "the left side is finite, the right is not";
    if (!truth && std::abs(left - right) <= 4 * dtype_epsilon_ * std::max({1.0, std::abs(left), std::abs(right)}))
      return {};
    if (!truth) return "different values, and there is no exact one";
    if (abs(*truth) < exact::Number(smallest()) && std::abs(right) < smallest()) return {};  // both vanish
    const double tolerance = 64 * dtype_epsilon_, error = relative_error(right, *truth);
    if (error <= tolerance * (1 + magnitude(point)) || error <= 4 * relative_error(left, *truth)) return {};
    return cat("the right side is further from the exact value ", truth->str(20));
  }

 private:
  bool is_declared_difference(double first) const {
    const auto stored = [&](double value) { return instance_.dtype == DType::Float32 ? double(float(value)) : value; };
    const double given = stored(first);
    for (double value : instance_.rule.differences()) {
      if (stored(value) == given && std::signbit(value) == std::signbit(given)) return true;
      if (std::isnan(value) && std::isnan(given)) return true;
    }
    return false;
  }
  bool agree(double a, double b) const {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (a == b) return true;
    if (!is_float(result_) || !std::isfinite(a) || !std::isfinite(b)) return false;
    return std::abs(a - b) <= 8 * dtype_epsilon_ * std::max(std::abs(a), std::abs(b));
  }
  exact::Value exact_left(const std::vector<double>& point) const {
    std::unordered_map<const VariableNode*, double> leaves;
    std::size_t variable = 0, constant = 0;
    for (auto& leaf : instance_.equation().leaves()) {
      const double value = rewriting::is_pattern_constant(leaf) ? instance_.constants[constant++] : point[variable++];
      leaves[leaf.node()] = instance_.dtype == DType::Float32 ? double(float(value)) : value;
    }
    return exact::evaluate(instance_.equation().left(), leaves);
  }
  exact::Number largest() const {
    return exact::Number(result_ == DType::Float32 ? double(std::numeric_limits<float>::max())
                                                   : std::numeric_limits<double>::max());
  }
  double smallest() const { return result_ == DType::Float32 ? 1.2e-38 : 2.3e-308; }
  // Exponentials turn absolute errors of their arguments into relative ones.
  static double magnitude(const std::vector<double>& point) {
    double out = 0;
    for (double value : point)
      if (std::abs(value) < 1e4) out = std::max(out, std::abs(value));
    return out;
  }

  const Instance& instance_;
  DType result_;
  double dtype_epsilon_;
  Seen& seen_;
};

void compare_on(const Instance& instance, const std::vector<Dims>& types, const std::vector<Dims>& shapes,
                const Points& points, bool pointwise, Seen& seen, int& tested) {
  const std::optional<Built> built = build(instance, types);
  if (!built) return;
  ++tested;
  std::vector<Array> values;
  for (std::size_t i = 0; i < built->inputs.size(); ++i)
    values.push_back(column_array(points.columns[i], instance.dtype, shapes[i]));
  const std::vector<Array> sides = evaluate(Variables{built->left, built->right}, built->inputs, values);
  const std::string left_shape = tuple_text(sides[0].shape()), right_shape = tuple_text(sides[1].shape());
  CHECK_MESSAGE(left_shape == right_shape, instance.str());
  CHECK(sides[0].dtype() == sides[1].dtype());
  if (left_shape != right_shape || !pointwise) {
    if (!pointwise && is_float(instance.dtype)) {
      const double tolerance = instance.dtype == DType::Float32 ? 1e-4 : 1e-10;
      CHECK_MESSAGE(allclose(sides[0], sides[1], tolerance, tolerance), instance.str());
    }
    return;
  }
  Comparison comparison(instance, sides[0].dtype(), seen);
  const Array left = sides[0].astype(DType::Float64), right = sides[1].astype(DType::Float64);
  int complaints = 0;
  for (std::size_t k = 0; k < points.count() && complaints < 3; ++k) {
    std::vector<double> point;
    for (auto& column : points.columns) point.push_back(column[k]);
    const double l = left.ndim() == 0 ? left.item() : left.data_as<double>()[k];
    const double r = right.ndim() == 0 ? right.item() : right.data_as<double>()[k];
    const std::string complaint = comparison.judge(l, r, point);
    if (complaint.empty()) continue;
    ++complaints;
    std::vector<std::string> texts;
    for (double value : point) texts.push_back(number_text(value));
    FAIL_CHECK(instance.str() << " at (" << join(texts, ", ") << "): left " << number_text(l) << ", right "
                              << number_text(r) << ": " << complaint);
  }
}

void check(const Instance& instance, Seen& seen, int& tested) {
  const std::size_t leaves = variable_leaves(instance.equation()).size();
  const Points points = all_points(instance.rule, instance.dtype, leaves);
  const Dims vector{unknown_length}, all{std::int64_t(points.count())};
  compare_on(instance, std::vector<Dims>(leaves, vector), std::vector<Dims>(leaves, all), points, true, seen, tested);
  if (leaves == 0) return;

  // Ordinary numbers on other shapes: scalars, empty, matrices, and operands that broadcast against each other.
  auto ordinary = [&](std::int64_t count, std::size_t leaf) {
    std::vector<double> out;
    for (std::int64_t k = 0; k < count; ++k)
      out.push_back(is_float(instance.dtype) ? 0.1 + 0.09 * double((k + 2 * std::int64_t(leaf)) % 9)
                                             : double((k + std::int64_t(leaf)) % 2 + 1));
    return out;
  };
  auto on = [&](const std::vector<Dims>& types, const std::vector<Dims>& shapes) {
    Points few;
    for (std::size_t i = 0; i < leaves; ++i) few.columns.push_back(ordinary(product(shapes[i]), i));
    compare_on(instance, types, shapes, few, false, seen, tested);
  };
  on(std::vector<Dims>(leaves, Dims{}), std::vector<Dims>(leaves, Dims{}));
  on(std::vector<Dims>(leaves, vector), std::vector<Dims>(leaves, Dims{0}));
  on(std::vector<Dims>(leaves, Dims{3}), std::vector<Dims>(leaves, Dims{3}));
  if (leaves == 1) return;
  for (std::size_t wide = 0; wide < leaves; ++wide) {
    std::vector<Dims> types(leaves, Dims{1, unknown_length}), shapes(leaves, Dims{1, 3});
    types[wide] = Dims{unknown_length, 1};
    shapes[wide] = Dims{2, 1};
    on(types, shapes);
    types.assign(leaves, Dims{1, 1});
    shapes.assign(leaves, Dims{1, 1});
    types[wide] = Dims{unknown_length, 2};
    shapes[wide] = Dims{3, 2};
    on(types, shapes);
  }
}

// The choices of constants: all combinations of what the rule lists.
std::vector<std::vector<double>> constant_choices(const Rule& rule) {
  std::vector<std::vector<double>> out{{}};
  for (auto& leaf : rule.equation()->leaves()) {
    if (!rewriting::is_pattern_constant(leaf)) continue;
    std::vector<std::vector<double>> longer;
    for (auto& choice : out)
      for (double value : rule.constants()) {
        longer.push_back(choice);
        longer.back().push_back(value);
      }
    out = std::move(longer);
  }
  return out;
}

std::vector<const Rule*> equations() {
  std::vector<const Rule*> out;
  for (const Rule* rule : rewriting::OptDB::instance().rules())
    if (rule->equation() && !rule->name().starts_with("test_")) out.push_back(rule);  // test_: of other tests
  return out;
}

}  // namespace

namespace {

void check_rule(const Rule& rule) {
  CAPTURE(rule.name());
  Seen seen;
  int tested = 0;
  for (DType dtype : {DType::Float64, DType::Float32, DType::Int8, DType::Int64, DType::UInt8, DType::Bool}) {
    if (!rewriting::is_among(dtype, rule.equation()->dtypes)) continue;
    for (auto& constants : constant_choices(rule)) {
      auto is_value = [&](double c) {
        return is_float(dtype) || (c == std::floor(c) && (c >= 0 || is_signed_int(dtype)) && dtype != DType::Bool);
      };
      if (std::all_of(constants.begin(), constants.end(), is_value)) check({rule, dtype, constants}, seen, tested);
    }
  }
  CHECK_MESSAGE(tested > 0, "tested on nothing");
  if (rule.is_wider_domain()) CHECK_MESSAGE(seen.wider, "claims a wider domain, but none was seen");
  if (rule.is_either_zero()) CHECK_MESSAGE(seen.either_zero, "claims other signs of zero, but none was seen");
  if (!rule.differences().empty()) CHECK_MESSAGE(seen.differs, "declares differences, but none was seen");
}

}  // namespace

TEST_CASE("every equation holds on its dtypes, shapes and special values, and its claims are true") {
  REQUIRE(equations().size() > 100);
  for (const Rule* rule : equations()) check_rule(*rule);
}

// The check itself: each of these must make it fail.
TEST_CASE("a wrong equation is caught" * doctest::should_fail()) {
  const Variable x = rewriting::pattern_variable("x");
  check_rule(Rule("wrong", sin(x), 1.001 * sin(x)));
}
TEST_CASE("an equation that is wrong where integers wrap is caught" * doctest::should_fail()) {
  const Variable x = rewriting::pattern_variable("x");
  check_rule(Rule("wrong", int_div(2 * x, 2), x).on(rewriting::signed_ints));
}
TEST_CASE("an undeclared wider domain is caught" * doctest::should_fail()) {
  const Variable x = rewriting::pattern_variable("x");
  check_rule(Rule("undeclared", log(exp(x)), x).either_zero());
}
TEST_CASE("a narrower domain is caught" * doctest::should_fail()) {
  const Variable x = rewriting::pattern_variable("x");
  check_rule(Rule("narrower", x + 0, log(exp(x))));
}
TEST_CASE("a false claim is caught" * doctest::should_fail()) {
  const Variable x = rewriting::pattern_variable("x");
  check_rule(Rule("boasting", -(-x), x).wider_domain());
}
TEST_CASE("a lost nan is caught" * doctest::should_fail()) {
  const Variable x = rewriting::pattern_variable("x");
  check_rule(Rule("lost", x - x, Operand(0).variable));
}

// Of operands of different float dtypes the wider one decides, on both sides.
TEST_CASE("equations keep the dtype of mixed operands") {
  for (const Rule* rule : equations()) {
    const Equation& equation = *rule->equation();
    if (!rewriting::is_among(DType::Float64, equation.dtypes) || variable_leaves(equation).size() < 2) continue;
    CAPTURE(rule->name());
    Variables leaves, inputs;
    std::vector<Array> values;
    for (auto& leaf : equation.leaves()) {
      if (rewriting::is_pattern_constant(leaf)) {
        leaves.push_back(constant(Array(float(rule->constants()[0]))));
        continue;
      }
      const DType dtype = inputs.size() % 2 ? DType::Float64 : DType::Float32;
      inputs.push_back(Variable(tensor_type(dtype, Dims{unknown_length}), leaf.name()));
      leaves.push_back(inputs.back());
      const double scale = 1 - 0.2 * double(values.size());  // no two alike: differences keep digits
      values.push_back(Array{0.3 * scale, 0.7 * scale, 0.9 * scale}.astype(dtype));
    }
    const Variable left = equation.left_on(leaves);
    FunctionGraph graph(inputs, {left}, false);
    const auto result = rule->apply(graph, graph.outputs()[0].owner());
    REQUIRE(result.has_value());
    CHECK((*result)[0].dtype() == left.dtype());
    const auto sides = evaluate(Variables{left, (*result)[0]}, inputs, values);
    CHECK(allclose(sides[0], sides[1], 1e-6, 1e-6));
  }
}

TEST_CASE("equations that claim accuracy have it") {
  std::vector<double> probe;
  for (double size : {1e-18, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 2.0, 5.0, 8.0, 20.0, 36.0})
    for (double sign : {-1.0, 1.0}) probe.push_back(sign * size);
  for (const Rule* rule : equations()) {
    if (!rule->is_more_accurate()) continue;
    const std::size_t leaves = variable_leaves(*rule->equation()).size();
    REQUIRE_MESSAGE(leaves == 1, rule->name());
    Points points{{probe}};
    for (auto& point : rule->points()) points.columns[0].push_back(point[0]);
    const auto built = build({*rule, DType::Float64, {}}, {Dims{unknown_length}});
    REQUIRE(built);
    const std::vector<Array> values{
        column_array(points.columns[0], DType::Float64, Dims{std::int64_t(points.count())})};
    const auto sides = evaluate(Variables{built->left, built->right}, built->inputs, values);
    double worst_left = 0, worst_right = 0;
    for (std::size_t k = 0; k < points.count(); ++k) {
      const auto truth =
          exact::evaluate(rule->equation()->left(), {{rule->equation()->leaves()[0].node(), points.columns[0][k]}});
      if (!truth) continue;
      worst_left = std::max(worst_left, relative_error(sides[0].data_as<double>()[k], *truth));
      worst_right = std::max(worst_right, relative_error(sides[1].data_as<double>()[k], *truth));
    }
    CAPTURE(rule->name());
    CAPTURE(worst_left);
    CHECK(worst_right < 1e-13);
    CHECK(worst_right * 10 < worst_left);
  }
}
