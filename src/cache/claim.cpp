#include "cache/claim.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "bitale/core/interruption.hpp"

namespace bitale::cache {

namespace {

struct flock one_byte(short type, std::int64_t offset) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  return lock;
}

}  // namespace

Claim::Claim(const Store& store, const Digest& key, double patience) {
  if (!make_directory(store.directory())) return;
  file_ = ::open((store.directory() + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) return;
  std::uint64_t number;
  std::memcpy(&number, key.data(), sizeof number);
  offset_ = std::int64_t(number >> 2);  // a valid file offset, with room for the lock's end

  using namespace std::chrono;
  const auto give_up = steady_clock::now() + duration<double>(patience);
  // Pauses grow with the time waited, a third of which is the delay at most: many waiters must not cost what they save.
  for (auto pause = microseconds(1000); !try_lock(); pause = std::min(pause * 3 / 2, microseconds(100'000))) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return;
    if (store.is_intact(key) || steady_clock::now() > give_up) return;
    std::this_thread::sleep_for(pause);
    try {
      throw_if_interrupted();
    } catch (...) {
      ::close(file_);  // no destructor runs
      throw;
    }
  }
}

// An open file description's lock: threads of one process exclude each other too.
bool Claim::try_lock() {
  struct flock lock = one_byte(F_WRLCK, offset_);
  held_ = ::fcntl(file_, F_OFD_SETLK, &lock) == 0;
  return held_;
}

Claim::~Claim() {
  if (file_ < 0) return;
  if (held_) {  // explicitly, since a child process that was forked meanwhile has the same file open
    struct flock lock = one_byte(F_UNLCK, offset_);
    ::fcntl(file_, F_OFD_SETLK, &lock);
  }
  ::close(file_);
}

}  // namespace bitale::cache
