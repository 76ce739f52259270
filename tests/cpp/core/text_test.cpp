#include "bitale/core/text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

using namespace bitale;

TEST_CASE("numbers print as in Python") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::pair<double, const char*> cases[] = {
      {2, "2.0"},
      {0, "0.0"},
      {-0.0, "-0.0"},
      {0.1, "0.1"},
      {1e-5, "1e-05"},
      {0.0001, "0.0001"},
      {1e16, "1e+16"},
      {123456789012345680., "1.2345678901234568e+17"},
      {1e15, "1000000000000000.0"},
      {1.5e300, "1.5e+300"},
      {-1.25e-7, "-1.25e-07"},
      {1. / 3, "0.3333333333333333"},
      {5e-324, "5e-324"},
      {1234.5, "1234.5"},
      {inf, "inf"},
      {-inf, "-inf"},
      {std::nan(""), "nan"},
      {9999999999999998., "9999999999999998.0"},
  };
  for (auto& [value, text] : cases) {
    CHECK(number_text(value) == text);
    if (!std::isnan(value)) CHECK(std::strtod(text, nullptr) == value);
  }
}

TEST_CASE("messages are built from pieces") {
  CHECK(cat("length ", 3, ' ', 2.0, ' ', true, std::string(" x"), std::uint8_t(7)) == "length 3 2.0 True x7");
  CHECK(cat("") == "");
  const std::string parts[] = {"a", "b", ""};
  CHECK(join(parts, ", ") == "a, b, ");
  CHECK(join({}, ", ") == "");
  CHECK(tuple_text({}) == "()");
  const std::int64_t lengths[] = {3, -1};
  CHECK(tuple_text({lengths, 1}) == "(3,)");
  CHECK(tuple_text(lengths) == "(3, -1)");
}

TEST_CASE("the nearest word is suggested, if one is near") {
  const std::string words[] = {"floatX", "mode", "linker", "on_unused_input"};
  CHECK(closest("floatx", words) == "floatX");
  CHECK(closest("mdoe", words) == "mode");
  CHECK(closest("on_unusd_inputs", words) == "on_unused_input");
  CHECK(closest("entirely_different", words) == "");
  CHECK(closest("xy", words) == "");
  CHECK(closest("", words) == "");
  CHECK(closest(std::string(100000, 'x'), words) == "");
}
