// Calls of small functions on their caller's stack: taken where all is plain, left to the general call otherwise.
#include "link/direct.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

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

TEST_CASE("direct calls: values where all is plain") {
  const auto x = vector("x");
  const auto thunk = linked({x}, {x * 2.0 + 1.0, sum(x)});
  REQUIRE(thunk->direct());
  Vector in(4), out(4);
  double total = 0;
  CHECK(thunk->direct()->run(std::array{in.view()}, std::array{out.view(), View{&total, nullptr, nullptr}}));
  CHECK(out.values == std::array<double, 8>{3, 5, 7, 9, 5, 6, 7, 8});
  CHECK(total == 10);
}

TEST_CASE("direct calls: small temporaries are on the stack, whichever linker made the code") {
  const auto x = tensor("x", DType::Float64, {8});
  const auto e = exp(x);  // dear, and read once a row: stored
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

TEST_CASE("direct calls: nothing is written where the general call is needed") {
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
  CHECK(refused(in.view(), strided.view()));      // not in rows
  CHECK(refused(strided.view(), longer.view()));  //
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

TEST_CASE("direct calls: what needs more has none") {
  const auto x = vector("x"), index = lvector("index"), a = matrix("a");
  CHECK(linked({x, index}, {subtensor(x, {IndexItem(index)})})->direct() == nullptr);  // may fail once it has written
  CHECK(linked({a}, {dot(exp(a), exp(a))})->direct() == nullptr);                      // temporaries of unknown size
  CHECK(linked({x}, {x * 2.0}, {.threads = 2})->direct() == nullptr);                  // loops to be shared
  CHECK(link::link("vm", std::make_shared<FunctionGraph>(Variables{x}, Variables{x * 2.0}))->direct() == nullptr);
}
