// Types: equality, sub-types, string forms; conversion of values.
#include <doctest/doctest.h>

#include <limits>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/graph/variable.hpp"

using namespace bitale;

namespace {

const TensorType& of(const Type& type) { return *as_tensor(type); }
constexpr std::int64_t any_length = unknown_length;

std::string message_of(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("types are compared by dtype and static shape") {
  Type a = tensor_type(DType::Float64, Dims{any_length, 3}), b = tensor_type(DType::Float64, Dims{2, 3});
  CHECK(a->equals(*tensor_type(DType::Float64, Dims{any_length, 3})));
  CHECK_FALSE(a->equals(*b));
  CHECK(a->is_super(*b));
  CHECK_FALSE(b->is_super(*a));
  CHECK_FALSE(a->is_super(*tensor_type(DType::Float32, Dims{2, 3})));
  CHECK_FALSE(a->is_super(*tensor_type(DType::Float64, 1)));
  CHECK_FALSE(a->is_super(*tensor_type(DType::Float64, Dims{2, 4})));
  CHECK(disconnected().type()->equals(*disconnected().type()));
  CHECK_FALSE(disconnected().type()->equals(*a));
  CHECK(undefined_gradient("why").why_null() == "why");
}

TEST_CASE("string forms of types") {
  CHECK(tensor_type(DType::Float64, Dims{any_length, 3})->str() == "TensorType(float64, shape=(None, 3))");
  CHECK(tensor_type(DType::Int8, Dims{1})->str() == "TensorType(int8, shape=(1,))");
  CHECK(of(tensor_type(DType::Float64, 2)).short_str() == "Matrix(float64, shape=(?, ?))");
  CHECK(of(tensor_type(DType::Float32, 0)).short_str() == "Scalar(float32, shape=())");
  CHECK(of(tensor_type(DType::Bool, 4)).short_str() == "Tensor4(bool, shape=(?, ?, ?, ?))");
}

TEST_CASE("invalid types are refused") {
  CHECK_THROWS_AS(tensor_type(DType::Float64, Dims{-2}), ValueError);
  CHECK_THROWS_AS(tensor_type(DType::Float64, -1), ValueError);
  CHECK(tensor_type(DType::Complex64, 1)->str() == "TensorType(complex64, shape=(None,))");
}

TEST_CASE("static broadcasting") {
  CHECK(broadcast_static_shapes({3, 1}, {any_length}) == Dims{3, any_length});
  CHECK(broadcast_static_shapes({any_length}, {3}) == Dims{3});
  CHECK(broadcast_static_shapes({1}, {any_length}) == Dims{any_length});
  CHECK(broadcast_static_shapes({any_length}, {1}) == Dims{any_length});
  CHECK(broadcast_static_shapes({}, {2, 0}) == Dims{2, 0});
  CHECK(broadcast_static_shapes({2, 1, 4}, {5, 1}) == Dims{2, 5, 4});
  std::string message = message_of([] { broadcast_static_shapes({2, 3}, {4}); });
  CHECK(has(message, "lengths 3 and 4"));
  CHECK(has(message, "dimension 1"));
}

TEST_CASE("values are converted if nothing can be lost") {
  Type type = tensor_type(DType::Float64, 1);
  Array integers{1, 2};
  CHECK(identical(filter(of(type), integers), Array{1., 2.}));
  Array same{1., 2.};
  CHECK(filter(of(type), same).shares_memory_with(same));
  CHECK_THROWS_AS(filter(of(type), integers, Strict::Yes), TypeError);
  Type narrow = tensor_type(DType::Float32, 1);
  std::string message = message_of([&] { filter(of(narrow), same); });
  CHECK(has(message, "TensorType(float32, shape=(None,))"));
  CHECK(has(message, "float64"));
  CHECK(has(message, "(2,)"));
  CHECK(filter(of(narrow), same, Strict::No, Downcast::Always).dtype() == DType::Float32);
  CHECK_THROWS_AS(filter(of(narrow), same, Strict::Yes, Downcast::Always), TypeError);
}

TEST_CASE("a float literal may become floatX") {
  Type scalar = tensor_type(DType::Float32, 0);
  CHECK_THROWS_AS(filter(of(scalar), Array(0.1), Strict::No, Downcast::FloatLiteral), TypeError);
  config::Change change("floatX", "float32");
  CHECK(filter(of(scalar), Array(0.1), Strict::No, Downcast::FloatLiteral).dtype() == DType::Float32);
  CHECK_THROWS_AS(filter(of(scalar), Array(0.1), Strict::No, Downcast::Never), TypeError);
  CHECK_THROWS_AS(filter(of(tensor_type(DType::Float32, 1)), Array{0.1}, Strict::No, Downcast::FloatLiteral),
                  TypeError);
}

TEST_CASE("Downcast::Always converts every value, as cast does") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Array values{127.9, -128.9, 128., -129., 300., 1e30, nan, inf, -inf};
  for (DType to : {DType::Int8, DType::UInt8, DType::Int64, DType::UInt64, DType::Bool, DType::Float32})
    CHECK(identical(filter(of(tensor_type(to, 1)), values, Strict::No, Downcast::Always), values.astype(to)));
  CHECK(filter(of(tensor_type(DType::Int8, 0)), Array(300), Strict::No, Downcast::Always).int_item() == 44);
  CHECK(filter(of(tensor_type(DType::UInt8, 0)), Array(-1), Strict::No, Downcast::Always).int_item() == 255);
}

TEST_CASE("rank and static lengths are checked") {
  Type type = tensor_type(DType::Float64, Dims{any_length, 2});
  std::string message = message_of([&] { filter(of(type), Array{1., 2.}); });
  CHECK(has(message, "expected 2"));
  CHECK(has(message, "got 1"));
  message = message_of([&] { filter(of(type), Array{{1., 2., 3.}}); });
  CHECK(has(message, "dimension 1"));
  CHECK(has(message, "expected 2"));
  CHECK(has(message, "got 3"));
}
