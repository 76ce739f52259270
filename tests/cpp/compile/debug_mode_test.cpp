// DebugMode: correct graphs pass, and every deliberate error is found and named.
#include "bitale/compile/debug_mode.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/rewriting/rules.hpp"
#include "compile/preallocated.hpp"
#include "support/sampling.hpp"

using namespace bitale;

namespace {

// Without the C linker, which starts a process per node.
DebugModeOptions quick() {
  DebugModeOptions options;
  options.linker = "jit";
  options.native_linkers = {"jit"};
  options.stability_patience = 3;
  return options;
}
Mode quick_mode() { return debug_mode(quick()); }

// Twice its input, with one deliberate error.
class Wrong final : public Op {
 public:
  enum class How { Right, Writes, SharesInput, SharesOutput, Drifts, ReadsOutput, Dtype, Shape, NotReused };
  explicit Wrong(How how) : how_(how) {}
  std::string_view name() const override { return "Wrong"; }
  std::string label() const override { return cat("Wrong", int(how_)); }
  Apply make_node(std::span<const Variable> inputs) const override {
    std::vector<Type> types{how_ == How::Shape ? tensor_type(DType::Float64, Dims{2}) : inputs[0].type()};
    if (how_ == How::SharesOutput) types.push_back(types[0]);
    return Apply(OpRef(this), {inputs[0]}, types);
  }
  std::vector<int> destroys(const Apply&, int) const override {
    return how_ == How::NotReused ? std::vector<int>{0} : std::vector<int>{};
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    Array result = in[0].copy();
    const bool was_given = how_ == How::ReadsOutput && out[0].ndim() == 1 && out[0].size() > 0;
    for (std::int64_t i = 0; i < result.size(); ++i)
      result.mutable_data_as<double>()[i] =
          was_given ? *out[0].mutable_data_as<double>() : 2 * result.mutable_data_as<double>()[i];
    if (how_ == How::Writes) in[0].mutable_data_as<double>()[0] += 1;
    if (how_ == How::SharesInput) result = in[0];
    if (how_ == How::Drifts) result.mutable_data_as<double>()[0] += ++calls_;
    if (how_ == How::Dtype) result = result.astype(DType::Float32);
    for (auto& each : out) each = result;
  }

 private:
  const How how_;
  mutable std::atomic<int> calls_{0};
};

Variables wrong(Wrong::How how, const Variable& x) { return make_ref<Wrong>(how)->make_node({&x, 1}).outputs(); }

void run(Wrong::How how, DebugModeOptions options = quick()) {
  const Variable x = dvector("x");
  const Array given{1.0, 2.0, 3.0};
  const Function f = function({x}, wrong(how, x), {.mode = debug_mode(options)});
  const Results results = f({given});
  CHECK(identical(results[0], Array{2.0, 4.0, 6.0}));
  CHECK(identical(given, Array{1.0, 2.0, 3.0}));
}

struct Rewrite {
  Rewrite(std::string name, std::function<std::optional<Variables>(const Apply&)> function) {
    auto rule = std::make_shared<rewriting::Rule>(
        std::move(name), rewriting::Root::scalar({"cosh"}),
        [function = std::move(function)](FunctionGraph&, const Apply& node) { return function(node); });
    mode = quick_mode().registering({extra_rewrite(std::move(rule), 0.5)});
  }
  Mode mode = quick_mode();
};

}  // namespace

TEST_CASE("correct graphs pass, and the memory of the caller is unchanged") {
  run(Wrong::How::Right);
  DebugModeOptions all = quick();
  all.check_preallocated_output = "ALL";
  run(Wrong::How::Right, all);
  const Variable x = dmatrix("x");
  const Variable w = shared(Array({{1.0, 2.0}, {3.0, 4.0}}), "w");
  const Variable y = log(1.0 + exp(dot(x, w)));
  const Variable cost = sum(y);
  const Function f =
      function({x}, {cost, grad(cost, w)}, {.updates = {{w, w - 0.1 * grad(cost, w)}}, .mode = debug_mode(all)});
  const Function g = function({x}, {cost, grad(cost, w)});
  const Array given{{0.1, 0.2}, {0.3, -0.4}, {2.0, 1.0}};
  const Results expected = g({given}), got = f({given});
  CHECK(allclose(got[0], expected[0], 1e-12));
  CHECK(allclose(got[1], expected[1], 1e-12));
  CHECK(!identical(get_value(w), Array({{1.0, 2.0}, {3.0, 4.0}})));
  CHECK(f.mode().str().starts_with("DebugMode("));
}

TEST_CASE("ops that violate their declarations") {
  CHECK_THROWS_AS(run(Wrong::How::Writes), BadDestroyMap);
  CHECK_THROWS_AS(run(Wrong::How::SharesInput), BadViewMap);
  CHECK_THROWS_AS(run(Wrong::How::SharesOutput), BadViewMap);
  CHECK_THROWS_AS(run(Wrong::How::Drifts), BadThunkOutput);
  CHECK_THROWS_AS(run(Wrong::How::Dtype), InvalidValueError);
  CHECK_THROWS_AS(run(Wrong::How::Shape), InvalidValueError);
  run(Wrong::How::ReadsOutput);
  DebugModeOptions memory = quick();
  memory.check_preallocated_output = "c_contiguous:strided";
  CHECK_THROWS_AS(run(Wrong::How::ReadsOutput, memory), BadThunkOutput);
  run(Wrong::How::NotReused);
}

TEST_CASE("errors carry the node, the input and its values") {
  const Variable x = dvector("x");
  try {
    function({x}, wrong(Wrong::How::Writes, x), {.mode = quick_mode()})({Array{1.0, 2.0}});
    FAIL("not found");
  } catch (const BadDestroyMap& bad) {
    CHECK(bad.node.op().label() == "Wrong1");
    CHECK(bad.idx == 0);
    CHECK(bad.old_val.at(Dims{0}) + 1 == bad.new_val.at(Dims{0}));
    CHECK(bad.perform == "perform");
    CHECK(std::string(bad.what()).find("Wrong1(x)") != std::string::npos);
  }
}

TEST_CASE("a rewrite that changes a value") {
  const Rewrite bad("cosh_is_exp",
                    [](const Apply& node) { return std::optional(Variables{exp(node.input(0)) / 2.0}); });
  const Variable x = dvector("x"), y = cosh(2.0 * x) + 1.0;
  const Function f = function({x}, y, {.mode = bad.mode});
  // For large x, the two values are equal up to rounding, so that no error is found.
  CHECK(allclose(f({Array{40.0, 50.0}})[0], Array{std::cosh(80.0) + 1, std::cosh(100.0) + 1}, 1e-12));
  try {
    f({Array{1.0, 0.0}});
    FAIL("not found");
  } catch (const BadOptimization& error) {
    CHECK(error.reason == "cosh_is_exp");
    CHECK(error.old_r.owner_op()->label().find("Cosh") != std::string::npos);
    CHECK(error.new_graph.find("Exp") != std::string::npos);
    CHECK(error.old_r_val.at(Dims{0}) == doctest::Approx(std::cosh(2.0)));
    CHECK(error.new_r_val.at(Dims{0}) == doctest::Approx(std::exp(2.0) / 2));
    const std::string text = error.what();
    CHECK(text.find("2 of 2 elements differ, most at (1,)") != std::string::npos);
    CHECK(text.find("debug_mode_test.cpp") != std::string::npos);
    CHECK(error.old_graph.find("Cosh") != std::string::npos);
  }
}

TEST_CASE("a rewrite that depends on something besides the graph") {
  auto count = std::make_shared<int>(0);
  const Rewrite nondeterministic("nondeterministic", [count](const Apply& node) {
    const Variable x = node.input(0);
    return std::optional(Variables{++*count % 2 ? (exp(x) + exp(-x)) / 2.0 : (exp(-x) + exp(x)) * 0.5});
  });
  const Variable x = dvector("x");
  CHECK_THROWS_AS(function({x}, cosh(x), {.mode = nondeterministic.mode}), StochasticOrder);
}

TEST_CASE("values that are not finite") {
  const Variable x = dvector("x");
  const Function f = function({x}, log(x), {.mode = quick_mode()});
  f({Array{1.0, 2.0}}).size();
  CHECK_THROWS_AS(f({Array{1.0, 0.0}}), InvalidValueError);
  CHECK_THROWS_AS(f({Array{1.0, HUGE_VAL}}), InvalidValueError);
  DebugModeOptions lenient = quick();
  lenient.check_isfinite = false;
  CHECK(std::isinf(function({x}, log(x), {.mode = debug_mode(lenient)})({Array{1.0, 0.0}})[0].at(Dims{1})));
}

TEST_CASE("options are checked") {
  DebugModeOptions options;
  options.stability_patience = 0;
  CHECK_THROWS_AS(debug_mode(options), ValueError);
  options = {};
  options.check_preallocated_output = "initial:strided_";
  CHECK_THROWS_AS(debug_mode(options), ValueError);
  options = {};
  options.native_linkers = {"jot"};
  CHECK_THROWS_AS(debug_mode(options), ValueError);
  options = {};
  options.optimizer = "fast";
  CHECK_THROWS_AS(debug_mode(options), ValueError);
  CHECK(debug_options(quick_mode()) == quick());
  CHECK(!debug_options(get_mode("FAST_RUN")));
  CHECK(debug_options(get_mode("DEBUG_MODE").excluding({"fusion"})));
}

TEST_CASE("kinds of preallocated memory") {
  const std::vector<Array> values{Array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}})};
  CHECK(memory_kinds("").empty());
  CHECK(memory_kinds("ALL").size() == 6);
  int strided = 0, wrong = 0;
  for (auto& memory : preallocated(values, memory_kinds("ALL"), 4)) {
    CHECK(memory.fits == (memory.targets[0].shape() == values[0].shape()));
    strided += memory.name.starts_with("strided");
    wrong += !memory.fits;
    if (memory.fits) memory.targets[0].assign(values[0]);
    CHECK(!memory.damage());
  }
  CHECK(strided == 8);
  CHECK(wrong == 8);
  const Preallocated spread = preallocated(values, {"strided"}, 1).back();
  static_cast<double*>(spread.around[0].mutable_data())[4] = 0;
  CHECK(spread.damage());
}

TEST_CASE("every op of the registry, every sample") {
  for (auto& entry : op_registry()) {
    for (auto& sample : test::part_of(entry.samples())) {
      const std::string which = cat(entry.name, " ", sample.node.op().label(), " ", sample.note);
      INFO(which);
      DebugModeOptions options = quick();
      options.check_isfinite = false;
      options.stability_patience = 2;
      options.check_preallocated_output = "c_contiguous:f_contiguous:strided:wrong_size";
      options.check_preallocated_output_ndim = 2;
      try {
        const Variables leaves = graph_inputs(sample.node.inputs());
        function(leaves, sample.node.outputs(), {.mode = debug_mode(options), .on_unused_input = OnUnusedInput::Ignore})
            .call(sample.values);
      } catch (const std::exception& error) {
        const std::string message = error.what();
        FAIL_CHECK(message);
      }
    }
  }
}
