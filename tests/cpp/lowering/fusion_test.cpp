// Required fusion: typical expressions of users, after all rewriting, with the number of loops over their large domain
// and of temporaries of that size. A regression of fusion fails here.
#include <doctest/doctest.h>

#include <algorithm>
#include <ostream>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "lowering/lower.hpp"

using namespace bitale;
using program::Expr;

namespace {

struct Fused {
  int loops = 0, temporaries = 0, calls = 0, host_calls = 0;
  bool operator==(const Fused&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Fused& f) {
  return out << cat(f.loops, " loops, ", f.temporaries, " temporaries, ", f.calls, " calls, ", f.host_calls,
                    " host calls");
}

// Counts the loops and temporaries of a program whose extents mention all of `large`, which are lengths in the notation
// of the text of the program.
class Census {
 public:
  Census(const program::Program& program, std::vector<std::string> large)
      : program_(program), large_(std::move(large)) {
    for (auto& buffer : program.buffers) names_.push_back(buffer.name);
    for (auto& step : program.steps) count(step);
  }
  Fused seen;

 private:
  std::string text(Expr expr) const {
    return program::to_string(expr, {.buffers = names_, .indices = program_.index_names});
  }
  bool is_large(const std::string& extents) const {
    return std::all_of(large_.begin(), large_.end(),
                       [&](auto& length) { return extents.find(length) != std::string::npos; });
  }
  std::string extents(const program::Loop& loop) const {  // recursion as deep as arrays have dimensions
    std::string out = text(loop.extent);
    for (auto& step : loop.body)
      if (auto* inner = std::get_if<program::Loop>(&step.what)) out += cat("; ", extents(*inner));
    return out;
  }
  void count(const program::Step& step) {
    if (auto* loop = std::get_if<program::Loop>(&step.what)) seen.loops += is_large(extents(*loop));
    seen.calls += std::holds_alternative<program::Call>(step.what);
    seen.host_calls += std::holds_alternative<program::HostCall>(step.what);
    if (auto* allocate = std::get_if<program::Allocate>(&step.what)) {
      auto& buffer = program_.buffers[std::size_t(allocate->buffer)];
      std::string shape;
      for (auto& length : buffer.shape) shape += cat("; ", text(length));
      seen.temporaries += buffer.role == program::Role::temporary && is_large(shape);
    }
  }

  const program::Program& program_;
  std::vector<std::string> large_;
  std::vector<std::string> names_;
};

struct Case {
  std::string_view name;
  Variables outputs;
  std::vector<std::string> large;
  Fused expected;
};

void check(const Case& c) {
  FunctionGraph graph(c.outputs);
  rewrite(graph, OPT_FAST_RUN);
  const lowering::Lowered lowered = lowering::lower(graph);
  INFO(c.name);
  INFO(program::to_string(lowered.program));
  CHECK(Census(lowered.program, c.large).seen == c.expected);
}

Variables with_gradients(const Variable& value, const Variables& wrt) {
  Variables out{value};
  for (auto& g : grad(value, wrt)) out.push_back(g);
  return out;
}

IndexItem from(std::int64_t start) { return Slice{start, {}, {}}; }
IndexItem to(std::int64_t stop) { return Slice{{}, stop, {}}; }
IndexItem between(std::int64_t start, std::int64_t stop) { return Slice{start, stop, {}}; }
IndexItem every(std::int64_t step) { return Slice{{}, {}, step}; }

const std::vector<std::string> over_x{"len(x, 0)"}, over_X{"len(X, 0)", "len(X, 1)"};

}  // namespace

TEST_CASE("elementwise: one loop with scalars, rows and columns") {
  auto expression = [](const Variable& x, const Variable& mu, const Variable& s, const Variable& y, const Variable& z) {
    return exp(-0.5 * sqr((x - mu) / s)) * tanh(y) + log1p(z);
  };
  auto x = vector("x"), y = vector("y"), z = vector("z"), mu = scalar("mu"), s = scalar("s");
  auto X = matrix("X"), Y = matrix("Y"), row = tensor("row", DType::Float64, {1, unknown_length}),
       column = tensor("column", DType::Float64, {unknown_length, 1});
  check({"vectors", {expression(x, mu, s, y, z)}, over_x, {1}});
  check({"matrices", {expression(X, mu, s, Y, X)}, over_X, {1}});
  check({"rows and columns", {expression(X, row, column, Y, row)}, over_X, {1}});
  const Variable e = expression(x, mu, s, y, z);
  Variables all = with_gradients(sum(e), {mu, s});
  all.push_back(mean(e));
  check({"with sum, mean and gradients", all, over_x, {1}});
  const Variable wide = expression(X, row, column, Y, row);
  check({"gradients by row and column", with_gradients(sum(wide), {row, column}), over_X, {1}});
}

TEST_CASE("statistical models: one pass over the data") {
  auto y = vector("y"), x = vector("x"), mu = vector("mu"), b = scalar("b"), log_sigma = scalar("log_sigma");
  auto index = lvector("index");
  const Variable sigma = exp(log_sigma), r = (y - take(mu, index) - x * b) / sigma;
  const Variable logp = sum(-0.5 * sqr(r) - log(sigma));
  check({"group model", {logp}, {"len(y, 0)"}, {1}});
  check({"group model with gradients", with_gradients(logp, {mu, b, log_sigma}), {"len(y, 0)"}, {1}});

  auto X = matrix("X"), beta = vector("beta"), target = vector("target");
  const Variable eta = dot(X, beta);
  check({"logistic", with_gradients(sum(target * eta - softplus(eta)), {beta}), {"len("}, {1, 2, 2}});
  auto thin = tensor("thin", DType::Float64, {unknown_length, 5});
  const Variable of_thin = dot(thin, beta), standalone = dot(transpose(thin), exp(target));
  check({"logistic, few columns", with_gradients(sum(target * of_thin - softplus(of_thin)), {beta}), {"len("}, {1}});
  check({"a sum of few rows", {standalone}, {"len("}, {1, 1, 1}});
  const Variable shares = dot(transpose(thin), target - softmax(of_thin));
  check({"few columns, shares of all rows", {shares}, {"len("}, {3, 3, 1}});
}

TEST_CASE("a small model: a check fixes the length of a vector that is read in parts, and one loop computes all") {
  const auto numbers = [](std::initializer_list<double> values) { return constant(Array(values)); };
  const Variable q = vector("q"), y = numbers({28, 8, -3, 7, -1, 1, 18, 12}),
                 s = numbers({15, 10, 16, 11, 9, 11, 10, 18});
  const Variable mu = subtensor(q, {0}), log_tau = subtensor(q, {1}), z = subtensor(q, {from(2)});
  const Variable tau = exp(log_tau), r = (y - (mu + tau * z)) / s;
  const Variable value = -0.5 * sqr(mu / 5.0) - 0.5 * sqr(tau / 5.0) + log_tau - 0.5 * sum(sqr(z)) - 0.5 * sum(sqr(r));
  FunctionGraph graph(with_gradients(value, {q}));
  rewrite(graph, OPT_FAST_RUN);
  const lowering::Lowered lowered = lowering::lower(graph);
  INFO(program::to_string(lowered.program));
  CHECK(Census(lowered.program, {}).seen == Fused{1});
}

TEST_CASE("masks: elementwise and summed uses become a select, other uses need one call for the positions") {
  auto x = vector("x"), y = vector("y"), m = tensor("m", DType::Bool, {unknown_length});
  auto X = matrix("X");
  const Variable positive = gt(x, 0);
  check({"set", {set_subtensor(x, {positive}, 0.0) * y}, over_x, {1}});
  check({"set of a matrix", {set_subtensor(X, {gt(X, 0)}, 0.0)}, over_X, {1}});
  check({"sums", {mean(subtensor(X, {gt(X, 0)})), sum(sqr(subtensor(X, {gt(X, 0)})))}, over_X, {1}});
  const Variable loss = sum(sqr(subtensor(x, {positive}) - subtensor(y, {positive})));
  check({"loss with gradients", with_gradients(loss, {x, y}), over_x, {1}});
  check({"two gathers", {subtensor(x, {positive}), subtensor(y, {positive})}, over_x, {1, 1, 1}});
  check({"a mask as input", {subtensor(x, {m})}, {"len(m, 0)"}, {1, 0, 1}});
}

TEST_CASE("rows: one loop over rows, with inner loops") {
  auto X = matrix("X");
  auto picked = lvector("picked");
  const std::vector<int> last{1};
  check({"softmax", {softmax(X, last)}, over_X, {1}});
  check({"log_softmax", {log_softmax(X, last)}, over_X, {1}});
  check({"logsumexp", {logsumexp(X, last)}, over_X, {1}});
  const Variable centred = X - mean(X, last, KeepDims::Yes);
  check({"layer norm", {centred / sqrt(var(X, last, 0, KeepDims::Yes) + 1e-5)}, over_X, {1}});
  const Variable loss = -mean(subtensor(log_softmax(X, last), {arange(shape_i(X, 0)), picked}));
  check({"cross-entropy by picked column", with_gradients(loss, {X}), over_X, {1}});
}

TEST_CASE("outer products are not materialized") {
  auto x = vector("x"), y = vector("y"), w = vector("w");
  const Variable column = expand_dims(x, 1), row = expand_dims(y, 0);
  const std::vector<std::string> over_both{"len(x, 0)", "len(y, 0)"};
  check({"logsumexp of an outer sum", {logsumexp(column + row, std::vector{1})}, over_both, {1}});
  check({"kernel times vector", {dot(exp(-sqr(column - row)), w)}, over_both, {1}});
  check({"vector times kernel", {dot(w, exp(-sqr(column - row)))}, {"len(w, 0)", "len(y, 0)"}, {1}});
}

TEST_CASE("costly factors of rows have a loop without inner loops, which vector lanes can run") {
  auto x = vector("x"), w = vector("w");
  check({"costly", {expand_dims(sin(x) * exp(x), 1) * w}, over_x, {2, 1}});
  check({"costly, and stored", {sin(x), expand_dims(sin(x), 1) * w}, over_x, {2}});
  check({"stored behind its use", {expand_dims(x, 1) * w, exp(x)}, over_x, {2}});
  check({"cheap", {expand_dims(x * 2. + 1., 1) * w}, over_x, {1}});
  auto X = matrix("X");
  check({"of sums of rows", {exp(sum(X, 1)), X * expand_dims(exp(sum(X, 1)), 1)}, {"len(X, 0)"}, {1}});
}

TEST_CASE("columns: one pass for the mean, another for its uses") {
  auto X = matrix("X");
  const std::vector<int> first{0};
  check({"mean and variance", {mean(X, first), var(X, first)}, over_X, {2}});
  check({"centred, squared, summed", {sum(sqr(X - mean(X, first)))}, over_X, {2}});
}

TEST_CASE("stencils and differences") {
  auto x = vector("x");
  auto X = matrix("X");
  const IndexItem inner = between(1, -1), all = Slice{};
  const Variable stencil = subtensor(X, {to(-2), inner}) + subtensor(X, {from(2), inner}) +
                           subtensor(X, {inner, to(-2)}) + subtensor(X, {inner, from(2)}) -
                           4.0 * subtensor(X, {inner, inner});
  check({"five-point stencil", {stencil}, over_X, {1}});
  check({"squared differences", {sum(sqr(subtensor(x, {from(1)}) - subtensor(x, {to(-1)})))}, over_x, {1}});
  check({"differences of rows", {(subtensor(X, {from(1), all}) - subtensor(X, {to(-1), all})) * 0.5}, over_X, {1}});
}

TEST_CASE("views are read without copies") {
  auto x = vector("x");
  auto X = matrix("X"), Y = matrix("Y");
  check({"transposed", {transpose(X) + Y}, over_X, {1}});
  check({"reversed", {exp(subtensor(x, {every(-1)}))}, over_x, {1}});
  check({"every other", {exp(subtensor(x, {every(2)}))}, over_x, {1}});
}

TEST_CASE("parts of one parameter vector") {
  auto p = tensor("p", DType::Float64, {20});
  const Variable parts =
      join(0, {exp(subtensor(p, {to(3)})), subtensor(p, {between(3, 8)}), tanh(subtensor(p, {from(8)}))});
  const Variable logp = sum(sqr(parts));
  // Each part has a separate loop, and none is copied.
  FunctionGraph graph(with_gradients(logp, {p}));
  rewrite(graph, OPT_FAST_RUN);
  const lowering::Lowered lowered = lowering::lower(graph);
  INFO(program::to_string(lowered.program));
  int temporaries = 0;
  for (auto& step : lowered.program.steps)
    if (auto* allocate = std::get_if<program::Allocate>(&step.what))
      temporaries += lowered.program.buffers[std::size_t(allocate->buffer)].role == program::Role::temporary;
  CHECK(temporaries == 0);
}
