#include "cache/inventory.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cache/claim.hpp"

using namespace bitale;
using namespace bitale::cache;

namespace {

struct Folder {
  std::string path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "bitale-inventory-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

void write(const std::string& file, std::string_view text, int age = 0) {
  std::ofstream(file) << text;
  const timespec times[2] = {{std::time(nullptr) - age, 0}, {std::time(nullptr) - age, 0}};
  ::utimensat(AT_FDCWD, file.c_str(), times, 0);
}

}  // namespace

TEST_CASE("an inventory lists intact, damaged and abandoned files") {
  const Folder folder;
  const Store store(folder.path, 1 << 20);
  const Digest first = digest_of("first"), second = digest_of("second");
  store.save(first, "one");
  store.save(second, "two");
  std::filesystem::resize_file(store.path(second), 30);
  write(folder.path + "/tmp-999999999-0", "half", 3600);  // no process has this ID
  write(folder.path + "/tmp-999999999-1", "half");        // recent, possibly of a process on another machine
  write(folder.path + "/tmp-" + std::to_string(::getpid()) + "-7", "half", 3600);
  write(folder.path + "/notes.txt", "the user's");

  const Inventory found = inventory(folder.path);
  REQUIRE(found.entries.size() == 2);
  for (auto& entry : found.entries) CHECK(entry.intact == (entry.name == hexadecimal(first)));
  REQUIRE(found.temporary.size() == 3);
  for (auto& file : found.temporary) CHECK(file.abandoned == (file.name == "tmp-999999999-0"));

  CHECK(remove_useless(folder.path).files == 2);
  CHECK(store.load(first) == "one");
  CHECK(remove_all(folder.path).files == 3);
  CHECK(inventory(folder.path).entries.empty());
  CHECK(std::filesystem::exists(folder.path + "/notes.txt"));
}

TEST_CASE("listing entries does not count as use") {
  const Folder folder;
  const Store store(folder.path, 1 << 20);
  store.save(digest_of("key"), "contents");
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  ::utimensat(AT_FDCWD, store.path(digest_of("key")).c_str(), times, 0);
  CHECK(inventory(folder.path).entries.at(0).used == 1000);
  CHECK(inventory(folder.path).entries.at(0).used == 1000);
}

TEST_CASE("an inventory reports claims of running processes") {
  const Folder folder;
  const Store store(folder.path, 1 << 20);
  CHECK_FALSE(inventory(folder.path).claimed);
  {
    const Claim claim(store, digest_of("key"));
    REQUIRE(claim.held());
    CHECK(inventory(folder.path).claimed);
  }
  CHECK_FALSE(inventory(folder.path).claimed);
}

TEST_CASE("a directory that does not exist has no entries, and nothing is removed from it") {
  CHECK(inventory("/nowhere/at/all").entries.empty());
  CHECK(remove_all("/nowhere/at/all").files == 0);
}
