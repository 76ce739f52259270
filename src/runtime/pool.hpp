// The pool of worker threads behind threads.hpp. It serves one job at a time: a caller that finds it busy does the work
// alone, so that concurrent callers neither wait for each other nor use more threads than there are workers.
#pragma once

#include <atomic>
#include <cfenv>
#include <cstdint>

namespace bitale::runtime {

// A job for several threads at once: each calls `run` once, with its number; the caller's is 0.
struct Job {
  void (*run)(void* context, int worker);
  void* context;
};

class WorkerPool {
 public:
  // Runs the job on this thread and on up to `helpers` workers of the process's pool, if they arrive in time; returns
  // when all have left it. The job must be complete when `run` has returned for the caller and for all workers that
  // arrived. Returns false, with nothing run, if the pool is busy. Does not throw: without memory or threads, there are
  // fewer helpers. Workers use the caller's rounding mode.
  static bool try_share(const Job& job, int helpers);

 private:
  // A child created by fork gets a new pool, since its parent's workers do not exist in it. Never destroyed.
  static WorkerPool* instance();
  bool try_run(const Job& job, int helpers);
  void start_workers(int wanted);
  void work();
  int join();
  void leave();

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  int started_ = 0;             // workers; changed by the thread that holds busy_
  bool can_start_ = true;       // the system has not refused a thread
  std::atomic<int> round_ = 0;  // counts jobs; workers sleep on it
  std::atomic<int> gate_ = 0;   // seats left for workers * 65536 + workers inside
  Job job_ = {};                // read only by workers inside, like rounding_
  std::fenv_t rounding_ = {};   // the floating-point environment of the caller
};

}  // namespace bitale::runtime
