#include "cache/inventory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <tuple>

#include "cache/store.hpp"

namespace bitale::cache {

namespace {

// A process of another machine that shares the directory may have this number too; writing takes less than this time.
constexpr std::time_t longest_writing = 60;

std::optional<Digest> key_of(const std::string& name) {
  Digest key;
  if (name.size() != 2 * key.size()) return {};
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char* at = name.data() + 2 * i;
    auto [end, failure] = std::from_chars(at, at + 2, key[i], 16);
    if (failure != std::errc() || end != at + 2) return {};
  }
  return key;
}

bool is_running(const std::string& temporary) {
  pid_t process = 0;
  const char* begin = temporary.data() + temporary_prefix.size();
  std::from_chars(begin, temporary.data() + temporary.size(), process);
  return process > 0 && (::kill(process, 0) == 0 || errno == EPERM);
}

bool is_claimed(const std::string& directory) {
  const int file = ::open((directory + "/lock").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  struct flock lock {};  // all of the file
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool held = ::fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(file);
  return held;
}

template <class Which>
Removed remove(const std::string& directory, Which which) {
  Removed removed;
  const auto take = [&](const std::string& name, std::int64_t bytes) {
    if (::unlink((directory + "/" + name).c_str()) != 0) return;
    ++removed.files;
    removed.bytes += bytes;
  };
  const Inventory found = inventory(directory);
  for (auto& entry : found.entries)
    if (which(entry)) take(entry.name, entry.bytes);
  for (auto& file : found.temporary)
    if (which(file)) take(file.name, file.bytes);
  return removed;
}

}  // namespace

Inventory inventory(const std::string& directory) {
  Inventory out;
  const Store store(directory, 0);
  std::error_code ignored;
  for (auto& each : std::filesystem::directory_iterator(directory, ignored)) {
    struct stat status {};
    const std::string name = each.path().filename().string();
    if (::lstat(each.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (name.starts_with(temporary_prefix)) {
      const bool old = std::time(nullptr) - status.st_mtime > longest_writing;
      out.temporary.push_back({name, status.st_size, old && !is_running(name)});
    } else if (const auto key = key_of(name)) {
      out.entries.push_back({name, status.st_size, status.st_mtime, store.is_intact(*key)});
    }
  }
  std::sort(out.entries.begin(), out.entries.end(),
            [](auto& a, auto& b) { return std::tie(b.used, a.name) < std::tie(a.used, b.name); });
  out.claimed = is_claimed(directory);
  return out;
}

Removed remove_all(const std::string& directory) {
  return remove(directory, [](auto&) { return true; });
}

Removed remove_useless(const std::string& directory) {
  struct Useless {
    bool operator()(const Entry& entry) const { return !entry.intact; }
    bool operator()(const Leftover& file) const { return file.abandoned; }
  };
  return remove(directory, Useless());
}

}  // namespace bitale::cache
