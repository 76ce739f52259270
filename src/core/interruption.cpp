#include "bitale/core/interruption.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include "bitale/core/error.hpp"

namespace bitale {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto pause = std::chrono::milliseconds(20);

std::atomic<InterruptionCheck> registered_check{nullptr};
std::atomic<InterruptionTest> registered_test{nullptr};

struct OfThread {
  Clock::time_point next{};  // when to poll the host again
  std::exception_ptr thrown;
};
thread_local OfThread of_thread;
// By itself, since the other needs a constructor, which each access would have to look for, in calls by address, too.
constinit thread_local bool is_off = false;

}  // namespace

void set_interruption_check(InterruptionCheck check, InterruptionTest is_interruption) {
  registered_check.store(check);
  registered_test.store(is_interruption);
}

bool is_interruption(const std::exception& error) {
  const InterruptionTest test = registered_test.load(std::memory_order_relaxed);
  return test && test(error);
}

void throw_if_interrupted() {
  const InterruptionCheck check = registered_check.load(std::memory_order_relaxed);
  if (!check || is_off) return;
  OfThread& here = of_thread;
  const auto now = Clock::now();
  if (now < here.next) return;
  here.next = now + pause;
  check();
}

NoInterruption::NoInterruption() : is_off_(is_off), before_(std::exchange(is_off_, true)) {}
NoInterruption::~NoInterruption() { is_off_ = before_; }

bool is_interrupted() noexcept {
  OfThread& here = of_thread;
  if (here.thrown) return true;
  try {
    throw_if_interrupted();
    return false;
  } catch (...) {
    here.thrown = std::current_exception();
    return true;
  }
}

void throw_interruption() {
  if (const auto thrown = std::exchange(of_thread.thrown, nullptr)) std::rethrow_exception(thrown);
  throw InternalError("a call ended as if it had been interrupted");
}

}  // namespace bitale
