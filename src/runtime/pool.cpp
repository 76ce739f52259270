#include "runtime/pool.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <thread>

namespace bitale::runtime {

namespace {

constexpr int seat = 1 << 16, max_workers = 1 << 12;

// Waking a thread takes longer than most chunks; spinning for this long is worth it.
constexpr std::chrono::microseconds patience(20);

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Waits while the value is `old`: spins for a moment, then sleeps.
void wait_while(const std::atomic<int>& value, int old) {
  const auto until = std::chrono::steady_clock::now() + patience;
  do {
    for (int i = 0; i < 64; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      relax();
    }
  } while (std::chrono::steady_clock::now() < until);
  value.wait(old, std::memory_order_acquire);
}

std::atomic<WorkerPool*> current_pool{nullptr};

}  // namespace

WorkerPool* WorkerPool::instance() {
  [[maybe_unused]] static const int at_fork = pthread_atfork(nullptr, nullptr, [] { current_pool.store(nullptr); });
  WorkerPool* pool = current_pool.load(std::memory_order_acquire);
  if (pool) return pool;
  auto* fresh = new (std::nothrow) WorkerPool;
  if (current_pool.compare_exchange_strong(pool, fresh)) return fresh;
  delete fresh;
  return pool;
}

bool WorkerPool::try_share(const Job& job, int helpers) {
  WorkerPool* pool = instance();
  return pool && pool->try_run(job, helpers);
}

bool WorkerPool::try_run(const Job& job, int helpers) {
  helpers = std::min(helpers, max_workers);
  if (busy_.test_and_set(std::memory_order_acquire)) return false;
  start_workers(helpers);
  job_ = job;
  std::fegetenv(&rounding_);
  gate_.store(std::min(helpers, started_) * seat, std::memory_order_release);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  job.run(job.context, 0);
  // No worker enters from here on; those inside are waited for.
  for (int inside = gate_.fetch_and(seat - 1, std::memory_order_acq_rel) & (seat - 1); inside != 0;
       inside = gate_.load(std::memory_order_acquire))
    wait_while(gate_, inside);
  busy_.clear(std::memory_order_release);
  return true;
}

void WorkerPool::start_workers(int wanted) {
  if (started_ >= wanted || !can_start_) return;
  // Signals are left to the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (; started_ < wanted; ++started_) std::thread([this] { work(); }).detach();
  } catch (const std::exception&) {
    can_start_ = false;  // the existing workers suffice
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void WorkerPool::work() {
  for (;;) {
    const int round = round_.load(std::memory_order_acquire);
    if (const int worker = join()) {
      std::fesetenv(&rounding_);
      job_.run(job_.context, worker);
      leave();
    }
    wait_while(round_, round);
  }
}

// Returns the worker's number in this job, or 0 if there is no seat.
int WorkerPool::join() {
  int gate = gate_.load(std::memory_order_relaxed);
  while (gate >= seat)
    if (gate_.compare_exchange_weak(gate, gate - seat + 1, std::memory_order_acquire)) return gate / seat;
  return 0;
}

void WorkerPool::leave() {
  const int before = gate_.fetch_sub(1, std::memory_order_release);
  if (before == 1) gate_.notify_all();  // closed, and the last worker has left
}

}  // namespace bitale::runtime
