#include "bitale/core/array.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bitale/core/error.hpp"

using namespace bitale;

namespace {

Array counting(const Dims& shape) {
  Array out = Array::empty(DType::Float64, shape);
  std::iota(out.mutable_data_as<double>(), out.mutable_data_as<double>() + out.size(), 0.0);
  return out;
}

double at(const Array& a, std::initializer_list<std::int64_t> position) {
  return a.at({position.begin(), position.size()});
}

}  // namespace

TEST_CASE("making arrays") {
  CHECK(Array(3).dtype() == DType::Int32);
  CHECK(Array(true).dtype() == DType::Bool);
  CHECK(Array{1.f, 2.f}.dtype() == DType::Float32);
  Array matrix{{1., 2., 3.}, {4., 5., 6.}};
  CHECK(matrix.shape() == Dims{2, 3});
  CHECK(matrix.strides() == Dims{24, 8});
  CHECK(at(matrix, {1, 0}) == 4);
  CHECK(at(Array(std::vector<std::int64_t>{1, 2}), {1}) == 2);
}

TEST_CASE("ranges of numbers are arrays") {
  const std::vector<double> values{1, 2, 3};
  CHECK(identical(Array(values), Array{1., 2., 3.}));
  CHECK(identical(Array(std::span<const double>(values).subspan(1)), Array{2., 3.}));
  CHECK(identical(Array(std::array<std::int8_t, 2>{4, 5}), Array{std::int8_t(4), std::int8_t(5)}));
  CHECK(identical(Array(std::deque<float>{1, 2}), Array{1.f, 2.f}));
  CHECK(identical(Array(std::vector<bool>{true, false}), Array{true, false}));
  CHECK(Array(std::vector<std::complex<double>>{{1, 2}}).dtype() == DType::Complex128);
  CHECK(Array(std::vector<double>()).shape() == Dims{0});
  const double numbers[] = {1, 2};
  CHECK(identical(Array(numbers), Array{1., 2.}));
  const auto takes = [](const Array& array) { return array.size(); };
  CHECK(takes(values) == 3);
  static_assert(!std::is_convertible_v<std::vector<std::string>, Array> && !std::is_convertible_v<std::string, Array>);
  static_assert(!std::is_convertible_v<std::vector<std::vector<double>>, Array>);
}

TEST_CASE("a default-constructed array is no value") {
  std::map<std::string, Array> values;
  const Array none = values["a name that is not there"];
  CHECK_FALSE(none.defined());
  CHECK(Array(0.0).defined());
  CHECK(none.str() == "<no array>");
  CHECK_THROWS_AS(none.item(), ValueError);
  CHECK_THROWS_AS(none.data_as<double>(), ValueError);
  CHECK_FALSE(none.copy().defined());
  CHECK_FALSE(none.contiguous().defined());
  CHECK_THROWS_AS(none.astype(DType::Float32), ValueError);
  CHECK_THROWS_AS(none.reshape(Dims{1}), ValueError);
  CHECK_THROWS_AS(none.broadcast_to(Dims{2}), ValueError);
  CHECK_THROWS_AS(Array{1.}.assign(none), ValueError);
}

TEST_CASE("a ragged list is refused") {
  const auto too_short = [] { return Array{{1., 2.}, {3.}}; };
  CHECK_THROWS_WITH_AS(too_short(), doctest::Contains("rows of the same length, got one of 2 and one of 1"),
                       ShapeError);
  const auto of_fitting_total = [] { return Array{{1., 2.}, {3.}, {4., 5., 6.}}; };
  CHECK_THROWS_AS(of_fitting_total(), ShapeError);
}

TEST_CASE("data is aligned to 64 bytes") {
  for (std::int64_t n : {0, 1, 7, 8, 9, 1000})
    CHECK(reinterpret_cast<std::uintptr_t>(Array::empty(DType::Int8, Dims{n}).data()) % 64 == 0);
}

TEST_CASE("bad sizes are refused and named") {
  CHECK_THROWS_WITH_AS(Array::empty(DType::Float64, Dims{2, -1}), doctest::Contains("(2, -1)"), ValueError);
  CHECK_THROWS_WITH_AS(Array::empty(DType::Float64, Dims{std::int64_t(1) << 60}), doctest::Contains("8 EiB"),
                       OutOfMemoryError);
  CHECK_THROWS_AS(Array::zeros(DType::Float64, Dims{std::int64_t(1) << 40, std::int64_t(1) << 40}), OutOfMemoryError);
  CHECK_THROWS_AS(Array::empty(DType::Int8, Dims{0, std::int64_t(1) << 62, std::int64_t(1) << 62}), OutOfMemoryError);
  CHECK(Array::empty(DType::Float64, Dims{0, std::int64_t(1) << 50}).size() == 0);  // needs no memory
  CHECK_THROWS_AS(product(Dims{std::int64_t(1) << 40, std::int64_t(1) << 40}), ValueError);
  CHECK_THROWS_AS(Array(1.).broadcast_to(Dims{std::int64_t(1) << 40, std::int64_t(1) << 40}), ValueError);
}

TEST_CASE("arrays without elements") {
  Array empty = Array::zeros(DType::Float64, Dims{0, 3});
  CHECK(empty.size() == 0);
  CHECK(empty.is_contiguous());
  CHECK(empty.copy().shape() == Dims{0, 3});
  CHECK(empty.astype(DType::Int8).dtype() == DType::Int8);
  CHECK(empty.transpose().shape() == Dims{3, 0});
  CHECK(empty.transpose().contiguous().size() == 0);
  CHECK(empty.reshape(Dims{3, 0, 2}).shape() == Dims{3, 0, 2});
  CHECK(empty.reshape(Dims{-1, 7}).shape() == Dims{0, 7});
  CHECK_THROWS_AS(empty.reshape(Dims{0, -1}), ShapeError);
  CHECK(empty.slice(0, 0, 0, -1).size() == 0);
  CHECK(identical(empty, empty.copy()));
  CHECK_THROWS_AS(empty.item(), ValueError);
  empty.assign(empty.copy());
}

TEST_CASE("typed access checks the dtype") {
  CHECK_THROWS_WITH_AS(Array{1.}.data_as<float>(), doctest::Contains("expected an array of dtype float32, got float64"),
                       TypeError);
  CHECK_THROWS_AS((Array{1., 2.}.item()), ValueError);
  CHECK(Array(std::numeric_limits<std::int64_t>::max()).int_item() == std::numeric_limits<std::int64_t>::max());
  CHECK_THROWS_AS(at(Array{1., 2.}, {2}), IndexError);
  CHECK_THROWS_AS(at(Array{1., 2.}, {-1}), IndexError);
  CHECK_THROWS_AS(at(Array{1., 2.}, {0, 0}), IndexError);
}

TEST_CASE("views share data") {
  Array x = counting(Dims{2, 3, 4});
  Array t = x.transpose();
  CHECK(t.shape() == Dims{4, 3, 2});
  CHECK(at(t, {3, 2, 1}) == 23);
  const int order[] = {1, 0, 2};
  CHECK(at(x.transpose(order), {2, 1, 3}) == 23);
  const int twice[] = {1, 1, 2}, outside[] = {0, 1, 3};
  CHECK_THROWS_AS(x.transpose(twice), ValueError);
  CHECK_THROWS_AS(x.transpose(outside), IndexError);

  Array reversed = x.slice(2, 3, 4, -1);
  CHECK(at(reversed, {0, 0, 0}) == 3);
  CHECK(at(reversed, {0, 0, 3}) == 0);
  CHECK(at(x.slice(1, 0, 2, 2), {0, 1, 0}) == 8);
  CHECK_THROWS_AS(x.slice(2, 0, 5, 1), IndexError);
  CHECK_THROWS_AS(x.slice(2, 3, 5, -1), IndexError);
  CHECK_THROWS_AS(x.slice(2, 4, 1, 1), IndexError);
  CHECK_THROWS_AS(x.slice(2, 0, 2, std::numeric_limits<std::int64_t>::min()), IndexError);
  CHECK_THROWS_AS(x.slice(3, 0, 1, 1), IndexError);

  CHECK(x.take_index(0, 1).shape() == Dims{3, 4});
  CHECK(at(x.take_index(0, 1), {0, 0}) == 12);
  CHECK_THROWS_WITH_AS(x.take_index(0, 2), doctest::Contains("index 2 is out of bounds for axis 0 with length 2"),
                       IndexError);
  CHECK(at(x.insert_axis(3, 5), {1, 2, 3, 4}) == 23);

  CHECK(x.shares_memory_with(t));
  CHECK(x.shares_memory_with(reversed));
  CHECK(!x.shares_memory_with(x.copy()));
  CHECK(!x.take_index(0, 0).shares_memory_with(x.take_index(0, 1)));
  reversed.assign(Array::full(DType::Float64, Dims{2, 3, 4}, 7));
  CHECK(at(x, {1, 1, 1}) == 7);
}

TEST_CASE("broadcasting") {
  Array row{{1., 2., 3.}};
  Array wide = row.broadcast_to(Dims{4, 2, 3});
  CHECK(at(wide, {3, 1, 2}) == 3);
  CHECK(wide.contiguous().strides() == Dims{48, 24, 8});
  CHECK(at(wide.contiguous(), {3, 1, 2}) == 3);
  CHECK_THROWS_WITH_AS(row.broadcast_to(Dims{1, 4}), doctest::Contains("dimension 1 has length 3, not 4 or 1"),
                       ShapeError);
  CHECK_THROWS_AS(row.broadcast_to(Dims{3}), ShapeError);
  CHECK(row.broadcast_to(Dims{0, 3}).size() == 0);
}

TEST_CASE("reshape") {
  Array x = counting(Dims{2, 6});
  CHECK(x.reshape(Dims{-1, 4}).shape() == Dims{3, 4});
  CHECK(x.reshape(Dims{12}).data() == x.data());
  Array columns = x.transpose().reshape(Dims{12});
  CHECK(columns.data() != x.data());
  CHECK(at(columns, {1}) == 6);
  CHECK_THROWS_WITH_AS(x.reshape(Dims{5}), doctest::Contains("can't reshape (2, 6) to (5,)"), ShapeError);
  CHECK_THROWS_AS(x.reshape(Dims{-1, -1}), ShapeError);
  CHECK_THROWS_AS(x.reshape(Dims{-1, 5}), ShapeError);
  CHECK_THROWS_AS(x.reshape(Dims{-2, 6}), ShapeError);
  CHECK_THROWS_AS(x.reshape(Dims{std::int64_t(1) << 40, std::int64_t(1) << 40}), ShapeError);
}

TEST_CASE("astype converts every pair of dtypes") {
  const Array ints{std::int64_t(0), std::int64_t(1), std::int64_t(100)};
  for (DType from : real_dtypes())
    for (DType to : real_dtypes()) {
      CAPTURE(dtype_name(from));
      CAPTURE(dtype_name(to));
      Array converted = ints.astype(from).astype(to);
      const bool is_bool = from == DType::Bool || to == DType::Bool;
      CHECK(identical(converted.astype(DType::Int64), is_bool ? Array{0L, 1L, 1L} : ints));
      Array strided = counting(Dims{4, 3}).astype(from).transpose().slice(1, 3, 2, -2).astype(to);
      CHECK(at(strided, {2, 0}) == (is_bool ? 1 : 11));
      CHECK(at(strided, {0, 1}) == (is_bool ? 1 : 3));
    }
  Array same = ints.astype(DType::Int64);
  CHECK(same.data() == ints.data());
}

TEST_CASE("assign") {
  Array x = counting(Dims{3, 4});
  SUBCASE("converts and respects strides") {
    x.transpose().assign(Array::full(DType::Int32, Dims{4, 3}, 5));
    CHECK(identical(x, Array::full(DType::Float64, Dims{3, 4}, 5)));
  }
  SUBCASE("overlapping memory") {
    Array line = counting(Dims{10});
    line.slice(0, 1, 9, 1).assign(line.slice(0, 0, 9, 1));
    CHECK(identical(line, Array{0., 0., 1., 2., 3., 4., 5., 6., 7., 8.}));
    line = counting(Dims{10});
    line.slice(0, 9, 10, -1).assign(line);
    CHECK(identical(line, Array{9., 8., 7., 6., 5., 4., 3., 2., 1., 0.}));
    Array square = counting(Dims{3, 3}), flipped = square.transpose().copy();
    square.assign(square.transpose());
    CHECK(identical(square, flipped));
    line.assign(line);
    CHECK(at(line, {0}) == 9);
  }
  SUBCASE("refuses another shape and read-only data") {
    CHECK_THROWS_WITH_AS(x.assign(Array{1., 2.}), doctest::Contains("shape (2,) to the shape (3, 4)"), ShapeError);
    CHECK_THROWS_AS(x.read_only().assign(x.copy()), ValueError);
    CHECK(x.writeable());
  }
  SUBCASE("five dimensions in mixed order") {
    Array source = counting(Dims{2, 3, 1, 4, 2});
    const int order[] = {3, 0, 4, 2, 1};
    Array target = Array::zeros(DType::Float32, Dims{4, 2, 2, 1, 3});
    target.assign(source.transpose(order));
    CHECK(at(target, {3, 1, 0, 0, 2}) == at(source, {1, 2, 0, 3, 0}));
    CHECK(at(target, {0, 0, 1, 0, 1}) == at(source, {0, 1, 0, 0, 1}));
  }
}

TEST_CASE("borrowed memory lives as long as the array") {
  auto owner = std::make_shared<std::vector<double>>(6, 1.5);
  std::weak_ptr<std::vector<double>> watch = owner;
  double* data = owner->data();
  {
    Array x = Array::borrow(data, DType::Float64, Dims{2, 3}, Dims{24, 8}, owner);
    owner.reset();
    CHECK(!watch.expired());
    CHECK(!x.is_unique());
    Array part = x.take_index(0, 1);
    x = Array();
    CHECK(!watch.expired());
    CHECK(at(part, {2}) == 1.5);
  }
  CHECK(watch.expired());
  CHECK_THROWS_AS(Array::borrow(nullptr, DType::Float64, Dims{2, 3}, Dims{8}, nullptr), ValueError);
  double value = 1;
  CHECK(!Array::borrow(&value, DType::Float64, Dims{}, Dims{}, nullptr, Array::Writeable::No).writeable());
}

TEST_CASE("nullptr is the address of no elements only") {
  CHECK_THROWS_WITH_AS(Array::borrow(nullptr, DType::Float64, Dims{2}, Dims{8}, nullptr), doctest::Contains("nullptr"),
                       ValueError);
  CHECK_THROWS_WITH_AS(Array::from(nullptr, DType::Float64, Dims{2}), doctest::Contains("nullptr"), ValueError);
  CHECK(Array::borrow(nullptr, DType::Float64, Dims{0}, Dims{8}, nullptr).str() == "[]");
  CHECK(Array::from(nullptr, DType::Float64, Dims{2, 0}).size() == 0);
}

TEST_CASE("only complex numbers are pairs") {
  CHECK_THROWS_AS((Array{1., 2.}).as_pairs(), TypeError);
  CHECK((Array{1., 2.}).astype(DType::Complex128).as_pairs().shape() == Dims{2, 2});
}

TEST_CASE("is_unique is false while other handles exist") {
  Array x{1., 2.};
  CHECK(x.is_unique());
  {
    Array y = x.slice(0, 0, 1, 1);
    CHECK(!x.is_unique());
  }
  CHECK(x.is_unique());
}

TEST_CASE("contiguity ignores dimensions of length 1") {
  CHECK(counting(Dims{3, 1, 2}).is_contiguous());
  CHECK(counting(Dims{3, 2}).slice(0, 1, 1, 1).is_contiguous());
  CHECK(!counting(Dims{3, 2}).slice(1, 1, 1, 1).is_contiguous());
  CHECK(counting(Dims{3, 1}).transpose().is_contiguous());
  CHECK(!counting(Dims{3, 2}).transpose().is_contiguous());
}

TEST_CASE("identical and allclose") {
  const double nan = std::nan("");
  CHECK(identical(Array{1., nan}, Array{1., -nan}));
  CHECK(!identical(Array{0.}, Array{-0.}));
  CHECK(!identical(Array{1.}, Array{1.f}));
  CHECK(!identical(Array{1.}, Array{1., 1.}));
  CHECK(allclose(Array{1., nan}, Array{1. + 1e-9, nan}));
  CHECK(!allclose(Array{1.}, Array{1.001}));
  CHECK(allclose(Array{1.}, Array{1.001}, 0, 0.01));
  CHECK(allclose(Array{INFINITY}, Array{INFINITY}));
  CHECK(!allclose(Array{INFINITY}, Array{-INFINITY}));
  CHECK(!allclose(Array{double(INFINITY)}, Array{1.}));
  CHECK(!allclose(Array{1.}, Array{nan}));
  CHECK(allclose(Array{2}, Array{2.}));
}

TEST_CASE("parts are indexed as in NumPy") {
  const Array m{{1., 2., 3.}, {4., 5., 6.}};
  CHECK(identical(m[1], Array{4., 5., 6.}));
  CHECK(identical(m[-2], Array{1., 2., 3.}));
  CHECK(m[1][2].item() == 6);
  CHECK(identical(m[{0, 2}], Array(3.)));
  CHECK(identical(m[{slice(), 1}], Array{2., 5.}));
  CHECK(identical(m[{1, slice(1, {})}], Array{5., 6.}));
  CHECK(identical(m[{Ellipsis{}, -1}], Array{3., 6.}));
  CHECK(m[{NewAxis{}, slice(), NewAxis{}}].shape() == Dims{1, 2, 1, 3});
  CHECK(m[0].shares_memory_with(m));
  m[0][slice({}, 2)].assign(Array{7., 8.});
  CHECK(identical(m, Array{{7., 8., 3.}, {4., 5., 6.}}));

  CHECK_THROWS_WITH_AS(m[-3], doctest::Contains("-3"), IndexError);
  CHECK_THROWS_AS(m[2], IndexError);
  CHECK_THROWS_AS(Array(1.)[0], IndexError);
  CHECK_THROWS_WITH_AS((m[{0, 1, 2}]), doctest::Contains("too many indices: 3"), IndexError);
  CHECK_THROWS_AS((m[{Ellipsis{}, Ellipsis{}}]), IndexError);
  CHECK_THROWS_AS(m[slice({}, {}, 0)], ValueError);
}

// The elements that Python's range(*slice.indices(n)) counts.
TEST_CASE("every slice of a vector") {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::optional<std::int64_t>> bounds{{}, least, -7, -5, -4, -2, -1, 0, 1, 3, 4, 5, 9, -(least + 1)};
  for (std::int64_t n : {0, 1, 4, 5}) {
    const Array x = Array::empty(DType::Int64, {n});
    for (std::int64_t i = 0; i < n; ++i) x.mutable_span_as<std::int64_t>()[std::size_t(i)] = i;
    for (const auto& start : bounds)
      for (const auto& stop : bounds)
        for (std::optional<std::int64_t> step : bounds) {
          if (step == 0) continue;
          const std::int64_t by = step.value_or(1), low = by < 0 ? -1 : 0, high = by < 0 ? n - 1 : n;
          const auto place = [&](std::optional<std::int64_t> at, std::int64_t absent) {
            return !at ? absent : std::max(low, std::min(high, *at < 0 ? *at + n : *at));
          };
          std::vector<std::int64_t> expected;
          for (std::int64_t i = place(start, by < 0 ? high : low), end = place(stop, by < 0 ? low : high);
               by < 0 ? i > end : i < end;) {
            expected.push_back(i);
            if (__builtin_add_overflow(i, by, &i)) break;
          }
          const Array part = x[IndexRange{start, stop, step}];
          const auto elements = part.elements<std::int64_t>();
          CHECK(std::equal(elements.begin(), elements.end(), expected.begin(), expected.end()));
        }
  }
}

TEST_CASE("elements in any strides, spans and views of them") {
  const Array m{{1., 2., 3.}, {4., 5., 6.}}, t = m.transpose();
  std::vector<double> seen;
  for (const double value : t.elements<double>()) seen.push_back(value);
  CHECK(seen == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(m.transpose({1, 0}).shape() == Dims{3, 2});
  for (const double value : Array(2.5).elements<double>()) CHECK(value == 2.5);
  for ([[maybe_unused]] const double value : Array::zeros(DType::Float64, {2, 0}).elements<double>()) CHECK(false);
  CHECK(m.at({1, 2}) == 6);
  CHECK(t.view_as<double, 2>()(2, 1) == 6);
  CHECK(m.span_as<double>().size() == 6);
  m.mutable_view_as<double, 2>()(1, 0) = 40;
  m.mutable_span_as<double>()[0] = 10;
  CHECK(identical(m, Array{{10., 2., 3.}, {40., 5., 6.}}));
  CHECK_THROWS_WITH_AS(t.span_as<double>(), doctest::Contains("contiguous()"), ValueError);
  CHECK_THROWS_WITH_AS((t.view_as<double, 1>()), doctest::Contains("(3, 2)"), ValueError);
  CHECK_THROWS_AS((m.view_as<float, 2>()), TypeError);
  CHECK_THROWS_AS(m.elements<std::int64_t>(), TypeError);
}

TEST_CASE("what reads can't write, and read-only arrays are not written to") {
  Array x{1., 2.};
  static_assert(std::is_same_v<decltype(x.data_as<double>()), const double*>);
  static_assert(std::is_same_v<decltype(x.span_as<double>()), std::span<const double>>);
  static_assert(std::is_same_v<decltype(x.view_as<double, 1>()[0]), const double&>);
  static_assert(!std::is_assignable_v<Array, Array>);  // x[0] = y
  static_assert(std::is_assignable_v<Array&, Array>);
  x.mutable_data_as<double>()[0] = 3;
  CHECK(x.data_as<double>()[0] == 3);
  const Array fixed = x.read_only();
  CHECK(fixed.span_as<double>()[0] == 3);
  CHECK_THROWS_WITH_AS(fixed.mutable_data_as<double>(), doctest::Contains("read only"), ValueError);
  CHECK_THROWS_AS(fixed.mutable_span_as<double>(), ValueError);
  CHECK_THROWS_AS((fixed[slice(0, 1)].mutable_view_as<double, 1>()), ValueError);
}

TEST_CASE("braces of three levels are three dimensions") {
  const Array x{{{1., 2.}, {3., 4.}}, {{5., 6.}, {7., 8.}}, {{9., 10.}, {11., 12.}}};
  CHECK(x.shape() == Dims{3, 2, 2});
  CHECK(x.at({2, 0, 1}) == 10);
  CHECK(Array{{{1, 2}}}.shape() == Dims{1, 1, 2});
  CHECK_THROWS_AS((Array{{{1., 2.}, {3., 4.}}, {{5., 6.}}}), ShapeError);
  CHECK_THROWS_AS((Array{{{1., 2.}, {3.}}}), ShapeError);
}

TEST_CASE("memory of an array that ends is not lent") {
  const Array m{{1., 2., 3.}, {4., 5., 6.}};
  const auto made = [] { return Array{1., 2.}; };
  CHECK_THROWS_WITH_AS(made().span_as<double>(), doctest::Contains("temporary"), ValueError);
  CHECK_THROWS_AS(made().mutable_span_as<double>(), ValueError);
  CHECK_THROWS_AS((made().view_as<double, 1>()), ValueError);
  CHECK_THROWS_AS((made().mutable_view_as<double, 1>()), ValueError);
  CHECK(m[1].span_as<double>()[2] == 6);  // of m, which stays
}

TEST_CASE("views check positions where they are asked to") {
  const Array m{{1., 2., 3.}, {4., 5., 6.}};
  const auto view = m.view_as<double, 2>();
  CHECK(view.at(1, 2) == 6);
  CHECK_THROWS_WITH_AS(view.at(1, 3), doctest::Contains("axis 1"), IndexError);
  CHECK_THROWS_AS(view.at(-1, 0), IndexError);
}

TEST_CASE("elements that share memory are read-only") {
  const Array row{1., 2.};
  const Array wide = row.broadcast_to({3, 2});
  CHECK(!wide.writeable());
  CHECK_THROWS_AS(wide.mutable_data_as<double>(), ValueError);
  CHECK(row.broadcast_to({1, 2}).writeable());
  CHECK(row.writeable());
}
