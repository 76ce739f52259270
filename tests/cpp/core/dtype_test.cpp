#include "bitale/core/dtype.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "bitale/core/convert.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

using namespace bitale;

TEST_CASE("promotion follows NumPy's table") {
  // numpy.promote_types of the dtypes in enum order.
  const int table[dtype_count][dtype_count] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
      {1, 1, 2, 3, 4, 2, 3, 4, 11, 9, 10, 11, 12, 13},
      {2, 2, 2, 3, 4, 2, 3, 4, 11, 10, 10, 11, 12, 13},
      {3, 3, 3, 3, 4, 3, 3, 4, 11, 11, 11, 11, 13, 13},
      {4, 4, 4, 4, 4, 4, 4, 4, 11, 11, 11, 11, 13, 13},
      {5, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
      {6, 3, 3, 3, 4, 6, 6, 7, 8, 10, 10, 11, 12, 13},
      {7, 4, 4, 4, 4, 7, 7, 7, 8, 11, 11, 11, 13, 13},
      {8, 11, 11, 11, 11, 8, 8, 8, 8, 11, 11, 11, 13, 13},
      {9, 9, 10, 11, 11, 9, 10, 11, 11, 9, 10, 11, 12, 13},
      {10, 10, 10, 11, 11, 10, 10, 11, 11, 10, 10, 11, 12, 13},
      {11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 13, 13},
      {12, 12, 12, 13, 13, 12, 12, 13, 13, 12, 12, 13, 12, 13},
      {13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13},
  };
  for (int a = 0; a < dtype_count; ++a)
    for (int b = 0; b < dtype_count; ++b) {
      CAPTURE(dtype_name(DType(a)));
      CAPTURE(dtype_name(DType(b)));
      CHECK(dtype_name(promote(DType(a), DType(b))) == dtype_name(DType(table[a][b])));
    }
}

TEST_CASE("promotion of several dtypes does not depend on their order") {
  const std::array<DType, 3> some[] = {{DType::Int16, DType::UInt16, DType::Float32},
                                       {DType::Float32, DType::Int16, DType::UInt16},
                                       {DType::UInt16, DType::Float32, DType::Int16}};
  for (auto& dtypes : some) CHECK(promote(dtypes) == DType::Float32);
  CHECK(promote(std::array{DType::Float16, DType::UInt16, DType::Int32}) == DType::Float64);
  CHECK(promote(std::array{DType::Bool}) == DType::Bool);
  CHECK_THROWS_AS(promote(std::span<const DType>{}), ValueError);
}

TEST_CASE("safe casts") {
  CHECK(can_cast_safely(DType::Int32, DType::Float64));
  CHECK(can_cast_safely(DType::Int64, DType::Float64));  // as in NumPy
  CHECK(can_cast_safely(DType::Bool, DType::Int8));
  CHECK(!can_cast_safely(DType::Int32, DType::Float32));
  CHECK(!can_cast_safely(DType::UInt8, DType::Int8));
  CHECK(!can_cast_safely(DType::Float64, DType::Float32));
  CHECK(!can_cast_safely(DType::Float64, DType::Int64));
  CHECK(!can_cast_safely(DType::UInt64, DType::Int64));
}

TEST_CASE("names") {
  for (int i = 0; i < dtype_count; ++i) CHECK(parse_dtype(dtype_name(DType(i))) == DType(i));
  CHECK(dtype_short_name(DType::Float64) == "f64");
  CHECK(itemsize(DType::Complex128) == 16);
  CHECK_THROWS_WITH_AS(parse_dtype("flaot64"), doctest::Contains("did you mean \"float64\"?"), TypeError);
  CHECK_THROWS_WITH_AS(parse_dtype("object"), doctest::Contains("unknown dtype \"object\""), TypeError);
}

TEST_CASE("rows of the table agree with each other") {
  constexpr std::string_view names[] = {"bool", "int", "uint", "float", "complex"};
  for (int i = 0; i < dtype_count; ++i) {
    const auto& [name, short_name, size, computing, kind, c, stablehlo, dlpack, prefix] = dtype_records[i];
    CAPTURE(name);
    const std::string bits = std::to_string(8 * size), start(names[int(kind)]);
    CHECK(name == (kind == DTypeKind::Bool ? "bool" : start + bits));
    CHECK(short_name == (kind == DTypeKind::Bool ? "bool" : start[0] + bits));
    CHECK(dtype_of_size(kind, size) == DType(i));
    if (is_complex(DType(i))) {
      CHECK(stablehlo == cat("complex<", dtype_record(component_dtype(DType(i))).stablehlo, ">"));
      continue;
    }
    CHECK(stablehlo == (kind == DTypeKind::Bool ? "i1" : (kind == DTypeKind::UInt ? "ui" : start.substr(0, 1)) + bits));
    const bool is_stored_by_bits = kind == DTypeKind::Bool || computing != DType(i);
    CHECK(c == (is_stored_by_bits     ? cat("uint", bits, "_t")
                : !is_float(DType(i)) ? cat(name, "_t")
                : size == 4           ? "float"
                                      : "double"));
    CHECK(visit_dtype(DType(i), []<class T>() { return dtype_of<T>::value; }) == DType(i));
  }
  CHECK_THROWS_AS(dtype_of_size(DTypeKind::Float, 3), InternalError);
}

TEST_CASE("unsupported dtypes are refused by name") {
  CHECK(real_dtypes().size() == 12);
  for (DType dtype : real_dtypes()) CHECK_NOTHROW(require_real(dtype));
  auto size = []<class T>() { return sizeof(T); };
  CHECK(visit_dtype(DType::Int16, size) == 2);
  CHECK_THROWS_WITH_AS(visit_dtype(DType::Complex128, size), doctest::Contains("complex128"), NotImplementedError);
  CHECK_THROWS_WITH_AS(require_real(DType::Complex64), doctest::Contains("complex64"), NotImplementedError);
}

TEST_CASE("conversion to float16 follows IEEE 754") {
  const double inf = std::numeric_limits<double>::infinity();
  // numpy.array(values, "float16").view("uint16"), converted directly from float64: the third value would be a tie only
  // if it were rounded to float32 first.
  const std::pair<double, int> values[] = {{1, 0x3c00},
                                           {-0.0, 0x8000},
                                           {1 + 0x1p-11 + 0x1p-40, 0x3c01},
                                           {1 + 0x1p-11, 0x3c00},
                                           {1 + 0x3p-11, 0x3c02},
                                           {65504, 0x7bff},
                                           {65519.99, 0x7bff},
                                           {65520, 0x7c00},
                                           {-1e300, 0xfc00},
                                           {inf, 0x7c00},
                                           {0x1p-24, 0x0001},
                                           {0x1p-25, 0x0000},
                                           {0x1.000001p-25, 0x0001},
                                           {-0x1p-1074, 0x8000},
                                           {0x1.ffbp-15, 0x03ff},
                                           {0x1.ffcp-15, 0x0400}};
  for (auto [value, bits] : values) {
    CAPTURE(value);
    CHECK(Half(value).bits() == bits);
  }
  for (int bits = 0; bits < 0x10000; ++bits) {
    const Half half = Half::from_bits(std::uint16_t(bits));
    const bool is_nan = (bits & 0x7fff) > 0x7c00;
    if (is_nan ? float(half) == float(half) : Half(float(half)).bits() != bits) FAIL_CHECK(bits);
  }
}

TEST_CASE("every float can be converted to an integer") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  // numpy 2 on x86-64: numpy.array(values).astype(...)
  const double values[] = {nan, inf, -inf, -1.0, 300., 70000., 3e9, 1e19, 1e20, -1e19, -3e9};
  const std::int8_t i8[] = {0, 0, 0, -1, 44, 112, 0, 0, 0, 0, 0};
  const std::uint8_t u8[] = {0, 0, 0, 255, 44, 112, 0, 0, 0, 0, 0};
  const std::int16_t i16[] = {0, 0, 0, -1, 300, 4464, 0, 0, 0, 0, 0};
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t i64[] = {least, least, least, -1, 300, 70000, 3000000000, least, least, least, -3000000000};
  const std::uint64_t top = std::uint64_t(1) << 63;
  const std::uint64_t u64[] = {
      top, 0, top, 18446744073709551615u, 300, 70000, 3000000000, 10000000000000000000u, 0, top, 18446744070709551616u};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    CAPTURE(values[i]);
    CHECK(convert_element<std::int8_t>(values[i]) == i8[i]);
    CHECK(convert_element<std::uint8_t>(values[i]) == u8[i]);
    CHECK(convert_element<std::int16_t>(values[i]) == i16[i]);
    CHECK(convert_element<std::int64_t>(values[i]) == i64[i]);
    CHECK(convert_element<std::uint64_t>(values[i]) == u64[i]);
  }
  const std::int32_t least32 = std::numeric_limits<std::int32_t>::min();
  CHECK(convert_element<std::int32_t>(-2147483648.9) == least32);
  CHECK(convert_element<std::int32_t>(-2147483649.0) == least32);
  CHECK(convert_element<std::int32_t>(2147483647.9) == 2147483647);
  CHECK(convert_element<std::int32_t>(2147483648.0) == least32);
  CHECK(convert_element<std::int32_t>(-2.9f) == -2);
  CHECK(convert_element<std::int32_t>(2147483648.0f) == least32);
  CHECK(convert_element<std::uint32_t>(4294967295.0) == 4294967295u);
  CHECK(convert_element<bool>(nan));
  CHECK(!convert_element<bool>(-0.0));
  CHECK(convert_element<bool>(std::int64_t(256)));
}
