// DimShuffle, Reshape, Shape, SpecifyShape, Alloc, MakeVector, Join, ARange: values, static shapes, labels and errors.
#include "ops/structure_support.hpp"

using namespace bitale;
using namespace bitale::testing;

TEST_CASE("dimshuffle: labels are PyTensor's") {
  auto v = dvector("v"), x = dmatrix("x");
  auto t = tensor("t", DType::Float64, {unknown, unknown, unknown}), c = col("c");
  CHECK(label_of(dimshuffle(v, {new_axis, 0})) == "ExpandDims{axis=0}");
  CHECK(label_of(dimshuffle(v, {new_axis, 0, new_axis})) == "ExpandDims{axes=[0, 2]}");
  CHECK(label_of(transpose(x)) == "MatrixTranspose");
  CHECK(label_of(transpose(t, std::vector<int>{0, 2, 1})) == "MatrixTranspose");
  CHECK(label_of(transpose(t, std::vector<int>{1, 2, 0})) == "Transpose{axes=[1, 2, 0]}");
  CHECK(label_of(squeeze(c)) == "Squeeze{axis=1}");
  CHECK(label_of(dimshuffle(x, {1, new_axis, 0})) == "DimShuffle{order=[1,x,0]}");
  CHECK(label_of(dimshuffle(c, {0, new_axis})) == "DimShuffle{order=[0,x]}");
}

TEST_CASE("dimshuffle: an identity returns the input itself") {
  auto x = dmatrix("x");
  CHECK(dimshuffle(x, {0, 1}).same_as(x));
  CHECK(transpose(dvector("v")).has_owner() == false);
  CHECK(squeeze(x).same_as(x));
}

TEST_CASE("dimshuffle: values and static shapes") {
  auto x = tensor("x", DType::Float64, {2, unknown});
  auto y = transpose(x);
  CHECK(y.static_shape() == Dims{unknown, 2});
  CHECK(value_of(y, {x}, {numbers({2, 3})}).str() == numbers({2, 3}).transpose().str());
  const Array value = numbers({2, 3});
  CHECK(value_of(y, {x}, {value}).shares_memory_with(value));  // a view
  CHECK(expand_dims(x, -1).static_shape() == Dims{2, unknown, 1});
  CHECK(expand_dims(x, 0).static_shape() == Dims{1, 2, unknown});
  CHECK(identical(value_of(transpose(transpose(x)), {x}, {value}), value));
}

TEST_CASE("dimshuffle: errors") {
  auto x = dmatrix("x");
  CHECK(mentions(message_of<ValueError>([&] {
                   dimshuffle(tensor("y", DType::Float64, {unknown, 3}), {0});
                 }),
                 "dimension 1 of y can't be dropped"));
  CHECK(identical(value_of(dimshuffle(x, {1}), {x}, {numbers({1, 3})}), numbers({3})));
  CHECK_THROWS_AS(value_of(dimshuffle(x, {1}), {x}, {numbers({2, 3})}), ShapeError);
  CHECK(mentions(message_of<ValueError>([&] { dimshuffle(x, {0, 5}); }), "order[1] is 5"));
  CHECK(mentions(message_of<ValueError>([&] { dimshuffle(x, {0, 0, 1}); }), "occurs twice"));
  CHECK(mentions(message_of<ValueError>([&] { transpose(x, std::vector<int>{0}); }), "expected 2 axes, got 1"));
  CHECK(mentions(message_of<ValueError>([&] { expand_dims(x, 4); }), "axis 4 is out of bounds"));
  auto fixed = tensor("f", DType::Float64, {2, 3});
  CHECK(mentions(message_of<ValueError>([&] { squeeze(fixed, std::vector<int>{0}); }), "has length 2, not 1"));
}

TEST_CASE("squeeze: a named axis of unknown length is checked at run time") {
  auto x = dmatrix("x");
  auto y = squeeze(x, std::vector<int>{-1});
  CHECK(y.ndim() == 1);
  CHECK(identical(value_of(y, {x}, {numbers({3, 1})}), Array{0., 1., 2.}));
  CHECK(mentions(message_of<ShapeError>([&] {
                   value_of(y, {x}, {numbers({3, 2})});
                 }),
                 "expected length 1 in dimension 1, got 2"));
}

TEST_CASE("reshape: values and static shapes") {
  auto x = tensor("x", DType::Float64, {2, 6}), u = dmatrix("u"), n = lscalar("n");
  auto ints = [](std::initializer_list<std::int64_t> values) { return constant(Array(values)); };
  CHECK(reshape(x, ints({3, -1})).static_shape() == Dims{3, 4});
  CHECK(reshape(u, ints({3, -1})).static_shape() == Dims{3, unknown});
  CHECK(reshape(u, {n, constant(count(3))}).static_shape() == Dims{unknown, 3});
  CHECK(label_of(reshape(x, ints({12}))) == "Reshape{1}");
  CHECK(identical(value_of(reshape(x, ints({3, -1})), {x}, {numbers({2, 6})}), numbers({3, 4})));
  CHECK(
      identical(value_of(reshape(u, {n, constant(count(-1))}), {u, n}, {numbers({4, 3}), count(6)}), numbers({6, 2})));
  // A transposed value is read in row-major order.
  CHECK(identical(value_of(reshape(transpose(u), ints({-1})), {u}, {numbers({2, 2})}), Array{0., 2., 1., 3.}));
  CHECK(identical(value_of(flatten(u), {u}, {numbers({2, 2})}), Array{0., 1., 2., 3.}));
  auto t = tensor("t", DType::Float64, {2, unknown, 3});
  CHECK(flatten(t, 2).static_shape() == Dims{2, unknown});
  CHECK(value_of(flatten(t, 2), {t}, {numbers({2, 4, 3})}).shape() == Dims{2, 12});
  CHECK(flatten(u, 2).same_as(u));
  auto s = dscalar("s");
  CHECK(identical(value_of(flatten(s), {s}, {Array(2.)}), Array{2.}));
}

TEST_CASE("reshape: errors") {
  auto x = tensor("x", DType::Float64, {2, 6}), u = dmatrix("u"), shape = lvector("shape");
  auto ints = [](std::initializer_list<std::int64_t> values) { return constant(Array(values)); };
  CHECK(mentions(message_of<ShapeError>([&] {
                   reshape(x, ints({5, 2}));
                 }),
                 "x of shape (2, 6) has 12 elements, which do not fill the shape (5, 2)"));
  CHECK(mentions(message_of<ShapeError>([&] { reshape(x, ints({5, -1})); }), "do not fill"));
  CHECK(mentions(message_of<ValueError>([&] { reshape(u, ints({-1, -1})); }), "only one length can be -1"));
  CHECK(mentions(message_of<ValueError>([&] { reshape(u, ints({-2, 3})); }), "negative length -2"));
  CHECK(mentions(message_of<ValueError>([&] { reshape(u, shape); }), "say how many dimensions"));
  CHECK(mentions(message_of<TypeError>([&] { reshape(u, dvector("v")); }), "vector of integers"));
  CHECK(reshape(u, shape, 2).static_shape() == Dims{unknown, unknown});
  CHECK(identical(value_of(reshape(u, shape, 2), {u, shape}, {numbers({2, 3}), longs({3, 2})}), numbers({3, 2})));
  message_of<ShapeError>([&] { value_of(reshape(u, shape, 2), {u, shape}, {numbers({2, 3}), longs({4, 2})}); });
  CHECK(mentions(message_of<ShapeError>([&] {
                   value_of(reshape(u, shape, 2), {u, shape}, {numbers({2, 3}), longs({6})});
                 }),
                 "expected a shape of 2 lengths, got 1"));
  CHECK(mentions(message_of<ValueError>([&] { flatten(u, 3); }), "ndim must be from 1 to 2, got 3"));
}

TEST_CASE("shape, shape_i, size") {
  auto x = dmatrix("x"), fixed = tensor("f", DType::Float32, {2, 3});
  CHECK(identical(value_of(shape(x), {x}, {numbers({2, 5})}), longs({2, 5})));
  CHECK(label_of(shape(x)) == "Shape");
  CHECK(label_of(shape_i(x, -1)) == "Shape_i{1}");
  CHECK(value_of(shape_i(x, -1), {x}, {numbers({2, 5})}).int_item() == 5);
  CHECK(identical(*shape(fixed).constant(), longs({2, 3})));
  CHECK(shape_i(fixed, 1).constant()->int_item() == 3);
  CHECK(size(fixed).constant()->int_item() == 6);
  CHECK(value_of(size(x), {x}, {numbers({2, 5})}).int_item() == 10);
  CHECK(mentions(message_of<ValueError>([&] { shape_i(x, 2); }), "axis 2 is out of bounds"));
}

TEST_CASE("specify_shape") {
  auto x = dmatrix("x"), n = lscalar("n");
  auto y = specify_shape(x, {Operand(2), std::nullopt});
  CHECK(label_of(y) == "SpecifyShape");
  CHECK(y.static_shape() == Dims{2, unknown});
  const Array value = numbers({2, 3});
  CHECK(value_of(y, {x}, {value}).shares_memory_with(value));
  CHECK(mentions(message_of<ShapeError>([&] {
                   value_of(y, {x}, {numbers({4, 3})});
                 }),
                 "expected length 2 in dimension 0, got 4"));
  CHECK(specify_shape(y, {Operand(2), std::nullopt}).same_as(y));
  CHECK(mentions(message_of<ShapeError>([&] {
                   specify_shape(y, {Operand(3), std::nullopt});
                 }),
                 "has length 2 in dimension 0, not 3"));
  auto z = specify_shape(x, {std::nullopt, Operand(n)});
  CHECK(z.static_shape() == Dims{unknown, unknown});
  CHECK(mentions(message_of<ShapeError>([&] {
                   value_of(z, {x, n}, {value, count(4)});
                 }),
                 "expected length 4 in dimension 1, got 3"));
  CHECK(mentions(message_of<ValueError>([&] { specify_shape(x, {Operand(2)}); }), "expected 2 lengths, got 1"));
}

TEST_CASE("alloc") {
  auto s = dscalar("s"), v = dvector("v"), n = lscalar("n");
  auto three = constant(count(3)), two = constant(count(2));
  CHECK(alloc(s, {three, n}).static_shape() == Dims{3, unknown});
  CHECK(identical(value_of(alloc(s, {two, two}), {s}, {Array(1.5)}), Array::full(DType::Float64, {2, 2}, 1.5)));
  auto y = alloc(v, {two, n});
  CHECK(identical(value_of(y, {v, n}, {Array{1., 2., 3.}, count(3)}), Array{{1., 2., 3.}, {1., 2., 3.}}));
  // Only a length known to be 1 broadcasts.
  CHECK(mentions(message_of<ShapeError>([&] {
                   value_of(y, {v, n}, {Array{1.}, count(3)});
                 }),
                 "length 1 in dimension 0, but 3 is asked for"));
  CHECK(identical(value_of(alloc(expand_dims(s, 0), {three}), {s}, {Array(2.)}), Array{2., 2., 2.}));
  CHECK(mentions(message_of<ValueError>([&] {
                   value_of(alloc(s, {n}), {s, n}, {Array(1.), count(-1)});
                 }),
                 "negative length -1"));
  CHECK(mentions(message_of<ValueError>([&] { alloc(s, {constant(count(-2))}); }), "negative length -2"));
  CHECK(mentions(message_of<TypeError>([&] { alloc(dmatrix("x"), {n}); }), "2 dimensions, more than the 1 lengths"));
  CHECK(mentions(message_of<TypeError>([&] { alloc(s, {dscalar("d")}); }), "expected an integer scalar"));
  CHECK(alloc(s, {three}).owner_op()->may_fold(alloc(s, {three}).owner()));
  auto large = alloc(s, {constant(count(1 << 20))});
  CHECK(!large.owner_op()->may_fold(large.owner()));
}

TEST_CASE("zeros, ones and the like") {
  auto x = dmatrix("x"), n = lscalar("n");
  CHECK(identical(value_of(zeros_like(x), {x}, {numbers({2, 2})}), Array::zeros(DType::Float64, {2, 2})));
  CHECK(identical(value_of(ones_like(x, DType::Int32), {x}, {numbers({2, 1})}), Array::full(DType::Int32, {2, 1}, 1)));
  CHECK(identical(value_of(zeros({n}, DType::Float32), {n}, {count(3)}), Array::zeros(DType::Float32, {3})));
  CHECK(identical(value_of(ones({n}), {n}, {count(0)}), Array::zeros(DType::Float64, {0})));
  CHECK(value_of(zeros_like(dscalar("s"))).item() == 0);
  CHECK(zeros_like(dscalar("s")).is_constant());
}

TEST_CASE("make_vector and stack") {
  auto i = lscalar("i"), s = dscalar("s"), v = dvector("v");
  CHECK(label_of(make_vector({i, i})) == "MakeVector{dtype='int64'}");
  CHECK(make_vector({i, s}).dtype() == DType::Float64);
  CHECK(identical(value_of(make_vector({i, s}), {i, s}, {count(2), Array(0.5)}), Array{2., 0.5}));
  CHECK(label_of(stack({i, i})) == "MakeVector{dtype='int64'}");
  auto w = dvector("w");
  CHECK(identical(value_of(stack({v, w}), {v, w}, {Array{1., 2.}, Array{3., 4.}}), Array{{1., 2.}, {3., 4.}}));
  CHECK(identical(value_of(stack({v, w}, -1), {v, w}, {Array{1., 2.}, Array{3., 4.}}), Array{{1., 3.}, {2., 4.}}));
  CHECK(stack({v, w}).static_shape() == Dims{2, unknown});
  CHECK(mentions(message_of<TypeError>([&] { make_vector({v}); }), "expected scalars"));
  CHECK(mentions(message_of<TypeError>([&] { stack({v, i}); }), "tensors of one rank"));
  CHECK(mentions(message_of<ValueError>([&] { stack({}); }), "at least one"));
}

TEST_CASE("join") {
  auto x = tensor("x", DType::Float64, {2, unknown}), y = tensor("y", DType::Int64, {unknown, 3});
  auto z = join(0, {x, y});
  CHECK(label_of(z) == "Join{axis=0}");
  CHECK(z.dtype() == DType::Float64);
  CHECK(z.static_shape() == Dims{unknown, 3});
  CHECK(join(-1, {x, x}).static_shape() == Dims{2, unknown});
  CHECK(join(0, {tensor("a", DType::Int8, {2}), tensor("b", DType::Int8, {3})}).static_shape() == Dims{5});
  CHECK(identical(value_of(z, {x, y}, {numbers({2, 3}), Array::full(DType::Int64, {1, 3}, 7)}),
                  Array{{0., 1., 2.}, {3., 4., 5.}, {7., 7., 7.}}));
  CHECK(identical(value_of(concatenate({x, x}, 1), {x}, {numbers({2, 1})}), Array{{0., 0.}, {1., 1.}}));
  CHECK(join(0, {x}).same_as(x));
  auto u = dmatrix("u");
  CHECK(mentions(message_of<ShapeError>([&] {
                   value_of(join(0, {x, u}), {x, u}, {numbers({2, 3}), numbers({2, 4})});
                 }),
                 "tensor 0 has length 3 in dimension 1, but tensor 1 has 4"));
  CHECK(mentions(message_of<ShapeError>([&] {
                   join(0, {tensor("a", DType::Int8, {2, 2}), tensor("b", DType::Int8, {3, 3})});
                 }),
                 "lengths 2 and 3"));
  CHECK(mentions(message_of<TypeError>([&] { join(0, {x, dvector("v")}); }), "tensors of one rank"));
  CHECK(mentions(message_of<TypeError>([&] { join(0, {dscalar("s")}); }), "use stack"));
  CHECK(mentions(message_of<ValueError>([&] { join(2, {x, x}); }), "axis 2 is out of bounds"));
}

TEST_CASE("arange") {
  auto n = lscalar("n"), m = lscalar("m"), k = lscalar("k");
  CHECK(label_of(arange(n)) == "ARange{dtype='int64'}");
  CHECK(arange(5).static_shape() == Dims{5});
  CHECK(arange(2, 11, 3).static_shape() == Dims{3});
  CHECK(arange(0, 1, 0.1).static_shape() == Dims{10});
  CHECK(arange(0, 1, 0.1).dtype() == DType::Float64);
  CHECK(arange(n).static_shape() == Dims{unknown});
  CHECK(identical(value_of(arange(n), {n}, {count(3)}), longs({0, 1, 2})));
  CHECK(value_of(arange(n), {n}, {count(-3)}).size() == 0);
  auto r = arange(n, m, k);
  CHECK(identical(value_of(r, {n, m, k}, {count(5), count(-2), count(-3)}), longs({5, 2, -1})));
  CHECK(identical(value_of(r, {n, m, k}, {count(0), count(6), count(3)}), longs({0, 3})));
  CHECK(value_of(r, {n, m, k}, {count(0), count(6), count(-1)}).size() == 0);
  CHECK(mentions(message_of<ValueError>([&] {
                   value_of(r, {n, m, k}, {count(0), count(6), count(0)});
                 }),
                 "step can't be zero"));
  CHECK(mentions(message_of<ValueError>([&] { arange(0, n, 0); }), "step can't be zero"));
  CHECK(arange(lscalar("a"), tensor("b", DType::Int8, {}), 1).dtype() == DType::Int64);
  CHECK(arange(tensor("b", DType::UInt8, {})).dtype() == DType::Int64);
  CHECK(mentions(message_of<TypeError>([&] { arange(dvector("v")); }), "expected scalars"));
  const Array reals = value_of(arange(0.25, 2.0, 0.5, DType::Float64));
  CHECK(identical(reals, Array{0.25, 0.75, 1.25, 1.75}));
}

TEST_CASE("functions of several tensors accept numbers, and their nodes have the line of the caller") {
  const auto v = dvector("v"), a = dscalar("a");
  const auto here = std::uint32_t(__LINE__);
  const Variables made{join(0, {v, v}),     concatenate({v, v}), stack({v, v}), stack({a, 2.0}),
                       make_vector({a, 1}), zeros({3, 2}),       ones({2}),     alloc(a, {3})};
  for (auto& variable : made) {
    CAPTURE(variable.str());
    CHECK(variable.where().line > here);
    CHECK(variable.where().line <= here + 2);
    CHECK(std::string(variable.where().file).ends_with("shape_test.cpp"));
  }
  CHECK(made[3].static_shape() == Dims{2});
  CHECK(made[5].static_shape() == Dims{3, 2});
}
