// Loops that lowering and code generation transform, at the lengths where pieces meet: tiles, collapsed rows, blocks of
// long sums, scattering lanes, segments of a concatenation. Compiled results are compared with those of the
// interpreter.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"

using namespace bitale;

namespace {

Array ramp(const Dims& shape, DType dtype = DType::Float64) {
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i)
    out.mutable_data_as<double>()[i] = std::sin(double(i) * 0.7) + 0.01 * double(i % 13);
  return out.astype(dtype);
}

Array indices(std::int64_t count, std::int64_t below) {
  Array out = Array::empty(DType::Int64, {count});
  for (std::int64_t i = 0; i < count; ++i) out.mutable_data_as<std::int64_t>()[i] = (i * 7) % (2 * below) - below;
  return out;
}

void agree(const Variables& inputs, const Variables& outputs, const std::vector<Array>& values) {
  auto compiled = function(inputs, outputs, {.mode = get_mode("FAST_RUN")}),
       interpreted = function(inputs, outputs, {.mode = get_mode("FAST_COMPILE")});
  const auto got = compiled(values), expected = interpreted(values);
  for (std::size_t k = 0; k < got.size(); ++k) {
    INFO(cat("output ", k, " of shape ", tuple_text(expected[k].shape())));
    REQUIRE(got[k].shape() == expected[k].shape());
    CHECK(allclose(got[k], expected[k], 1e-12, 1e-13));
  }
}

}  // namespace

TEST_CASE("tiles of all sizes") {
  auto x = matrix("x"), y = matrix("y");
  for (auto [rows, columns] :
       {std::pair(1, 1), {31, 33}, {32, 32}, {33, 64}, {64, 16}, {100, 7}, {0, 5}, {5, 0}, {65, 129}})
    agree({x, y}, {transpose(x) + y, transpose(x) * 2.0, exp(transpose(x)) + transpose(x)},
          {ramp({rows, columns}), ramp({columns, rows})});
}

TEST_CASE("tiles of every dtype, of parts and of several axes") {
  for (DType dtype : {DType::Bool, DType::Int8, DType::Int16, DType::Int32, DType::Float32, DType::Int64}) {
    CAPTURE(dtype_name(dtype));
    auto x = matrix("x", dtype), y = matrix("y", dtype);
    for (auto [rows, columns] : {std::pair(15, 63), {16, 64}, {17, 65}, {40, 130}})
      agree({x, y}, {transpose(x), where(transpose(x), y, transpose(x))},
            {ramp({rows, columns}, dtype), ramp({columns, rows}, dtype)});
  }
  auto x = matrix("x"), y = matrix("y");
  const Variable part = subtensor(x, {Slice{1, {}, {}}, Slice{2, {}, {}}});
  const Variable backwards = subtensor(x, {Slice{{}, {}, -1}, Slice{{}, {}, -1}});
  agree({x, y}, {transpose(part) + y, transpose(backwards) * 2.0}, {ramp({71, 40}), ramp({38, 70})});
  auto z = tensor("z", DType::Float64, {unknown_length, unknown_length, unknown_length});
  agree({z}, {dimshuffle(z, {2, 1, 0}) * 2.0, dimshuffle(z, {0, 2, 1}) + 1.0, dimshuffle(z, {1, 2, 0})},
        {ramp({33, 20, 66})});
}

TEST_CASE("rows that are collapsed into one loop") {
  auto x = tensor("x", DType::Float64, {unknown_length, unknown_length, unknown_length}), y = matrix("y");
  for (const Dims& shape : {Dims{1, 1, 1}, Dims{3, 5, 7}, Dims{0, 2, 3}, Dims{4, 9, 1}, Dims{1, 17, 3}})
    agree({x}, {exp(x) + 1.0, sum(x), sum(x, std::vector{2}), x * sum(x, std::vector{0}), max(x, std::vector{2})},
          {ramp(shape)});
  agree({y}, {y * 2.0, y + transpose(y), y + sum(y, std::vector{1}, KeepDims::Yes), y + sum(y, std::vector{0})},
        {ramp({9, 9})});
}

TEST_CASE("rows are added in order, in blocks or not") {
  auto x = matrix("x");
  auto f = function({x}, {sum(x, std::vector{0}), max(x, std::vector{0}), sum(exp(x), std::vector{0})});
  for (std::int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 30})
    for (std::int64_t columns : {0, 1, 7, 8, 9, 33}) {
      CAPTURE(rows);
      CAPTURE(columns);
      const Array values = ramp({rows, columns});
      Array total = Array::zeros(DType::Float64, {columns});
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          total.mutable_data_as<double>()[j] += values.data_as<double>()[i * columns + j];
      CHECK(identical(f({values})[0], total));
      agree({x}, {sum(x, std::vector{0}), max(x, std::vector{0}), min(x, std::vector{0}), var(x, std::vector{0})},
            {values});
    }
  auto y = tensor("y", DType::Float64, {unknown_length, unknown_length, unknown_length});
  agree({y},
        {sum(y, std::vector{1}), sum(y, std::vector{0}),
         sum(y * sum(y, std::vector{2}, KeepDims::Yes), std::vector{0, 1})},
        {ramp({3, 11, 9})});
}

TEST_CASE("sums of every length are accurate") {
  for (DType dtype : {DType::Float64, DType::Float32}) {
    auto x = vector("x", dtype);
    auto f = function({x}, {sum(x), sum(x * x), max(x)}), sums = function({x}, {sum(x), sum(x * x)});
    const auto nothing = sums({ramp({0}, dtype)});  // an empty array has no maximum
    CHECK(nothing[0].item() == 0);
    CHECK(nothing[1].item() == 0);
    for (std::int64_t n : {1, 7, 8, 31, 32, 33, 255, 256, 511, 512, 1023, 1024, 1025, 2048, 3071, 4096, 5000, 100003}) {
      const Array values = ramp({n}, dtype);
      const auto got = f({values});
      long double exact = 0, squares = 0, size = 0;
      double largest = -std::numeric_limits<double>::infinity();
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t position[] = {i};
        const double v = values.at(position);
        exact += v, squares += (long double)v * v, size += std::fabs(v);
        largest = std::max(largest, v);
      }
      const double epsilon = dtype == DType::Float64 ? 0x1p-53 : 0x1p-24;
      const double growth = 40 + std::log2(double(n));  // blocks of 32, then the logarithm
      CHECK(std::fabs(got[0].item() - double(exact)) <= growth * epsilon * double(size));
      CHECK(std::fabs(got[1].item() - double(squares)) <= (growth + 1) * epsilon * double(squares));
      CHECK(got[2].item() == largest);
    }
  }
  // Ten million equal values: a sequential sum would lose four more digits.
  auto x = vector("x");
  auto f = function({x}, {sum(x)});
  const Array equal = Array::full(DType::Float64, {10'000'000}, 0.1);
  CHECK(std::fabs(f({equal})[0].item() - 1e6) < 2e-9);
}

TEST_CASE("lanes that scatter to one element are serialized") {
  auto y = vector("y"), mu = vector("mu");
  auto index = lvector("index");
  const Variable r = y - take(mu, index), loss = sum(sqr(r));
  for (std::int64_t n : {0, 1, 5, 8, 9, 64, 100})
    for (std::int64_t groups : {1, 3, 11})
      agree({y, mu, index}, {loss, grad(loss, mu)}, {ramp({n}), ramp({groups}), indices(n, groups)});
}

// Indices in ascending or descending order or scattered, nonnegative, negative or mixed.
TEST_CASE("sums by groups agree with the interpreter") {
  for (DType dtype : {DType::Float64, DType::Float32, DType::Int32, DType::Int8}) {
    CAPTURE(dtype_name(dtype));
    const double tolerance = dtype == DType::Float32 ? 2e-5 : 1e-12;
    auto y = vector("y", dtype), mu = vector("mu", dtype);
    auto index = lvector("index");
    const Variable r = y - take(mu, index), s = y * take(mu, index);
    const Variables outputs{inc_subtensor(mu, {IndexItem(index)}, r * r), inc_subtensor(mu, {IndexItem(index)}, s),
                            take(mu, index), sum(r)};
    auto compiled = function({y, mu, index}, outputs),
         interpreted = function({y, mu, index}, outputs, {.mode = get_mode("FAST_COMPILE")});
    for (std::int64_t n : {0, 1, 7, 8, 9, 15, 16, 17, 33, 1000})
      for (std::int64_t groups : {1, 2, 5, 300})
        for (int order = 0; order < 5; ++order) {
          CAPTURE(n);
          CAPTURE(groups);
          CAPTURE(order);
          Array at = Array::empty(DType::Int64, {n});
          for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t sorted = i * groups / std::max<std::int64_t>(n, 1);
            const std::int64_t found[] = {sorted, sorted - groups, groups - 1 - sorted, (i * 7919) % groups,
                                          i % 3 == 0 ? sorted : sorted - groups};
            at.mutable_data_as<std::int64_t>()[i] = found[order];
          }
          const std::vector<Array> values{ramp({n}, dtype), ramp({groups}, dtype), at};
          const auto got = compiled(values), expected = interpreted(values);
          for (std::size_t k = 0; k < got.size(); ++k) CHECK(allclose(got[k], expected[k], tolerance, tolerance));
        }
  }
}

TEST_CASE("infinities and nans stay in their groups") {
  auto y = vector("y"), mu = vector("mu");
  auto index = lvector("index");
  auto f = function({y, mu, index}, {inc_subtensor(mu, {IndexItem(index)}, y * take(mu, index))});
  Array values = Array::full(DType::Float64, {64}, 1.0), at = Array::zeros(DType::Int64, {64});
  values.mutable_data_as<double>()[20] = std::numeric_limits<double>::infinity();
  values.mutable_data_as<double>()[21] = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < 64; ++i) at.mutable_data_as<std::int64_t>()[i] = i / 12;
  const Array got = f({values, Array{1., 1., 1., 1., 1., -0.0}, at})[0];
  CHECK(std::isnan(got.data_as<double>()[1]));
  for (int group : {0, 2, 3, 4}) CHECK(got.data_as<double>()[group] == 13);
  CHECK(got.data_as<double>()[5] == 0);
  CHECK(std::signbit(got.data_as<double>()[5]));
}

TEST_CASE("an index out of range is found in the loop that uses it") {
  auto y = vector("y"), mu = vector("mu");
  auto index = lvector("index");
  const Variable loss = sum(sqr(y - take(mu, index)));
  auto f = function({y, mu, index}, {loss, grad(loss, mu)});
  for (std::int64_t wrong : {3, -4, 1 << 30})
    for (std::int64_t at : {0, 8, 19}) {
      Array bad = indices(20, 3);
      bad.mutable_data_as<std::int64_t>()[at] = wrong;
      CHECK_THROWS_WITH_AS(f({ramp({20}), ramp({3}), bad}),
                           doctest::Contains(cat("index ", wrong, " at position (", at, ",)").c_str()), IndexError);
    }
  CHECK_THROWS_AS(f({ramp({2}), ramp({0}), Array::zeros(DType::Int64, {2})}), IndexError);
}

TEST_CASE("segments of a concatenation, with all kinds of reads") {
  auto p = vector("p");
  auto x = matrix("x");
  const Variable first = subtensor(p, {Slice{{}, 3, {}}}), rest = subtensor(p, {Slice{3, {}, {}}});
  const Variable parts = join(0, {rest, exp(first)}), again = join(0, {tanh(rest), first}),
                 other = join(0, {first, rest});
  for (std::int64_t n : {3, 4, 20})
    agree({p},
          {parts, sum(parts), sum(parts * again), sum(parts * other), subtensor(parts, {Slice{{}, {}, -1}}),
           subtensor(parts, {0}), grad(sum(sqr(parts) * again), p), max(parts), take(parts, arange(2))},
          {ramp({n})});
  const Variable wide = join(1, {x, 2.0 * x}), tall = join(0, {x, 2.0 * x});
  for (const Dims& shape : {Dims{3, 4}, Dims{0, 4}, Dims{3, 1}})
    agree({x},
          {exp(wide), sum(wide, std::vector{0}), sum(wide, std::vector{1}), sum(tall, std::vector{0}), sum(tall),
           transpose(tall) + 1.0, dot(wide, transpose(wide))},
          {ramp(shape)});
}

TEST_CASE("pieces of one result are stored as they become ready, overlapping pieces in program order") {
  const auto x = vector("x"), w = vector("w");
  const Variable five = alloc(0.0, {constant(std::int64_t(5))});
  const auto part = [](std::optional<std::int64_t> start, std::optional<std::int64_t> stop) {
    return IndexItem(Slice{start, stop, {}});
  };
  const Variable total = sum(x);
  const Variable three = subtensor(x, {part(0, 3)});
  const auto stored = [](const Variable& into, const Variable& value, const IndexItem& where) {
    return set_subtensor(into, {where}, value);
  };
  // The whole in three pieces; all but one element; pieces that overlap; a piece that reads the values that it
  // replaces.
  const Variable whole = stored(stored(stored(five, total, 0), three * total, part(1, 4)), total * 2.0, 4);
  const Variable holed = stored(stored(five, total, 0), three * 3.0, part(2, 5));
  const Variable overlapping = stored(stored(stored(five, total, 2), three + 1.0, part(1, 4)), three, part(0, 3));
  const Variable doubled = stored(whole, subtensor(whole, {part(0, 2)}) * 2.0, part(3, 5));
  agree({x}, {whole, holed, overlapping, doubled}, {ramp({4})});
  // With a length that a check fixes, and one that remains unknown.
  const Variable y = constant(ramp({8})), z = subtensor(x, {part(2, {})});
  const Variable value = sum(sqr(y - subtensor(x, {0}) * z)) + exp(subtensor(x, {1}));
  agree({x}, {value, grad(value, x)}, {ramp({10})});
  const Variable loose = sum(sqr(w - subtensor(x, {0}) * z)) + exp(subtensor(x, {1}));
  for (std::int64_t n : {3, 4, 9, 10, 40})
    agree({x, w}, {loose, grad(loose, x), grad(loose, w)}, {ramp({n}), ramp({n - 2})});
  const auto f = function({x}, {value, grad(value, x)});
  CHECK_THROWS_AS(f({ramp({9})}), Error);
  CHECK_THROWS_AS(f({ramp({2})}), Error);
  CHECK_THROWS_AS(f({ramp({0})}), Error);
}

TEST_CASE("sums over static lengths, with and without a remainder") {
  for (std::int64_t n : {1, 2, 3, 7, 8, 9, 15, 16, 24, 32, 33, 64, 100})
    for (DType dtype : {DType::Float64, DType::Float32}) {
      CAPTURE(n);
      const auto x = tensor("x", dtype, {n});
      agree({x}, {sum(x), sum(sqr(x)), max(x), prod(x), x * 2.0}, {Array::full(dtype, {n}, 1.0)});
    }
}
