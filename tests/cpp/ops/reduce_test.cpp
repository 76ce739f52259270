// Reductions and functions composed of them: dtypes, axes, empty and special inputs, labels, accuracy, and derivatives.
#include "ops/reductions/reduce.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;
using enum DType;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double no_number = std::nan("");

Array value(const Variable& v) { return evaluate(v); }
Variable literal(const Array& x) { return constant(x); }
const Array matrix_2x3{{1.0, 5.0, 3.0}, {4.0, 2.0, 6.0}};

}  // namespace

TEST_CASE("sums and products of integers widen") {
  CHECK(sum(vector("x", Bool)).dtype() == Int64);
  CHECK(sum(vector("x", Int8)).dtype() == Int64);
  CHECK(prod(vector("x", UInt16)).dtype() == UInt64);
  CHECK(sum(vector("x", Float32)).dtype() == Float32);
  CHECK(max(vector("x", Int8)).dtype() == Int8);
  CHECK(all(vector("x", Float64)).dtype() == Bool);
  CHECK(sum(vector("x", Int8), all_axes, KeepDims::No, Float32).dtype() == Float32);
  CHECK(value(sum(literal(Array{0.6, 0.6, 1.9}), all_axes, KeepDims::No, Int64)).int_item() == 3);  // the sum is 3.1
  CHECK(value(prod(literal(Array{0.5, 3.0}), all_axes, KeepDims::No, Int8)).int_item() == 1);
  CHECK(value(mean(literal(Array{1, 2, 2}), all_axes, KeepDims::No, Float32)).dtype() == Float32);
  CHECK(value(mean(literal(Array{1, 2, 2}), all_axes, KeepDims::No, Int64)).item() == 5 / 3.0);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(value(mean(literal(Array{most, most, std::int64_t(2)}))).item() == double(most) / 3 * 2);  // the sum overflows
  CHECK(value(var(literal(Array{most, most}))).item() == 0);
  CHECK(value(sum(literal(Array::full(Int8, {300}, 100)))).int_item() == 30000);
  CHECK(value(sum(literal(Array{true, true, false}))).int_item() == 2);
}

TEST_CASE("axes") {
  const Variable x = literal(matrix_2x3);
  CHECK(identical(value(sum(x, std::vector{0})), Array{5.0, 7.0, 9.0}));
  CHECK(identical(value(sum(x, std::vector{-1})), Array{9.0, 12.0}));
  CHECK(value(sum(x, std::vector{0, 1})).item() == 21);
  CHECK(identical(value(sum(x, std::vector<int>{})), matrix_2x3));
  CHECK(identical(value(max(x, std::vector{1}, KeepDims::Yes)), Array{{5.0}, {6.0}}));
  CHECK(sum(x, all_axes, KeepDims::Yes).static_shape() == Dims{1, 1});
  CHECK_THROWS_WITH_AS(sum(x, std::vector{2}), doctest::Contains("sum: axis 2 is out of range"), ValueError);
  CHECK_THROWS_WITH_AS(max(x, std::vector{0, -2}), doctest::Contains("axis 0 is given twice"), ValueError);
}

TEST_CASE("labels are PyTensor's") {
  const Variable x = dmatrix("x");
  CHECK(sum(x).owner_op()->label() == "Sum{axes=None}");
  CHECK(prod(x, std::vector{1}).owner_op()->label() == "Prod{axis=1}");
  CHECK(max(x, std::vector{1, 0}).owner_op()->label() == "Max{axes=None}");
  CHECK(argmax(x, 0).owner_op()->label() == "Argmax{axis=0}");
  CHECK(argmin(x).owner_op()->label() == "Argmin{axes=None}");
}

TEST_CASE("empty reductions") {
  const Variable empty = dvector("x");
  const Array none = Array::zeros(Float64, {0});
  auto run = [&](const Variable& v) { return evaluate(v, {&empty, 1}, {&none, 1}); };
  CHECK(run(sum(empty)).item() == 0);
  CHECK(run(prod(empty)).item() == 1);
  CHECK(run(all(empty)).item() == 1);
  CHECK(run(any(empty)).item() == 0);
  CHECK_THROWS_WITH_AS(run(max(empty)), doctest::Contains("max: an axis of length 0 has no largest element"),
                       ValueError);
  CHECK_THROWS_WITH_AS(run(min(empty)), doctest::Contains("no smallest"), ValueError);
  CHECK_THROWS_WITH_AS(run(argmax(empty)), doctest::Contains("no largest"), ValueError);
  CHECK_THROWS_AS(max(tensor("x", Float64, {0})), ValueError);
  // An empty output needs no element.
  CHECK(value(max(literal(Array::zeros(Float64, {0, 3})), std::vector{1})).shape() == Dims{0});
  CHECK(value(sum(literal(Array::zeros(Float64, {0, 3})), std::vector{0})).shape() == Dims{3});
}

TEST_CASE("nan and infinities") {
  CHECK(std::isnan(value(max(literal(Array{1.0, no_number, 3.0}))).item()));
  CHECK(std::isnan(value(min(literal(Array{no_number, 1.0, 3.0}))).item()));
  CHECK(value(max(literal(Array{-inf, -inf}))).item() == -inf);
  CHECK(value(any(literal(Array{0.0, no_number}))).item() == 1);
}

TEST_CASE("float32 sums accumulate in float64, float64 sums in pairs") {
  CHECK(value(sum(literal(Array::full(Float32, {1 << 20}, 0.1)))).item() ==
        doctest::Approx(float(0.1) * (1 << 20)).epsilon(1e-7));
  const double exact = 0.1 * 3000001;
  CHECK(std::fabs(value(sum(literal(Array::full(Float64, {3000001}, 0.1)))).item() - exact) < 1e-9);
}

TEST_CASE("argmax and argmin over several axes") {
  Array x = Array::zeros(Float64, {2, 3, 4});
  for (std::int64_t i = 0; i < 24; ++i) x.mutable_data_as<double>()[i] = double((i * 7 + 5) % 24);
  const auto expected = [&](std::vector<int> axes, bool smallest) {  // the position in a flattened transposed copy
    std::vector<int> order;
    for (int axis = 0; axis < 3; ++axis)
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.push_back(axis);
    const std::int64_t kept = x.shape(order[0]);
    order.insert(order.end(), axes.begin(), axes.end());
    const Array flat = x.transpose(order).contiguous().reshape({kept, -1});
    return value(smallest ? argmin(literal(flat), 1) : argmax(literal(flat), 1));
  };
  for (auto& axes : std::vector<std::vector<int>>{{0, 1}, {0, 2}, {1, 2}}) {
    CHECK(identical(value(argmax(literal(x), axes)), expected(axes, false)));
    CHECK(identical(value(argmin(literal(x), axes)), expected(axes, true)));
    CHECK(argmax(literal(x), axes, KeepDims::Yes).ndim() == 3);
  }
  CHECK(identical(value(argmax(literal(x), std::vector<int>{2, 0})), expected({0, 2}, false)));
  CHECK(identical(value(argmax(literal(x), std::vector<int>{-1})), value(argmax(literal(x), 2))));
  CHECK(value(argmax(literal(x), std::vector<int>{0, 1, 2})).int_item() == value(argmax(literal(x))).int_item());
  CHECK_THROWS_AS(argmax(literal(x), std::vector<int>{0, 3}), ValueError);
  CHECK_THROWS_AS(argmax(literal(x), std::vector<int>{}), ValueError);
}

TEST_CASE("axes are a number or a list") {
  const Variable x = literal(Array{{1., 5.}, {4., 2.}});
  CHECK(value(argmax(x, 1)).str() == "[1 0]");
  CHECK(value(argmax(x, {1})).str() == "[1 0]");
  CHECK(value(argmin(x, {0, 1})).int_item() == 0);
  CHECK(value(argmax(x, {}, KeepDims::Yes)).shape() == Dims{1, 1});
  CHECK(value(sum(x, 0)).str() == "[5. 7.]");
  CHECK(value(sum(x, {-1})).str() == "[6. 6.]");
  CHECK(value(softmax(x, 1)).str() == value(softmax(x, {1})).str());
  CHECK(!std::is_convertible_v<bool, Axes>);
}

TEST_CASE("argmax and argmin") {
  const Variable x = literal(matrix_2x3);
  CHECK(value(argmax(x)).int_item() == 5);
  CHECK(identical(value(argmin(x, 0)), Array{std::int64_t(0), std::int64_t(1), std::int64_t(0)}));
  CHECK(identical(value(argmax(x, 1)), Array{std::int64_t(1), std::int64_t(2)}));
  CHECK(argmax(x, std::nullopt, KeepDims::Yes).static_shape() == Dims{1, 1});
  CHECK(value(argmax(literal(Array{1.0, no_number, 9.0, no_number}))).int_item() == 1);
  CHECK(value(argmin(literal(Array{1.0, no_number, -9.0}))).int_item() == 1);
  CHECK(value(argmax(literal(Array{3.0, 7.0, 7.0}))).int_item() == 1);
}

TEST_CASE("the gradient of a product with zero elements is correct") {
  const Variable x = dvector("x");
  const Apply node = prod(x).owner();
  const Variable one[] = {constant(Array(1.0))};
  const Variable gradient = node.op().pullback(node, one)[0];
  auto at = [&](const Array& values) { return evaluate(gradient, {&x, 1}, {&values, 1}); };
  CHECK(allclose(at(Array{2.0, 3.0, 4.0}), Array{12.0, 8.0, 6.0}));
  CHECK(allclose(at(Array{2.0, 0.0, 4.0}), Array{0.0, 8.0, 0.0}));
  CHECK(allclose(at(Array{0.0, 0.0, 4.0}), Array{0.0, 0.0, 0.0}));
}

TEST_CASE("mean, var, std") {
  const Variable x = literal(matrix_2x3);
  CHECK(value(mean(x)).item() == 3.5);
  CHECK(identical(value(mean(x, std::vector{1})), Array{3.0, 4.0}));
  CHECK(value(var(x)).item() == doctest::Approx(35.0 / 12));
  CHECK(value(var(x, all_axes, 1)).item() == doctest::Approx(3.5));
  CHECK(value(std_(x)).item() == doctest::Approx(std::sqrt(35.0 / 12)));
  CHECK(mean(lvector("i")).dtype() == Float64);
  CHECK(mean(fvector("f")).dtype() == Float32);
  CHECK(value(mean(literal(Array{1, 2, 4}))).item() == doctest::Approx(7.0 / 3));
  const Variable m = dmatrix("m");
  const Array values = matrix_2x3;
  CHECK(evaluate(mean(m), {&m, 1}, {&values, 1}).item() == 3.5);
  CHECK(allclose(evaluate(var(m, std::vector{0}), {&m, 1}, {&values, 1}), Array{2.25, 2.25, 2.25}));
}

TEST_CASE("logsumexp") {
  CHECK(value(logsumexp(literal(Array{1000.0, 1000.0}))).item() == doctest::Approx(1000 + std::log(2)));
  CHECK(value(logsumexp(literal(Array{0.0, 1.0, 1000.0}))).item() == 1000);
  CHECK(value(logsumexp(literal(Array{0.0, 1000.0, 1.0}))).item() == 1000);
  CHECK(value(logsumexp(literal(Array{-inf, -inf}))).item() == -inf);
  CHECK(value(logsumexp(literal(Array{inf, 1.0}))).item() == inf);
  CHECK(std::isnan(value(logsumexp(literal(Array{no_number, 1.0}))).item()));
  const Array rows{{-inf, -inf}, {0.0, 0.0}};
  CHECK(allclose(value(logsumexp(literal(rows), std::vector{1})), Array{-inf, std::log(2)}));
  CHECK(logsumexp(dmatrix("x"), std::vector{1}, KeepDims::Yes).static_shape() == Dims{unknown_length, 1});
  CHECK(logsumexp(lvector("i")).dtype() == Float64);
}

TEST_CASE("softmax and log_softmax") {
  const Array x{{1000.0, 1000.0, -inf}, {0.0, std::log(2.0), 0.0}};
  CHECK(allclose(value(softmax(literal(x), std::vector{1})), Array{{0.5, 0.5, 0.0}, {0.25, 0.5, 0.25}}));
  CHECK(allclose(value(log_softmax(literal(x), std::vector{-1})),
                 Array{{-std::log(2.0), -std::log(2.0), -inf}, {-std::log(4.0), -std::log(2.0), -std::log(4.0)}}));
  CHECK(value(sum(softmax(literal(matrix_2x3)))).item() == doctest::Approx(1));
}

TEST_CASE("gradient control") {
  const Variable x = dvector("x");
  const Variable cotangents[] = {dvector("g")};
  const Apply zero = zero_grad(x).owner(), cut = disconnected_grad(x).owner();
  const Array values{1.0, 2.0};
  const Variable gradient = zero.op().pullback(zero, cotangents)[0];
  CHECK(identical(evaluate(gradient, {&x, 1}, {&values, 1}), Array{0.0, 0.0}));
  CHECK(cut.op().pullback(cut, cotangents)[0].is_disconnected());
  CHECK(identical(evaluate(cut.output(), {&x, 1}, {&values, 1}), values));
}
