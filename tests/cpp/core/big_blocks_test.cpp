// Big blocks: freed memory is reused for the next request of about its size, up to the limit of the flag, in any
// thread.
#include "core/big_blocks.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/core/config.hpp"

using namespace bitale;

namespace {
constexpr std::size_t mebibyte = std::size_t(1) << 20;

// Under a sanitizer, each array has a separate block, which ends with its data.
bool is_checked() { return dlsym(RTLD_DEFAULT, "__asan_init"); }
}  // namespace

TEST_CASE("a freed big block serves the next request of its size") {
  release_big_blocks();
  const BigBlock first = take_big_block(9 * mebibyte);
  REQUIRE(first.memory);
  CHECK(first.bytes >= 9 * mebibyte);
  std::memset(first.memory, 1, 9 * mebibyte);
  give_big_block(first);
  const BigBlock other = take_big_block(20 * mebibyte), again = take_big_block(9 * mebibyte - 100);
  CHECK(other.memory != first.memory);
  CHECK(again.memory == first.memory);
  give_big_block(other);
  give_big_block(again);
  CHECK(release_big_blocks());
  CHECK_FALSE(release_big_blocks());
}

TEST_CASE("sizes of 1.5 to 2 MiB share one block, which is a huge page") {
  release_big_blocks();
  constexpr std::size_t least = mebibyte / 2 * 3, most = 2 * mebibyte;
  const BigBlock first = take_big_block(least);
  REQUIRE(first.memory);
  CHECK(first.bytes == most);
  CHECK(reinterpret_cast<std::uintptr_t>(first.memory) % most == 0);
  give_big_block(first);
  for (const std::size_t bytes : {most, least + 1, most - 1, least, least - 1}) {
    CAPTURE(bytes);
    const BigBlock again = take_big_block(bytes);
    CHECK(again.memory == first.memory);
    give_big_block(again);
  }
  const BigBlock less = take_big_block(mebibyte / 4 * 5), more = take_big_block(most + 1);
  CHECK(less.bytes == mebibyte / 4 * 5);
  CHECK(more.bytes == mebibyte / 4 * 9);
  give_big_block(less);
  give_big_block(more);
  release_big_blocks();
}

TEST_CASE("no more memory is kept than the flag allows") {
  release_big_blocks();
  {
    const config::Change little("memory__kept", "16");
    give_big_block(take_big_block(30 * mebibyte));
    CHECK_FALSE(release_big_blocks());
    std::vector<BigBlock> blocks;
    for (int i = 0; i < 5; ++i) blocks.push_back(take_big_block(6 * mebibyte));
    for (auto& block : blocks) give_big_block(block);  // the last two fit
    CHECK(take_big_block(6 * mebibyte).memory == blocks[4].memory);
    CHECK(take_big_block(6 * mebibyte).memory == blocks[3].memory);
    CHECK_FALSE(release_big_blocks());
    give_big_block(blocks[3]);
    give_big_block(blocks[4]);
    CHECK(release_big_blocks());
  }
  const config::Change nothing("memory__kept", "0");
  give_big_block(take_big_block(mebibyte));
  CHECK_FALSE(release_big_blocks());
}

TEST_CASE("arrays reuse each other's memory, in many threads") {
  const void* before = nullptr;
  for (int i = 0; i < 3; ++i) {
    const Array array = Array::zeros(DType::Float64, {1 << 20});
    if (before && !is_checked()) CHECK(array.data() == before);
    before = array.data();
    CHECK(reinterpret_cast<std::uintptr_t>(before) % 64 == 0);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        Array array = Array::full(DType::Float64, {(1 + (i + t) % 3) << 17}, double(t));
        const double* data = array.data_as<double>();
        for (std::int64_t k = 0; k < array.size(); k += 4096) REQUIRE(data[k] == double(t));
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST_CASE("results of 64 KiB to 1 MiB reuse each other's memory") {
  release_big_blocks();
  for (const std::size_t bytes : {big_block, big_block + 1, 10 * big_block, mebibyte - 4096}) {
    CAPTURE(bytes);
    const BigBlock first = take_big_block(bytes);
    REQUIRE(first.memory);
    CHECK(first.bytes >= bytes);
    std::memset(first.memory, 1, first.bytes);
    const BigBlock second = take_big_block(bytes);
    CHECK(second.memory != first.memory);
    give_big_block(first);
    give_big_block(second);
    CHECK(take_big_block(bytes).memory == second.memory);  // what was freed last may still be in a cache
    CHECK(take_big_block(bytes).memory == first.memory);
    give_big_block(first);
    give_big_block(second);
  }
  const config::Change little("memory__kept", "1");
  const BigBlock old = take_big_block(big_block), young = take_big_block(mebibyte / 2),
                 large = take_big_block(mebibyte / 2);
  for (auto& block : {old, young, large}) give_big_block(block);  // what was freed first goes, whatever its size
  CHECK(take_big_block(mebibyte / 2).memory == large.memory);
  CHECK(take_big_block(mebibyte / 2).memory == young.memory);
  CHECK_FALSE(release_big_blocks());
  give_big_block(young);
  give_big_block(large);
  const void* before = nullptr;
  for (int i = 0; i < 3; ++i) {
    const Array array = Array::zeros(DType::Float64, {60'000});
    if (before && !is_checked()) CHECK(array.data() == before);
    before = array.data();
    CHECK(reinterpret_cast<std::uintptr_t>(before) % 64 == 0);
  }
}

TEST_CASE("requests beyond any possible memory fail") {
  CHECK(take_big_block(std::size_t(1) << 62).memory == nullptr);
  CHECK(take_big_block(~std::size_t(0) - 100).memory == nullptr);
}

TEST_CASE("kept blocks are released for a request that would otherwise fail") {
  release_big_blocks();
  give_big_block(take_big_block(64 * mebibyte));
  CHECK(take_big_block(std::size_t(1) << 62).memory == nullptr);
  CHECK_FALSE(release_big_blocks());
  if (is_checked() || dlsym(RTLD_DEFAULT, "__tsan_init")) {
    MESSAGE("SKIP: a sanitizer reserves address space, so it cannot be limited");
    return;
  }
  const pid_t child = fork();
  if (child == 0) {
    give_big_block(take_big_block(64 * mebibyte));
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t size = pages * std::size_t(sysconf(_SC_PAGESIZE)) + 8 * mebibyte;
    const rlimit limit{size, size};
    setrlimit(RLIMIT_AS, &limit);
    _exit(take_big_block(48 * mebibyte).memory ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("big blocks in the child of a fork") {
  give_big_block(take_big_block(3 * mebibyte));
  const pid_t child = fork();
  if (child == 0) {
    const BigBlock block = take_big_block(3 * mebibyte);
    if (block.memory) std::memset(block.memory, 1, block.bytes);
    _exit(block.memory ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}
