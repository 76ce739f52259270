// Numerical verification of a rule: users run it on their own rules, the tests on all registered ones. Equations are
// compared side by side (check_equation.cpp); functions on their samples, before and after.
#include <algorithm>
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "core/limits.hpp"
#include "graph/evaluate.hpp"
#include "rewriting/check_derivatives.hpp"
#include "rewriting/check_equation.hpp"
#include "rewriting/database.hpp"
#include "rewriting/engine.hpp"

namespace bitale::rewriting {

namespace {

// ---- values of a sample's leaves ------------------------------------------------------------------------------------

// `with_zeros`: floats among which some are 0, as weights and masks are. `special`: also those that overflow.
enum class Values : std::uint8_t { ordinary, with_zeros, special };

// The lengths that a sample leaves open: `length` each, except those that `empty` makes 0, a bit each.
struct Lengths {
  std::int64_t length;
  std::uint32_t empty = 0;

  std::int64_t next() {
    const bool is_empty = (empty & 1) != 0;
    empty >>= 1;
    return is_empty ? 0 : length;
  }
};

// Integer scalars, which are lengths or positions, are 3 or empty lengths. Ordinary floats are never 0; integers may
// be, unless `without_zeros`.
Array value_of(const Variable& leaf, int seed, Lengths& lengths, Values kind, bool without_zeros) {
  Dims shape;
  for (std::int64_t known : leaf.static_shape()) shape.push_back(known == unknown_length ? lengths.next() : known);
  if (leaf.ndim() == 0 && is_integer(leaf.dtype())) return Array(lengths.next() == 0 ? 0.0 : 3.0).astype(leaf.dtype());
  constexpr double specials[] = {0.5, 0.0, inf, -2, nan, -0.0, -inf, 1e200, 1e-200};
  constexpr double zeros[] = {0.5, 0.0, 1.0, 0.75, -0.0};
  const bool special = kind == Values::special;
  constexpr double ends_of_int8[] = {3, -128, 127, 0, -1}, ends_of_uint8[] = {3, 255, 0, 1, 128};
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t k = 0; k < out.size(); ++k) {
    const std::int64_t at = 7 * k + seed;
    double& value = out.mutable_data_as<double>()[k];
    if (is_float(leaf.dtype()))
      value = special                      ? specials[(at + k / 9) % 9]
              : kind == Values::with_zeros ? zeros[(at + k / 5) % 5]
                                           : 0.3 + 0.17 * double(at % 11) - 0.9 * double(k % 2);
    else if (special && itemsize(leaf.dtype()) == 1)
      value = (is_signed_int(leaf.dtype()) ? ends_of_int8 : ends_of_uint8)[std::size_t(at % 5)];
    else
      value = without_zeros ? double((k + seed) % 4 + 1) : double((k + seed) % 5);
  }
  return out.astype(leaf.dtype());
}

// The complaint about one element; "" if there is none.
std::string complaint(const Rule& rule, double before, double after, double tolerance) {
  if (before == after || (std::isnan(before) && std::isnan(after))) return {};
  if (!std::isfinite(before))
    return rule.is_wider_domain() ? "" : "the sides are undefined at different points (declare wider_domain)";
  if (!std::isfinite(after)) return "the result was finite before rewriting and is not finite after it";
  return std::abs(before - after) <= tolerance * std::max(1.0, std::abs(before)) ? "" : "the values differ";
}

// ---- samples --------------------------------------------------------------------------------------------------------

class SampleCheck {
 public:
  SampleCheck(const Rule& rule, const Variable& expression, CheckReport& report)
      : rule_(rule), expression_(expression), leaves_(graph_inputs(Variables{expression})), report_(report) {}

  // The rule must fire on the unchanged sample.
  void run() {
    if (!rewrite()) {
      fail(cat("does not fire on its sample ", text()));
      return;
    }
    compare_all();
    compare_empty();
  }
  // If the rule fires with leaves of other dtypes, the values must agree, too.
  void run_where_it_fires() {
    try {
      if (rewrite()) compare_all();
    } catch (const std::exception& error) {
      report_.notes.push_back(cat("raises on operands of other dtypes: ", text(), ": ", error.what()));
    }
  }

 private:
  void compare_all() {
    for (std::int64_t length : {3, 1, 0})
      for (int seed : {0, 4}) compare({length}, seed, Values::ordinary);
    if (!rule_.differences().empty()) return;
    for (int seed = 0; seed < 4; ++seed) compare({3}, seed, Values::special);
    for (int seed = 0; seed < 5; ++seed) compare({3}, seed, Values::with_zeros);
  }

  // Reductions over nothing next to factors that are not finite: each choice of lengths that are 0.
  void compare_empty() {
    if (!rule_.differences().empty()) return;
    std::size_t open = 0;
    for (auto& leaf : leaves_) {
      if (!as_tensor(leaf.type())) return;
      open += leaf.ndim() == 0 && is_integer(leaf.dtype()) ? 1 : 0;
      for (std::int64_t known : leaf.static_shape()) open += known == unknown_length ? 1 : 0;
    }
    constexpr std::size_t most_open = 6;
    for (std::uint32_t empty = 1; empty < 1U << std::min(open, most_open); ++empty)
      for (int seed = 0; seed < 5; ++seed) compare({3, empty}, seed, Values::special);
  }

  bool rewrite() {
    VariableMap memo;
    FunctionGraph graph(leaves_, clone(Variables{expression_}, memo), Clone::No);
    std::size_t fired = 0;
    for (const Apply& node : graph.toposort()) {
      if (!graph.contains(node) || !rule_.root().matches(node.op())) continue;
      const auto result = rule_.apply(graph, node);
      if (!result) continue;
      if (result->size() != node.output_count())
        return fail(
            cat("gave ", result->size(), " variables for ", node.output_count(), " outputs of ", node.op().label()));
      Replacements pairs;
      for (std::size_t i = 0; i < result->size(); ++i) {
        const Variable before = node.output(int(i)), after = (*result)[i];
        if (!after.defined() || after.same_as(before)) continue;
        if (!before.type()->is_super(*after.type()))
          return fail(
              cat("on ", text(), ": changes the type from ", before.type()->str(), " to ", after.type()->str()));
        pairs.emplace_back(before, after);
      }
      if (graph.replace_all(pairs, rule_.name())) ++fired;
    }
    after_ = graph.outputs()[0];
    return fired > 0;
  }

  void compare(const Lengths lengths, int seed, Values kind) {
    std::vector<Array> values;
    Lengths open = lengths;
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      values.push_back(value_of(leaves_[i], int(i) + seed, open, kind, !rule_.differences().empty()));
    Array before, after;
    try {
      before = evaluate(expression_, leaves_, values);
    } catch (const Error&) {
      return;  // these values are incompatible
    }
    try {
      after = evaluate(after_, leaves_, values);
    } catch (const Error& error) {
      if ((lengths.length == 0 || lengths.empty != 0) && rule_.has_tag(shape_unsafe)) return;
      fail(cat("on ", text(), ": ", error.what()));
      return;
    }
    if (before.dtype() != after.dtype() || before.shape() != after.shape()) {
      fail(cat("on ", text(), ": ", before.str(), " became ", after.str()));
      return;
    }
    if (is_applied_before_differentiation(rule_) && lengths.length == 3 && kind != Values::special) {
      const std::string wrong = derivative_complaint(expression_, after_, leaves_, values);
      if (!wrong.empty()) fail(cat("on ", text(), ": ", wrong));
    }
    const Variables steps = ancestors({&expression_, 1});
    const bool narrow = std::any_of(steps.begin(), steps.end(),
                                    [](auto& v) { return as_tensor(v.type()) && v.dtype() == DType::Float32; });
    const double tolerance = !is_float(before.dtype()) ? 0 : narrow ? 1e-4 : 1e-9;
    const Array a = before.astype(DType::Float64).contiguous(), b = after.astype(DType::Float64).contiguous();
    for (std::int64_t k = 0; k < a.size(); ++k) {
      ++report_.compared;
      const std::string wrong = complaint(rule_, a.data_as<double>()[k], b.data_as<double>()[k], tolerance);
      if (wrong.empty() || (kind == Values::special && rule_.has_tag("cancelling")))
        continue;  // cancelled terms may have been huge
      fail(cat("on ", text(), ": ", before.str(), " became ", after.str(), ": ", wrong));
      return;
    }
  }

  std::string text() const { return expression_text(expression_); }
  bool fail(std::string text) {
    constexpr std::size_t max_failures = 5;
    if (report_.failures.size() < max_failures) report_.failures.push_back(std::move(text));
    return false;
  }

  const Rule& rule_;
  const Variable expression_;
  const Variables leaves_;
  Variable after_;
  CheckReport& report_;
};

}  // namespace

namespace {

// The expression on new leaves, some of other dtypes; every node is rebuilt, so that dtypes are propagated. Null if its
// operations refuse them.
Variable on_leaves(const Variable& expression, const Variables& leaves, const Variables& others) {
  VariableMap built;
  for (std::size_t i = 0; i < leaves.size(); ++i) built.emplace(leaves[i], others[i]);
  try {
    for (auto& v : ancestors({&expression, 1})) {
      if (!v.has_owner() || built.contains(v)) continue;
      Variables inputs;
      for (auto& input : v.owner().inputs()) {
        const auto known = built.find(input);
        inputs.push_back(known == built.end() ? input : known->second);
      }
      const Apply node = v.owner().op().make_node(inputs);
      for (std::size_t k = 0; k < node.output_count(); ++k)
        built.insert_or_assign(v.owner().output(int(k)), node.output(int(k)));
    }
  } catch (const Error&) {
    return {};
  }
  const auto found = built.find(expression);
  return found == built.end() ? expression : found->second;
}

// Checks a sample with other dtypes: for each float leaf alone, and for all float leaves but one.
void check_mixed(const Rule& rule, const Variable& sample, CheckReport& report) {
  const Variables leaves = graph_inputs(Variables{sample});
  for (std::size_t chosen = 0; chosen < leaves.size(); ++chosen)
    for (DType dtype : {DType::Bool, DType::UInt8, DType::Int8, DType::Float32})
      for (const bool alone : {true, false}) {
        Variables others = leaves;
        bool changed = false;
        for (std::size_t i = 0; i < leaves.size(); ++i) {
          if (!is_float(leaves[i].dtype()) || (i == chosen) != alone) continue;
          others[i] = Variable(tensor_type(dtype, leaves[i].static_shape()), leaves[i].name());
          changed = true;
        }
        const Variable mixed = changed ? on_leaves(sample, leaves, others) : Variable();
        if (mixed.defined()) SampleCheck(rule, mixed, report).run_where_it_fires();
      }
}

}  // namespace

CheckReport verify_rule(const Rule& rule) {
  const TestValuesOff of_samples;
  CheckReport report{.rule = rule.name()};
  if (rule.equation()) {
    check_equation(rule, report);
    return report;
  }
  if (rule.samples().empty()) report.failures.push_back("has no sample: an expression on which it fires is needed");
  for (auto& sample : rule.samples()) {
    const Variable expression = sample();
    SampleCheck(rule, expression, report).run();
    check_mixed(rule, expression, report);
  }
  return report;
}

CheckReport verify_rule(std::string_view registered) { return verify_rule(*OptDB::instance().rule(registered)); }

std::string CheckReport::str() const {
  std::string out = cat("rule ", rule, ": ", ok() ? "holds" : "FAILS", ", ", compared, " values compared");
  for (auto& failure : failures) out += cat("\n  ", failure);
  for (auto& note : notes) out += cat("\n  note: ", note);
  return out;
}

}  // namespace bitale::rewriting
