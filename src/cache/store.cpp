#include "cache/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "bitale/core/text.hpp"

namespace bitale::cache {

namespace {

constexpr char magic[8] = {'b', 'i', 't', 'a', 'l', 'e', '0', '1'};
constexpr std::time_t hour = 3600;

struct Header {
  char magic[8];
  std::uint64_t size;
  Digest key, checksum;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  // A write may be refused as late as here.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool read_all(int fd, void* to, std::size_t size) {
  for (auto* at = static_cast<char*>(to); size > 0;) {
    const ssize_t count = ::read(fd, at, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= std::size_t(count);
  }
  return true;
}

bool write_all(int fd, std::string_view from) {
  while (!from.empty()) {
    const ssize_t count = ::write(fd, from.data(), from.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    from.remove_prefix(std::size_t(count));
  }
  return true;
}

// The modification time of an entry is the time of its last use, to the hour.
void note_use(int fd, const struct stat& status) {
  if (std::time(nullptr) - status.st_mtime > hour) ::futimens(fd, nullptr);
}

std::string temporary_name() {
  static std::atomic<unsigned> count{0};
  return cat(temporary_prefix, ::getpid(), "-", count++);
}

// The fraction of all keys that is below this one, 0 to 1.
double fraction(const Digest& key) { return (key[0] * 256.0 + key[1]) / 65536; }

}  // namespace

bool make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return true;
  const std::size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == path.npos || slash == 0) return false;
  if (!make_directory(path.substr(0, slash))) return false;
  return ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

Store::Store(std::string directory, std::int64_t max_bytes) : directory_(std::move(directory)), max_bytes_(max_bytes) {}

std::string Store::path(const Digest& key) const { return cat(directory_, "/", hexadecimal(key)); }

std::optional<std::string> Store::load(const Digest& key) const { return read(key, true); }
bool Store::is_intact(const Digest& key) const { return read(key, false).has_value(); }

std::optional<std::string> Store::read(const Digest& key, bool is_use) const {
  const Descriptor file(::open(path(key).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return {};
  // It will be executed: only this user or root may own it.
  if (!S_ISREG(status.st_mode) || (status.st_uid != ::geteuid() && status.st_uid != 0)) return {};
  Header header;
  if (!read_all(file.get(), &header, sizeof header)) return {};
  if (std::memcmp(header.magic, magic, sizeof magic) != 0 || header.key != key ||
      header.size != std::uint64_t(status.st_size) - sizeof header)
    return {};
  std::string contents(std::size_t(header.size), '\0');
  if (!read_all(file.get(), contents.data(), contents.size()) || digest_of(contents) != header.checksum) return {};
  if (is_use) note_use(file.get(), status);
  return contents;
}

bool Store::write(const std::string& file, std::string_view header, std::string_view contents) const {
  Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return out.get() >= 0 && write_all(out.get(), header) && write_all(out.get(), contents) && out.close();
}

void Store::save(const Digest& key, std::string_view contents) const {
  Header header{{}, contents.size(), key, digest_of(contents)};
  std::copy(std::begin(magic), std::end(magic), header.magic);
  const std::string_view head(reinterpret_cast<const char*>(&header), sizeof header);
  const std::string file = path(key), temporary = cat(directory_, "/", temporary_name());
  if (make_directory(directory_) && write(temporary, head, contents) &&
      ::rename(temporary.c_str(), file.c_str()) == 0) {
    // Scanning the directory takes time: it is done each time a 32nd of the space has been written, on average.
    if (fraction(key) * double(max_bytes_) <= 32 * double(contents.size())) evict(file);
    return;
  }
  const int reason = errno;
  ::unlink(temporary.c_str());
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true))
    std::fprintf(stderr,
                 "bitale: warning: compiled code can't be kept in %s (%s), so it will be compiled again next time; "
                 "choose another directory with the flag compiledir, or set cache=off\n",
                 directory_.c_str(), std::strerror(reason));
}

void Store::evict(const std::string& spared) const {
  struct Found {
    std::string path;
    std::int64_t bytes;
    timespec used;
  };
  std::vector<Found> entries;
  std::int64_t total = 0;
  std::error_code ignored;
  for (auto& each : std::filesystem::directory_iterator(directory_, ignored)) {
    struct stat status {};
    const std::string path = each.path().string(), name = each.path().filename().string();
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    // A file left behind by a process that was killed.
    if (name.starts_with(temporary_prefix) && std::time(nullptr) - status.st_mtime > hour) ::unlink(path.c_str());
    if (name.size() != 2 * std::tuple_size_v<Digest>) continue;
    total += status.st_size;
    if (path != spared) entries.push_back({path, status.st_size, status.st_mtim});
  }
  if (total <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](auto& a, auto& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (auto& entry : entries) {
    if (total <= max_bytes_ - max_bytes_ / 8) break;
    if (::unlink(entry.path.c_str()) == 0 || errno == ENOENT) total -= entry.bytes;  // or another process was faster
  }
}

}  // namespace bitale::cache
