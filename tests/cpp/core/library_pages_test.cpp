// Released pages of a library leave memory, and are loaded again on access.
#include "core/library_pages.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "bitale/bitale.hpp"

namespace bt = bitale;

namespace {

const void* address() { return reinterpret_cast<const void*>(&bt::give_back_pages); }

// The resident size of the code of the library, in KB.
long resident_code() {
  Dl_info info{};
  REQUIRE(dladdr(address(), &info));
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  long sum = 0;
  bool is_here = false;
  while (std::getline(maps, line)) {
    const auto first = line.find(' ');
    if (line.find('-') < first)
      is_here = line.find(" r-xp ") == first && line.find(info.dli_fname) != std::string::npos;
    if (is_here && line.starts_with("Rss:")) sum += std::stol(line.substr(4));
  }
  return sum;
}

}  // namespace

TEST_CASE("released pages of a library are loaded again on access") {
  const auto x = bt::vector("x");
  const auto f = bt::function({x}, bt::sum(bt::exp(x)));
  CHECK(f({bt::Array{0., 0.}}).item() == 2.0);
  const long before = resident_code();
  bt::give_back_pages(address());
  CHECK(resident_code() < before / 2);
  CHECK(f({bt::Array{0., 0., 0.}}).item() == 3.0);
  const auto g = bt::function({x}, bt::sum(bt::log1p(x)));
  CHECK(g({bt::Array{0., 0.}}).item() == 0.0);
}

TEST_CASE("an address outside of all libraries releases nothing") {
  const int local = 0;
  const long before = resident_code();
  bt::give_back_pages(&local);
  CHECK(resident_code() >= before);
}
