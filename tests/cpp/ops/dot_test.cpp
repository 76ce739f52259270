// Dot, matmul, outer: values for all ranks, dtypes and layouts; errors that name both shapes.
#include "ops/structure_support.hpp"

using namespace bitale;
using namespace bitale::testing;

TEST_CASE("dot: all ranks") {
  auto x = dmatrix("x"), y = dmatrix("y"), u = dvector("u"), v = dvector("v");
  const Array a = numbers({2, 3}), b = numbers({3, 2}), p{1., 2., 3.}, q{1., -1.};
  CHECK(identical(value_of(dot(x, y), {x, y}, {a, b}), Array{{10., 13.}, {28., 40.}}));
  CHECK(identical(value_of(dot(x, u), {x, u}, {a, p}), Array{8., 26.}));
  CHECK(identical(value_of(dot(v, x), {v, x}, {q, a}), Array{-3., -3., -3.}));
  CHECK(value_of(dot(u, v), {u, v}, {p, p}).item() == 14);
  CHECK(value_of(dot(u, v), {u, v}, {p, p}).ndim() == 0);
  CHECK(identical(value_of(outer(u, v), {u, v}, {p, q}), Array{{1., -1.}, {2., -2.}, {3., -3.}}));
  CHECK(identical(value_of(dot(x, 2), {x}, {a}), Array{{0., 2., 4.}, {6., 8., 10.}}));
  CHECK(dot(x, y).owner_op()->label() == "Dot");
  CHECK(identical(value_of(matmul(x, y), {x, y}, {a, b}), Array{{10., 13.}, {28., 40.}}));
}

TEST_CASE("dot: layouts") {
  auto x = dmatrix("x"), y = dmatrix("y");
  const Array a = numbers({3, 4}), b = numbers({4, 2});
  const Array expected = value_of(dot(x, y), {x, y}, {a, b});
  auto wide = numbers({4, 4}).slice(1, 0, 2, 2);  // every second column
  CHECK(identical(value_of(dot(x, y), {x, y}, {a.transpose().copy().transpose(), b.transpose().copy().transpose()}),
                  expected));
  CHECK(identical(value_of(dot(x, y), {x, y}, {a, wide}), value_of(dot(x, y), {x, y}, {a, wide.copy()})));
  auto backwards = b.slice(0, 3, 4, -1);
  CHECK(identical(value_of(dot(x, y), {x, y}, {a, backwards}), value_of(dot(x, y), {x, y}, {a, backwards.copy()})));
  auto repeated = Array{{1., 2.}}.broadcast_to({4, 2});
  CHECK(identical(value_of(dot(x, y), {x, y}, {a, repeated}), value_of(dot(x, y), {x, y}, {a, repeated.copy()})));
}

TEST_CASE("dot: dtypes") {
  auto of = [](DType dtype, const Dims& shape) { return tensor("x", dtype, shape); };
  CHECK(dot(of(DType::Float32, {2, 3}), of(DType::Float32, {3})).dtype() == DType::Float32);
  CHECK(dot(of(DType::Float32, {2, 3}), of(DType::Float64, {3})).dtype() == DType::Float64);
  CHECK(dot(of(DType::Int8, {2, 3}), of(DType::Int8, {3})).dtype() == DType::Int8);
  auto i = tensor("i", DType::Int8, {unknown}), j = tensor("j", DType::Int8, {unknown});
  CHECK(value_of(dot(i, j), {i, j}, {Array{std::int8_t(100), std::int8_t(100)}, Array{std::int8_t(2), std::int8_t(1)}})
            .int_item() == 44);
  auto a = tensor("a", DType::Bool, {unknown}), b = tensor("b", DType::Bool, {unknown});
  CHECK(value_of(dot(a, b), {a, b}, {Array{true, true}, Array{true, true}}).item() == 1);
  CHECK(value_of(dot(a, b), {a, b}, {Array{true, false}, Array{false, true}}).item() == 0);
  auto f = fmatrix("f");
  CHECK(identical(value_of(dot(f, f), {f}, {Array{{1.f, 2.f}, {3.f, 4.f}}}), Array{{7.f, 10.f}, {15.f, 22.f}}));
}

TEST_CASE("dot: empty dimensions") {
  auto x = dmatrix("x"), y = dmatrix("y"), u = dvector("u");
  CHECK(identical(
      value_of(dot(x, y), {x, y}, {Array::zeros(DType::Float64, {2, 0}), Array::zeros(DType::Float64, {0, 3})}),
      Array::zeros(DType::Float64, {2, 3})));
  CHECK(value_of(dot(x, y), {x, y}, {Array::zeros(DType::Float64, {0, 2}), numbers({2, 3})}).shape() == Dims{0, 3});
  CHECK(value_of(dot(u, u), {u}, {Array::zeros(DType::Float64, {0})}).item() == 0);
  CHECK(
      identical(value_of(dot(x, u), {x, u}, {Array::zeros(DType::Float64, {2, 0}), Array::zeros(DType::Float64, {0})}),
                Array{0., 0.}));
}

TEST_CASE("matmul: stacks of matrices") {
  auto t = tensor("t", DType::Float64, {unknown, unknown, unknown}), x = dmatrix("x"), v = dvector("v");
  auto s = tensor("s", DType::Float64, {unknown, unknown, unknown});
  const Array a = numbers({2, 2, 3}), b = numbers({2, 3, 1}), m = numbers({3, 2}), p{1., 0., -1.};
  CHECK(identical(value_of(matmul(t, s), {t, s}, {a, b}), Array{5., 14., 86., 122.}.reshape({2, 2, 1})));
  CHECK(identical(value_of(matmul(t, x), {t, x}, {a, m}),
                  Array{10., 13., 28., 40., 46., 67., 64., 94.}.reshape({2, 2, 2})));
  CHECK(identical(value_of(matmul(t, v), {t, v}, {a, p}), Array{{-2., -2.}, {-2., -2.}}));
  CHECK(identical(value_of(matmul(v, s), {v, s}, {p, b}), Array{{-2.}, {-2.}}));
  // Batch dimensions broadcast where a length is statically 1.
  auto left = tensor("l", DType::Float64, {unknown, 1, unknown, unknown}),
       right = tensor("r", DType::Float64, {1, unknown, unknown, unknown});
  auto both = matmul(left, right);
  CHECK(both.static_shape() == Dims{unknown, unknown, unknown, unknown});
  const Array c = value_of(both, {left, right}, {a.reshape({2, 1, 2, 3}), numbers({3, 3, 1}).reshape({1, 3, 3, 1})});
  CHECK(c.shape() == Dims{2, 3, 2, 1});
  const std::int64_t position[] = {1, 2, 1, 0};
  CHECK(c.at(position) == 9 * 6 + 10 * 7 + 11 * 8);
  auto ints = tensor("i", DType::Int32, {unknown, unknown, unknown});
  CHECK(identical(value_of(matmul(ints, ints), {ints}, {numbers({1, 2, 2}).astype(DType::Int32)}),
                  Array{2., 3., 6., 11.}.astype(DType::Int32).reshape({1, 2, 2})));
  CHECK(
      value_of(matmul(t, s), {t, s}, {Array::zeros(DType::Float64, {0, 2, 3}), Array::zeros(DType::Float64, {0, 3, 4})})
          .shape() == Dims{0, 2, 4});
}

TEST_CASE("products: errors") {
  auto x = tensor("x", DType::Float64, {3, 4}), y = tensor("y", DType::Float64, {3, 4}),
       z = tensor("z", DType::Float64, {5, 3});
  const std::string message = message_of<ShapeError>([&] { dot(x, y); });
  CHECK(mentions(message, "dot: lengths 4 and 3 of the summed dimension differ."));
  CHECK(mentions(message, "x: [3, 4]    y: [3, 4]"));
  CHECK(mentions(message, "did you mean transpose(y)?"));
  CHECK(mentions(message_of<ShapeError>([&] { dot(tensor("x", DType::Float64, {3, 4}), z); }), "4 and 5"));
  CHECK(mentions(message_of<ShapeError>([&] {
                   dot(tensor("x", DType::Float64, {3, 4}), tensor("v", DType::Float64, {3}));
                 }),
                 "did you mean transpose(x)?"));
  auto a = dmatrix("a"), b = dmatrix("b"), v = dvector("v");
  CHECK(mentions(message_of<ShapeError>([&] {
                   value_of(dot(a, b), {a, b}, {numbers({2, 3}), numbers({2, 3})});
                 }),
                 "did you mean transpose(b)?"));
  auto t = tensor("t", DType::Float64, {unknown, unknown, unknown}),
       s = tensor("s", DType::Float64, {unknown, unknown, unknown});
  CHECK(mentions(message_of<ShapeError>([&] {
                   value_of(matmul(t, s), {t, s}, {numbers({2, 1, 1}), numbers({3, 1, 1})});
                 }),
                 "batch lengths 2 and 3"));
  CHECK(mentions(message_of<ValueError>([&] { matmul(a, dscalar("d")); }), "no dimension to sum over"));
}
