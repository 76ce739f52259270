// The pages of a library go when they are given back, and come again where they are needed.
#include "core/library_pages.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "bitale/bitale.hpp"

namespace bt = bitale;

namespace {

const void* address() { return reinterpret_cast<const void*>(&bt::give_back_pages); }

// KB of the library's code that are mapped.
long mapped_code() {
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

TEST_CASE("pages of a library that are given back come again") {
  const auto x = bt::vector("x");
  const auto f = bt::function({x}, bt::sum(bt::exp(x)));
  CHECK(f({bt::Array{0., 0.}}).item() == 2.0);
  const long before = mapped_code();
  bt::give_back_pages(address());
  CHECK(mapped_code() < before / 2);
  CHECK(f({bt::Array{0., 0., 0.}}).item() == 3.0);
  const auto g = bt::function({x}, bt::sum(bt::log1p(x)));
  CHECK(g({bt::Array{0., 0.}}).item() == 0.0);
}

TEST_CASE("an address of no library gives nothing back") {
  const int local = 0;
  const long before = mapped_code();
  bt::give_back_pages(&local);
  CHECK(mapped_code() >= before);
}
