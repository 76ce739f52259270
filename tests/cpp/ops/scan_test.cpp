// scan in C++: lambdas, taps, several results, `until`, gradients and errors.
#include <doctest/doctest.h>

#include <cmath>

#include "bitale/bitale.hpp"
#include "bitale/compile/shared.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/scan.hpp"

using namespace bitale;

namespace {

Array row(std::initializer_list<double> values) { return Array(values); }

}  // namespace

TEST_CASE("scan: a recurrence, its last value and its gradient") {
  const Variable x = vector("x"), a = scalar("a");
  const auto y = scan({.sequences = {x}, .initial = {ScanInitial(0.0)}},
                      [&](const Variable& x_t, const Variable& y) { return a * y + x_t; });
  const Variable cost = sum(y.traces[0]);
  const auto f = function({x, a}, Variables{y.traces[0], y.finals[0], grad(cost, a)});
  for (const std::int64_t n : {0, 1, 4}) {
    Array given = Array::empty(DType::Float64, {n});
    double expected = 0, slope = 0, total = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      given.mutable_data_as<double>()[k] = double(k) + 1;
      slope = expected + 0.5 * slope;
      expected = 0.5 * expected + double(k) + 1;
      total += slope;
    }
    const auto got = f({given, Array(0.5)});
    CHECK(got[0].shape(0) == n);
    CHECK(got[1].item() == doctest::Approx(expected));
    CHECK(got[2].item() == doctest::Approx(total));
  }
}

TEST_CASE("scan: taps of sequences and of results") {
  const Variable x = vector("x"), start = vector("start");
  const auto y = scan({.sequences = {ScanSequence(x, {-1, 0})}, .initial = {ScanInitial(start, {-2, -1})}},
                      [](const Variable& before, const Variable& x_t, const Variable& y2, const Variable& y1) {
                        return y1 + y2 + x_t * before;
                      });
  const auto f = function({x, start}, Variables{y.traces[0]});
  const Array got = f({row({1, 2, 3, 4}), row({1, 1})})[0];
  REQUIRE(got.shape(0) == 3);
  CHECK(got.data_as<double>()[0] == 4);
  CHECK(got.data_as<double>()[1] == 11);
  CHECK(got.data_as<double>()[2] == 27);
}

TEST_CASE("scan: several results, one without a state, and an exit condition") {
  const Variable s0 = scalar("s0");
  const auto y = scan({.initial = {ScanInitial(s0), ScanInitial()}, .n_steps = 100}, [](const Variable& s) {
    return ScanStep({s * 2.0, exp(-s)}, gt(s * 2.0, 10.0));
  });
  const auto got = function({s0}, Variables{y.traces[0], y.traces[1], y.steps})({Array(1.5)});
  REQUIRE(got[2].int_item() == 3);
  REQUIRE(got[0].shape(0) == 3);
  CHECK(got[0].data_as<double>()[2] == 12);
  CHECK(got[1].data_as<double>()[1] == doctest::Approx(std::exp(-3.0)));
}

TEST_CASE("scan: a matrix state in nested loops") {
  const Variable m = matrix("m");
  const auto outer = scan({.initial = {ScanInitial(m)}, .n_steps = 3}, [](const Variable& s) {
    return scan({.initial = {ScanInitial(s)}, .n_steps = 2}, [](const Variable& t) { return t * 0.5 + transpose(t); })
        .finals[0];
  });
  const Array got = function({m}, Variables{outer.finals[0]})({Array({1., 2., 3., 4.}).reshape({2, 2})})[0];
  double now[2][2] = {{1, 2}, {3, 4}};
  for (int k = 0; k < 6; ++k) {
    double next[2][2];
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) next[i][j] = now[i][j] * 0.5 + now[j][i];
    std::copy(&next[0][0], &next[0][0] + 4, &now[0][0]);
  }
  for (int k = 0; k < 4; ++k) CHECK(got.data_as<double>()[k] == doctest::Approx((&now[0][0])[k]));
}

TEST_CASE("scan: invalid arguments") {
  const Variable x = vector("x"), s = scalar("s");
  const auto same = [](const Variable& y) { return y; };
  CHECK_THROWS_AS(scan({.initial = {ScanInitial(s)}}, same), ValueError);                 // no sequence and no n_steps
  CHECK_THROWS_AS(scan({.initial = {ScanInitial(s)}, .n_steps = -1}, same), ValueError);  // negative
  CHECK_THROWS_WITH_AS(scan({.initial = {ScanInitial(scalar("k", DType::Int64))}, .n_steps = 2},
                            [](const Variable& k) { return k * 0.5; }),
                       doctest::Contains("cast"), TypeError);
  CHECK_THROWS_AS(
      scan({.sequences = {x}, .initial = {ScanInitial(s)}}, [&](const Variable&, const Variable&) { return x; }),
      TypeError);  // another rank
  CHECK_THROWS_AS(scan({.initial = {ScanInitial(s)}, .n_steps = 2},
                       [](const Variable& y) {
                         return ScanStep({y}, stack({gt(y, 0.0), gt(y, 1.0)}));
                       }),
                  TypeError);  // until is not a scalar
  CHECK_THROWS_AS(scan({.sequences = {x}, .initial = {ScanInitial(s)}}, [](const Variable& y) { return y; }),
                  Error);  // arity
  CHECK_THROWS_AS(
      scan({.sequences = {x}, .initial = {ScanInitial(s, {1})}}, [](const Variable&, const Variable& y) { return y; }),
      ValueError);  // a tap that looks ahead
}

TEST_CASE("scan: an error names the matrix of a batch that is not positive definite") {
  Array good = Array::full(DType::Float64, {3, 4, 2, 2}, 0.0);
  for (int k = 0; k < 12; ++k)
    good.mutable_data_as<double>()[4 * k] = good.mutable_data_as<double>()[4 * k + 3] = k + 1;
  Array bad = good.copy();
  bad.mutable_data_as<double>()[4 * 6] = -1;  // in step 1, matrix 2
  for (auto* linker : {"vm", "jit", "c"})
    for (const bool of_state : {false, true}) {
      INFO(linker, " ", of_state);
      const Variable a = tensor("a", DType::Float64, Dims(4, unknown_length)), total = shared(Array(0.0));
      const auto sums =
          scan({.sequences = {a}, .initial = {ScanInitial(0.0)}}, [&](const Variable& matrices, const Variable& state) {
            return state + sum(cholesky(of_state ? matrices + 0.0 * state : matrices));
          });
      const Function f = function({a}, {sums.finals[0]},
                                  {.updates = {{total, total + sums.finals[0]}}, .mode = Mode(linker, "fast_run")});
      // Unless it depends on the state, cholesky is computed for all steps at once; the error has the line of the user
      // nevertheless.
      const char* matrix = of_state ? "in matrix [2] of [4]" : "in matrix [1, 2] of [3, 4]";
      CHECK_THROWS_WITH_AS(f({bad}), doctest::Contains(matrix), LinAlgError);
      CHECK_THROWS_WITH_AS(f({bad}), doctest::Contains("scan_test.cpp"), LinAlgError);
      CHECK(get_value(total).item() == 0);
      f({good});
      CHECK(get_value(total).item() > 0);
    }
}

namespace {

struct OwnFailure {};

// The identity for numbers up to 2.
class UpToTwo final : public OpOf<UpToTwo> {
 public:
  explicit UpToTwo(bool own) : own(own) {}
  bool own;
  static constexpr auto fields = attribute_list(attribute("own", &UpToTwo::own));
  std::string_view name() const override { return "UpToTwo"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    if (in[0].item() > 2) {
      if (own) throw OwnFailure();
      throw std::out_of_range("more than 2");
    }
    out[0] = in[0].copy();
  }
};

}  // namespace

TEST_CASE("an exception of another class in a step keeps its class, and its message names the step") {
  const Variable x = scalar("x");
  for (const char* linker : {"vm", "jit"}) {
    const auto loop_of = [&](bool own) {
      const auto up = [&](const Variable& s) { return (*make_ref<UpToTwo>(own))({s + 1}); };
      return function({x}, scan({.initial = {ScanInitial(x)}, .n_steps = 9}, up).finals[0],
                      {.mode = Mode(linker, "fast_run")});
    };
    const Function f = loop_of(false), g = loop_of(true);
    std::string message;
    try {
      f({Array(-1.0)});
    } catch (const std::out_of_range& error) {
      message = error.what();
    }
    CHECK(message.starts_with("more than 2\n  node     UpToTwo"));
    CHECK(message.find("step     3 of 9") != message.npos);
    CHECK(message.find("node     Scan") != message.npos);
    std::string context;
    try {
      g({Array(-1.0)});
    } catch (const OwnFailure&) {
      context = failure_context();
    }
    CHECK(context.starts_with("  node     UpToTwo"));
    CHECK(context.find("step     3 of 9") != context.npos);
    CHECK(failure_context().empty());
  }
}

TEST_CASE("an error of a loop itself says where the loop was built") {
  const Variable x = vector("x"), n = lscalar("n");
  const auto step = [](const Variable& now, const Variable& before) { return tanh(before) * now; };
  const auto loop = scan({.sequences = {x}, .initial = {ScanInitial(constant(Array(0.5)))}, .n_steps = n}, step);
  for (const char* linker : {"vm", "jit"}) {
    const Function f = function({x, n}, loop.finals[0], {.mode = Mode(linker, "fast_run")});
    CHECK_THROWS_WITH_AS(f({Array{1., 2.}, Array(std::int64_t(3))}), doctest::Contains("scan_test.cpp"), ShapeError);
    CHECK_THROWS_WITH_AS(f({Array{1., 2.}, Array(std::int64_t(-3))}), doctest::Contains("scan_test.cpp"), ValueError);
  }
}
