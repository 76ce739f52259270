// Direct calls of small functions on the stack of the caller: made if layouts match and nothing fails, refused
// otherwise, so that the general call is used.
#include "link/direct.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "bitale/bitale.hpp"
#include "link/linker.hpp"

using namespace bitale;

namespace {

std::unique_ptr<link::Thunk> linked(const Variables& inputs, const Variables& outputs,
                                    const link::LinkOptions& options = {}) {
  return link::link("jit", std::make_shared<FunctionGraph>(inputs, outputs), options);
}

struct Vector {
  std::array<double, 8> values{1, 2, 3, 4, 5, 6, 7, 8};
  std::int64_t length, stride = sizeof(double);
  explicit Vector(std::int64_t length) : length(length) {}
  View view(std::size_t from = 0) { return {values.data() + from, &length, &stride}; }
};

}  // namespace

TEST_CASE("direct calls: contiguous arguments") {
  const auto x = vector("x");
  const auto thunk = linked({x}, {x * 2.0 + 1.0, sum(x)});
  REQUIRE(thunk->direct());
  Vector in(4), out(4);
  double total = 0;
  CHECK(thunk->direct()->run(std::array{in.view()}, std::array{out.view(), View{&total, nullptr, nullptr}}));
  CHECK(out.values == std::array<double, 8>{3, 5, 7, 9, 5, 6, 7, 8});
  CHECK(total == 10);
}

TEST_CASE("direct calls: lengths that a type or a check fixes are verified") {
  const auto x = tensor("x", DType::Float64, {4}), y = vector("y");
  const auto thunk = linked({x, y}, {x * 2.0, outer(y, y), y + constant(Array{1., 2., 3.})});
  REQUIRE(thunk->direct());
  Vector four(4), three(3), five(5), out(4), sums(3);
  std::array<double, 9> products{};
  const std::array<std::int64_t, 2> shape{3, 3}, strides{24, 8}, flat{1, 9};
  const auto run = [&](Vector& a, Vector& b, const std::int64_t* rows) {
    return thunk->direct()->run(std::array{a.view(), b.view()},
                                std::array{out.view(), View{products.data(), rows, strides.data()}, sums.view()});
  };
  CHECK(run(four, three, shape.data()));
  CHECK(products == std::array<double, 9>{1, 2, 3, 2, 4, 6, 3, 6, 9});
  CHECK(sums.values[2] == 6);
  CHECK(out.values[3] == 8);
  CHECK_FALSE(run(five, three, shape.data()));
  CHECK_FALSE(run(four, four, shape.data()));
  CHECK_FALSE(run(four, three, flat.data()));
}

TEST_CASE("direct calls: lengths that only the code computes") {
  const auto n = scalar("n", DType::Int64);
  for (const std::string linker : {"jit", "c"}) {
    CAPTURE(linker);
    const auto thunk = link::link(linker, std::make_shared<FunctionGraph>(Variables{n}, Variables{arange(n)}));
    REQUIRE(thunk->direct());
    std::int64_t three = 3, four = 4, stride = 8;
    std::array<std::int64_t, 4> counted{};
    const auto run = [&](std::int64_t& count) {
      return thunk->direct()->run(std::array{View{&count, nullptr, nullptr}},
                                  std::array{View{counted.data(), &three, &stride}});
    };
    CHECK(run(three));
    CHECK(counted == std::array<std::int64_t, 4>{0, 1, 2, 0});
    CHECK_FALSE(run(four));
    CHECK(counted == std::array<std::int64_t, 4>{0, 1, 2, 0});
  }
}

TEST_CASE("direct calls: small temporaries are on the stack, with code of either linker") {
  const auto x = tensor("x", DType::Float64, {8});
  const auto e = exp(x);  // expensive and read once per row, so it is stored
  const Variable outer = expand_dims(e, 1) * expand_dims(e, 0), total = sum(outer, std::vector<int>{1});
  for (const std::string linker : {"jit", "c"}) {
    CAPTURE(linker);
    const auto thunk = link::link(linker, std::make_shared<FunctionGraph>(Variables{x}, Variables{total}));
    REQUIRE(thunk->text("program").find("stack ") != std::string::npos);
    REQUIRE(thunk->direct());
    Vector in(8), out(8);
    CHECK(thunk->direct()->run(std::array{in.view()}, std::array{out.view()}));
    double sum_of_exp = 0;
    for (double value : in.values) sum_of_exp += std::exp(value);
    for (std::size_t i = 0; i < 8; ++i)
      CHECK(out.values[i] == doctest::Approx(std::exp(in.values[i]) * sum_of_exp).epsilon(1e-12));
  }
}

TEST_CASE("direct calls: nothing is written if the general call is needed") {
  const auto x = vector("x");
  const auto thunk = linked({x}, {x * 2.0});
  REQUIRE(thunk->direct());
  const auto refused = [&](const View& in, const View& out) {
    return !thunk->direct()->run(std::array{in}, std::array{out});
  };
  Vector in(4), longer(5), strided(4);
  strided.stride = 2 * sizeof(double);
  const auto untouched = in.values;
  CHECK(refused(in.view(), longer.view()));       // another length
  CHECK(refused(in.view(), in.view(2)));          // overlapping
  CHECK(refused(in.view(), strided.view()));      // not contiguous
  CHECK(refused(strided.view(), longer.view()));  // neither
  CHECK(refused(in.view(), {reinterpret_cast<char*>(longer.values.data()) + 4, &in.length, &in.stride}));  // misaligned
  CHECK(in.values == untouched);
  CHECK(longer.values == untouched);
  CHECK(strided.values == untouched);

  // A check that fails.
  const auto y = vector("y");
  const auto added = linked({x, y}, {x + y});
  REQUIRE(added->direct());
  Vector shorter(3), out(4);
  CHECK_FALSE(added->direct()->run(std::array{in.view(), shorter.view()}, std::array{out.view()}));
  CHECK(out.values == untouched);
}

TEST_CASE("direct calls: results of code that may fail after a write are on the stack until it succeeds") {
  const auto x = vector("x"), index = lvector("index");
  const auto thunk = linked({x, index}, {subtensor(x, {IndexItem(index)}), inc_subtensor(x, {IndexItem(index)}, 1.0)});
  REQUIRE(thunk->direct());
  Vector in(8), picked(3), increased(8);
  std::int64_t at[] = {7, -8, 2}, three = 3, stride = 8;
  const auto untouched = picked.values;
  const auto run = [&] {
    return thunk->direct()->run(std::array{in.view(), View{at, &three, &stride}},
                                std::array{picked.view(), increased.view()});
  };
  CHECK(run());
  CHECK(picked.values == std::array<double, 8>{8, 1, 3, 4, 5, 6, 7, 8});
  CHECK(increased.values == std::array<double, 8>{2, 2, 4, 4, 5, 6, 7, 9});
  picked.values = increased.values = untouched;
  at[2] = 8;
  CHECK_FALSE(run());
  CHECK(picked.values == untouched);
  CHECK(increased.values == untouched);

  // Too large for the stack.
  std::vector<double> large(5000, 1.0), result(5000);
  std::int64_t length = 5000;
  at[2] = 4999;
  CHECK_FALSE(thunk->direct()->run(std::array{View{large.data(), &length, &stride}, View{at, &three, &stride}},
                                   std::array{picked.view(), View{result.data(), &length, &stride}}));
  CHECK(picked.values == untouched);
}

TEST_CASE("direct calls: functions that need more than the stack have none") {
  const auto x = vector("x"), a = matrix("a");
  CHECK(linked({a}, {dot(exp(a), exp(a))})->direct() == nullptr);      // temporaries have unknown sizes
  CHECK(linked({x}, {x * 2.0}, {.threads = 2})->direct() == nullptr);  // loops are shared among threads
  CHECK(link::link("vm", std::make_shared<FunctionGraph>(Variables{x}, Variables{x * 2.0}))->direct() == nullptr);
}
