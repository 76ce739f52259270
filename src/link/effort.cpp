#include "link/effort.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "graph/pointer_map.hpp"
#include "program/steps.hpp"

namespace bitale::link {

namespace {

using program::Code;
using program::Expr;
using program::OneOf;
using program::Step;
using program::Steps;

constexpr double short_call = 1e5;  // operations on elements; vector code does ten or more per nanosecond
constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr int longest_log2 = 20;

// The largest magnitude of an integer expression when no length exceeds `length`.
double bound(Expr root, double length) {
  std::vector<Expr> exprs;
  program::ExprWalk()(root, [&](Expr expr) { exprs.push_back(expr); });
  // Arguments are created before the expressions that use them.
  std::sort(exprs.begin(), exprs.end(), [](Expr a, Expr b) { return a.id() < b.id(); });
  std::unordered_map<std::uint32_t, double> bounds;
  for (Expr expr : exprs) {
    double largest = 0, total = 0;
    for (std::size_t i = 0; i < expr.argument_count(); ++i) {
      largest = std::max(largest, bounds[expr.argument(i).id()]);
      total += bounds[expr.argument(i).id()];
    }
    double& b = bounds[expr.id()];
    switch (expr.code()) {
      case Code::constant: b = is_float(expr.dtype()) ? unbounded : std::abs(double(expr.payload())); break;
      case Code::dim: b = length; break;
      case Code::add:
      case Code::sub: b = total; break;
      case Code::mul: b = bounds[expr.argument(0).id()] * bounds[expr.argument(1).id()]; break;
      case Code::min:
      case Code::max:
      case Code::select:
      case Code::div:
      case Code::rem:
      case Code::neg:
      case Code::abs: b = largest; break;
      case Code::eq:
      case Code::ne:
      case Code::lt:
      case Code::le:
      case Code::gt:
      case Code::ge: b = 1; break;
      case Code::cast: b = is_float(expr.argument(0).dtype()) ? unbounded : largest; break;
      default: b = unbounded;
    }
  }
  return bounds[root.id()];
}

class Estimate {
 public:
  explicit Estimate(bool host_calls_count) : host_calls_count_(host_calls_count) {}
  // An estimate for lengths up to `length`.
  double operator()(const Steps& steps, double length) {
    length_ = length;
    return of(steps);
  }

 private:
  double of(const Steps& steps) {
    double total = 0;
    for (auto& step : steps) {
      total += operations(step);
      total += besides(step);
      if (!(total <= short_call)) return unbounded;
    }
    return total;
  }
  // Counted once, for all lengths.
  double operations(const Step& step) {
    const auto [count, is_new] = operations_.insert(&step);
    if (is_new) *count = double(program::operations(step));
    return *count;
  }

  // What a step costs in addition to its own operations.
  double besides(const Step& step) {
    return program::match(
        step, [&](const program::Loop& loop) { return bound(loop.extent, length_) * of(loop.body); },
        [&](const program::Fill&) { return length_ * length_; }, [&](const program::Call& call) { return of(call); },
        [&](const program::If& branch) { return of(branch.then) + of(branch.otherwise); },
        [&](const program::HostCall&) { return host_calls_count_ ? unbounded : 0.0; },
        [](const OneOf<program::Store, program::Accumulate, program::Let, program::Update, program::Allocate,
                       program::Check, program::Next> auto&) { return 0.0; });
  }
  double of(const program::Call& call) const {
    double work = 1;
    for (auto& argument : call.arguments)
      if (auto* expr = std::get_if<Expr>(&argument); expr && !is_float(expr->dtype()))
        work *= std::max(1.0, bound(*expr, length_));
    return work;
  }

  const bool host_calls_count_;
  double length_ = 0;
  PointerMap<double> operations_;
};

}  // namespace

// The cost grows with the length, so the limit is found by bisection: each evaluation walks the whole Program.
std::int64_t short_call_length(const program::Program& program, bool host_calls_count) {
  Estimate estimate(host_calls_count);
  const auto is_short = [&](int log2) {
    return estimate(program.steps, double(std::int64_t(1) << log2)) <= short_call;
  };
  int known = -1, open = longest_log2 + 1;  // log2: short up to the first; unknown or not short from the second on
  while (open - known > 1) {
    const int middle = (known + open) / 2;
    (is_short(middle) ? known : open) = middle;
  }
  return known < 0 ? -1 : std::int64_t(1) << known;
}

}  // namespace bitale::link
