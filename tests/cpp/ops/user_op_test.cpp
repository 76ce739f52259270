// Ops of users: one with native code (tests/consumer/smooth.hpp), and ops whose perform is wrong.
#include "../../consumer/smooth.hpp"

#include <doctest/doctest.h>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/bitale.hpp"
#include "bitale/rewriting/rules.hpp"

using namespace bitale;

namespace {

// Returns its input, though it does not declare a view, or the input converted to another dtype than it declares.
class Careless final : public OpOf<Careless> {
 public:
  explicit Careless(bool converts) : converts(converts) {}
  bool converts;
  static constexpr auto fields = attribute_list(attribute("converts", &Careless::converts));
  std::string_view name() const override { return "Careless"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    out[0] = converts ? in[0].astype(DType::Int32) : in[0];
  }
};

}  // namespace

TEST_CASE("an op with a custom runtime function") {
  const Variable x = vector("x"), y = smooth(x, 2);
  const Function f = function({x}, y * 8);
  CHECK(f({Array{0.0, 0.0, 1.0, 0.0, 0.0}})[0].str() == "[0. 2. 3. 2. 0.]");
  CHECK(f.dprint("program").find("call own_smooth_f64") != std::string::npos);
  const Variable t = vector("t");
  const Function tangent = function({t}, pushforward({y}, {x}, {t})[0]);
  CHECK(tangent({Array{0.0, 16.0, 0.0}})[0].str() == "[0. 4. 0.]");
  CHECK_THROWS_AS(smooth(matrix("m"), 1), TypeError);
}

TEST_CASE("an op that no handle shares is refused, since its nodes would delete it") {
  const Smooth local(1);
  const Variable x = vector("x");
  CHECK_THROWS_WITH_AS(local({x}), doctest::Contains("make_ref<Smooth>"), ValueError);
}

TEST_CASE("what perform returns without declaring it") {
  const Variable x = vector("x");
  for (const char* linker : {"vm", "jit"}) {
    const Function same = function({x}, (*make_ref<Careless>(false))({x}), {.mode = Mode(linker, "fast_run")});
    const Array given{1., 2.};
    const Array got = same({given})[0];
    CHECK(!got.shares_memory_with(given));
    CHECK(got.str() == "[1. 2.]");
    const Function converted = function({x}, (*make_ref<Careless>(true))({x}), {.mode = Mode(linker, "fast_run")});
    CHECK_THROWS_WITH_AS(converted({given}), doctest::Contains("perform made an array of dtype int32"), TypeError);
  }
}

TEST_CASE("a call of an op knows its line") {
  const Variable x = vector("x");
  const auto here = std::uint32_t(__LINE__);
  const Variable y = (*make_ref<Careless>(true))({x});
  CHECK(y.where().line == here + 1);
  CHECK(std::string(y.where().file).ends_with("user_op_test.cpp"));
  CHECK_THROWS_WITH(function({x}, y)({Array{1.}}),
                    doctest::Contains(("user_op_test.cpp:" + std::to_string(here + 1)).c_str()));
}

TEST_CASE("an equation about a custom op is checked numerically") {
  using namespace rewriting;
  const Variable v = vector("v");
  CHECK(verify_rule(Rule("smooth_of_neg", smooth(neg(v), 2), neg(smooth(v, 2)))).ok());
  CHECK(!verify_rule(Rule("smooth_of_sqr", smooth(sqr(v), 2), sqr(smooth(v, 2)))).ok());
}
