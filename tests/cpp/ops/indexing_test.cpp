// Indexing: Python's slice rules in all three arithmetics, basic and advanced indexing with NumPy's semantics, updates.
#include "ops/indexing/slice_arithmetic.hpp"

#include "ops/structure_support.hpp"
#include "program/interpret.hpp"

using namespace bitale;
using namespace bitale::testing;

namespace {

// The positions that start:stop:step selects from 0 ... length-1, enumerated as the language reference specifies.
std::vector<std::int64_t> enumerated(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                                     std::int64_t step, std::int64_t length) {
  auto bound = [&](std::int64_t value) { return value < 0 ? value + length : value; };
  const std::int64_t first = start ? bound(*start) : step > 0 ? 0 : length - 1;
  const std::int64_t last = stop ? bound(*stop) : step > 0 ? length : -1;
  std::vector<std::int64_t> out;
  // A start outside the tensor is moved to its edge.
  std::int64_t k = step > 0 ? std::max<std::int64_t>(first, 0) : std::min(first, length - 1);
  for (; step > 0 ? k < std::min(last, length) : k > std::max<std::int64_t>(last, -1); k += step) out.push_back(k);
  return out;
}

std::vector<std::optional<std::int64_t>> bounds() {
  std::vector<std::optional<std::int64_t>> out{std::nullopt};
  for (std::int64_t k = -5; k <= 5; ++k) out.push_back(k);
  return out;
}

void check_range(std::int64_t start, std::int64_t count, std::int64_t step, const std::vector<std::int64_t>& expected) {
  REQUIRE(count == std::int64_t(expected.size()));
  for (std::int64_t k = 0; k < count; ++k) REQUIRE(start + k * step == expected[std::size_t(k)]);
}

Variable xs() { return dmatrix("x"); }
const Array square = numbers({4, 5});

}  // namespace

TEST_CASE("slices: every small case, as integers and as expressions of the length") {
  program::ExprPool pool;
  const program::Expr n = pool.index(0);
  const ExprArithmetic symbolic{pool};
  for (auto start : bounds())
    for (auto stop : bounds())
      for (std::int64_t step : {-3, -2, -1, 1, 2, 3}) {
        auto number = [&](std::optional<std::int64_t> v) -> std::optional<program::Expr> {
          return v ? std::optional(pool.integer(*v)) : std::nullopt;
        };
        const auto range = slice_range(symbolic, number(start), number(stop), number(step), n);
        const program::Expr variables[] = {n};
        const program::Interpreter first(range.start, variables), size(range.count, variables);
        for (std::int64_t length = 0; length <= 4; ++length) {
          CAPTURE(length);
          const auto expected = enumerated(start, stop, step, length);
          const auto ints = slice_range(IntArithmetic{}, start, stop, std::optional(step), length);
          check_range(ints.start, ints.count, ints.step, expected);
          check_range(std::int64_t(first(double(length))), std::int64_t(size(double(length))), step, expected);
        }
      }
}

TEST_CASE("slices: symbolic bounds and steps") {
  program::ExprPool pool;
  const program::Expr n = pool.index(0), a = pool.index(1), b = pool.index(2), s = pool.index(3);
  const program::Expr variables[] = {n, a, b, s};
  const auto range = slice_range(ExprArithmetic{pool}, std::optional(a), std::optional(b), std::optional(s), n);
  const program::Interpreter first(range.start, variables), size(range.count, variables);
  for (std::int64_t length = 0; length <= 3; ++length)
    for (std::int64_t start = -4; start <= 4; ++start)
      for (std::int64_t stop = -4; stop <= 4; ++stop)
        for (std::int64_t step : {-2, -1, 1, 2}) {
          const double values[] = {double(length), double(start), double(stop), double(step)};
          check_range(std::int64_t(first(values)), std::int64_t(size(values)), step,
                      enumerated(start, stop, step, length));
        }
}

TEST_CASE("slices: as graph expressions") {
  auto n = lscalar("n"), a = lscalar("a"), b = lscalar("b"), s = lscalar("s");
  const auto range = slice_range(LengthArithmetic{}, std::optional(a), std::optional(b), std::optional(s), n);
  for (auto [length, start, stop, step] : std::vector<std::array<std::int64_t, 4>>{
           {5, 1, 4, 2}, {5, -1, 0, -2}, {5, 4, -9, -1}, {0, 1, 3, 1}, {3, -9, 9, 4}, {3, 9, -9, -2}}) {
    const auto values = evaluate(Variables{range.start, range.count}, Variables{n, a, b, s},
                                 std::vector{count(length), count(start), count(stop), count(step)});
    check_range(values[0].int_item(), values[1].int_item(), step, enumerated(start, stop, step, length));
  }
}

TEST_CASE("slices: huge bounds and steps do not overflow") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  const IntArithmetic ints;
  using Maybe = std::optional<std::int64_t>;
  CHECK(slice_range(ints, Maybe(least), Maybe(most), Maybe(most), std::int64_t(3)).count == 1);
  CHECK(slice_range(ints, Maybe(most), Maybe(least), Maybe(least), std::int64_t(3)).count == 1);
  CHECK(slice_range(ints, Maybe(), Maybe(), Maybe(least), std::int64_t(3)).start == 2);
  CHECK(slice_range(ints, Maybe(most), Maybe(), Maybe(), std::int64_t(3)).count == 0);
}

TEST_CASE("subtensor: labels are PyTensor's, static shapes are inferred") {
  auto x = xs();
  auto fixed = tensor("f", DType::Float64, {4, 5});
  auto i = lscalar("i");
  CHECK(label_of(subtensor(x, {Slice{1, {}, {}}})) == "Subtensor{start:}");
  CHECK(label_of(subtensor(x, {Slice{}, i})) == "Subtensor{:, i}");
  CHECK(label_of(subtensor(x, {i, 1})) == "Subtensor{i, j}");
  CHECK(label_of(subtensor(x, {Slice{{}, {}, -1}})) == "Subtensor{::step}");
  CHECK(label_of(subtensor(x, {Slice{i, i, 2}, 0})) == "Subtensor{start:stop:step, i}");
  CHECK(label_of(subtensor(x, {Ellipsis{}, 0})) == "Subtensor{:, i}");
  CHECK(subtensor(x, {Slice{}}).same_as(x));
  CHECK(subtensor(fixed, {Slice{1, {}, 2}, Slice{{}, -1, {}}}).static_shape() == Dims{2, 4});
  CHECK(subtensor(fixed, {Slice{1, 1, {}}}).static_shape() == Dims{0, 5});
  CHECK(subtensor(fixed, {i}).static_shape() == Dims{5});
  CHECK(subtensor(fixed, {Slice{i, {}, {}}}).static_shape() == Dims{unknown, 5});
  CHECK(subtensor(x, {NewAxis{}, Slice{1, {}, {}}}).static_shape() == Dims{1, unknown, unknown});
}

TEST_CASE("subtensor: values") {
  auto x = xs();
  auto i = tensor("i", DType::Int8, {}), u = tensor("u", DType::UInt8, {});
  auto at = [&](std::vector<IndexItem> items) { return value_of(subtensor(x, items), {x}, {square}); };
  CHECK(identical(at({1}), Array{5., 6., 7., 8., 9.}));
  CHECK(at({-1, -1}).item() == 19);
  CHECK(identical(at({Slice{1, 3, {}}, Slice{{}, {}, 2}}), Array{{5., 7., 9.}, {10., 12., 14.}}));
  CHECK(identical(at({Slice{{}, {}, -2}, 0}), Array{15., 5.}));
  CHECK(identical(at({Slice{10, {}, {}}}), Array::zeros(DType::Float64, {0, 5})));
  CHECK(at({NewAxis{}, 0, NewAxis{}, Slice{}}).shape() == Dims{1, 1, 5});
  CHECK(at({Ellipsis{}}).shape() == Dims{4, 5});
  CHECK(at({0, Ellipsis{}, 1}).item() == 1);
  CHECK(identical(value_of(subtensor(x, {i, Slice{u, {}, {}}}), {x, i, u},
                           {square, Array(std::int8_t(-2)), Array(std::uint8_t(3))}),
                  Array{13., 14.}));
  CHECK(value_of(subtensor(x, {Slice{1, {}, {}}}), {x}, {square}).shares_memory_with(square));
}

TEST_CASE("subtensor: errors") {
  auto x = xs(), fixed = tensor("f", DType::Float64, {4, 5});
  auto i = lscalar("i"), s = lscalar("s");
  CHECK(mentions(message_of<IndexError>([&] { subtensor(x, {0, 0, 0}); }), "x is 2-dimensional, but 3 were indexed"));
  CHECK(mentions(message_of<IndexError>([&] { subtensor(x, {Ellipsis{}, Ellipsis{}}); }), "single ellipsis"));
  CHECK(mentions(message_of<IndexError>([&] { subtensor(fixed, {4}); }),
                 "index 4 is out of bounds for axis 0 with size 4"));
  CHECK(mentions(message_of<IndexError>([&] {
                   value_of(subtensor(x, {0, i}), {x, i}, {square, count(-6)});
                 }),
                 "index -6 is out of bounds for axis 1 with size 5"));
  CHECK(mentions(message_of<ValueError>([&] { subtensor(x, {Slice{{}, {}, 0}}); }), "step cannot be zero"));
  CHECK(mentions(message_of<ValueError>([&] {
                   value_of(subtensor(x, {Slice{{}, {}, s}}), {x, s}, {square, count(0)});
                 }),
                 "step cannot be zero"));
  CHECK(mentions(message_of<IndexError>([&] { subtensor(x, {Operand(0.5)}); }), "of dtype float"));
  CHECK(mentions(message_of<TypeError>([&] { subtensor(x, {Slice{0.5, {}, {}}}); }), "expected an integer scalar"));
}

TEST_CASE("inc_subtensor and set_subtensor: basic indices") {
  auto x = xs(), v = dvector("v"), i = lscalar("i");
  CHECK(label_of(set_subtensor(x, {Slice{1, {}, {}}}, 0)) == "SetSubtensor{start:}");
  CHECK(label_of(inc_subtensor(x, {i}, 1)) == "IncSubtensor{i}");
  const Array small = numbers({2, 3});
  CHECK(identical(value_of(set_subtensor(x, {1}, v), {x, v}, {small, Array{7., 8., 9.}}),
                  Array{{0., 1., 2.}, {7., 8., 9.}}));
  CHECK(identical(
      value_of(inc_subtensor(x, {Slice{}, Slice{{}, {}, -2}}, expand_dims(v, 1)), {x, v}, {small, Array{10., 20.}}),
      Array{{10., 1., 12.}, {23., 4., 25.}}));
  CHECK(identical(value_of(set_subtensor(x, {Slice{}}, 5), {x}, {small}), Array::full(DType::Float64, {2, 3}, 5)));
  CHECK(identical(value_of(inc_subtensor(x, {NewAxis{}, 0, Slice{1, {}, {}}}, 1), {x}, {small}),
                  Array{{0., 2., 3.}, {3., 4., 5.}}));
  CHECK(identical(small, numbers({2, 3})));  // x itself is not changed
  auto b = tensor("b", DType::Bool, {unknown});
  CHECK(
      identical(value_of(inc_subtensor(b, {0}, constant(Array(true))), {b}, {Array{true, false}}), Array{true, false}));
  auto small_ints = tensor("k", DType::UInt8, {unknown});
  CHECK(
      identical(value_of(inc_subtensor(small_ints, {0}, 250), {small_ints}, {Array{std::uint8_t(10), std::uint8_t(1)}}),
                Array{std::uint8_t(4), std::uint8_t(1)}));
}

TEST_CASE("the value of an update is converted, and lengths of 1 are broadcast") {
  auto k = lvector("k"), x = xs(), v = dvector("v"), i = lvector("i"), j = lvector("j");
  const Array two = longs({1, 2}), small = numbers({2, 3});
  CHECK(identical(value_of(set_subtensor(k, {0}, 2.75), {k}, {two}), longs({2, 2})));
  CHECK(identical(value_of(inc_subtensor(k, {Slice{}}, v), {k, v}, {two, Array{-1.75, 0.75}}), longs({0, 2})));
  CHECK(identical(value_of(set_subtensor(x, {0}, v), {x, v}, {small, Array{7.}}), Array{{7., 7., 7.}, {3., 4., 5.}}));
  CHECK(identical(value_of(inc_subtensor(x, {i, j}, v), {x, i, j, v}, {small, longs({0, 1}), longs({2}), Array{1.}}),
                  Array{{0., 1., 3.}, {3., 4., 6.}}));
  CHECK(identical(value_of(subtensor(x, {i, j}), {x, i, j}, {small, longs({0, 1}), longs({2})}), Array{2., 5.}));
}

TEST_CASE("inc_subtensor: errors") {
  auto x = xs(), v = dvector("v");
  CHECK(mentions(message_of<TypeError>([&] { set_subtensor(x, {0}, x); }), "has 1 dimensions, the value x has 2"));
  CHECK(mentions(message_of<ShapeError>([&] {
                   value_of(set_subtensor(x, {0}, v), {x, v}, {square, Array{1., 2.}});
                 }),
                 "length 5 in dimension 0, the value has 2"));
  auto fixed = tensor("f", DType::Float64, {2, 3});
  CHECK(mentions(message_of<ShapeError>([&] {
                   set_subtensor(fixed, {0}, constant(Array{1., 2.}));
                 }),
                 "length 3 in dimension 0"));
}

TEST_CASE("advanced indexing: labels and shapes") {
  auto x = xs(), v = dvector("v"), t = tensor("t", DType::Float64, {2, unknown, 4});
  auto i = lvector("i"), j = lvector("j"), m = lmatrix("m");
  CHECK(label_of(subtensor(v, {i})) == "AdvancedSubtensor{idx_list=(0,)}");
  CHECK(label_of(subtensor(x, {i, j})) == "AdvancedSubtensor{idx_list=(0, 1)}");
  CHECK(label_of(subtensor(x, {Slice{}, i})) == "AdvancedSubtensor{idx_list=(slice(None, None, None), 0)}");
  CHECK(label_of(subtensor(t, {i, Slice{}, j})) == "AdvancedSubtensor{idx_list=(0, slice(None, None, None), 1)}");
  CHECK(label_of(inc_subtensor(v, {i}, 1)) == "AdvancedIncSubtensor");
  CHECK(label_of(set_subtensor(x, {i, j}, 1)) == "AdvancedSetSubtensor");
  auto three = constant(longs({0, 1, 0}));
  CHECK(subtensor(t, {three}).static_shape() == Dims{3, unknown, 4});
  CHECK(subtensor(t, {Slice{}, Slice{}, three}).static_shape() == Dims{2, unknown, 3});
  CHECK(subtensor(t, {three, Slice{}, three}).static_shape() == Dims{3, unknown});  // not adjacent: in front
  CHECK(subtensor(t, {Slice{}, m, three}).static_shape() == Dims{2, unknown, 3});
  CHECK(subtensor(t, {0, Slice{}, three}).static_shape() == Dims{3, unknown});  // an integer counts as a tensor
}

TEST_CASE("advanced indexing: values") {
  auto x = xs(), i = lvector("i"), j = lvector("j"), m = lmatrix("m");
  auto t = tensor("t", DType::Float64, {unknown, unknown, unknown});
  CHECK(identical(value_of(subtensor(x, {i}), {x, i}, {numbers({3, 2}), longs({2, -3, 2})}),
                  Array{{4., 5.}, {0., 1.}, {4., 5.}}));
  CHECK(identical(value_of(subtensor(x, {i, j}), {x, i, j}, {square, longs({0, 1, -1}), longs({4, 0, 1})}),
                  Array{4., 5., 16.}));
  CHECK(identical(value_of(subtensor(x, {Slice{}, i}), {x, i}, {numbers({2, 3}), longs({2, 0})}),
                  Array{{2., 0.}, {5., 3.}}));
  CHECK(identical(value_of(subtensor(x, {Slice{1, {}, {}}, i}), {x, i}, {numbers({2, 3}), longs({2, 0})}),
                  Array{{5., 3.}}));
  CHECK(identical(value_of(subtensor(x, {m, 1}), {x, m},
                           {square, Array{{std::int64_t(0), std::int64_t(1)}, {std::int64_t(2), std::int64_t(3)}}}),
                  Array{{1., 6.}, {11., 16.}}));
  const Array cube = numbers({2, 3, 4});
  // t[i, :, j] has the index first: (2, 3).
  CHECK(identical(value_of(subtensor(t, {i, Slice{}, j}), {t, i, j}, {cube, longs({0, 1}), longs({3, 0})}),
                  Array{{3., 7., 11.}, {12., 16., 20.}}));
  CHECK(identical(value_of(subtensor(t, {Slice{}, i, j}), {t, i, j}, {cube, longs({0, 2}), longs({3, 0})}),
                  Array{{3., 8.}, {15., 20.}}));
  // Rows broadcast against columns.
  CHECK(identical(value_of(subtensor(x, {expand_dims(i, 1), j}), {x, i, j}, {square, longs({1, 3}), longs({0, 4, 2})}),
                  Array{{5., 9., 7.}, {15., 19., 17.}}));
  CHECK(value_of(subtensor(x, {i}), {x, i}, {square, Array::zeros(DType::Int64, {0})}).shape() == Dims{0, 5});
  auto v = dvector("v"), byte = tensor("byte", DType::UInt8, {unknown});
  CHECK(identical(value_of(subtensor(v, {byte}), {v, byte}, {Array{1., 2.}, Array{std::uint8_t(1)}}), Array{2.}));
  CHECK(identical(value_of(take(x, i, 1), {x, i}, {numbers({2, 3}), longs({1})}), Array{{1.}, {4.}}));
  CHECK(identical(value_of(take(x, 1, -1), {x}, {numbers({2, 3})}), Array{1., 4.}));
}

TEST_CASE("advanced indexing: errors") {
  auto x = xs(), i = lvector("i"), j = lvector("j");
  CHECK(mentions(message_of<IndexError>([&] {
                   value_of(subtensor(x, {i}), {x, i}, {square, longs({0, 7})});
                 }),
                 "index 7 at position (1,) is out of bounds for axis 0 with size 4"));
  CHECK(mentions(message_of<IndexError>([&] {
                   value_of(subtensor(x, {Slice{}, i}), {x, i}, {square, longs({-6})});
                 }),
                 "index -6 at position (0,) is out of bounds for axis 1 with size 5"));
  CHECK(mentions(message_of<IndexError>([&] {
                   value_of(subtensor(x, {i, j}), {x, i, j}, {square, longs({0, 1}), longs({0, 1, 2})});
                 }),
                 "can't be broadcast together"));
  CHECK(mentions(message_of<IndexError>([&] {
                   subtensor(x, {constant(longs({0, 1})), constant(longs({0, 1, 2}))});
                 }),
                 "lengths 2 and 3"));
  CHECK(mentions(message_of<IndexError>([&] { subtensor(x, {i, i, i}); }), "3 were indexed"));
}

TEST_CASE("a mask equals the positions where it is true, and has the length of its dimension") {
  auto x = xs(), m = tensor("m", DType::Bool, {unknown}), fixed = tensor("f", DType::Float64, {3, unknown});
  const Array rows = Array{1., 0., 1., 1.}.astype(DType::Bool);
  CHECK(identical(value_of(subtensor(x, {m}), {x, m}, {square, rows}),
                  value_of(subtensor(x, {constant(longs({0, 2, 3}))}), {x}, {square})));
  CHECK(subtensor(fixed, {constant(Array{1., 0., 1.}.astype(DType::Bool))}).static_shape() == Dims{2, unknown});
  const Array wrong = Array{1., 0.}.astype(DType::Bool);
  const char* text = "along dimension 0; dimension is 4 but corresponding boolean dimension is 2";
  CHECK(mentions(message_of<IndexError>([&] { value_of(subtensor(x, {m}), {x, m}, {square, wrong}); }), text));
  CHECK(mentions(message_of<IndexError>([&] { value_of(subtensor(x, {constant(wrong)}), {x}, {square}); }), text));
  CHECK(mentions(message_of<IndexError>([&] { subtensor(fixed, {constant(wrong)}); }), "boolean dimension is 2"));
  CHECK(mentions(message_of<IndexError>([&] { subtensor(x, {gt(x, 0), m}); }), "3 were indexed"));
  CHECK(mentions(message_of<ValueError>([&] { nonzero(dscalar("s")); }), "s has no dimensions"));
}

TEST_CASE("updates by integer tensors: inc_subtensor adds at repeated indices, set_subtensor keeps the last") {
  auto v = dvector("v"), y = dvector("y"), i = lvector("i");
  const Array start{0., 0., 0.}, values{1., 2., 4.}, index = longs({2, 0, 2});
  CHECK(identical(value_of(inc_subtensor(v, {i}, y), {v, y, i}, {start, values, index}), Array{2., 0., 5.}));
  CHECK(identical(value_of(set_subtensor(v, {i}, y), {v, y, i}, {start, values, index}), Array{2., 0., 4.}));
  CHECK(identical(value_of(inc_subtensor(v, {i}, 1), {v, i}, {start, index}), Array{1., 0., 2.}));
  auto x = xs();
  CHECK(identical(
      value_of(inc_subtensor(x, {Slice{1, {}, {}}, i}, 1), {x, i}, {Array::zeros(DType::Float64, {2, 3}), index}),
      Array{{0., 0., 0.}, {1., 0., 2.}}));
  CHECK(identical(value_of(set_subtensor(x, {i, i}, y), {x, y, i},
                           {Array::zeros(DType::Float64, {3, 3}), values, longs({0, 1, 2})}),
                  Array{{1., 0., 0.}, {0., 2., 0.}, {0., 0., 4.}}));
  CHECK(identical(
      value_of(set_subtensor(x, {i}, y), {x, y, i}, {Array::zeros(DType::Float64, {2, 3}), values, longs({1})}),
      Array{{0., 0., 0.}, {1., 2., 4.}}));
  CHECK(mentions(message_of<IndexError>([&] {
                   value_of(inc_subtensor(v, {i}, 1), {v, i}, {start, longs({3})});
                 }),
                 "index 3 at position (0,)"));
  CHECK(mentions(message_of<ShapeError>([&] {
                   value_of(inc_subtensor(v, {i}, y), {v, y, i}, {start, Array{1., 2.}, index});
                 }),
                 "length 3 in dimension 0, the value has 2"));
}
