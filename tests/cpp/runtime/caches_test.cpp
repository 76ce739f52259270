// Cache sizes as Linux reports them, and the size from which loops use non-temporal stores.
#include "runtime/caches.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "support/directory.hpp"

using namespace bitale;
using namespace bitale::runtime;

TEST_CASE("cache sizes are read as Linux reports them") {
  const testing::TemporaryDirectory directory;
  const auto describe = [&](int index, const char* level, const char* size) {
    const std::filesystem::path cache = directory.path() + "/index" + std::to_string(index);
    std::filesystem::create_directories(cache);
    std::ofstream(cache / "level") << level << "\n";
    std::ofstream(cache / "size") << size << "\n";
  };
  CHECK(cache_sizes(directory.path()).last == 0);
  describe(0, "1", "48K");
  describe(1, "1", "32K");
  describe(2, "2", "1024K");
  CHECK(cache_sizes(directory.path()).second == 1 << 20);
  CHECK(cache_sizes(directory.path()).last == 0);
  describe(3, "3", "32M");
  CHECK(cache_sizes(directory.path()).last == 32 << 20);
}

TEST_CASE("loops stream from the size of the last cache, or earlier if it is very large") {
  CHECK(stream_from({1 << 20, 32 << 20}) == 32 << 20);
  CHECK(stream_from({2 << 20, 260 << 20}) == 8 << 20);
  CHECK(stream_from({0, 260 << 20}) == 260 << 20);
  CHECK(stream_from({}) > 0);
}
