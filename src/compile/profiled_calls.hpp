// What a function with a profile counts itself, and the Profile that is composed of this and the measurements of its
// Thunk.
#pragma once

#include <chrono>
#include <mutex>

#include "bitale/compile/profile.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "link/linker.hpp"

namespace bitale {

class ProfiledCalls {
 public:
  ProfiledCalls(int threads, bool has_loops);
  void add(double seconds) {
    const std::lock_guard lock(mutex_);
    ++calls_;
    seconds_ += seconds;
  }

 private:
  const int threads_;
  MachineLimits limits_;
  mutable std::mutex mutex_;
  std::int64_t calls_ = 0;
  double seconds_ = 0;
  friend Profile profile_of(const ProfiledCalls& calls, const struct ProfileSources& sources);
};

// Measures from its construction until the call has succeeded; does nothing without a profile.
class TimedCall {
 public:
  explicit TimedCall(ProfiledCalls* calls) : calls_(calls) {
    if (calls_) start_ = std::chrono::steady_clock::now();
  }
  void succeed() const {
    if (calls_) calls_->add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
  }

 private:
  ProfiledCalls* calls_;
  std::chrono::steady_clock::time_point start_ = {};
};

struct ProfileSources {
  const std::string& name;
  const Mode& mode;
  const RewriteReport& report;
  const CompileTimes& times;
  double build;  // milliseconds
  const link::Thunk& thunk;
};
Profile profile_of(const ProfiledCalls& calls, const ProfileSources& sources);

}  // namespace bitale
