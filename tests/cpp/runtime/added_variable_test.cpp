// A temporary variable of the environment, which other threads may be reading.
#include "runtime/added_variable.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

using bitale::runtime::AddedVariable;

TEST_CASE("a variable exists as long as its object, and then the environment is restored") {
  char** const before = environ;
  {
    const AddedVariable added("BITALE_TEST_ADDED=yes");
    REQUIRE(std::getenv("BITALE_TEST_ADDED") != nullptr);
    CHECK(std::string(std::getenv("BITALE_TEST_ADDED")) == "yes");
    CHECK(std::getenv("PATH") != nullptr);
  }
  CHECK(std::getenv("BITALE_TEST_ADDED") == nullptr);
  CHECK(environ == before);
}

TEST_CASE("threads may read the environment while a variable is added") {
  std::atomic<bool> done = false, always = true;
  std::thread reader([&] {
    while (!done)
      if (!std::getenv("PATH")) always = false;
  });
  for (int i = 0; i < 2000; ++i) const AddedVariable added("BITALE_TEST_ADDED=yes");
  done = true;
  reader.join();
  CHECK(always);
}
