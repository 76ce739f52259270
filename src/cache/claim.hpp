// Claim: one process creates an entry while others that need the same entry wait. The claim is a lock on one byte of a
// file in the store's directory, at an offset that the key determines: the kernel releases it when the process ends,
// however it ends, and nothing is left to clean up. Where locks are unavailable (a directory that can't be written,
// some network file systems) no process waits, and the same entry may be created twice.
#pragma once

#include "cache/store.hpp"

namespace bitale::cache {

class Claim {
 public:
  // Returns with the claim (the entry may have been created meanwhile: look it up again), or without it when locks are
  // unavailable, when the entry has been created meanwhile, or when waiting took so long (`patience` seconds) that the
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
