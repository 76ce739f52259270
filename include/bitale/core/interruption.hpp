// Ending a call that takes long, as ctrl-C wants it. The host registers a function that throws when the calling
// thread's call is to end; loops whose length nobody knows in advance ask now and then. It is called at most once in
// some ten milliseconds, so asking costs a look at the clock.
#pragma once

namespace bitale {

using InterruptionCheck = void (*)();
void set_interruption_check(InterruptionCheck check);

// Throws what the host's check throws.
void throw_if_interrupted();

// While it lives, calls of this thread are not interrupted: whoever made them could not pass an exception on.
class NoInterruption {
 public:
  NoInterruption();
  ~NoInterruption();
  NoInterruption(const NoInterruption&) = delete;
  NoInterruption& operator=(const NoInterruption&) = delete;

 private:
  bool before_;
};

// For code through which no exception can travel: whether the call is to end. Once it is, it stays so until the
// exception is thrown by throw_interruption.
bool is_interrupted() noexcept;
[[noreturn]] void throw_interruption();

}  // namespace bitale
