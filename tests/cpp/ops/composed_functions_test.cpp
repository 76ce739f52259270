// Functions composed of others, in C++: axes, stacks, comparisons, statistics, interpolation and vectorize.
// tests/python has the same functions in Python, with many more cases.
#include <doctest/doctest.h>

#include <limits>

#include "bitale/bitale.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

bool gives(const Variable& v, const Array& expected) {
  const Array value = evaluate(v);
  return value.shape() == expected.shape() && allclose(value, expected, 1e-13, 1e-13);
}

Array integers(const std::vector<std::int64_t>& values) { return Array(values); }

constexpr double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();
const Array m = Array{1.0, 2.0, 3.0, 4.0, 5.0, 6.0}.reshape({2, 3}), v{3.0, -1.0, 2.0};

}  // namespace

TEST_CASE("pad with odd reflection") {
  const Array x{1.0, 2.0, 4.0};
  CHECK(gives(pad(x, {{2, 2}}, PadMode::Reflect, {.is_odd = true}), Array{-2.0, 0.0, 1.0, 2.0, 4.0, 6.0, 7.0}));
  CHECK(gives(pad(x, {{2, 2}}, PadMode::Symmetric, {.is_odd = true}), Array{0.0, 1.0, 1.0, 2.0, 4.0, 4.0, 6.0}));
  CHECK(gives(pad(x, {{0, 5}}, PadMode::Reflect, {.is_odd = true}), Array{1.0, 2.0, 4.0, 6.0, 7.0, 8.0, 10.0, 12.0}));
  CHECK(gives(pad(Array{5.0}, {{2, 1}}, PadMode::Reflect, {.is_odd = true}), Array{5.0, 5.0, 5.0, 5.0}));
  CHECK_THROWS_AS(pad(x, {{1, 1}}, PadMode::Edge, {.is_odd = true}), ValueError);
  CHECK_THROWS_AS(pad(Array{true, false}, {{1, 1}}, PadMode::Reflect, {.is_odd = true}), NotImplementedError);
}

TEST_CASE("dimensions exchanged, moved and added") {
  const Variable x = tensor("x", DType::Float64, {2, 3, 4});
  CHECK(swapaxes(x, 0, -1).static_shape() == Dims{4, 3, 2});
  CHECK(moveaxis(x, 0, -1).static_shape() == Dims{3, 4, 2});
  CHECK(moveaxis(x, {0, 2}, {2, 0}).static_shape() == Dims{4, 3, 2});
  CHECK(shape_padleft(x).static_shape() == Dims{1, 2, 3, 4});
  CHECK(shape_padright(x, 2).static_shape() == Dims{2, 3, 4, 1, 1});
  CHECK(shape_padaxis(x, 1).static_shape() == Dims{2, 1, 3, 4});
  CHECK(atleast_3d(v).static_shape() == Dims{1, 1, 3});
  CHECK(atleast_Nd(v, 2, NewAxes::Trailing).static_shape() == Dims{3, 1});
  CHECK(atleast_1d(x).same_as(x));
  CHECK_THROWS_AS(swapaxes(x, 0, 3), AxisError);
  CHECK_THROWS_AS(moveaxis(x, {0, 0}, {1, 2}), ValueError);
  CHECK_THROWS_AS(moveaxis(x, std::vector<int>{0}, {1, 2}), ValueError);
}

TEST_CASE("stacks and packs") {
  CHECK(gives(horizontal_stack({m, m}),
              Array{1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0}.reshape({2, 6})));
  CHECK(evaluate(vertical_stack({m, m})).shape() == Dims{4, 3});
  CHECK_THROWS_AS(vertical_stack({v}), ValueError);
  CHECK(gives(stacklists({{1.0, 2.0}, {3.0, 4.0}}), Array{1.0, 2.0, 3.0, 4.0}.reshape({2, 2})));
  CHECK(gives(concat_with_broadcast({Array{1.0, 2.0}.reshape({2, 1}), Array{7.0, 8.0}.reshape({1, 2})}, 1),
              Array{1.0, 7.0, 8.0, 2.0, 7.0, 8.0}.reshape({2, 3})));
  CHECK(evaluate(broadcast_shape({tensor("a", DType::Float64, {3, 1}), tensor("b", DType::Float64, {1, 4})})[1])
            .int_item() == 4);
  CHECK(specify_broadcastable(dmatrix("x"), {1}).static_shape()[1] == 1);
  CHECK(gives(subtensor(m, slice_at_axis(Slice{Operand(1), {}, {}}, -1)), Array{2.0, 3.0, 5.0, 6.0}.reshape({2, 2})));

  const PackedTensors packed = pack({m, Operand(7.0), v});
  CHECK(gives(packed.packed, Array{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 3.0, -1.0, 2.0}));
  const Variables parts = unpack(packed.packed, Operands(packed.shapes));
  CHECK(gives(parts[0], m));
  CHECK(gives(parts[1], Array(7.0)));
  CHECK(gives(parts[2], v));
  const PackedTensors rows = pack({m, m}, {0});
  CHECK(evaluate(rows.packed).shape() == Dims{2, 6});
  CHECK(gives(unpack(rows.packed, Operands(rows.shapes), {0})[1], m));
  CHECK_THROWS_AS(pack({m}, {1}), ValueError);
}

TEST_CASE("comparisons, extremes of several and quotients") {
  const Array x{1.0, inf, -inf, not_a_number};
  CHECK(gives(isclose(x, Array{1.0 + 1e-9, inf, inf, not_a_number}), Array{true, true, false, false}));
  CHECK(gives(isclose(x, x, {.equal_nan = true}), Array{true, true, true, true}));
  CHECK(gives(allclose(Operand(v), Operand(v)), Array(true)));
  CHECK(gives(isposinf(x), Array{false, true, false, false}));
  CHECK(gives(isneginf(x), Array{false, false, true, false}));
  CHECK(gives(largest({v, Operand(0.0), Operand(1.0)}), Array{3.0, 1.0, 2.0}));
  CHECK(gives(smallest({v, Operand(0.0)}), Array{0.0, -1.0, 0.0}));
  CHECK_THROWS_AS(largest(Operands(Variables{})), ValueError);
  CHECK(gives(divmod(integers({7, -7}), 2).quotient, integers({3, -4})));
  CHECK(gives(divmod(integers({7, -7}), 2).remainder, integers({1, 1})));
  CHECK(gives(ceil_intdiv(integers({7, -7, 6}), 2), integers({4, -3, 3})));
}

TEST_CASE("statistics") {
  CHECK(gives(ptp(m, std::vector<int>{1}), Array{2.0, 2.0}));
  CHECK(gives(max_and_argmax(v).maximum, Array(3.0)));
  CHECK(evaluate(max_and_argmax(v).argmax).int_item() == 0);
  const Array rows = Array{1.0, 2.0, 3.0, 3.0, 2.0, 1.0}.reshape({2, 3});
  CHECK(gives(cov(rows), Array{1.0, -1.0, -1.0, 1.0}.reshape({2, 2})));
  CHECK(gives(cov(v, {}, {.bias = true}), Array(26.0 / 9)));
  CHECK(gives(cov(v, {}, {.fweights = Operand(integers({1, 2, 1}))}), Array(4.25)));
  CHECK_THROWS_AS(cov(tensor3("x")), ValueError);
}

TEST_CASE("constant tensors, grids and triangles") {
  CHECK(gives(full({2}, 7.0), Array{7.0, 7.0}));
  CHECK(gives(full_like(m, 1.5), Array{1.5, 1.5, 1.5, 1.5, 1.5, 1.5}.reshape({2, 3})));
  CHECK(evaluate(empty({2, 3})).shape() == Dims{2, 3});
  CHECK(gives(identity_like(m), Array{1.0, 0.0, 0.0, 0.0, 1.0, 0.0}.reshape({2, 3})));
  CHECK(gives(bartlett(5), Array{0.0, 0.5, 1.0, 0.5, 0.0}));
  CHECK(
      gives(mgrid({Slice{{}, Operand(2), {}}, Slice{Operand(1), Operand(4), {}}})[1],
            Array{std::int64_t(1), std::int64_t(2), std::int64_t(3), std::int64_t(1), std::int64_t(2), std::int64_t(3)}
                .reshape({2, 3})));
  CHECK(ogrid({Slice{{}, Operand(2), {}}, Slice{{}, Operand(3), {}}})[1].static_shape()[0] == 1);
  CHECK(gives(tril_indices(2)[0], integers({0, 1, 1})));
  CHECK(gives(triu_indices_from(m)[1], integers({0, 1, 2, 1, 2})));
}

TEST_CASE("largest elements along an axis") {
  CHECK(gives(topk(v, 2), Array{2.0, 3.0}));
  CHECK(gives(topk(v, -1), Array{-1.0}));
  CHECK(gives(argtopk(m, 1), integers({2, 2}).reshape({2, 1})));
  CHECK_THROWS_AS(topk(v, 0), ValueError);
  CHECK(gives(permute_row_elements(m, integers({2, 0, 1})), Array{3.0, 1.0, 2.0, 6.0, 4.0, 5.0}.reshape({2, 3})));
  CHECK(gives(permute_row_elements(v, integers({2, 0, 1}), {.inverse = true}), Array{-1.0, 2.0, 3.0}));
}

TEST_CASE("interpolation") {
  const Array x{0.0, 2.0, 1.0}, y{0.0, 40.0, 10.0}, where{-1.0, 0.5, 1.5, 3.0};
  CHECK(gives(interpolate1d(x, y)(where), Array{-10.0, 5.0, 25.0, 70.0}));
  CHECK(gives(interpolate1d(x, y, {.extrapolate = false})(where), Array{0.0, 5.0, 25.0, 40.0}));
  CHECK(gives(interpolate1d(x, y, {.method = InterpolationMethod::Nearest})(where), Array{0.0, 0.0, 10.0, 40.0}));
  CHECK(gives(interpolate1d(x, y, {.method = InterpolationMethod::Mean})(Array{0.5}), Array{5.0}));
  CHECK(gives(interp(where, Array{0.0, 1.0, 2.0}, Array{0.0, 10.0, 40.0}, {.left = Operand(-5.0)}),
              Array{-5.0, 5.0, 25.0, 40.0}));
  CHECK(gives(interp(Array{2.5}, Array{0.0, 1.0}, Array{0.0, 1.0}, {.period = Operand(2.0)}), Array{0.5}));
  CHECK_THROWS_AS(interpolate1d(x, m), ValueError);
}

TEST_CASE("vectorize by a signature") {
  const auto norm = vectorize([](const Variables& in) { return Variables{sqrt(sum(sqr(in[0])))}; }, "(n)->()");
  CHECK(gives(norm({Array{3.0, 4.0, 6.0, 8.0}.reshape({2, 2})})[0], Array{5.0, 10.0}));
  const auto added = vectorize([](const Variables& in) { return Variables{add(in[0], in[1])}; });
  CHECK(gives(added({v, Operand(1.0)})[0], Array{4.0, 0.0, 3.0}));
  const auto product =
      vectorize([](const Variables& in) { return Variables{dot(in[0], in[1])}; }, "(m, n), (n) -> (m)");
  CHECK(gives(product({m, v})[0], Array{7.0, 19.0}));
  for (const char* wrong : {"(n)", "n->()", "(n->()", "(n)->", "(n,)->()", "(n),->()", "(n)->()x"})
    CHECK_THROWS_AS(vectorize([](const Variables& in) { return in; }, wrong), ValueError);
  CHECK_THROWS_AS(norm({Operand(1.0)}), ValueError);
  CHECK_THROWS_AS(product({m}), ValueError);
  CHECK_THROWS_AS(vectorize([](const Variables& in) { return in; }, "(n)->()")({v}), ValueError);
}

TEST_CASE("constants and lengths of a graph") {
  CHECK(get_vector_length(shape(dmatrix("x"))) == 2);
  CHECK_THROWS_AS(get_vector_length(dvector("x")), ValueError);
  CHECK(get_underlying_scalar_constant_value(Array{2.0, 2.0}).item() == 2);
  CHECK(get_scalar_constant_value(Operand(3) + 4).int_item() == 7);
  CHECK_THROWS_AS(get_underlying_scalar_constant_value(v), NotScalarConstantError);
  CHECK_THROWS_AS(get_scalar_constant_value(v), NotScalarConstantError);
  CHECK_THROWS_AS(get_scalar_constant_value(dscalar("x")), NotScalarConstantError);
  CHECK_THROWS_AS(tensor_from_scalar(v), TypeError);
  CHECK_THROWS_AS(transfer(v, "gpu"), ValueError);
}

TEST_CASE("constructors and other names") {
  CHECK(ztensor3("z").dtype() == DType::Complex128);
  CHECK(wrow().static_shape() == Dims{1, unknown_length});
  const Variables xs = dvectors({"x", "y"});
  CHECK(xs.size() == 2);
  CHECK(xs[1].name() == "y");
  CHECK(matrices({"a"})[0].ndim() == 2);
  CHECK(gives(multiply(v, 2.0), Array{6.0, -2.0, 4.0}));
  CHECK(gives(bitale::less_equal(v, 2.0), Array{false, true, true}));
  CHECK(gives(extract_diag(m, 1), Array{2.0, 6.0}));
}
