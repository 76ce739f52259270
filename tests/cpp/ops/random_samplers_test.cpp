// The samplers of the counter-based stream as functions of their arguments: nan gives nan, also where the result would
// depend on the bits of the nan, in native code and in the interpreter.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitale/bitale.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/elementwise/scalar_op.hpp"
#include "runtime/random/from_uniform.hpp"

using namespace bitale;

TEST_CASE("samplers give nan for nan in all linkers") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double ordinary[] = {0.7, 20, 0.4};
  for (const ScalarOp* op : scalar_ops()) {
    if (!op->name.starts_with("random_") || op->name == "random_below") continue;
    Variables inputs;
    for (int k = 0; k < op->arity; ++k) inputs.push_back(dvector());
    const Variable draw = apply_elemwise(op->name, inputs);
    for (const char* linker : {"vm", "jit", "c"}) {
      const Function f = function(inputs, {draw}, {.mode = Mode(linker, "fast_run")});
      for (int position = 0; position < op->arity; ++position)
        for (const double sign : {1.0, -1.0}) {
          std::vector<Array> values;
          for (int k = 0; k < op->arity; ++k)
            values.push_back(Array({ordinary[k], k == position ? std::copysign(nan, sign) : ordinary[k], ordinary[k]}));
          const Array got = f(values)[0];
          const double* x = got.data_as<double>();
          INFO(op->name << ", " << linker << ", argument " << position);
          CHECK(std::isnan(x[1]));
          CHECK(x[0] == x[2]);
          CHECK(!std::isnan(x[0]));
        }
    }
  }
}

// Native code checks words again whose upper halves are near a multiple of 2^32 / count; no other word may need it.
TEST_CASE("integers below a count are exact at the boundaries of the ranges of words") {
  constexpr std::uint64_t half = std::uint64_t(1) << 32;
  for (const std::uint64_t count :
       {std::uint64_t(1), std::uint64_t(2), std::uint64_t(3), std::uint64_t(100), half / 65536 - 1, half / 65536,
        half / 65536 + 1, half - 1, half, half + 1, std::uint64_t(1) << 63, ~std::uint64_t(0)}) {
    const std::uint64_t limit = (0 - count) % count;
    std::vector<std::uint64_t> words;
    for (const std::uint64_t k : {std::uint64_t(0), std::uint64_t(1), count / 3, count / 2, count - 1, count})
      for (int step = -2; step <= 2; ++step) {
        const std::uint64_t upper =
            k % count * (half / count) + k % count * (half % count) / count + std::uint64_t(step);
        for (const std::uint64_t lower : {std::uint64_t(0), std::uint64_t(1), half / 2, half - 2, half - 1})
          words.push_back((upper << 32) | lower);
      }
    const Array x = Array::empty(DType::UInt64, Dims{std::int64_t(words.size())});
    std::copy(words.begin(), words.end(), x.mutable_data_as<std::uint64_t>());
    const Variable v = vector("v", DType::UInt64);
    const Variable drawn = apply_elemwise("random_below", Variables{v, constant(Array(count)), constant(Array(limit))});
    for (const char* linker : {"vm", "jit", "c"}) {
      const Array got = function({v}, {drawn}, {.mode = Mode(linker, "fast_run")})({x})[0];
      for (std::size_t i = 0; i < words.size(); ++i) {
        INFO(std::string(linker) << ", below " << count << ", of " << words[i]);
        CHECK(got.data_as<std::uint64_t>()[i] == runtime::random::below_from_word(words[i], count, limit));
      }
    }
  }
}

TEST_CASE("every distribution is a function of a generator, its parameters and size") {
  const Array cov = Array({2.0, 0.5, 0.5, 1.0}).reshape(Dims{2, 2}), shares{0.2, 0.5, 0.3};
  const auto draws = [&](const Variable& r) -> std::vector<random::Draw> {
    using namespace random;
    const Size size{{3}};
    return {uniform(r, 0.0, 1.0, size),
            normal(r, 0.0, 1.0, size),
            standard_normal(r, size),
            lognormal(r, 0.0, 1.0, size),
            exponential(r, 1.0, size),
            gamma(r, 2.0, 1.0, size),
            random::beta(r, 2.0, 3.0, size),
            chisquare(r, 2.0, size),
            weibull(r, 2.0, size),
            laplace(r, 0.0, 1.0, size),
            logistic(r, 0.0, 1.0, size),
            rayleigh(r, 1.0, size),
            wald(r, 1.0, 1.0, size),
            vonmises(r, 0.0, 1.0, size),
            triangular(r, -1.0, 0.0, 1.0, size),
            poisson(r, 3.0, size),
            geometric(r, 0.5, size),
            binomial(r, 9, 0.5, size),
            negative_binomial(r, 9.0, 0.5, size),
            hypergeometric(r, 9, 9, 4, size),
            integers(r, 0, 9, size),
            bernoulli(r, 0.5, size),
            halfnormal(r, 0.0, 1.0, size),
            pareto(r, 2.0, 1.0, size),
            gumbel(r, 0.0, 1.0, size),
            cauchy(r, 0.0, 1.0, size),
            halfcauchy(r, 0.0, 1.0, size),
            invgamma(r, 2.0, 1.0, size),
            truncexpon(r, 2.0, 0.0, 1.0, size),
            truncated_normal(r, 0.0, 1.0, -1.0, 1.0, size),
            t(r, 5.0, 0.0, 1.0, size),
            gengamma(r, 1.0, 2.0, 1.0, size),
            betabinom(r, 9, 2.0, 3.0, size),
            categorical(r, shares, size),
            choice(r, shares, size),
            choice(r, 9, size, {.replace = false}),
            choice(r, shares, Size{{3}}, {.replace = false, .p = shares}),
            permutation(r, 3),
            permutation(r, shares),
            multivariate_normal(r, Array({1.0, 2.0}), cov, size),
            multivariate_normal(r, Array({1.0, 2.0}), cov, size, "svd"),
            multivariate_normal(r, Array({1.0, 2.0}), cov, size, "eigh"),
            dirichlet(r, shares, size),
            multinomial(r, 9, shares, size)};
  };
  for (const BitGenerator kind : {BitGenerator::PCG64, BitGenerator::Threefry}) {
    const Variable r = random::rng("r", kind);
    const Array state = kind == BitGenerator::PCG64 ? random_state(1) : stream_state(1);
    for (auto& [next, value] : draws(r)) {
      CAPTURE(value.owner().op().label());
      const auto results = function({r}, {value, next})({state});
      CHECK(results[0].shape()[0] == 3);
      CHECK(as_random(next.type()) != nullptr);
    }
  }
  const Variable r = random::rng("r");
  CHECK_THROWS_AS(random::multivariate_normal(r, Array({1.0, 2.0}), cov, {}, "lu"), ValueError);
  CHECK_THROWS_AS(random::composed("halfnorm", r, {0.0, 1.0}), NotImplementedError);
  CHECK_THROWS_AS(random::halfnormal(r, Array({1.0, 2.0}), 1.0, {{3}}), ShapeError);
  CHECK_THROWS_WITH_AS(function({r}, {random::halfnormal(r, 0.0, -1.0).value})({random_state(1)}),
                       doctest::Contains("halfnormal with loc = 0"), ValueError);
}
