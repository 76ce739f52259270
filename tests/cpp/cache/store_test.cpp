// The store of compiled code returns whole entries or none, whatever happens to the files, the disk or the processes.
#include "cache/store.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cache/claim.hpp"
#include "support/directory.hpp"

using namespace bitale;
using cache::Claim;
using cache::Store;
using testing::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t mebibyte = 1 << 20;

Digest key(int number) { return digest_of(std::to_string(number)); }
// Long enough to be written in several pieces; the text identifies the key.
std::string contents(int number, std::size_t size = 20'000) {
  std::string out;
  while (out.size() < size) out += std::to_string(number) + ",";
  return out;
}

std::string read(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}
void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::vector<std::string> names(const std::string& directory) {
  std::vector<std::string> out;
  for (auto& each : fs::directory_iterator(directory)) out.push_back(each.path().filename().string());
  return out;
}

void set_last_use(const std::string& path, std::time_t seconds_ago) {
  const timespec then{std::time(nullptr) - seconds_ago, 0};
  const timespec times[] = {then, then};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

// `start` runs the action in a child process; `wait_for` returns its exit status, or minus the signal that ended it.
template <class Action>
pid_t start(Action&& action) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(0);
  }
  return child;
}
int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("store: saved entries are loaded, others are missing") {
  const TemporaryDirectory directory;
  const Store store(directory.path() + "/a/b", mebibyte);
  CHECK_FALSE(store.load(key(1)));
  store.save(key(1), contents(1));
  CHECK(store.load(key(1)) == contents(1));
  CHECK_FALSE(store.load(key(2)));
  store.save(key(1), "");
  CHECK(store.load(key(1)) == "");
  CHECK(names(store.directory()).size() == 1);  // no temporary file remains
}

TEST_CASE("store: a damaged entry is missing, and can be saved again") {
  const TemporaryDirectory directory;
  const Store store(directory.path(), mebibyte);
  const std::string text = contents(1, 300);
  store.save(key(1), text);
  const std::string whole = read(store.path(key(1)));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(store.path(key(1)), whole.substr(0, length));
    CHECK_FALSE(store.load(key(1)));
  }
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = char(flipped[bit / 8] ^ (1 << bit % 8));
    write(store.path(key(1)), flipped);
    CHECK_FALSE(store.load(key(1)));
  }
  write(store.path(key(1)), whole + "x");
  CHECK_FALSE(store.load(key(1)));
  write(store.path(key(2)), whole);  // an entry under the name of another key
  CHECK_FALSE(store.load(key(2)));
  store.save(key(1), text);
  CHECK(store.load(key(1)) == text);
}

TEST_CASE("store: an entry that another user owns is treated as missing") {
  if (geteuid() != 0) {
    MESSAGE("SKIP: only root can give a file to another user");
    return;
  }
  const TemporaryDirectory directory;
  const Store store(directory.path(), mebibyte);
  store.save(key(1), contents(1));
  REQUIRE(chown(store.path(key(1)).c_str(), 12345, 12345) == 0);
  CHECK_FALSE(store.load(key(1)));
}

TEST_CASE("store: above the size limit, the least recently used entries are removed") {
  const TemporaryDirectory directory;
  const Store store(directory.path(), 200'000);
  for (int i = 0; i < 9; ++i) {
    store.save(key(i), contents(i));
    set_last_use(store.path(key(i)), 100'000 - i);
  }
  CHECK(store.load(key(0)));  // now the most recently used
  for (int i = 9; i < 12; ++i) store.save(key(i), contents(i));
  CHECK(store.load(key(0)) == contents(0));
  CHECK(store.load(key(11)) == contents(11));
  CHECK_FALSE(store.load(key(1)));
  CHECK_FALSE(store.load(key(2)));
  std::int64_t total = 0;
  for (auto& name : names(store.directory())) total += std::int64_t(fs::file_size(store.directory() + "/" + name));
  CHECK(total <= 200'000);
  store.save(key(100), contents(100, 500'000));  // larger than the store: kept until the next save
  CHECK(store.load(key(100)));
}

TEST_CASE("store: old temporary files of killed processes are removed") {
  const TemporaryDirectory directory;
  const Store store(directory.path(), 1000);
  write(directory.path() + "/tmp-1-1", "half");
  write(directory.path() + "/tmp-2-1", "half");
  set_last_use(directory.path() + "/tmp-1-1", 7200);
  store.save(key(1), contents(1));
  CHECK_FALSE(fs::exists(directory.path() + "/tmp-1-1"));
  CHECK(fs::exists(directory.path() + "/tmp-2-1"));
}

TEST_CASE("store: with an unwritable directory or a full disk, nothing is stored and nothing fails") {
  const TemporaryDirectory directory;
  write(directory.path() + "/file", "no directory");
  const Store nowhere(directory.path() + "/file/below", mebibyte);
  nowhere.save(key(1), contents(1));
  CHECK_FALSE(nowhere.load(key(1)));
  CHECK_FALSE(Claim(nowhere, key(1)).held());

  const Store store(directory.path() + "/full", mebibyte);
  store.save(key(1), contents(1));
  const pid_t child = start([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{5000, 5000};
    setrlimit(RLIMIT_FSIZE, &limit);  // writing fails midway
    store.save(key(2), contents(2));
  });
  CHECK(wait_for(child) == 0);
  CHECK_FALSE(store.load(key(2)));
  CHECK(store.load(key(1)) == contents(1));
  CHECK(names(store.directory()).size() == 1);
}

TEST_CASE("claim: one holder at a time, released when the process is killed") {
  const TemporaryDirectory directory;
  const Store store(directory.path(), mebibyte);
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = start([&] {
    const Claim claim(store, key(1));
    if (claim.held() && ::write(ready[1], "x", 1) == 1) pause();
  });
  char sign = 0;
  REQUIRE(::read(ready[0], &sign, 1) == 1);
  CHECK_FALSE(Claim(store, key(1), 0.01).held());
  CHECK(Claim(store, key(2)).held());
  kill(child, SIGKILL);
  CHECK(wait_for(child) == -SIGKILL);
  CHECK(Claim(store, key(1)).held());
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("claim: waiting processes get the entry, and concurrent processes create it once") {
  const TemporaryDirectory directory;
  const Store store(directory.path(), mebibyte);
  const std::string log = directory.path() + "/log";
  std::vector<pid_t> children;
  for (int i = 0; i < 64; ++i)
    children.push_back(start([&] {
      for (int number = 0; number < 4; ++number) {
        if (store.load(key(number))) continue;
        const Claim claim(store, key(number));
        if (!store.load(key(number))) {
          usleep(5000);
          store.save(key(number), contents(number));
          std::ofstream(log, std::ios::app) << number << "\n";
        }
        if (store.load(key(number)) != contents(number)) _exit(1);
      }
    }));
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  std::string lines = read(log);
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 4);
}
