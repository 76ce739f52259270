// Optimisers as functions of C++: both forms, chains, schedules and errors. The Python tests compare all of them with
// recurrences.
#include "bitale/optimizers/optimizers.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "bitale/bitale.hpp"

using namespace bitale;

namespace {

// Adam for one number.
struct ByHand {
  double p, mu = 0, nu = 0;
  int t = 0;
  void step(double g, double rate) {
    ++t;
    mu = 0.9 * mu + 0.1 * g;
    nu = 0.999 * nu + 0.001 * g * g;
    p -= rate * (mu / (1 - std::pow(0.9, t))) / (std::sqrt(nu / (1 - std::pow(0.999, t))) + 1e-8);
  }
};

}  // namespace

TEST_CASE("optimizers: updates of shared variables") {
  const Variable w = shared(Array{1.0, -2.0}, "w");
  const Variable loss = sum(sqr(w));
  const optimizers::Updates updates = optimizers::adam({.learning_rate = 0.1}).updates(loss, {w});
  const Function step = function({}, loss, {.updates = updates});
  ByHand first{1.0}, second{-2.0};
  for (int k = 0; k < 20; ++k) {
    (void)step();
    first.step(2 * first.p, 0.1);
    second.step(2 * second.p, 0.1);
  }
  CHECK(get_value(w).data_as<double>()[0] == doctest::Approx(first.p).epsilon(1e-12));
  CHECK(get_value(w).data_as<double>()[1] == doctest::Approx(second.p).epsilon(1e-12));
  CHECK(get_value(updates.state.count).item() == 20);
  REQUIRE(updates.state.slots.size() == 2);
  CHECK(updates.state.slots[0][0].name() == "w.mu");
  CHECK(get_value(updates.state.slots[1][0]).data_as<double>()[0] == doctest::Approx(first.nu).epsilon(1e-12));
}

TEST_CASE("optimizers: a loop of pure steps") {
  const optimizers::Optimizer o = optimizers::adam(
      {.learning_rate = optimizers::Schedule([](const Variable& step) { return 0.1 / (1.0 + step); })});
  CHECK(o.slot_names() == std::vector<std::string>{"mu", "nu"});
  CHECK(o.has_count());
  const Variable w = dscalar("w");
  const optimizers::State start = o.init({w});
  const auto results = scan({.initial = {w, start.count, start.slots[0][0], start.slots[1][0]}, .n_steps = 10},
                            [&](const Variable& now, const Variable& count, const Variable& mu, const Variable& nu) {
                              const auto [moved, next] = o.update({2 * now}, {count, {{mu}, {nu}}}, {now});
                              return Variables{moved[0], next.count, next.slots[0][0], next.slots[1][0]};
                            });
  ByHand one{3.0};
  for (int k = 0; k < 10; ++k) one.step(2 * one.p, 0.1 / (1.0 + k));
  CHECK(function({w}, results.finals[0])(3.0).item() == doctest::Approx(one.p).epsilon(1e-12));
}

TEST_CASE("optimizers: a chain") {
  const Variable w = shared(Array{3.0, 4.0}, "w"), v = shared(Array{12.0}, "v");
  const optimizers::Optimizer o =
      optimizers::chain({optimizers::clip_by_global_norm({.max_norm = 6.5}), optimizers::sgd({.learning_rate = 1.0}),
                         optimizers::parameter_average()});
  const optimizers::Updates updates = o.updates(Variables{w, v}, {w, v});
  (void)function({}, Variables{}, {.updates = updates})();
  CHECK(get_value(w).data_as<double>()[1] == doctest::Approx(2.0));
  CHECK(get_value(v).item() == doctest::Approx(6.0));
  CHECK(get_value(updates.state.slots[0][1]).item() == doctest::Approx(6.0));
  CHECK(o.str() == "chain(clip_by_global_norm(max_norm=6.5), sgd(learning_rate=1.0), parameter_average())");
}

TEST_CASE("optimizers: errors") {
  const Variable w = shared(Array{1.0}, "w"), n = shared(Array{1}, "n"), x = dvector("x");
  CHECK_THROWS_AS((void)optimizers::adam({.b1 = 1.0}), ValueError);
  CHECK_THROWS_AS((void)optimizers::adam({.learning_rate = x}), TypeError);
  CHECK_THROWS_AS((void)optimizers::chain({optimizers::adam(), optimizers::sgd()}), ValueError);
  CHECK_THROWS_AS((void)optimizers::clip_by_value().updates(sum(w), {w}), ValueError);
  CHECK_THROWS_AS((void)optimizers::sgd().updates(sum(x), {x}), TypeError);
  CHECK_THROWS_AS((void)optimizers::sgd().updates(sum(w), {n}), TypeError);
  CHECK_THROWS_AS((void)optimizers::sgd().updates(sum(w), {w, w}), ValueError);
  CHECK_THROWS_AS((void)optimizers::sgd().updates(w, {w}), TypeError);
  const optimizers::Optimizer o = optimizers::momentum();
  CHECK_THROWS_AS((void)o.update({x, x}, o.init({x}), {x}), ValueError);
  CHECK_THROWS_AS((void)o.update({x}, {}, {x}), ValueError);
  CHECK_THROWS_AS((void)o.update({sum(x)}, o.init({x}), {x}), ShapeError);
}
