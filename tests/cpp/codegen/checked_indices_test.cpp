// Loops that read elements by indices have a body for vectors whose indices are all in range and not negative, and one
// for the others; results are those of the interpreter, whichever lanes wrap, and errors are the same.
#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "bitale/compile/function.hpp"
#include "bitale/ops/ops.hpp"
#include "codegen/target.hpp"
#include "graph/evaluate.hpp"
#include "support/targets.hpp"

using namespace bitale;

namespace {

constexpr std::int64_t length = 37, rows = 203;

enum class Wrapped { none, one, some, all };

Array indices(DType dtype, Wrapped wrapped) {
  std::mt19937_64 random(5);
  Array out = Array::empty(dtype, {rows});
  for (std::int64_t k = 0; k < rows; ++k) {
    std::int64_t value = std::int64_t(random() % std::uint64_t(length));
    const bool wraps = wrapped == Wrapped::all || (wrapped == Wrapped::one && k == 100) ||
                       (wrapped == Wrapped::some && random() % 5 == 0);
    if (wraps) value -= length;
    visit_dtype(dtype, [&]<class T>() { out.mutable_data_as<T>()[k] = T(value); });
  }
  return out;
}

Array elements(DType dtype, std::int64_t count) {
  Array out = Array::empty(dtype, {count});
  visit_dtype(dtype, [&]<class T>() {
    for (std::int64_t k = 0; k < count; ++k) out.mutable_data_as<T>()[k] = T((k * 7) % 5);
  });
  return out;
}

bool has_two_bodies(const Function& f) { return f.dprint("llvm").find("unusual_indices") != std::string::npos; }

}  // namespace

TEST_CASE("elements at checked indices: every dtype, negative indices in any lanes") {
  test::for_each_target({"native", "x86-64-v3"}, [](const std::string&) {
    for (DType dtype : {DType::Float64, DType::Float32, DType::Int8, DType::Bool, DType::Int64})
      for (DType index_dtype : {DType::Int64, DType::Int32, DType::Int8, DType::UInt8}) {
        const Variable x = vector("x", dtype), i = vector("i", index_dtype);
        const Variable y = take(x, i);
        const Function f = function({x, i}, {y});
        for (Wrapped wrapped : {Wrapped::none, Wrapped::one, Wrapped::some, Wrapped::all}) {
          if (index_dtype == DType::UInt8 && wrapped != Wrapped::none) continue;
          const Array values = elements(dtype, length), positions = indices(index_dtype, wrapped);
          CHECK(identical(f({values, positions})[0],
                          evaluate(Variables{y}, Variables{x, i}, std::vector<Array>{values, positions})[0]));
        }
      }
  });
}

TEST_CASE("elements at checked indices: sums over several of them") {
  test::for_each_target({"native", "x86-64-v3"}, [](const std::string&) {
    const Variable x = vector("x"), z = vector("z"), i = vector("i", DType::Int64), j = vector("j", DType::Int32),
                   y = vector("y");
    const Variable terms = sqr(y - take(x, i) * take(z, i) - take(x, j));
    const Function f = function({x, z, i, j, y}, {sum(terms), terms});
    CHECK(has_two_bodies(f) == codegen::this_target().slow_gathers);
    const Variable fixed = tensor("fixed", DType::Float64, {length});
    CHECK(has_two_bodies(function({fixed, i}, {sum(take(fixed, i))})) == codegen::this_target().slow_gathers);
    for (Wrapped of_i : {Wrapped::none, Wrapped::one, Wrapped::all})
      for (Wrapped of_j : {Wrapped::none, Wrapped::some}) {
        const std::vector<Array> inputs{elements(DType::Float64, length), elements(DType::Float64, length),
                                        indices(DType::Int64, of_i), indices(DType::Int32, of_j),
                                        elements(DType::Float64, rows)};
        const auto got = f(inputs);
        const std::vector<Array> expected = evaluate(Variables{sum(terms), terms}, Variables{x, z, i, j, y}, inputs);
        CHECK(identical(got[0], expected[0]));  // whole numbers
        CHECK(identical(got[1], expected[1]));
      }
  });
}

TEST_CASE("elements at checked indices: an index out of range is an error in any lane") {
  test::for_each_target({"native", "x86-64-v3"}, [](const std::string&) {
    const Variable x = vector("x"), i = vector("i", DType::Int64);
    const Function f = function({x, i}, {sum(take(x, i))});
    const Array values = elements(DType::Float64, length);
    for (const std::int64_t wrong :
         {length, -length - 1, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()})
      for (const std::int64_t at : {std::int64_t(0), std::int64_t(5), std::int64_t(130), rows - 1}) {
        Array positions = indices(DType::Int64, Wrapped::none);
        positions.mutable_data_as<std::int64_t>()[at] = wrong;
        CHECK_THROWS_AS(f({values, positions}), IndexError);
      }
    CHECK_THROWS_AS(f({elements(DType::Float64, 0), indices(DType::Int64, Wrapped::none)}), IndexError);
    CHECK(identical(f({elements(DType::Float64, 0), Array::empty(DType::Int64, {0})})[0], Array(0.0)));
  });
}
