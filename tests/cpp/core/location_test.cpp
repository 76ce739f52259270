#include "bitale/core/location.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>

#include "bitale/core/error.hpp"

using namespace bitale;

TEST_CASE("the outermost scope wins") {
  CHECK(!current_location());
  {
    LocationScope outer(Location::interned("model.py", 12, "predict"));
    {
      LocationScope inner(Location::interned("library.py", 3, "helper"));
      CHECK(current_location().str() == "model.py:12, in `predict`");
    }
    CHECK(current_location().line == 12);
    bool other_thread_has_one = true;
    std::thread([&] { other_thread_has_one = bool(current_location()); }).join();
    CHECK(!other_thread_has_one);
  }
  CHECK(!current_location());
  {
    LocationScope unknown{Location()};
    LocationScope known(Location::interned("model.py", 1, ""));
    CHECK(current_location().str() == "model.py:1");
  }
}

TEST_CASE("interned texts are copied once") {
  std::string file = "some_file.py";
  Location a = Location::interned(file, 1, "f");
  file = "overwritten!";
  Location b = Location::interned("some_file.py", 2, "f");
  CHECK(a.file == b.file);
  CHECK(std::string(a.file) == "some_file.py");
  CHECK(Location().str() == "");
}

TEST_CASE("a location has the chain of its callers") {
  const Location outer = Location::interned("train.py", 3, ""), middle = Location::interned("net.py", 7, "net");
  const Location inner = Location::interned("net.py", 2, "layer").called_from(middle.called_from(outer));
  CHECK(inner.str() == "net.py:2, in `layer`");
  CHECK(inner.str_with_callers() == "net.py:2, in `layer`\ncalled at net.py:7, in `net`\ncalled at train.py:3");
  CHECK(inner.callers().size() == 2);
  CHECK(middle.callers().empty());
  CHECK(Location::interned("net.py", 2, "layer").called_from(middle.called_from(outer)).caller == inner.caller);
  CHECK(inner.called_from(Location()).caller == 0);
}

TEST_CASE("an outer scope that is not recorded suppresses the inner ones") {
  const LocationScope outer(Location::unnoted());
  const LocationScope inner(Location::interned("library.py", 3, "helper"));
  CHECK(!current_location());
  CHECK(current_location().str().empty());
}

TEST_CASE("errors collect context under the message") {
  ShapeError error("add: lengths 3 and 4");
  error.add("node", "Add(x, y)").add("inputs", "x: f64[3]\ny: f64[4]").add("a long label", "text");
  CHECK(std::string(error.what()) ==
        "add: lengths 3 and 4\n"
        "  node     Add(x, y)\n"
        "  inputs   x: f64[3]\n"
        "           y: f64[4]\n"
        "  a long label text");
}
