// Claim: one process makes an entry while others that want the same wait. The claim is a lock on one byte of a file in
// the store's directory, at an offset that the key gives: the kernel releases it when the process ends, however it
// ends, and nothing is left to clean up. Where there are no locks (a directory that can't be written, some network file
// systems) nobody waits, and the same may be made twice.
#pragma once

#include "cache/store.hpp"

namespace bitale::cache {

class Claim {
 public:
  // Returns with the claim (the entry may have come into being meanwhile: look again), or without it when there are no
  // locks, when the entry has come into being meanwhile, or when waiting took so long (`patience` seconds) that the
  // other process must be stuck.
  Claim(const Store& store, const Digest& key, double patience = 30);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  bool held() const { return held_; }

 private:
  bool try_lock();

  int file_ = -1;
  std::int64_t offset_ = 0;
  bool held_ = false;
};

}  // namespace bitale::cache
