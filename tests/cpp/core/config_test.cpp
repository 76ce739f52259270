#include "bitale/core/config.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "bitale/core/error.hpp"
#include "core/config_table.hpp"

using namespace bitale;

TEST_CASE("flags have values, documentation and types") {
  auto flags = config::flags();
  CHECK(std::is_sorted(flags.begin(), flags.end(), [](auto& a, auto& b) { return a.name < b.name; }));
  for (auto& flag : flags) {
    CAPTURE(flag.name);
    CHECK(!flag.doc.empty());
    CHECK((flag.type == "enum") == !flag.choices.empty());
    // A default is an allowed value.
    if (flag.is_mutable) CHECK_NOTHROW(config::Table().set(flag.name, flag.default_value));
  }
  CHECK(config::describe().find("floatX ({float64, float32, float16})") != std::string::npos);
}

TEST_CASE("changes last as long as their scope") {
  const std::string before = config::get("floatX");
  {
    config::Change change("floatX", "float32");
    CHECK(config::float_x() == DType::Float32);
    config::Change again("floatX", "float16");
    CHECK(config::float_x() == DType::Float16);
  }
  CHECK(config::get("floatX") == before);
}

TEST_CASE("wrong flags and values") {
  CHECK_THROWS_WITH_AS(config::get("floatx"), doctest::Contains("did you mean \"floatX\"?"), KeyError);
  CHECK_THROWS_AS(config::set("no_such_thing", "1"), KeyError);
  CHECK_THROWS_WITH_AS(config::set("mode", "FAST_RUNN"), doctest::Contains("did you mean \"FAST_RUN\"?"), ValueError);
  CHECK_THROWS_AS(config::set("num_threads", "many"), ValueError);
  CHECK_THROWS_AS(config::set("num_threads", ""), ValueError);
  CHECK_THROWS_AS(config::set("profile", "maybe"), ValueError);
  CHECK_THROWS_AS(config::set("optdb__max_use_ratio", "8x"), ValueError);
  CHECK_THROWS_AS(config::set("base_compiledir", "/elsewhere"), TypeError);
  CHECK_THROWS_AS(config::get_int("floatX"), TypeError);
}

TEST_CASE("numbers out of range are refused") {
  const struct {
    const char *flag, *value, *expected;
  } refused[] = {
      {"cache__size", "-1", "from 0 to"},
      {"cache__size", "9000000000000000000", "from 0 to"},
      {"cache__size", "99999999999999999999", "expected an integer"},
      {"memory__kept", "-1", "from 0 to"},
      {"num_threads", "0", "an integer from 1 to 1024"},
      {"num_threads", "1025", "an integer from 1 to 1024"},
      {"stream_from", "-8", "an integer, at least 0"},
      {"traceback__limit", "-2", "an integer, at least -1"},
      {"optdb__max_use_ratio", "-0.5", "a number, at least 0"},
      {"optdb__max_use_ratio", "nan", "a number, at least 0"},
  };
  for (auto& [flag, value, expected] : refused) {
    CAPTURE(flag);
    const std::string before = config::get(flag);
    CHECK_THROWS_WITH_AS(config::set(flag, value), doctest::Contains(expected), ValueError);
    CHECK(config::get(flag) == before);
  }
  const config::Change size("cache__size", "0"), all("traceback__limit", "-1"), much("optdb__max_use_ratio", "inf");
}

TEST_CASE("every flag that is not a string refuses an invalid value and names what it expects") {
  for (auto& flag : config::flags()) {
    if (flag.type == "str" || !flag.is_mutable) continue;
    CAPTURE(flag.name);
    CHECK_THROWS_WITH_AS(config::set(flag.name, "no such value"), doctest::Contains("expected"), ValueError);
  }
}

TEST_CASE("typed values") {
  config::Change profile("profile", "yes"), threads("num_threads", "3"), ratio("optdb__max_use_ratio", "2.5");
  CHECK(config::get_bool("profile"));
  CHECK(config::get("profile") == "True");
  CHECK(config::get_int("num_threads") == 3);
  CHECK(config::get_float("optdb__max_use_ratio") == 2.5);
}

TEST_CASE("flags as text") {
  auto settings = config::parse_flags_text("floatX=float32, mode = FAST_COMPILE,dump='a,b',,cxx=");
  const config::Settings expected{{"floatX", "float32"}, {"mode", "FAST_COMPILE"}, {"dump", "a,b"}, {"cxx", ""}};
  CHECK(settings == expected);
  CHECK(config::parse_flags_text("").empty());
  CHECK(config::parse_flags_text("dump='unfinished,x").size() == 1);
}

TEST_CASE("configuration files") {
  auto settings = config::parse_ini(
      "# comment\n[global]\nfloatX = float32\n; another\n\n[optdb]\r\nmax_use_ratio=3\n[global]\ncxx = \"a b\"\nempty "
      "=");
  const config::Settings expected{{"floatX", "float32"}, {"optdb__max_use_ratio", "3"}, {"cxx", "a b"}, {"empty", ""}};
  CHECK(settings == expected);
}

TEST_CASE("later sources win, unknown keys warn, bad values raise when read") {
  config::Table table;
  CHECK(table.apply({{"floatX", "float32"}, {"mode", "FAST_COMPILE"}}, "a file").empty());
  auto warnings = table.apply({{"mode", "FAST_RUN"}, {"onunused_input", "warn"}, {"linker", "jti"}}, "BITALE_FLAGS");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "BITALE_FLAGS: unknown configuration flag \"onunused_input\"; did you mean \"on_unused_input\"?");
  CHECK(table.get("floatX") == "float32");
  CHECK(table.get("mode") == "FAST_RUN");
  CHECK_THROWS_WITH_AS(table.get("linker"), doctest::Contains("(from BITALE_FLAGS)"), ValueError);
  CHECK_NOTHROW(table.flags());
  table.set("linker", "vm");
  CHECK(table.get("linker") == "vm");
}

TEST_CASE("compiledir is derived from base_compiledir") {
  config::Table table;
  table.apply({{"base_compiledir", "/somewhere"}}, "BITALE_FLAGS");
  CHECK(table.get("compiledir").starts_with("/somewhere/compiledir_"));
  table.set("compiledir", "/here");
  CHECK(table.get("compiledir") == "/here");
  CHECK(config::Table().get("base_compiledir").find('~') == std::string::npos);
}

TEST_CASE("threads may read and change flags") {
  auto work = [] {
    for (int i = 0; i < 200; ++i) {
      config::set("traceback__limit", std::to_string(i));
      config::get_int("traceback__limit");
    }
  };
  const std::string before = config::get("traceback__limit");
  std::thread a(work), b(work);
  a.join();
  b.join();
  CHECK(config::get("traceback__limit") == "199");
  config::set("traceback__limit", before);
}
