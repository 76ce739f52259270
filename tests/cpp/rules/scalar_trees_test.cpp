// Random trees of all elementwise functions over operands of mixed dtypes and extreme values: a rewritten tree has the
// values of the tree as built. The allowed difference is measured, not assumed: the tree is evaluated again with every
// float result perturbed by a few units in its last place, and the rewritten tree may differ by a small multiple of
// what that changes. So integers, bools and dtypes are exact, and a sum that cancels may keep its digits.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <unordered_map>

#include "bitale/compile/function.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "graph/evaluate.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "rewriting/database.hpp"
#include "rewriting/engine.hpp"
#include "rewriting/equation.hpp"
#include "support/seeds.hpp"
#include "support/shrink.hpp"

using namespace bitale;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t points = 48;  // at which a tree is evaluated together
constexpr int perturbations = 32;    // evaluations with perturbed results

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return std::size_t(engine_() % n); }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(engine_) < p; }
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  template <class List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937_64 engine_;
};

constexpr DType dtypes[] = {DType::Float64, DType::Float64, DType::Float64, DType::Float32, DType::Float32, DType::Bool,
                            DType::Int8,    DType::UInt8,   DType::Int32,   DType::Int64,   DType::UInt64};

double float_value(Random& random, DType dtype) {
  if (random.chance(0.6)) return random.real(-4, 4);
  if (dtype == DType::Float32) {
    constexpr double special[] = {0.0, -0.0, 1,     -1,    2,        0.5, inf,  -inf,
                                  nan, 3e38, -3e38, 1e-40, 16777216, 88,  -104, 1e-4};
    return random.pick(special);
  }
  constexpr double special[] = {0.0,    -0.0,   1,   -1,  2,    0.5,  3,      inf,  -inf,  nan, 1e308, -1e308,
                                1e-310, 5e-324, 709, 746, -745, 1e16, -1e100, 1e-9, 1e-20, 27,  -38,   255};
  return random.pick(special);
}

Array values_of(Random& random, DType dtype) {
  Array out = Array::empty(dtype, {points});
  for (std::int64_t k = 0; k < points; ++k)
    visit_dtype(dtype, [&]<class T>() {
      T& value = out.mutable_data_as<T>()[k];
      if constexpr (std::is_same_v<T, bool>) {
        value = random.chance(0.5);
      } else if constexpr (std::is_floating_point_v<T>) {
        value = T(float_value(random, dtype));
      } else if constexpr (std::is_integral_v<T>) {
        using Limits = std::numeric_limits<T>;
        const T special[] = {0, 1, 2, 3, Limits::min(), Limits::max(), T(Limits::max() - 1), T(-1)};
        value = random.chance(0.5) ? random.pick(special) : T(std::int64_t(random.below(21)) - 10);
      }
    });
  return out;
}

const std::vector<const ScalarOp*>& frequent_ops() {
  static const auto& ops = *new std::vector<const ScalarOp*>([] {
    std::vector<const ScalarOp*> out;
    for (const char* name :
         {"add",      "sub",        "mul", "true_div", "neg",     "add",     "sub",    "mul",   "true_div",
          "neg",      "abs",        "sqr", "sqrt",     "exp",     "log",     "log1p",  "expm1", "sigmoid",
          "softplus", "reciprocal", "pow", "sign",     "maximum", "minimum", "switch", "eq",    "lt",
          "ge",       "and",        "or",  "int_div",  "mod",     "erf",     "erfc",   "tanh",  "floor"})
      out.push_back(&scalar_op(name));
    return out;
  }());
  return ops;
}

Variable random_constant(Random& random) {
  constexpr double numbers[] = {0, 1, -1, 2, 3, -2, 0.5, -1.5, 1e-3, 10, 255, 0.1, 1e300, 1e-300, inf};
  const double number = random.chance(0.7) ? random.pick(std::span(numbers, 10)) : random.pick(numbers);
  const DType dtype = random.pick(dtypes);
  if (number == std::floor(number) && std::abs(number) < 100 && random.chance(0.6)) {
    if (number >= 0 || is_signed_int(dtype) || is_float(dtype)) return constant(Array(number).astype(dtype));
    return constant(Array(number).astype(DType::Int8));
  }
  return constant(
      Array(number).astype(dtype == DType::Float32 && std::isfinite(float(number)) ? dtype : DType::Float64));
}

const rewriting::SharedRules& equations() {
  static const auto& rules = *new rewriting::SharedRules([] {
    rewriting::SharedRules out;
    for (auto& rule : rewriting::OptDB::instance().rules())
      if (rule->equation() && !rule->name().starts_with("test_")) out.push_back(rule);
    return out;
  }());
  return rules;
}

test::Case random_tree(std::uint64_t seed) {
  Random random(seed);
  test::Case tree;
  Variables pool;
  const std::size_t inputs = 1 + random.below(4);
  for (std::size_t i = 0; i < inputs; ++i) {
    const DType dtype = random.pick(dtypes);
    tree.inputs.push_back(Variable(tensor_type(dtype, Dims{unknown_length}), cat("x", i)));
    tree.values.push_back(values_of(random, dtype));
    pool.push_back(tree.inputs.back());
  }
  std::vector<const ScalarOp*> all = scalar_ops();
  // Bounds on rounding are known for float32 and float64; tests/fuzz has graphs of float16.
  std::erase_if(all, [](const ScalarOp* op) { return op->name == "cast_float16" || !op->expand; });
  const std::size_t steps = 2 + random.below(10);
  const auto operand = [&]() -> Variable {
    if (random.chance(0.2)) return random_constant(random);
    if (random.chance(0.5) && pool.size() > inputs)  // a recent result
      return pool[pool.size() - 1 - random.below(std::min<std::size_t>(3, pool.size() - inputs))];
    return random.pick(pool);
  };
  while (pool.size() < inputs + steps) {
    if (random.chance(0.35)) {  // the left side of a rule
      const rewriting::Equation& equation = *random.pick(equations())->equation();
      Variables leaves;
      for (auto& leaf : equation.leaves())
        leaves.push_back(rewriting::is_pattern_constant(leaf) ? random_constant(random) : operand());
      try {
        const Variable left = equation.left_on(pad_ranks(leaves));
        if (!graph_inputs(Variables{left}).empty()) pool.push_back(left);
      } catch (const TypeError&) {
      }
      continue;
    }
    const ScalarOp& op = *(random.chance(0.75) ? random.pick(frequent_ops()) : random.pick(all));
    Variables operands;
    for (int i = 0; i < op.arity; ++i) operands.push_back(operand());
    const auto is_constant = [](const Variable& v) { return v.is_constant(); };
    if (std::all_of(operands.begin(), operands.end(), is_constant)) continue;
    try {
      pool.push_back(apply_elemwise(op.name, operands));
    } catch (const TypeError&) {  // not for these dtypes
    }
  }
  tree.outputs = {pool.back()};
  if (random.chance(0.3)) tree.outputs.push_back(random.pick(pool));
  return tree;
}

// ---- how far results may differ -------------------------------------------------------------------------------------

// Their results are exact, or equal to one of the operands.
bool is_exact(const ScalarOp& op) {
  return op.name == "neg" || op.name == "abs" || op.name == "switch" || op.name == "second" || op.name == "maximum" ||
         op.name == "minimum" || op.name == "clip" || op.name == "sign";
}

// The value perturbed by a few units in the last place. Exponentials have the error of their exponent, zeros take
// either sign, and subnormal numbers may become 0.
template <class T>
T perturbed(T value, Random& random) {
  using Limits = std::numeric_limits<T>;
  if (!std::isfinite(value)) return value;
  const int ulps = int(random.below(9)) - 4;
  if (value == 0) return ulps == 0 ? value : std::copysign(T(std::abs(ulps)) * Limits::denorm_min(), T(ulps));
  if (std::abs(value) < Limits::min() && random.chance(0.3)) return 0;
  const double size = std::max(1.0, std::abs(std::log(std::abs(double(value)))));
  const T out = T(double(value) * (1 + double(ulps) * size * double(Limits::epsilon()) / 2));
  return out == value ? value + T(ulps) * Limits::denorm_min() : out;
}

struct Outcome {
  std::vector<Array> results;    // 1 + perturbations copies, concatenated
  std::vector<bool> has_zero;    // by point: an intermediate result was 0, whose sign rules need not keep
  std::vector<bool> is_at_jump;  // by point: rounding affects more than the last digits
  std::vector<bool> is_regular;  // by point: no intermediate result was infinite or nan
};

// Copies of one operand at a point: as computed, and perturbed.
class AtPoint {
 public:
  AtPoint(const Array& copies, std::int64_t k, std::int64_t length) {
    for (int c = 0; c <= perturbations; ++c)
      values_[std::size_t(c)] = copies.ndim() == 0
                                    ? copies.item()
                                    : copies.at(std::vector<std::int64_t>{copies.size() == 1 ? 0 : k + c * length});
  }
  double operator[](int c) const { return values_[std::size_t(c)]; }
  double moves() const {
    double out = 0;
    for (int c = 1; c <= perturbations; ++c) out = std::max(out, std::abs((*this)[c] - (*this)[0]));
    return out;
  }

 private:
  std::array<double, 1 + perturbations> values_;
};

// For a comparison, or a quotient by a value that may be 0: whether the difference of the operands is about as small as
// its perturbation.
bool is_decided_by_rounding(const AtPoint& a, const AtPoint& b) {
  const double difference = a[0] - b[0];
  double moves = 0;
  for (int c = 1; c <= perturbations; ++c) moves = std::max(moves, std::abs(a[c] - b[c] - difference));
  return moves > 0 && std::abs(difference) <= 16 * moves;
}
bool is_decided_by_rounding(const AtPoint& a) {
  const double moves = a.moves();
  return moves > 0 && std::abs(a[0]) <= 16 * moves;
}
// Functions with integer or boolean results are discontinuous at most at multiples of 1/2.
bool is_next_to_half(const AtPoint& a) {
  const double moves = a.moves();
  return moves > 0 && std::abs(a[0] - std::round(2 * a[0]) / 2) <= 16 * moves;
}

// A sum or difference that is no larger than its rounding error: equal operands cancel exactly as built, but not if a
// rule changes one of them.
bool cancels(double result, const AtPoint& a, const AtPoint& b) {
  return std::abs(result) <= 16 * (a.moves() + b.moves()) && a.moves() + b.moves() > 0;
}

// Whether a quotient is next to an integer, so that rounding decides its floor.
bool is_at_step(const AtPoint& a, const AtPoint& b) {
  const double quotient = a[0] / b[0], distance = std::abs(quotient - std::round(quotient));
  double moves = 0;
  for (int c = 1; c <= perturbations; ++c) moves = std::max(moves, std::abs(a[c] / b[c] - quotient));
  return moves > 0 && distance <= 16 * moves;
}

// Whether rounding of the operands affects more than the last digits of the result. `in` holds all copies.
bool jumps(const ScalarOp& op, const Apply& node, const std::vector<Array>& in, double result, std::int64_t k,
           std::int64_t length) {
  const auto at = [&](std::size_t i) { return AtPoint(in[i], k, length); };
  const bool takes_floats = is_float(node.input(0).dtype());
  // The sign of a nan is arbitrary.
  if ((op.name == "signbit" || op.name == "copysign") && std::isnan(at(in.size() - 1)[0])) return true;
  if (in.size() == 1 && takes_floats && (is_discrete(node.output().dtype()) || op.has(discrete_output)))
    return is_next_to_half(at(0));
  if (op.name == "switch") return takes_floats && is_decided_by_rounding(at(0));
  const bool computes_floats = is_float(scalar_types(node).compute);
  if (!computes_floats) return false;
  if (op.has(comparison) && op.arity == 2) return is_decided_by_rounding(at(0), at(1));
  if (op.name == "add" || op.name == "sub") {
    // Rules also reorder terms.
    const double most = node.output().dtype() == DType::Float32 ? 1e38 : 1e308;
    return cancels(result, at(0), at(1)) || std::abs(at(0)[0]) + std::abs(at(1)[0]) > most / 4;
  }
  if (op.name == "mod" || op.name == "int_div") return is_at_step(at(0), at(1));
  if (op.name == "true_div") return is_decided_by_rounding(at(1));
  if (op.name == "arctan2") return at(0)[0] == 0 || is_decided_by_rounding(at(0));  // by the sign of a zero
  if (op.name == "reciprocal") return is_decided_by_rounding(at(0));
  // A power of a negative number has a value only if the exponent is an integer.
  if (op.name == "pow") return at(0)[0] < 0 && at(1).moves() > 0;
  constexpr double much = 0.01;  // radians
  if (op.name == "sin" || op.name == "cos" || op.name == "tan") return at(0).moves() > much;
  // Poles at negative integers, next to which results are arbitrary.
  constexpr std::string_view with_poles[] = {"gamma", "gammaln", "psi", "tri_gamma", "polygamma"};
  if (std::find(std::begin(with_poles), std::end(with_poles), op.name) != std::end(with_poles))
    return AtPoint(in.back(), k, length)[0] <= 0;
  return false;
}

// The factors of a product or quotient, and the range of their exponents: rules reorder factors, so that where the
// range exceeds that of the dtype a partial product may overflow or underflow.
struct Factors {
  int count = 1;
  std::vector<double> reach;  // by point: the sum of the factors' |log2|
};

using FactorsOf = std::unordered_map<const VariableNode*, Factors>;

Factors single_factor(const Array& value, std::int64_t length) {
  const Array wide = value.astype(DType::Float64).contiguous();
  Factors out;
  for (std::int64_t k = 0; k < std::min(length, wide.size()); ++k) {
    const double size = std::abs(wide.data_as<double>()[k]);
    out.reach.push_back(size > 0 && std::isfinite(size) ? std::abs(std::log2(size)) : 0);
  }
  return out;
}

Factors factors_of(const Apply& node, const FactorsOf& known, const Array& result, std::int64_t length) {
  const ScalarOp* op = scalar_op_of(node.output());
  const std::string_view name = op ? op->name : "view";
  const bool is_power = name == "pow" && node.input(1).is_constant();
  constexpr std::string_view passes[] = {"view", "mul",  "true_div", "sqr",        "neg",
                                         "abs",  "sqrt", "cast",     "reciprocal", "switch"};
  if (!is_power && std::find(std::begin(passes), std::end(passes), name) == std::end(passes))
    return single_factor(result, length);
  double times = 1;
  if (name == "sqr") times = 2;
  if (is_power) times = std::abs(node.input(1).constant()->reshape({-1}).at(Dims{0}));
  Factors out;
  out.count = times > 1 ? 1 : 0;
  out.reach.assign(std::size_t(std::min(length, result.size())), 0);
  for (std::size_t i = 0; i < (is_power ? 1 : node.inputs().size()); ++i) {
    const Factors& more = known.at(node.input(int(i)).node());
    out.count += more.count;
    for (std::size_t k = 0; k < out.reach.size(); ++k)
      if (!more.reach.empty()) out.reach[k] += times * more.reach[more.reach.size() == 1 ? 0 : k];
  }
  return out;
}

// The copies in another order, except for the first.
Array rotated(const Array& copies, std::int64_t length, std::int64_t by) {
  const Array out = copies.copy();
  const auto bytes = std::size_t(length) * itemsize(copies.dtype());
  for (std::int64_t c = 0; c < perturbations; ++c)
    std::memcpy(static_cast<char*>(out.mutable_data()) + std::size_t(1 + c) * bytes,
                static_cast<const char*>(copies.data()) + std::size_t(1 + (c + by) % perturbations) * bytes, bytes);
  return out;
}

// Evaluates all nodes on copies of the values, of which all but the first are perturbed after each node. A result that
// is read several times is perturbed independently for each reader, since a rule may change one reader and not the
// other.
Outcome evaluate_perturbed(const test::Case& tree) {
  Random random(1);
  std::unordered_map<const VariableNode*, Array> known;
  FactorsOf factors;
  Outcome out;
  out.is_regular.assign(std::size_t(points), true);
  out.has_zero.assign(std::size_t(points), false);
  out.is_at_jump.assign(std::size_t(points), false);
  const auto note = [&](const Array& value) {
    if (!is_float(value.dtype()) || value.ndim() == 0) return;
    const Array wide = value.astype(DType::Float64).contiguous();
    for (std::int64_t k = 0; k < std::min(points, wide.size()); ++k) {
      const double each = wide.data_as<double>()[k];
      if (!std::isfinite(each)) out.is_regular[std::size_t(k)] = false;
      if (each == 0) out.has_zero[std::size_t(k)] = true;
    }
  };
  std::unordered_map<const VariableNode*, int> reads;
  for (auto& v : ancestors(tree.outputs))
    if (v.has_owner())
      for (auto& input : v.owner().inputs()) ++reads[input.node()];
  const std::int64_t length = tree.values[0].size();
  for (std::size_t i = 0; i < tree.inputs.size(); ++i) {
    Array copies = Array::empty(tree.values[i].dtype(), {length * (1 + perturbations)});
    const std::size_t bytes = std::size_t(tree.values[i].contiguous().nbytes());
    for (std::size_t c = 0; c <= std::size_t(perturbations); ++c)
      std::memcpy(static_cast<char*>(copies.mutable_data()) + c * bytes, tree.values[i].contiguous().data(), bytes);
    note(tree.values[i]);
    known.emplace(tree.inputs[i].node(), copies);
    factors.emplace(tree.inputs[i].node(), single_factor(tree.values[i], length));
  }
  for (auto& v : ancestors(tree.outputs)) {
    if (known.count(v.node())) continue;
    if (v.is_constant()) {
      known.emplace(v.node(), *v.constant());
      factors.emplace(v.node(), single_factor(*v.constant(), length));
      continue;
    }
    if (!v.has_owner()) continue;
    const Apply node = v.owner();
    std::vector<Array> in, results(1);
    for (auto& input : node.inputs()) {
      in.push_back(known.at(input.node()));
      if (reads.at(input.node()) > 1 && input.has_owner() && in.back().size() == length * (1 + perturbations))
        in.back() = rotated(in.back(), length, 1 + std::int64_t(random.below(perturbations - 1)));
    }
    evaluate_node(node, in, results);
    const ScalarOp* op = scalar_op_of(v);
    const Factors& own = factors.emplace(v.node(), factors_of(node, factors, results[0], length)).first->second;
    const double range = v.dtype() == DType::Float32 ? 120 : 1000;  // of exponents
    for (std::size_t k = 0; is_float(v.dtype()) && own.count > 2 && k < own.reach.size(); ++k)
      if (own.reach[k] > range) out.is_at_jump[k] = true;
    for (std::int64_t k = 0; op && results[0].ndim() == 1 && k < std::min(length, results[0].size()); ++k)
      if (jumps(*op, node, in, results[0].at(std::vector<std::int64_t>{k}), k, length))
        out.is_at_jump[std::size_t(k)] = true;
    if (op && is_float(v.dtype()) && !is_exact(*op) && results[0].size() == length * (1 + perturbations)) {
      results[0] = results[0].copy();
      note(results[0]);
      for (std::int64_t k = length; k < results[0].size(); ++k)
        if (v.dtype() == DType::Float64)
          results[0].mutable_data_as<double>()[k] = perturbed(results[0].mutable_data_as<double>()[k], random);
        else
          results[0].mutable_data_as<float>()[k] = perturbed(results[0].mutable_data_as<float>()[k], random);
    }
    known.emplace(v.node(), results[0]);
  }
  for (auto& output : tree.outputs) out.results.push_back(known.at(output.node()));
  return out;
}

std::string point_text(const test::Case& tree, std::int64_t k) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < tree.inputs.size(); ++i)
    out.push_back(cat(tree.inputs[i].name(), " = ", tree.values[i].take_index(0, k).str()));
  return join(out, ", ");
}

// The difference of `got` beyond the allowed one, or nothing. `strict`: infinities and nan are kept, too.
std::string difference(const test::Case& tree, const Outcome& expected, const std::vector<Array>& got, bool strict) {
  const Variables steps = ancestors(tree.outputs);
  const bool narrow = std::any_of(steps.begin(), steps.end(), [](auto& v) { return v.dtype() == DType::Float32; });
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Array& all = expected.results[i];
    if (got[i].dtype() != all.dtype())
      return cat("dtype ", dtype_name(got[i].dtype()), " for ", dtype_name(all.dtype()));
    const std::int64_t length = tree.values[0].size();
    if (all.size() != length * (1 + perturbations)) continue;
    if (got[i].size() != length) return "another shape";
    const Array wide = all.astype(DType::Float64).contiguous(), result = got[i].astype(DType::Float64).contiguous();
    const double epsilon = narrow ? 1.2e-7 : 2.3e-16;
    for (std::int64_t k = 0; k < length; ++k) {
      const double before = wide.data_as<double>()[k], after = result.mutable_data_as<double>()[k];
      if (before == after || (std::isnan(before) && std::isnan(after))) continue;
      if (expected.is_at_jump[std::size_t(k)]) continue;
      if (!expected.is_regular[std::size_t(k)] && (!strict || expected.has_zero[std::size_t(k)])) continue;
      const double smallest = all.dtype() == DType::Float32 ? 1.2e-38 : 2.3e-308;
      if (is_float(all.dtype()) && std::abs(before) < smallest && std::abs(after) < smallest)
        continue;  // both underflow
      double low = before, high = before;
      bool unsure = false;
      for (int c = 1; c <= perturbations; ++c) {
        const double each = wide.data_as<double>()[k + c * length];
        unsure |= std::isfinite(each) != std::isfinite(before) || std::isnan(each) != std::isnan(before);
        if (std::isnan(each)) continue;
        low = std::min(low, each);
        high = std::max(high, each);
      }
      const double allowed = 16 * (high - low) + 64 * epsilon * std::abs(before);
      // Next to a pole or a discontinuity any result is allowed.
      const bool is_wild = is_float(all.dtype()) && 4 * allowed > std::abs(before) && !std::isfinite(after);
      if (unsure || is_wild || std::abs(after - before) <= allowed) continue;
      return cat("output ", i, " at ", point_text(tree, k), ": ", number_text(before), " became ", number_text(after),
                 ", allowed ", number_text(allowed));
    }
  }
  return {};
}

std::string trouble(const test::Case& tree, const RewriteQuery& query, bool strict) {
  FunctionGraph graph(tree.inputs, tree.outputs);
  RewriteReport report;
  rewrite(graph, query, &report);
  if (!report.errors.empty()) return report.errors[0];
  const std::vector<Array> got = evaluate(graph.outputs(), graph.inputs(), tree.values);
  const std::string text = difference(tree, evaluate_perturbed(tree), got, strict);
  if (text.empty()) return {};
  return cat(text, "\nbecame ", rewriting::expression_text(graph.outputs()[0], 30));
}

std::string native_trouble(const test::Case& tree, const char* optimizer) {
  FunctionOptions options;
  options.mode = Mode("jit", optimizer);
  options.on_unused_input = OnUnusedInput::Ignore;
  const Results results = function(tree.inputs, tree.outputs, options).call(tree.values);
  const std::vector<Array> got(results.begin(), results.end());
  return difference(tree, evaluate_perturbed(tree), got, false);
}

void check_tree(std::uint64_t seed, const std::function<std::string(const test::Case&)>& wrong, const char* what) {
  const test::Case tree = random_tree(seed);
  std::string text;
  try {
    text = wrong(tree);
  } catch (const std::exception& error) {
    text = error.what();
  }
  if (text.empty()) return;
  const auto fails = [&](const test::Case& each) {
    return !each.values.empty() && each.values[0].size() > 0 && !wrong(each).empty();
  };
  test::Case small = tree;
  try {
    small = test::shrink(tree, fails, 400);
    text = wrong(small);
  } catch (const std::exception& error) {
    text += error.what();
  }
  FAIL_CHECK(std::string(what) << ", seed " << seed << ": " << describe(small) << text);
}

}  // namespace

TEST_CASE("random trees of elementwise functions keep their values") {
  const config::Change quiet("on_opt_error", "ignore");
  const RewriteQuery strict = OPT_FAST_RUN.excluding({"domain"});
  for (const std::int64_t seed : test::Seeds(1500)) {
    check_tree(
        std::uint64_t(seed), [&](auto& tree) { return trouble(tree, OPT_FAST_RUN, false); }, "fast_run");
    if (seed % 4 == 0)
      check_tree(
          std::uint64_t(seed), [&](auto& tree) { return trouble(tree, strict, true); }, "without `domain`");
    if (seed % 50 == 0)
      for (const char* optimizer : {"None", "fast_run"})
        check_tree(
            std::uint64_t(seed), [&](auto& tree) { return native_trouble(tree, optimizer); }, optimizer);
  }
}

// Checks that the bounds above are not too wide: a tree in which one operation is replaced differs.
TEST_CASE("random trees: a replaced operation is detected") {
  const auto other_than = [](std::string_view name) -> std::string_view {
    constexpr std::string_view pairs[][2] = {
        {"add", "sub"},   {"sub", "add"},     {"mul", "true_div"},     {"true_div", "mul"},    {"exp", "expm1"},
        {"log", "log1p"}, {"log1p", "log"},   {"maximum", "minimum"},  {"minimum", "maximum"}, {"sqr", "abs"},
        {"neg", "abs"},   {"lt", "ge"},       {"sigmoid", "softplus"}, {"erf", "tanh"},        {"erfc", "erf"},
        {"sqrt", "sqr"},  {"floor", "trunc"}, {"int_div", "mod"},      {"mod", "int_div"},     {"and", "or"}};
    for (auto& [from, to] : pairs)
      if (name == from) return to;
    return {};
  };
  int tried = 0, found = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    test::Case tree = random_tree(seed);
    tree.outputs.resize(1);
    if (!tree.outputs[0].has_owner()) continue;
    const Apply root = tree.outputs[0].owner();
    const ScalarOp* op = root.op().elementwise();
    const std::string_view other = op ? other_than(op->name) : "";
    if (other.empty()) continue;
    try {
      const Variable wrong = apply_elemwise(other, root.inputs());
      if (wrong.dtype() != tree.outputs[0].dtype()) continue;
      const std::vector<Array> got{evaluate(wrong, tree.inputs, tree.values)};
      const std::vector<Array> right{evaluate(tree.outputs[0], tree.inputs, tree.values)};
      if (identical(got[0], right[0])) continue;
      ++tried;
      found += !difference(tree, evaluate_perturbed(tree), got, false).empty();
    } catch (const TypeError&) {
    }
  }
  CHECK(tried > 50);
  // The rest differ only at discontinuities, or where the tree as built overflows or is undefined: log1p(x // x), 0 /
  // x.
  CHECK_MESSAGE(found >= tried * 3 / 4, found << " of " << tried);
}
