// Interruption of long calls, as by ctrl-C. The host registers a function that throws when the calling thread's call is
// to end; loops of unknown length poll it now and then. It is called at most once in 20 milliseconds per thread, so
// that a poll costs a read of the clock.
#pragma once

#include "bitale/core/language.hpp"

#include <exception>

namespace bitale {

using InterruptionCheck = void (*)();
// Whether an exception ends the program or call, whoever has raised it, and must not be taken for a failure.
using InterruptionTest = bool (*)(const std::exception&);
void set_interruption_check(InterruptionCheck check, InterruptionTest is_interruption = nullptr);
bool is_interruption(const std::exception& error);

// Throws what the host's check throws.
void throw_if_interrupted();

// While an instance lives, calls of this thread are not interrupted: their caller could not pass an exception on.
class NoInterruption {
 public:
  NoInterruption();
  ~NoInterruption();
  NoInterruption(const NoInterruption&) = delete;
  NoInterruption& operator=(const NoInterruption&) = delete;

 private:
  bool& is_off_;  // of this thread
  bool before_;
};

// For code through which no exception can propagate: whether the call is to end. Once true, it is true until the
// exception is thrown by throw_interruption.
bool is_interrupted() noexcept;
[[noreturn]] void throw_interruption();

}  // namespace bitale
